//! `StealableCache`: users whose IDs are within everybody's reach.

use core::fmt;

use super::{
    MagazinePool,
    cell::UserCell,
    storage::{Blocks, Storage},
    user::User,
    word::UserWord,
};
use crate::{
    array, const_fn,
    pool::{AllocError, FreeError, IdRange},
};

/// The memory of a [`StealableCache`]'s users.
///
/// # Safety
/// `cells` returns the same memory for as long as the value lives, also after it has moved if it does not own that memory in place,
/// and no other cache uses that memory meanwhile.
pub unsafe trait UserStorage {
    /// The users' memory.
    fn cells(&self) -> &[UserCell];
    /// The same.
    fn cells_mut(&mut self) -> &mut [UserCell];
}

/// `N` users, in the cache itself.
pub struct Users<const N: usize>([UserCell; N]);

// SAFETY: owned in place, by one value.
unsafe impl<const N: usize> UserStorage for Users<N> {
    #[inline(always)]
    fn cells(&self) -> &[UserCell] {
        &self.0
    }
    fn cells_mut(&mut self) -> &mut [UserCell] {
        &mut self.0
    }
}

/// A [`MagazinePool`] with a cache for each of several users, which the others take from when they find no other ID: n allocations
/// succeed on n IDs, by whichever users.
///
/// # Examples
/// ```
/// use jeton_core::pool::{AllocError, Blocks, StealableCache, Users};
/// static IDS: StealableCache<Blocks<1>, Users<2>> = StealableCache::new(); // 64 IDs; zero bytes in .bss
///
/// let (network, disk) = (IDS.user(0).expect("of two"), IDS.user(1).expect("of two"));
/// let ids: Vec<u32> = (0..32).flat_map(|_| [network.alloc(), disk.alloc()]).flatten().collect();
/// assert_eq!((ids.len(), disk.alloc()), (64, Err(AllocError::Exhausted)));
/// network.free(17)?;
/// assert_eq!(disk.alloc(), Ok(17));
/// # Ok::<(), jeton_core::pool::FreeError>(())
/// ```
pub struct StealableCache<S: Storage, U: UserStorage> {
    pool: MagazinePool<S>,
    users: U,
}

impl<const N: usize, const USERS: usize> StealableCache<Blocks<N>, Users<USERS>> {
    const_fn! {
        /// All 64 · `N` IDs from 0 on.
        pub const fn new() -> Self {
            Self { pool: MagazinePool::<Blocks<N>>::new(), users: Users(array![UserCell::new(); USERS]) }
        }
    }
}

impl<S: Storage, const USERS: usize> StealableCache<S, Users<USERS>> {
    const_fn! {
        /// The IDs of `pool`, which nobody has used.
        pub const fn of(pool: MagazinePool<S>) -> Self {
            Self { pool, users: Users(array![UserCell::new(); USERS]) }
        }
    }
}

impl<S: Storage, U: UserStorage> StealableCache<S, U> {
    /// The IDs of `pool`, which nobody has used, with users that nobody has used.
    #[doc(hidden)]
    pub const fn over_storage(pool: MagazinePool<S>, users: U) -> Self {
        Self { pool, users }
    }

    /// The handle of user `number`, from 0; `None` if there are not so many.
    #[inline]
    pub fn user(&self, number: usize) -> Option<User<'_>> {
        let (users, groups) = (self.users.cells(), self.pool.groups());
        // Each user another one, so that they do not meet.
        let home = number.checked_rem(groups).unwrap_or_default();
        User::new(self.pool.parts(home), users, number)
    }

    /// As the [`alloc`](User::alloc) of user `number`, without a handle; `None` if there are not so many.
    #[doc(hidden)]
    #[inline]
    pub fn alloc_by(&self, number: usize) -> Option<Result<u32, AllocError>> {
        match self.users.cells().get(number)?.try_alloc() {
            Ok(index) => Some(Ok(self.pool.base().wrapping_add(index))),
            Err(found) => self.alloc_elsewhere(number, found),
        }
    }

    #[cold]
    #[inline(never)]
    fn alloc_elsewhere(&self, number: usize, found: UserWord) -> Option<Result<u32, AllocError>> {
        self.user(number).map(|user| user.alloc_elsewhere(found))
    }

    /// As the [`free_and_tell`](User::free_and_tell) of user `number`, without a handle; `None` if there are not so many.
    #[doc(hidden)]
    #[inline]
    pub fn free_by(&self, number: usize, id: u32) -> Option<Result<bool, FreeError>> {
        let index = id.wrapping_sub(self.pool.base());
        match self.users.cells().get(number)?.try_free(index, self.pool.header()) {
            Ok(()) => Some(Ok(false)),
            Err(found) => self.free_elsewhere(number, found, index),
        }
    }

    #[cold]
    #[inline(never)]
    fn free_elsewhere(&self, number: usize, found: UserWord, index: u32) -> Option<Result<bool, FreeError>> {
        self.user(number).map(|user| user.free_elsewhere(found, index))
    }

    /// The pool, for owner caches beside the users; their IDs cannot be stolen.
    pub fn pool(&self) -> &MagazinePool<S> {
        &self.pool
    }

    /// How many IDs nobody has, not counting owner caches, read piece by piece: no more than an estimate while others use them.
    pub fn available(&self) -> u32 {
        let cached = self.users.cells().iter().map(UserCell::estimate);
        cached.fold(self.pool.available(), u32::wrapping_add).min(self.pool.capacity())
    }

    /// Calls `f` with every ID that nobody has, not counting owner caches. Exact, since nobody uses them meanwhile.
    pub fn for_each_available(&mut self, mut f: impl FnMut(u32)) {
        self.pool.for_each_available(&mut f);
        let parts = self.pool.parts(0);
        self.users.cells_mut().iter_mut().for_each(|user| user.for_each(&parts, &mut f));
    }
}

impl<S: Storage, U: UserStorage> IdRange for StealableCache<S, U> {
    const MAX_CAPACITY: u32 = S::MOST;

    #[inline]
    fn base(&self) -> u32 {
        self.pool.base()
    }

    #[inline]
    fn capacity(&self) -> u32 {
        self.pool.capacity()
    }
}

impl<const N: usize, const USERS: usize> Default for StealableCache<Blocks<N>, Users<USERS>> {
    fn default() -> Self {
        Self::new()
    }
}

impl<S: Storage, U: UserStorage> fmt::Debug for StealableCache<S, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StealableCache").field("users", &self.users.cells()).finish_non_exhaustive()
    }
}

impl<const N: usize> fmt::Debug for Users<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Users").field("users", &self.0).finish()
    }
}
