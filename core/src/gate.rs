//! Mode gates (page to be written).
mod states;

#[doc(inline)]
pub use crate::__states as states;
pub use states::{MOST_STATES, StateSet, States, Table, TransitionError};
