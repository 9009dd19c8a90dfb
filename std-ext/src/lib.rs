//! jeton for programs with `std`: the structures of [`jeton_core`] under one name.
//!
//! Start with the page of the structure you need:
//!
//! | problem | module |
//! |---|---|
//! | number calls, requests or streams; count events in many threads | [`counter`] |
//! | say "stop" to many, in trees: callbacks, futures, blocking waits | [`cancel`] |
//! | build messages, in memory that grows or not; write one log from many threads, with or without an end | [`append`] |
//! | hand out slots, ports or streams and take them back; wait for one | [`pool`] |
//! | a mode that is checked often, changed rarely, and waited for | [`gate`] |
//!
//! ```
//! use jeton::counter::{KuduCallIds, SharedIds};
//! static CALLS: SharedIds<KuduCallIds> = SharedIds::new();
//! assert_eq!(CALLS.next_id(), 0);
//! ```
//!
//! ```
//! use std::time::Duration;
//! use jeton::pool::{AllocError, IdPool};
//! let slots = IdPool::new(2)?; // for any number of threads; its clones are the same pool
//! let (first, second) = (slots.alloc_guard()?, slots.alloc_wait());
//! assert_eq!(slots.alloc_timeout(Duration::from_millis(1)), Err(AllocError::Exhausted));
//! drop(first); // back, whichever thread does it, and whoever waits is woken
//! assert_eq!(slots.alloc_wait(), 0);
//! # slots.free_slice(&[0, second])?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! What needs neither threads nor waiting is in the core, and works without `std`.
#[doc(no_inline)]
pub use jeton_core::docs;

pub mod append;
pub mod cancel;
pub mod counter;
pub mod gate;
mod park;
pub mod pool;
mod thread_number;
mod wait;
// The system's own, where it is one word of 64 bits that can change at once; the other one is tested on Linux too. Under Miri it is always the other
// one: that the system reads half of the word is for Miri an access of another size than the word's.
#[cfg_attr(all(target_os = "linux", target_has_atomic = "64", not(miri)), path = "wait/futex.rs")]
#[cfg_attr(not(all(target_os = "linux", target_has_atomic = "64", not(miri))), path = "wait/parking.rs")]
mod wait_word;

/// All that waits, from `std`. A model compiles the files that use it with its checker's own in this place.
mod blocking {
    pub(crate) use std::{
        sync::{Condvar, Mutex, MutexGuard},
        thread::yield_now,
        time::Instant,
    };
}

/// Who looks at a segment that may go. A model puts its own in this place, where its checker takes the place of the hardware.
mod epoch {
    pub(crate) use crossbeam_epoch::{Guard, pin};
}

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
