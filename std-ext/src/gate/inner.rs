//! The gate without the names of its states: transitions, and what waits for them.

use jeton_core::{const_fn, ord, sync::AtomicU64};

use super::{
    parker,
    tasks::Tasks,
    word::{Waiter, Word},
};
use crate::{blocking::Instant, cancel::CancelToken, wait_word};

/// All bits that a wake can have: the end of a gate wakes everybody.
const EVERYBODY: u32 = u32::MAX;

#[derive(Debug)]
pub(super) struct Inner {
    word: AtomicU64,
    pub(super) tasks: Tasks,
}

/// What somebody waits for, and its interest: the states whose coming ends the wait, or makes it look again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Want {
    /// One of the first ones, one bit a state. Who waits for none waits for the end, which finds those alone who have an interest.
    States(u32, u32),
    /// Another epoch than this one.
    Change(u64, u32),
}

/// How a wait ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// With this word.
    Reached(Word),
    TimedOut,
    Canceled,
    Closed,
}

impl Want {
    /// Its interest, which is never none.
    pub(super) const fn states(self) -> u32 {
        match self {
            Self::States(_, interest) | Self::Change(_, interest) => interest,
        }
    }

    pub(super) const fn end(self, word: Word) -> Option<End> {
        let is_reached = match self {
            _ if word.is_closed() => return Some(End::Closed),
            Self::States(states, _) => states & 1 << word.state() != 0,
            Self::Change(epoch, _) => word.epoch() != epoch,
        };
        if is_reached { Some(End::Reached(word)) } else { None }
    }
}

/// Whether the deadline has passed.
pub(super) fn is_late(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| deadline <= Instant::now())
}

impl Inner {
    const_fn! {
        pub(super) const fn new(state: u8) -> Self {
            Self { word: AtomicU64::new(Word::new(state).0), tasks: Tasks::new() }
        }
    }

    #[inline]
    pub(super) fn look(&self) -> Word {
        Word(self.word.load(ord!("gate-std-1", Acquire)))
    }

    /// From one state to another, if the gate is in the first one, and its word is what the caller says; the new word. Otherwise the word
    /// found.
    #[inline]
    pub(super) fn go_if(&self, from: u8, to: u8, is_right: impl Fn(Word) -> bool) -> Result<Word, Word> {
        let (replaced, new) = self.exchange(from, to, is_right)?;
        self.tell(replaced, to);
        Ok(new)
    }

    /// The first half of that: the word replaced, whose waiters are still to be told, and the new one.
    #[inline]
    pub(super) fn exchange(&self, from: u8, to: u8, is_right: impl Fn(Word) -> bool) -> Result<(Word, Word), Word> {
        let mut seen = Word(self.word.load(ord!("gate-std-2", Acquire)));
        loop {
            if !(seen.is_in(from) && is_right(seen)) {
                return Err(seen);
            }
            let new = seen.moved(from, to);
            match self.word.compare_exchange_weak(seen.0, new.0, ord!("gate-std-3", AcqRel), ord!("gate-std-4", Acquire)) {
                Ok(_) => return Ok((seen, new)),
                Err(found) => seen = Word(found),
            }
        }
    }

    /// The second half: wakes those who wait for that state in the word replaced.
    #[inline]
    pub(super) fn tell(&self, replaced: Word, to: u8) {
        if replaced.is_awaited(to) {
            self.wake(replaced, 1 << to);
        }
    }

    /// Closes the gate; whether this call has.
    pub(super) fn close(&self) -> bool {
        let mut seen = Word(self.word.load(ord!("gate-std-5", Relaxed)));
        loop {
            if seen.is_closed() {
                return false;
            }
            match self.word.compare_exchange_weak(seen.0, seen.closed().0, ord!("gate-std-6", AcqRel), ord!("gate-std-7", Relaxed))
            {
                Ok(_) => {
                    self.wake(seen, EVERYBODY);
                    return true;
                }
                Err(found) => seen = Word(found),
            }
        }
    }

    /// Wakes those who are published in the word that a transition has just replaced.
    #[cold]
    fn wake(&self, replaced: Word, states: u32) {
        if replaced.has_threads() {
            wait_word::wake(&self.word, states);
        }
        if replaced.has_tasks() {
            self.tasks.wake(states);
        }
    }

    /// Publishes a waiter that has seen `seen`. What it sees instead, if the word has changed.
    pub(super) fn publish(&self, seen: Word, states: u32, waiter: Waiter) -> Result<Word, Word> {
        let new = seen.awaited(states, waiter);
        // A task's slot goes with it to the transition that takes the interest: also when the bits are set already. A thread has nothing
        // but its bits, and they stay as long as the epoch does.
        if waiter == Waiter::Thread && new == seen {
            return Ok(seen);
        }
        match self.word.compare_exchange(seen.0, new.0, ord!("gate-std-8", Release), ord!("gate-std-9", Acquire)) {
            Ok(_) => Ok(new),
            Err(found) => Err(Word(found)),
        }
    }

    /// Blocks until `want` has come.
    pub(super) fn wait(&self, want: Want, deadline: Option<Instant>, token: Option<&CancelToken>) -> End {
        match token {
            Some(token) => parker::wait(self, want, deadline, token),
            None => self.sleep(want, deadline),
        }
    }

    /// How a wait ends that its deadline or its token ends: what has come before that counts.
    #[cold]
    pub(super) fn given_up(&self, want: Want, end: End) -> End {
        want.end(self.look()).unwrap_or(end)
    }

    fn sleep(&self, want: Want, deadline: Option<Instant>) -> End {
        let mut seen = self.look();
        loop {
            if let Some(end) = want.end(seen) {
                return end;
            }
            if is_late(deadline) {
                return self.given_up(want, End::TimedOut);
            }
            seen = match self.publish(seen, want.states(), Waiter::Thread) {
                // Not at all, if the state, the epoch or the end has changed since.
                Ok(published) => {
                    wait_word::wait(&self.word, published.0, want.states(), deadline);
                    self.look()
                }
                Err(found) => found,
            };
        }
    }
}
