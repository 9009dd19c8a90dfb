//! What the steps are looked at with.

use super::{Segments, Waking};
use crate::explore::{Arc, note, thread};

/// A visit beside a trim.
pub fn visit_beside_trim<S: Segments>() {
    let segments = Arc::new(S::new());
    segments.name_words();
    let other = {
        let segments = segments.clone();
        thread::spawn(move || segments.trim())
    };
    segments.visit();
    other.join().expect("a thread of the model panicked");
}

/// One is about to sleep, and another one puts the record there: it is found, or its producer knows that somebody is to be woken.
pub fn sleep_beside_put<W: Waking>() {
    let waking = Arc::new(W::new());
    let other = {
        let waking = waking.clone();
        thread::spawn(move || waking.put())
    };
    let found = waking.finds();
    let wakes = other.join().expect("a thread of the model panicked");
    note(&format!("found {found}, wakes {wakes}"));
    assert!(found || wakes, "it sleeps beside the record, and nobody wakes it");
}
