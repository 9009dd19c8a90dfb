//! The std extension's gate under every interleaving: nobody sleeps for good beside what it waits for. Its files are the library's own; in
//! the place of the system there is a room of sleepers, which looks at the word with its lock held, as the system does.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;
mod gate_std;

/// In the place of the system: its clock, which stands still until a program calls `late`.
mod blocking {
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
mod wait_word {
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

    use crate::blocking::{self, Instant};

    #[derive(Default)]
    struct Room {
        sleepers: Vec<Sleeper>,
        tickets: u32,
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

    fn wake_those(which: impl Fn(&Sleeper) -> bool) {
        let mut room = ROOM.0.lock().expect("nobody panics");
        room.sleepers.retain(|sleeper| !which(sleeper));
        ROOM.1.notify_all();
    }

    pub fn wake(word: &AtomicU64, bits: u32) {
        wake_those(|sleeper| sleeper.word == std::ptr::from_ref(word).addr() && sleeper.bits & bits != 0);
    }

    /// The deadline passes.
    pub fn late() {
        blocking::set(3600);
        wake_those(|sleeper| sleeper.has_deadline);
    }

    /// The system lets everybody go on for no reason.
    pub fn spurious() {
        wake_those(|_| true);
    }

    /// How many sleep.
    pub fn sleepers() -> usize {
        ROOM.0.lock().expect("nobody panics").sleepers.len()
    }
}

use std::{
    pin::pin,
    task::{Context, Waker},
};

use cancel_std::{Probe, beside, room, std_ext::cancel, waker};
use gate_std::{
    Mode,
    std_ext::gate::{Gate, Moment, Reached, Waited},
};
use jeton_models::explore::{Arc, Model, explore, thread};

use crate::blocking::DEADLINE;

fn gate() -> Arc<Gate<Mode>> {
    blocking::set(0);
    Arc::new(Gate::new())
}

fn go(gate: &Gate<Mode>, from: Mode, to: Mode) {
    gate.try_transition(from, to).expect("from there");
}

fn state(waited: Waited<Mode>) -> Option<Mode> {
    match waited {
        Waited::Reached(Moment { state, .. }) => Some(state),
        _ => None,
    }
}

fn poll(future: &mut (impl Future + Unpin), waker: &Waker) -> bool {
    pin!(future).poll(&mut Context::from_waker(waker)).is_ready()
}

/// Two threads.
const fn two(loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads: 2, loom, rmw, shuttle }
}

/// Three threads.
const fn three(loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads: 3, loom, rmw, shuttle }
}

#[test]
fn a_waiter_is_woken_and_sees_what_came_before() {
    explore(two(21, 43, 1900), || {
        let (gate, probe) = (gate(), Probe::new());
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            go(&setter, Mode::Zero, Mode::One);
        });
        assert_eq!(state(gate.wait_for(Mode::One, None, None)), Some(Mode::One));
        probe.touch();
        other();
    });
}

#[test]
fn who_checks_a_gate_sees_what_came_before() {
    explore(two(4, 9, 9), || {
        let (gate, probe) = (gate(), Probe::new());
        go(&gate, Mode::Zero, Mode::One);
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            go(&setter, Mode::One, Mode::Zero);
        });
        thread::yield_now();
        if gate.check() {
            probe.touch();
        }
        other();
    });
}

#[test]
fn a_setter_sees_what_the_last_one_did() {
    explore(two(4, 9, 9), || {
        let (gate, probe) = (gate(), Probe::new());
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            go(&setter, Mode::Zero, Mode::One);
        });
        thread::yield_now();
        if gate.try_transition(Mode::One, Mode::Two).is_ok() {
            probe.touch();
        }
        other();
    });
}

#[test]
fn who_is_refused_sees_what_the_one_before_did() {
    explore(two(5, 13, 18), || {
        let (gate, probe) = (gate(), Probe::new());
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            _ = setter.try_transition(Mode::Zero, Mode::One);
        });
        thread::yield_now();
        if gate.try_transition(Mode::Zero, Mode::Two).is_err() {
            probe.touch();
        }
        other();
    });
}

#[test]
fn a_change_there_and_back_is_a_change() {
    explore(two(48, 100, 35_000), || {
        let gate = gate();
        let Moment { epoch, .. } = gate.snapshot();
        let setter = gate.clone();
        let other = beside(move || {
            go(&setter, Mode::Zero, Mode::One);
            go(&setter, Mode::One, Mode::Zero);
        });
        let Waited::Reached(now) = gate.wait_change(epoch, None, None) else { panic!("no other end") };
        assert!((1..=2).contains(&now.epoch.since(epoch)));
        other();
        assert_eq!(gate.changed_since(epoch).0, 2);
    });
}

#[test]
fn a_waiter_for_two_states_sleeps_through_a_third() {
    explore(two(60, 160, 70_000), || {
        let gate = gate();
        let setter = gate.clone();
        let other = beside(move || {
            go(&setter, Mode::Zero, Mode::One);
            go(&setter, Mode::One, Mode::Two);
            go(&setter, Mode::Two, Mode::Three);
        });
        let reached = state(gate.wait_for([Mode::Two, Mode::Three], None, None));
        assert!(matches!(reached, Some(Mode::Two | Mode::Three)));
        other();
    });
}

#[test]
fn two_setters_lose_no_waiter() {
    explore(three(4700, 3600, 20_000), || {
        let gate = gate();
        let setters = [gate.clone(), gate.clone()];
        let others = setters.map(|setter| {
            beside(move || {
                while setter.snapshot().state == Mode::Zero && setter.try_transition(Mode::Zero, Mode::One).is_err() {}
                _ = setter.try_transition(Mode::One, Mode::Two);
            })
        });
        assert_eq!(state(gate.wait_for(Mode::Two, None, None)), Some(Mode::Two));
        others.into_iter().for_each(|other| other());
        assert_eq!(gate.snapshot().epoch.get(), 2);
    });
}

#[test]
fn two_waiters_for_different_states_are_both_woken() {
    explore(three(1300, 5900, 20_000), || {
        let gate = gate();
        let waiters = [(gate.clone(), Mode::One), (gate.clone(), Mode::Two)];
        let others = waiters.map(|(gate, mode)| beside(move || gate.wait_for([mode, Mode::Three], None, None)));
        go(&gate, Mode::Zero, Mode::One);
        go(&gate, Mode::One, Mode::Two);
        go(&gate, Mode::Two, Mode::Three);
        others.into_iter().for_each(|other| assert!(state(other()).is_some()));
    });
}

#[test]
fn a_deadline_beside_a_transition_ends_the_wait_one_way_or_the_other() {
    explore(three(350, 830, 20_000), || {
        let gate = gate();
        let setter = gate.clone();
        let clock = beside(wait_word::late);
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        let waited = gate.wait_for(Mode::One, Some(DEADLINE), None);
        assert!(waited == Waited::TimedOut || state(waited) == Some(Mode::One));
        clock();
        other();
        assert_eq!(state(gate.wait_for(Mode::One, Some(DEADLINE), None)), Some(Mode::One), "what has come counts before the clock");
    });
}

#[test]
fn a_waiter_that_has_gone_leaves_the_others_their_wake() {
    explore(three(290, 1000, 20_000), || {
        let gate = gate();
        let (patient, hasty) = (gate.clone(), gate.clone());
        let patient = beside(move || state(patient.wait_for(Mode::One, None, None)));
        let hasty = beside(move || hasty.wait_for([Mode::One, Mode::Two], Some(DEADLINE), None));
        wait_word::late();
        go(&gate, Mode::Zero, Mode::One);
        assert_eq!(patient(), Some(Mode::One));
        _ = hasty();
    });
}

#[test]
fn a_cancel_beside_a_transition_ends_the_wait_one_way_or_the_other() {
    explore(three(14_000, 8300, 20_000), || {
        let (gate, source) = (gate(), cancel::CancelSource::new());
        let (setter, token) = (gate.clone(), source.token());
        let canceller = beside(move || source.cancel());
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        let waited = gate.wait_for(Mode::One, None, Some(&token));
        assert!(waited == Waited::Canceled || state(waited) == Some(Mode::One));
        canceller();
        other();
    });
}

#[test]
fn a_cancel_ends_a_wait_for_what_never_comes() {
    explore(two(250, 200, 70_000), || {
        let (gate, source) = (gate(), cancel::CancelSource::new());
        let token = source.token();
        let canceller = beside(move || source.cancel());
        assert_eq!(gate.wait_for(Mode::One, None, Some(&token)), Waited::Canceled);
        canceller();
        assert_eq!(wait_word::sleepers(), 0);
    });
}

#[test]
fn who_can_be_canceled_is_woken_by_the_gate() {
    explore(two(33, 63, 70_000), || {
        let (gate, source, probe) = (gate(), cancel::CancelSource::new(), Probe::new());
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            go(&setter, Mode::Zero, Mode::One);
        });
        assert_eq!(state(gate.wait_for(Mode::One, None, Some(&source.token()))), Some(Mode::One));
        probe.touch();
        other();
    });
}

#[test]
fn closing_ends_every_wait() {
    explore(three(1400, 1900, 20_000), || {
        let gate = gate();
        let (closer, task) = (gate.clone(), gate.clone());
        let other = beside(move || closer.close());
        let watcher = beside(move || {
            let (woken, waker) = waker();
            let mut future = task.reached(Mode::Two);
            let pending = !poll(&mut future, &waker);
            drop(waker);
            (pending, woken, future.into_pending())
        });
        assert_eq!(gate.wait_for(Mode::One, None, None), Waited::Closed);
        assert!(other());
        let (pending, woken, ()) = watcher();
        // Polled, and dropped beside the close: woken at most once.
        assert!(woken.times() <= u32::from(pending));
    });
}

/// For a future that is dropped at the end of a thread.
trait Pending {
    fn into_pending(self);
}

impl Pending for Reached<'_, Mode> {
    fn into_pending(self) {}
}

#[test]
fn closing_wakes_a_task() {
    explore(two(7, 10, 50), || {
        let (gate, (woken, waker)) = (gate(), waker());
        let closer = gate.clone();
        let other = beside(move || closer.close());
        let mut future = gate.reached(Mode::One);
        let pending = !poll(&mut future, &waker);
        assert!(other());
        assert!(!pending || woken.times() == 1);
        assert!(poll(&mut future, &waker));
    });
}

#[test]
fn a_close_sees_what_came_before_and_shows_it() {
    explore(two(4, 9, 9), || {
        let (gate, probe) = (gate(), Probe::new());
        let (closer, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            closer.close();
        });
        thread::yield_now();
        if gate.is_closed() {
            probe.touch();
        }
        other();
    });
}

#[test]
fn a_wake_for_no_reason_ends_no_wait() {
    explore(three(470, 1000, 20_000), || {
        let gate = gate();
        let setter = gate.clone();
        let noise = beside(wait_word::spurious);
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        assert_eq!(state(gate.wait_for(Mode::One, None, None)), Some(Mode::One));
        noise();
        other();
    });
}

#[test]
fn a_task_is_woken_or_sees_the_transition() {
    explore(two(7, 10, 50), || {
        let (gate, probe, (woken, waker)) = (gate(), Probe::new(), waker());
        let (setter, before) = (gate.clone(), probe.clone());
        let other = beside(move || {
            before.touch();
            go(&setter, Mode::Zero, Mode::One);
        });
        let mut future = gate.reached(Mode::One);
        let pending = !poll(&mut future, &waker);
        if !pending {
            probe.touch();
        }
        other();
        assert!(!pending || woken.times() == 1);
        assert!(poll(&mut future, &waker));
        drop((future, waker));
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}

#[test]
fn the_last_waker_of_a_task_is_woken() {
    explore(two(56, 100, 21_000), || {
        let gate = gate();
        let ((_, one), (second, two)) = (waker(), waker());
        let mut future = gate.reached(Mode::One);
        assert!(!poll(&mut future, &one));
        let setter = gate.clone();
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        let pending = !poll(&mut future, &two);
        other();
        assert!(!pending || second.times() == 1);
        assert!(poll(&mut future, &two));
        drop((future, two));
        assert_eq!(std::sync::Arc::strong_count(&second), 1);
    });
}

#[test]
fn a_task_polled_again_between_two_transitions_is_woken_for_the_second() {
    explore(two(340, 240, 70_000), || {
        // Leaked, so that its future may go to another thread: one that knows nothing of the transitions.
        let gate: &'static Gate<Mode> = Box::leak(Box::new(Gate::new()));
        let ((_, one), (woken, two)) = (waker(), waker());
        let mut future = gate.reached([Mode::One, Mode::Three]);
        assert!(!poll(&mut future, &one));
        let other = beside(move || {
            let pending = !poll(&mut future, &two);
            (pending, future, two)
        });
        go(gate, Mode::Zero, Mode::One);
        go(gate, Mode::One, Mode::Two);
        go(gate, Mode::Two, Mode::Three);
        let (pending, mut future, two) = other();
        assert!(!pending || woken.times() > 0, "not woken since the poll");
        assert!(poll(&mut future, &two));
    });
}

#[test]
fn a_future_dropped_beside_a_transition_leaves_nothing_behind() {
    explore(two(100, 160, 11_000), || {
        let (gate, (woken, waker)) = (gate(), waker());
        let mut future = gate.reached(Mode::One);
        assert!(!poll(&mut future, &waker));
        let setter = gate.clone();
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        drop(future);
        // The slot may be another one's by now.
        let ((second, other_waker), mut next) = (self::waker(), gate.reached(Mode::Two));
        assert!(!poll(&mut next, &other_waker));
        other();
        assert_eq!(second.times(), 0);
        go(&gate, Mode::One, Mode::Two);
        assert_eq!(second.times(), 1);
        drop((waker, next, other_waker));
        assert_eq!((std::sync::Arc::strong_count(&woken), std::sync::Arc::strong_count(&second)), (1, 1));
    });
}

#[test]
fn a_slot_goes_from_one_task_to_another() {
    explore(two(600, 690, 70_000), || {
        let gate = gate();
        let tasks = [gate.clone(), gate.clone()];
        let mut others = tasks.map(|gate| {
            move || {
                let (woken, waker) = waker();
                for mode in [Mode::One, Mode::Two] {
                    let mut future = gate.reached(mode);
                    assert!(!poll(&mut future, &waker));
                }
                assert_eq!(woken.times(), 0);
            }
        });
        let [one, two] = &mut others;
        let one = beside(one.clone());
        two();
        one();
    });
}

#[test]
fn tasks_that_need_a_new_block_are_all_woken() {
    explore(two(41, 120, 70_000), || {
        let (gate, (woken, waker)) = (gate(), waker());
        let mut first = [gate.reached(Mode::One), gate.reached(Mode::One)];
        first.iter_mut().for_each(|future| assert!(!poll(future, &waker)));
        let setter = gate.clone();
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        let mut late = gate.reached(Mode::One);
        let pending = !poll(&mut late, &waker);
        other();
        // A task that sees the transition itself may have been in its slot already.
        assert!((2 + u32::from(pending)..=3).contains(&woken.times()));
    });
}

#[test]
fn two_tasks_that_need_the_same_new_block_both_get_a_slot() {
    explore(three(1100, 1500, 20_000), || {
        let gate = gate();
        let tasks = [gate.clone(), gate.clone()];
        let others = tasks.map(|gate| {
            beside(move || {
                let (woken, waker) = waker();
                let mut future = gate.reached(Mode::One);
                let pending = !poll(&mut future, &waker);
                (pending, woken, std::mem::ManuallyDrop::new(waker))
            })
        });
        go(&gate, Mode::Zero, Mode::One);
        others.into_iter().for_each(|other| {
            // Dropped after its poll, woken or not; once at most.
            let (_, woken, _) = other();
            assert!(woken.times() <= 1);
        });
    });
}

#[test]
fn a_thread_and_a_task_are_both_woken() {
    explore(three(110, 230, 20_000), || {
        let gate = gate();
        let (sleeper, setter) = (gate.clone(), gate.clone());
        let sleeper = beside(move || state(sleeper.wait_for(Mode::One, None, None)));
        let (woken, waker) = waker();
        let mut future = gate.reached([Mode::One, Mode::Two]);
        let pending = !poll(&mut future, &waker);
        let other = beside(move || go(&setter, Mode::Zero, Mode::One));
        other();
        assert_eq!(sleeper(), Some(Mode::One));
        assert!(pending && woken.times() == 1);
    });
}
