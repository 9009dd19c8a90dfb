//! Trees under every interleaving: births, deaths and cancels beside each other.
#![cfg(any(jeton_loom, jeton_shuttle))]

use std::{
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{
    cancel::{Node, Reason, Refusal, Status, Tree},
    sync::UnsafeCell,
};
use jeton_models::explore::{Model, explore, thread};

/// Plain memory, and what callbacks have counted, outside the model.
struct Probe {
    calls: Mutex<Vec<bool>>,
    data: UnsafeCell<u32>,
}

// SAFETY: each model says who may use the cell when; that the calls order this is what it checks.
unsafe impl Sync for Probe {}
// SAFETY: as above.
unsafe impl Send for Probe {}

impl Probe {
    fn new() -> &'static Self {
        Box::leak(Box::new(Self { calls: Mutex::new(Vec::new()), data: UnsafeCell::new(0) }))
    }

    fn touch(&self) {
        // SAFETY: see above.
        self.data.with_mut(|data| unsafe { *data += 1 });
    }

    fn count(&'static self) {
        self.calls.lock().expect("nobody panics").push(true);
    }

    fn calls(&self) -> usize {
        self.calls.lock().expect("nobody panics").len()
    }
}

/// What a tree refers to outlives the model's threads.
fn leak<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

fn tree<const NODES: usize>() -> &'static Tree<NODES> {
    leak(Tree::new())
}

#[derive(Default)]
struct Woken(Mutex<u32>);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.lock().expect("nobody panics") += 1;
    }
}

/// Waits at a node, and gives that up.
fn wait_and_drop<const NODES: usize, const SLOTS: usize>(node: &Node<'_, NODES, SLOTS>, woken: &std::sync::Arc<Woken>) {
    let waker: Waker = woken.clone().into();
    let mut future = node.token().canceled();
    let _: Poll<_> = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
}

/// Waits at a node, and forgets that: the waker stays there.
fn wait_and_forget<const NODES: usize, const SLOTS: usize>(node: &Node<'_, NODES, SLOTS>, woken: &std::sync::Arc<Woken>) {
    let waker: Waker = woken.clone().into();
    let mut future = node.token().canceled();
    let _: Poll<_> = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
    std::mem::forget(future);
}

fn beside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> impl FnOnce() -> R {
    let other = thread::spawn(work);
    move || other.join().expect("a thread of the model panicked")
}

#[test]
fn a_child_born_beside_a_cancel_is_canceled() {
    explore(Model { threads: 2, loom: 7, rmw: 27, shuttle: 5800 }, || {
        let (root, probe) = (leak(tree::<2>().root().expect("a free node")), Probe::new());
        let other = beside(|| {
            probe.touch();
            root.cancel_with(Reason::new(9))
        });
        let child = root.child().expect("a free node");
        if child.token().is_canceled() {
            probe.touch();
        }
        assert!(other());
        assert_eq!(child.status(), Status::Canceled(Reason::new(9)));
    });
}

/// The mark of its parent sees that one more pass is needed, or its birth sees that mark.
#[test]
fn a_child_with_a_lower_number_that_is_born_beside_a_cancel_is_canceled() {
    explore(Model { threads: 2, loom: 7, rmw: 18, shuttle: 63000 }, || {
        let tree = tree::<3>();
        let early = tree.root().expect("a free node");
        let root = leak(tree.root().expect("a free node"));
        let middle = root.child().expect("a free node");
        drop(early);
        let other = beside(|| root.cancel());
        let leaf = middle.child().expect("a free node");
        assert!(other());
        assert_eq!((leaf.number(), leaf.status()), (0, Status::Canceled(Reason::REQUESTED)));
    });
}

#[test]
fn a_callback_below_is_called_once_or_refused() {
    explore(Model { threads: 2, loom: 7, rmw: 28, shuttle: 63000 }, || {
        let (root, probe) = (leak(tree::<2>().root().expect("a free node")), Probe::new());
        let child = root.child().expect("a free node");
        let other = beside(|| {
            probe.touch();
            root.cancel()
        });
        match child.token().on_cancel(Probe::count, probe) {
            Ok(_registration) => {
                assert!(other());
                assert_eq!(probe.calls(), 1);
            }
            Err(refused) => {
                assert_eq!(refused.refusal, Refusal::Canceled(Reason::REQUESTED));
                probe.touch();
                assert!(other());
                assert_eq!(probe.calls(), 0);
            }
        }
    });
}

#[test]
fn a_freed_node_is_handed_on() {
    explore(Model { threads: 2, loom: 210, rmw: 49, shuttle: 4600 }, || {
        let (tree, probe) = (tree::<1>(), Probe::new());
        let root = tree.root().expect("a free node");
        let other = beside(|| {
            if let Ok(root) = tree.root() {
                probe.touch();
                drop(root);
            }
        });
        probe.touch();
        drop(root);
        other();
        assert!(tree.root().is_ok_and(|root| root.status() == Status::Active));
    });
}

#[test]
fn the_last_child_frees_what_the_handle_left() {
    explore(Model { threads: 2, loom: 4, rmw: 4, shuttle: 17000 }, || {
        let tree = tree::<2>();
        let root = tree.root().expect("a free node");
        let child = root.child().expect("a free node");
        let woken = std::sync::Arc::new(Woken::default());
        wait_and_forget(&root, &woken);
        let other = beside(move || drop(child));
        drop(root);
        other();
        assert_eq!(*woken.0.lock().expect("nobody panics"), 1, "woken by the dismissal, once");
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
        assert!(tree.root().is_ok_and(|root| root.child().is_ok()), "both are free again");
    });
}

#[test]
fn a_node_is_freed_by_its_user_or_by_its_cancel() {
    explore(Model { threads: 2, loom: 310, rmw: 370, shuttle: 63000 }, || {
        let tree: &'static Tree<2, 2> = leak(Tree::new());
        let root = leak(tree.root().expect("a free node"));
        let child = root.child().expect("a free node");
        // One that is there, one that comes and goes, and one that comes and stays, perhaps behind the cancel's look.
        let woken = [(); 3].map(|()| std::sync::Arc::new(Woken::default()));
        wait_and_forget(&child, &woken[0]);
        let [_, second, third] = woken.clone();
        let other = beside(move || {
            wait_and_drop(&child, &second);
            wait_and_forget(&child, &third);
            drop((child, second, third));
        });
        assert!(root.cancel());
        other();
        assert_eq!(*woken[0].0.lock().expect("nobody panics"), 1, "woken by the cancel or by the dismissal");
        assert_eq!(woken.each_ref().map(std::sync::Arc::strong_count), [1; 3], "each waker is dropped once");
        assert!(root.child().is_ok(), "it is free again");
    });
}

#[test]
fn a_node_that_is_freed_beside_its_cancel_is_handed_on() {
    explore(Model { threads: 2, loom: 6700, rmw: 1400, shuttle: 63000 }, || {
        let root = leak(tree::<2>().root().expect("a free node"));
        let child = root.child().expect("a free node");
        let (by_the_cancel, by_the_user) = (Probe::new(), Probe::new());
        // Detached, its slot would be handed on by its runner, and order more than the node does.
        std::mem::forget(child.token().on_cancel(Probe::touch, by_the_cancel).expect("a free slot"));
        let other = beside(move || {
            by_the_user.touch();
            drop(child);
            // Whoever gets the node next comes after all that was done with it.
            root.child().is_ok_and(|_next| {
                by_the_cancel.touch();
                true
            })
        });
        assert!(root.cancel());
        if let Ok(_next) = root.child() {
            by_the_user.touch();
        }
        other();
        assert!(root.child().is_ok(), "it is free again");
    });
}

/// The number of a child that dies beside a cancel goes to a child of another root.
#[test]
fn a_node_that_was_freed_beside_a_cancel_is_not_canceled_under_another_parent() {
    explore(Model { threads: 2, loom: 430, rmw: 160, shuttle: 63000 }, || {
        let tree = tree::<3>();
        let (one, two) = (leak(tree.root().expect("a free node")), tree.root().expect("a free node"));
        let child = one.child().expect("a free node");
        let other = beside(|| one.cancel());
        drop(child);
        let next = two.child();
        assert!(other());
        assert!(next.is_ok_and(|next| next.status() == Status::Active && next.number() == 2));
        assert_eq!(two.status(), Status::Active);
    });
}

#[test]
fn two_cancels_of_a_tree_and_of_a_subtree_mark_all_and_call_each_once() {
    explore(Model { threads: 2, loom: 28, rmw: 62, shuttle: 63000 }, || {
        let tree = tree::<3>();
        let root = leak(tree.root().expect("a free node"));
        let middle = leak(root.child().expect("a free node"));
        let leaf = middle.child().expect("a free node");
        let probes = [Probe::new(), Probe::new()];
        middle.token().on_cancel(Probe::count, probes[0]).expect("a free slot").detach();
        leaf.token().on_cancel(Probe::count, probes[1]).expect("a free slot").detach();
        let other = beside(|| middle.cancel_with(Reason::new(2)));
        let mine = root.cancel_with(Reason::new(1));
        let others = other();
        assert!(mine);
        let reason = Reason::new(if others { 2 } else { 1 });
        assert_eq!([middle.status(), leaf.status()], [Status::Canceled(reason); 2], "from one cancel");
        assert_eq!(probes.map(Probe::calls), [1, 1]);
    });
}

#[test]
fn a_cancel_passes_through_a_middle_that_is_dismissed_meanwhile() {
    explore(Model { threads: 2, loom: 22, rmw: 25, shuttle: 640 }, || {
        let tree = tree::<3>();
        let root = leak(tree.root().expect("a free node"));
        let middle = root.child().expect("a free node");
        let leaf = middle.child().expect("a free node");
        let other = beside(|| root.cancel());
        // Dismissed, or canceled before that; its place stays, because of the leaf.
        drop(middle);
        assert!(other());
        assert_eq!(leaf.status(), Status::Canceled(Reason::REQUESTED));
        drop(leaf);
        assert!(root.child().is_ok_and(|next| next.child().is_ok()), "both are free again");
    });
}

/// What a callback sees: the whole tree.
struct Whole {
    nodes: [&'static Node<'static, 3>; 2],
    seen: Mutex<Vec<bool>>,
}

fn see(whole: &'static Whole) {
    let marked = whole.nodes.iter().all(|node| node.token().is_canceled());
    whole.seen.lock().expect("nobody panics").push(marked);
}

#[test]
fn all_is_marked_before_the_first_callback_also_a_child_that_is_born_meanwhile() {
    explore(Model { threads: 2, loom: 120, rmw: 150, shuttle: 63000 }, || {
        let tree = tree::<3>();
        let root = leak(tree.root().expect("a free node"));
        let middle = leak(root.child().expect("a free node"));
        let whole = leak(Whole { nodes: [root, middle], seen: Mutex::default() });
        root.token().on_cancel(see, whole).expect("a free slot").detach();
        let other = beside(|| root.cancel());
        let leaf = middle.child().expect("a free node");
        let early = leaf.token().on_cancel(see, whole).map(|registration| registration.detach()).is_ok();
        assert!(other());
        assert!(leaf.token().is_canceled());
        let seen = whole.seen.lock().expect("nobody panics");
        assert_eq!(*seen, vec![true; 1 + usize::from(early)]);
    });
}

/// Not the first one: its parent has *has children* already.
#[test]
fn a_second_child_born_beside_a_cancel_is_canceled() {
    explore(Model { threads: 2, loom: 240, rmw: 140, shuttle: 63_000 }, || {
        let tree = tree::<3>();
        let root = leak(tree.root().expect("a free node"));
        let _first = root.child().expect("a free node");
        let other = thread::spawn(|| root.cancel());
        let second = root.child().expect("a free node");
        assert!(other.join().expect("nobody panics"));
        assert_eq!(second.status(), Status::Canceled(Reason::REQUESTED));
    });
}

/// The canceled node's own child has a lower number than it.
#[test]
fn a_lower_child_of_the_root_born_beside_a_cancel_is_canceled() {
    explore(Model { threads: 2, loom: 6, rmw: 18, shuttle: 2400 }, || {
        let tree = tree::<2>();
        let early = tree.root().expect("a free node");
        let root = leak(tree.root().expect("a free node"));
        drop(early);
        let other = thread::spawn(|| root.cancel());
        let leaf = root.child().expect("a free node");
        assert!(other.join().expect("nobody panics"));
        assert_eq!((leaf.number(), leaf.status()), (0, Status::Canceled(Reason::REQUESTED)));
    });
}
