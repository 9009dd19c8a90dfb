//! Claim and release of bits, 32 a word.
//!
//! A bit is the whole truth about what it stands for: whoever changes it has claimed or released that. There is no pointer beside it
//! and no tag, so an old value that somebody read before can only make a claim fail (no ABA).

use core::fmt;

use crate::{const_fn, ord, sync::AtomicU32};

/// Bits of a word that are used. Two in models, so that these reach every edge.
pub const BITS: u32 = if cfg!(any(jeton_loom, jeton_shuttle, jeton_step)) { 2 } else { u32::BITS };

/// 32 bits that any thread may claim and release one by one. All are clear at first, so that they lie in .bss.
///
/// # The rule on x86
/// A `fetch_or` or `fetch_and` whose old value is used for nothing but the one bit it changes is a single `lock bts` or `lock btr`.
/// Used for more, it becomes a loop around a compare-and-swap. So [`set`](Self::set) and [`clear`](Self::clear) return one `bool`.
pub struct BitWord(AtomicU32);

impl BitWord {
    const_fn! {
        /// All bits clear.
        pub const fn new() -> Self {
            Self(AtomicU32::new(0))
        }
    }

    /// Sets the bit (modulo 32); whether it was clear. One read-modify-write.
    #[inline(always)]
    pub fn set(&self, bit: u32) -> bool {
        let bit = 1 << (bit % BITS);
        // Acquire pairs with `clear`: who sets a bit sees what was done before it was cleared. Release pairs with `survey`.
        self.0.fetch_or(bit, ord!("bitmap-1", AcqRel)) & bit == 0
    }

    /// Clears the bit (modulo 32); whether it was set. One read-modify-write.
    #[inline(always)]
    pub fn clear(&self, bit: u32) -> bool {
        let bit = 1 << (bit % BITS);
        // Release pairs with `set`. Acquire pairs with `look_again`: who clears a bit of a word that is marked as full sees the mark.
        self.0.fetch_and(!bit, ord!("bitmap-2", AcqRel)) & bit != 0
    }

    /// Sets all `bits` at once; those of them that were clear.
    #[inline]
    pub fn set_all(&self, bits: u32) -> u32 {
        // As `set`. All bits of the old value are wanted, so this is a loop on x86, where one `swap` would do for a whole word.
        !self.0.fetch_or(bits, ord!("bitmap-3", AcqRel)) & bits
    }

    /// What the word held not long ago: enough to choose a bit, which `set` or `clear` then claims.
    #[inline(always)]
    pub fn glance(&self) -> u32 {
        self.0.load(ord!("bitmap-4", Relaxed))
    }

    /// What the word held not long ago, and with it all that those knew who set its bits.
    #[inline]
    pub fn survey(&self) -> u32 {
        // Acquire pairs with `set` and `set_all`.
        self.0.load(ord!("bitmap-5", Acquire))
    }

    /// What the word holds, after the caller has said something about it elsewhere: has marked it as full.
    ///
    /// A read-modify-write, so that it comes before or after every `clear` of the word. If before, that `clear` sees what the caller
    /// has said; if after, the caller sees the bit.
    #[inline]
    pub fn look_again(&self) -> u32 {
        // Release pairs with `clear`.
        self.0.fetch_or(0, ord!("bitmap-6", Release))
    }

    /// Sets the lowest of the `valid` bits that is clear; `None` if none is.
    ///
    /// Lock-free: it goes on only if somebody else has just set that bit.
    #[inline]
    pub fn set_lowest(&self, valid: u32) -> Option<u32> {
        loop {
            let clear = !self.glance() & valid;
            if clear == 0 {
                return None;
            }
            let bit = clear.trailing_zeros();
            if self.set(bit) {
                return Some(bit);
            }
        }
    }
}

/// The low `len` bits: those of a word that has only so many. All of a word, if `len` is that or more.
#[inline(always)]
pub const fn low_bits(len: u32) -> u32 {
    let unused = if len < BITS { u32::BITS - len } else { u32::BITS - BITS };
    if unused < u32::BITS { u32::MAX >> unused } else { 0 }
}

impl Default for BitWord {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for BitWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BitWord({:#034b})", self.glance())
    }
}
