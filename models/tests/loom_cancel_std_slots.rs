//! The slots of a node on the heap under every interleaving: used again, handed on, and added.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;

use cancel_std::{
    Probe, beside, room,
    std_ext::cancel::{CancelSource, CancelToken, Registration},
};
use jeton_core::cancel::Deregistered;
use jeton_models::explore::{Model, explore};

#[test]
fn a_slot_that_is_used_again_beside_a_cancel_calls_its_new_closure() {
    explore(Model { threads: 2, loom: 801, rmw: 319, shuttle: 63000 }, || {
        let (source, probe, second) = (CancelSource::new(), Probe::new(), Probe::new());
        let token = source.token();
        let first = token.on_cancel(probe.counting()).expect("not canceled");
        let other = beside(move || source.cancel());
        let outcome = first.unregister();
        let calls = probe.calls();
        let again = token.on_cancel(second.counting()).map(Registration::forget).is_ok();
        assert!(other());
        if outcome == Deregistered::Removed {
            assert_eq!((calls, probe.calls()), (0, 0));
        } else {
            assert!(probe.calls() == 1);
        }
        assert_eq!(second.calls(), u32::from(again));
    });
}

#[test]
fn a_slot_goes_from_one_thread_to_another() {
    explore(Model { threads: 3, loom: 802, rmw: 2408, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let turn = |token: CancelToken, probe: Probe| {
            move || {
                let registration = token.on_cancel(probe.counting()).expect("not canceled");
                assert_eq!(registration.unregister(), Deregistered::Removed);
            }
        };
        // One slot is taken in the node and one elsewhere, and there are two free ones.
        let both = [(); 2].map(|()| source.token().on_cancel(|| {}));
        drop(source.token().on_cancel(|| {}));
        let others = [source.token(), source.token()].map(|token| beside(turn(token, probe.clone())));
        others.into_iter().for_each(|other| other());
        assert!(probe.is_alone() && both.iter().all(Result::is_ok));
    });
}

#[test]
fn a_slot_in_the_node_goes_from_one_thread_to_another() {
    explore(Model { threads: 2, loom: 288, rmw: 349, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let (token, others) = (source.token(), probe.clone());
        let other = beside(move || token.on_cancel(others.counting()).map(Registration::unregister).ok());
        let own = source.token().on_cancel(probe.counting()).map(Registration::unregister).ok();
        assert_eq!([own, other()], [Some(Deregistered::Removed); 2]);
        assert!(probe.is_alone());
    });
}

#[test]
fn a_table_that_grows_in_two_threads_loses_no_closure() {
    explore(Model { threads: 2, loom: 130, rmw: 399, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        source.token().on_cancel(probe.counting()).expect("not canceled").forget();
        let (token, others) = (source.token(), probe.clone());
        let other = beside(move || token.on_cancel(others.counting()).expect("not canceled"));
        let own = source.token().on_cancel(probe.counting()).expect("not canceled");
        let registrations = [own, other()];
        assert!(source.cancel());
        assert_eq!(probe.calls(), 3);
        drop((source, registrations));
        assert!(probe.is_alone());
    });
}

#[test]
fn a_closure_in_a_new_segment_is_called_or_handed_back() {
    explore(Model { threads: 2, loom: 80, rmw: 245, shuttle: 63000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let token = source.token();
        token.on_cancel(probe.counting()).expect("not canceled").forget();
        let other = beside(move || {
            let won = source.cancel();
            (won, source)
        });
        let registered = token.on_cancel(probe.counting()).map(Registration::forget).is_ok();
        assert!(other().0);
        assert_eq!(probe.calls(), 1 + u32::from(registered));
    });
}
