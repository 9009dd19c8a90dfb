//! What `alloc`, `free` and the constructors refuse. Every error hands the value back and leaves the pool as it was.

use core::{error::Error, fmt};

/// Why there is no ID now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AllocError {
    /// All IDs were allocated, at some instant of the call.
    Exhausted,
    /// The call found no ID, but other calls were under way, and so it cannot say that there was none. Trying again may succeed.
    Contended,
}

/// Why an ID was not taken back: with the ID, or the handle, that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FreeError<T = u32> {
    /// It is none of the pool's IDs.
    OutOfRange(T),
    /// It is one of the pool's IDs, and nobody has it: freed before, or never handed out.
    NotAllocated(T),
    /// The handle is of an earlier allocation of its ID.
    Stale(T),
}

impl<T> FreeError<T> {
    /// The value that was refused.
    pub fn into_inner(self) -> T {
        match self {
            Self::OutOfRange(value) | Self::NotAllocated(value) | Self::Stale(value) => value,
        }
    }

    /// The same refusal, of the value that `change` makes.
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> FreeError<U> {
        match self {
            Self::OutOfRange(value) => FreeError::OutOfRange(change(value)),
            Self::NotAllocated(value) => FreeError::NotAllocated(change(value)),
            Self::Stale(value) => FreeError::Stale(change(value)),
        }
    }
}

/// Why a pool with this range of IDs cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RangeError {
    /// The last ID, base + capacity − 1, would not fit 32 bits.
    PastLastId {
        /// The first ID asked for.
        base: u32,
        /// The number of IDs asked for.
        capacity: u32,
    },
    /// The storage is for fewer IDs.
    StorageTooSmall {
        /// The number of IDs asked for.
        capacity: u32,
    },
}

impl fmt::Display for AllocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exhausted => "all IDs are allocated",
            Self::Contended => "no ID found while other calls were under way",
        })
    }
}

impl<T: fmt::Display> fmt::Display for FreeError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(id) => write!(f, "{id} is not in the pool's range"),
            Self::NotAllocated(id) => write!(f, "{id} is not allocated"),
            Self::Stale(id) => write!(f, "{id} is of an earlier allocation"),
        }
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PastLastId { base, capacity } => write!(f, "{capacity} IDs from {base} on go past 2^32 - 1"),
            Self::StorageTooSmall { capacity } => write!(f, "the storage has no room for {capacity} IDs"),
        }
    }
}

impl Error for AllocError {}
impl<T: fmt::Debug + fmt::Display> Error for FreeError<T> {}
impl Error for RangeError {}

/// Why an ID could not be reserved: with the ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReserveError {
    /// It is none of the pool's IDs.
    OutOfRange(u32),
    /// It is allocated already.
    Allocated(u32),
}

impl ReserveError {
    /// The same refusal, of the ID that `change` makes.
    pub fn map(self, change: impl FnOnce(u32) -> u32) -> Self {
        match self {
            Self::OutOfRange(id) => Self::OutOfRange(change(id)),
            Self::Allocated(id) => Self::Allocated(change(id)),
        }
    }
}

/// Why a slice of IDs was taken back only in part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SliceError {
    /// How many IDs are back: those before this place in the slice.
    pub freed: usize,
    /// Why the ID at this place was refused.
    pub error: FreeError,
}

impl SliceError {
    /// Takes IDs back by `free`, up to the first one that it refuses: what every `free_slice` does.
    ///
    /// # Errors
    /// How many are back, and the refusal.
    pub fn free_each(ids: &[u32], mut free: impl FnMut(u32) -> Result<(), FreeError>) -> Result<(), Self> {
        ids.iter().enumerate().try_for_each(|(freed, &id)| free(id).map_err(|error| Self { freed, error }))
    }
}

impl fmt::Display for ReserveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(id) => write!(f, "{id} is not in the pool's range"),
            Self::Allocated(id) => write!(f, "{id} is allocated already"),
        }
    }
}

impl fmt::Display for SliceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} IDs: {}", self.freed, self.error)
    }
}

impl Error for ReserveError {}
impl Error for SliceError {}
