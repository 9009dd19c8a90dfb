//! `BitPool`: one bit an ID, the smallest free ID first.

use core::fmt;

use super::{
    AllocError, FreeError, IdRange, Pool, RangeError,
    bits::{Bits, Counts},
    error::{ReserveError, SliceError},
    traits::check_range,
};
use crate::{
    array, const_fn,
    sync::AtomicU32,
    util::{BITS, BitWord, Padded, Shape, Summary},
};

/// How many words a pool of `capacity` IDs takes: one a 32 IDs, and 3 % for the summary.
pub const fn bit_pool_words(capacity: u32) -> usize {
    let leaves = capacity.div_ceil(BITS);
    leaves as usize + Shape::of(leaves).words()
}

/// IDs `BASE ..= BASE + N − 1`, the smallest free one first, for any number of threads and interrupt handlers.
///
/// `WORDS` is [`bit_pool_words`]`(N)`; anything else does not compile. A `static` of it lies in .bss.
///
/// # Ordering
/// What was done before [`free`](Self::free)`(id)` is visible to whoever gets that ID next.
///
/// # Examples
/// ```
/// use jeton_core::pool::{AllocError, BitPool, FreeError, bit_pool_words};
///
/// static CHANNELS: BitPool<100, { bit_pool_words(100) }> = BitPool::new();
/// let (first, second) = (CHANNELS.alloc()?, CHANNELS.alloc()?);
/// assert_eq!((first, second), (0, 1));
/// assert_eq!(CHANNELS.free(first), Ok(()));
/// assert_eq!(CHANNELS.free(first), Err(FreeError::NotAllocated(0))); // refused, and nothing has changed
/// assert_eq!(CHANNELS.alloc(), Ok(0));
/// # Ok::<(), AllocError>(())
/// ```
pub struct BitPool<const N: usize, const WORDS: usize, const BASE: u32 = 0> {
    low: Padded<AtomicU32>,
    counts: Padded<Counts>,
    /// The bits of the IDs, then the summary.
    words: [BitWord; WORDS],
}

/// As [`BitPool`], over words that are borrowed, with a range that is known at run time.
///
/// # Examples
/// ```
/// use jeton_core::pool::{BitWord, BorrowedBitPool, RangeError, bit_pool_words};
///
/// static WORDS: [BitWord; bit_pool_words(1000)] = [const { BitWord::new() }; bit_pool_words(1000)];
/// let ports = BorrowedBitPool::new(&WORDS, 50_000, 1000)?;
/// assert_eq!(ports.alloc(), Ok(50_000));
/// # Ok::<(), RangeError>(())
/// ```
pub struct BorrowedBitPool<'a> {
    low: Padded<AtomicU32>,
    counts: Padded<Counts>,
    ids: &'a [BitWord],
    summary: &'a [BitWord],
    shape: Shape,
    base: u32,
    capacity: u32,
}

impl<const N: usize, const WORDS: usize, const BASE: u32> BitPool<N, WORDS, BASE> {
    const SHAPE: Shape = Shape::of((N as u32).div_ceil(BITS));

    const_fn! {
        /// All IDs free.
        pub const fn new() -> Self {
            const {
                assert!(BASE as u64 + N as u64 <= 1 << 32, "the last ID of a pool is at most 2^32 - 1");
                assert!(N <= u32::MAX as usize && WORDS == bit_pool_words(N as u32), "the number of words of a bit pool is bit_pool_words(N)");
            }
            Self {
                low: Padded::new(AtomicU32::new(0)),
                counts: Padded::new(Counts::new()),
                words: array![BitWord::new(); WORDS],
            }
        }
    }

    #[inline(always)]
    fn bits(&self) -> Bits<'_> {
        let (ids, summary) = self.words.split_at(const { N.div_ceil(BITS as usize) });
        Bits { ids, summary: Summary::new(summary, &self.low, Self::SHAPE), counts: &self.counts, capacity: N as u32 }
    }

    #[inline(always)]
    const fn first_id(&self) -> u32 {
        BASE
    }
}

impl<'a> BorrowedBitPool<'a> {
    const_fn! {
        /// IDs `base ..= base + capacity − 1`, all free, in the first [`bit_pool_words`]`(capacity)` of the words.
        ///
        /// The words belong to this pool alone, and have been in no pool before; otherwise its IDs are as that pool left them.
        ///
        /// # Errors
        /// [`RangeError`] if there are too few words, or the last ID would not fit 32 bits.
        pub const fn new(words: &'a [BitWord], base: u32, capacity: u32) -> Result<Self, RangeError> {
            let room = if words.len() < bit_pool_words(capacity) { 0 } else { capacity as u64 };
            if let Err(error) = check_range(base, capacity, room) {
                return Err(error);
            }
            if words.is_empty() {
                return Err(RangeError::StorageTooSmall { capacity });
            }
            let (words, _) = words.split_at(bit_pool_words(capacity));
            let (ids, summary) = words.split_at(capacity.div_ceil(BITS) as usize);
            Ok(Self {
                low: Padded::new(AtomicU32::new(0)),
                counts: Padded::new(Counts::new()),
                ids,
                summary,
                shape: Shape::of(ids.len() as u32),
                base,
                capacity,
            })
        }
    }

    #[inline(always)]
    fn bits(&self) -> Bits<'_> {
        Bits {
            ids: self.ids,
            summary: Summary::new(self.summary, &self.low, self.shape),
            counts: &self.counts,
            capacity: self.capacity,
        }
    }

    #[inline(always)]
    const fn first_id(&self) -> u32 {
        self.base
    }
}

macro_rules! bit_pool {
    ([$($generics:tt)*] $pool:ty) => {
        impl<$($generics)*> $pool {
            /// The smallest free ID. Lock-free.
            ///
            /// Of two calls at the same time either may get the smaller one. No smaller ID was free during the whole call, except in
            /// the words that another call works on, which has not ended: that of its ID, and while it marks words as full or
            /// takes marks away, those behind the mark.
            ///
            /// # Errors
            /// [`AllocError::Exhausted`] if at some instant of the call all IDs were allocated; never `Contended`.
            #[inline]
            pub fn alloc(&self) -> Result<u32, AllocError> {
                match self.bits().alloc() {
                    Ok(index) => Ok(self.first_id() + index),
                    Err(at) => self.alloc_by_search(at),
                }
            }

            // The cold parts take the pool and not its `Bits`, which the calls would otherwise have to put together in memory.
            #[cold]
            #[inline(never)]
            fn alloc_by_search(&self, looked_at: u32) -> Result<u32, AllocError> {
                self.bits().alloc_by_search(looked_at).map(|index| self.first_id() + index)
            }

            /// Takes an ID back. Wait-free on average: every 32nd call may have to tell the summary, which is lock-free.
            ///
            /// # Errors
            /// [`FreeError::OutOfRange`] and [`FreeError::NotAllocated`] with the ID. Nothing has changed then. A double free is always
            /// found, also by two threads at the same time, until the ID has been allocated again.
            #[inline]
            pub fn free(&self, id: u32) -> Result<(), FreeError> {
                if self.bits().free(id.wrapping_sub(self.first_id()), |at| self.unmark(at)) { Ok(()) } else { Err(self.not_freed(id)) }
            }

            #[cold]
            #[inline(never)]
            fn unmark(&self, at: u32) {
                self.bits().summary.unmark(at);
            }

            #[cold]
            #[inline(never)]
            fn not_freed(&self, id: u32) -> FreeError {
                self.bits().not_freed(id.wrapping_sub(self.first_id())).map(|_| id)
            }

            /// Allocates this ID. Wait-free where `fetch_or` is.
            ///
            /// # Errors
            /// [`ReserveError`] with the ID, if it is allocated already or not of this pool.
            pub fn reserve(&self, id: u32) -> Result<(), ReserveError> {
                self.bits().reserve(id.wrapping_sub(self.first_id())).map_err(|error| error.map(|_| id))
            }

            /// Fills `ids` from the front with IDs, up to 32 in one step, and returns how many: fewer only if the pool was exhausted.
            ///
            /// Each ID is allocated by itself, as by [`alloc`](Self::alloc); the call as a whole is not one step.
            pub fn alloc_into(&self, ids: &mut [u32]) -> usize {
                let count = self.bits().alloc_into(ids);
                ids.iter_mut().take(count).for_each(|id| *id += self.first_id());
                count
            }

            /// Takes IDs back, one after another, up to the first one that is refused.
            ///
            /// # Errors
            /// [`SliceError`]: how many are back, and the refusal of the next one. Those after it have not been looked at.
            pub fn free_slice(&self, ids: &[u32]) -> Result<(), SliceError> {
                SliceError::free_each(ids, |id| self.free(id))
            }

            /// The first ID.
            #[inline]
            pub fn base(&self) -> u32 {
                self.first_id()
            }

            /// The number of IDs, allocated or not.
            #[inline]
            pub fn capacity(&self) -> u32 {
                self.bits().capacity
            }

            /// How many IDs are allocated. Looks at every word; exact while no other call runs.
            pub fn allocated(&self) -> u32 {
                self.bits().allocated()
            }

            /// Whether at some instant of the call all IDs were allocated. Looks at every word, unless nothing has been freed since such
            /// a look was in vain. `false` says little: others may have taken what it saw.
            pub fn is_exhausted(&self) -> bool {
                self.bits().is_exhausted()
            }

            /// Whether the ID is allocated, at some instant of the call. `false` if it is not of this pool.
            pub fn is_allocated(&self, id: u32) -> bool {
                self.bits().is_allocated(id.wrapping_sub(self.first_id()))
            }

            /// The free IDs in order. Exact while no other call runs.
            pub fn free_ids(&self) -> impl Iterator<Item = u32> {
                let base = self.first_id();
                self.bits().free_indexes().map(move |index| base + index)
            }
        }

        impl<$($generics)*> Pool for $pool {
            #[inline]
            fn alloc(&self) -> Result<u32, AllocError> {
                self.alloc()
            }

            #[inline]
            fn free(&self, id: u32) -> Result<(), FreeError> {
                self.free(id)
            }
        }

        impl<$($generics)*> fmt::Debug for $pool {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (base, capacity) = (self.base(), self.capacity());
                f.debug_struct("BitPool").field("base", &base).field("capacity", &capacity).finish_non_exhaustive()
            }
        }
    };
}

bit_pool!([const N: usize, const WORDS: usize, const BASE: u32] BitPool<N, WORDS, BASE>);
bit_pool!(['a] BorrowedBitPool<'a>);

impl<const N: usize, const WORDS: usize, const BASE: u32> IdRange for BitPool<N, WORDS, BASE> {
    const MAX_CAPACITY: u32 = N as u32;

    #[inline(always)]
    fn base(&self) -> u32 {
        BASE
    }

    #[inline(always)]
    fn capacity(&self) -> u32 {
        N as u32
    }
}

impl IdRange for BorrowedBitPool<'_> {
    #[inline(always)]
    fn base(&self) -> u32 {
        self.base
    }

    #[inline(always)]
    fn capacity(&self) -> u32 {
        self.capacity
    }
}

impl<const N: usize, const WORDS: usize, const BASE: u32> Default for BitPool<N, WORDS, BASE> {
    fn default() -> Self {
        Self::new()
    }
}
