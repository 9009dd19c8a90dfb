//! The road to a free list of indexes: a stack of those that are free, linked through words beside the payloads.
//!
//! Whoever takes an index has the payload beside it for himself until he gives it back. In the models, two threads that use the same
//! payload, or use it one after the other without an ordering between them, are an error: `Slots::touch`.

mod slots;

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_no_tag;
pub mod s2_store_instead_of_cas;
pub mod s3_relaxed_push;
pub mod s4_relaxed_pop;
pub mod s5_tagged;

pub use slots::Slots;

/// A list of free indexes, as every step implements it.
pub trait FreeList: Send + Sync + 'static {
    /// A list of the indexes below `len`, all of them free.
    fn new(len: u32) -> Self;
    /// Takes a free index, if there is one.
    fn alloc(&self) -> Option<u32>;
    /// Gives `index` back, which an `alloc` returned and nobody has given back since.
    fn free(&self, index: u32);
    /// What lies beside the indexes.
    fn slots(&self) -> &Slots;
    /// Names the words for the trace.
    fn name_words(&self);
}

/// No index: the end of the list.
const END: u32 = 0xffff;

/// The top of the stack with a tag that counts its changes: two tops are equal only if nothing happened between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Top {
    tag: u32,
    index: u32,
}

impl Top {
    fn of(word: u32) -> Self {
        Self { tag: word >> 16, index: word & 0xffff }
    }

    /// The word for the next change of the stack, which puts `index` on top.
    fn change_to(self, index: u32) -> u32 {
        (self.tag.wrapping_add(1) << 16) | index
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;
    use crate::{
        linearizability::Spec,
        spec::free_list::{Call, FreeIndexes},
    };

    #[test]
    fn a_top_is_a_tag_and_an_index() {
        assert_eq!(Top::of(0x0003_0002), Top { tag: 3, index: 2 });
        assert_eq!(Top::of(Top::of(0x0003_0002).change_to(5)), Top { tag: 4, index: 5 });
        assert_eq!(Top::of(Top { tag: 0xffff, index: 0 }.change_to(END)), Top { tag: 0, index: END });
    }

    /// Called one after another, even the wrong steps are right: that is why such bugs live long.
    fn keeps_the_specification<L: FreeList>() {
        let (list, mut spec) = (L::new(3), FreeIndexes::new(3));
        let mut taken = Vec::new();
        for round in 0..200u32 {
            if round % 7 < 4 {
                let index = list.alloc();
                assert!(spec.accepts(&Call::Alloc, &index), "round {round}: {index:?}");
                taken.extend(index);
            } else if !taken.is_empty() {
                let index = taken.remove(round as usize % taken.len());
                list.free(index);
                assert!(spec.accepts(&Call::Free(index), &None), "round {round}");
            }
        }
    }

    #[test]
    fn every_step_is_right_as_long_as_calls_come_one_after_another() {
        keeps_the_specification::<s1_no_tag::List>();
        keeps_the_specification::<s2_store_instead_of_cas::List>();
        keeps_the_specification::<s3_relaxed_push::List>();
        keeps_the_specification::<s4_relaxed_pop::List>();
        keeps_the_specification::<s5_tagged::List>();
    }
}
