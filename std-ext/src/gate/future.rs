//! Futures: `Reached` and `Changed`.

use std::{
    fmt,
    marker::PhantomData,
    pin::Pin,
    task::{Context, Poll},
};

use jeton_core::gate::{StateSet, States};

use super::{
    changes::{Epoch, Moment},
    inner::{End, Inner},
    shared::Gate,
    waiting::Waiting,
};

/// The gate was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the gate is closed")
    }
}

impl std::error::Error for Closed {}

macro_rules! future {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[must_use = "a future does nothing until it is polled"]
        pub struct $name<'g, S> {
            waiting: Waiting<'g>,
            states: PhantomData<fn() -> S>,
        }

        impl<S: States> Future for $name<'_, S> {
            /// What the gate was when it came.
            type Output = Result<Moment<S>, Closed>;

            #[inline]
            fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
                self.waiting.poll(context).map(|end| match end {
                    End::Reached(word) => Ok(Gate::moment(word)),
                    // A task's wait has neither deadline nor token.
                    End::Closed | End::TimedOut | End::Canceled => Err(Closed),
                })
            }
        }

        impl<S> fmt::Debug for $name<'_, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    };
}

future! {
    /// Waits until a gate is in one of some states; see [`Gate::reached`]. It has a slot of the gate while it is pending.
    Reached
}

future! {
    /// Waits for any transition since an epoch; see [`Gate::changed`]. It has a slot of the gate while it is pending.
    Changed
}

impl<'g, S: States> Reached<'g, S> {
    pub(super) fn new(inner: &'g Inner, states: StateSet<S>) -> Self {
        Self { waiting: Waiting::new(inner, Gate::wanted(states)), states: PhantomData }
    }
}

impl<'g, S: States> Changed<'g, S> {
    pub(super) fn new(inner: &'g Inner, epoch: Epoch) -> Self {
        Self { waiting: Waiting::new(inner, Gate::<S>::change(epoch)), states: PhantomData }
    }
}
