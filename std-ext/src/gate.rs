//! A mode that many check, few change, and some wait for: threads and tasks, on one word of 64 bits.

mod changes;
mod future;
mod inner;
mod parker;
mod shared;
mod slot;
mod states;
mod tasks;
mod transition;
mod waiting;
mod word;

pub use changes::{Changes, Epoch, Moment, Waited};
pub use future::{Changed, Closed, Reached};
pub use shared::Gate;
pub use states::{StateSet, States};
pub use transition::{Transition, TransitionError};
