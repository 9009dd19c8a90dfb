//! The measured code. A scenario runs a number of operations and returns what a caller can check outside the measured region.
pub mod append;
pub mod cancel;
pub mod counter;
pub mod gate;
pub mod kudu;
pub mod pool;
