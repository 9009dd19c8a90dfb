//! IDs that are handed out and taken back: pools.
mod error;
mod traits;

pub use error::{AllocError, FreeError, RangeError};
pub use traits::{IdRange, Pool, PoolUser};
