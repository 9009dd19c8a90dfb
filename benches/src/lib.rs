//! Exact instruction counts of jeton.
//!
//! * [`scenario`]: the measured code, one module a structure or paper; instruction counts, wall-clock runs and papers share it.
//! * [`originals`]: structures of others, written anew, which the scenarios run beside ours.
//! * [`harness`]: builds and runs the iai-callgrind benches, reads what they counted; behind `cargo icount` and `cargo papers`.
pub mod originals;
pub mod scenario;

#[cfg(feature = "command")]
pub mod harness;
