//! Trees of sources on the heap under every interleaving: births, drops and cancels beside each other.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;

use cancel_std::{
    Probe, beside, room,
    std_ext::cancel::{CancelSource, Registration},
};
use jeton_core::cancel::{Reason, Status};
use jeton_models::explore::{Model, explore};

#[test]
fn who_waits_above_sees_what_the_callbacks_of_a_cancel_below_did() {
    explore(Model { threads: 2, loom: 18, rmw: 45, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let child = source.child();
        child.token().on_cancel(probe.touching()).expect("not canceled").forget();
        let other = beside(move || {
            child.cancel();
            child
        });
        assert!(source.cancel_and_wait(Reason::REQUESTED));
        probe.touch();
        assert_eq!(probe.calls(), 1);
        drop((other(), source));
        assert!(probe.is_alone());
    });
}

#[test]
fn a_heap_child_born_beside_a_cancel_is_canceled() {
    explore(Model { threads: 2, loom: 51, rmw: 63, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let (token, before) = (source.token(), probe.clone());
        let other = beside(move || {
            before.touch();
            source.cancel_with(Reason::new(30))
        });
        let child = token.child();
        let born = child.is_canceled();
        if born {
            probe.touch();
        }
        let registered = child.token().on_cancel(probe.counting()).map(Registration::forget).is_ok();
        assert!(other());
        assert_eq!(child.status(), Status::Canceled(Reason::new(30)));
        assert!(!born || !registered);
        assert_eq!(probe.calls(), u32::from(registered));
        drop((child, token));
        assert!(probe.is_alone());
    });
}

#[test]
fn a_child_dropped_beside_its_parents_cancel_is_freed_once() {
    explore(Model { threads: 2, loom: 41, rmw: 68, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let child = source.child();
        child.token().on_cancel(probe.counting()).expect("not canceled").forget();
        let other = beside(move || drop(child));
        assert!(source.cancel());
        other();
        assert!(probe.calls() <= 1);
        assert!(probe.is_alone());
    });
}

#[test]
fn a_bare_child_dropped_beside_its_parents_cancel_is_freed_once() {
    explore(Model { threads: 2, loom: 17, rmw: 50, shuttle: 63000 }, || {
        let source = CancelSource::new();
        let child = source.child();
        let other = beside(move || drop(child));
        assert!(source.cancel());
        other();
    });
}

#[test]
fn a_child_with_two_users_dropped_beside_its_parents_cancel_is_freed_once() {
    explore(Model { threads: 3, loom: 468, rmw: 883, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let child = source.child();
        let token = child.token();
        token.on_cancel(probe.counting()).expect("not canceled").forget();
        let one = beside(move || drop(child));
        let two = beside(move || drop(token));
        assert!(source.cancel());
        one();
        two();
        assert!(probe.is_alone());
    });
}

#[test]
fn a_cancel_comes_through_a_middle_that_is_dropped_beside_it() {
    explore(Model { threads: 2, loom: 15, rmw: 23, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let middle = source.child();
        let leaf = middle.child();
        leaf.token().on_cancel(probe.counting()).expect("not canceled").forget();
        let other = beside(move || drop(middle));
        assert!(source.cancel());
        other();
        assert_eq!((leaf.is_canceled(), probe.calls()), (true, 1));
        drop((leaf, source));
        assert!(probe.is_alone());
    });
}

#[test]
fn a_chain_dropped_from_both_ends_is_freed_once() {
    explore(Model { threads: 2, loom: 8, rmw: 7, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let child = source.child();
        for one in [&source, &child] {
            one.token().on_cancel(probe.counting()).expect("not canceled").forget();
        }
        let other = beside(move || drop(child));
        drop(source);
        other();
        assert!(probe.is_alone() && probe.calls() == 0);
    });
}

#[test]
fn cancels_of_parent_and_child_call_the_child_once() {
    explore(Model { threads: 2, loom: 26, rmw: 42, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let child = source.child();
        let leaf = child.child();
        for one in [&child, &leaf] {
            one.token().on_cancel(probe.counting()).expect("not canceled").forget();
        }
        let other = beside(move || {
            child.cancel();
            drop(child);
        });
        assert!(source.cancel());
        other();
        assert!(leaf.is_canceled());
        assert_eq!(probe.calls(), 2);
        drop((leaf, source));
        assert!(probe.is_alone());
    });
}

#[test]
fn a_child_goes_where_one_of_another_thread_was() {
    explore(Model { threads: 2, loom: 141, rmw: 189, shuttle: 63000 }, || {
        let source = CancelSource::new();
        let token = source.token();
        let other = beside(move || drop(token.child()));
        drop(source.child());
        other();
        let last = source.child();
        assert!(source.cancel() && last.is_canceled());
    });
}

#[test]
fn a_closure_registered_beside_a_birth_and_a_cancel_is_called_once_or_handed_back() {
    explore(Model { threads: 3, loom: 370, rmw: 621, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let (token, parent) = (source.token(), source.token());
        let one = beside(move || (parent.child(), parent));
        let two = beside(move || (source.cancel(), source));
        let registered = token.on_cancel(probe.counting()).map(Registration::forget).is_ok();
        let ((child, _parent), (won, _source)) = (one(), two());
        assert!(won && child.is_canceled());
        assert_eq!(probe.calls(), u32::from(registered));
    });
}
