//! jeton for programs with `std`: the structures of [`jeton_core`] under one name.
//!
//! Start with the page of the structure you need:
//!
//! | problem | module |
//! |---|---|
//! | number calls, requests or streams; count events in many threads | [`counter`] |
//! | hand out small numbers and take them back | [`pool`] |
//!
//! ```
//! use jeton::counter::{KuduCallIds, SharedIds};
//! static CALLS: SharedIds<KuduCallIds> = SharedIds::new();
//! assert_eq!(CALLS.next_id(), 0);
//! ```
//!
//! What needs neither threads nor waiting is in the core, and works without `std`.
#[doc(no_inline)]
pub use jeton_core::{docs, pool};

pub mod counter;
