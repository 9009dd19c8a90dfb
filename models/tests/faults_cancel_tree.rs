//! Faults reported of other hierarchies, turned round: each test is named for what must hold. The numbers are those of their reports.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

use std::{
    cell::{Cell, RefCell},
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker},
    thread,
};

use jeton_core::cancel::{Canceled, Node, Reason, Status, Token, Tree, WaitError};

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

/// tokio PR #6618: the flag was looked at, and no waker left. nexus PR #141: the children's flags were set, and their waiters not woken.
#[test]
fn a_waiter_at_a_grandchild_is_woken() {
    let tree: Tree<3> = Tree::new();
    let root = tree.root().expect("a free node");
    let child = root.child().expect("a free node");
    let grandchild = child.child().expect("a free node");
    let (woken, waker) = waker();
    let mut future = grandchild.token().canceled();
    assert!(poll(&mut future, &waker).is_pending());
    assert!(root.cancel_with(Reason::new(33)));
    assert_eq!((woken.0.load(Relaxed), poll(&mut future, &waker)), (1, Poll::Ready(Ok(Reason::new(33)))));
}

/// tokio#7728 and proposal-cancellation#6: a callback found a sibling not yet canceled.
#[test]
fn the_whole_tree_is_canceled_before_the_first_callback_in_whatever_order_it_was_made() {
    struct All {
        nodes: Mutex<Vec<Token<'static>>>,
        seen: Mutex<Vec<bool>>,
    }
    fn see(all: &'static All) {
        all.seen.lock().unwrap().push(all.nodes.lock().unwrap().iter().all(|token| token.is_canceled()));
    }
    // Numbers below their parents' come from nodes that were freed.
    for freed in 0..6 {
        let tree: &'static Tree<9> = leak(Tree::new());
        let all = leak(All { nodes: Mutex::default(), seen: Mutex::default() });
        let early: Vec<_> = (0..freed).map(|_| tree.root().expect("a free node")).collect();
        let root = leak(tree.root().expect("a free node"));
        drop(early);
        let mut nodes = vec![root];
        while let Ok(node) = nodes[nodes.len() / 2].child() {
            nodes.push(leak(node));
        }
        assert_eq!(nodes.len(), 9);
        for node in &nodes {
            node.token().on_cancel(see, all).expect("a free slot").detach();
        }
        all.nodes.lock().unwrap().extend(nodes.iter().map(|node| node.token()));
        assert!(root.cancel());
        assert_eq!(*all.seen.lock().unwrap(), vec![true; 9], "{freed} freed");
    }
}

/// tokio#4639: a grandchild leaked when its parent was canceled; here, every shape of three or four nodes, canceled at every one, and
/// dropped in every order.
#[test]
fn all_nodes_are_free_again_after_every_order_of_cancels_and_drops() {
    fn orders(of: usize) -> Vec<Vec<usize>> {
        if of == 0 {
            return vec![vec![]];
        }
        let shorter = orders(of - 1);
        shorter.iter().flat_map(|order| (0..of).map(move |at| [&order[..at], &[of - 1], &order[at..]].concat())).collect()
    }
    // The parent of each node but the first.
    let shapes: [&[usize]; 6] = [&[0, 1], &[0, 0], &[0, 1, 2], &[0, 1, 1], &[0, 0, 1], &[0, 0, 0]];
    for shape in shapes {
        let len = shape.len() + 1;
        for order in orders(len) {
            // Before which drop which node is canceled.
            for (when, which) in (0..=len).flat_map(|when| (0..len).map(move |which| (when, which))) {
                let tree: Tree<4> = Tree::new();
                let woken = Arc::new(Woken::default());
                let mut nodes = vec![Some(tree.root().expect("a free node"))];
                for parent in shape {
                    let child = nodes[*parent].as_ref().expect("not dropped").child().expect("a free node");
                    let waker: Waker = woken.clone().into();
                    let mut future = child.token().canceled();
                    assert!(poll(&mut future, &waker).is_pending());
                    // The worst of users.
                    mem::forget(future);
                    nodes.push(Some(child));
                }
                for (at, number) in order.iter().enumerate() {
                    if at == when
                        && let Some(node) = &nodes[which]
                    {
                        node.cancel();
                    }
                    nodes[*number] = None;
                }
                assert_eq!(Arc::strong_count(&woken), 1, "a waker is left: {shape:?} {order:?}");
                let all: Vec<_> = (0..4).map(|_| tree.root()).collect();
                assert!(all.iter().all(Result::is_ok), "a node is left: {shape:?} {order:?}");
            }
        }
    }
}

/// Kotlin#2504, libstdc++: a stack overflow in a deep hierarchy. As deep as a tree can be, on 64 KiB.
#[test]
fn the_deepest_hierarchy_is_canceled_and_dropped_on_a_small_stack() {
    const DEPTH: usize = 32_767;
    static TREE: Tree<DEPTH> = Tree::new();
    let run = || {
        for from_the_root in [true, false] {
            let (calls, mut nodes) = (counter(), vec![TREE.root().expect("a free node")]);
            while let Some(Ok(child)) = nodes.last().map(Node::child) {
                child.token().on_cancel(count, calls).expect("a free slot").detach();
                nodes.push(child);
            }
            assert_eq!(nodes.len(), DEPTH);
            assert!(nodes[0].cancel());
            assert_eq!(calls.load(Relaxed) as usize, DEPTH - 1);
            assert!(nodes[DEPTH - 1].token().is_canceled());
            // Middle nodes stay until those below are gone: the last drop frees them all.
            if from_the_root {
                nodes.into_iter().for_each(drop);
            } else {
                while nodes.pop().is_some() {}
            }
        }
        assert!(TREE.root().is_ok());
    };
    thread::Builder::new().stack_size(64 * 1024).spawn(run).expect("a thread").join().expect("no overflow");
}

/// tokio#7026, dotnet#78180, cockroach#149658: children that are gone pile up at a parent that lives long.
#[test]
fn a_parent_that_lives_long_has_room_for_ever_more_children() {
    static TREE: Tree<3> = Tree::new();
    let root = TREE.root().expect("a free node");
    for round in 0..100_000 {
        let child = root.child().expect("a free node");
        let grandchild = child.child().expect("a free node");
        assert!(root.child().is_err());
        if round % 2 == 0 { drop((child, grandchild)) } else { drop((grandchild, child)) }
    }
    assert!(root.cancel());
}

/// Of a middle node: its end is no end of what is below.
#[test]
fn a_cancel_passes_through_a_dismissed_node_which_stays_dismissed() {
    let tree: Tree<5> = Tree::new();
    let root = tree.root().expect("a free node");
    let middle = root.child().expect("a free node");
    let leaf = middle.child().expect("a free node");
    assert!(middle.dismiss() && !middle.cancel());
    assert_eq!(leaf.status(), Status::Active);
    assert!(root.cancel_with(Reason::new(40)));
    assert_eq!([middle.status(), leaf.status()], [Status::Dismissed, Status::Canceled(Reason::new(40))]);
    // Born below it, after that.
    assert_eq!(middle.child().expect("a free node").status(), Status::Canceled(Reason::new(40)));
}

/// A child's cancel never goes up, nor aside.
#[test]
fn a_cancel_stays_below_its_node() {
    let tree: Tree<4> = Tree::new();
    let root = tree.root().expect("a free node");
    let (one, two) = (root.child().expect("a free node"), root.child().expect("a free node"));
    assert!(one.cancel());
    assert_eq!([root.status(), two.status()], [Status::Active; 2]);
}

/// stdexec#1889: a source destroyed by its own callback was touched afterwards. Here a callback drops nodes of the tree that it is in.
#[test]
fn a_callback_may_drop_nodes_of_its_own_tree_and_make_new_ones() {
    struct Garden {
        tree: Tree<4>,
        nodes: Mutex<Vec<Node<'static, 4>>>,
        born: Mutex<Vec<Status>>,
    }
    fn uproot(garden: &'static Garden) {
        let nodes = mem::take(&mut *garden.nodes.lock().unwrap());
        drop(nodes);
        let new = garden.tree.root().expect("a free node");
        garden.born.lock().unwrap().push(new.status());
    }
    let garden: &'static Garden = leak(Garden { tree: Tree::new(), nodes: Mutex::default(), born: Mutex::default() });
    let root = leak(garden.tree.root().expect("a free node"));
    for _ in 0..2 {
        let child = root.child().expect("a free node");
        child.token().on_cancel(uproot, garden).expect("a free slot").detach();
        garden.nodes.lock().unwrap().push(child);
    }
    assert!(root.cancel());
    assert_eq!(*garden.born.lock().unwrap(), [Status::Active; 2]);
    let rest: Vec<_> = (0..3).map(|_| garden.tree.root()).collect();
    assert!(rest.iter().all(Result::is_ok), "a node is lost");
}

/// tokio-util: a waker panics, and others sleep for ever. Here it panics while its node is dropped: when it is woken.
#[test]
fn a_waker_that_panics_while_its_node_is_dropped_strands_no_node() {
    struct Fails;
    impl Wake for Fails {
        fn wake(self: Arc<Self>) {
            panic!("as planned");
        }
    }
    // The leaf is dropped last, and frees all, or first.
    for last in [true, false] {
        let tree: Tree<3, 2> = Tree::new();
        let root = tree.root().expect("a free node");
        let middle = root.child().expect("a free node");
        let leaf = middle.child().expect("a free node");
        let (woken, waker) = waker();
        for waker in [&Arc::new(Fails).into(), &waker] {
            let mut future = leaf.token().canceled();
            assert!(poll(&mut future, waker).is_pending());
            mem::forget(future);
        }
        let others = (root, middle);
        let drop_leaf = || assert!(catch_unwind(AssertUnwindSafe(|| drop(leaf))).is_err());
        if last {
            drop(others);
            drop_leaf();
        } else {
            drop_leaf();
            drop(others);
        }
        assert_eq!(woken.0.load(Relaxed), 1, "the other waiter is woken");
        let all = [(); 3].map(|()| tree.root());
        assert!(all.iter().all(Result::is_ok), "a node is lost");
    }
}

/// The same when it is dropped: it came into its slot behind the cancel, and was forgotten there.
#[test]
fn a_forgotten_waker_that_panics_when_it_is_dropped_strands_no_node() {
    thread_local! {
        static ACTS: RefCell<Vec<Box<dyn FnOnce()>>> = const { RefCell::new(Vec::new()) };
        static DROPS: Cell<u32> = const { Cell::new(0) };
    }
    const TABLE: RawWakerVTable = RawWakerVTable::new(
        |_| {
            // A waker's clone is anybody's code.
            let act = ACTS.with_borrow_mut(Vec::pop);
            act.into_iter().for_each(|act| act());
            RawWaker::new(std::ptr::null(), &TABLE)
        },
        |_| unreachable!("nobody wakes it"),
        |_| unreachable!("nobody wakes it"),
        |_| {
            DROPS.set(DROPS.get() + 1);
            assert!(DROPS.get() != 1, "as planned");
        },
    );
    /// Polls with a waker that stays here, and forgets the future.
    fn poll_and_forget(mut future: Canceled<'_>) {
        // SAFETY: the functions keep no data; they may be called in any thread, and act in the one that calls them.
        let waker = mem::ManuallyDrop::new(unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) });
        assert!(poll(&mut future, &waker).is_ready(), "canceled while the waker was cloned");
        mem::forget(future);
    }
    let tree: &'static Tree<3, 2> = leak(Tree::new());
    let root = tree.root().expect("a free node");
    let middle = root.child().expect("a free node");
    let leaf = middle.child().expect("a free node");
    let node = &leaf as *const Node<'static, 3, 2>;
    // SAFETY: the leaf is dropped after all of this.
    let node: &'static Node<'static, 3, 2> = unsafe { &*node };
    // While the first one's waker is cloned, a second one comes; while that one's is, the cancel.
    ACTS.set(vec![Box::new(|| assert!(node.cancel())), Box::new(|| poll_and_forget(node.token().canceled()))]);
    poll_and_forget(node.token().canceled());
    drop((root, middle));
    assert!(catch_unwind(AssertUnwindSafe(|| drop(leaf))).is_err());
    assert_eq!(DROPS.get(), 2, "each is dropped");
    let all = [(); 3].map(|()| tree.root());
    assert!(all.iter().all(Result::is_ok), "a node is lost");
}

/// A node that nobody waits at and that has nothing below is passed by alone: those behind it are told.
#[test]
fn a_child_that_nobody_waits_at_hides_no_other() {
    let (tree, calls) = (leak(Tree::<5>::new()), counter());
    let root = tree.root().expect("a free node");
    let (bare, last) = (root.child().expect("a free node"), root.child().expect("a free node"));
    last.token().on_cancel(count, calls).expect("a free slot").detach();
    assert!(root.cancel());
    assert_eq!((calls.load(Relaxed), bare.status()), (1, Status::Canceled(Reason::REQUESTED)));
    assert!(!bare.token().is_notifying() && !last.token().is_notifying());
    drop((root, bare, last));
    assert!([(); 5].map(|()| tree.root()).iter().all(Result::is_ok));
}

/// Wakes by what it was given.
struct Acts(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for Acts {
    fn wake(self: Arc<Self>) {
        let act = self.0.lock().expect("nobody panics").take();
        act.into_iter().for_each(|act| act());
    }
}

/// A cancel that comes through a node in the middle of its dismissal calls none of its callbacks.
#[test]
fn a_cancel_in_the_middle_of_a_dismissal_calls_nobody() {
    let (tree, calls) = (leak(Tree::<3, 2>::new()), counter());
    let root = leak(tree.root().expect("a free node"));
    let middle = root.child().expect("a free node");
    let cancels: Waker = Arc::new(Acts(Mutex::new(Some(Box::new(|| assert!(root.cancel())))))).into();
    let mut future = middle.token().canceled();
    assert!(Pin::new(&mut future).poll(&mut Context::from_waker(&cancels)).is_pending());
    middle.token().on_cancel(count, calls).expect("a free slot").detach();
    assert!(middle.dismiss());
    assert_eq!((middle.status(), calls.load(Relaxed)), (Status::Dismissed, 0));
}
