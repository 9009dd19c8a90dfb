//! The road to a log that many append to: a record is read whole or not at all, and one that fits is not refused.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_read_to_the_tail;
pub mod s2_give_back;
pub mod s3_relaxed_commit;
pub mod s4_commit_word;

use jeton_core::sync::UnsafeCell;

/// A log of records of one value each, which take any number of words, as every step implements it.
pub trait Log: Send + Sync + 'static {
    /// An empty log of so many words.
    fn new(words: u32) -> Self;
    /// Appends a value in a record of `span` words, if there are so many.
    fn append(&self, span: u32, value: u32) -> bool;
    /// The value of the record at `at` and the place of the next one, if there is one to be read.
    fn read(&self, at: u32) -> Option<(u32, u32)>;
    /// Names the words for the trace.
    fn name_words(&self);
}

/// The payloads: plain memory, a value for each word. Nothing but the step's protocol orders the accesses.
#[derive(Debug)]
pub struct Values(Vec<UnsafeCell<u32>>);

// SAFETY: that a value is not read before it is written is what the programs look at.
unsafe impl Sync for Values {}

impl Values {
    /// Zeros.
    pub fn new(words: u32) -> Self {
        Self((0..words).map(|_| UnsafeCell::new(0)).collect())
    }

    /// By whoever has the place.
    pub fn write(&self, at: u32, value: u32) {
        // SAFETY: see `Sync`.
        self.0[at as usize].with_mut(|place| unsafe { *place = value });
    }

    /// By whoever has been told that it is written.
    pub fn read(&self, at: u32) -> u32 {
        // SAFETY: see `Sync`.
        self.0[at as usize].with(|place| unsafe { *place })
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn fills_up_in_order<L: Log>() {
        let log = L::new(5);
        assert_eq!(log.read(0), None);
        assert!(log.append(2, 7) && !log.append(4, 8) && log.append(3, 9) && !log.append(1, 1));
        assert_eq!([log.read(0), log.read(2)], [Some((7, 2)), Some((9, 5))]);
        assert_eq!(log.read(5), None);
    }

    #[test]
    fn every_step_is_right_as_long_as_calls_come_one_after_another() {
        fills_up_in_order::<s1_read_to_the_tail::Log>();
        fills_up_in_order::<s2_give_back::Log>();
        fills_up_in_order::<s3_relaxed_commit::Log>();
        fills_up_in_order::<s4_commit_word::Log>();
    }
}
