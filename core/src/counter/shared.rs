//! `SharedIds`: any number of threads, one `fetch_add` for an ID.

use core::{convert::Infallible, fmt, marker::PhantomData};

use super::{
    Exhaust, Exhausted, IdGenerator, IdLease, NotInSpace, Policy, Space, Wrap,
    sequence::{Block, Sequence},
    word::{SharedWord, Word},
};
use crate::{const_fn, ord, sync::AtomicWord, zero_word};

/// IDs for any number of threads and interrupt handlers: one `fetch_add` each, never a retry loop.
///
/// # Ordering
/// An ID orders nothing: no two calls get the same one, and that is all a caller may rely on.
///
/// # Examples
/// ```
/// use jeton_core::counter::{NonZeroU32Ids, SharedIds};
/// static REQUESTS: SharedIds<NonZeroU32Ids> = SharedIds::new();
/// assert_eq!(REQUESTS.next_id(), 1);
/// assert_eq!(REQUESTS.next_id(), 2);
/// ```
pub struct SharedIds<S: Space, P: Policy = Wrap>
where
    S::Word: SharedWord,
{
    /// Calls so far, modulo the word; at the end of `Exhaust` a few more (see [`GUARD_BAND`](super::GUARD_BAND)).
    count: <S::Word as SharedWord>::Shared,
    /// IDs that leases held when they ended and could not give back.
    gaps: <S::Word as SharedWord>::Shared,
    space: PhantomData<fn() -> (S, P)>,
}

impl<S: Space, P: Policy> SharedIds<S, P>
where
    S::Word: SharedWord,
{
    const IDS: Sequence = Sequence::of::<S>();

    const_fn! {
        /// A generator at the first ID of the space.
        pub const fn new() -> Self {
            const { Self::IDS };
            Self {
                count: zero_word!(<S::Word as SharedWord>::Shared),
                gaps: zero_word!(<S::Word as SharedWord>::Shared),
                space: PhantomData,
            }
        }
    }

    fn at(count: u64) -> Self {
        let ids = Self::new();
        ids.count.fetch_add(count, ord!("counter-4", Relaxed));
        ids
    }

    /// A block of up to `N` IDs for one user: one shared step for `N` IDs. See [`IdLease`].
    pub fn lease<const N: u32>(&self) -> IdLease<'_, S, P, N> {
        IdLease::new(self)
    }

    /// How many IDs ended leases could not give back: nobody gets them (with [`Wrap`], not in that round).
    pub fn gaps(&self) -> u64 {
        self.gaps.load(ord!("counter-8", Relaxed))
    }

    /// Takes up to `most` neighbouring IDs; `None` at the end. A compare-and-swap, so that it takes none past the end.
    pub(super) fn take_block(&self, most: u32) -> Option<Block> {
        let mut count = self.count();
        loop {
            let block = if P::WRAPS {
                Self::IDS.wrapping_block(count, most.into())
            } else {
                Self::IDS.ascending_block(count, most.into())?
            };
            // Linearization point of all its IDs.
            match self.count.compare_exchange(count, block.count_after, ord!("counter-9", Relaxed), ord!("counter-10", Relaxed)) {
                Ok(_) => return Some(block),
                Err(found) => count = found,
            }
        }
    }

    /// Moves the counter back over the last `unused` IDs of a block if nobody has moved it on, or counts them as gaps.
    pub(super) fn give_back(&self, count_after: u64, unused: u64) {
        if unused == 0 {
            return;
        }
        let count = count_after.wrapping_sub(unused);
        if self.count.compare_exchange(count_after, count, ord!("counter-11", Relaxed), ord!("counter-12", Relaxed)).is_err() {
            self.gaps.fetch_add(unused, ord!("counter-13", Relaxed));
        }
    }

    #[inline(always)]
    fn count(&self) -> u64 {
        self.count.load(ord!("counter-5", Relaxed))
    }
}

impl<S: Space> SharedIds<S, Wrap>
where
    S::Word: SharedWord,
{
    /// A generator whose next ID is `id`: for a counter that outlives its connection or its process.
    ///
    /// # Errors
    /// [`NotInSpace`] with `id` if it is reserved, too wide or of the other parity.
    pub fn starting_at(id: S::Word) -> Result<Self, NotInSpace<S::Word>> {
        Self::IDS.wrapping_start::<S>(id).map(Self::at)
    }

    /// A generator whose next ID is the one after `id`, the last one used before.
    ///
    /// # Errors
    /// As [`starting_at`](Self::starting_at).
    pub fn resume_after(id: S::Word) -> Result<Self, NotInSpace<S::Word>> {
        Self::IDS.wrapping_start::<S>(id).map(|count| Self::at(count.wrapping_add(1)))
    }

    /// The next ID. Wait-free, but lock-free where it meets a reserved value.
    #[inline]
    pub fn next_id(&self) -> S::Word {
        // Linearization point: the counter's step. One read-modify-write is one ID: nothing is read again.
        let count = self.count.fetch_add(1, ord!("counter-6", Relaxed));
        let id = Self::IDS.wrapping_id(count);
        if Self::IDS.is_reserved(id) {
            return self.next_after_reserved();
        }
        S::Word::truncate(id)
    }

    /// The count was that of a reserved value. Takes the next ID with a compare-and-swap, which steps exactly as far as from the counter's
    /// value to that ID: steps that callers made without looking would add up, over the next IDs and a whole round of a small space.
    #[cold]
    #[inline(never)]
    fn next_after_reserved(&self) -> S::Word {
        let block = self.take_block(1);
        // A generator that wraps always has a next ID.
        S::Word::truncate(block.map_or(0, |block| block.first))
    }
}

impl<S: Space> SharedIds<S, Exhaust>
where
    S::Word: SharedWord,
{
    /// How many IDs a new generator hands out.
    pub const CAPACITY: u64 = Self::IDS.capacity();

    /// A generator whose next ID is `id`: for a counter that outlives its connection or its process.
    ///
    /// # Errors
    /// [`NotInSpace`] with `id` if it is reserved, too wide, of the other parity, below the first ID, or one that the generator
    /// never hands out because of the [`GUARD_BAND`](super::GUARD_BAND).
    pub fn starting_at(id: S::Word) -> Result<Self, NotInSpace<S::Word>> {
        Self::IDS.ascending_start::<S>(id).map(Self::at)
    }

    /// A generator whose next ID is the one after `id`, the last one used before; after the last ID of all it is exhausted.
    ///
    /// # Errors
    /// [`NotInSpace`] with `id` if it is reserved, too wide, of the other parity or below the first ID.
    pub fn resume_after(id: S::Word) -> Result<Self, NotInSpace<S::Word>> {
        Self::IDS.ascending_resume::<S>(id).map(Self::at)
    }

    /// The next ID. Wait-free.
    ///
    /// # Errors
    /// [`Exhausted`] once all have been handed out or are held by leases. It stays so, unless a lease ends and gives some back.
    #[inline]
    pub fn try_next_id(&self) -> Result<S::Word, Exhausted> {
        // Refuse before the step: a caller steps over the end at most once, since it never again reads a value before its own step.
        if self.count() >= Self::CAPACITY {
            return Err(Exhausted);
        }
        // Linearization point of a success. The guard band absorbs the callers that look at the last moment.
        let count = self.count.fetch_add(1, ord!("counter-7", Relaxed));
        if count >= Self::CAPACITY {
            return Err(Exhausted);
        }
        Ok(S::Word::truncate(Self::IDS.ascending_id(count)))
    }

    /// How many IDs are left at some moment of the call; other callers may take them meanwhile.
    #[inline]
    pub fn remaining(&self) -> u64 {
        Self::CAPACITY.saturating_sub(self.count())
    }
}

impl<S: Space> IdGenerator for SharedIds<S, Wrap>
where
    S::Word: SharedWord,
{
    type Id = S::Word;
    type Error = Infallible;

    #[inline]
    fn try_next_id(&self) -> Result<S::Word, Infallible> {
        Ok(self.next_id())
    }
}

impl<S: Space> IdGenerator for SharedIds<S, Exhaust>
where
    S::Word: SharedWord,
{
    type Id = S::Word;
    type Error = Exhausted;

    #[inline]
    fn try_next_id(&self) -> Result<S::Word, Exhausted> {
        self.try_next_id()
    }
}

impl<S: Space, P: Policy> Default for SharedIds<S, P>
where
    S::Word: SharedWord,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Space, P: Policy> fmt::Debug for SharedIds<S, P>
where
    S::Word: SharedWord,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedIds").field("count", &self.count()).finish_non_exhaustive()
    }
}
