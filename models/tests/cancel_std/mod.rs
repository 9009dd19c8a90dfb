//! What the models of sources on the heap have in common: the library's sources, a waiting room in the place of its own, and witnesses.
#![allow(missing_docs, dead_code, unused_imports, reason = "the library's sources, and each file of models uses a part")]

#[path = "../../../std-ext/src"]
pub mod std_ext {
    pub mod cancel;
}

/// In the place of the library's waiting room: its sleep and its wake, without its look at who sleeps for whom.
pub mod room {
    use jeton_core::{ord, sync::AtomicU32};
    #[cfg(jeton_loom)]
    use loom::{
        lazy_static,
        sync::{Condvar, Mutex},
    };
    #[cfg(jeton_shuttle)]
    use shuttle::{
        lazy_static,
        sync::{Condvar, Mutex},
    };

    lazy_static! {
        static ref ROOM: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
    }

    pub fn here() -> u64 {
        1
    }

    pub fn wait_for<N>(_: &N, word: &AtomicU32, busy: fn(u32) -> bool, awaited: u32) {
        let mut lock = ROOM.0.lock().expect("nobody panics");
        while busy(word.fetch_or(awaited, ord!("cancel-std-59", Acquire))) {
            lock = ROOM.1.wait(lock).expect("nobody panics");
        }
    }

    pub fn wake() {
        let _lock = ROOM.0.lock().expect("nobody panics");
        ROOM.1.notify_all();
    }
}

use std::{
    pin::Pin,
    sync::Mutex,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::{cancel::Reason, sync::UnsafeCell};
use jeton_models::explore::thread;
use std_ext::cancel::{Canceled, Dismissed};

/// What callbacks count, and plain memory. The count is no part of the model: it adds no interleaving and no ordering.
#[derive(Clone)]
pub struct Probe(std::sync::Arc<(Mutex<u32>, UnsafeCell<u32>)>);

// SAFETY: each model says who may use the cell when; that the calls order this is what it checks.
unsafe impl Send for Probe {}
// SAFETY: as above.
unsafe impl Sync for Probe {}

impl Probe {
    pub fn new() -> Self {
        Self(std::sync::Arc::new((Mutex::new(0), UnsafeCell::new(0))))
    }

    pub fn touch(&self) {
        // SAFETY: see above.
        self.0.1.with_mut(|data| unsafe { *data += 1 });
    }

    pub fn look(&self) {
        // SAFETY: see above.
        self.0.1.with(|data| assert_ne!(unsafe { *data }, 0));
    }

    pub fn calls(&self) -> u32 {
        *self.0.0.lock().expect("nobody panics")
    }

    pub fn count(&self) {
        *self.0.0.lock().expect("nobody panics") += 1;
    }

    pub fn counting(&self) -> impl FnOnce() + Send + 'static {
        let probe = self.clone();
        move || probe.count()
    }

    pub fn touching(&self) -> impl FnOnce() + Send + 'static {
        let probe = self.clone();
        move || {
            probe.count();
            probe.touch();
        }
    }

    /// Whether no callback has it any more: the node that it was in is freed.
    pub fn is_alone(&self) -> bool {
        std::sync::Arc::strong_count(&self.0) == 1
    }
}

/// In a thread of its own, to which everything that it uses belongs.
pub fn beside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> impl FnOnce() -> R {
    let other = thread::spawn(work);
    move || other.join().expect("a thread of the model panicked")
}

#[derive(Default)]
pub struct Woken(Mutex<u32>);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.lock().expect("nobody panics") += 1;
    }
}

pub fn waker() -> (std::sync::Arc<Woken>, Waker) {
    let woken = std::sync::Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

impl Woken {
    pub fn times(&self) -> u32 {
        *self.0.lock().expect("nobody panics")
    }
}

pub fn poll(future: &mut Canceled, waker: &Waker) -> Poll<Result<Reason, Dismissed>> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}
