//! The programs that every step has to stand.
use super::{Family, OneSlot};
use crate::explore::{Arc, note, thread};

fn beside<S: Send + Sync + 'static, R: Send + 'static>(
    subject: &Arc<S>,
    work: impl FnOnce(&S) -> R + Send + 'static,
) -> impl FnOnce() -> R {
    let subject = subject.clone();
    let other = thread::spawn(move || work(&subject));
    move || other.join().expect("a thread of the model panicked")
}

/// A registration beside a cancel: the callback is called, or refused.
pub fn called_or_refused<S: OneSlot>() {
    let source = Arc::new(S::new());
    source.name_words();
    let other = beside(&source, |source| source.register(1));
    let called = source.cancel();
    let registered = other();
    note(&format!("registered {registered:?}, called {called:?}"));
    assert_eq!(called, registered.map(|_| 1), "called, or refused");
}

/// The first callback is deregistered beside a cancel, and another one registered, in the same slot.
pub fn an_old_handle<S: OneSlot>() {
    let source = Arc::new(S::new());
    source.name_words();
    let first = source.register(1).expect("the slot is free");
    let canceled = beside(&source, |source| source.cancel());
    let second = beside(&source, |source| source.register(2));
    let removed = source.deregister(first);
    let (called, second) = (canceled(), second());
    note(&format!("called {called:?}, removed {removed}, second {second:?}"));
    assert!(!(removed && called == Some(1)), "called and removed");
    assert!(second.is_none() || called == Some(2), "registered, and neither called nor refused");
}

/// A birth beside a cancel: all are canceled, and each callback finds those so that were there before.
pub fn all_are_canceled<F: Family>() {
    let family = Arc::new(F::new());
    family.name_words();
    let other = beside(&family, |family| family.birth());
    let seen = family.cancel();
    other();
    assert!(seen.iter().all(|all| *all), "a callback has found another child active");
    assert!((0..3).all(|child| family.is_canceled(child)), "a child of a canceled root is active");
}
