//! Pools, cancellation, buffers and a queue of others, written anew from what is known of how they work, without a line of their code.
//!
//! They are what the papers measure, and rivals of ours: their faults are theirs too (see each).
pub mod buf_builder;
pub mod cancel;
mod map_pool;
pub mod queue;
mod slab_pool;
mod spin_lock;

pub use map_pool::MapPool;
pub use slab_pool::{SLAB, SlabPool};
pub use spin_lock::{Lean, Lock, Shipped};
