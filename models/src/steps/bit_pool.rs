//! The road to a bitmap of IDs that says "exhausted" only when that is true, and hides no free ID.
//!
//! Each ID has a word of its own here, which is 1 while it is allocated: what matters happens between words.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_sweep;
pub mod s2_count_first;
pub mod s3_count_frees;
pub mod s4_marks;
pub mod s5_look_again;

/// IDs from 0 up, as every step implements them.
pub trait Ids: Send + Sync + 'static {
    /// All IDs below `len`, of which those in `taken` are allocated.
    fn new(len: u32, taken: &[u32]) -> Self;
    /// The smallest free ID, or `None` if there is none.
    fn alloc(&self) -> Option<u32>;
    /// Takes this ID, if it is free.
    fn reserve(&self, id: u32) -> bool;
    /// Gives back an ID that is allocated.
    fn free(&self, id: u32);
    /// Names the words for the trace.
    fn name_words(&self);
}

/// The words of the IDs.
#[derive(Debug)]
struct Bits(Vec<jeton_core::util::BitWord>);

impl Bits {
    fn new(len: u32, taken: &[u32]) -> Self {
        let bits = Self((0..len).map(|_| jeton_core::util::BitWord::new()).collect());
        taken.iter().for_each(|&id| assert!(bits.take(id), "free at first"));
        bits
    }

    fn take(&self, id: u32) -> bool {
        self.0[id as usize].set(0)
    }

    fn give(&self, id: u32) {
        self.0[id as usize].clear(0);
    }

    /// Takes the first one that is free when its turn comes.
    fn take_first(&self) -> Option<u32> {
        (0..self.0.len() as u32).find(|&id| self.0[id as usize].survey() == 0 && self.take(id))
    }

    fn name_words(&self) {
        self.0.iter().enumerate().for_each(|(id, word)| crate::explore::name(word, &format!("ID {id}")));
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn hands_out_three<I: Ids>() {
        let ids = I::new(4, &[1]);
        assert_eq!([(); 4].map(|()| ids.alloc()), [Some(0), Some(2), Some(3), None]);
        ids.free(2);
        ids.free(1);
        assert_eq!([(); 3].map(|()| ids.alloc()), [Some(1), Some(2), None]);
    }

    #[test]
    fn every_step_is_right_as_long_as_calls_come_one_after_another() {
        hands_out_three::<s1_sweep::Pool>();
        hands_out_three::<s2_count_first::Pool>();
        hands_out_three::<s3_count_frees::Pool>();
        hands_out_three::<s4_marks::Pool>();
        hands_out_three::<s5_look_again::Pool>();
    }
}
