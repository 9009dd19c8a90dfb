//! The specification of a source: how it stands, and what is registered.
//!
//! A cancel is one step; the callbacks come after it, each on its own. Until its turn comes a callback may be removed. So is a dismissal, after
//! which each callback is dropped.

use std::collections::BTreeSet;

use jeton_core::cancel::{Reason, Refusal, Status};

use crate::linearizability::Spec;

/// A call of a source or of its token; callbacks have numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Register this callback.
    Register(u32),
    /// End the registration of this callback.
    Deregister(u32),
    /// Cancel.
    Cancel(Reason),
    /// Dismiss.
    Dismiss,
    /// Ask.
    Status,
    /// Whether this callback has been called, when all is over.
    Called(u32),
}

/// What a call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of `Register`.
    Registered(Result<(), Refusal>),
    /// Of `Deregister`: whether it was removed before it was called.
    Deregistered(bool),
    /// Of `Cancel` and `Dismiss`: whether this call has done it.
    Done(bool),
    /// Of `Status`.
    Status(Status),
    /// Of `Called`.
    Called(bool),
}

/// A source with so many slots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    slots: usize,
    status: Status,
    registered: BTreeSet<u32>,
    /// Those that a cancel has found, and that are not removed.
    to_call: BTreeSet<u32>,
    /// Those that a dismissal has found, and that are not removed.
    to_drop: BTreeSet<u32>,
}

impl Registry {
    /// Active, with `slots` free slots.
    pub fn new(slots: usize) -> Self {
        Self { slots, status: Status::Active, registered: BTreeSet::new(), to_call: BTreeSet::new(), to_drop: BTreeSet::new() }
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        self.status
    }

    /// Registers a callback.
    ///
    /// # Errors
    /// Why not.
    pub fn register(&mut self, callback: u32) -> Result<(), Refusal> {
        match self.status {
            Status::Canceled(reason) => Err(Refusal::Canceled(reason)),
            Status::Dismissed => Err(Refusal::Dismissed),
            Status::Active if self.registered.len() == self.slots => Err(Refusal::Full),
            Status::Active => {
                self.registered.insert(callback);
                Ok(())
            }
        }
    }

    /// Removes a callback that is to be called some day, or dropped; whether it was.
    pub fn remove(&mut self, callback: u32) -> bool {
        [&mut self.to_call, &mut self.to_drop, &mut self.registered].into_iter().any(|set| set.remove(&callback))
    }

    /// Cancels it; whether this call has.
    pub fn cancel(&mut self, reason: Reason) -> bool {
        let active = self.status == Status::Active;
        if active {
            self.status = Status::Canceled(reason);
            self.to_call = std::mem::take(&mut self.registered);
        }
        active
    }

    /// Dismisses it; whether this call has.
    pub fn dismiss(&mut self) -> bool {
        let active = self.status == Status::Active;
        if active {
            self.status = Status::Dismissed;
            self.to_drop = std::mem::take(&mut self.registered);
        }
        active
    }
}

impl Spec for Registry {
    type Call = Call;
    type Answer = Answer;

    fn accepts(&mut self, call: &Call, answer: &Answer) -> bool {
        match (*call, *answer) {
            (Call::Register(callback), Answer::Registered(answer)) => self.register(callback) == answer,
            (Call::Deregister(callback), Answer::Deregistered(true)) => self.remove(callback),
            // It is called now, or has been, or was dropped by a dismissal.
            (Call::Deregister(callback), Answer::Deregistered(false)) => !self.registered.contains(&callback),
            (Call::Cancel(reason), Answer::Done(answer)) => self.cancel(reason) == answer,
            (Call::Dismiss, Answer::Done(answer)) => self.dismiss() == answer,
            (Call::Status, Answer::Status(answer)) => self.status == answer,
            (Call::Called(callback), Answer::Called(answer)) => self.to_call.contains(&callback) == answer,
            _ => false,
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_callback_is_called_or_removed_and_not_both() {
        let mut source = Registry::new(1);
        assert_eq!((source.register(1), source.register(2)), (Ok(()), Err(Refusal::Full)));
        assert!(source.cancel(Reason::REQUESTED) && !source.cancel(Reason::DEADLINE) && !source.dismiss());
        assert_eq!(source.register(2), Err(Refusal::Canceled(Reason::REQUESTED)));
        let called = |source: &mut Registry, yes| source.accepts(&Call::Called(1), &Answer::Called(yes));
        assert!(called(&mut source.clone(), true) && !called(&mut source.clone(), false));
        assert!(source.accepts(&Call::Deregister(1), &Answer::Deregistered(true)));
        assert!(called(&mut source.clone(), false) && !called(&mut source, true));
    }

    #[test]
    fn what_is_registered_cannot_have_been_called() {
        let mut source = Registry::new(2);
        assert_eq!(source.register(1), Ok(()));
        assert!(!source.clone().accepts(&Call::Deregister(1), &Answer::Deregistered(false)));
        assert!(source.dismiss());
        // Dropped by the dismissal, or removed just before.
        assert!(source.clone().accepts(&Call::Deregister(1), &Answer::Deregistered(false)));
        let removes = |source: &mut Registry| source.accepts(&Call::Deregister(1), &Answer::Deregistered(true));
        assert!(removes(&mut source) && !removes(&mut source.clone()));
        assert!(source.accepts(&Call::Called(1), &Answer::Called(false)));
    }
}
