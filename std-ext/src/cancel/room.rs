//! The waiting room: threads that sleep until another thread's callback is done.
//!
//! Who sleeps has said so in the word that it waits for (*awaited*), so that a cancel comes here only if somebody does. Nobody sleeps
//! for a thread that sleeps for it, directly or over others: callbacks that deregister each other do not block each other.
use std::{
    ptr,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
};

use jeton_core::{ord, sync::AtomicU32};

use super::node::Node;

/// A thread that sleeps, and what for.
struct Sleeper {
    thread: u64,
    node: *const Node,
    word: *const AtomicU32,
    busy: fn(u32) -> bool,
}

// SAFETY: what it points to is there while it is in the list (R1), and may be looked at by any thread.
unsafe impl Send for Sleeper {}

impl Sleeper {
    /// The thread that it sleeps for, while it must.
    fn sleeps_for(&self) -> Option<u64> {
        // SAFETY: whoever has put it in is a user of the node, to which the word belongs, and takes it out before it is none (R1).
        let (node, word) = unsafe { (&*self.node, &*self.word) };
        // With the mutex held. Who sleeps for others has said who it is before it came here (R2).
        (self.busy)(word.load(ord!("cancel-std-58", Relaxed))).then(|| node.canceler())
    }
}

static SLEEPERS: Mutex<Vec<Sleeper>> = Mutex::new(Vec::new());
static DONE: Condvar = Condvar::new();

fn sleepers() -> MutexGuard<'static, Vec<Sleeper>> {
    // Nothing in here panics half-way.
    SLEEPERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A number of this thread, which no other has while it lives. Never 0.
#[inline]
pub(super) fn here() -> u64 {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| ptr::from_ref(here).addr() as u64)
}

/// Whether `thread` sleeps for `me`, directly or over others. Nobody sleeps in a circle, so that this comes to an end.
fn sleeps_for(list: &[Sleeper], thread: u64, me: u64) -> bool {
    let mut thread = Some(thread);
    while let Some(one) = thread {
        if one == me {
            return true;
        }
        thread = list.iter().find(|sleeper| sleeper.thread == one).and_then(Sleeper::sleeps_for);
    }
    false
}

/// Sleeps while `word` is busy with callbacks of `node`'s cancel, unless this thread is what they wait for.
///
/// `awaited` is the word's bit that brings a cancel to [`wake`].
#[cold]
pub(super) fn wait_for(node: &Node, word: &AtomicU32, busy: fn(u32) -> bool, awaited: u32) {
    let me = here();
    let mut list = sleepers();
    let mut asleep = false;
    // Acquire pairs with the step that ends *busy*: what the callbacks have done is visible.
    while busy(word.fetch_or(awaited, ord!("cancel-std-59", Acquire))) && !sleeps_for(&list, node.canceler(), me) {
        if !asleep {
            list.push(Sleeper { thread: me, node, word, busy });
            asleep = true;
        }
        list = DONE.wait(list).unwrap_or_else(PoisonError::into_inner);
    }
    if asleep {
        list.retain(|sleeper| sleeper.thread != me);
    }
}

/// Wakes all, each of which looks again.
#[cold]
pub(super) fn wake() {
    // With the mutex held: nobody is between looking and sleeping.
    let _list = sleepers();
    DONE.notify_all();
}
