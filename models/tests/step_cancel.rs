//! Step mode for sources and trees: an interrupt handler runs to its end between two steps of what it interrupts.
//!
//! The core is compiled here a second time (build.rs), with tables of two slots.
#![cfg(jeton_step)]
#![allow(clippy::disallowed_types, reason = "what callbacks count takes no steps")]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod cancel;
    pub mod sync;
    pub mod util;
}
use core_sources::{cancel, sync, util};
mod step;

/// What the pages' examples are for.
mod docs {}

use std::{
    cell::{Cell, RefCell},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use cancel::{Canceled, Deregistered, Node, Reason, Registration, Source, Status, Tree, WaitError};
use step::{at_every_step, leak};

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

fn count(calls: &'static AtomicU32) {
    calls.fetch_add(1, Relaxed);
}

/// A source with a callback that counts.
struct Subject {
    source: Source<2>,
    calls: &'static AtomicU32,
}

impl Subject {
    fn new() -> Self {
        Self { source: Source::new(), calls: leak(AtomicU32::new(0)) }
    }

    fn register(&'static self) -> Option<Registration<'static>> {
        self.source.token().on_cancel(count, self.calls).ok()
    }

    fn calls(&self) -> u32 {
        self.calls.load(Relaxed)
    }
}

#[test]
fn a_registration_and_a_cancel_can_interrupt_each_other_at_every_step() {
    let mut steps = 0;
    for dismiss in [false, true] {
        let end = move |subject: &'static Subject| if dismiss { subject.source.dismiss() } else { subject.source.cancel() };
        steps += at_every_step(Subject::new, Subject::register, end, move |subject, registered, won, at| {
            assert!(won);
            assert_eq!(subject.calls(), u32::from(registered.is_some() && !dismiss), "at step {at}");
        });
        steps += at_every_step(Subject::new, end, Subject::register, move |subject, won, registered, at| {
            assert!(won);
            assert_eq!(subject.calls(), u32::from(registered.is_some() && !dismiss), "at step {at}");
        });
    }
    assert!(steps >= 12, "{steps} steps");
}

#[test]
fn a_deregistration_and_a_cancel_can_interrupt_each_other_at_every_step() {
    thread_local! {
        static REGISTRATION: RefCell<Option<Registration<'static>>> = const { RefCell::new(None) };
    }
    let deregister = |_: &'static Subject| REGISTRATION.take().expect("registered").deregister();
    let cancel = |subject: &'static Subject| subject.source.cancel();
    let subject = || {
        let subject = leak(Subject::new());
        REGISTRATION.set(subject.register());
        subject
    };
    let check = |subject: &'static Subject, found: Deregistered, at: usize| {
        assert_eq!(subject.calls(), u32::from(found != Deregistered::Removed), "{found:?} at step {at}");
    };
    let mut steps = at_every_step(
        subject,
        move |subject| deregister(subject),
        move |subject| cancel(subject),
        move |subject, found, won, at| {
            assert!(won);
            check(subject, found, at);
        },
    );
    steps += at_every_step(
        subject,
        move |subject| cancel(subject),
        move |subject| deregister(subject),
        move |subject, won, found, at| {
            assert!(won);
            check(subject, found, at);
        },
    );
    assert!(steps >= 8, "{steps} steps");
}

#[test]
fn a_cancel_can_come_at_every_step_of_a_poll() {
    /// A waiter that has a waker there already, or not.
    struct Waiter {
        source: &'static Source<2>,
        future: RefCell<Canceled<'static>>,
        woken: [Arc<Woken>; 2],
    }
    fn poll(waiter: &Waiter, which: usize) -> Poll<Result<Reason, WaitError>> {
        let waker = Waker::from(waiter.woken[which].clone());
        Pin::new(&mut *waiter.future.borrow_mut()).poll(&mut Context::from_waker(&waker))
    }
    for before in [false, true] {
        for dismiss in [false, true] {
            let subject = move || {
                let source = leak(Source::new());
                let waiter = Waiter { source, future: RefCell::new(source.token().canceled()), woken: Default::default() };
                assert!(!before || poll(&waiter, 0).is_pending());
                waiter
            };
            let end = move |waiter: &'static Waiter| if dismiss { waiter.source.dismiss() } else { waiter.source.cancel() };
            let steps = at_every_step(
                subject,
                |waiter| poll(waiter, 1),
                end,
                move |waiter, answer, won, at| {
                    assert!(won);
                    let expected = if dismiss { Err(WaitError::Dismissed) } else { Ok(Reason::REQUESTED) };
                    let woken = waiter.woken[1].0.load(Relaxed);
                    assert!(answer == Poll::Ready(expected) || woken == 1, "asleep for ever after step {at}");
                    assert_eq!(poll(waiter, 1), Poll::Ready(expected));
                    _ = waiter.future.replace(leak(Source::<0>::new()).token().canceled());
                    assert_eq!(waiter.woken.each_ref().map(Arc::strong_count), [1, 1], "a waker is left after step {at}");
                },
            );
            assert!(steps >= 4, "{steps} steps");
        }
    }
}

type Nodes = Tree<4>;

/// A root with a child and a grandchild, whose callback counts.
struct Family {
    tree: &'static Nodes,
    nodes: RefCell<Vec<Node<'static, 4>>>,
    calls: &'static AtomicU32,
}

impl Family {
    fn new() -> Self {
        let (tree, calls): (&Nodes, _) = (leak(Tree::new()), leak(AtomicU32::new(0)));
        let root = tree.root().expect("a free node");
        let middle = root.child().expect("a free node");
        let leaf = middle.child().expect("a free node");
        leaf.token().on_cancel(count, calls).expect("a free slot").detach();
        Self { tree, nodes: RefCell::new(vec![root, middle, leaf]), calls }
    }

    /// What an interrupt may do: its number, and whether the leaf must be canceled when all is over.
    fn act(&self, which: usize) {
        let mut nodes = self.nodes.borrow_mut();
        match which {
            0 => _ = nodes[0].cancel(),
            1 => _ = nodes[1].cancel(),
            2 => _ = nodes[2].cancel(),
            3 => _ = nodes[1].dismiss(),
            4 => {
                let child = nodes[1].child().expect("a free node");
                nodes.push(child);
            }
            5 => drop(nodes.pop()),
            6 => drop(nodes.remove(1)),
            _ => {
                // Somebody else's node, perhaps with the number of one that is just freed.
                drop(nodes.pop());
                nodes.push(self.tree.root().expect("a free node"));
            }
        }
    }
}

#[test]
fn a_cancel_of_a_tree_can_be_interrupted_by_anything_at_every_step() {
    let mut steps = 0;
    for which in 0..8 {
        // The node is taken out beforehand, since the cancel borrows it.
        let cancel = |family: &'static Family| {
            let root = std::ptr::from_ref(&family.nodes.borrow()[0]);
            // SAFETY: nobody removes the first node, and the vector has room for all.
            unsafe { (*root).cancel() }
        };
        let subject = || {
            let family = Family::new();
            family.nodes.borrow_mut().reserve(8);
            family
        };
        steps += at_every_step(
            subject,
            cancel,
            move |family| family.act(which),
            move |family, won, (), at| {
                assert!(won || which == 0, "{which} at step {at}");
                let nodes = family.nodes.borrow();
                let canceled = |node: &Node<'_, 4>| matches!(node.status(), Status::Canceled(_));
                assert!(canceled(&nodes[0]));
                match which {
                    0..3 => assert!(nodes.iter().all(canceled), "{which} at step {at}"),
                    3 => assert!(canceled(&nodes[2]), "{which} at step {at}"),
                    4 => assert!(nodes.iter().all(canceled), "a child born at step {at} is not canceled"),
                    5 => assert!(canceled(&nodes[1])),
                    6 => assert!(canceled(&nodes[1]), "the leaf below a dropped node, at step {at}"),
                    _ => assert!(canceled(&nodes[1]) && nodes[2].status() == Status::Active, "somebody else's node at step {at}"),
                }
                let calls = family.calls.load(Relaxed);
                assert!(calls == 1 || (matches!(which, 5 | 7) && calls == 0), "{calls} calls, {which} at step {at}");
                drop(nodes);
                family.nodes.borrow_mut().clear();
                let all: Vec<_> = (0..4).map(|_| family.tree.root()).collect();
                assert!(all.iter().all(Result::is_ok), "a node is lost, {which} at step {at}");
            },
        );
    }
    assert!(steps >= 60, "{steps} steps");
}

#[test]
fn a_birth_can_be_interrupted_by_a_cancel_at_every_step() {
    let birth = |family: &'static Family| {
        let parent = std::ptr::from_ref(&family.nodes.borrow()[1]);
        // SAFETY: nobody removes the second node.
        unsafe { (*parent).child() }
    };
    for which in 0..2 {
        let steps = at_every_step(
            Family::new,
            birth,
            move |family| family.act(which),
            move |_, born, (), at| {
                assert!(born.is_ok_and(|born| matches!(born.status(), Status::Canceled(_))), "born active at step {at}");
            },
        );
        assert!(steps >= 8, "{steps} steps");
    }
}

/// How many steps an operation takes.
fn steps<S: 'static>(subject: impl Fn() -> S, operation: impl Fn(&'static S)) -> usize {
    at_every_step(subject, operation, |_| (), |_, (), (), _| ())
}

#[test]
fn a_check_is_one_step_at_any_depth_and_a_poll_again_is_two() {
    assert_eq!(steps(Subject::new, |subject| assert!(!subject.source.token().is_canceled())), 1);
    assert_eq!(steps(Family::new, |family| assert!(!family.nodes.borrow()[2].token().is_canceled())), 1);
    let waiting = || {
        let source: &Source<1> = leak(Source::new());
        let waker: Waker = Arc::new(Woken::default()).into();
        let mut future = source.token().canceled();
        assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending());
        (RefCell::new(future), waker)
    };
    let poll = |(future, waker): &'static (RefCell<Canceled<'static>>, Waker)| {
        assert!(Pin::new(&mut *future.borrow_mut()).poll(&mut Context::from_waker(waker)).is_pending());
    };
    assert_eq!(steps(waiting, poll), 2);
    // A cancel without registrations: a look, and a compare-and-swap.
    assert_eq!(steps(Subject::new, |subject| assert!(subject.source.cancel())), 2);
}
