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

/// As many as there are.
const ALL: u32 = i32::MAX as u32;

/// So many others a thread of a cascade wakes. Each processor has its share of the calls then, and none waits for the next name on a list.
const FAN_OUT: u32 = if cfg!(any(jeton_loom, jeton_shuttle)) { 1 } else { 4 };

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
            self.wake_waiters(replaced, to);
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
                    self.wake_all(seen, EVERYBODY);
                    return true;
                }
                Err(found) => seen = Word(found),
            }
        }
    }

    /// Wakes those who are published in the word that a transition to this state has just replaced.
    #[cold]
    fn wake_waiters(&self, replaced: Word, to: u8) {
        if !replaced.begins_cascade(to) {
            return self.wake_all(replaced, 1 << to);
        }
        // One: with a second one to wake, this thread could lose its processor to the first.
        self.go_on_with_cascade(replaced.moved_to_waiters(to), 1 << to, 1);
        if replaced.has_tasks() {
            self.tasks.wake(1 << to);
        }
    }

    fn wake_all(&self, replaced: Word, states: u32) {
        if replaced.has_threads() {
            wait_word::wake(&self.word, states, ALL);
        }
        if replaced.has_tasks() {
            self.tasks.wake(states);
        }
    }

    /// If threads for one of `states` are waking each other, wakes `count` more, or ends that if there are no more. The word found, or made.
    fn go_on_with_cascade(&self, mut seen: Word, states: u32, count: u32) -> Word {
        while let Some(state) = seen.cascade()
            && states & 1 << state != 0
            // If there are so many, they go on.
            && wait_word::wake(&self.word, 1 << state, count) < count
        {
            // From the very word that was seen before the look at the sleepers: no transition has made others wait for their wake since.
            let ended = seen.without_cascade();
            match self.word.compare_exchange(seen.0, ended.0, ord!("gate-std-36", Relaxed), ord!("gate-std-37", Acquire)) {
                Ok(_) => return ended,
                Err(found) => seen = Word(found),
            }
        }
        seen
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
            // Nobody begins to sleep who would be woken by a cascade that has gone by, and go on with it, and sleep again, and so on.
            let ended = self.go_on_with_cascade(seen, want.states(), ALL);
            if ended != seen {
                seen = ended;
                continue;
            }
            seen = match self.publish(seen, want.states(), Waiter::Thread) {
                Ok(published) => {
                    // Not at all, if the state, the epoch or the end has changed since.
                    wait_word::wait(&self.word, published.0, want.states(), deadline);
                    // Before anything else, and however the wait has ended: nobody else may have been woken to do it.
                    self.go_on_with_cascade(self.look(), want.states(), FAN_OUT)
                }
                Err(found) => found,
            };
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle, jeton_step))))]
mod tests {
    use std::{sync::mpsc, thread, time::Duration};

    use super::*;

    /// Asleep or not, late or not: what they leave is a word that nobody waits in, and the next transition is one addition again.
    #[test]
    fn a_crowd_leaves_nothing_behind() {
        let inner = Inner::new(0);
        for round in 0..if cfg!(miri) { 3 } else { 50 } {
            let (sender, started) = mpsc::channel();
            thread::scope(|scope| {
                for number in 0..7 {
                    let (sender, inner) = (sender.clone(), &inner);
                    let deadline = (number % 3 == 0).then(|| Instant::now() + Duration::from_micros(100 * round));
                    scope.spawn(move || {
                        sender.send(()).expect("the test listens");
                        let end = inner.wait(Want::States(0b10, 0b10), deadline, None);
                        assert!(matches!(end, End::Reached(_)) || deadline.is_some());
                    });
                }
                (0..7).for_each(|_| started.recv().expect("it starts"));
                thread::sleep(Duration::from_micros(100 * round));
                inner.go_if(0, 1, |_| true).expect("it is there");
            });
            let word = inner.look();
            assert!(!word.has_waiters(), "{word:?}");
            inner.go_if(1, 0, |_| true).expect("it is there");
        }
    }
}
