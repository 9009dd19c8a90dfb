//! The specification of an ID pool: a set of free IDs.
//!
//! Which of them a call gets is left open, or it is the smallest one. A pool that many use at the same time promises the first only.

use std::{collections::BTreeSet, ops::RangeInclusive};

use jeton_core::pool::{AllocError, FreeError, ReserveError};

use crate::linearizability::Spec;

/// Which free ID an allocation gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Any.
    Any,
    /// The smallest.
    Smallest,
}

/// A call of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Take a free ID.
    Alloc,
    /// Give an ID back.
    Free(u32),
    /// Take this ID.
    Reserve(u32),
}

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of `Alloc`.
    Alloc(Result<u32, AllocError>),
    /// Of `Free`.
    Free(Result<(), FreeError>),
    /// Of `Reserve`.
    Reserve(Result<(), ReserveError>),
}

/// A pool as the set of its free IDs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FreeIds {
    choice: Choice,
    /// `None`: the pool has no IDs.
    range: Option<RangeInclusive<u32>>,
    free: BTreeSet<u32>,
}

impl FreeIds {
    /// A pool of `capacity` IDs from `base` on, all free.
    pub fn new(choice: Choice, base: u32, capacity: u32) -> Self {
        let range = capacity.checked_sub(1).map(|last| base..=base + last);
        Self { choice, free: range.clone().into_iter().flatten().collect(), range }
    }

    /// Takes a free ID, the smallest one.
    pub fn alloc(&mut self) -> Result<u32, AllocError> {
        self.free.pop_first().ok_or(AllocError::Exhausted)
    }

    /// Gives an ID back.
    pub fn free(&mut self, id: u32) -> Result<(), FreeError> {
        match &self.range {
            Some(range) if range.contains(&id) => self.free.insert(id).then_some(()).ok_or(FreeError::NotAllocated(id)),
            _ => Err(FreeError::OutOfRange(id)),
        }
    }

    /// Takes this ID.
    pub fn reserve(&mut self, id: u32) -> Result<(), ReserveError> {
        match &self.range {
            Some(range) if range.contains(&id) => self.free.remove(&id).then_some(()).ok_or(ReserveError::Allocated(id)),
            _ => Err(ReserveError::OutOfRange(id)),
        }
    }

    /// The free IDs in order.
    pub fn free_ids(&self) -> impl Iterator<Item = u32> {
        self.free.iter().copied()
    }

    /// The number of free IDs.
    pub fn available(&self) -> usize {
        self.free.len()
    }
}

impl Spec for FreeIds {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        match (*call, *answer) {
            (Call::Alloc, Answer::Alloc(Ok(id))) if self.choice == Choice::Any => self.free.remove(&id),
            // A pool that says `Contended` says nothing about its IDs.
            (Call::Alloc, Answer::Alloc(Err(AllocError::Contended))) => true,
            (Call::Alloc, Answer::Alloc(answer)) => self.alloc() == answer,
            (Call::Free(id), Answer::Free(answer)) => self.free(id) == answer,
            (Call::Reserve(id), Answer::Reserve(answer)) => self.reserve(id) == answer,
            _ => false,
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn any_free_id_is_accepted_or_only_the_smallest() {
        let second = (Call::Alloc, Answer::Alloc(Ok(8)));
        assert!(FreeIds::new(Choice::Any, 7, 2).accepts(&second.0, &second.1));
        assert!(!FreeIds::new(Choice::Smallest, 7, 2).accepts(&second.0, &second.1));
        assert!(!FreeIds::new(Choice::Any, 7, 1).accepts(&second.0, &second.1));
    }

    #[test]
    fn exhausted_is_accepted_only_of_an_exhausted_pool() {
        let mut ids = FreeIds::new(Choice::Any, u32::MAX, 1);
        let exhausted = Answer::Alloc(Err(AllocError::Exhausted));
        assert!(!ids.clone().accepts(&Call::Alloc, &exhausted));
        assert!(ids.accepts(&Call::Alloc, &Answer::Alloc(Ok(u32::MAX))));
        assert!(ids.accepts(&Call::Alloc, &exhausted));
        assert!(ids.accepts(&Call::Free(u32::MAX), &Answer::Free(Ok(()))));
        assert!(!ids.clone().accepts(&Call::Free(u32::MAX), &Answer::Free(Ok(()))));
        assert!(FreeIds::new(Choice::Any, 0, 0).accepts(&Call::Free(0), &Answer::Free(Err(FreeError::OutOfRange(0)))));
    }
}
