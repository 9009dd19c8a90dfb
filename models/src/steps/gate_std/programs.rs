//! The programs that every step has to stand.
use super::{Gate, Rules};
use crate::explore::{Arc, note, thread};

/// Goes through these states in a thread of its own; how often it has looked for somebody to wake.
fn goes<R: Rules>(gate: &Arc<Gate<R>>, road: &'static [u32]) -> impl FnOnce() -> u32 + use<R> {
    let gate = gate.clone();
    let other = thread::spawn(move || road.iter().map(|state| gate.go(*state)).sum());
    move || other.join().expect("a thread of the model panicked")
}

fn gate<R: Rules>() -> Arc<Gate<R>> {
    let gate = Arc::new(Gate::new());
    crate::explore::name(&gate.word, "word");
    crate::explore::name(&gate.slot, "slot");
    gate
}

/// A thread beside a transition to another state and one to its own.
pub fn a_thread_is_woken<R: Rules>() {
    let gate = gate::<R>();
    let other = goes(&gate, &[1, 2]);
    gate.thread_waits(1 << 2);
    other();
    assert!(!gate.has_sleepers(), "asleep for ever");
}

/// A thread beside a transition to its state. Once that has come again, nobody is left to look for.
pub fn nobody_is_looked_for_in_vain<R: Rules>() {
    let gate = gate::<R>();
    let other = goes(&gate, &[1]);
    gate.thread_waits(1 << 1);
    other();
    [0, 1, 0].into_iter().for_each(|state| _ = gate.go(state));
    let looks = gate.go(1);
    note(&format!("{looks} looks"));
    assert_eq!(looks, 0, "looks for one who has gone");
}

/// A task beside a transition.
pub fn a_task_is_woken<R: Rules>() {
    let gate = gate::<R>();
    let other = goes(&gate, &[1]);
    let is_waiting = gate.task_waits(1 << 1);
    other();
    assert!(!is_waiting || !gate.has_waker(), "asleep for ever");
}

/// A task that leaves beside a transition, and the slot's next one.
pub fn a_slot_has_one_owner<R: Rules>() {
    let gate = gate::<R>();
    assert!(gate.task_waits(1 << 1));
    let other = goes(&gate, &[1]);
    gate.task_leaves();
    // The slot may be left to the transition still.
    let is_waiting = gate.task_waits(1 << 2);
    other();
    assert_eq!(gate.has_waker(), is_waiting, "the next one's waker has gone, or is nobody's");
}
