//! Sources on the heap, their callbacks and futures, under every interleaving.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;

use std::task::Poll;

use cancel_std::{
    Probe, beside, poll, room,
    std_ext::cancel::{CancelSource, Dismissed, Registration},
    waker,
};
use jeton_core::cancel::{Deregistered, Reason, Status};
use jeton_models::explore::{Model, explore, thread};

#[test]
fn who_sees_a_cancel_of_a_heap_source_sees_what_came_before() {
    explore(Model { threads: 2, loom: 3, rmw: 12, shuttle: 40 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let (token, before) = (source.token(), probe.clone());
        let other = beside(move || {
            before.touch();
            source.cancel()
        });
        thread::yield_now();
        if token.is_canceled() {
            probe.touch();
        }
        assert!(other());
    });
}

#[test]
fn who_sees_a_dismissal_sees_what_came_before_each_source_went() {
    explore(Model { threads: 3, loom: 122, rmw: 711, shuttle: 18000 }, || {
        let (source, probes) = (CancelSource::new(), [Probe::new(), Probe::new()]);
        let (token, clone) = (source.token(), source.clone());
        let go = |source: CancelSource, probe: &Probe| {
            let probe = probe.clone();
            beside(move || {
                probe.touch();
                drop(source);
            })
        };
        let others = [go(source, &probes[0]), go(clone, &probes[1])];
        thread::yield_now();
        if token.status() == Status::Dismissed {
            probes.iter().for_each(Probe::touch);
        }
        others.into_iter().for_each(|other| other());
        assert_eq!(token.status(), Status::Dismissed);
    });
}

#[test]
fn a_closure_is_called_once_or_handed_back() {
    explore(Model { threads: 2, loom: 29, rmw: 34, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let (token, before) = (source.token(), probe.clone());
        let other = beside(move || {
            before.touch();
            source.cancel()
        });
        match token.on_cancel(probe.counting()) {
            Ok(registration) => {
                assert!(other());
                assert_eq!(probe.calls(), 1);
                assert_eq!(registration.unregister(), Deregistered::Ended);
            }
            Err(late) => {
                probe.touch();
                assert!(other());
                assert_eq!(probe.calls(), 0);
                (late.callback)();
                assert_eq!(probe.calls(), 1);
            }
        }
        assert!(probe.is_alone());
    });
}

#[test]
fn a_closure_registered_beside_a_dismissal_is_dropped() {
    explore(Model { threads: 2, loom: 23, rmw: 25, shuttle: 3614 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let token = source.token();
        let other = beside(move || drop(source));
        let registration = token.on_cancel(probe.counting());
        other();
        assert!(registration.is_ok() && probe.calls() == 0);
        drop((registration, token));
        assert!(probe.is_alone());
    });
}

#[test]
fn who_drops_a_registration_has_its_memory_for_itself() {
    explore(Model { threads: 2, loom: 47, rmw: 27, shuttle: 4807 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let registration = source.token().on_cancel(probe.touching()).expect("not canceled");
        let other = beside(move || source.cancel());
        drop(registration);
        probe.touch();
        let calls = probe.calls();
        assert!(other());
        assert!(calls <= 1 && probe.calls() == calls);
    });
}

#[test]
fn what_unregister_says_is_so() {
    explore(Model { threads: 2, loom: 48, rmw: 24, shuttle: 2093 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let registration = source.token().on_cancel(probe.touching()).expect("not canceled");
        let other = beside(move || source.cancel());
        let outcome = registration.unregister();
        if outcome != Deregistered::Running {
            probe.touch();
        }
        assert!(other());
        assert_eq!(probe.calls(), u32::from(outcome != Deregistered::Removed));
        assert!(probe.is_alone());
    });
}

#[test]
fn the_last_waker_of_a_heap_source_is_woken_or_its_task_sees_the_cancel() {
    explore(Model { threads: 2, loom: 54, rmw: 77, shuttle: 10039 }, || {
        let source = CancelSource::new();
        let mut future = source.token().canceled();
        let ((_, one), (second, two)) = (waker(), waker());
        assert!(poll(&mut future, &one).is_pending());
        let other = beside(move || source.cancel());
        let pending = poll(&mut future, &two).is_pending();
        assert!(other());
        assert!(!pending || second.times() == 1);
        assert!(poll(&mut future, &two).is_ready());
        drop((future, two));
        assert_eq!(std::sync::Arc::strong_count(&second), 1);
    });
}

#[test]
fn a_first_poll_beside_the_end_of_all_sources_is_answered_or_woken() {
    explore(Model { threads: 2, loom: 6, rmw: 9, shuttle: 897 }, || {
        let source = CancelSource::new();
        let mut future = source.token().canceled();
        let (woken, waker) = waker();
        let other = beside(move || drop(source));
        let pending = poll(&mut future, &waker).is_pending();
        other();
        assert!(!pending || woken.times() == 1);
        assert_eq!(poll(&mut future, &waker), Poll::Ready(Err(Dismissed)));
    });
}

#[test]
fn a_cancel_beside_the_drop_of_another_source_is_a_cancel() {
    explore(Model { threads: 2, loom: 11, rmw: 20, shuttle: 2293 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let token = source.token();
        token.on_cancel(probe.counting()).expect("not canceled").forget();
        let clone = source.clone();
        let other = beside(move || drop(clone));
        assert!(source.cancel());
        drop(source);
        other();
        assert_eq!((probe.calls(), token.reason()), (1, Some(Reason::REQUESTED)));
        drop(token);
        assert!(probe.is_alone());
    });
}

#[test]
fn of_two_cancels_beside_a_registration_one_wins() {
    explore(Model { threads: 3, loom: 224, rmw: 282, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let (token, clone) = (source.token(), source.clone());
        // They go when all is done, outside of what is explored.
        let one = beside(move || (source.cancel_with(Reason::new(16)), source));
        let two = beside(move || (clone.cancel_with(Reason::new(17)), clone));
        let registered = token.on_cancel(probe.counting()).map(Registration::forget).is_ok();
        let ((one, _source), (two, _clone)) = (one(), two());
        assert!(one != two);
        assert_eq!(token.reason(), Some(Reason::new(if one { 16 } else { 17 })));
        assert_eq!(probe.calls(), u32::from(registered));
    });
}

#[test]
fn who_waits_for_the_end_of_a_cancel_sees_what_callbacks_did() {
    explore(Model { threads: 2, loom: 18, rmw: 37, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let clone = source.clone();
        source.token().on_cancel(probe.touching()).expect("not canceled").forget();
        let other = beside(move || clone.cancel());
        let won = source.cancel_and_wait(Reason::REQUESTED);
        probe.touch();
        assert_eq!((other(), probe.calls()), (!won, 1));
    });
}

#[test]
fn a_source_dropped_beside_its_tokens_is_freed_once() {
    explore(Model { threads: 3, loom: 61, rmw: 108, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        source.token().on_cancel(probe.counting()).expect("not canceled").forget();
        let tokens = [source.token(), source.token()];
        let others = tokens.map(|token| beside(move || drop(token)));
        drop(source);
        others.into_iter().for_each(|other| other());
        assert!(probe.is_alone());
    });
}
