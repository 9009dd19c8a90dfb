//! A gate for threads and tasks, and what goes wrong if one of its rules is left out.
//!
//! States are numbers below 4, the first one is 0. Threads sleep in the system, which compares the word's low half; a task has its waker in a slot, of
//! which there is one. A waker is the number of the states that it waits for. Here nobody really sleeps: who does so is remembered, and whoever
//! is remembered at the end, although its state has come, would sleep for ever.

#[cfg(any(jeton_loom, jeton_shuttle))]
pub mod programs;
pub mod s1_kept_interest;
pub mod s2_cleared_too_widely;
pub mod s3_unpublished;
pub mod s4_wake_first;
pub mod s5_freed_while_taken;
pub mod s6_no_second_look;
pub mod s7_all_rules;

use std::{
    fmt,
    marker::PhantomData,
    sync::{Mutex, PoisonError},
};

use jeton_core::{
    ord,
    sync::{AtomicU32, UnsafeCell},
};

/// What each step keeps to, or not.
pub trait Rules: fmt::Debug + Send + Sync + 'static {
    /// The interest that a transition leaves, a bit for each state.
    fn left(interest: u32, to: u32) -> u32 {
        interest & !(1 << to)
    }
    /// Whether a thread says in the word what it waits for.
    const PUBLISHES: bool = true;
    /// Whether a transition writes the word before it wakes.
    const WAKES_LAST: bool = true;
    /// Whether the owner leaves its slot, while the waker is taken out, to the one who does that.
    const LEAVES: bool = true;
    /// Whether a task looks at the word that it has found in the place of the one it has seen.
    const LOOKS_AGAIN: bool = true;
}

/// `state:2 | epoch:14 | interest:4`, from the lowest bit.
const STATE: u32 = 3;
const EPOCH: u32 = 1 << 2;
const LOW: u32 = 0xFFFF;
const INTEREST: u32 = 16;

const FREE: u32 = 0;
const HELD: u32 = 1;
const ARMED: u32 = 2;
const TAKEN: u32 = 3;
const LEFT: u32 = 4;

/// A thread that sleeps in the system.
#[derive(Clone, Copy, Debug)]
struct Sleeper {
    states: u32,
    /// The low half that it has seen.
    seen: u32,
}

/// A gate that keeps to `R`.
#[derive(Debug)]
pub struct Gate<R> {
    word: AtomicU32,
    slot: AtomicU32,
    /// What the waker in the slot waits for.
    waker: UnsafeCell<u32>,
    /// In the system: no part of what is explored.
    asleep: Mutex<Vec<Sleeper>>,
    rules: PhantomData<R>,
}

// SAFETY: the waker belongs to whom the slot's word says; whether that is true is what is explored.
unsafe impl<R> Sync for Gate<R> {}

impl<R: Rules> Gate<R> {
    /// In state 0; nobody waits.
    pub fn new() -> Self {
        Self {
            word: AtomicU32::new(0),
            slot: AtomicU32::new(FREE),
            waker: UnsafeCell::new(0),
            asleep: Mutex::default(),
            rules: PhantomData,
        }
    }

    /// Goes to another state. How often that has looked for somebody to wake.
    pub fn go(&self, to: u32) -> u32 {
        let mut seen = self.word.load(ord!("gate-rules-1", Acquire));
        let mut looks = 0;
        loop {
            let is_awaited = seen >> INTEREST & 1 << to != 0;
            if is_awaited && !R::WAKES_LAST {
                looks += 1;
                self.wake(to);
            }
            let low = (seen & LOW & !STATE).wrapping_add(EPOCH) & LOW | to;
            let new = low | R::left(seen >> INTEREST, to) << INTEREST;
            match self.word.compare_exchange(seen, new, ord!("gate-rules-2", AcqRel), ord!("gate-rules-3", Acquire)) {
                Ok(_) => break,
                Err(found) => seen = found,
            }
        }
        if seen >> INTEREST & 1 << to != 0 && R::WAKES_LAST {
            looks += 1;
            self.wake(to);
        }
        looks
    }

    fn wake(&self, state: u32) {
        let now = self.word.load(ord!("gate-rules-4", Relaxed)) & LOW;
        let mut asleep = self.asleep.lock().unwrap_or_else(PoisonError::into_inner);
        // Whoever finds what it has seen before goes to sleep again.
        asleep.retain(|sleeper| sleeper.states & 1 << state == 0 || sleeper.seen == now);
        drop(asleep);
        self.wake_task(state);
    }

    fn wake_task(&self, state: u32) {
        if self.slot.compare_exchange(ARMED, TAKEN, ord!("gate-rules-5", Acquire), ord!("gate-rules-6", Relaxed)).is_err() {
            return;
        }
        // SAFETY: it is taken, by this call.
        let states = self.waker.with_mut(|waker| unsafe { std::mem::take(&mut *waker) });
        // One that waits for another state is put back, so that this is no part of what is explored.
        let next = if states & 1 << state == 0 { ARMED } else { HELD };
        if next == ARMED {
            // SAFETY: as above.
            self.waker.with_mut(|waker| unsafe { *waker = states });
        }
        if self.slot.compare_exchange(TAKEN, next, ord!("gate-rules-7", Release), ord!("gate-rules-8", Relaxed)).is_err() {
            self.slot.store_over(FREE, ord!("gate-rules-9", Release));
        }
    }

    /// A thread waits for `states`: not at all if one of them is there, otherwise it sleeps.
    pub fn thread_waits(&self, states: u32) {
        let mut seen = self.word.load(ord!("gate-rules-10", Acquire));
        loop {
            if states & 1 << (seen & STATE) != 0 {
                return;
            }
            if R::PUBLISHES {
                let new = seen | states << INTEREST;
                match self.word.compare_exchange(seen, new, ord!("gate-rules-11", Release), ord!("gate-rules-12", Acquire)) {
                    Ok(_) => seen = new,
                    Err(found) => {
                        seen = found;
                        continue;
                    }
                }
            }
            // The system compares and puts to sleep in one step: a read-modify-write, which finds no old value.
            let found = self.word.fetch_or(0, ord!("gate-rules-13", AcqRel));
            if found & LOW == seen & LOW {
                let sleeper = Sleeper { states, seen: seen & LOW };
                self.asleep.lock().unwrap_or_else(PoisonError::into_inner).push(sleeper);
                return;
            }
            seen = found;
        }
    }

    /// A task waits for `states`; whether it has a slot then, or there is none.
    pub fn task_waits(&self, states: u32) -> bool {
        let mut seen = self.word.load(ord!("gate-rules-14", Acquire));
        if states & 1 << (seen & STATE) != 0
            || self.slot.compare_exchange(FREE, HELD, ord!("gate-rules-15", Acquire), ord!("gate-rules-16", Relaxed)).is_err()
        {
            return false;
        }
        // SAFETY: it is held, by this call.
        self.waker.with_mut(|waker| unsafe { *waker = states });
        self.slot.store_over(ARMED, ord!("gate-rules-17", Release));
        loop {
            let new = seen | states << INTEREST;
            match self.word.compare_exchange(seen, new, ord!("gate-rules-18", Release), ord!("gate-rules-19", Acquire)) {
                Ok(_) => return true,
                Err(_) if !R::LOOKS_AGAIN => return true,
                Err(found) if states & 1 << (found & STATE) != 0 => {
                    self.task_leaves();
                    return false;
                }
                Err(found) => seen = found,
            }
        }
    }

    /// The task gives its wait up.
    pub fn task_leaves(&self) {
        let mut seen = self.slot.load(ord!("gate-rules-20", Acquire));
        loop {
            let next = if seen == TAKEN && R::LEAVES { LEFT } else { FREE };
            match self.slot.compare_exchange(seen, next, ord!("gate-rules-21", Release), ord!("gate-rules-22", Acquire)) {
                Ok(_) => return,
                Err(found) => seen = found,
            }
        }
    }

    /// Whether any thread is asleep.
    pub fn has_sleepers(&self) -> bool {
        !self.asleep.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Whether there is a waker in the slot.
    pub fn has_waker(&self) -> bool {
        self.slot.load(ord!("gate-rules-23", Acquire)) == ARMED
    }
}

impl<R: Rules> Default for Gate<R> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    fn stands<R: Rules>() {
        let gate = Gate::<R>::new();
        gate.thread_waits(1);
        assert!(!gate.has_sleepers() && !gate.task_waits(1), "it is there");
        assert!(gate.task_waits(0b10) && gate.has_waker());
        gate.go(1);
        assert!(!gate.has_waker());
        gate.task_leaves();
        assert!(gate.task_waits(0b100), "the slot is free again");
    }

    #[test]
    fn every_step_is_right_as_long_as_calls_come_one_after_another() {
        stands::<s1_kept_interest::Step>();
        stands::<s2_cleared_too_widely::Step>();
        stands::<s3_unpublished::Step>();
        stands::<s4_wake_first::Step>();
        stands::<s5_freed_while_taken::Step>();
        stands::<s6_no_second_look::Step>();
        stands::<s7_all_rules::Step>();
    }
}
