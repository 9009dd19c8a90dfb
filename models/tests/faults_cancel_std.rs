//! Faults reported of other cancellations, turned round, for sources on the heap: each test is named for what must hold.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::{Cell, RefCell},
    future::poll_fn,
    mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    pin::{Pin, pin},
    sync::{
        Arc, Barrier, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
        mpsc,
    },
    task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker},
    thread,
    time::{Duration, Instant},
};

use jeton::cancel::{
    AlreadyCanceled, CancelSource, CancelToken, Canceled, Deregistered, Dismissed, Reason, Registration, Status, WaitError,
};

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: as the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let before = ALLOCATIONS.get();
    let result = work();
    (ALLOCATIONS.get() - before, result)
}

/// `work` leaves nothing on the heap.
#[track_caller]
fn without_leak<R>(work: impl FnOnce() -> R) -> R {
    let before = LIVE.get();
    let result = work();
    assert_eq!(LIVE.get(), before, "bytes are left on the heap, or gone twice");
    result
}

/// That many, or a few under Miri.
const fn many(number: usize) -> usize {
    if cfg!(miri) { if number > 20 { 20 } else { number } } else { number }
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn waker() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// A panic that prints nothing, and keeps nothing for printing.
fn fail() {
    resume_unwind(Box::new("as planned"));
}

type Calls = Arc<AtomicU32>;

fn counting(calls: &Calls) -> impl FnOnce() + Send + 'static {
    let calls = calls.clone();
    move || _ = calls.fetch_add(1, Relaxed)
}

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
    /// `step`: when the node `canceled` is canceled. `whole`: a bit a node, whether all of it goes at once or its source first.
    fn run(parents: &[usize], order: &[usize], canceled: usize, step: usize, whole: usize) {
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
                (0..len).filter(|&number| below(number) && held[number].source.is_some()).for_each(|number| expected[number] = 2);
                assert!(source.cancel());
            }
            held[number].source = None;
            if whole >> number & 1 == 1 {
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
                        without_leak(|| run(&parents[..len], order, canceled, step, whole));
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

type Act = Box<dyn FnOnce()>;

thread_local! {
    /// What a waker's clone, wake and drop do.
    static MEDDLE: RefCell<[Option<Act>; 3]> = const { RefCell::new([None, None, None]) };
    static WAKERS: Cell<i32> = const { Cell::new(0) };
}

fn meddle(at: usize) {
    let what = MEDDLE.with_borrow_mut(|all| all[at].take());
    if let Some(what) = what {
        what();
    }
}

fn meddler() -> Waker {
    const TABLE: RawWakerVTable = RawWakerVTable::new(
        |_| {
            meddle(0);
            WAKERS.set(WAKERS.get() + 1);
            RawWaker::new(std::ptr::null(), &TABLE)
        },
        |_| {
            meddle(1);
            WAKERS.set(WAKERS.get() - 1);
        },
        |_| meddle(1),
        |_| {
            meddle(2);
            WAKERS.set(WAKERS.get() - 1);
        },
    );
    WAKERS.set(WAKERS.get() + 1);
    // SAFETY: the functions keep no data, and may be called in any thread; they count in the one that calls them.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) }
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
