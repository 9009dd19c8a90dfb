//! The summary of a bitmap: one bit a word, marked where a look has found nothing, and so on upwards to a single word.
//!
//! Marks are hints. They save looks and decide nothing: a search that finds everything marked does not know that nothing is there.
//! What holds is this (S1): once the calls are over that have changed a word or its marks, a word that is worth a look is not marked,
//! nor is any word above it. For that, one who marks a word looks at it again afterwards, and one who has changed a word looks for
//! its mark afterwards. Both do a read-modify-write of the word in between, so at least one sees the other.
//!
//! `low` is a hint of the same kind, and makes most searches needless (S2): once the calls are over, no unmarked word lies below it.
//! One who raises it searches again afterwards, one who takes a mark away lowers it afterwards, and they meet on `low` itself.

use super::bitmap::{BITS, BitWord, low_bits};
use crate::{ord, sync::AtomicU32};

/// A level has one word for so many (this power of two) of the level below.
const LOG_BITS: u32 = BITS.trailing_zeros();

/// How big a summary is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Words of the bitmap, at most 2^27.
    below: u32,
    /// The number of the top level, which is one word. The lowest one is 1.
    top: u32,
}

impl Shape {
    /// The summary of a bitmap of `below` words.
    pub const fn of(below: u32) -> Self {
        let mut shape = Self { below, top: 1 };
        while shape.len(shape.top) > 1 {
            shape.top += 1;
        }
        shape
    }

    /// The words of all levels together.
    pub const fn words(self) -> usize {
        let (mut level, mut words) = (1, 0);
        while level <= self.top {
            words += self.len(level) as usize;
            level += 1;
        }
        words
    }

    /// The words of a level; those of the bitmap are level 0. At least one, even over an empty bitmap.
    const fn len(self, level: u32) -> u32 {
        if level == 0 { self.below } else { (self.below.saturating_sub(1) >> (LOG_BITS * level)) + 1 }
    }
}

/// The marks of a bitmap.
#[derive(Clone, Copy, Debug)]
pub struct Summary<'a> {
    /// The lowest level first.
    words: &'a [BitWord],
    low: &'a AtomicU32,
    shape: Shape,
}

/// A level of the summary: a word of it marks up to 32 words of the level below.
#[derive(Clone, Copy)]
struct Level {
    number: u32,
    begin: u32,
    len: u32,
    /// Words of the level below, or of the bitmap.
    below: u32,
}

impl Level {
    fn above(self) -> Option<Self> {
        let above = Self { number: self.number + 1, begin: self.begin + self.len, len: self.len.div_ceil(BITS), below: self.len };
        (self.len > 1).then_some(above)
    }

    /// The bits of its word `at` that stand for a word.
    fn valid(self, at: u32) -> u32 {
        low_bits(self.below.saturating_sub(at * BITS))
    }
}

impl<'a> Summary<'a> {
    /// The summary in `words`, as many as its shape says, and `low`. All are 0 at first.
    #[inline(always)]
    pub const fn new(words: &'a [BitWord], low: &'a AtomicU32, shape: Shape) -> Self {
        Self { words, low, shape }
    }

    /// The word to look at first.
    #[inline(always)]
    pub fn low(&self) -> u32 {
        self.low.load(ord!("summary-1", Relaxed))
    }

    /// Whether word `at` of the bitmap is marked.
    #[inline(always)]
    pub fn is_marked(&self, at: u32) -> bool {
        self.words.get((at / BITS) as usize).is_some_and(|word| word.glance() & 1 << (at % BITS) != 0)
    }

    /// Marks word `at` of the bitmap, in which the caller has found nothing, and what is above it as far as that is full of marks.
    ///
    /// `nothing_there` looks again, by a [`look_again`](BitWord::look_again) at the word; if it finds something the mark goes.
    #[cold]
    pub fn mark(&self, at: u32, nothing_there: impl FnOnce() -> bool) {
        let lowest = self.lowest();
        if let Some(word) = self.word(lowest, at / BITS) {
            word.set(at);
            if nothing_there() {
                self.mark_above(lowest, at / BITS);
            } else {
                self.unmark(at);
            }
        }
    }

    /// Takes the marks away from word `at` of the bitmap and from all above it. The caller has changed the word before.
    #[cold]
    pub fn unmark(&self, at: u32) {
        self.unmark_in(self.lowest(), at);
    }

    /// The lowest word of the bitmap that is not marked, nor any above it, which becomes `low`; `None` if all are. Lock-free.
    #[cold]
    pub fn first(&self) -> Option<u32> {
        let first = self.search()?;
        if first != self.low() {
            // Acquire pairs with `lower`: the search then sees the marks that were taken away before. Who takes one away later
            // finds this value, and lowers it.
            self.low.swap(first, ord!("summary-2", Acquire));
            if let Some(lower) = self.search()
                && lower < first
            {
                self.lower(lower);
                return Some(lower);
            }
        }
        Some(first)
    }

    /// Makes `low` at most `at`. Always a read-modify-write, so that it comes before or after the one in `first`.
    fn lower(&self, at: u32) {
        let mut low = self.low.load(ord!("summary-3", Relaxed));
        // Release pairs with `first`.
        while let Err(found) =
            self.low.compare_exchange_weak(low, low.min(at), ord!("summary-4", Release), ord!("summary-5", Relaxed))
        {
            low = found;
        }
    }

    fn search(&self) -> Option<u32> {
        'again: loop {
            // Downwards from the only word of the top level, which is the last one.
            let (mut number, mut begin, mut at) = (self.shape.top, self.words.len().checked_sub(1)?, 0);
            loop {
                let marks = self.words.get(begin + at as usize)?.glance();
                let (bit, below) = (marks.trailing_ones(), self.shape.len(number - 1));
                if bit >= BITS || at * BITS + bit >= below {
                    if number == self.shape.top {
                        return None;
                    }
                    // All of these are marked, and the level above does not know yet.
                    self.mark_above(Level { number, begin: begin as u32, len: self.shape.len(number), below }, at);
                    continue 'again;
                }
                at = at * BITS + bit;
                number -= 1;
                if number == 0 {
                    return Some(at);
                }
                begin -= below as usize;
            }
        }
    }

    /// Marks word `at` of `level` in the level above, if it is full of marks; and so on.
    fn mark_above(&self, mut level: Level, mut at: u32) {
        while let Some(word) = self.word(level, at)
            && !word.glance() & level.valid(at) == 0
        {
            let Some((above, mark)) = level.above().and_then(|above| Some((above, self.word(above, at / BITS)?))) else { return };
            mark.set(at);
            if !word.look_again() & level.valid(at) != 0 {
                return self.unmark_in(above, at);
            }
            (level, at) = (above, at / BITS);
        }
    }

    /// Clears the mark `at` of `level` and those above, and lowers `low` to the first word that they hid.
    fn unmark_in(&self, mut level: Level, mut at: u32) {
        let first_hidden = at << (LOG_BITS * (level.number - 1));
        while let Some(word) = self.word(level, at / BITS) {
            word.clear(at);
            at /= BITS;
            // The clear above is the change after which this look must see a mark.
            match level.above() {
                Some(above) if self.word(above, at / BITS).is_some_and(|mark| mark.glance() & 1 << (at % BITS) != 0) => {
                    level = above
                }
                _ => break,
            }
        }
        self.lower(first_hidden);
    }

    fn lowest(&self) -> Level {
        Level { number: 1, begin: 0, len: self.shape.len(1), below: self.shape.below }
    }

    fn word(&self, level: Level, at: u32) -> Option<&'a BitWord> {
        self.words.get(level.begin as usize + at as usize)
    }
}
