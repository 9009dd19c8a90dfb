//! The faults of trees, turned round, for sources on the heap: leaks, growth, deep trees, and what is canceled when.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

mod cancel_heap;

use std::{
    mem,
    sync::{Arc, Mutex, atomic::Ordering::Relaxed},
    task::{Poll, Waker},
    thread,
};

use cancel_heap::{ALLOCATIONS, Calls, LIVE, allocations, counting, many, poll, waker, without_leak};
use jeton::cancel::{CancelSource, CancelToken, Canceled, Deregistered, Reason, Registration, Status};

/// tokio#4639, #4645; dotnet/runtime#78180: nodes that leak, or are freed twice.
#[test]
fn no_tree_leaks_in_any_order_of_drops_and_cancels() {
    /// What somebody has of a node.
    struct Held {
        source: Option<CancelSource>,
        rest: Option<(CancelToken, Registration, Canceled)>,
    }
    fn hold(source: CancelSource, calls: &Calls) -> Held {
        let token = source.token();
        let registration = token.on_cancel(counting(calls)).expect("not canceled");
        token.on_cancel(counting(calls)).expect("not canceled").forget();
        let mut future = token.canceled();
        assert!(poll(&mut future, Waker::noop()).is_pending());
        Held { source: Some(source), rest: Some((token, registration, future)) }
    }
    fn orders(len: usize) -> Vec<Vec<usize>> {
        if len == 0 {
            return vec![vec![]];
        }
        let insert = |order: Vec<usize>| {
            (0..len).map(move |at| {
                let mut order = order.clone();
                order.insert(at, len - 1);
                order
            })
        };
        orders(len - 1).into_iter().flat_map(insert).collect()
    }
    /// `step`: when the node `canceled` is canceled. `whole`: a bit a node, whether all of it goes at once or a part of it at the end:
    /// its source, or all the rest.
    fn run(parents: &[usize], order: &[usize], canceled: usize, step: usize, whole: usize, source_last: bool) {
        let len = parents.len();
        let calls: Vec<Calls> = (0..len).map(|_| Calls::default()).collect();
        let mut held: Vec<Held> = Vec::new();
        for (number, &parent) in parents.iter().enumerate() {
            let source = match number {
                0 => CancelSource::new(),
                _ => held[parent].source.as_ref().map_or_else(CancelSource::new, CancelSource::child),
            };
            held.push(hold(source, &calls[number]));
        }
        let below = |mut number: usize| loop {
            if number == canceled {
                return true;
            }
            if number == 0 {
                return false;
            }
            number = parents[number];
        };
        let mut expected = vec![0; len];
        for (at, &number) in order.iter().enumerate() {
            if at == step
                && let Some(source) = &held[canceled].source
            {
                // The forgotten callback, and the other one unless it is deregistered.
                let calls = |number: usize| 1 + u32::from(held[number].rest.is_some());
                let active = (0..len).filter(|&number| below(number) && held[number].source.is_some());
                active.for_each(|number| expected[number] = calls(number));
                assert!(source.cancel());
            }
            let whole = whole >> number & 1 == 1;
            if whole || !source_last {
                held[number].source = None;
            }
            if whole || source_last {
                held[number].rest = None;
            }
        }
        let got: Vec<u32> = calls.iter().map(|calls| calls.load(Relaxed)).collect();
        assert_eq!(got, expected);
        drop(held);
        assert!(calls.iter().all(|calls| Arc::strong_count(calls) == 1), "a callback is left");
    }
    let len = if cfg!(miri) { 3 } else { 4 };
    let orders = orders(len);
    for shape in 0..if len == 4 { 6 } else { 2 } {
        let parents = [0, 0, shape % 2, shape / 2];
        for (number, order) in orders.iter().enumerate() {
            for canceled in 0..len {
                for step in 0..=len {
                    let all: &[usize] = &[0, (1 << len) - 1, number % (1 << len), 5, 10];
                    for &whole in if cfg!(miri) { &all[2..3] } else { all } {
                        for &source_last in if cfg!(miri) { &[[false], [true]][number % 2][..] } else { &[false, true] } {
                            without_leak(|| run(&parents[..len], order, canceled, step, whole, source_last));
                        }
                    }
                }
            }
        }
    }
}

/// tokio#7728, tc39/proposal-cancellation#6: a callback finds its sibling not yet canceled.
#[test]
fn the_whole_tree_is_marked_before_the_first_callback() {
    without_leak(|| {
        let root = CancelSource::new();
        let mut sources = vec![];
        for _ in 0..3 {
            let child = root.child();
            sources.extend((0..3).map(|_| child.child()));
            sources.push(child);
        }
        let tokens: Arc<Vec<CancelToken>> = Arc::new(sources.iter().chain([&root]).map(CancelSource::token).collect());
        let seen = Calls::default();
        for token in &tokens[..] {
            let (tokens, seen) = (tokens.clone(), seen.clone());
            let look = move || assert!(tokens.iter().all(CancelToken::is_canceled) && seen.fetch_add(1, Relaxed) < 13);
            token.on_cancel(look).expect("not canceled").forget();
        }
        assert!(root.cancel());
        assert_eq!(seen.load(Relaxed), 13);
    });
}

/// mono/mono PR #850: programs depend on an order that nobody has promised. Ours: children before their parents.
#[test]
fn callbacks_of_children_come_before_those_of_their_parents() {
    let order = Arc::new(Mutex::new(vec![]));
    let mut sources = vec![CancelSource::new()];
    for number in 1..15 {
        sources.push(sources[(number - 1) / 2].child());
    }
    for (number, source) in sources.iter().enumerate() {
        let order = order.clone();
        source.token().on_cancel(move || order.lock().unwrap().push(number)).expect("not canceled").forget();
    }
    assert!(sources[0].cancel());
    let order = order.lock().unwrap();
    let at = |number: usize| order.iter().position(|&one| one == number).expect("called");
    assert!((1..15).all(|number| at(number) < at((number - 1) / 2)));
}

/// nexus PR #141, tokio#5249: waiters below are not woken; the reason does not come down.
#[test]
fn a_waiter_at_a_grandchild_is_woken_with_the_reason() {
    let root = CancelSource::new();
    let child = root.child();
    let grandchild = child.child();
    let ((woken, waker), mut future) = (waker(), grandchild.token().canceled());
    assert!(poll(&mut future, &waker).is_pending());
    // Also through a middle that is dismissed.
    let token = child.token();
    drop(child);
    assert!(root.cancel_with(Reason::new(200)));
    assert_eq!((woken.0.load(Relaxed), token.status()), (1, Status::Dismissed));
    assert_eq!(poll(&mut future, &waker), Poll::Ready(Ok(Reason::new(200))));
    // What is born below a node that the cancel has come through is canceled too.
    assert_eq!(token.child().status(), Status::Canceled(Reason::new(200)));
    assert_eq!(root.child().status(), Status::Canceled(Reason::new(200)));
}

/// tokio#7026, cockroachdb/cockroach#149658, failsafe-go#134: a long-lived parent grows with each short child.
#[test]
fn children_that_come_and_go_leave_nothing_and_take_one_allocation_each() {
    without_leak(|| {
        let parent = CancelSource::new();
        let token = parent.token();
        for siblings in [0, 1, 100, many(100_000)] {
            let siblings: Vec<CancelSource> = (0..siblings).map(|_| parent.child()).collect();
            drop(parent.child());
            let (before, live) = (ALLOCATIONS.get(), LIVE.get());
            for _ in 0..10 {
                drop(token.child());
                drop(token.on_cancel(|| {}));
                assert!(poll(&mut token.canceled(), Waker::noop()).is_pending());
            }
            assert_eq!((ALLOCATIONS.get() - before, LIVE.get()), (10, live));
            // The table has grown once, and not again for as many.
            let len = siblings.len();
            drop(siblings);
            let before = ALLOCATIONS.get();
            for _ in 0..len {
                drop(parent.child());
            }
            assert_eq!(ALLOCATIONS.get() - before, len);
        }
    });
}

/// golang/go: allocation while canceling fails when memory is short.
#[test]
fn a_cancel_allocates_nothing() {
    let root = CancelSource::new();
    let children: Vec<CancelSource> = (0..many(1000)).map(|_| root.child()).collect();
    let grandchildren: Vec<CancelSource> = children.iter().map(CancelSource::child).collect();
    let calls = Calls::default();
    for source in children.iter().chain(&grandchildren) {
        source.token().on_cancel(counting(&calls)).expect("not canceled").forget();
    }
    assert_eq!(allocations(|| root.cancel()), (0, true));
    assert_eq!(calls.load(Relaxed) as usize, 2 * many(1000));
}

/// kotlinx.coroutines#2504, libstdc++: deep hierarchies overflow the stack.
#[test]
fn a_million_levels_are_canceled_and_dropped_on_a_small_stack() {
    let levels = if cfg!(miri) { 200 } else { 1_000_000 };
    let work = move || {
        for variant in 0..3 {
            let calls = Calls::default();
            without_leak(|| {
                let mut sources = Vec::with_capacity(levels);
                sources.push(CancelSource::new());
                for at in 1..levels {
                    sources.push(sources[at - 1].child());
                    if at % 1000 == 0 {
                        sources[at].token().on_cancel(counting(&calls)).expect("not canceled").forget();
                    }
                }
                match variant {
                    0 => {
                        assert!(sources[0].cancel());
                        assert!(sources.iter().all(CancelSource::is_canceled));
                    }
                    // The root first: each is kept by the one below, until the leaf goes.
                    1 => {}
                    // The leaf first.
                    _ => sources.reverse(),
                }
                drop(sources);
            });
            let expected = if variant == 0 { (levels - 1) / 1000 } else { 0 };
            assert_eq!((calls.load(Relaxed) as usize, Arc::strong_count(&calls)), (expected, 1));
        }
    };
    thread::Builder::new().stack_size(64 << 10).spawn(work).expect("a thread").join().expect("no overflow");
}

/// NVIDIA/stdexec#1889, libunifex PR #500: the source is gone after its last callback, and is touched.
#[test]
fn callbacks_may_drop_all_but_the_source_that_cancels() {
    without_leak(|| {
        let source = CancelSource::new();
        let child = source.child();
        let grandchild = child.child();
        let everything = Arc::new(Mutex::new(vec![]));
        for one in [&source, &child, &grandchild] {
            let inner = everything.clone();
            let registration = one.token().on_cancel(move || drop(mem::take(&mut *inner.lock().unwrap()))).expect("not canceled");
            let mut future = one.token().canceled();
            assert!(poll(&mut future, Waker::noop()).is_pending());
            let handles: (CancelSource, CancelToken, Registration, Canceled) = (one.clone(), one.token(), registration, future);
            everything.lock().unwrap().push(handles);
        }
        drop((child, grandchild));
        assert!(source.cancel());
        assert!(everything.lock().unwrap().is_empty());
    });
}

/// tokio PR #4645: parent and child unlink each other, and one is freed twice. grpc-go#1918: children of one parent.
#[test]
fn threads_make_cancel_and_drop_one_tree() {
    for round in 0..many(2000) {
        let root = CancelSource::new();
        let (token, calls) = (root.token(), Calls::default());
        let registered = thread::scope(|scope| {
            let work = |number: usize| {
                let (token, calls) = (token.clone(), &calls);
                move || {
                    let mut registered = 0;
                    for turn in 0..4 {
                        let child = token.child();
                        let grandchild = child.child();
                        let waiter = grandchild.token();
                        let registration = waiter.on_cancel(counting(calls));
                        let mut future = waiter.canceled();
                        _ = poll(&mut future, Waker::noop());
                        if (round + turn + number).is_multiple_of(3) {
                            drop(child);
                            registered += u32::from(registration.is_ok_and(|one| one.unregister() != Deregistered::Removed));
                        } else {
                            registered += u32::from(registration.is_ok_and(|one| one.unregister() != Deregistered::Removed));
                            drop(child);
                        }
                    }
                    registered
                }
            };
            let others = [scope.spawn(work(0)), scope.spawn(work(1))];
            if round % 2 == 0 {
                thread::yield_now();
            }
            assert!(root.cancel());
            others.map(|other| other.join().unwrap()).iter().sum::<u32>()
        });
        assert_eq!(calls.load(Relaxed), registered);
        drop((root, token));
        assert_eq!(Arc::strong_count(&calls), 1);
    }
}
