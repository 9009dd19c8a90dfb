//! Properties of sources on the heap for any calls: against the specification, and against a tree with pointers and recursion.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what callbacks count is outside of what is tested")]

use std::{
    mem,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use jeton::cancel::{CancelSource, CancelToken, Canceled, Deregistered, Dismissed, Reason, Registration, Status};
use jeton_core::cancel::Refusal;
use jeton_models::{
    linearizability::Spec,
    spec::cancel::{Answer, Call, Registry},
};
use proptest::{collection::vec, prelude::*};

type Calls = Arc<AtomicU32>;

/// A closure that lies in its slot, or one that is boxed.
fn register(token: &CancelToken, calls: &Calls, boxed: bool) -> Result<Registration, Reason> {
    let (calls, large) = (calls.clone(), [1_u32; 8]);
    if boxed {
        token.on_cancel(move || _ = calls.fetch_add(large.iter().sum::<u32>() / 8, Relaxed)).map_err(|late| late.reason)
    } else {
        token.on_cancel(move || _ = calls.fetch_add(1, Relaxed)).map_err(|late| late.reason)
    }
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

#[derive(Clone, Copy, Debug)]
enum Act {
    Register(bool),
    Unregister(usize),
    Drop(usize),
    Forget(usize),
    Wait,
    Poll(usize),
    GiveUp(usize),
    Clone,
    Leave(usize),
    Cancel(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let any = any::<usize>;
    let act = prop_oneof![
        6 => (0..2).prop_map(|boxed| Act::Register(boxed == 0)),
        3 => any().prop_map(Act::Unregister),
        2 => any().prop_map(Act::Drop),
        2 => any().prop_map(Act::Forget),
        4 => Just(Act::Wait),
        4 => any().prop_map(Act::Poll),
        3 => any().prop_map(Act::GiveUp),
        1 => Just(Act::Clone),
        1 => any().prop_map(Act::Leave),
        1 => (0u8..).prop_map(Act::Cancel),
    ];
    vec(act, 0..60)
}

/// A future, and the task that waits for it.
struct Waiter {
    number: u32,
    future: Canceled,
    woken: Arc<Woken>,
    waker: Waker,
}

impl Waiter {
    fn poll(&mut self) -> Poll<Result<Reason, Dismissed>> {
        Pin::new(&mut self.future).poll(&mut Context::from_waker(&self.waker))
    }
}

fn expected(status: Status) -> Poll<Result<Reason, Dismissed>> {
    match status {
        Status::Active => Poll::Pending,
        Status::Canceled(reason) => Poll::Ready(Ok(reason)),
        Status::Dismissed => Poll::Ready(Err(Dismissed)),
    }
}

proptest! {
    #[test]
    fn a_heap_source_does_what_its_specification_says(acts in acts()) {
        let first = CancelSource::new();
        let token = first.token();
        let mut sources = vec![first];
        let mut spec = Registry::new(usize::MAX);
        let mut calls: Vec<Calls> = Vec::new();
        let mut own: Vec<(u32, Registration)> = Vec::new();
        let mut waiters: Vec<Waiter> = Vec::new();
        let mut number_of_waiters = 0;
        for act in acts {
            match act {
                Act::Register(boxed) => {
                    calls.push(Calls::default());
                    let number = calls.len() as u32 - 1;
                    let registered = register(&token, &calls[number as usize], boxed);
                    match (spec.register(number), registered) {
                        (Ok(()), Ok(registration)) => own.push((number, registration)),
                        (Err(Refusal::Canceled(reason)), Err(found)) => prop_assert_eq!(reason, found),
                        // It has ended at once.
                        (Err(Refusal::Dismissed), Ok(ended)) => prop_assert_eq!(ended.unregister(), Deregistered::Ended),
                        (expected, found) => prop_assert!(false, "{:?} instead of {:?}", found, expected),
                    }
                }
                Act::Unregister(choice) | Act::Drop(choice) | Act::Forget(choice) if !own.is_empty() => {
                    let (number, registration) = own.swap_remove(choice % own.len());
                    let active = spec.status() == Status::Active;
                    match act {
                        Act::Unregister(_) => {
                            let expected = if active && spec.remove(number) { Deregistered::Removed } else { Deregistered::Ended };
                            prop_assert_eq!(registration.unregister(), expected);
                        }
                        Act::Drop(_) => {
                            drop(registration);
                            _ = active && spec.remove(number);
                        }
                        _ => registration.forget(),
                    }
                }
                Act::Wait => {
                    let woken = Arc::new(Woken::default());
                    let number = 1_000_000 + number_of_waiters;
                    number_of_waiters += 1;
                    let mut waiter = Waiter { number, future: token.canceled(), waker: Waker::from(woken.clone()), woken };
                    // A waiter is registered as a callback is.
                    _ = spec.register(number);
                    prop_assert_eq!(waiter.poll(), expected(spec.status()));
                    if spec.status() == Status::Active {
                        waiters.push(waiter);
                    }
                }
                Act::Poll(choice) if !waiters.is_empty() => {
                    let at = choice % waiters.len();
                    let waiter = &mut waiters[at];
                    if choice % 3 == 0 {
                        // As another task: the old waker is dropped, the new one is the one that counts.
                        let ended = spec.status() != Status::Active;
                        waiter.woken = Arc::new(Woken(AtomicU32::new(u32::from(ended))));
                        waiter.waker = Waker::from(waiter.woken.clone());
                    }
                    prop_assert_eq!(waiter.poll(), expected(spec.status()));
                }
                Act::GiveUp(choice) if !waiters.is_empty() => {
                    let Waiter { number, woken, .. } = waiters.swap_remove(choice % waiters.len());
                    prop_assert_eq!(Arc::strong_count(&woken), 1, "a waker is left");
                    spec.remove(number);
                }
                Act::Clone if !sources.is_empty() => sources.push(sources[0].clone()),
                Act::Leave(choice) if !sources.is_empty() => {
                    drop(sources.swap_remove(choice % sources.len()));
                    if sources.is_empty() {
                        spec.dismiss();
                    }
                }
                Act::Cancel(number) if !sources.is_empty() => {
                    prop_assert_eq!(sources[0].cancel_with(Reason::new(number)), spec.cancel(Reason::new(number)));
                }
                _ => {}
            }
            prop_assert_eq!(token.status(), spec.status());
            prop_assert_eq!(token.is_canceled(), matches!(spec.status(), Status::Canceled(_)));
            prop_assert_eq!(token.is_cancelable(), spec.status() == Status::Active);
            prop_assert_eq!(token.can_ever_fire(), spec.status() != Status::Dismissed);
            for (number, calls) in calls.iter().enumerate() {
                let called = calls.load(Relaxed);
                prop_assert!(called <= 1);
                prop_assert!(spec.clone().accepts(&Call::Called(number as u32), &Answer::Called(called == 1)), "callback {}", number);
            }
            for waiter in &waiters {
                prop_assert_eq!(waiter.woken.0.load(Relaxed), u32::from(spec.status() != Status::Active));
            }
        }
        drop((own, waiters, sources, token));
        prop_assert!(calls.iter().all(|calls| Arc::strong_count(calls) == 1), "a closure is left");
    }
}

#[derive(Clone, Copy, Debug)]
enum Grow {
    Root,
    ChildOfSource(usize),
    ChildOfToken(usize),
    Cancel(usize, u8),
    DropSource(usize),
    DropToken(usize),
}

/// A node of the plain tree.
#[derive(Clone, Debug)]
struct Plain {
    parent: Option<usize>,
    status: Status,
    /// The reason of the cancel that has come to it.
    marked: Option<Reason>,
    calls: u32,
    registered: bool,
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

/// What somebody has of a node.
struct Held {
    source: Option<CancelSource>,
    token: Option<CancelToken>,
    calls: Calls,
}

proptest! {
    #[test]
    fn a_heap_tree_does_what_a_tree_with_pointers_and_recursion_does(acts in vec(prop_oneof![
        1 => Just(Grow::Root),
        5 => any::<usize>().prop_map(Grow::ChildOfSource),
        5 => any::<usize>().prop_map(Grow::ChildOfToken),
        2 => (any::<usize>(), any::<u8>()).prop_map(|(at, reason)| Grow::Cancel(at, reason)),
        3 => any::<usize>().prop_map(Grow::DropSource),
        3 => any::<usize>().prop_map(Grow::DropToken),
    ], 0..80)) {
        let mut plain: Vec<Plain> = Vec::new();
        let mut held: Vec<Held> = Vec::new();
        for act in acts {
            let at = match act {
                Grow::Root => 0,
                Grow::ChildOfSource(at) | Grow::ChildOfToken(at) | Grow::Cancel(at, _) | Grow::DropSource(at) | Grow::DropToken(at) => at,
            };
            let at = if held.is_empty() { 0 } else { at % held.len() };
            let born = match (act, held.get(at)) {
                (Grow::Root, _) => Some((CancelSource::new(), None)),
                (Grow::ChildOfSource(_), Some(Held { source: Some(source), .. })) => Some((source.child(), Some(at))),
                (Grow::ChildOfToken(_), Some(Held { token: Some(token), .. })) => Some((token.child(), Some(at))),
                _ => None,
            };
            if let Some((source, parent)) = born {
                let marked = parent.and_then(|parent| plain[parent].marked);
                let (token, calls) = (source.token(), Calls::default());
                let registered = register(&token, &calls, false).map(Registration::forget);
                prop_assert_eq!(registered.err(), marked);
                let status = marked.map_or(Status::Active, Status::Canceled);
                plain.push(Plain { parent, status, marked, calls: 0, registered: marked.is_none() });
                held.push(Held { source: Some(source), token: Some(token), calls });
            }
            match (act, held.get_mut(at)) {
                (Grow::Cancel(_, number), Some(Held { source: Some(source), .. })) => {
                    let wins = plain[at].status == Status::Active;
                    prop_assert_eq!(source.cancel_with(Reason::new(number)), wins);
                    if wins {
                        mark(&mut plain, at, Reason::new(number));
                    }
                }
                (Grow::DropSource(_), Some(Held { source: source @ Some(_), .. })) => {
                    *source = None;
                    if plain[at].status == Status::Active {
                        (plain[at].status, plain[at].registered) = (Status::Dismissed, false);
                    }
                }
                (Grow::DropToken(_), Some(Held { token, .. })) => *token = None,
                _ => {}
            }
            for (held, plain) in held.iter().zip(&plain) {
                let statuses = [held.source.as_ref().map(CancelSource::status), held.token.as_ref().map(CancelToken::status)];
                prop_assert!(statuses.into_iter().flatten().all(|status| status == plain.status));
                prop_assert_eq!(held.calls.load(Relaxed), plain.calls);
            }
        }
        let calls: Vec<Calls> = held.into_iter().map(|held| held.calls).collect();
        prop_assert!(calls.iter().all(|calls| Arc::strong_count(calls) == 1), "a closure is left");
    }
}
