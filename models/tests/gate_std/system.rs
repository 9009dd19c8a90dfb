//! What the models of the std extension's gate share: what stands in the place of the system, and small helpers.

use std::{
    pin::pin,
    task::{Context, Waker},
};

use jeton_models::explore::{Arc, Model};

use super::{
    Mode,
    std_ext::gate::{Gate, Moment, Waited},
};

/// In the place of the system: its clock, which stands still until a program calls `late`.
pub mod blocking {
    use std::{cell::Cell, time::Duration};

    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(Duration);

    thread_local! {
        /// Of the running execution, all of which is in one thread.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    impl Instant {
        pub fn now() -> Self {
            Self(NOW.get())
        }
    }

    /// A deadline that passes when a program calls [`late`](super::wait_word::late).
    pub const DEADLINE: Instant = Instant(Duration::from_secs(1));

    pub fn set(seconds: u64) {
        NOW.set(Duration::from_secs(seconds));
    }
}

/// In the place of the system: who sleeps, on which word, and for which bits.
pub mod wait_word {
    #[cfg(jeton_loom)]
    use loom::{
        lazy_static,
        sync::{Condvar, Mutex},
    };
    #[cfg(jeton_shuttle)]
    use shuttle::{
        lazy_static,
        sync::{Condvar, Mutex},
    };

    use jeton_core::sync::{AtomicU64, Ordering};

    use super::blocking::{self, Instant};

    #[derive(Default)]
    struct Room {
        sleepers: Vec<Sleeper>,
        tickets: u32,
        newest_first: bool,
    }

    struct Sleeper {
        ticket: u32,
        word: usize,
        bits: u32,
        has_deadline: bool,
    }

    lazy_static! {
        static ref ROOM: (Mutex<Room>, Condvar) = (Mutex::new(Room::default()), Condvar::new());
    }

    pub fn wait(word: &AtomicU64, seen: u64, bits: u32, deadline: Option<Instant>) {
        let mut room = ROOM.0.lock().expect("nobody panics");
        let is_late = deadline.is_some_and(|deadline| deadline <= Instant::now());
        if is_late || word.load(Ordering::Relaxed) as u32 != seen as u32 {
            return;
        }
        let ticket = room.tickets;
        room.tickets += 1;
        room.sleepers.push(Sleeper { ticket, word: std::ptr::from_ref(word).addr(), bits, has_deadline: deadline.is_some() });
        while room.sleepers.iter().any(|sleeper| sleeper.ticket == ticket) {
            room = ROOM.1.wait(room).expect("nobody panics");
        }
    }

    fn wake_those(which: impl Fn(&Sleeper) -> bool, most: u32) -> u32 {
        let mut room = ROOM.0.lock().expect("nobody panics");
        let mut woken = 0;
        let mut is_left = |sleeper: &Sleeper| {
            let is_woken = woken < most && which(sleeper);
            woken += u32::from(is_woken);
            !is_woken
        };
        if room.newest_first {
            room.sleepers.reverse();
            room.sleepers.retain(&mut is_left);
            room.sleepers.reverse();
        } else {
            room.sleepers.retain(&mut is_left);
        }
        ROOM.1.notify_all();
        woken
    }

    /// From now on, if not all are woken, those who came last are.
    pub fn newest_first() {
        ROOM.0.lock().expect("nobody panics").newest_first = true;
    }

    pub fn wake(word: &AtomicU64, bits: u32, count: u32) -> u32 {
        wake_those(|sleeper| sleeper.word == std::ptr::from_ref(word).addr() && sleeper.bits & bits != 0, count)
    }

    /// The deadline passes.
    pub fn late() {
        blocking::set(3600);
        wake_those(|sleeper| sleeper.has_deadline, u32::MAX);
    }

    /// The system lets everybody go on for no reason.
    pub fn spurious() {
        wake_those(|_| true, u32::MAX);
    }

    /// How many sleep.
    pub fn sleepers() -> usize {
        ROOM.0.lock().expect("nobody panics").sleepers.len()
    }
}

pub fn gate() -> Arc<Gate<Mode>> {
    blocking::set(0);
    Arc::new(Gate::new())
}

pub fn go(gate: &Gate<Mode>, from: Mode, to: Mode) {
    gate.try_transition(from, to).expect("from there");
}

pub fn state(waited: Waited<Mode>) -> Option<Mode> {
    match waited {
        Waited::Reached(Moment { state, .. }) => Some(state),
        _ => None,
    }
}

pub fn poll(future: &mut (impl Future + Unpin), waker: &Waker) -> bool {
    pin!(future).poll(&mut Context::from_waker(waker)).is_ready()
}

/// Two threads.
pub const fn two(loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads: 2, loom, rmw, shuttle }
}

/// Three threads.
pub const fn three(loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads: 3, loom, rmw, shuttle }
}
