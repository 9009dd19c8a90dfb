//! Sleeping until a word changes: Linux' futex with a bitset.
//!
//! A sleeper says which bits wake it. The system compares and puts to sleep in one step, so that a change of the word's low half between the
//! caller's look and its sleep makes the sleep return at once. Deadlines are absolute, and so outlive every interruption.
use std::{num::NonZeroU32, ptr};

use jeton_core::sync::AtomicU64;
use rustix::{
    thread::futex::{Flags, wait_bitset, wake_bitset},
    time::{ClockId, Timespec, clock_gettime},
};

use crate::blocking::Instant;

/// The half of the word that the system compares: the low one.
#[allow(clippy::disallowed_types, reason = "the system's type for an address; nothing here reads or writes through it")]
fn half(word: &AtomicU64) -> &std::sync::atomic::AtomicU32 {
    let low = if cfg!(target_endian = "little") { 0 } else { 1 };
    // SAFETY: inside of the word, aligned, and the system alone looks at it, with one load of that half.
    unsafe { &*ptr::from_ref(word).cast::<std::sync::atomic::AtomicU32>().add(low) }
}

/// Sleeps while the word's low half is that of `seen`, until a [`wake`] of one of `bits`, or until `deadline`. May return for no reason.
pub(crate) fn wait(word: &AtomicU64, seen: u64, bits: u32, deadline: Option<Instant>) {
    let Some(bits) = NonZeroU32::new(bits) else { return };
    let deadline = deadline.and_then(|deadline| {
        let rest = deadline.saturating_duration_since(Instant::now());
        // After the other clock's `now`, so that it is never too early. A deadline beyond the end of time is none.
        clock_gettime(ClockId::Monotonic).checked_add(Timespec::try_from(rest).ok()?)
    });
    // Whatever it says (woken, changed before, interrupted, too late), the caller looks again.
    _ = wait_bitset(half(word), Flags::PRIVATE, seen as u32, deadline.as_ref(), bits);
}

/// Wakes all that sleep for one of `bits`. What it wakes them for was written to the word before.
pub(crate) fn wake(word: &AtomicU64, bits: u32) {
    let Some(bits) = NonZeroU32::new(bits) else { return };
    _ = wake_bitset(half(word), Flags::PRIVATE, i32::MAX as u32, bits);
}
