//! Faults reported of other gates, condition variables and notifications, turned round: each test is named for what must hold. The numbers are
//! those of their reports.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

mod gate;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    task::Poll,
};

use gate::{
    ENDING, Ending, INIT, Init, Queue, RUNNING, Running, STARTUP, Startup, WAITING, Waiting, bomb, go_to, leak, poll, state, waker,
};
use jeton_core::gate::{Gate, MOST_STATES, StateSet, States, Table, TransitionError, WaitError};

/// tarantool/queue, measured on #192 and later: of 100 fast changes to read-only and back, none was seen.
#[test]
fn of_a_hundred_fast_flips_none_is_missed() {
    let gate = leak::<1>();
    go_to(gate, Running);
    let before = gate.snapshot();
    let (woken, waker) = waker();
    let mut wait = gate.changed(before.epoch);
    assert!(poll(&mut wait, &waker).is_pending());
    for _ in 0..100 {
        for (from, to) in [(Running, Ending), (Ending, Waiting), (Waiting, Startup), (Startup, Running)] {
            assert!(gate.try_transition(from, to).is_ok());
        }
    }
    assert_eq!((gate.snapshot().state, gate.changed_since(before.epoch)), (before.state, 400));
    // Once is enough: whoever is woken asks how many there were.
    assert_eq!((woken.times(), state(poll(&mut wait, &waker))), (1, Some(Running)));
}

/// tarantool/queue#183: a wait of a millisecond at a time, in a loop. Here nothing wakes a task but what it waits for.
#[test]
fn an_idle_wait_is_not_woken() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let mut waits = (gate.reached(Running), gate.changed(gate.snapshot().epoch));
    assert!(poll(&mut waits.0, &waker).is_pending() && poll(&mut waits.1, &waker).is_pending());
    // What is no transition.
    assert_eq!(gate.try_transition(Running, Ending), Err(TransitionError::Other(Init)));
    assert_eq!(gate.try_transition(Init, Running), Err(TransitionError::NoEdge));
    assert!(!gate.check() && !gate.is_closed());
    assert_eq!((woken.times(), gate.snapshot().epoch.get()), (0, 0));
}

/// tarantool/queue#226: the mode changed on a way that told nobody.
#[test]
fn every_way_to_change_the_state_wakes() {
    type Way = fn(&'static Gate<Queue, 1>);
    let ways: [(Way, Queue); 5] = [
        (|gate| _ = gate.try_transition(Init, Startup), Startup),
        (|gate| _ = gate.transition::<INIT, STARTUP>(), Startup),
        (|gate| mem::forget(gate.begin::<INIT, STARTUP>()), Startup),
        (|gate| _ = gate.begin::<INIT, STARTUP>().and_then(|begun| begun.commit::<RUNNING>()), Running),
        (|gate| drop(gate.begin::<INIT, STARTUP>()), Waiting),
    ];
    for (at, (way, end)) in ways.into_iter().enumerate() {
        for by_state in [false, true] {
            let gate = leak::<1>();
            let (woken, waker) = waker();
            let mut reached = gate.reached(end);
            let mut changed = gate.changed(gate.snapshot().epoch);
            let pending = if by_state { poll(&mut reached, &waker) } else { poll(&mut changed, &waker) };
            assert!(pending.is_pending());
            way(gate);
            assert_eq!(woken.times(), 1, "way {at}");
            let answer = if by_state { poll(&mut reached, &waker) } else { poll(&mut changed, &waker) };
            assert_eq!(state(answer), Some(end), "way {at}");
        }
    }
}

/// tarantool/queue#224, and an operation that stayed blocked for the whole of its time-out when the queue was closed.
#[test]
fn the_closing_wakes_everybody_once_with_an_error_and_is_for_ever() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let mut waits = (gate.reached(Running), gate.changed(gate.snapshot().epoch));
    assert!(poll(&mut waits.0, &waker).is_pending() && poll(&mut waits.1, &waker).is_pending());
    assert!(gate.close() && !gate.close());
    assert_eq!(woken.times(), 2);
    assert_eq!(poll(&mut waits.0, &waker), Poll::Ready(Err(WaitError::Closed)));
    assert_eq!(poll(&mut waits.1, &waker), Poll::Ready(Err(WaitError::Closed)));
    assert_eq!(poll(&mut gate.reached(Init), &waker), Poll::Ready(Err(WaitError::Closed)), "though it is in that state");
    assert_eq!(gate.try_transition(Init, Startup), Err(TransitionError::Closed));
    assert_eq!(gate.transition::<INIT, STARTUP>(), Err(TransitionError::Closed));
    assert_eq!(gate.begin::<INIT, STARTUP>().err(), Some(TransitionError::Closed));
    // It is no transition: whoever counts them is not told of one that never was.
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get(), woken.times()), (Init, 0, 2));
}

/// Whoever waits for no state waits for the end.
#[test]
fn a_wait_for_no_state_ends_with_the_closing() {
    let gate = leak::<1>();
    let (woken, waker) = waker();
    let mut wait = gate.reached(StateSet::none());
    assert!(poll(&mut wait, &waker).is_pending());
    go_to(gate, Waiting);
    assert_eq!((woken.times(), gate.close(), woken.times()), (0, true, 1));
    assert_eq!(poll(&mut wait, &waker), Poll::Ready(Err(WaitError::Closed)));
}

/// An open gate that is closed lets nobody through.
#[test]
fn the_check_fails_in_every_state_but_the_open_one_and_once_it_is_closed() {
    let gate = leak::<0>();
    assert!(!gate.check());
    go_to(gate, Startup);
    assert!(!gate.check());
    assert!(gate.try_transition(Startup, Running).is_ok() && gate.check());
    assert!(gate.close() && !gate.check());
    let gate = leak::<0>();
    go_to(gate, Ending);
    assert!(!gate.check());
}

/// tarantool/queue#262, #263: the step out of ENDING hung on a dead peer, and the machine with it.
#[test]
fn a_transition_that_is_given_up_takes_the_abort_edge_also_when_its_work_panics() {
    let gate = leak::<1>();
    go_to(gate, Running);
    let ending = gate.begin::<RUNNING, ENDING>().expect("it is running");
    // A deadline is the caller's: here it has passed.
    drop(ending);
    assert_eq!(gate.snapshot().state, Waiting);
    let stopped = catch_unwind(AssertUnwindSafe(|| {
        let _starting = gate.begin::<WAITING, STARTUP>().expect("it waits");
        panic!("the tube does not start");
    }));
    assert!(stopped.is_err());
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get()), (Waiting, 6));
}

/// The same, when what panics is the waker of one who has waited for the step itself: nobody has the guard yet.
#[test]
fn a_transition_whose_beginning_panics_takes_the_abort_edge() {
    let gate = leak::<2>();
    let (woken, waker) = waker();
    let (mut startup, mut waiting) = (gate.reached(Startup), gate.reached(Waiting));
    assert!(poll(&mut startup, &bomb()).is_pending() && poll(&mut waiting, &waker).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| gate.begin::<INIT, STARTUP>().map(mem::forget))).is_err());
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get(), woken.times()), (Waiting, 2, 1));
}

/// A commit is made before anybody hears of it.
#[test]
fn a_commit_whose_waker_panics_is_made() {
    let gate = leak::<1>();
    let mut running = gate.reached(Running);
    assert!(poll(&mut running, &bomb()).is_pending());
    let begun = gate.begin::<INIT, STARTUP>().expect("it is in that state");
    assert!(catch_unwind(AssertUnwindSafe(|| begun.commit::<RUNNING>())).is_err());
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get()), (Running, 2));
}

#[test]
fn a_transition_that_is_forgotten_wedges_nobody() {
    let gate = leak::<1>();
    mem::forget(gate.begin::<INIT, STARTUP>());
    assert_eq!(gate.snapshot().state, Startup);
    assert!(gate.try_transition(Startup, Waiting).is_ok(), "the abort edge is an edge for everybody");
}

/// Of two watchdogs one has aborted a transition: the other one, and the one who has begun it, must not undo what came after.
#[test]
fn a_transition_that_was_ended_by_others_does_nothing_more() {
    for commits in [false, true] {
        let gate = leak::<1>();
        go_to(gate, Ending);
        let begun =
            gate.try_transition(Ending, Waiting).and_then(|_| gate.begin::<WAITING, STARTUP>()).expect("nobody else is here");
        // Somebody else goes all the way round, to the same state.
        for (from, to) in [(Startup, Running), (Running, Ending), (Ending, Waiting), (Waiting, Startup)] {
            assert!(gate.try_transition(from, to).is_ok());
        }
        let before = gate.snapshot();
        if commits {
            assert_eq!(begun.commit::<RUNNING>(), Err(TransitionError::Other(Startup)));
        } else {
            drop(begun);
        }
        assert_eq!(gate.snapshot(), before);
    }
    let gate = leak::<1>();
    let begun = gate.begin::<INIT, STARTUP>().expect("nobody else is here");
    assert!(gate.close());
    assert_eq!(begun.commit::<RUNNING>(), Err(TransitionError::Closed));
    assert_eq!((gate.snapshot().state, gate.snapshot().epoch.get()), (Startup, 1));
}

/// A number that is none of a state's, though its lower bits are: it would move a closed gate, or take away that somebody waits.
#[test]
fn a_state_beyond_the_sixteenth_has_no_edge() {
    /// States as somebody declares them without `states!`, with a wrong number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    struct Wrong(u8);
    impl States for Wrong {
        const TABLE: Table = Table::new(0, &[(0b10, Some(1)), (0b01, Some(0))]);
        const ALL: [Self; MOST_STATES] = [Self(0); MOST_STATES];
        fn number(self) -> u8 {
            self.0
        }
    }
    let gate = Gate::<Wrong, 1>::new();
    let (woken, waker) = waker();
    let mut wait = gate.changed(gate.snapshot().epoch);
    assert!(poll(&mut wait, &waker).is_pending());
    for (from, to) in [(16, 1), (32, 1), (0, 17), (0, 33), (0, 65), (255, 1)] {
        assert_eq!(gate.try_transition(Wrong(from), Wrong(to)), Err(TransitionError::NoEdge), "{from} {to}");
        assert!(!Wrong::TABLE.has_edge(from, to));
    }
    assert_eq!((gate.snapshot().epoch.get(), woken.times()), (0, 0));
    assert!(gate.try_transition(Wrong(0), Wrong(1)).is_ok() && woken.times() == 1);
}

/// What does not compile says why: the same table, made when this runs.
#[test]
fn a_table_that_is_wrong_says_what_is_wrong_with_it() {
    type Edges = [(u16, Option<u8>)];
    let wrong: [(u8, &Edges, &str); 10] = [
        (0, &[], "a gate has 1 to 16 states"),
        (0, &[(1, Some(1)); MOST_STATES + 1], "a gate has 1 to 16 states"),
        (2, &[(0b10, Some(1)), (0b01, Some(0))], "the open state is one of them"),
        (0, &[(0b10, Some(0)), (0b01, Some(0))], "an abort edge leads to another state"),
        (0, &[(0b10, Some(2)), (0b01, Some(0))], "an abort edge leads to another state"),
        (0, &[(0b110, Some(1)), (0b01, Some(0))], "an edge leads to a state"),
        (0, &[(0b10, Some(1)), (0b01, None)], "a state with an exit needs an abort edge"),
        (0, &[(0b10, Some(1)), (0, Some(0))], "a state without an exit has no abort edge"),
        (0, &[(0b10, Some(1)), (0b01, Some(0)), (0, None)], "every state is reached from the first one"),
        (0, &[(0b10, Some(1)), (0b01, Some(0)), (0b01, Some(0))], "every state is reached from the first one"),
    ];
    for (open, edges, why) in wrong {
        let panicked = catch_unwind(|| Table::new(open, edges)).expect_err(why);
        assert_eq!(panicked.downcast_ref::<&str>(), Some(&why), "{edges:?}");
    }
    let right: [(u8, &Edges); 3] =
        [(0, &[(0, None)]), (1, &[(0b10, Some(1)), (0, None)]), (0, &[(0b11, Some(1)), (0b01, Some(0))])];
    assert_eq!(right.map(|(open, edges)| Table::new(open, edges).open()), [0, 1, 0]);
}
