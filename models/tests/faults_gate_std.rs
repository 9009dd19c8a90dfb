//! The faults reported of similar systems, on real threads; on the system's way to sleep.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::{
    sync::{Arc, mpsc},
    task::{Context, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use jeton::{
    cancel::{CancelSource, CancelToken},
    gate::{CommitError, Gate, StateSet, TransitionError, Waited, states},
};

states! {
    /// As the queue of Tarantool.
    enum Queue: open Running {
        Init -> [Startup], abort Startup;
        Startup -> [Running], abort Ending;
        Running -> [Ending], abort Ending;
        Ending -> [Waiting], abort Waiting;
        Waiting -> [Startup], abort Startup;
    }
}

const LONG: Duration = Duration::from_secs(60);

fn running() -> Gate<Queue> {
    let gate = Gate::new();
    gate.try_transition(Queue::Init, Queue::Startup).expect("an edge");
    gate.try_transition(Queue::Startup, Queue::Running).expect("an edge");
    gate
}

fn flip(gate: &Gate<Queue>) {
    for (from, to) in [
        (Queue::Running, Queue::Ending),
        (Queue::Ending, Queue::Waiting),
        (Queue::Waiting, Queue::Startup),
        (Queue::Startup, Queue::Running),
    ] {
        gate.try_transition(from, to).expect("an edge");
    }
}

#[test]
fn of_a_hundred_fast_flips_all_are_seen() {
    let gate = running();
    let mut seen = 0;
    let mut epoch = gate.snapshot().epoch;
    for _ in 0..100 {
        flip(&gate);
        let Waited::Reached(now) = gate.wait_change(epoch, None, None) else { panic!("no other end") };
        seen += now.epoch.since(epoch) / 4;
        epoch = now.epoch;
    }
    assert_eq!((seen, gate.check()), (100, true));
}

#[test]
fn who_waits_is_released_when_the_gate_closes() {
    let gate = running();
    thread::scope(|scope| {
        let waits = scope.spawn(|| gate.wait_for(Queue::Waiting, Some(Instant::now() + LONG), None));
        thread::sleep(Duration::from_millis(20));
        assert!(gate.close());
        assert_eq!(waits.join().expect("no panic"), Waited::Closed);
    });
}

#[test]
fn who_waits_for_no_state_is_released_when_the_gate_closes_and_not_before() {
    let gate = running();
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Count(sender)));
    let mut context = Context::from_waker(&waker);
    let mut task = Box::pin(gate.reached(StateSet::none()));
    thread::scope(|scope| {
        let waits = scope.spawn(|| gate.wait_for(StateSet::none(), Some(Instant::now() + LONG), None));
        assert!(task.as_mut().poll(&mut context).is_pending());
        thread::sleep(Duration::from_millis(20));
        flip(&gate);
        assert!(task.as_mut().poll(&mut context).is_pending() && !waits.is_finished());
        _ = woken.try_iter().count();
        assert!(gate.close());
        assert_eq!((waits.join().expect("no panic"), woken.try_iter().count()), (Waited::Closed, 1));
        assert!(task.as_mut().poll(&mut context).is_ready());
    });
}

#[test]
fn a_cancel_releases_who_waits_before_and_after_it_sleeps() {
    let gate = running();
    for pause in [0, 20] {
        let source = CancelSource::new();
        let token = source.token();
        thread::scope(|scope| {
            let waits = scope.spawn(|| gate.wait_for(Queue::Waiting, Some(Instant::now() + LONG), Some(&token)));
            thread::sleep(Duration::from_millis(pause));
            assert!(source.cancel());
            assert_eq!(waits.join().expect("no panic"), Waited::Canceled);
        });
    }
}

/// Before it sleeps, and while it does.
#[test]
fn a_token_that_nobody_can_cancel_any_more_ends_no_wait() {
    let gate = running();
    for pause in [0, 20] {
        let source = CancelSource::new();
        for token in [source.token(), CancelToken::uncancelable()] {
            let soon = Some(Instant::now() + Duration::from_millis(pause));
            assert_eq!(gate.wait_for(Queue::Waiting, soon, Some(&token)), Waited::TimedOut);
        }
        let token = source.token();
        thread::scope(|scope| {
            let waits = scope.spawn(|| gate.wait_change(gate.snapshot().epoch, Some(Instant::now() + LONG), Some(&token)));
            thread::sleep(Duration::from_millis(pause));
            drop(source);
            thread::sleep(Duration::from_millis(20));
            flip(&gate);
            assert!(matches!(waits.join().expect("no panic"), Waited::Reached(_)));
        });
        assert_eq!(gate.wait_for(Queue::Waiting, Some(Instant::now()), Some(&token)), Waited::TimedOut);
    }
}

#[test]
fn a_token_that_is_canceled_already_ends_what_would_sleep_and_nothing_else() {
    let gate = running();
    let token = CancelToken::already_canceled();
    for deadline in [None, Some(Instant::now()), Some(Instant::now() + LONG)] {
        assert_eq!(gate.wait_for(Queue::Waiting, deadline, Some(&token)), Waited::Canceled);
        assert!(matches!(gate.wait_for(Queue::Running, deadline, Some(&token)), Waited::Reached(_)));
    }
    gate.close();
    assert_eq!(gate.wait_for(Queue::Waiting, None, Some(&token)), Waited::Closed);
}

/// Of any length, also one that no clock of the system can tell.
#[test]
fn a_deadline_beyond_all_times_is_none() {
    let gate = running();
    let far = (0..64).rev().find_map(|shift| Instant::now().checked_add(Duration::from_secs(1 << shift))).expect("one of them");
    for token in [None, Some(CancelToken::uncancelable())] {
        let (before, epoch) = (Instant::now(), gate.snapshot().epoch);
        thread::scope(|scope| {
            let waits = scope.spawn(|| gate.wait_change(epoch, Some(far), token.as_ref()));
            thread::sleep(Duration::from_millis(20));
            assert!(!waits.is_finished());
            flip(&gate);
            assert!(matches!(waits.join().expect("no panic"), Waited::Reached(_)));
        });
        assert!(before.elapsed() < LONG);
    }
}

#[test]
fn a_deadline_is_kept_and_never_early() {
    let gate = running();
    let source = CancelSource::new();
    for token in [None, Some(source.token())] {
        let deadline = Instant::now() + Duration::from_millis(20);
        assert_eq!(gate.wait_for(Queue::Waiting, Some(deadline), token.as_ref()), Waited::TimedOut);
        assert!(Instant::now() >= deadline);
    }
}

#[test]
fn a_parking_token_left_by_others_is_neither_used_nor_taken() {
    let gate = running();
    let source = CancelSource::new();
    thread::current().unpark();
    let deadline = Some(Instant::now() + Duration::from_millis(10));
    assert_eq!(gate.wait_for(Queue::Waiting, deadline, Some(&source.token())), Waited::TimedOut);
    let before = Instant::now();
    thread::park_timeout(LONG);
    assert!(before.elapsed() < LONG / 2, "the token is there still");
}

struct Count(mpsc::Sender<()>);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.send(()).expect("the test listens");
    }
}

#[test]
fn of_650_tasks_a_state_that_they_do_not_want_wakes_none() {
    let gate = running();
    let (sender, woken) = mpsc::channel();
    let waker = Waker::from(Arc::new(Count(sender)));
    let mut tasks: Vec<_> = (0..650).map(|_| Box::pin(gate.reached(Queue::Running))).collect();
    gate.try_transition(Queue::Running, Queue::Ending).expect("an edge");
    for task in &mut tasks {
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    gate.try_transition(Queue::Ending, Queue::Waiting).expect("an edge");
    gate.try_transition(Queue::Waiting, Queue::Startup).expect("an edge");
    assert_eq!(woken.try_iter().count(), 0);
    gate.try_transition(Queue::Startup, Queue::Running).expect("an edge");
    assert_eq!(woken.try_iter().count(), 650);
    for task in &mut tasks {
        assert!(task.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    }
}

#[test]
fn a_gate_may_go_as_soon_as_its_waiter_returns() {
    for _ in 0..200 {
        let gate = Arc::new(running());
        let setter = gate.clone();
        let sets = thread::spawn(move || setter.try_transition(Queue::Running, Queue::Ending).is_ok());
        assert!(matches!(gate.wait_for(Queue::Ending, None, None), Waited::Reached(_)));
        drop(gate);
        assert!(sets.join().expect("no panic"));
    }
}

#[test]
fn a_transition_that_is_dropped_takes_the_abort_edge() {
    let gate = running();
    drop(gate.begin::<{ Queue::Running as u8 }, { Queue::Ending as u8 }>(None).expect("an edge"));
    assert_eq!(gate.snapshot().state, Queue::Waiting);
    let late = gate.begin::<{ Queue::Waiting as u8 }, { Queue::Startup as u8 }>(Some(Instant::now())).expect("an edge");
    assert_eq!(late.commit::<{ Queue::Running as u8 }>(), Err(CommitError::Late));
    assert_eq!(gate.snapshot().state, Queue::Ending);
}

#[test]
fn a_transition_moves_no_state_that_somebody_else_has_entered_since() {
    let gate = running();
    for is_committed in [true, false] {
        let begun = gate.begin::<{ Queue::Running as u8 }, { Queue::Ending as u8 }>(None).expect("an edge");
        for (from, to) in [
            (Queue::Ending, Queue::Waiting),
            (Queue::Waiting, Queue::Startup),
            (Queue::Startup, Queue::Running),
            (Queue::Running, Queue::Ending),
        ] {
            gate.try_transition(from, to).expect("an edge");
        }
        let before = gate.snapshot();
        if is_committed {
            let refused = begun.commit::<{ Queue::Waiting as u8 }>();
            assert_eq!(refused, Err(CommitError::Refused(TransitionError::Other(Queue::Ending))));
        } else {
            drop(begun);
        }
        assert_eq!(gate.snapshot(), before, "it is another one's `Ending`");
        for (from, to) in [(Queue::Ending, Queue::Waiting), (Queue::Waiting, Queue::Startup), (Queue::Startup, Queue::Running)] {
            gate.try_transition(from, to).expect("an edge");
        }
    }
}
