//! `IdPool`: any number of IDs for any number of threads.

use std::{
    collections::TryReserveError,
    error::Error,
    fmt,
    panic::{RefUnwindSafe, UnwindSafe},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use jeton_core::pool::{AllocError, FreeError, IdRange, MagazinePool, Pool, RangeError, SliceError, StealableCache};

use super::{
    guard::IdGuard,
    storage::{BoxedBlocks, BoxedUsers},
    waiting::look_and_sleep,
};
use crate::{thread_number, wait::Waiters};

/// IDs for any number of threads, each of which takes and gives them through a cache that the others can take from.
///
/// Cloning it is cheap, and all clones are the same pool. All IDs can be allocated by any one thread, wherever they are cached.
/// A thread that ends leaves nothing to clean up: what it has cached is within everybody's reach, and goes on to the next thread that
/// gets its place. Works in the destructors of thread-locals.
///
/// # Ordering
/// What was done before [`free`](Self::free) of an ID comes before everything that is done with it after it is allocated again.
///
/// # Examples
/// ```
/// use std::time::Duration;
/// use jeton::pool::{AllocError, IdPool};
///
/// let slots = IdPool::new(2)?;
/// let (first, second) = (slots.alloc()?, slots.alloc()?);
/// assert_eq!(slots.alloc_timeout(Duration::from_millis(1)), Err(AllocError::Exhausted));
///
/// let waiting = std::thread::spawn({
///     let slots = slots.clone();
///     move || slots.alloc_wait()
/// });
/// slots.free(first)?; // wakes it, if it sleeps by now
/// assert_eq!(waiting.join().unwrap(), first);
/// # slots.free(second)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct IdPool(Arc<Shared>);

struct Shared {
    ids: StealableCache<BoxedBlocks, BoxedUsers>,
    /// One less than the number of users, which is a power of two.
    users_mask: usize,
    waiters: Waiters,
}

/// Why an [`IdPool`] cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdPoolError {
    /// The last ID would not be a `u32`.
    Range(RangeError),
    /// There is no memory for it.
    Memory(TryReserveError),
}

impl IdPool {
    /// The IDs from 0 to `capacity − 1`. Takes 4.2 bytes an ID, and 640 bytes for each cache.
    ///
    /// # Errors
    /// [`IdPoolError::Memory`]
    pub fn new(capacity: u32) -> Result<Self, IdPoolError> {
        Self::with_range(0, capacity)
    }

    /// The IDs from `base` to `base + capacity − 1`, with two caches for each processor, and at least 8.
    ///
    /// # Errors
    /// [`IdPoolError`]
    pub fn with_range(base: u32, capacity: u32) -> Result<Self, IdPoolError> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Self::with_users(base, capacity, processors.saturating_mul(2).max(8))
    }

    /// As [`with_range`](Self::with_range), with caches for `users` threads: rounded up to a power of two, and at most 256. Further
    /// threads share them: that costs them time, and refuses them nothing.
    ///
    /// # Errors
    /// [`IdPoolError`]
    pub fn with_users(base: u32, capacity: u32, users: usize) -> Result<Self, IdPoolError> {
        // Before taking memory for a capacity that may be nonsense. In 64 bits: base + capacity itself may be 2^32.
        if u64::from(base) + u64::from(capacity) > 1 << 32 {
            return Err(IdPoolError::Range(RangeError::PastLastId { base, capacity }));
        }
        let users = users.clamp(1, thread_number::OWN).next_power_of_two();
        let pool = MagazinePool::over_storage(BoxedBlocks::new(capacity)?, base, capacity)?;
        let ids = StealableCache::over_storage(pool, BoxedUsers::new(users)?);
        Ok(Self(Arc::new(Shared { ids, users_mask: users - 1, waiters: Waiters::new() })))
    }

    /// The number of the current thread's user. There always is that user.
    #[inline(always)]
    fn number(&self) -> usize {
        thread_number::current() & self.0.users_mask
    }

    /// An ID that nobody has. Lock-free: it waits for nobody, and looks everywhere at most five times.
    ///
    /// # Errors
    /// [`Exhausted`](AllocError::Exhausted) if at some instant of the call all IDs were taken; [`Contended`](AllocError::Contended) if it
    /// found none while others were moving some.
    #[inline]
    pub fn alloc(&self) -> Result<u32, AllocError> {
        self.0.ids.alloc_by(self.number()).unwrap_or(Err(AllocError::Contended))
    }

    /// Allocates into `ids` from the front. Returns how many: fewer than asked for only if [`alloc`](Self::alloc) then fails.
    pub fn alloc_into(&self, ids: &mut [u32]) -> usize {
        self.0.ids.user(self.number()).map_or(0, |user| user.alloc_into(ids))
    }

    /// As [`alloc`](Self::alloc), in a guard that frees the ID.
    ///
    /// # Errors
    /// As [`alloc`](Self::alloc).
    #[inline]
    pub fn alloc_guard(&self) -> Result<IdGuard<&Self>, AllocError> {
        self.alloc().map(|id| IdGuard::new(self, id))
    }

    /// An ID, as soon as there is one. In a pool without IDs, or if those who have them never free any, it waits for ever.
    ///
    /// Those who wait have no order among each other, and a call of [`alloc`](Self::alloc) may come before them.
    pub fn alloc_wait(&self) -> u32 {
        loop {
            if let Ok(id) = self.alloc().or_else(|_| self.look_and_sleep(None)) {
                return id;
            }
        }
    }

    /// An ID, if there is one before `timeout` has passed. A timeout of 0 does not wait.
    ///
    /// # Errors
    /// As the last [`alloc`](Self::alloc) before the end.
    pub fn alloc_timeout(&self, timeout: Duration) -> Result<u32, AllocError> {
        self.alloc().or_else(|refused| match Instant::now().checked_add(timeout) {
            Some(deadline) => self.wait_until(deadline, refused),
            // Later than any clock shows.
            None => Ok(self.alloc_wait()),
        })
    }

    /// An ID, if there is one before `deadline`. A deadline in the past does not wait.
    ///
    /// # Errors
    /// As the last [`alloc`](Self::alloc) before the end.
    pub fn alloc_deadline(&self, deadline: Instant) -> Result<u32, AllocError> {
        self.alloc().or_else(|refused| self.wait_until(deadline, refused))
    }

    fn wait_until(&self, deadline: Instant, refused: AllocError) -> Result<u32, AllocError> {
        if Instant::now() < deadline { self.look_and_sleep(Some(deadline)) } else { Err(refused) }
    }

    #[cold]
    #[inline(never)]
    fn look_and_sleep(&self, deadline: Option<Instant>) -> Result<u32, AllocError> {
        look_and_sleep(&self.0.waiters, || self.0.ids.pool().press(), || self.alloc(), deadline)
    }

    /// Takes an ID back. It wakes one of those who wait, if anybody does: then it takes a lock for a moment, and never otherwise.
    ///
    /// An ID that is freed twice is not noticed here: [`Checked`](crate::pool::Checked) does that.
    ///
    /// # Errors
    /// [`OutOfRange`](FreeError::OutOfRange), or [`NotAllocated`](FreeError::NotAllocated) for an ID that no cache has ever held.
    #[inline]
    pub fn free(&self, id: u32) -> Result<(), FreeError> {
        if self.0.ids.free_by(self.number(), id).unwrap_or(Err(FreeError::OutOfRange(id)))? {
            self.wake_one();
        }
        Ok(())
    }

    /// Takes all of `ids` back, from the front.
    ///
    /// # Errors
    /// [`SliceError`] at the first ID that is refused; those before it are back.
    pub fn free_slice(&self, ids: &[u32]) -> Result<(), SliceError> {
        SliceError::free_each(ids, |id| self.free(id))
    }

    #[cold]
    #[inline(never)]
    fn wake_one(&self) {
        self.0.waiters.wake_one();
    }

    /// How many IDs nobody has, read piece by piece: no more than an estimate while others use them.
    pub fn available(&self) -> u32 {
        self.0.ids.available()
    }
}

// No call runs code of the caller's, so that no panic comes in the middle of one.
impl UnwindSafe for IdPool {}
impl RefUnwindSafe for IdPool {}

impl IdRange for IdPool {
    #[inline]
    fn base(&self) -> u32 {
        self.0.ids.base()
    }

    #[inline]
    fn capacity(&self) -> u32 {
        self.0.ids.capacity()
    }
}

impl Pool for IdPool {
    #[inline(always)]
    fn alloc(&self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline(always)]
    fn free(&self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }
}

impl fmt::Debug for IdPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, capacity, available) = (self.base(), self.capacity(), self.available());
        f.debug_struct("IdPool")
            .field("base", &base)
            .field("capacity", &capacity)
            .field("available", &available)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for IdPoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range(error) => error.fmt(f),
            Self::Memory(error) => error.fmt(f),
        }
    }
}

impl Error for IdPoolError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Range(error) => Some(error),
            Self::Memory(error) => Some(error),
        }
    }
}

impl From<RangeError> for IdPoolError {
    fn from(error: RangeError) -> Self {
        Self::Range(error)
    }
}

impl From<TryReserveError> for IdPoolError {
    fn from(error: TryReserveError) -> Self {
        Self::Memory(error)
    }
}
