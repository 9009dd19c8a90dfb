use std::{
    sync::{Arc, Mutex},
    task::{Wake, Waker},
};

use jeton_core::cancel::Tree;

use super::*;

/// The counter is a `static`, so tests that look at it take turns.
static TURN: Mutex<()> = Mutex::new(());
static CALLS: Calls = Calls::new();

fn calls_of(work: impl FnOnce()) -> u32 {
    let _turn = TURN.lock();
    let before = CALLS.get();
    work();
    CALLS.get() - before
}

/// A tree for a test that leaves nothing behind in it.
fn arena<const NODES: usize, const SLOTS: usize>() -> &'static Tree<NODES, SLOTS> {
    Box::leak(Box::default())
}

fn every_callback_is_called_once<C: Attaches>(kind: C, callbacks: u32) {
    assert_eq!(calls_of(|| cancel_and_drop::<C>(with_callbacks(kind, callbacks, count, &CALLS))), callbacks);
    assert_eq!(calls_of(|| drop(with_callbacks(kind, callbacks, count, &CALLS))), 0, "nobody has canceled");
    // The arena's nodes are free again.
    assert_eq!(calls_of(|| drop(cancel::<C>(with_callbacks(kind, callbacks, count, &CALLS)))), callbacks);
}

#[test]
fn cancel_calls_every_callback_once() {
    every_callback_is_called_once(InPlace, 1);
    every_callback_is_called_once(Arena::<1, 32>(arena()), 32);
    for callbacks in [0, 1, 32, 33, 99, 100] {
        every_callback_is_called_once(Wide::<4>(arena()), callbacks);
        every_callback_is_called_once(Before, callbacks);
        every_callback_is_called_once(After, callbacks);
        every_callback_is_called_once(Heap, callbacks);
        every_callback_is_called_once(HeapBoxed, callbacks);
    }
}

fn every_level_is_canceled<C: Hierarchy + Attaches>(kind: C, levels: u32) {
    let calls = calls_of(|| {
        let chain = Chain::new(kind, levels, count, &CALLS).cancel::<C>();
        assert_eq!(chain.sources().filter(|source| C::is_canceled(&C::token(source))).count() as u32, levels + 1);
    });
    assert_eq!(calls, levels);
    assert_eq!(calls_of(|| Chain::new(kind, levels, count, &CALLS).cancel_and_drop::<C>()), levels);
    assert_eq!(calls_of(|| drop(Chain::new(kind, levels, count, &CALLS))), 0);
}

#[test]
fn cancel_comes_to_every_level() {
    for levels in [1, 100] {
        every_level_is_canceled(Arena::<101>(arena()), levels);
        every_level_is_canceled(Before, levels);
        every_level_is_canceled(After, levels);
        every_level_is_canceled(Heap, levels);
    }
}

fn small_operations_leave_nothing<C: Cancel>(kind: C) {
    source(kind, 100);
    let one = kind.source();
    token::<C>(&one, 100);
    uncancelable::<C>(100);
    let seen = C::token(&one);
    check::<C>(&seen, 100);
    clone::<C>(&seen, 100);
    assert!(!C::is_canceled(&seen) && !C::is_canceled(&C::uncancelable()));
    C::cancel(&one);
    assert!(C::is_canceled(&seen));
}

#[test]
fn small_operations() {
    nothing(100);
    small_operations_leave_nothing(InPlace);
    small_operations_leave_nothing(Arena::<2>(arena()));
    small_operations_leave_nothing(Wide::<1>(arena()));
    small_operations_leave_nothing(Before);
    small_operations_leave_nothing(After);
    small_operations_leave_nothing(Heap);
}

fn children_end<C: Hierarchy>(kind: C) {
    let parent = kind.source();
    let others = siblings::<C>(&parent, 5);
    child::<C>(&parent, 100);
    child_directly::<C>(&parent, 100);
    let last = C::child_directly(&parent);
    C::cancel(&parent);
    assert!(others.iter().chain([&last]).all(|other| C::is_canceled(&C::token(other))));
}

#[test]
fn children_come_and_go_beside_siblings() {
    children_end(Arena::<8>(arena()));
    children_end(Before);
    children_end(After);
    children_end(Heap);
}

fn is_taken_back<C: Registers>(kind: C) {
    let calls = calls_of(|| {
        let source = kind.source();
        let token = C::token(&source);
        register::<C>(&token, 100);
        C::deregister(C::register(&token, count, &CALLS));
        C::cancel(&source);
    });
    assert_eq!(calls, 0);
}

#[test]
fn a_registration_is_taken_back() {
    is_taken_back(InPlace);
    is_taken_back(Heap);
    is_taken_back(HeapBoxed);
}

fn goes_on_until_the_cancel<C: Waits>(kind: C) {
    let source = kind.source();
    let mut wait = C::wait(&C::token(&source));
    poll_again(&mut wait, 100);
    C::cancel(&source);
    assert!(Pin::new(&mut wait).poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

#[test]
fn a_wait_goes_on_until_the_cancel() {
    goes_on_until_the_cancel(InPlace);
    goes_on_until_the_cancel(Heap);
}

#[test]
fn every_child_that_waits_is_woken() {
    struct Count(Mutex<u32>);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            *self.0.lock().unwrap() += 1;
        }
    }
    fn are_woken<C: Hierarchy<Source: 'static> + Waits>(kind: C) {
        let woken = Arc::new(Count(Mutex::new(0)));
        let waiting = Waiting::new(kind, 10, &Waker::from(woken.clone()));
        assert_eq!(*woken.0.lock().unwrap(), 0);
        let mut waiting = waiting.cancel();
        assert_eq!(*woken.0.lock().unwrap(), 10);
        assert!(waiting.are_over());
    }
    are_woken(Arena::<11>(arena()));
    are_woken(Heap);
}

#[test]
fn children_below_a_dropped_middle() {
    let middle = Middle::new(Arena::<12>(arena()), 10).drop_middle();
    assert_eq!(middle.canceled_after_root::<Arena<12>>(), 10, "a cancel goes through it");
    assert_eq!(Middle::new(Heap, 10).drop_middle().canceled_after_root::<Heap>(), 10);
    let middle = Middle::new(After, 10).drop_middle();
    assert_eq!(middle.canceled_after_root::<After>(), 0, "in MongoDB the middle tells its children that there will be no cancel");
}
