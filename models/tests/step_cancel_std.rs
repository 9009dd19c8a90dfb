//! Step mode for sources on the heap: another operation runs to its end between two steps of the one that it interrupts.
//!
//! The core's shim and the std extension's sources are compiled here a second time (build.rs).
#![cfg(jeton_step)]
#![allow(clippy::disallowed_types, reason = "what callbacks count takes no steps")]
#![allow(missing_docs, unused_imports, dead_code, reason = "the sources of both crates, of which only a part is used")]

// What the std extension calls its core is this crate.
extern crate self as jeton_core;

#[path = "../../core/src"]
mod core_sources {
    pub mod cancel;
    pub mod sync;
    pub mod util;
}
#[path = "../../std-ext/src"]
mod std_sources {
    pub mod cancel;
    pub mod park;
}
use core_sources::{cancel, sync, util};
use std_sources::park;

/// What the pages' examples are for.
mod docs {}

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::{Cell, RefCell},
    pin::Pin,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use cancel::{Deregistered, Reason, Status};
use std_sources::cancel::{CancelSource, CancelToken, Canceled, Dismissed, Registration};
use sync::model::interrupted;

/// Counts what this thread has on the heap.
struct Counting;

thread_local! {
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: as the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
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

type Calls = Arc<AtomicU32>;

fn counting(calls: &Calls) -> impl FnOnce() + Send + 'static {
    let calls = calls.clone();
    move || _ = calls.fetch_add(1, Relaxed)
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// Interrupts `operation` with `interrupt` at every step, each time on a new `subject`, and then checks; nothing may be left on the heap.
///
/// How many steps the operation has.
fn at_every_step<S: 'static, A: 'static, B: 'static>(
    subject: impl Fn() -> S,
    operation: impl Fn(&S) -> A,
    interrupt: impl Fn(&S) -> B + Clone + 'static,
    check: impl Fn(S, A, B, usize),
) -> usize {
    for at in 0.. {
        let live = LIVE.get();
        let subject = Rc::new(subject());
        let (inner, mut outer) = (Rc::new(RefCell::new(None)), None);
        let (result, interrupt, interrupted_subject) = (inner.clone(), interrupt.clone(), subject.clone());
        let run = move || *result.borrow_mut() = Some(interrupt(&interrupted_subject));
        if !interrupted(at, || outer = Some(operation(&subject)), run) {
            return at;
        }
        let result = inner.borrow_mut().take().expect("the interrupt has run");
        drop(inner);
        let subject = Rc::try_unwrap(subject).ok().expect("nobody else has it");
        check(subject, outer.expect("it has ended"), result, at);
        assert_eq!(LIVE.get(), live, "bytes are left on the heap, or gone twice, after step {at}");
    }
    unreachable!("an operation has an end")
}

/// How many steps an operation takes.
fn steps<S: 'static>(subject: impl Fn() -> S, operation: impl Fn(&S)) -> usize {
    at_every_step(subject, operation, |_| (), |_, (), (), _| ())
}

/// A source that can be taken away, with `others` callbacks, and one more registration.
struct Subject {
    source: RefCell<Option<CancelSource>>,
    token: CancelToken,
    registration: Cell<Option<Registration>>,
    others: Vec<Registration>,
    calls: Calls,
}

impl Subject {
    fn new(others: usize) -> Self {
        let source = CancelSource::new();
        let (token, calls) = (source.token(), Calls::default());
        let others = (0..others).map(|_| token.on_cancel(|| {}).expect("not canceled")).collect();
        Self { source: RefCell::new(Some(source)), token, registration: Cell::new(None), others, calls }
    }

    fn registered(others: usize) -> Self {
        let subject = Self::new(others);
        assert!(subject.register());
        subject
    }

    /// Whether there is a registration then that may still be called; a dismissed one is none.
    fn register(&self) -> bool {
        let registered = self.token.on_cancel(counting(&self.calls)).ok();
        let registered = self.registration.replace(registered).is_none() && self.token.status() == Status::Active;
        registered || self.calls() == 1
    }

    /// Cancels it or takes the source away.
    fn end(&self, dismiss: bool) {
        let source = self.source.borrow_mut().take().expect("a source");
        if !dismiss {
            assert!(source.cancel());
        }
    }

    fn calls(&self) -> u32 {
        self.calls.load(Relaxed)
    }

    /// Nothing is left of it.
    fn go(self, at: usize) {
        let calls = self.calls.clone();
        drop(self);
        assert_eq!(Arc::strong_count(&calls), 1, "a closure is left after step {at}");
    }
}

#[test]
fn a_registration_and_an_end_can_interrupt_each_other_at_every_step() {
    let mut steps = 0;
    for others in 0..4 {
        for dismiss in [false, true] {
            let check = move |subject: Subject, at: usize| {
                let registered = subject.registration.take();
                // Called, or handed back; after a dismissal neither.
                assert!(dismiss || subject.calls() == u32::from(registered.is_some()), "at step {at}");
                assert!(subject.calls() <= u32::from(!dismiss), "at step {at}");
                let outcome = registered.map(Registration::unregister);
                assert!(outcome.is_none_or(|outcome| outcome == Deregistered::Ended), "{outcome:?} at step {at}");
                subject.go(at);
            };
            let new = move || Subject::new(others);
            let (register, end) = (|subject: &Subject| _ = subject.register(), move |subject: &Subject| subject.end(dismiss));
            steps += at_every_step(new, register, end, move |subject, (), (), at| check(subject, at));
            steps += at_every_step(new, end, register, move |subject, (), (), at| check(subject, at));
        }
    }
    assert!(steps >= 80, "{steps} steps");
}

#[test]
fn the_end_of_a_registration_and_of_its_source_can_interrupt_each_other_at_every_step() {
    let mut steps = 0;
    for others in 0..3 {
        for dismiss in [false, true] {
            let new = move || Subject::registered(others);
            let end = move |subject: &Subject| subject.end(dismiss);
            for (number, last) in
                [|one: Registration| one.unregister(), |one| (drop(one), Deregistered::Ended).1].into_iter().enumerate()
            {
                let last = move |subject: &Subject| last(subject.registration.take().expect("registered"));
                let check = move |subject: Subject, outcome: Deregistered, at: usize| {
                    let calls = subject.calls();
                    assert!(calls <= u32::from(!dismiss), "{calls} calls, at step {at}");
                    // A drop does not say.
                    assert!(
                        dismiss || number == 1 || calls == u32::from(outcome != Deregistered::Removed),
                        "{outcome:?} at step {at}"
                    );
                    subject.go(at);
                };
                steps += at_every_step(new, last, end, move |subject, outcome, (), at| check(subject, outcome, at));
                steps += at_every_step(new, end, last, move |subject, (), outcome, at| check(subject, outcome, at));
            }
        }
    }
    assert!(steps >= 100, "{steps} steps");
}

/// A waiter that has a waker there already, or not.
struct Waiter {
    source: RefCell<Option<CancelSource>>,
    future: RefCell<Canceled>,
    woken: [Arc<Woken>; 2],
}

impl Waiter {
    fn new(polled: bool) -> Self {
        let source = CancelSource::new();
        let waiter =
            Self { future: RefCell::new(source.token().canceled()), source: RefCell::new(Some(source)), woken: Default::default() };
        assert!(!polled || waiter.poll(0).is_pending());
        waiter
    }

    fn poll(&self, which: usize) -> Poll<Result<Reason, Dismissed>> {
        let waker = Waker::from(self.woken[which].clone());
        Pin::new(&mut *self.future.borrow_mut()).poll(&mut Context::from_waker(&waker))
    }
}

#[test]
fn an_end_can_come_at_every_step_of_a_poll() {
    for polled in [false, true] {
        for dismiss in [false, true] {
            let end = move |waiter: &Waiter| {
                let source = waiter.source.borrow_mut().take().expect("a source");
                assert!(dismiss || source.cancel());
            };
            let check = move |waiter: Waiter, answer, (), at| {
                let expected = Poll::Ready(if dismiss { Err(Dismissed) } else { Ok(Reason::REQUESTED) });
                assert!(answer == expected || waiter.woken[1].0.load(Relaxed) == 1, "asleep for ever after step {at}");
                assert_eq!(waiter.poll(1), expected);
                let woken = waiter.woken.clone();
                drop(waiter);
                assert_eq!(woken.each_ref().map(Arc::strong_count), [1, 1], "a waker is left after step {at}");
            };
            let steps = at_every_step(move || Waiter::new(polled), |waiter| waiter.poll(1), end, check);
            assert!(steps >= 4, "{steps} steps");
        }
    }
}

/// A root, two levels below it, and a second child of the root; each has a callback.
struct Family {
    /// Another source of the root, which nobody drops.
    root: CancelSource,
    sources: RefCell<Vec<Option<CancelSource>>>,
    tokens: Vec<CancelToken>,
    born: RefCell<Vec<CancelSource>>,
    calls: Vec<Calls>,
}

impl Family {
    fn new() -> Self {
        let root = CancelSource::new();
        let middle = root.child();
        let sources = vec![Some(middle.child()), Some(root.child()), Some(middle), Some(root.clone())];
        let tokens: Vec<CancelToken> = sources.iter().flatten().map(CancelSource::token).collect();
        let calls: Vec<Calls> = tokens.iter().map(|_| Calls::default()).collect();
        for (token, calls) in tokens.iter().zip(&calls) {
            token.on_cancel(counting(calls)).expect("not canceled").forget();
        }
        Self { root, sources: RefCell::new(sources), tokens, born: RefCell::default(), calls }
    }

    fn take(&self, which: usize) -> Option<CancelSource> {
        self.sources.borrow_mut()[which].take()
    }

    /// Cancels one of them, drops its source, or makes a child below it.
    fn act(&self, what: usize, which: usize) {
        match what {
            0 => assert!(self.take(which).is_none_or(|source| source.cancel() || source.is_canceled())),
            1 => drop(self.take(which)),
            _ => {
                let child = self.tokens[which].child();
                self.born.borrow_mut().push(child);
            }
        }
    }
}

const LEAF: usize = 0;
const ROOT: usize = 3;

#[test]
fn a_cancel_of_a_tree_can_be_interrupted_by_anything_at_every_step() {
    let mut all = 0;
    for what in 0..3 {
        for which in LEAF..=ROOT {
            let cancel = |family: &Family| family.root.cancel();
            let check = move |family: Family, won: bool, (), at: usize| {
                assert!(won || (what == 0 && which == ROOT), "{what} of {which} at step {at}");
                for (number, (token, calls)) in family.tokens.iter().zip(&family.calls).enumerate() {
                    // Who has lost its last source before the cancel came is dismissed, and not called; the cancel goes through it.
                    let dismissed = token.status() == Status::Dismissed;
                    assert!(
                        token.is_canceled() || (dismissed && what == 1 && which == number),
                        "{number}: {what} of {which} at step {at}"
                    );
                    assert_eq!(calls.load(Relaxed), u32::from(!dismissed), "{number}: {what} of {which} at step {at}");
                }
                assert!(family.born.borrow().iter().all(CancelSource::is_canceled), "below {which}, at step {at}");
                let calls = family.calls.clone();
                drop(family);
                assert!(
                    calls.iter().all(|calls| Arc::strong_count(calls) == 1),
                    "a closure is left: {what} of {which} at step {at}"
                );
            };
            all += at_every_step(Family::new, cancel, move |family| family.act(what, which), check);
            // And the other way round.
            let act = move |family: &Family| family.act(what, which);
            all += at_every_step(Family::new, act, cancel, move |family, (), won, at| check(family, won, (), at));
        }
    }
    assert!(all >= 400, "{all} steps");
}

#[test]
fn a_drop_can_be_interrupted_by_other_drops_at_every_step() {
    let mut all = 0;
    for first in LEAF..=ROOT {
        for second in LEAF..=ROOT {
            let check = move |family: Family, (), (), at: usize| {
                let calls = family.calls.clone();
                drop(family);
                let left = |calls: &Calls| Arc::strong_count(calls) != 1 || calls.load(Relaxed) != 0;
                assert!(!calls.iter().any(left), "{first} and {second} at step {at}");
            };
            all +=
                at_every_step(Family::new, move |family| drop(family.take(first)), move |family| drop(family.take(second)), check);
        }
    }
    assert!(all >= 30, "{all} steps");
}

#[test]
fn a_check_is_one_step_at_any_depth_a_poll_again_is_one_and_what_is_static_takes_none_to_clone() {
    let deep = || (0..20).fold((CancelSource::new(), vec![]), |(above, mut all), _| (above.child(), (all.push(above), all).1));
    assert_eq!(steps(deep, |(source, _)| assert!(!source.is_canceled())), 1);
    let polled = || {
        let (source, waker) = (CancelSource::new(), Waker::from(Arc::new(Woken::default())));
        let mut future = source.token().canceled();
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
        (source, RefCell::new(future), waker)
    };
    let again = |(_, future, waker): &(CancelSource, RefCell<Canceled>, Waker)| {
        assert!(Pin::new(&mut *future.borrow_mut()).poll(&mut Context::from_waker(waker)).is_pending());
    };
    assert_eq!(steps(polled, again), 1);
    let statics = || [CancelToken::uncancelable(), CancelToken::already_canceled()];
    assert_eq!(steps(statics, |statics| drop(statics.clone())), 0);
    assert_eq!(steps(CancelSource::new, |source| assert!(source.cancel())), 2);
}

/// tokio-util: 1.6 ms for 100,000 children.
#[test]
fn dropping_a_node_in_the_middle_takes_the_same_steps_with_ten_children_and_with_a_thousand() {
    let middle = |children: usize| {
        move || {
            let (root, calls) = (CancelSource::new(), Calls::default());
            let middle = root.child();
            let children: Vec<CancelSource> = (0..children).map(|_| middle.child()).collect();
            (root, Cell::new(Some(middle)), children, calls)
        }
    };
    let drop_middle = |(_, middle, ..): &(CancelSource, Cell<Option<CancelSource>>, Vec<CancelSource>, Calls)| drop(middle.take());
    let few = steps(middle(10), drop_middle);
    assert_eq!((few, few < 10), (steps(middle(1000), drop_middle), true));
}
