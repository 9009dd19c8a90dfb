//! `Checked`: a double free is found, whatever pool is inside.

use core::fmt;

use super::{AllocError, FreeError, IdRange, Pool, PoolUser, RangeError, traits::check_range};
use crate::{array, const_fn, ord, sync::AtomicU8};

/// Any pool of at most `N` IDs, with a byte an ID that says whether somebody has it.
///
/// A free that finds the byte 0 is refused before it reaches the pool: of several frees of one allocation, also at the same time,
/// exactly one succeeds. What cannot be found: a second free after the ID has been allocated again ([`Generational`] finds that).
///
/// [`Generational`]: super::Generational
///
/// # Examples
/// ```
/// use jeton_core::pool::{BitPool, Checked, FreeError, bit_pool_words};
///
/// type Ids = BitPool<100, { bit_pool_words(100) }>;
/// static IDS: Checked<Ids, 100> = Checked::new(Ids::new());
/// assert_eq!(IDS.alloc(), Ok(0));
/// assert_eq!(IDS.free(0), Ok(()));
/// assert_eq!(IDS.free(0), Err(FreeError::NotAllocated(0)));
/// ```
pub struct Checked<P, const N: usize> {
    pool: P,
    taken: [Taken; N],
}

/// A user's own way to the pool of a [`Checked`]: a cache with the same checks.
pub struct CheckedUser<'a, U, const N: usize> {
    user: U,
    taken: &'a [Taken; N],
}

/// A byte: 1 from when the pool has handed the ID out until just before the pool gets it back, and 0 otherwise (C1).
struct Taken(AtomicU8);

impl Taken {
    const_fn! {
        const fn new() -> Self {
            Self(AtomicU8::new(0))
        }
    }

    /// By the one who has the ID, before anybody else knows of it.
    #[inline(always)]
    fn set(&self) {
        // A store: whoever frees an ID that nobody has puts in what is there.
        self.0.store_over(1, ord!("pool-14", Relaxed));
    }

    /// Whether it was set: to one of several frees of an allocation.
    #[inline(always)]
    fn clear(&self) -> bool {
        self.0.swap(0, ord!("pool-15", Relaxed)) != 0
    }
}

impl<P: IdRange, const N: usize> Checked<P, N> {
    const_fn! {
        /// The pool, checked. Nothing of it is allocated yet.
        pub const fn new(pool: P) -> Self {
            const { assert!(P::MAX_CAPACITY as usize <= N, "Checked<P, N> is for pools of at most N IDs") };
            Self { pool, taken: array![Taken::new(); N] }
        }
    }

    /// The pool, checked, if its number of IDs is known only at run time. Nothing of it is allocated yet.
    ///
    /// # Errors
    /// [`RangeError`] if it has more than `N` IDs.
    pub fn try_new(pool: P) -> Result<Self, RangeError> {
        check_range(pool.base(), pool.capacity(), N as u64)?;
        Ok(Self { pool, taken: array![Taken::new(); N] })
    }

    /// The pool inside. What is allocated or freed there directly is unknown here.
    pub fn pool(&self) -> &P {
        &self.pool
    }

    /// The same checks for a user of the pool inside, such as a cache.
    ///
    /// # Errors
    /// The user, if it is of a pool with other IDs.
    pub fn user<U: PoolUser>(&self, user: U) -> Result<CheckedUser<'_, U, N>, U> {
        if (user.base(), user.capacity()) == (self.pool.base(), self.pool.capacity()) {
            Ok(CheckedUser { user, taken: &self.taken })
        } else {
            Err(user)
        }
    }
}

#[inline(always)]
fn alloc(user: &mut impl PoolUser, taken: &[Taken]) -> Result<u32, AllocError> {
    let index = user.alloc_index()?;
    if let Some(taken) = taken.get(index as usize) {
        taken.set();
    }
    Ok(user.base().wrapping_add(index))
}

#[inline(always)]
fn free(user: &mut impl PoolUser, taken: &[Taken], id: u32) -> Result<(), FreeError> {
    let index = id.wrapping_sub(user.base());
    // Of all frees of one allocation, one clears the byte, before the pool can hand the ID out again.
    let at = usize::try_from(index).unwrap_or(usize::MAX);
    if !taken.get(at).is_some_and(Taken::clear) {
        return Err(refusal(user, at));
    }
    match user.free_index(index) {
        Ok(()) => Ok(()),
        Err(error) => Err(restore(user, taken, error)),
    }
}

/// The pool has refused what somebody had: the ID was freed behind this wrapper's back. As before, then.
#[cold]
#[inline(never)]
fn restore(user: &impl PoolUser, taken: &[Taken], error: FreeError) -> FreeError {
    let index = error.into_inner().wrapping_sub(user.base());
    taken.get(index as usize).into_iter().for_each(Taken::set);
    error
}

#[cold]
#[inline(never)]
fn refusal(user: &impl PoolUser, at: usize) -> FreeError {
    let index = u32::try_from(at).unwrap_or(u32::MAX);
    let id = user.base().wrapping_add(index);
    if index < user.capacity() { FreeError::NotAllocated(id) } else { FreeError::OutOfRange(id) }
}

impl<P: Pool, const N: usize> Checked<P, N> {
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

impl<U: PoolUser, const N: usize> CheckedUser<'_, U, N> {
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

impl<P: IdRange, const N: usize> IdRange for Checked<P, N> {
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

impl<P: Pool, const N: usize> Pool for Checked<P, N> {
    #[inline]
    fn alloc(&self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline]
    fn free(&self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }
}

impl<U: PoolUser, const N: usize> IdRange for CheckedUser<'_, U, N> {
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

impl<U: PoolUser, const N: usize> PoolUser for CheckedUser<'_, U, N> {
    #[inline]
    fn alloc(&mut self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline]
    fn free(&mut self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }
}

impl<P: fmt::Debug, const N: usize> fmt::Debug for Checked<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Checked").field("pool", &self.pool).finish_non_exhaustive()
    }
}

impl<U: fmt::Debug, const N: usize> fmt::Debug for CheckedUser<'_, U, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CheckedUser").field("user", &self.user).finish_non_exhaustive()
    }
}
