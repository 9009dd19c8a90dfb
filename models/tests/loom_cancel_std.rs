//! Sources on the heap, their trees and their callbacks under every interleaving. The sources are those of the library.
#![cfg(any(jeton_loom, jeton_shuttle))]
#![allow(missing_docs, dead_code, unused_imports, reason = "the library's sources, of which only a part is used")]

#[path = "../../std-ext/src"]
mod std_ext {
    pub mod cancel;
}

/// In the place of the library's waiting room: its sleep and its wake, without its look at who sleeps for whom.
mod room {
    use jeton_core::{ord, sync::AtomicU32};
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

    lazy_static! {
        static ref ROOM: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub fn here() -> u64 {
        1
    }

    pub fn wait_for<N>(_: &N, word: &AtomicU32, busy: fn(u32) -> bool, awaited: u32) {
        let mut lock = ROOM.0.lock().expect("nobody panics");
        while busy(word.fetch_or(awaited, ord!("cancel-std-50", Acquire))) {
            lock = ROOM.1.wait(lock).expect("nobody panics");
        }
    }

    pub fn wake() {
        let _lock = ROOM.0.lock().expect("nobody panics");
        ROOM.1.notify_all();
    }
}

use std::{
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{
    cancel::{Deregistered, Reason, Status},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, explore, thread};
use std_ext::cancel::{CancelSource, CancelToken, Canceled, Dismissed, Registration};

/// What callbacks count, and plain memory. The count is no part of the model: it adds no interleaving and no ordering.
#[derive(Clone)]
struct Probe(std::sync::Arc<(Mutex<u32>, UnsafeCell<u32>)>);

// SAFETY: each model says who may use the cell when; that the calls order this is what it checks.
unsafe impl Send for Probe {}
// SAFETY: as above.
unsafe impl Sync for Probe {}

impl Probe {
    fn new() -> Self {
        Self(std::sync::Arc::new((Mutex::new(0), UnsafeCell::new(0))))
    }

    fn touch(&self) {
        // SAFETY: see above.
        self.0.1.with_mut(|data| unsafe { *data += 1 });
    }

    fn calls(&self) -> u32 {
        *self.0.0.lock().expect("nobody panics")
    }

    fn count(&self) {
        *self.0.0.lock().expect("nobody panics") += 1;
    }

    fn counting(&self) -> impl FnOnce() + Send + 'static {
        let probe = self.clone();
        move || probe.count()
    }

    fn touching(&self) -> impl FnOnce() + Send + 'static {
        let probe = self.clone();
        move || {
            probe.count();
            probe.touch();
        }
    }

    /// Whether no callback has it any more: the node that it was in is freed.
    fn is_alone(&self) -> bool {
        std::sync::Arc::strong_count(&self.0) == 1
    }
}

/// In a thread of its own, to which everything that it uses belongs.
fn beside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> impl FnOnce() -> R {
    let other = thread::spawn(work);
    move || other.join().expect("a thread of the model panicked")
}

#[derive(Default)]
struct Woken(Mutex<u32>);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.lock().expect("nobody panics") += 1;
    }
}

fn waker() -> (std::sync::Arc<Woken>, Waker) {
    let woken = std::sync::Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

impl Woken {
    fn times(&self) -> u32 {
        *self.0.lock().expect("nobody panics")
    }
}

fn poll(future: &mut Canceled, waker: &Waker) -> Poll<Result<Reason, Dismissed>> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

#[test]
fn who_sees_a_cancel_of_a_heap_source_sees_what_came_before() {
    explore(Model { threads: 2, loom: 3, rmw: 12, shuttle: 49 }, || {
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
    explore(Model { threads: 3, loom: 294, rmw: 1745, shuttle: 18000 }, || {
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
    explore(Model { threads: 2, loom: 50, rmw: 41, shuttle: 63000 }, || {
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
    explore(Model { threads: 2, loom: 34, rmw: 32, shuttle: 37419 }, || {
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
    explore(Model { threads: 2, loom: 34, rmw: 34, shuttle: 44763 }, || {
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
    explore(Model { threads: 2, loom: 35, rmw: 30, shuttle: 34646 }, || {
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
    explore(Model { threads: 2, loom: 54, rmw: 66, shuttle: 2858 }, || {
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
    explore(Model { threads: 2, loom: 6, rmw: 9, shuttle: 2680 }, || {
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
    explore(Model { threads: 2, loom: 27, rmw: 66, shuttle: 63000 }, || {
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
    explore(Model { threads: 3, loom: 220, rmw: 270, shuttle: 18000 }, || {
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
fn who_waits_above_sees_what_the_callbacks_of_a_cancel_below_did() {
    explore(Model { threads: 2, loom: 18, rmw: 49, shuttle: 63000 }, || {
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
    explore(Model { threads: 2, loom: 47, rmw: 56, shuttle: 63000 }, || {
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
    explore(Model { threads: 2, loom: 23, rmw: 63, shuttle: 63000 }, || {
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
    explore(Model { threads: 2, loom: 13, rmw: 26, shuttle: 63000 }, || {
        let source = CancelSource::new();
        let child = source.child();
        let other = beside(move || drop(child));
        assert!(source.cancel());
        other();
    });
}

#[test]
fn a_child_with_two_users_dropped_beside_its_parents_cancel_is_freed_once() {
    explore(Model { threads: 3, loom: 457, rmw: 1455, shuttle: 18000 }, || {
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
    explore(Model { threads: 2, loom: 15, rmw: 31, shuttle: 63000 }, || {
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
    explore(Model { threads: 2, loom: 17, rmw: 30, shuttle: 63000 }, || {
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
fn a_source_dropped_beside_its_tokens_is_freed_once() {
    explore(Model { threads: 3, loom: 115, rmw: 342, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        source.token().on_cancel(probe.counting()).expect("not canceled").forget();
        let tokens = [source.token(), source.token()];
        let others = tokens.map(|token| beside(move || drop(token)));
        drop(source);
        others.into_iter().for_each(|other| other());
        assert!(probe.is_alone());
    });
}

#[test]
fn cancels_of_parent_and_child_call_the_child_once() {
    explore(Model { threads: 2, loom: 28, rmw: 51, shuttle: 63000 }, || {
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
fn a_slot_that_is_used_again_beside_a_cancel_calls_its_new_closure() {
    explore(Model { threads: 2, loom: 885, rmw: 251, shuttle: 63000 }, || {
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
    explore(Model { threads: 3, loom: 3295, rmw: 2478, shuttle: 18000 }, || {
        let (source, probe) = (CancelSource::new(), Probe::new());
        let turn = |token: CancelToken, probe: Probe| {
            move || {
                let registration = token.on_cancel(probe.counting()).expect("not canceled");
                assert_eq!(registration.unregister(), Deregistered::Removed);
            }
        };
        // One slot is taken, the rest of a segment is there.
        let both = [(); 2].map(|()| source.token().on_cancel(|| {}));
        let others = [source.token(), source.token()].map(|token| beside(turn(token, probe.clone())));
        others.into_iter().for_each(|other| other());
        assert!(probe.is_alone() && both.iter().all(Result::is_ok));
    });
}

#[test]
fn a_table_that_grows_in_two_threads_loses_no_closure() {
    explore(Model { threads: 2, loom: 248, rmw: 663, shuttle: 63000 }, || {
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
    explore(Model { threads: 2, loom: 80, rmw: 140, shuttle: 63000 }, || {
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
