//! `Checked`: a double free is found, whatever pool is inside.

use core::fmt;

use super::{AllocError, FreeError, IdRange, Pool, PoolUser, RangeError, traits::check_range};
use crate::{
    array, const_fn,
    util::{BITS, BitWord},
};

/// How many words [`Checked`] takes for `capacity` IDs: a bit each.
pub const fn checked_words(capacity: u32) -> usize {
    capacity.div_ceil(BITS) as usize
}

/// Any pool, with one bit an ID that says whether somebody has it.
///
/// A free that finds the bit clear is refused before it reaches the pool: of several frees of one allocation, also at the same time,
/// exactly one succeeds. What cannot be found: a second free after the ID has been allocated again ([`Generational`] finds that).
///
/// [`Generational`]: super::Generational
///
/// # Examples
/// ```
/// use jeton_core::pool::{BitPool, Checked, FreeError, bit_pool_words, checked_words};
///
/// type Ids = BitPool<100, { bit_pool_words(100) }>;
/// static IDS: Checked<Ids, { checked_words(100) }> = Checked::new(Ids::new());
/// assert_eq!(IDS.alloc(), Ok(0));
/// assert_eq!(IDS.free(0), Ok(()));
/// assert_eq!(IDS.free(0), Err(FreeError::NotAllocated(0)));
/// ```
pub struct Checked<P, const WORDS: usize> {
    pool: P,
    /// A set bit is an ID that somebody has, from when the pool has handed it out until just before the pool gets it back.
    taken: [BitWord; WORDS],
}

/// A user's own way to the pool of a [`Checked`]: a cache with the same checks.
pub struct CheckedUser<'a, U> {
    user: U,
    taken: &'a [BitWord],
}

impl<P: IdRange, const WORDS: usize> Checked<P, WORDS> {
    const_fn! {
        /// The pool, checked. Nothing of it is allocated yet.
        pub const fn new(pool: P) -> Self {
            const { assert!(checked_words(P::MAX_CAPACITY) <= WORDS, "the words of Checked are checked_words of the pool's IDs") };
            Self { pool, taken: array![BitWord::new(); WORDS] }
        }
    }

    /// The pool, checked, if its number of IDs is known only at run time. Nothing of it is allocated yet.
    ///
    /// # Errors
    /// [`RangeError`] if there are too few words.
    pub fn try_new(pool: P) -> Result<Self, RangeError> {
        check_range(pool.base(), pool.capacity(), WORDS as u64 * u64::from(BITS))?;
        Ok(Self { pool, taken: array![BitWord::new(); WORDS] })
    }

    /// The pool inside. What is allocated or freed there directly is unknown here.
    pub fn pool(&self) -> &P {
        &self.pool
    }

    /// The same checks for a user of the pool inside, such as a cache.
    ///
    /// # Errors
    /// The user, if it is of a pool with other IDs.
    pub fn user<U: PoolUser>(&self, user: U) -> Result<CheckedUser<'_, U>, U> {
        if (user.base(), user.capacity()) == (self.pool.base(), self.pool.capacity()) {
            Ok(CheckedUser { user, taken: &self.taken })
        } else {
            Err(user)
        }
    }
}

#[inline(always)]
fn alloc(user: &mut impl PoolUser, taken: &[BitWord]) -> Result<u32, AllocError> {
    match user.alloc() {
        Ok(id) => {
            let index = id.wrapping_sub(user.base());
            if let Some(word) = taken.get((index / BITS) as usize) {
                word.set(index);
            }
            Ok(id)
        }
        Err(error) => Err(error),
    }
}

#[inline(always)]
fn free(user: &mut impl PoolUser, taken: &[BitWord], id: u32) -> Result<(), FreeError> {
    let index = id.wrapping_sub(user.base());
    // Of all frees of one allocation, one clears the bit, before the pool can hand the ID out again.
    if !taken.get((index / BITS) as usize).is_some_and(|word| word.clear(index)) {
        return Err(refusal(index, user.capacity(), id));
    }
    match user.free(id) {
        Ok(()) => Ok(()),
        Err(error) => Err(restore(taken, index, error)),
    }
}

/// The pool has refused what somebody had: the ID was freed behind this wrapper's back. As before, then.
#[cold]
#[inline(never)]
fn restore(taken: &[BitWord], index: u32, error: FreeError) -> FreeError {
    if let Some(word) = taken.get((index / BITS) as usize) {
        word.set(index);
    }
    error
}

#[cold]
#[inline(never)]
fn refusal(index: u32, capacity: u32, id: u32) -> FreeError {
    if index < capacity { FreeError::NotAllocated(id) } else { FreeError::OutOfRange(id) }
}

impl<P: Pool, const WORDS: usize> Checked<P, WORDS> {
    /// An ID that nobody has. Progress as the pool inside.
    ///
    /// # Errors
    /// As the pool inside.
    #[inline]
    pub fn alloc(&self) -> Result<u32, AllocError> {
        alloc(&mut &self.pool, &self.taken)
    }

    /// Takes an ID back. Progress as the pool inside.
    ///
    /// # Errors
    /// [`FreeError::OutOfRange`] and [`FreeError::NotAllocated`] with the ID; nothing has changed then.
    #[inline]
    pub fn free(&self, id: u32) -> Result<(), FreeError> {
        free(&mut &self.pool, &self.taken, id)
    }
}

impl<U: PoolUser> CheckedUser<'_, U> {
    /// An ID that nobody has. Progress as the user inside.
    ///
    /// # Errors
    /// As the user inside.
    #[inline]
    pub fn alloc(&mut self) -> Result<u32, AllocError> {
        alloc(&mut self.user, self.taken)
    }

    /// Takes an ID back. Progress as the user inside.
    ///
    /// # Errors
    /// [`FreeError::OutOfRange`] and [`FreeError::NotAllocated`] with the ID; nothing has changed then.
    #[inline]
    pub fn free(&mut self, id: u32) -> Result<(), FreeError> {
        free(&mut self.user, self.taken, id)
    }

    /// The user inside, without checks.
    pub fn into_inner(self) -> U {
        self.user
    }
}

impl<P: IdRange, const WORDS: usize> IdRange for Checked<P, WORDS> {
    const MAX_CAPACITY: u32 = P::MAX_CAPACITY;

    #[inline(always)]
    fn base(&self) -> u32 {
        self.pool.base()
    }

    #[inline(always)]
    fn capacity(&self) -> u32 {
        self.pool.capacity()
    }
}

impl<P: Pool, const WORDS: usize> Pool for Checked<P, WORDS> {
    #[inline]
    fn alloc(&self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline]
    fn free(&self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }
}

impl<U: PoolUser> IdRange for CheckedUser<'_, U> {
    const MAX_CAPACITY: u32 = U::MAX_CAPACITY;

    #[inline(always)]
    fn base(&self) -> u32 {
        self.user.base()
    }

    #[inline(always)]
    fn capacity(&self) -> u32 {
        self.user.capacity()
    }
}

impl<U: PoolUser> PoolUser for CheckedUser<'_, U> {
    #[inline]
    fn alloc(&mut self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline]
    fn free(&mut self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }
}

impl<P: fmt::Debug, const WORDS: usize> fmt::Debug for Checked<P, WORDS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl<U: fmt::Debug> fmt::Debug for CheckedUser<'_, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedUser").field("user", &self.user).finish_non_exhaustive()
    }
}
