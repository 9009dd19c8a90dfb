//! jeton-core
#![no_std]
pub mod counter;
#[doc(hidden)]
pub mod sync;
