//! `Source`, and the holder that all of its copies share.

use std::{fmt, sync::Arc};

use super::{promise::Outcome, state::State, token::Token};

/// Cancels what its tokens see. When the last copy is gone, the state is dismissed.
#[derive(Clone)]
pub struct Source(Arc<Holder>);

struct Holder(Arc<State>);

impl Source {
    /// Not canceled.
    #[expect(clippy::new_without_default, reason = "nobody needs one")]
    pub fn new() -> Self {
        Self(Arc::new(Holder(Arc::new(State::new()))))
    }

    /// Is canceled when `parent` is; leaves a callback in the parent, for as long as that has not ended.
    pub fn child_of(parent: &Token) -> Self {
        let child = Self::new();
        // The state and not the holder: the child is dismissed when its sources are gone, though the parent knows it still.
        let state = child.0.0.clone();
        parent.on_end(move |outcome| {
            if outcome == Outcome::Canceled {
                state.end(Outcome::Canceled);
            }
        });
        child
    }

    /// A token.
    #[inline]
    pub fn token(&self) -> Token {
        Token(self.0.0.clone())
    }

    /// Cancels, and runs the callbacks; does nothing if it is canceled already.
    pub fn cancel(&self) {
        self.0.0.end(Outcome::Canceled);
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.end(Outcome::Dismissed);
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.token()).finish()
    }
}
