//! What the step tests of the pools have in common: their errors are other types than the specification's.

use crate::pool::{AllocError, FreeError};

/// As the error that the specification is made with, which is another type.
pub fn alloc_error(error: AllocError) -> jeton_core::pool::AllocError {
    match error {
        AllocError::Exhausted => jeton_core::pool::AllocError::Exhausted,
        AllocError::Contended => jeton_core::pool::AllocError::Contended,
    }
}

/// The same of a free.
pub fn free_error(error: FreeError) -> jeton_core::pool::FreeError {
    match error {
        FreeError::OutOfRange(id) => jeton_core::pool::FreeError::OutOfRange(id),
        FreeError::NotAllocated(id) => jeton_core::pool::FreeError::NotAllocated(id),
        FreeError::Stale(id) => jeton_core::pool::FreeError::Stale(id),
    }
}
