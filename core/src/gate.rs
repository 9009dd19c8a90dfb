//! Mode gates (page to be written).
mod future;
mod moment;
mod shared;
mod states;
mod transition;
mod waiters;
mod word;

#[doc(inline)]
pub use crate::__states as states;
pub use future::{Changed, Reached};
pub use moment::{Epoch, Moment, WaitError};
pub use shared::Gate;
pub use states::{MOST_STATES, StateSet, States, Table, TransitionError};
pub use transition::Transition;
