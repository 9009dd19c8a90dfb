//! A source, its callbacks and its waiters under every interleaving.
#![cfg(any(jeton_loom, jeton_shuttle))]

use std::{
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{
    cancel::{Deregistered, Reason, Refusal, Source, Status, WaitError},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, explore, thread};

/// A source with one slot, what its callback has counted, and plain memory beside it.
struct Subject {
    source: Source<1>,
    probe: &'static Probe,
}

/// What a callback gets. The count is no part of the model: it adds no interleaving and no ordering.
struct Probe {
    calls: Mutex<u32>,
    data: UnsafeCell<u32>,
}

// SAFETY: each model says who may use the cell when; that the calls order this is what it checks.
unsafe impl Sync for Probe {}
// SAFETY: as above.
unsafe impl Send for Probe {}

impl Probe {
    fn touch(&self) {
        // SAFETY: see above.
        self.data.with_mut(|data| unsafe { *data += 1 });
    }

    fn calls(&self) -> u32 {
        *self.calls.lock().expect("nobody panics")
    }

    fn count(&'static self) {
        *self.calls.lock().expect("nobody panics") += 1;
    }

    fn count_and_touch(&'static self) {
        self.count();
        self.touch();
    }
}

fn subject() -> Arc<Subject> {
    let probe = Box::leak(Box::new(Probe { calls: Mutex::new(0), data: UnsafeCell::new(0) }));
    Arc::new(Subject { source: Source::new(), probe })
}

/// In a thread of its own.
fn beside<R: Send + 'static>(subject: &Arc<Subject>, work: impl FnOnce(&Subject) -> R + Send + 'static) -> impl FnOnce() -> R {
    let subject = subject.clone();
    let other = thread::spawn(move || work(&subject));
    move || other.join().expect("a thread of the model panicked")
}

/// A waker that counts, outside the model.
#[derive(Default)]
struct Woken(Mutex<u32>);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.lock().expect("nobody panics") += 1;
    }
}

fn waker() -> (std::sync::Arc<Woken>, Waker) {
    let woken = std::sync::Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

#[test]
fn who_sees_a_cancel_sees_what_came_before() {
    explore(Model { threads: 2, loom: 4, rmw: 9, shuttle: 10 }, || {
        let subject = subject();
        let other = beside(&subject, |subject| {
            subject.probe.touch();
            subject.source.cancel()
        });
        thread::yield_now();
        if subject.source.token().is_canceled() {
            subject.probe.touch();
        }
        assert!(other());
    });
}

#[test]
fn a_callback_is_called_once_or_refused() {
    explore(Model { threads: 2, loom: 7, rmw: 26, shuttle: 950 }, || {
        let subject = subject();
        let other = beside(&subject, |subject| {
            subject.probe.touch();
            subject.source.cancel()
        });
        match subject.source.token().on_cancel(Probe::count, subject.probe) {
            Ok(registration) => {
                assert!(other());
                assert_eq!(subject.probe.calls(), 1);
                assert_eq!(registration.deregister(), Deregistered::Ended);
            }
            Err(refused) => {
                assert_eq!(refused.refusal, Refusal::Canceled(Reason::REQUESTED));
                subject.probe.touch();
                assert!(other());
                assert_eq!(subject.probe.calls(), 0);
            }
        }
    });
}

#[test]
fn who_sees_the_end_of_the_callbacks_sees_what_they_did() {
    explore(Model { threads: 2, loom: 16, rmw: 16, shuttle: 110 }, || {
        let subject = subject();
        let registration = subject.source.token().on_cancel(Probe::count_and_touch, subject.probe).expect("a free slot");
        let other = beside(&subject, |subject| subject.source.cancel());
        let token = subject.source.token();
        thread::yield_now();
        if token.is_canceled() && !token.is_notifying() {
            subject.probe.touch();
        }
        assert!(other());
        drop(registration);
    });
}

#[test]
fn a_deadline_is_polled_as_it_was_set() {
    explore(Model { threads: 2, loom: 6, rmw: 8, shuttle: 10 }, || {
        let subject = subject();
        let other = beside(&subject, |subject| subject.source.poll_deadline(50));
        assert!(subject.source.set_deadline(100));
        assert!(!other(), "it is not over");
        assert!(!subject.source.poll_deadline(99) && subject.source.poll_deadline(100));
        assert_eq!(subject.source.status(), Status::Canceled(Reason::DEADLINE));
    });
}

#[test]
fn a_deregistered_callback_is_not_called_afterwards() {
    explore(Model { threads: 2, loom: 19, rmw: 10, shuttle: 34 }, || {
        let subject = subject();
        let registration = subject.source.token().on_cancel(Probe::count, subject.probe).expect("a free slot");
        let other = beside(&subject, |subject| subject.source.cancel());
        let removed = registration.deregister() == Deregistered::Removed;
        assert!(other());
        assert_eq!(subject.probe.calls(), u32::from(!removed));
    });
}

#[test]
fn a_detached_callback_is_called_or_deregistered_once() {
    explore(Model { threads: 3, loom: 420, rmw: 460, shuttle: 18000 }, || {
        let subject = subject();
        let id = subject.source.token().on_cancel(Probe::count, subject.probe).expect("a free slot").detach();
        let others = [0; 2].map(|_| beside(&subject, move |subject| subject.source.token().deregister(id)));
        assert!(subject.source.cancel());
        let removed = others.into_iter().map(|other| other()).filter(|found| *found == Deregistered::Removed).count();
        assert_eq!(removed as u32 + subject.probe.calls(), 1);
    });
}

#[test]
fn of_two_cancels_beside_a_registration_one_wins() {
    explore(Model { threads: 3, loom: 280, rmw: 700, shuttle: 18000 }, || {
        let subject = subject();
        let others = [3, 4].map(|number| beside(&subject, move |subject| subject.source.cancel_with(Reason::new(number))));
        let registration = subject.source.token().on_cancel(Probe::count, subject.probe);
        let won = others.map(|other| other());
        assert!(won[0] != won[1]);
        assert_eq!(subject.source.status(), Status::Canceled(Reason::new(if won[0] { 3 } else { 4 })));
        assert_eq!(subject.probe.calls(), u32::from(registration.is_ok()));
    });
}

#[test]
fn a_cancel_or_a_dismissal_counts_and_not_both() {
    explore(Model { threads: 3, loom: 230, rmw: 650, shuttle: 18000 }, || {
        let subject = subject();
        let canceled = beside(&subject, |subject| subject.source.cancel());
        let dismissed = beside(&subject, |subject| subject.source.dismiss());
        let registration = subject.source.token().on_cancel(Probe::count, subject.probe);
        let (canceled, dismissed) = (canceled(), dismissed());
        assert!(canceled != dismissed);
        assert_eq!(subject.probe.calls(), u32::from(canceled && registration.is_ok()));
    });
}

#[test]
fn a_waiter_that_changes_its_waker_beside_a_cancel_is_woken() {
    explore(Model { threads: 2, loom: 34, rmw: 120, shuttle: 4100 }, || {
        let subject = subject();
        let (first, second) = (waker(), waker());
        let mut future = subject.source.token().canceled();
        let mut last = poll(&mut future, &first.1);
        assert!(last.is_pending());
        let other = beside(&subject, |subject| subject.source.cancel());
        last = poll(&mut future, &second.1);
        assert!(other());
        if last.is_pending() {
            assert_eq!(*second.0.0.lock().expect("nobody panics"), 1, "asleep for ever");
        }
        assert_eq!(poll(&mut future, &second.1), Poll::Ready(Ok(Reason::REQUESTED)));
        drop(future);
        // Each waker that was cloned was dropped or woken once.
        drop((first.1, second.1));
        assert_eq!((std::sync::Arc::strong_count(&first.0), std::sync::Arc::strong_count(&second.0)), (1, 1));
    });
}

#[test]
fn a_waiter_beside_a_dismissal_ends() {
    explore(Model { threads: 2, loom: 7, rmw: 37, shuttle: 2200 }, || {
        let subject = subject();
        let (woken, waker) = waker();
        let other = beside(&subject, |subject| subject.source.dismiss());
        let mut future = subject.source.token().canceled();
        let last = [poll(&mut future, &waker), poll(&mut future, &waker)][1];
        assert!(other());
        assert!(last.is_ready() || *woken.0.lock().expect("nobody panics") == 1, "asleep for ever");
        assert_eq!(poll(&mut future, &waker), Poll::Ready(Err(WaitError::Dismissed)));
    });
}

/// The slot of the first future is the second one's, if that comes late.
#[test]
fn a_dropped_waiter_takes_nobody_elses_slot() {
    explore(Model { threads: 3, loom: 520, rmw: 720, shuttle: 18000 }, || {
        let subject = subject();
        let (woken, waker) = waker();
        let mut first = subject.source.token().canceled();
        assert!(poll(&mut first, &waker).is_pending());
        let canceled = beside(&subject, |subject| subject.source.cancel());
        let late = beside(&subject, |subject| {
            subject.source.token().on_cancel(Probe::count, subject.probe).map(|own| own.detach()).is_ok()
        });
        drop(first);
        let (canceled, late) = (canceled(), late());
        assert!(canceled);
        assert_eq!(subject.probe.calls(), u32::from(late));
        drop(waker);
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}
