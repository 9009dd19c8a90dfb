//! Sleeping until a word changes, where there is no futex: the same over `parking_lot_core`, whose queues look at the word, and
//! filter who is woken, under a lock of their own.
use std::ptr;

use jeton_core::{ord, sync::AtomicU64};
use parking_lot_core::{DEFAULT_UNPARK_TOKEN, FilterOp, ParkToken, park, unpark_filter};

use crate::blocking::Instant;

fn key(word: &AtomicU64) -> usize {
    ptr::from_ref(word).addr()
}

/// Sleeps while the word's low half is that of `seen`, until a [`wake`] of one of `bits`, or until `deadline`. May return for no reason.
pub(crate) fn wait(word: &AtomicU64, seen: u64, bits: u32, deadline: Option<Instant>) {
    // Who wakes changes the word before it takes the queue's lock: the look below sees the change, or the sleeper is in the queue by then.
    let unchanged = || word.load(ord!("wait-1", Relaxed)) as u32 == seen as u32;
    // SAFETY: the word's address is nobody else's key, and the closures neither panic nor park.
    _ = unsafe { park(key(word), unchanged, || {}, |_, _| {}, ParkToken(bits as usize), deadline) };
}

/// Wakes at most `count` of those that sleep for one of `bits`; how many it has. What it wakes them for was written to the word before.
///
/// Less than `count`: nobody sleeps for one of them any more who slept for it when this was called. `count` is at least 1.
pub(crate) fn wake(word: &AtomicU64, bits: u32, count: u32) -> u32 {
    let mut woken = 0;
    let filter = |ParkToken(wanted)| match () {
        () if woken == count => FilterOp::Stop,
        () if wanted as u32 & bits == 0 => FilterOp::Skip,
        () => {
            woken += 1;
            FilterOp::Unpark
        }
    };
    // SAFETY: as above.
    unsafe { unpark_filter(key(word), filter, |_| DEFAULT_UNPARK_TOKEN) };
    woken
}
