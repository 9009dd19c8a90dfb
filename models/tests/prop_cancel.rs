//! Properties of sources and trees for any calls: against the specification, and against a tree with pointers and recursion.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

use std::{
    cell::RefCell,
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::cancel::{Deregistered, Node, Reason, Refusal, Registration, Source, Status, Tree, WaitError};
use jeton_models::spec::cancel::Registry;
use proptest::{collection::vec, prelude::*};

const SLOTS: usize = 3;

#[derive(Clone, Copy, Debug)]
enum Act {
    Register,
    Deregister(usize),
    Detach(usize),
    Forget(usize),
    Wait,
    Poll(usize),
    GiveUp(usize),
    Cancel(u8),
    Dismiss,
    Deadline(u32, u32),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let any = any::<usize>;
    let act = prop_oneof![
        6 => Just(Act::Register),
        4 => any().prop_map(Act::Deregister),
        2 => any().prop_map(Act::Detach),
        1 => any().prop_map(Act::Forget),
        4 => Just(Act::Wait),
        4 => any().prop_map(Act::Poll),
        3 => any().prop_map(Act::GiveUp),
        1 => (0u8..).prop_map(Act::Cancel),
        1 => Just(Act::Dismiss),
        1 => (0u32.., 0u32..).prop_map(|(at, now)| Act::Deadline(at, now)),
    ];
    vec(act, 0..60)
}

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

proptest! {
    #[test]
    fn a_source_does_what_its_specification_says(acts in acts()) {
        let source = Source::<SLOTS>::new();
        let token = source.token();
        let mut spec = Registry::new(SLOTS);
        let mut calls: Vec<&'static AtomicU32> = Vec::new();
        let mut own: Vec<(usize, Registration<'_>)> = Vec::new();
        let mut waits = Vec::new();
        // A waiter has a slot as a callback has; its number says so in the specification.
        let waiter = |number: usize| 1_000_000 + number as u32;
        let mut waiters = 0;
        for act in acts {
            match act {
                Act::Register => {
                    calls.push(Box::leak(Box::new(AtomicU32::new(0))));
                    let number = calls.len() - 1;
                    let expected = spec.register(number as u32);
                    match token.on_cancel(count, calls[number]) {
                        Ok(registration) => own.push((number, registration)),
                        Err(refused) => {
                            prop_assert_eq!(Err(refused.refusal), expected);
                            prop_assert!(std::ptr::eq(refused.data, calls[number]), "what was given comes back");
                        }
                    }
                    prop_assert_eq!(own.last().is_some_and(|last| last.0 == number), expected.is_ok());
                }
                Act::Deregister(choice) | Act::Detach(choice) | Act::Forget(choice) if !own.is_empty() => {
                    let (number, registration) = own.swap_remove(choice % own.len());
                    match act {
                        Act::Deregister(_) => {
                            let removed = spec.status() == Status::Active && spec.remove(number as u32);
                            let expected = if removed { Deregistered::Removed } else { Deregistered::Ended };
                            prop_assert_eq!(registration.deregister(), expected);
                        }
                        Act::Detach(choice) => {
                            let id = registration.detach();
                            if choice % 2 == 0 {
                                let removed = spec.status() == Status::Active && spec.remove(number as u32);
                                let expected = if removed { Deregistered::Removed } else { Deregistered::Ended };
                                prop_assert_eq!(token.deregister(id), expected);
                                prop_assert_eq!(token.deregister(id), Deregistered::Ended);
                            }
                        }
                        _ => mem::forget(registration),
                    }
                }
                Act::Wait => {
                    let woken = Arc::new(Woken::default());
                    let waker = Waker::from(woken.clone());
                    let mut future = token.canceled();
                    let answer = Pin::new(&mut future).poll(&mut Context::from_waker(&waker));
                    let expected = match spec.register(waiter(waiters)) {
                        Ok(()) => Poll::Pending,
                        Err(Refusal::Full) => Poll::Ready(Err(WaitError::Full)),
                        Err(Refusal::Canceled(reason)) => Poll::Ready(Ok(reason)),
                        Err(Refusal::Dismissed) => Poll::Ready(Err(WaitError::Dismissed)),
                    };
                    prop_assert_eq!(answer, expected);
                    if answer.is_pending() {
                        waits.push((waiters, future, woken, waker));
                    }
                    waiters += 1;
                }
                Act::Poll(choice) if !waits.is_empty() => {
                    let at = choice % waits.len();
                    let (_, future, woken, waker) = &mut waits[at];
                    let expected = match spec.status() {
                        Status::Active => Poll::Pending,
                        Status::Canceled(reason) => Poll::Ready(Ok(reason)),
                        Status::Dismissed => Poll::Ready(Err(WaitError::Dismissed)),
                    };
                    if choice % 3 == 0 {
                        // As another task: the old waker is dropped, the new one is the one that counts.
                        *woken = Arc::new(Woken::default());
                        if spec.status() != Status::Active {
                            woken.0.store(1, Relaxed);
                        }
                        *waker = Waker::from(woken.clone());
                    }
                    prop_assert_eq!(Pin::new(future).poll(&mut Context::from_waker(waker)), expected);
                }
                Act::GiveUp(choice) if !waits.is_empty() => {
                    let at = choice % waits.len();
                    let (number, future, woken, waker) = waits.swap_remove(at);
                    drop((future, waker));
                    prop_assert_eq!(Arc::strong_count(&woken), 1, "a waker is left");
                    spec.remove(waiter(number));
                }
                Act::Cancel(number) => prop_assert_eq!(source.cancel_with(Reason::new(number)), spec.cancel(Reason::new(number))),
                Act::Dismiss => prop_assert_eq!(source.dismiss(), spec.dismiss()),
                Act::Deadline(at, now) => {
                    prop_assert_eq!(source.set_deadline(at), spec.status() == Status::Active);
                    let over = now.wrapping_sub(at) < 1 << 31;
                    prop_assert_eq!(source.poll_deadline(now), over && spec.cancel(Reason::DEADLINE));
                }
                _ => {}
            }
            prop_assert_eq!(source.status(), spec.status());
            prop_assert_eq!(token.is_canceled(), matches!(spec.status(), Status::Canceled(_)));
            prop_assert_eq!(token.is_cancelable(), spec.status() == Status::Active);
            prop_assert_eq!(token.can_ever_fire(), spec.status() != Status::Dismissed);
            prop_assert!(!token.is_notifying());
            for (number, calls) in calls.iter().enumerate() {
                use jeton_models::{linearizability::Spec, spec::cancel::{Answer, Call}};
                let called = calls.load(Relaxed) == 1;
                prop_assert!(calls.load(Relaxed) <= 1);
                prop_assert!(spec.clone().accepts(&Call::Called(number as u32), &Answer::Called(called)), "callback {}", number);
            }
            for (_, _, woken, _) in &waits {
                prop_assert_eq!(woken.0.load(Relaxed), u32::from(spec.status() != Status::Active));
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Grow {
    Root,
    Child(usize),
    Cancel(usize, u8),
    Dismiss(usize),
    Drop(usize),
}

const NODES: usize = 12;

/// A node of the plain tree.
#[derive(Clone, Debug)]
struct Plain {
    parent: Option<usize>,
    status: Status,
    /// The reason of the cancel that has come to it.
    marked: Option<Reason>,
    held: bool,
    calls: u32,
    registered: bool,
}

/// A place is taken as long as its node or one below is held.
fn is_taken(nodes: &[Plain], at: usize) -> bool {
    nodes[at].held || (0..nodes.len()).any(|child| nodes[child].parent == Some(at) && is_taken(nodes, child))
}

fn mark(nodes: &mut Vec<Plain>, at: usize, reason: Reason) {
    if nodes[at].marked.is_some() {
        return;
    }
    nodes[at].marked = Some(reason);
    if nodes[at].status == Status::Active {
        nodes[at].status = Status::Canceled(reason);
        nodes[at].calls += u32::from(mem::take(&mut nodes[at].registered));
    }
    for child in 0..nodes.len() {
        if nodes[child].parent == Some(at) {
            mark(nodes, child, reason);
        }
    }
}

proptest! {
    #[test]
    fn a_tree_does_what_a_tree_with_pointers_and_recursion_does(acts in vec(prop_oneof![
        1 => Just(Grow::Root),
        8 => any::<usize>().prop_map(Grow::Child),
        2 => (any::<usize>(), any::<u8>()).prop_map(|(at, reason)| Grow::Cancel(at, reason)),
        1 => any::<usize>().prop_map(Grow::Dismiss),
        4 => any::<usize>().prop_map(Grow::Drop),
    ], 0..80)) {
        let tree: Tree<NODES> = Tree::new();
        let mut plain: Vec<Plain> = Vec::new();
        let mut held: Vec<(usize, Node<'_, NODES>, &'static AtomicU32)> = Vec::new();
        for act in acts {
            let taken = (0..plain.len()).filter(|at| is_taken(&plain, *at)).count();
            match act {
                Grow::Root | Grow::Child(_) => {
                    let parent = match act {
                        Grow::Child(choice) if !held.is_empty() => Some(choice % held.len()),
                        _ => None,
                    };
                    let (born, above) = match parent {
                        Some(at) => (held[at].1.child(), Some(held[at].0)),
                        None => (tree.root(), None),
                    };
                    prop_assert_eq!(born.is_ok(), taken < NODES, "{} of {}", taken, NODES);
                    if let Ok(node) = born {
                        let marked = above.and_then(|above| plain[above].marked);
                        let status = marked.map_or(Status::Active, Status::Canceled);
                        let calls: &'static AtomicU32 = Box::leak(Box::new(AtomicU32::new(0)));
                        let registered = node.token().on_cancel(count, calls).map(Registration::detach).is_ok();
                        prop_assert_eq!(registered, status == Status::Active);
                        prop_assert!(held.iter().all(|other| other.1.number() != node.number()), "a number twice");
                        plain.push(Plain { parent: above, status, marked, held: true, calls: 0, registered });
                        held.push((plain.len() - 1, node, calls));
                    }
                }
                Grow::Cancel(choice, number) if !held.is_empty() => {
                    let (at, node, _) = &held[choice % held.len()];
                    let wins = plain[*at].status == Status::Active;
                    prop_assert_eq!(node.cancel_with(Reason::new(number)), wins);
                    if wins {
                        mark(&mut plain, *at, Reason::new(number));
                    }
                }
                Grow::Dismiss(choice) if !held.is_empty() => {
                    let (at, node, _) = &held[choice % held.len()];
                    let wins = plain[*at].status == Status::Active;
                    prop_assert_eq!(node.dismiss(), wins);
                    if wins {
                        (plain[*at].status, plain[*at].registered) = (Status::Dismissed, false);
                    }
                }
                Grow::Drop(choice) if !held.is_empty() => {
                    let (at, node, _) = held.swap_remove(choice % held.len());
                    drop(node);
                    plain[at].held = false;
                    if plain[at].status == Status::Active {
                        (plain[at].status, plain[at].registered) = (Status::Dismissed, false);
                    }
                }
                _ => {}
            }
            for (at, node, calls) in &held {
                prop_assert_eq!(node.status(), plain[*at].status);
                prop_assert_eq!(calls.load(Relaxed), plain[*at].calls);
            }
        }
        drop(held);
        // Every place is free again.
        let all: RefCell<Vec<_>> = RefCell::default();
        for _ in 0..NODES {
            all.borrow_mut().push(tree.root().expect("a free node"));
        }
        prop_assert!(tree.root().is_err());
    }
}
