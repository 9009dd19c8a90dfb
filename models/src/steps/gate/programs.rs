//! The programs that every step has to stand.
use super::OneWaiter;
use crate::explore::{Arc, note, thread};

/// Goes through these states in a thread of its own; whether one of them has woken the waiter.
fn goes<G: OneWaiter>(gate: &Arc<G>, road: &'static [u32]) -> impl FnOnce() -> bool + use<G> {
    let gate = gate.clone();
    // Every state is gone to, also after one that has woken somebody.
    let other = thread::spawn(move || road.iter().fold(false, |woken, state| gate.go(*state) | woken));
    move || other.join().expect("a thread of the model panicked")
}

fn gate<G: OneWaiter>() -> Arc<G> {
    let gate = Arc::new(G::new());
    gate.name_words();
    gate
}

/// A waiter beside a transition: it sees the state, or is woken.
pub fn there_or_woken<G: OneWaiter>() {
    let gate = gate::<G>();
    let other = goes(&gate, &[1]);
    let there = gate.wait_for(1);
    let woken = other();
    note(&format!("there {there}, woken {woken}"));
    assert!(there || woken, "asleep for ever");
}

/// The same with a transition before it that the waiter does not wait for.
pub fn woken_by_the_second<G: OneWaiter>() {
    let gate = gate::<G>();
    let other = goes(&gate, &[1, 2]);
    let there = gate.wait_for(2);
    let woken = other();
    note(&format!("there {there}, woken {woken}"));
    assert!(there || woken, "asleep for ever");
}

/// A waiter for any change beside a change and back.
pub fn no_change_is_missed<G: OneWaiter>() {
    let gate = gate::<G>();
    let before = gate.moment();
    let other = goes(&gate, &[1, 0]);
    let changed = gate.wait_for_change(before);
    let woken = other();
    note(&format!("changed {changed}, woken {woken}"));
    assert!(changed || woken, "asleep for ever, and two changes are missed");
}
