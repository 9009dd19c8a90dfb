//! Sequential specifications: what each call returns when calls come one after another.
pub mod append;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
pub mod append_calls;
pub mod cancel;
pub mod counter;
pub mod free_list;
pub mod gate;
pub mod pool;
