//! Step mode for the registration table: an interrupt handler runs to its end between two steps of what it interrupts.
//!
//! The core is compiled here a second time (build.rs), with tables of two slots.
#![cfg(jeton_step)]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod sync;
    pub mod util;
}
use core_sources::{sync, util};
mod step;

use std::cell::RefCell;

use step::{at_every_step, leak};
use util::slots::{self, Renewed, Slot, Slots};

type Table = Slots<[Slot<u32>; 2]>;

/// A table with one owned registration.
struct Owned {
    table: Table,
    handle: slots::Handle,
}

impl Owned {
    fn new() -> Self {
        let table = Table::new();
        let slots: &Slots<[Slot<u32>]> = &table;
        let handle = slots.register(1).expect("a free slot");
        Self { table, handle }
    }

    fn slots(&self) -> &Slots<[Slot<u32>]> {
        &self.table
    }

    /// Takes all that is armed, as a notification does.
    fn take_all(&self) -> Vec<u32> {
        (0..2).filter_map(|index| self.slots().take(index)).map(|taken| taken.payload).collect()
    }
}

fn deregister(slots: &Slots<[Slot<u32>]>, handle: slots::Handle) -> slots::Deregistered<u32> {
    // SAFETY: all here use only handles of their own, from this table, and one after another.
    unsafe { slots.deregister(handle) }
}

fn detach(slots: &Slots<[Slot<u32>]>, handle: slots::Handle) {
    // SAFETY: as above.
    unsafe { slots.detach(handle) }
}

fn renew(slots: &Slots<[Slot<u32>]>, handle: slots::Handle, payload: u32) -> Option<Renewed<u32>> {
    // SAFETY: as above.
    unsafe { slots.renew(handle, || payload) }
}

#[test]
fn a_notification_can_come_at_every_step_of_a_registration() {
    let steps = at_every_step(
        Owned::new,
        |owned| owned.slots().register(2).ok(),
        Owned::take_all,
        |owned, handle, taken, at| {
            let handle = handle.expect("a free slot");
            assert!(taken == [1] || taken == [1, 2], "{taken:?} at step {at}");
            assert_eq!(owned.take_all(), if taken.len() == 2 { vec![] } else { vec![2] });
            assert_eq!(deregister(owned.slots(), handle), slots::Deregistered::Ended);
            assert_eq!(deregister(owned.slots(), owned.handle), slots::Deregistered::Ended);
            assert_eq!(owned.slots().used(), 0);
        },
    );
    assert!(steps >= 4, "{steps} steps");
}

#[test]
fn a_notification_can_come_at_every_step_of_a_renewal() {
    let steps = at_every_step(
        Owned::new,
        |owned| renew(owned.slots(), owned.handle, 2).expect("it is ours"),
        Owned::take_all,
        |owned, renewed, taken, at| {
            let mut all = taken.clone();
            match renewed {
                // Passed by, or before, or after.
                Renewed::Armed(old) => all.extend(old),
                Renewed::Running(new) => assert_eq!((new, &taken), (2, &vec![1]), "at step {at}"),
            }
            let notified_again = owned.take_all();
            all.extend(&notified_again);
            all.sort_unstable();
            assert!(all == [1, 2] || all == [1], "{all:?} at step {at}");
        },
    );
    assert!(steps >= 3, "{steps} steps");
}

#[test]
fn a_deregistration_can_come_at_every_step_of_a_run_and_back() {
    let ended = |owned: &'static Owned, removed: bool, taken: Vec<u32>, at: usize| {
        assert_eq!(taken, if removed { vec![] } else { vec![1] }, "at step {at}");
        assert_eq!(owned.slots().used(), 0, "a slot is lost at step {at}");
    };
    let deregister = |owned: &'static Owned| deregister(owned.slots(), owned.handle) == slots::Deregistered::Removed(1);
    let mut steps =
        at_every_step(Owned::new, Owned::take_all, deregister, move |owned, taken, removed, at| ended(owned, removed, taken, at));
    steps += at_every_step(Owned::new, deregister, Owned::take_all, ended);
    let detach = |owned: &'static Owned| detach(owned.slots(), owned.handle);
    steps += at_every_step(Owned::new, Owned::take_all, detach, move |owned, taken, (), at| {
        assert_eq!(taken, [1], "a detached one is lost at step {at}");
        ended(owned, false, taken, at);
    });
    steps += at_every_step(Owned::new, detach, Owned::take_all, move |owned, (), taken, at| ended(owned, false, taken, at));
    assert!(steps >= 10, "{steps} steps");
}

/// Where a handle's registration stands when its owner detaches it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Armed,
    Running,
    Done,
}

/// An ID of another source may be the same as one of ours: it ends what nobody owns, and nothing twice.
#[test]
fn a_foreign_handle_can_come_at_every_step_of_a_detach_and_of_a_late_deregistration() {
    thread_local! {
        static RUN: RefCell<Option<slots::Taken<'static, u32>>> = const { RefCell::new(None) };
    }
    let mut steps = 0;
    for stage in [Stage::Armed, Stage::Running, Stage::Done] {
        for detaches in [true, false] {
            let subject = move || {
                let owned: &'static Owned = leak(Owned::new());
                let taken = (stage != Stage::Armed).then(|| owned.slots().take(0).expect("it is armed"));
                RUN.set(taken.filter(|_| stage == Stage::Running));
                owned
            };
            let end = move |owned: &'static &'static Owned| {
                if detaches {
                    detach(owned.slots(), owned.handle);
                    None
                } else {
                    Some(deregister(owned.slots(), owned.handle))
                }
            };
            // As the handle, and then what an interrupt registers itself: perhaps in the slot that is just ending.
            let interrupt = |owned: &'static &'static Owned| {
                let found = owned.slots().deregister_detached(Owned::new().handle);
                (found, [2, 3].map(|payload| owned.slots().register(payload).ok()))
            };
            steps += at_every_step(subject, end, interrupt, move |owned, ended, (found, own), at| {
                let removed = [Some(found), ended].map(|found| found == Some(slots::Deregistered::Removed(1)));
                assert!(!(removed[0] && removed[1]), "twice at step {at}");
                RUN.take();
                // What is left of the registration: armed, detached, and nobody has removed it.
                let left = stage == Stage::Armed && detaches && !removed[0];
                let own: Vec<_> = own.into_iter().zip([2, 3]).filter_map(|(handle, payload)| Some((handle?, payload))).collect();
                assert_eq!(owned.slots().used().count_ones() as usize, own.len() + usize::from(left), "at step {at}");
                for (handle, payload) in own {
                    assert_eq!(deregister(owned.slots(), handle), slots::Deregistered::Removed(payload), "at step {at}");
                }
                assert_eq!(owned.take_all(), if left { vec![1] } else { vec![] }, "at step {at}");
                assert_eq!(owned.slots().used(), 0, "a slot is lost at step {at}");
            });
        }
    }
    assert!(steps >= 13, "{steps} steps");
}
