//! The specification of a free list: a set of free indexes.
//!
//! Which of them a call gets is left open, so that a list may be a stack, a queue or a bitmap.

use std::collections::BTreeSet;

use crate::linearizability::Spec;

/// The free indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeIndexes(BTreeSet<u32>);

/// A call of a free list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Take any free index.
    Alloc,
    /// Give back an index that was taken.
    Free(u32),
}

impl FreeIndexes {
    /// A list of `len` indexes, all of them free.
    pub fn new(len: u32) -> Self {
        Self((0..len).collect())
    }
}

impl Spec for FreeIndexes {
    type Call = Call;
    /// The index that `Alloc` took.
    type Answer = Option<u32>;

    fn accepts(&mut self, call: &Call, answer: &Option<u32>) -> bool {
        match (call, answer) {
            (Call::Alloc, Some(index)) => self.0.remove(index),
            (Call::Alloc, None) => self.0.is_empty(),
            (Call::Free(index), None) => self.0.insert(*index),
            (Call::Free(_), Some(_)) => false,
        }
    }
}
