//! `Generational`: an ID comes with the number of its allocation, so that an old one is found out.

use core::{fmt, marker::PhantomData, num::NonZeroU64};

use super::{AllocError, FreeError, IdRange, Pool, PoolUser, RangeError, traits::check_range};
use crate::{array, const_fn, ord, sync::AtomicU32};

/// An ID and the generation of its allocation, in 64 bits: the generation above, odd and so never 0, the ID below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle(NonZeroU64);

impl Handle {
    const GENERATION_SHIFT: u32 = 32;

    /// The lowest bit of a generation, which is odd.
    const ODD: NonZeroU64 = NonZeroU64::new(1 << Self::GENERATION_SHIFT).expect("not 0");

    #[inline(always)]
    fn new(generation: u32, id: u32) -> Self {
        Self(Self::ODD | (u64::from(generation) << Self::GENERATION_SHIFT | u64::from(id)))
    }

    /// The ID, which other handles may have had and will have.
    #[inline(always)]
    pub const fn id(self) -> u32 {
        self.0.get() as u32
    }

    /// The generation: an odd number.
    #[inline(always)]
    pub const fn generation(self) -> u32 {
        (self.0.get() >> Self::GENERATION_SHIFT) as u32
    }

    /// All bits, to be sent or stored.
    pub const fn to_bits(self) -> u64 {
        self.0.get()
    }

    /// The handle of these bits, if they can be one: the generation is odd.
    pub const fn from_bits(bits: u64) -> Option<Self> {
        match NonZeroU64::new(bits) {
            Some(bits) if bits.get() >> Self::GENERATION_SHIFT & 1 == 1 => Some(Self(bits)),
            _ => None,
        }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (generation {})", self.id(), self.generation())
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Retire {}
    impl Sealed for super::Wrap {}
}

/// What happens to an ID whose generations are used up: [`Retire`] or [`Wrap`].
pub trait GenerationPolicy: sealed::Sealed {
    #[doc(hidden)]
    const WRAPS: bool;
}

/// Nobody gets the ID again: no handle ever comes twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retire {}

/// The generations begin again: a handle that has been kept for all of them is taken for the new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {}

impl GenerationPolicy for Retire {
    const WRAPS: bool = false;
}
impl GenerationPolicy for Wrap {
    const WRAPS: bool = true;
}

/// Any pool with at most `N` IDs, whose IDs become [`Handle`]s with a generation. A stale handle is refused.
///
/// Each ID has `2^GENERATION_BITS` generations. A pool that hands the same ID out again at once uses up all 2^31 in some seconds: what
/// happens then is the policy's. Fewer bits are for handles that have to fit somewhere, and for tests.
///
/// # Examples
/// ```
/// use jeton_core::pool::{BitPool, FreeError, Generational, bit_pool_words};
///
/// type Ids = BitPool<100, { bit_pool_words(100) }>;
/// static SESSIONS: Generational<Ids, 100> = Generational::new(Ids::new());
/// let first = SESSIONS.alloc().expect("100 are free");
/// assert_eq!(SESSIONS.free(first), Ok(()));
/// let second = SESSIONS.alloc().expect("100 are free");
/// assert_eq!(first.id(), second.id());
/// assert_eq!(SESSIONS.free(first), Err(FreeError::Stale(first))); // and `second` is as it was
/// assert!(SESSIONS.is_current(second));
/// ```
pub struct Generational<P, const N: usize, W = Retire, const GENERATION_BITS: u32 = 31> {
    pool: P,
    generations: Generations<N>,
    policy: PhantomData<fn() -> W>,
}

/// A word an ID: twice the number of allocations so far, less one while it is allocated. So odd is allocated.
struct Generations<const N: usize> {
    words: [AtomicU32; N],
    retired: AtomicU32,
}

/// A user's own way to the pool of a [`Generational`]: a cache that deals in handles.
pub struct GenerationalUser<'a, U, const N: usize, W = Retire, const GENERATION_BITS: u32 = 31> {
    user: U,
    generations: &'a Generations<N>,
    policy: PhantomData<fn() -> W>,
}

impl<const N: usize> Generations<N> {
    const_fn! {
        const fn new() -> Self {
            Self { words: array![AtomicU32::new(0); N], retired: AtomicU32::new(0) }
        }
    }

    #[inline(always)]
    fn alloc(&self, user: &mut impl PoolUser) -> Result<Handle, AllocError> {
        let id = user.alloc()?;
        let word = self.words.get(id.wrapping_sub(user.base()) as usize);
        // Nobody else writes the word of a free ID: a free expects it to be odd. The pool orders this after the free before.
        let generation = word.map_or(1, |word| {
            let generation = word.load(ord!("pool-6", Relaxed)) | 1;
            word.store(generation, ord!("pool-7", Relaxed));
            generation
        });
        Ok(Handle::new(generation, id))
    }

    #[inline(always)]
    fn free<W: GenerationPolicy>(&self, user: &mut impl PoolUser, handle: Handle, bits: u32) -> Result<(), FreeError<Handle>> {
        let index = handle.id().wrapping_sub(user.base());
        let Some(word) = self.words.get(index as usize).filter(|_| index < user.capacity()) else {
            return Err(FreeError::OutOfRange(handle));
        };
        // Twice the allocations: below 2^(bits + 1).
        let next = handle.generation().wrapping_add(1) & (u32::MAX >> (31 - bits));
        // Of all frees of one allocation, one makes this step, before the pool can hand the ID out again.
        if word.compare_exchange(handle.generation(), next, ord!("pool-8", Relaxed), ord!("pool-9", Relaxed)).is_err() {
            return Err(FreeError::Stale(handle));
        }
        if next == 0 && !W::WRAPS {
            // The pool never gets it back, and so never hands it out.
            self.retired.fetch_add(1, ord!("pool-10", Relaxed));
            return Ok(());
        }
        user.free(handle.id()).map_err(|error| {
            // The ID was freed behind this wrapper's back. As before, then.
            word.store(handle.generation(), ord!("pool-11", Relaxed));
            error.map(|_| handle)
        })
    }

    fn is_current(&self, base: u32, handle: Handle) -> bool {
        let word = self.words.get(handle.id().wrapping_sub(base) as usize);
        word.is_some_and(|word| word.load(ord!("pool-12", Relaxed)) == handle.generation())
    }
}

impl<P: IdRange, const N: usize, W: GenerationPolicy, const GENERATION_BITS: u32> Generational<P, N, W, GENERATION_BITS> {
    const_fn! {
        /// The pool, with generations. Nothing of it is allocated yet.
        pub const fn new(pool: P) -> Self {
            const {
                assert!(P::MAX_CAPACITY as usize <= N, "Generational has a word for each of the pool's IDs");
                assert!(GENERATION_BITS <= 31, "a generation has at most 31 bits");
            }
            Self { pool, generations: Generations::new(), policy: PhantomData }
        }
    }

    /// The pool, with generations, if its number of IDs is known only at run time. Nothing of it is allocated yet.
    ///
    /// # Errors
    /// [`RangeError`] if `N` is too small.
    pub fn try_new(pool: P) -> Result<Self, RangeError> {
        const { assert!(GENERATION_BITS <= 31, "a generation has at most 31 bits") };
        check_range(pool.base(), pool.capacity(), N as u64)?;
        Ok(Self { pool, generations: Generations::new(), policy: PhantomData })
    }

    /// The pool inside. What is allocated or freed there directly is unknown here.
    pub fn pool(&self) -> &P {
        &self.pool
    }

    /// Handles for a user of the pool inside, such as a cache.
    ///
    /// # Errors
    /// The user, if it is of a pool with other IDs.
    pub fn user<U: PoolUser>(&self, user: U) -> Result<GenerationalUser<'_, U, N, W, GENERATION_BITS>, U> {
        if (user.base(), user.capacity()) == (self.pool.base(), self.pool.capacity()) {
            Ok(GenerationalUser { user, generations: &self.generations, policy: PhantomData })
        } else {
            Err(user)
        }
    }

    /// Whether the handle's allocation has not been freed, at some moment of the call. Other holders of the handle may free it.
    pub fn is_current(&self, handle: Handle) -> bool {
        self.generations.is_current(self.pool.base(), handle)
    }

    /// How many IDs nobody will get again.
    pub fn retired(&self) -> u32 {
        self.generations.retired.load(ord!("pool-13", Relaxed))
    }
}

impl<P: Pool, const N: usize, W: GenerationPolicy, const GENERATION_BITS: u32> Generational<P, N, W, GENERATION_BITS> {
    /// An ID that nobody has, in a generation of its own. Progress as the pool inside.
    ///
    /// # Errors
    /// As the pool inside.
    #[inline]
    pub fn alloc(&self) -> Result<Handle, AllocError> {
        self.generations.alloc(&mut &self.pool)
    }

    /// Takes an ID back. Progress as the pool inside.
    ///
    /// # Errors
    /// [`FreeError::OutOfRange`], and [`FreeError::Stale`] for every handle but that of the ID's present allocation. Nothing has changed
    /// then.
    #[inline]
    pub fn free(&self, handle: Handle) -> Result<(), FreeError<Handle>> {
        self.generations.free::<W>(&mut &self.pool, handle, GENERATION_BITS)
    }
}

impl<U: PoolUser, const N: usize, W: GenerationPolicy, const GENERATION_BITS: u32> GenerationalUser<'_, U, N, W, GENERATION_BITS> {
    /// An ID that nobody has, in a generation of its own. Progress as the user inside.
    ///
    /// # Errors
    /// As the user inside.
    #[inline]
    pub fn alloc(&mut self) -> Result<Handle, AllocError> {
        self.generations.alloc(&mut self.user)
    }

    /// Takes an ID back. Progress as the user inside.
    ///
    /// # Errors
    /// As [`Generational::free`].
    #[inline]
    pub fn free(&mut self, handle: Handle) -> Result<(), FreeError<Handle>> {
        self.generations.free::<W>(&mut self.user, handle, GENERATION_BITS)
    }

    /// The user inside, which knows nothing of generations.
    pub fn into_inner(self) -> U {
        self.user
    }
}

impl<P: IdRange, const N: usize, W, const GENERATION_BITS: u32> fmt::Debug for Generational<P, N, W, GENERATION_BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, capacity) = (self.pool.base(), self.pool.capacity());
        f.debug_struct("Generational").field("base", &base).field("capacity", &capacity).finish_non_exhaustive()
    }
}

impl<U: PoolUser, const N: usize, W, const GENERATION_BITS: u32> fmt::Debug for GenerationalUser<'_, U, N, W, GENERATION_BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, capacity) = (self.user.base(), self.user.capacity());
        f.debug_struct("GenerationalUser").field("base", &base).field("capacity", &capacity).finish_non_exhaustive()
    }
}
