//! `IdLease`: a block of IDs from `SharedIds`, handed out without a shared step.

use core::{cell::Cell, convert::Infallible, fmt};

use super::{Exhaust, Exhausted, IdGenerator, Policy, SharedIds, SharedWord, Space, Word, Wrap};

/// A user's own block of up to `N` IDs of a [`SharedIds`]: one shared step for `N` IDs.
///
/// It begins empty and fetches a block when it has none. Dropping it gives the unused IDs back if nobody has taken later ones
/// meanwhile; otherwise they are gaps, which [`SharedIds::gaps`] counts. Forgetting it strands them uncounted: at most `N`.
///
/// A block never goes over the end of the space nor over a reserved value; it is then shorter. IDs of several leases do not come in
/// order. With `Wrap`, a lease that sleeps while the counter goes once round the space holds IDs that others have been given again; and
/// if it ends exactly a whole wrap of the word later, it gives back the IDs that others have just been given. Drop a lease that idles.
///
/// `Send` but not `Sync`: one thread at a time uses it.
///
/// # Ordering
/// Orders nothing, as [`SharedIds`].
///
/// # Examples
/// ```
/// use jeton_core::counter::{KuduCallIds, SharedIds};
/// static CALLS: SharedIds<KuduCallIds> = SharedIds::new();
/// let mine = CALLS.lease::<64>();
/// assert_eq!((mine.next_id(), mine.next_id()), (0, 1)); // one shared step for both
/// assert_eq!(CALLS.next_id(), 64);
/// drop(mine);
/// assert_eq!(CALLS.gaps(), 62);
/// ```
pub struct IdLease<'a, S: Space<Word: SharedWord>, P: Policy = Wrap, const N: u32 = 64> {
    ids: &'a SharedIds<S, P>,
    /// The next ID, and the one after the last; equal: no block.
    next: Cell<S::Word>,
    end: Cell<S::Word>,
    /// What the shared counter was set to when the block was taken.
    count_after: Cell<u64>,
}

impl<'a, S: Space<Word: SharedWord>, P: Policy, const N: u32> IdLease<'a, S, P, N> {
    pub(super) fn new(ids: &'a SharedIds<S, P>) -> Self {
        const { assert!(N > 0, "a lease holds at least one ID") };
        let nothing = Cell::new(S::Word::truncate(0));
        Self { ids, next: nothing.clone(), end: nothing, count_after: Cell::new(0) }
    }

    /// How many IDs the lease holds that it has not handed out.
    #[inline]
    pub fn left(&self) -> u64 {
        // In the word, whose wrap may lie between the two.
        let distance = S::Word::truncate(self.end.get().widen().wrapping_sub(self.next.get().widen()));
        distance.widen() / S::SPACE.step()
    }

    /// The next ID of the block, if it has one.
    #[inline]
    fn take(&self) -> Option<S::Word> {
        let id = self.next.get();
        if id == self.end.get() {
            return None;
        }
        self.next.set(S::Word::truncate(id.widen().wrapping_add(S::SPACE.step())));
        Some(id)
    }

    /// Fetches a block and takes its first ID; `None` if the generator is exhausted.
    #[cold]
    #[inline(never)]
    fn refill(&self) -> Option<S::Word> {
        let block = self.ids.take_block(N)?;
        let id = |steps: u64| S::Word::truncate(block.first.wrapping_add(steps.wrapping_mul(S::SPACE.step())));
        self.next.set(id(1));
        self.end.set(id(block.len));
        self.count_after.set(block.count_after);
        Some(id(0))
    }
}

impl<S: Space<Word: SharedWord>, const N: u32> IdLease<'_, S, Wrap, N> {
    /// The next ID: a load and a store, and one shared step for each block. Lock-free.
    #[inline]
    pub fn next_id(&self) -> S::Word {
        match self.take() {
            Some(id) => id,
            None => self.next_of_new_block(),
        }
    }

    /// Apart from [`next_id`](Self::next_id), which then needs no test for exhaustion: a generator that wraps always has a block.
    #[cold]
    #[inline(never)]
    fn next_of_new_block(&self) -> S::Word {
        self.refill().unwrap_or_else(|| self.ids.next_id())
    }
}

impl<S: Space<Word: SharedWord>, const N: u32> IdLease<'_, S, Exhaust, N> {
    /// The next ID: a load and a store, and one shared step for each block. Lock-free.
    ///
    /// # Errors
    /// [`Exhausted`] when the block is used up and the generator has no more. Other leases may still hold IDs, and give them back.
    #[inline]
    pub fn try_next_id(&self) -> Result<S::Word, Exhausted> {
        match self.take() {
            Some(id) => Ok(id),
            None => self.refill().ok_or(Exhausted),
        }
    }
}

impl<S: Space<Word: SharedWord>, P: Policy, const N: u32> Drop for IdLease<'_, S, P, N> {
    fn drop(&mut self) {
        self.ids.give_back(self.count_after.get(), self.left());
    }
}

impl<S: Space<Word: SharedWord>, const N: u32> IdGenerator for IdLease<'_, S, Wrap, N> {
    type Id = S::Word;
    type Error = Infallible;

    #[inline]
    fn try_next_id(&self) -> Result<S::Word, Infallible> {
        Ok(self.next_id())
    }
}

impl<S: Space<Word: SharedWord>, const N: u32> IdGenerator for IdLease<'_, S, Exhaust, N> {
    type Id = S::Word;
    type Error = Exhausted;

    #[inline]
    fn try_next_id(&self) -> Result<S::Word, Exhausted> {
        self.try_next_id()
    }
}

impl<S: Space<Word: SharedWord>, P: Policy, const N: u32> fmt::Debug for IdLease<'_, S, P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdLease").field("left", &self.left()).finish_non_exhaustive()
    }
}
