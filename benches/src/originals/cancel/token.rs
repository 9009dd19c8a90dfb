//! `Token`, and the two ways to get one that is never canceled.

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use super::{promise::Outcome, state::State};

/// Sees how a source stands; counts the state.
#[derive(Clone)]
pub struct Token(pub(super) Arc<State>);

impl Token {
    /// Is never canceled: a fresh state for each call, dismissed at once. As shipped.
    pub fn uncancelable_fresh() -> Self {
        let state = Arc::new(State::new());
        state.end(Outcome::Dismissed);
        Self(state)
    }

    /// Is never canceled: one state for all calls, which each of them counts. As the ticket proposes.
    pub fn uncancelable_static() -> Self {
        static STATE: OnceLock<Token> = OnceLock::new();
        STATE.get_or_init(Self::uncancelable_fresh).clone()
    }

    /// Whether it is canceled: one load.
    #[inline]
    pub fn is_canceled(&self) -> bool {
        self.0.is_canceled()
    }

    /// Whether it may still be canceled: no longer once it is.
    #[inline]
    pub fn is_cancelable(&self) -> bool {
        self.0.outcome().is_none()
    }

    /// Has `call` run by the thread that cancels or dismisses; by this one if that has happened. It cannot be taken back.
    pub fn on_end(&self, call: impl FnOnce(Outcome) + Send + 'static) {
        self.0.on_end(call);
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Token").field(&self.0.outcome()).finish()
    }
}
