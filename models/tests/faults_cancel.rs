//! Faults reported of other cancellations, turned round: each test is named for what must hold. The numbers are those of their reports.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

mod meddler;

use std::{
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{
    cancel::{
        CANCELED, Canceled, Deregistered, Node, Reason, Refusal, Registration, RegistrationId, Source, Status, Token, Tree,
        UNCANCELABLE, WaitError,
    },
    util::slots::{self, Slot, Slots},
};
use meddler::{Act, MEDDLE, WAKERS, meddler};

fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn count(calls: &'static AtomicU32) {
    calls.fetch_add(1, Relaxed);
}

fn counter() -> &'static AtomicU32 {
    leak(AtomicU32::new(0))
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

fn poll(future: &mut Canceled<'_>, waker: &Waker) -> Poll<Result<Reason, WaitError>> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

fn words(source: &Source<0>) -> [u32; 3] {
    // SAFETY: the source is there. It has three words and no slots: what may follow is padding.
    unsafe { std::ptr::from_ref(source).cast::<[u32; 3]>().read() }
}

/// golang/go#80914, SERVER-53623: all threads met on one object that is never canceled.
#[test]
fn what_is_never_canceled_is_never_written() {
    let before = [words(&UNCANCELABLE), words(&CANCELED)];
    for (source, refusal) in [(&UNCANCELABLE, Refusal::Dismissed), (&CANCELED, Refusal::Canceled(Reason::REQUESTED))] {
        let token = source.token();
        assert_eq!(token.on_cancel(count, counter()).expect_err("nothing to wait for").refusal, refusal);
        assert!(poll(&mut token.canceled(), Waker::noop()).is_ready());
        assert!(!source.cancel() && !source.dismiss() && !source.set_deadline(7) && !source.poll_deadline(8));
    }
    assert_eq!(before, [words(&UNCANCELABLE), words(&CANCELED)]);
    let token = Token::uncancelable();
    assert!(!token.is_cancelable() && !token.can_ever_fire() && !token.is_canceled());
    assert!(!CANCELED.token().is_cancelable() && CANCELED.token().can_ever_fire());
}

/// mongo's test of a canceled source's token never cancels it.
#[test]
fn a_canceled_source_is_no_longer_cancelable_and_can_fire() {
    let source = Source::<1>::new();
    let token = source.token();
    assert!(token.is_cancelable() && token.can_ever_fire());
    assert!(source.cancel());
    assert!(!token.is_cancelable() && token.can_ever_fire() && token.is_canceled());
}

/// tokio#5249: no reason. The first one counts.
#[test]
fn the_reason_of_the_first_cancel_is_everybodys() {
    for number in 0..=255 {
        let source = Source::<1>::new();
        let mut future = source.token().canceled();
        assert!(poll(&mut future, Waker::noop()).is_pending());
        assert!(source.cancel_with(Reason::new(number)) && !source.cancel_with(Reason::new(!number)));
        assert_eq!(poll(&mut future, Waker::noop()), Poll::Ready(Ok(Reason::new(number))));
        assert_eq!(source.status(), Status::Canceled(Reason::new(number)));
    }
}

/// mongo: a waiter at a dead source gets an error; tokio-util: it hangs.
#[test]
fn a_waiter_at_a_dismissed_source_is_woken_with_an_error() {
    let (source, calls) = (Source::<2>::new(), counter());
    let (woken, waker) = waker();
    let mut future = source.token().canceled();
    assert!(poll(&mut future, &waker).is_pending());
    let registration = source.token().on_cancel(count, calls).expect("a free slot");
    assert!(source.dismiss());
    assert_eq!(woken.0.load(Relaxed), 1);
    assert_eq!(poll(&mut future, &waker), Poll::Ready(Err(WaitError::Dismissed)));
    assert_eq!(registration.deregister(), Deregistered::Ended);
    assert!(!source.cancel() && calls.load(Relaxed) == 0);
}

/// What callbacks do to each other.
struct Knot {
    source: Source<3>,
    ids: Mutex<Vec<RegistrationId>>,
    found: Mutex<Vec<Deregistered>>,
}

/// coreclr#20145: a callback that was deregistered still ran; dotnet#43438: two that deregister each other waited for ever.
#[test]
fn callbacks_deregister_themselves_and_each_other() {
    fn both(knot: &'static Knot) {
        for id in knot.ids.lock().unwrap().iter() {
            knot.found.lock().unwrap().push(knot.source.token().deregister(*id));
        }
    }
    let knot = leak(Knot { source: Source::new(), ids: Mutex::default(), found: Mutex::default() });
    for _ in 0..2 {
        let id = knot.source.token().on_cancel(both, knot).expect("a free slot").detach();
        knot.ids.lock().unwrap().push(id);
    }
    assert!(knot.source.cancel());
    let mut found = knot.found.lock().unwrap().clone();
    found.sort_by_key(|found| *found as u8);
    // The first removes the second, which is not called.
    assert_eq!(found, [Deregistered::Removed, Deregistered::Running]);
}

/// dotnet PR #85523, icerpc#2459: a callback calls back, and finds a lock held.
#[test]
fn a_callback_may_register_cancel_dismiss_and_ask() {
    fn all(knot: &'static Knot) {
        let token = knot.source.token();
        assert!(token.is_canceled() && token.is_notifying() && !knot.source.cancel() && !knot.source.dismiss());
        let refused = token.on_cancel(all, knot).expect_err("too late");
        assert_eq!(refused.refusal, Refusal::Canceled(Reason::REQUESTED));
        assert!(poll(&mut token.canceled(), Waker::noop()).is_ready());
        knot.found.lock().unwrap().push(Deregistered::Ended);
    }
    let knot = leak(Knot { source: Source::new(), ids: Mutex::default(), found: Mutex::default() });
    for _ in 0..3 {
        knot.source.token().on_cancel(all, knot).expect("a free slot").detach();
    }
    assert!(knot.source.cancel());
    assert_eq!(knot.found.lock().unwrap().len(), 3);
    assert!(!knot.source.token().is_notifying());
}

/// Wakers are anybody's code: futures-rs, embassy.
#[test]
fn a_wakers_clone_wake_and_drop_may_register_cancel_and_drop() {
    // What is done there: 0 register, 1 cancel, 2 dismiss, 3 drop a registration, 4 poll another future.
    for at in 0..3 {
        for what in 0..5 {
            let (source, calls) = (leak(Source::<4>::new()), counter());
            let mut own = Some(source.token().on_cancel(count, calls).expect("a free slot"));
            let act: Act = Box::new(move || match what {
                0 => _ = source.token().on_cancel(count, calls).map(Registration::detach),
                1 => _ = source.cancel(),
                2 => _ = source.dismiss(),
                3 => drop(own.take()),
                _ => _ = poll(&mut source.token().canceled(), Waker::noop()),
            });
            let waker = meddler();
            MEDDLE.with_borrow_mut(|all| all[at] = Some(act));
            let mut future = source.token().canceled();
            let first = poll(&mut future, &waker);
            assert!(first.is_pending() || source.status() != Status::Active);
            // Another waker: the first one's clone is dropped here.
            let second = poll(&mut future, Waker::noop());
            assert!(second.is_pending() || source.status() != Status::Active);
            assert!(poll(&mut future, &waker).is_pending() == (source.status() == Status::Active));
            source.cancel();
            assert!(poll(&mut future, &waker).is_ready());
            drop((future, waker));
            MEDDLE.with_borrow_mut(|all| all[at] = None);
            assert_eq!(WAKERS.get(), 0, "wakers are left, or gone twice: {at} {what}");
        }
    }
}

/// tokio-util: the third of five wakers panics, and two sleep for ever.
#[test]
fn a_panic_in_a_callback_or_a_waker_costs_the_others_nothing() {
    fn fail(_: &'static AtomicU32) {
        panic!("as planned");
    }
    struct Fails;
    impl Wake for Fails {
        fn wake(self: Arc<Self>) {
            panic!("as planned");
        }
    }
    for which in 0..5 {
        for with_waker in [false, true] {
            let calls = counter();
            let register = |token: Token<'static>, fails: bool| {
                if fails && with_waker {
                    let mut future = token.canceled();
                    assert!(poll(&mut future, &Arc::new(Fails).into()).is_pending());
                    mem::forget(future);
                } else {
                    token.on_cancel(if fails { fail } else { count }, calls).expect("a free slot").detach();
                }
            };
            let source = leak(Source::<5>::new());
            (0..5).for_each(|at| register(source.token(), at == which));
            assert!(catch_unwind(AssertUnwindSafe(|| source.cancel())).is_err());
            assert_eq!((calls.load(Relaxed), source.token().is_notifying()), (4, false));

            let tree: &'static Tree<6> = leak(Tree::new());
            let root = leak(tree.root().expect("a free node"));
            let children: Vec<&'static Node<'static, 6>> = (0..5).map(|_| leak(root.child().expect("a free node"))).collect();
            children.iter().enumerate().for_each(|(at, child)| register(child.token(), at == which));
            assert!(catch_unwind(AssertUnwindSafe(|| root.cancel())).is_err());
            assert_eq!(calls.load(Relaxed), 8);
            assert!(children.iter().all(|child| child.token().is_canceled() && !child.token().is_notifying()));
        }
    }
}

/// embassy#1446: a full table woke everybody, again and again; #4598: an overwritten waker slept.
#[test]
fn a_full_table_refuses_and_hands_back_what_was_given() {
    let (source, calls) = (leak(Source::<32>::new()), counter());
    let own: Vec<_> = (0..32).map(|_| source.token().on_cancel(count, calls).expect("a free slot")).collect();
    let refused = source.token().on_cancel(count, calls).expect_err("it is full");
    assert_eq!(refused.refusal, Refusal::Full);
    assert!(std::ptr::eq(refused.data, calls));
    let (woken, waker) = waker();
    assert_eq!(poll(&mut source.token().canceled(), &waker), Poll::Ready(Err(WaitError::Full)));
    assert_eq!(woken.0.load(Relaxed), 0);
    (refused.callback)(refused.data);
    assert!(source.cancel());
    assert_eq!(calls.load(Relaxed), 33);
    drop(own);
    let none = Source::<0>::new();
    assert_eq!(none.token().on_cancel(count, calls).expect_err("no slots").refusal, Refusal::Full);
    assert!(none.cancel());
}

/// coreclr#27949: a torn registration.
#[test]
fn a_registration_is_one_word_and_a_future_three() {
    assert_eq!((size_of::<RegistrationId>(), size_of::<Option<RegistrationId>>()), (4, 4));
    assert_eq!(size_of::<Token<'_>>(), 2 * size_of::<usize>());
    assert!(size_of::<Canceled<'_>>() <= 24);
    fn unpin<T: Unpin + Send + Sync + Clone>() {}
    unpin::<Token<'static>>();
}

/// An old ID fits nothing, however often its slot has been used since.
#[test]
fn an_old_registration_id_ends_nobody_elses_registration() {
    let (source, calls) = (leak(Source::<1>::new()), counter());
    let old: Vec<_> = (0..1000)
        .map(|_| {
            let id = source.token().on_cancel(count, calls).expect("a free slot").detach();
            assert_eq!(source.token().deregister(id), Deregistered::Removed);
            id
        })
        .collect();
    let _own = source.token().on_cancel(count, calls).expect("a free slot");
    assert!(old.iter().all(|id| source.token().deregister(*id) == Deregistered::Ended));
    assert!(source.cancel());
    assert_eq!(calls.load(Relaxed), 1);
}

/// A waiter that is polled by another task is woken there.
#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let source = Source::<1>::new();
    let mut future = source.token().canceled();
    let wakers: Vec<_> = (0..10).map(|_| waker()).collect();
    for (_, waker) in &wakers {
        assert!(poll(&mut future, waker).is_pending() && poll(&mut future, waker).is_pending());
    }
    assert!(source.cancel());
    let woken: Vec<u32> = wakers.iter().map(|(woken, _)| woken.0.load(Relaxed)).collect();
    assert_eq!(woken, [0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    drop(future);
    assert!(wakers.into_iter().all(|(woken, waker)| Arc::strong_count(&woken) == 2 && waker.will_wake(&waker)));
}

/// What is forgotten costs its own place, and nothing else.
#[test]
fn forgetting_a_guard_strands_what_it_stands_for() {
    let (source, calls) = (leak(Source::<3>::new()), counter());
    mem::forget(source.token().on_cancel(count, calls).expect("a free slot"));
    let (woken, waker) = waker();
    let mut future = source.token().canceled();
    assert!(poll(&mut future, &waker).is_pending());
    mem::forget(future);
    drop(source.token().on_cancel(count, calls).expect("one is left"));
    assert!(source.cancel());
    assert_eq!((calls.load(Relaxed), woken.0.load(Relaxed)), (1, 1));

    let tree: Tree<3> = Tree::new();
    let (root, lost) = (tree.root().expect("a free node"), tree.root().expect("a free node"));
    let child = lost.child().expect("a free node");
    mem::forget(lost);
    drop((root, child));
    assert!([(); 3].map(|()| tree.root().map(mem::forget).is_ok()) == [true, true, false], "one is lost");

    let table: Slots<[Slot<u32>; 1]> = Slots::new();
    let slots: &Slots<[Slot<u32>]> = &table;
    let handle = slots.register(7).expect("a free slot");
    mem::forget(slots.take(0).expect("it is armed").run);
    // SAFETY: it is a handle of this table, used once.
    assert_eq!(unsafe { slots.deregister(handle) }, slots::Deregistered::Running);
    assert!(slots.register(8).is_err(), "whoever forgets a run keeps the slot");
}

/// A source that goes drops what was forgotten in it.
#[test]
fn a_source_that_is_dropped_drops_what_was_forgotten_in_it() {
    let (woken, waker) = waker();
    let source = Source::<2>::new();
    let mut future = source.token().canceled();
    assert!(poll(&mut future, &waker).is_pending());
    mem::forget(future);
    drop(waker);
    assert_eq!(Arc::strong_count(&woken), 2);
    drop(source);
    assert_eq!((Arc::strong_count(&woken), woken.0.load(Relaxed)), (1, 0));
}

/// Clocks of 32 bits wrap.
#[test]
fn a_deadline_is_kept_over_the_wrap_of_the_clock() {
    for at in [0, 1, 1 << 31, u32::MAX - 5, u32::MAX] {
        for before in [1, 2, 1000, (1 << 31) - 1, 1 << 31] {
            let source = Source::<0>::new();
            assert!(!source.poll_deadline(at), "there is none");
            assert!(source.set_deadline(at));
            assert!(!source.poll_deadline(at.wrapping_sub(before)), "{before} ticks before {at}");
            assert!(source.poll_deadline(at) && !source.poll_deadline(at));
            assert_eq!(source.status(), Status::Canceled(Reason::DEADLINE));
        }
        for after in [1, 1000, (1 << 31) - 1] {
            let source = Source::<0>::new();
            assert!(source.set_deadline(7) && source.set_deadline(at), "the last one counts");
            assert!(source.poll_deadline(at.wrapping_add(after)), "{after} ticks after {at}");
        }
    }
    let tree: Tree<2> = Tree::new();
    let root = tree.root().expect("a free node");
    let child = root.child().expect("a free node");
    assert!(root.set_deadline(10) && !root.poll_deadline(9) && root.poll_deadline(11));
    assert_eq!(child.status(), Status::Canceled(Reason::DEADLINE));
}
