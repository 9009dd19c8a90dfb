//! A mode that many check, few change, and some wait for: threads and tasks, on one word of 64 bits.

mod changes;
mod future;
mod inner;
mod parker;
mod shared;
mod slot;
mod tasks;
mod transition;
mod waiting;
mod word;

pub use changes::{Changes, Epoch, Moment, Waited};
pub use future::{Changed, Closed, Reached};
pub use shared::Gate;
pub use transition::{CommitError, Transition};

#[doc(no_inline)]
pub use jeton_core::gate::{MOST_STATES, StateSet, States, Table, TransitionError, states};
