//! Sleeping until a word changes: Linux' futex with a bitset.
//!
//! A sleeper says which bits wake it. The system compares and puts to sleep in one step, so that a change of the word's low half between the
//! caller's look and its sleep makes the sleep return at once. Deadlines are absolute, and so outlive every interruption.
use std::num::NonZeroU32;

use jeton_core::sync::AtomicU64;
use rustix::{
    thread::futex::{Flags, wait_bitset, wake_bitset},
    time::{ClockId, Timespec, clock_gettime},
};

use crate::blocking::Instant;

/// Sleeps while the word's low half is that of `seen`, until a [`wake`] of one of `bits`, or until `deadline`. May return for no reason.
pub(crate) fn wait(word: &AtomicU64, seen: u64, bits: u32, deadline: Option<Instant>) {
    let Some(bits) = NonZeroU32::new(bits) else { return };
    let deadline = deadline.and_then(|deadline| {
        let rest = deadline.saturating_duration_since(Instant::now());
        // After the other clock's `now`, so that it is never too early. A deadline beyond the end of time is none.
        clock_gettime(ClockId::Monotonic).checked_add(Timespec::try_from(rest).ok()?)
    });
    // SAFETY: for the system, which compares that half by one load of it.
    let half = unsafe { word.low_half() };
    // Whatever it says (woken, changed before, interrupted, too late), the caller looks again.
    _ = wait_bitset(half, Flags::PRIVATE, seen as u32, deadline.as_ref(), bits);
}

/// Wakes at most `count` of those that sleep for one of `bits`; how many it has. What it wakes them for was written to the word before.
///
/// Less than `count`: nobody sleeps for one of them any more who slept for it when this was called. `count` is at least 1, at most `i32::MAX`.
pub(crate) fn wake(word: &AtomicU64, bits: u32, count: u32) -> u32 {
    let Some(bits) = NonZeroU32::new(bits) else { return 0 };
    // SAFETY: for the system, which takes its address.
    let half = unsafe { word.low_half() };
    // It fails for a bad address only.
    wake_bitset(half, Flags::PRIVATE, count, bits).map_or(0, |woken| woken as u32)
}
