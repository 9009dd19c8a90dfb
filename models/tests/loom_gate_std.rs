//! The std extension's gate under every interleaving: no thread sleeps for good beside what it waits for. Its files are the library's own; in
//! the place of the system there is a room of sleepers, which looks at the word with its lock held, as the system does.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;
mod gate_std;

use cancel_std::{Probe, beside, room, std_ext::cancel, waker};
use gate_std::{
    Mode,
    std_ext::gate::{Moment, Reached, Waited},
    system::{blocking, blocking::DEADLINE, gate, go, poll, state, three, two, wait_word},
};
use jeton_models::explore::{explore, thread};

/// For a future that is dropped at the end of a thread.
trait Pending {
    fn into_pending(self);
}

impl Pending for Reached<'_, Mode> {
    fn into_pending(self) {}
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
fn a_state_that_came_before_the_cancel_ends_the_wait() {
    explore(two(310, 330, 70_000), || {
        let (gate, source) = (gate(), cancel::CancelSource::new());
        let (setter, token) = (gate.clone(), source.token());
        let other = beside(move || {
            go(&setter, Mode::Zero, Mode::One);
            source.cancel()
        });
        assert_eq!(state(gate.wait_for(Mode::One, None, Some(&token))), Some(Mode::One));
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
