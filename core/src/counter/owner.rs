//! `OwnerIds`: one owner, a load and a store for an ID.

use core::{cell::Cell, convert::Infallible, fmt, marker::PhantomData};

use super::{Exhaust, Exhausted, IdGenerator, NotInSpace, Policy, Space, Wrap, sequence::Sequence, word::Word};
use crate::{const_fn, ord, sync::OwnerWord, zero_word};

/// IDs for one owner: a plain load and a plain store each, on every target.
///
/// `Send` but not `Sync`: it moves between threads, and only one at a time uses it. In a `static` it goes behind what the program
/// already guards its single-owner data with (`critical_section::Mutex`, an RTIC resource, a `thread_local!`).
///
/// # Ordering
/// An ID orders nothing: it carries no data from one call to the next.
///
/// # Examples
/// ```
/// use jeton_core::counter::{KuduCallIds, OwnerIds};
/// let calls = OwnerIds::<KuduCallIds>::starting_at(0x7fff_ffff)?;
/// assert_eq!(calls.next_id(), 0x7fff_ffff);
/// assert_eq!(calls.next_id(), 0, "wraps, and stays in 31 bits");
/// # Ok::<(), jeton_core::counter::NotInSpace<u32>>(())
/// ```
/// It cannot be shared between threads:
/// ```compile_fail
/// # use jeton_core::counter::{KuduCallIds, OwnerIds};
/// fn share<T: Sync>(_: T) {}
/// share(OwnerIds::<KuduCallIds>::new());
/// ```
pub struct OwnerIds<S: Space, P: Policy = Wrap> {
    /// IDs handed out so far (`Exhaust`), or that many and more, modulo the word (`Wrap`).
    count: <S::Word as Word>::Owner,
    /// Not `Sync`, as a `Cell`: shared references stay within the owner's thread.
    owner: PhantomData<Cell<()>>,
    space: PhantomData<fn() -> (S, P)>,
}

impl<S: Space, P: Policy> OwnerIds<S, P> {
    const IDS: Sequence = Sequence::of::<S>();

    const_fn! {
        /// A generator at the first ID of the space.
        pub const fn new() -> Self {
            const { Self::IDS };
            Self { count: zero_word!(<S::Word as Word>::Owner), owner: PhantomData, space: PhantomData }
        }
    }

    fn at(count: u64) -> Self {
        let ids = Self::new();
        ids.count.store(count, ord!("counter-1", Relaxed));
        ids
    }

    #[inline(always)]
    fn load(&self) -> u64 {
        self.count.load(ord!("counter-2", Relaxed))
    }

    #[inline(always)]
    fn store(&self, count: u64) {
        self.count.store(count, ord!("counter-3", Relaxed));
    }
}

impl<S: Space> OwnerIds<S, Wrap> {
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

    /// The next ID. Wait-free.
    #[inline]
    pub fn next_id(&self) -> S::Word {
        // Reduced here, so that the ID of a space that begins with 0 is the count itself.
        let count = Self::IDS.reduce(self.load());
        let id = Self::IDS.wrapping_id(count);
        if Self::IDS.is_reserved(id) {
            return self.next_after_reserved(count, id);
        }
        self.store(count.wrapping_add(1));
        S::Word::truncate(id)
    }

    #[cold]
    #[inline(never)]
    fn next_after_reserved(&self, count: u64, id: u64) -> S::Word {
        let count = count.wrapping_add(Self::IDS.counts_out_of_reserved(id));
        self.store(count.wrapping_add(1));
        S::Word::truncate(Self::IDS.wrapping_id(count))
    }
}

impl<S: Space> OwnerIds<S, Exhaust> {
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
    /// [`Exhausted`] once all have been handed out, then always.
    #[inline]
    pub fn try_next_id(&self) -> Result<S::Word, Exhausted> {
        let count = self.load();
        if count >= Self::CAPACITY {
            return Err(Exhausted);
        }
        self.store(count + 1);
        Ok(S::Word::truncate(Self::IDS.ascending_id(count)))
    }

    /// How many IDs are left: below a threshold of its own, a connection asks for its successor before it is too late.
    #[inline]
    pub fn remaining(&self) -> u64 {
        Self::CAPACITY.saturating_sub(self.load())
    }
}

impl<S: Space> IdGenerator for OwnerIds<S, Wrap> {
    type Id = S::Word;
    type Error = Infallible;

    #[inline]
    fn try_next_id(&self) -> Result<S::Word, Infallible> {
        Ok(self.next_id())
    }
}

impl<S: Space> IdGenerator for OwnerIds<S, Exhaust> {
    type Id = S::Word;
    type Error = Exhausted;

    #[inline]
    fn try_next_id(&self) -> Result<S::Word, Exhausted> {
        self.try_next_id()
    }
}

impl<S: Space, P: Policy> Default for OwnerIds<S, P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Space, P: Policy> fmt::Debug for OwnerIds<S, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnerIds").field("count", &self.load()).finish_non_exhaustive()
    }
}
