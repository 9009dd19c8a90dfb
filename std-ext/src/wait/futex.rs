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

/// Wakes all that sleep for one of `bits`. What it wakes them for was written to the word before.
pub(crate) fn wake(word: &AtomicU64, bits: u32) {
    let Some(bits) = NonZeroU32::new(bits) else { return };
    // SAFETY: for the system, which takes its address.
    let half = unsafe { word.low_half() };
    _ = wake_bitset(half, Flags::PRIVATE, i32::MAX as u32, bits);
}
