//! Users' code within a cancel of sources on the heap: it waits, panics, registers, cancels and drops; nothing of the library stands in its way.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

mod cancel_heap;
mod meddler;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    task::{Wake, Waker},
    thread,
    time::Duration,
};

use cancel_heap::{Calls, counting, fail, many, poll, without_leak};
use jeton::cancel::{AlreadyCanceled, CancelSource, Deregistered, Reason, Registration, Status};
use meddler::{MEDDLE, WAKERS, meddler};

/// dotnet/coreclr#20145: all callbacks are swapped out at once, and a deregistration comes too late for one that has not begun.
#[test]
fn a_deregistration_within_a_cancel_stops_a_callback_that_has_not_begun() {
    for siblings in 0..6 {
        let source = CancelSource::new();
        let (calls, others) = (Calls::default(), Arc::new(Mutex::new(vec![])));
        let register = |_| {
            let (calls, others) = (calls.clone(), others.clone());
            let first_ends_all = move || {
                calls.fetch_add(1, Relaxed);
                let all: Vec<Registration> = mem::take(&mut *others.lock().unwrap());
                drop(all);
            };
            source.token().on_cancel(first_ends_all).expect("not canceled")
        };
        let all: Vec<Registration> = (0..=siblings).map(register).collect();
        *others.lock().unwrap() = all;
        assert!(source.cancel());
        assert_eq!(calls.load(Relaxed), 1);
    }
}

/// dotnet/corefx#14903, Kestrel: the one who disposes waits for a callback that wants its lock.
#[test]
fn unregister_never_waits_and_drop_does() {
    let source = Arc::new(CancelSource::new());
    let (entered, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let done = Arc::new(AtomicBool::new(false));
    let callback = || {
        let (entered, release, done) = (entered.clone(), release.clone(), done.clone());
        move || {
            entered.wait();
            release.wait();
            thread::sleep(Duration::from_millis(20));
            done.store(true, Relaxed);
        }
    };
    let registration = source.token().on_cancel(callback()).expect("not canceled");
    let canceler = thread::spawn({
        let source = source.clone();
        move || source.cancel()
    });
    entered.wait();
    assert_eq!(registration.unregister(), Deregistered::Running);
    assert!(!done.load(Relaxed) && !source.cancel());
    release.wait();
    assert!(canceler.join().unwrap());

    let source = Arc::new(CancelSource::new());
    done.store(false, Relaxed);
    let registration = source.token().on_cancel(callback()).expect("not canceled");
    let canceler = thread::spawn({
        let source = source.clone();
        move || source.cancel()
    });
    entered.wait();
    release.wait();
    drop(registration);
    assert!(done.load(Relaxed), "the callback is still being called");
    assert!(canceler.join().unwrap());
}

/// dotnet/runtime#43438: two callbacks that dispose each other.
#[test]
fn callbacks_that_deregister_themselves_or_each_other_do_not_block() {
    // Itself.
    let source = CancelSource::new();
    let own = Arc::new(Mutex::new(None::<Registration>));
    let inner = own.clone();
    let registration = source.token().on_cancel(move || drop(inner.lock().unwrap().take()));
    *own.lock().unwrap() = registration.ok();
    assert!(source.cancel());
    assert!(own.lock().unwrap().is_none());
    // Each other, two and three in a circle, each in its own thread.
    for len in [2, 3] {
        let sources: Vec<CancelSource> = (0..len).map(|_| CancelSource::new()).collect();
        let all_in = Arc::new(Barrier::new(len));
        let registrations: Arc<Vec<Mutex<Option<Registration>>>> = Arc::new((0..len).map(|_| Mutex::new(None)).collect());
        for (number, source) in sources.iter().enumerate() {
            let (all_in, all) = (all_in.clone(), registrations.clone());
            let callback = move || {
                all_in.wait();
                let next = all.get((number + 1) % len).and_then(|next| next.lock().unwrap().take());
                drop(next);
            };
            let registration = source.token().on_cancel(callback).expect("not canceled");
            *registrations[number].lock().unwrap() = Some(registration);
        }
        thread::scope(|scope| sources.iter().for_each(|source| _ = scope.spawn(|| assert!(source.cancel()))));
        assert!(registrations.iter().all(|one| one.lock().unwrap().is_none()));
    }
}

/// dotnet/runtime PR #85523, libunifex PR #670: a lock of the library is held while the callback runs.
#[test]
fn others_register_cancel_and_drop_while_a_callback_runs() {
    let source = Arc::new(CancelSource::new());
    let child = source.child();
    let (entered, release) = (Arc::new(Barrier::new(2)), Arc::new(Barrier::new(2)));
    let inner = (entered.clone(), release.clone());
    child.token().on_cancel(move || _ = (inner.0.wait(), inner.1.wait())).expect("not canceled").forget();
    let canceler = thread::spawn({
        let source = source.clone();
        move || source.cancel()
    });
    entered.wait();
    assert!(source.is_canceled() && child.is_canceled() && !child.cancel());
    assert!(matches!(child.token().on_cancel(|| {}), Err(AlreadyCanceled { .. })));
    assert!(poll(&mut child.token().canceled(), Waker::noop()).is_ready());
    assert!(child.child().is_canceled());
    drop((child, source.clone()));
    release.wait();
    assert!(canceler.join().unwrap());
}

/// Who waits for the end of a cancel sees the end of its callbacks, also of those that another call calls below.
#[test]
fn cancel_and_wait_waits_for_what_others_call() {
    for below in [false, true] {
        let source = Arc::new(CancelSource::new());
        let winner = Arc::new(if below { source.child() } else { (*source).clone() });
        let entered = Arc::new(Barrier::new(2));
        let done = Arc::new(AtomicBool::new(false));
        let inner = (entered.clone(), done.clone());
        let callback = move || {
            inner.0.wait();
            thread::sleep(Duration::from_millis(30));
            inner.1.store(true, Relaxed);
        };
        winner.token().on_cancel(callback).expect("not canceled").forget();
        let canceler = thread::spawn({
            let winner = winner.clone();
            move || winner.cancel()
        });
        entered.wait();
        assert_eq!(source.cancel_and_wait(Reason::REQUESTED), below);
        assert!(done.load(Relaxed));
        assert!(canceler.join().unwrap());
    }
    // From a callback of its own it does not wait for itself.
    let source = Arc::new(CancelSource::new());
    let inner = source.clone();
    source.token().on_cancel(move || assert!(!inner.cancel_and_wait(Reason::REQUESTED))).expect("not canceled").forget();
    assert!(source.cancel_and_wait(Reason::REQUESTED));
}

/// tokio-util: the third of five wakers panics, and two sleep for ever. `cancellation`: the process aborts.
#[test]
fn a_panic_in_a_callback_or_a_waker_costs_the_others_nothing() {
    struct Fails;
    impl Wake for Fails {
        fn wake(self: Arc<Self>) {
            fail();
        }
    }
    for which in 0..5 {
        for with_waker in [false, true] {
            for below in [false, true] {
                without_leak(|| {
                    let (source, calls) = (CancelSource::new(), Calls::default());
                    let sources: Vec<CancelSource> = (0..5).map(|_| if below { source.child() } else { source.clone() }).collect();
                    let mut futures = vec![];
                    for (at, one) in sources.iter().enumerate() {
                        if at != which {
                            one.token().on_cancel(counting(&calls)).expect("not canceled").forget();
                        } else if with_waker {
                            let mut future = one.token().canceled();
                            assert!(poll(&mut future, &Arc::new(Fails).into()).is_pending());
                            futures.push(future);
                        } else {
                            one.token().on_cancel(fail).expect("not canceled").forget();
                        }
                    }
                    let panic = catch_unwind(AssertUnwindSafe(|| source.cancel())).expect_err("the first panic");
                    assert_eq!(panic.downcast_ref::<&str>(), Some(&"as planned"));
                    assert_eq!(calls.load(Relaxed), 4);
                    assert!(sources.iter().all(CancelSource::is_canceled) && !source.cancel_and_wait(Reason::REQUESTED));
                });
            }
        }
    }
    // Destructors of closures, at a dismissal and at the end of a node.
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            fail();
        }
    }
    for keep_token in [false, true] {
        without_leak(|| {
            let (source, calls) = (CancelSource::new(), Calls::default());
            let parent = source.child();
            for _ in 0..3 {
                let (bomb, count) = (Bomb, counting(&calls));
                parent.token().on_cancel(move || mem::drop((bomb, count))).expect("not canceled").forget();
            }
            let token = keep_token.then(|| parent.token());
            assert!(catch_unwind(AssertUnwindSafe(|| drop(parent))).is_err());
            assert_eq!((Arc::strong_count(&calls), calls.load(Relaxed)), (1, 0));
            drop(token);
        });
    }
}

/// Wakers are anybody's code.
#[test]
fn a_wakers_clone_wake_and_drop_may_register_cancel_and_drop() {
    for at in 0..3 {
        for what in 0..6 {
            without_leak(|| {
                let (source, calls) = (Arc::new(CancelSource::new()), Calls::default());
                let mut own = source.token().on_cancel(counting(&calls)).ok();
                let (inner, inner_calls) = (source.clone(), calls.clone());
                let mut child = Some(source.child());
                let act = move || match what {
                    0 => _ = inner.token().on_cancel(counting(&inner_calls)).map(Registration::forget),
                    1 => _ = inner.cancel(),
                    2 => drop(own.take()),
                    3 => _ = poll(&mut inner.token().canceled(), Waker::noop()),
                    4 => drop(child.take()),
                    _ => _ = inner.child().child().cancel(),
                };
                let waker = meddler();
                MEDDLE.with_borrow_mut(|all| all[at] = Some(Box::new(act)));
                let mut future = source.token().canceled();
                let active = |source: &CancelSource| source.status() == Status::Active;
                assert!(poll(&mut future, &waker).is_pending() == active(&source));
                // Another waker: the first one's clone is dropped here.
                let second = poll(&mut future, Waker::noop());
                assert!(second.is_pending() || !active(&source));
                assert!(poll(&mut future, &waker).is_pending() == active(&source));
                source.cancel();
                assert!(poll(&mut future, &waker).is_ready());
                drop((future, waker));
                let left = MEDDLE.with_borrow_mut(|all| all[at].take());
                drop(left);
                assert_eq!(WAKERS.get(), 0, "wakers are left, or gone twice: {at} {what}");
            });
        }
    }
}

#[test]
fn a_callback_may_register_cancel_and_drop() {
    without_leak(|| {
        let (source, calls) = (Arc::new(CancelSource::new()), Calls::default());
        let other = CancelSource::new();
        let token = other.token();
        token.on_cancel(counting(&calls)).expect("not canceled").forget();
        let inner = (source.clone(), source.token(), calls.clone(), token.child());
        let callback = move || {
            let (source, token, calls, child) = inner;
            assert!(!source.cancel());
            drop(token.on_cancel_or_run(counting(&calls)));
            assert!(token.child().is_canceled() && token.wait().is_ok());
            assert!(other.cancel() && child.is_canceled());
            drop((source, token, child, other));
        };
        source.token().on_cancel(callback).expect("not canceled").forget();
        assert!(source.cancel());
        assert_eq!(calls.load(Relaxed), 2);
    });
}

/// microsoft/STL PR #1196: who has waited for a callback does not see what it did.
#[test]
fn who_has_deregistered_has_the_memory_for_itself() {
    for _ in 0..many(2000) {
        let source = CancelSource::new();
        let (sender, receiver) = mpsc::channel();
        let memory = Box::leak(Box::new(0_u32));
        let address = memory as *mut u32 as usize;
        let callback = move || {
            // SAFETY: until the registration is dropped this callback alone touches it.
            unsafe { *(address as *mut u32) += 1 };
        };
        let registration = source.token().on_cancel(callback).expect("not canceled");
        let canceler = thread::spawn(move || {
            sender.send(()).unwrap();
            source.cancel()
        });
        receiver.recv().unwrap();
        drop(registration);
        // SAFETY: the callback is done, or will not be called.
        let value = unsafe { *(address as *const u32) };
        assert!(value <= 1);
        // SAFETY: it came from a box, and nobody else has it.
        drop(unsafe { Box::from_raw(address as *mut u32) });
        assert!(canceler.join().unwrap());
    }
}

/// Does it in another thread, which must come to its end.
fn ends(work: impl FnOnce() + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        work();
        sender.send(()).unwrap();
    });
    assert!(receiver.recv_timeout(Duration::from_secs(10)).is_ok(), "it hangs");
}

/// A cancel comes to the callbacks of the nodes below before those of its root, which is its own thread's all the same.
#[test]
fn a_callback_below_does_not_wait_for_the_cancel_that_calls_it() {
    ends(|| {
        let root = CancelSource::new();
        let (child, inner) = (root.child(), root.clone());
        child.token().on_cancel(move || assert!(!inner.cancel_and_wait(Reason::REQUESTED))).unwrap().forget();
        assert!(root.cancel());
    });
    // And where the callback itself cancels what is above.
    ends(|| {
        let root = CancelSource::new();
        let (child, inner) = (root.child(), root.clone());
        let grandchild = child.child();
        grandchild.token().on_cancel(move || assert!(inner.cancel_and_wait(Reason::REQUESTED))).unwrap().forget();
        assert!(child.cancel());
    });
}

/// dotnet/runtime#43438: one thread waits for a whole cancel, which waits for that thread's callback.
#[test]
fn a_callback_below_and_one_that_waits_for_the_cancel_above_do_not_wait_for_each_other() {
    ends(|| {
        let (root, other) = (CancelSource::new(), CancelSource::new());
        let (child, above) = (root.child(), root.clone());
        let (both, registration) = (Arc::new(Barrier::new(2)), Arc::new(Mutex::new(None::<Registration>)));
        let meet = both.clone();
        let waits = move || {
            meet.wait();
            above.cancel_and_wait(Reason::REQUESTED);
        };
        *registration.lock().unwrap() = other.token().on_cancel(waits).ok();
        let drops = move || {
            both.wait();
            thread::sleep(Duration::from_millis(50));
            let registration = registration.lock().unwrap().take();
            drop(registration);
        };
        child.token().on_cancel(drops).unwrap().forget();
        let canceler = thread::spawn(move || other.cancel());
        root.cancel();
        assert!(canceler.join().unwrap());
    });
}
