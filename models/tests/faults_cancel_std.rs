//! Faults reported of other cancellations, turned round, for sources on the heap: each test is named for what must hold.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

mod cancel_heap;

use std::{
    future::poll_fn,
    mem,
    pin::pin,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    task::{Context, Poll, Waker},
    thread,
    time::{Duration, Instant},
};

use cancel_heap::{Calls, allocations, counting, poll, waker, without_leak};
use jeton::cancel::{CancelSource, CancelToken, Canceled, Deregistered, Dismissed, Reason, Registration, Status, WaitError};

/// golang/go#80914, SERVER-53623: one object for all that is not canceled, on whose count all threads meet.
#[test]
fn what_is_never_canceled_costs_nothing_and_holds_nothing() {
    let (count, ()) = allocations(|| {
        for token in [CancelToken::uncancelable(), CancelToken::already_canceled()] {
            let canceled = token.is_canceled();
            let clones: [CancelToken; 3] = std::array::from_fn(|_| token.clone());
            assert!(clones.iter().all(|clone| clone.is_same(&token)));
            assert_eq!((token.is_cancelable(), token.can_ever_fire()), (false, canceled));
            assert!(poll(&mut token.canceled(), Waker::noop()).is_ready());
            assert_eq!(token.wait().is_ok(), canceled);
        }
    });
    assert_eq!(count, 2, "one for each blocking wait");
    let calls = Calls::default();
    let never = CancelToken::uncancelable();
    assert!(never.on_cancel(counting(&calls)).is_ok());
    assert_eq!(Arc::strong_count(&calls), 1, "a callback that nobody will call is dropped");
    let late = CancelToken::already_canceled().on_cancel(counting(&calls)).expect_err("too late");
    (late.callback)();
    assert_eq!((late.reason, calls.load(Relaxed)), (Reason::REQUESTED, 1));
    // Below them.
    let child = never.child();
    assert_eq!(child.status(), Status::Active);
    assert!(child.cancel());
    assert!(CancelToken::already_canceled().child().is_canceled());
}

/// tokio-rs/tokio#7775, golang/go#42564: the check takes the lock under which callbacks run.
#[test]
fn the_check_never_blocks_even_within_a_callback() {
    let source = CancelSource::new();
    let (token, seen) = (source.token(), Arc::new(Mutex::new(None)));
    let inner = (source.token(), seen.clone());
    token.on_cancel(move || *inner.1.lock().unwrap() = Some(inner.0.status())).expect("not canceled").forget();
    assert!(source.cancel_with(Reason::new(99)));
    assert_eq!(*seen.lock().unwrap(), Some(Status::Canceled(Reason::new(99))));
}

/// tokio PR #7874, #6618: the flag is looked at, and no waker registered, or the wake lost.
#[test]
fn a_waiter_is_woken_once_and_by_its_last_waker() {
    without_leak(|| {
        let source = CancelSource::new();
        let ((first, one), (second, two)) = (waker(), waker());
        let mut future = source.token().canceled();
        assert!(poll(&mut future, &one).is_pending());
        assert!(poll(&mut future, &one).is_pending());
        assert!(poll(&mut future, &two).is_pending());
        assert!(source.cancel());
        assert_eq!((first.0.load(Relaxed), second.0.load(Relaxed)), (0, 1));
        assert_eq!(poll(&mut future, &one), Poll::Ready(Ok(Reason::REQUESTED)));
        assert!(!source.cancel());
        drop((future, one, two));
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    });
}

/// tokio PR #7462: a future that never rests is never given up.
#[test]
fn run_until_canceled_looks_at_the_token_on_every_poll() {
    let source = CancelSource::new();
    let mut polls = 0;
    let busy = poll_fn(|context| {
        polls += 1;
        context.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    let mut run = Box::pin(source.token().run_until_canceled(busy));
    assert!(poll(&mut run, Waker::noop()).is_pending());
    assert!(poll(&mut run, Waker::noop()).is_pending());
    assert!(source.cancel_with(Reason::DEADLINE));
    assert_eq!(poll(&mut run, Waker::noop()), Poll::Ready(Err(Reason::DEADLINE)));
    drop(run);
    assert_eq!(polls, 2);
    // A dismissal lets it go on, and what is ready is ready.
    let (source, (woken, waker)) = (CancelSource::new(), waker());
    let mut left = 2;
    let mut run = pin!(source.token().run_until_canceled(poll_fn(move |_| {
        left -= 1;
        if left == 0 { Poll::Ready(7) } else { Poll::Pending }
    })));
    assert!(run.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(source);
    assert_eq!(woken.0.load(Relaxed), 1);
    assert_eq!(run.as_mut().poll(&mut Context::from_waker(&waker)), Poll::Ready(Ok(7)));
}

/// tokio-util hangs for ever; mongo gives an error.
#[test]
fn a_waiter_at_a_dismissed_source_is_released() {
    without_leak(|| {
        let source = CancelSource::new();
        let (other, token, calls) = (source.clone(), source.token(), Calls::default());
        let registration = token.on_cancel(counting(&calls)).expect("not canceled");
        let ((woken, waker), mut future) = (waker(), token.canceled());
        assert!(poll(&mut future, &waker).is_pending());
        drop(source);
        assert_eq!((token.status(), woken.0.load(Relaxed)), (Status::Active, 0));
        drop(other);
        assert_eq!((token.status(), woken.0.load(Relaxed)), (Status::Dismissed, 1));
        assert_eq!(poll(&mut future, &waker), Poll::Ready(Err(Dismissed)));
        assert_eq!((token.wait(), token.wait_timeout(Duration::MAX)), (Err(Dismissed), Err(WaitError::Dismissed)));
        assert_eq!((registration.unregister(), Arc::strong_count(&calls)), (Deregistered::Ended, 1));
        assert!(!token.is_cancelable() && !token.can_ever_fire() && token.reason().is_none());
    });
}

#[test]
fn a_source_that_is_kept_leaves_its_tokens_as_they_are() {
    without_leak(|| {
        let source = CancelSource::new();
        let token = source.token();
        source.keep();
        assert_eq!(token.status(), Status::Active);
    });
}

#[test]
fn a_guard_cancels_unless_disarmed() {
    without_leak(|| {
        let source = CancelSource::new();
        let token = source.token();
        let source = source.drop_guard().disarm();
        assert!(!token.is_canceled());
        let guard = source.drop_guard();
        assert_eq!(guard.token().status(), Status::Active);
        drop(guard);
        assert!(token.is_canceled());
    });
}

/// Blocking waits: absolute deadlines, and a wake from another thread.
#[test]
fn a_blocking_wait_ends_with_the_cancel_the_dismissal_or_its_deadline() {
    let source = CancelSource::new();
    let token = source.token();
    let until = Instant::now() + Duration::from_millis(30);
    assert_eq!(token.wait_until(until), Err(WaitError::TimedOut));
    assert!(Instant::now() >= until);
    assert_eq!(token.wait_timeout(Duration::ZERO), Err(WaitError::TimedOut));
    let waiting = |token: CancelToken| thread::spawn(move || (token.wait(), token.wait_timeout(Duration::from_secs(600))));
    let waiters: Vec<_> = (0..3).map(|_| waiting(source.token())).collect();
    thread::sleep(Duration::from_millis(20));
    assert!(source.cancel_with(Reason::new(20)));
    for waiter in waiters {
        assert_eq!(waiter.join().unwrap(), (Ok(Reason::new(20)), Ok(Reason::new(20))));
    }
    let source = CancelSource::new();
    let waiter = waiting(source.token());
    thread::sleep(Duration::from_millis(20));
    drop(source);
    assert_eq!(waiter.join().unwrap(), (Err(Dismissed), Err(WaitError::Dismissed)));
}

/// dotnet/coreclr#27949: a registration of several words is torn.
#[test]
fn handles_are_small_and_go_anywhere() {
    fn anywhere<T: Send + Sync + Unpin + 'static>() {}
    anywhere::<CancelSource>();
    anywhere::<CancelToken>();
    anywhere::<Registration>();
    anywhere::<Canceled>();
    let word = size_of::<usize>();
    assert_eq!([size_of::<CancelSource>(), size_of::<CancelToken>(), size_of::<Option<CancelToken>>()], [word; 3]);
    assert_eq!([size_of::<Registration>(), size_of::<Canceled>()], [2 * word; 2]);
}

/// `forget` of every guard: nothing but that one thing stays behind.
#[test]
#[cfg_attr(miri, ignore = "what is forgotten is a leak")]
fn forgetting_a_handle_strands_its_node_and_nothing_else() {
    let source = CancelSource::new();
    let calls = Calls::default();
    mem::forget(source.token().on_cancel(counting(&calls)).expect("not canceled"));
    let ((woken, waker), mut future) = (waker(), source.token().canceled());
    assert!(poll(&mut future, &waker).is_pending());
    mem::forget(future);
    mem::forget(source.child());
    mem::forget(source.token());
    assert!(source.cancel());
    assert_eq!((calls.load(Relaxed), woken.0.load(Relaxed), Arc::strong_count(&calls)), (1, 1, 1));
    let source = CancelSource::new();
    let token = source.token();
    mem::forget(source.drop_guard());
    assert_eq!(token.status(), Status::Active);
}
