use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
};

use super::*;

type Log = Arc<Mutex<Vec<(u32, Outcome)>>>;

fn log(token: &Token, log: &Log, name: u32) {
    let log = log.clone();
    token.on_end(move |outcome| log.lock().unwrap().push((name, outcome)));
}

#[test]
fn callbacks_run_once_the_newest_first_and_see_the_cancel() {
    let (source, calls) = (Source::new(), Log::default());
    let token = source.token();
    for name in 0..3 {
        log(&token, &calls, name);
    }
    let seen = token.clone();
    token.on_end(move |_| assert!(seen.is_canceled()));
    assert!(token.is_cancelable() && !token.is_canceled());
    source.cancel();
    source.cancel();
    assert!(token.is_canceled() && !token.is_cancelable(), "no longer cancelable once it is canceled");
    let by_name = |names: [u32; 3]| names.map(|name| (name, Outcome::Canceled)).to_vec();
    assert_eq!(*calls.lock().unwrap(), by_name([2, 1, 0]));
}

#[test]
fn a_callback_that_comes_late_runs_at_once_on_the_thread_that_brings_it() {
    let (source, calls) = (Source::new(), Log::default());
    source.cancel();
    log(&source.token(), &calls, 7);
    assert_eq!(*calls.lock().unwrap(), [(7, Outcome::Canceled)]);
    log(&Token::uncancelable_fresh(), &calls, 8);
    log(&Token::uncancelable_static(), &calls, 9);
    assert_eq!(calls.lock().unwrap()[1..], [(8, Outcome::Dismissed), (9, Outcome::Dismissed)]);
}

#[test]
fn the_last_source_dismisses_and_tokens_do_not_keep_it() {
    let (source, calls) = (Source::new(), Log::default());
    let (token, copy) = (source.token(), source.clone());
    log(&token, &calls, 0);
    drop(source);
    assert!(token.is_cancelable(), "a copy is left");
    drop(copy);
    assert!(!token.is_cancelable() && !token.is_canceled());
    assert_eq!(*calls.lock().unwrap(), [(0, Outcome::Dismissed)]);
}

#[test]
fn a_cancel_is_remembered_after_the_source() {
    let source = Source::new();
    let token = source.token();
    source.cancel();
    drop(source);
    assert!(token.is_canceled());
}

#[test]
fn a_static_state_is_one_and_fresh_ones_are_many() {
    let same = |a: &Token, b: &Token| Arc::ptr_eq(&a.0, &b.0);
    assert!(same(&Token::uncancelable_static(), &Token::uncancelable_static()));
    assert!(!same(&Token::uncancelable_fresh(), &Token::uncancelable_fresh()));
    let tokens = [Token::uncancelable_fresh(), Token::uncancelable_static()];
    assert!(tokens.iter().all(|token| !token.is_cancelable() && !token.is_canceled()));
    // What makes the static one a meeting place of all threads: each token writes its count.
    let (token, another) = (Token::uncancelable_static(), Token::uncancelable_static());
    assert!(Arc::strong_count(&token.0) >= 3);
    drop(another);
}

#[test]
fn a_cancel_goes_down_and_not_up() {
    let root = Source::new();
    let child = Source::child_of(&root.token());
    let (leaf, sibling) = (Source::child_of(&child.token()), Source::child_of(&root.token()));
    child.cancel();
    let canceled = [&root, &child, &leaf, &sibling].map(|source| source.token().is_canceled());
    assert_eq!(canceled, [false, true, true, false]);
    root.cancel();
    assert!(sibling.token().is_canceled());
}

#[test]
fn a_child_of_a_canceled_parent_is_canceled_and_of_a_dismissed_one_is_not() {
    let root = Source::new();
    let token = root.token();
    root.cancel();
    assert!(Source::child_of(&token).token().is_canceled());
    assert!(Source::child_of(&Token::uncancelable_static()).token().is_cancelable());
}

#[test]
fn a_child_without_sources_stays_dismissed_and_stays_in_the_parent() {
    let root = Source::new();
    let parent = root.token();
    let token = {
        let child = Source::child_of(&parent);
        child.token()
    };
    assert!(!token.is_cancelable());
    assert_eq!(parent.0.waiting(), 1, "this is what grows with each child");
    assert_eq!(Arc::strong_count(&token.0), 2, "and keeps its state");
    root.cancel();
    assert!(!token.is_canceled());
    assert_eq!((parent.0.waiting(), Arc::strong_count(&token.0)), (0, 1));
}

#[test]
fn a_dropped_middle_cuts_off_what_is_below() {
    let root = Source::new();
    let middle = Source::child_of(&root.token());
    let leaf = Source::child_of(&middle.token());
    drop(middle);
    root.cancel();
    assert!(leaf.token().is_cancelable(), "the middle was dismissed before the cancel could come through it");
}

#[test]
fn who_cancels_second_does_not_wait_for_the_callbacks() {
    let source = Source::new();
    let (entered, wait_entered) = mpsc::channel();
    let (leave, wait_leave) = mpsc::channel::<()>();
    source.token().on_end(move |_| {
        entered.send(()).unwrap();
        wait_leave.recv().unwrap();
    });
    thread::scope(|scope| {
        scope.spawn(|| source.cancel());
        wait_entered.recv().unwrap();
        source.cancel();
        leave.send(()).unwrap();
    });
}

#[test]
fn a_callback_beside_a_cancel_runs_exactly_once() {
    for _ in 0..if cfg!(miri) { 10 } else { 500 } {
        let (source, calls) = (Source::new(), Log::default());
        thread::scope(|scope| {
            for name in 0..2 {
                let (token, calls) = (source.token(), &calls);
                scope.spawn(move || (0..4).for_each(|_| log(&token, calls, name)));
            }
            source.cancel();
        });
        assert_eq!(calls.lock().unwrap().len(), 8);
    }
}

#[test]
fn many_callbacks_are_dropped_without_recursion() {
    let source = Source::new();
    for _ in 0..100_000 {
        source.token().on_end(|_| {});
    }
    drop(source);
}
