//! jeton for programs with `std`: the structures of [`jeton_core`] under one name.
//!
//! Start with the page of the structure you need:
//!
//! | problem | module |
//! |---|---|
//! | number calls, requests or streams | [`counter`] |
//!
//! ```
//! use jeton::counter::{KuduCallIds, SharedIds};
//! static CALLS: SharedIds<KuduCallIds> = SharedIds::new();
//! assert_eq!(CALLS.next_id(), 0);
//! ```
//!
//! Thread-local caches and blocking waits will live here; what needs neither stays in the core and works without `std`.
#[doc(no_inline)]
pub use jeton_core::{counter, docs};
