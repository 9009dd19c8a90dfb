//! jeton
pub use jeton_core::counter;
