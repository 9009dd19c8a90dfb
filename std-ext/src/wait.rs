//! The one blocking wait: threads that sleep until something changes, and are woken one at a time.
//!
//! An event count. Who wants to wait takes a [ticket](Waiters::ticket), looks at what it waits for, and sleeps with that ticket: a wake
//! that comes between the ticket and the sleep makes the sleep return at once. So none is lost, although looking takes no lock.
//!
//! Behind it are `std`'s mutex and condition variable: futexes where the system has them, no dependency, and, unlike a library with
//! a thread-local parking place, the same in the destructors of thread-locals. The mutex is held for a few instructions, by
//! threads that sleep or wake somebody and never by one that finds what it wants.
use std::sync::PoisonError;

use crate::blocking::{Condvar, Instant, Mutex, MutexGuard};

/// Threads that wait for the same thing.
#[derive(Debug)]
pub(crate) struct Waiters {
    state: Mutex<State>,
    woken: Condvar,
}

#[derive(Debug)]
struct State {
    /// How often somebody was to be woken. At one a nanosecond it lasts 584 years.
    wakes: u64,
    sleeping: usize,
}

/// The moment from which on wakes count.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

impl Waiters {
    /// Nobody waits.
    pub(crate) fn new() -> Self {
        Self { state: Mutex::new(State { wakes: 0, sleeping: 0 }), woken: Condvar::new() }
    }

    /// Before looking at what one waits for.
    pub(crate) fn ticket(&self) -> Ticket {
        Ticket(self.lock().wakes)
    }

    /// Sleeps until woken or until `deadline`, and not at all if anybody was to be woken since `ticket`.
    ///
    /// May return for no reason. The caller then looks again, and does so too at its deadline: if it is woken at that same moment, the wake
    /// is not lost on it.
    pub(crate) fn sleep(&self, ticket: Ticket, deadline: Option<Instant>) {
        let mut state = self.lock();
        if state.wakes != ticket.0 {
            return;
        }
        state.sleeping += 1;
        state = match deadline.map(|deadline| deadline.saturating_duration_since(Instant::now())) {
            None => self.woken.wait(state).unwrap_or_else(PoisonError::into_inner),
            Some(rest) => self.woken.wait_timeout(state, rest).unwrap_or_else(PoisonError::into_inner).0,
        };
        state.sleeping -= 1;
    }

    /// Wakes one that sleeps, if any does; whoever has taken a ticket and does not sleep yet looks again.
    pub(crate) fn wake_one(&self) {
        let mut state = self.lock();
        state.wakes += 1;
        // With the mutex held: nobody who goes to sleep after this can take the wake away from those that sleep now.
        if state.sleeping != 0 {
            self.woken.notify_one();
        }
    }

    /// Nothing in here panics half-way, so that a poisoned state is a good one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
