//! A small number for each living thread, its own while it lives.

use std::cell::Cell;

use jeton_core::{ord, sync::AtomicU32, util::Claim};

/// Threads that have numbers at the same time; any more share.
pub(crate) const NUMBERS: usize = 256;

/// The cell of a thread that has not counted yet.
const UNKNOWN: u32 = u32::MAX;

static CLAIMS: [Claim<AtomicU32>; NUMBERS] = [const { Claim::new() }; NUMBERS];
static WITHOUT_NUMBER: AtomicU32 = AtomicU32::new(0);

thread_local! {
    /// Without a destructor: it can be read while the other thread-locals are torn down.
    static NUMBER: Cell<u32> = const { Cell::new(UNKNOWN) };
    static HAND_BACK: HandBack = const { HandBack };
}

/// Its destructor runs when the thread ends.
struct HandBack;

impl Drop for HandBack {
    fn drop(&mut self) {
        // Shared from now on (I3), before another thread can have the number (I1).
        let number = NUMBER.replace(number_without_claim());
        if let Some(claim) = CLAIMS.get(number as usize) {
            claim.release();
        }
    }
}

/// The number of the current thread if it has taken one, and otherwise one of at least [`NUMBERS`].
#[inline]
pub(crate) fn known() -> usize {
    NUMBER.get() as usize
}

/// The number of the current thread, taken now if it has not yet; of at least [`NUMBERS`] if others may have it as well.
#[inline]
pub(crate) fn current() -> usize {
    let number = NUMBER.get();
    if number == UNKNOWN { take_number() } else { number as usize }
}

#[cold]
#[inline(never)]
fn take_number() -> usize {
    let free = || CLAIMS.iter().position(Claim::try_claim);
    // The destructor first: once it is registered it runs, and in a thread whose destructors have run none is taken.
    let number = HAND_BACK.try_with(|_| free()).ok().flatten();
    let number = number.map_or_else(number_without_claim, |number| number as u32);
    NUMBER.set(number);
    number as usize
}

/// From [`NUMBERS`] up to twice that: spreads the threads over the stripes.
fn number_without_claim() -> u32 {
    let threads = WITHOUT_NUMBER.fetch_add(1, ord!("thread-counter-1", Relaxed));
    NUMBERS as u32 + threads % NUMBERS as u32
}
