//! The registration table under every interleaving: who gets a payload, and who gets a slot next.
//!
//! The payload is plain memory: a read or a write of it that the table does not order is what the checkers find.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::util::slots::{Deregistered, Handle, Renewed, Slot, Slots};
use jeton_models::explore::{Arc, Model, explore, thread};

/// One slot.
type Table = Slots<[Slot<u32>; 1]>;

fn table() -> Arc<Table> {
    Arc::new(Table::new())
}

fn slots(table: &Table) -> &Slots<[Slot<u32>]> {
    table
}

fn deregister(slots: &Slots<[Slot<u32>]>, handle: Handle) -> Deregistered<u32> {
    // SAFETY: all here use only handles of their own, from this table, and one after another.
    unsafe { slots.deregister(handle) }
}

fn detach(slots: &Slots<[Slot<u32>]>, handle: Handle) {
    // SAFETY: as above.
    unsafe { slots.detach(handle) }
}

fn remove(slots: &Slots<[Slot<u32>]>, handle: Handle) -> Option<u32> {
    // SAFETY: as above.
    unsafe { slots.remove(handle) }
}

fn renew(slots: &Slots<[Slot<u32>]>, handle: Handle, payload: u32) -> Option<Renewed<u32>> {
    // SAFETY: as above.
    unsafe { slots.renew(handle, || payload) }
}

/// In a thread of its own.
fn beside<R: Send + 'static>(
    table: &Arc<Table>,
    work: impl FnOnce(&Slots<[Slot<u32>]>) -> R + Send + 'static,
) -> impl FnOnce() -> R {
    let table = table.clone();
    let other = thread::spawn(move || work(slots(&table)));
    move || other.join().expect("a thread of the model panicked")
}

/// Takes the payload, if there is one, runs it, and ends the run.
fn run(slots: &Slots<[Slot<u32>]>) -> Option<u32> {
    slots.take(0).map(|taken| taken.payload)
}

/// Looks at the payload as its owner, if it is armed, and finds it right; otherwise arms the slot with 4. Whether it has done that.
fn look_or_arm(slots: &Slots<[Slot<u32>]>, handle: Handle) -> bool {
    // SAFETY: as above.
    let armed = unsafe { slots.holds(handle, |payload| *payload == 1) };
    !armed && matches!(renew(slots, handle, 4), Some(Renewed::Armed(None)))
}

#[test]
fn a_payload_is_taken_as_it_was_armed() {
    explore(Model { threads: 2, loom: 6, rmw: 8, shuttle: 15 }, || {
        let table = table();
        let other = beside(&table, run);
        let handle = slots(&table).register(7).expect("a free slot");
        let taken = other();
        assert!(taken.is_none_or(|payload| payload == 7));
        let left = deregister(slots(&table), handle);
        assert_eq!(left, if taken.is_none() { Deregistered::Removed(7) } else { Deregistered::Ended });
        assert_eq!(slots(&table).used(), 0);
    });
}

#[test]
fn an_ended_run_hands_the_slot_on() {
    explore(Model { threads: 2, loom: 18, rmw: 16, shuttle: 32 }, || {
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        let other = beside(&table, run);
        let mine = deregister(slots(&table), handle);
        if mine != Deregistered::Running {
            slots(&table).register(2).expect("it is free now");
        }
        let others = other();
        match mine {
            Deregistered::Removed(payload) => assert!(payload == 1 && others != Some(1)),
            Deregistered::Running | Deregistered::Ended => assert_eq!(others, Some(1)),
        }
    });
}

#[test]
fn a_mark_hands_the_slot_to_its_runner() {
    explore(Model { threads: 2, loom: 20, rmw: 25, shuttle: 63 }, || {
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        let other = beside(&table, |slots| {
            let taken = run(slots);
            (taken, slots.register(2).ok())
        });
        look_or_arm(slots(&table), handle);
        let mine = deregister(slots(&table), handle);
        let (taken, next) = other();
        assert_eq!(mine == Deregistered::Removed(1), taken.is_none());
        // Whoever was last has freed it.
        assert_eq!(slots(&table).used(), u32::from(next.is_some()));
        assert!(next.is_none_or(|next| remove(slots(&table), next) == Some(2)));
    });
}

#[test]
fn a_renewed_payload_is_written_after_the_run_before() {
    explore(Model { threads: 2, loom: 18, rmw: 18, shuttle: 18 }, || {
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        let other = beside(&table, move |slots| renew(slots, handle, 2));
        let taken = run(slots(&table));
        match other() {
            Some(Renewed::Armed(Some(old))) => assert!(old == 1 && taken.is_none_or(|payload| payload == 2)),
            Some(Renewed::Armed(None) | Renewed::Running(2)) => assert_eq!(taken, Some(1)),
            other => panic!("{other:?}"),
        }
    });
}

#[test]
fn a_renewed_payload_is_taken_as_it_was_armed() {
    explore(Model { threads: 2, loom: 23, rmw: 21, shuttle: 28 }, || {
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        let other = beside(&table, |slots| [run(slots), run(slots)]);
        let renewed = renew(slots(&table), handle, 2);
        let taken = other();
        let armed = matches!(renewed, Some(Renewed::Armed(_)));
        let mut all: Vec<u32> = taken.into_iter().flatten().collect();
        if let Some(Renewed::Armed(old)) = renewed {
            all.splice(0..0, old);
        }
        all.extend(remove(slots(&table), handle));
        assert_eq!(all, if armed { vec![1, 2] } else { vec![1] }, "each once, in order");
    });
}

#[test]
fn a_detached_slot_is_handed_on_by_whoever_ends_it() {
    explore(Model { threads: 2, loom: 26, rmw: 30, shuttle: 430 }, || {
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        let other = beside(&table, |slots| {
            let taken = run(slots);
            (taken, slots.register(2).is_ok())
        });
        let armed = look_or_arm(slots(&table), handle);
        detach(slots(&table), handle);
        let mine = slots(&table).register(3).is_ok();
        let (taken, others) = other();
        if armed {
            assert!(taken == Some(1) && !mine && !others && run(slots(&table)) == Some(4));
            assert_eq!(slots(&table).used(), 0, "the run has freed it");
        } else if taken.is_none() {
            assert!(!mine && !others && run(slots(&table)) == Some(1));
            assert_eq!(slots(&table).used(), 0, "the run has freed it");
        } else {
            assert!(!(mine && others), "one slot, and two have it");
            assert_eq!(slots(&table).used(), u32::from(mine || others));
        }
    });
}

#[test]
fn an_old_handle_ends_nobody_elses_registration() {
    explore(Model { threads: 2, loom: 20, rmw: 24, shuttle: 42 }, || {
        let table = table();
        let old = slots(&table).register(1).expect("a free slot");
        detach(slots(&table), old);
        let other = beside(&table, |slots| {
            let taken = run(slots);
            (taken, slots.register(2).ok())
        });
        let mine = slots(&table).deregister_detached(old);
        let (taken, next) = other();
        assert!(mine != Deregistered::Removed(2) && (mine == Deregistered::Removed(1)) == taken.is_none());
        assert!(next.is_none_or(|next| remove(slots(&table), next) == Some(2)), "somebody else has ended it");
    });
}

#[test]
fn of_two_runners_and_an_owner_one_gets_the_payload() {
    explore(Model { threads: 3, loom: 160, rmw: 200, shuttle: 18000 }, || {
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        let others = [beside(&table, run), beside(&table, run)];
        let mine = deregister(slots(&table), handle);
        let taken = others.into_iter().filter_map(|other| other()).count();
        assert_eq!(taken + usize::from(mine == Deregistered::Removed(1)), 1);
        assert_eq!(slots(&table).used(), 0);
    });
}

/// A handle of another table is the same as ours: nothing but the table orders the two threads.
#[test]
fn a_detached_payload_is_removed_as_it_was_armed() {
    explore(Model { threads: 2, loom: 26, rmw: 26, shuttle: 86 }, || {
        let foreign = slots(&Table::new()).register(9).expect("a free slot");
        let table = table();
        let other = beside(&table, move |slots| slots.deregister_detached(foreign));
        let handle = slots(&table).register(1).expect("a free slot");
        detach(slots(&table), handle);
        let left = slots(&table).deregister_detached(handle);
        let found = other();
        let removed = [&left, &found].map(|found| *found == Deregistered::Removed(1));
        assert!(removed[0] != removed[1], "once: {left:?} {found:?}");
        assert_eq!(slots(&table).used(), 0);
    });
}

/// A handle of another table is the same as ours, and ends what nobody owns: not what `detach` is just ending.
#[test]
fn a_foreign_handle_beside_a_detach_frees_nothing_twice() {
    explore(Model { threads: 2, loom: 100, rmw: 54, shuttle: 380 }, || {
        let foreign = slots(&Table::new()).register(9).expect("a free slot");
        let table = table();
        let handle = slots(&table).register(1).expect("a free slot");
        drop(slots(&table).take(0));
        let other = beside(&table, move |slots| {
            _ = slots.deregister_detached(foreign);
            slots.register(2).ok()
        });
        detach(slots(&table), handle);
        let mine = slots(&table).register(3).ok();
        let theirs = other();
        assert!(mine.is_none() || theirs.is_none(), "one slot, two owners");
        if let Some(handle) = theirs {
            assert_eq!(deregister(slots(&table), handle), Deregistered::Removed(2));
        }
        if let Some(handle) = mine {
            assert_eq!(deregister(slots(&table), handle), Deregistered::Removed(3));
        }
    });
}
