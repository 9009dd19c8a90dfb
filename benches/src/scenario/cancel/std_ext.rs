//! Cancellation of the std extension in the scenarios.

use ::jeton::cancel::{CancelSource, CancelToken, Canceled, Registration};

use super::{Attaches, Callback, Calls, Cancel, Hierarchy, Registers, Waits};

/// Sources and tokens on the heap; a callback is a closure of two words, which lies in its slot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heap;

/// The same with closures of four words, which are boxed.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeapBoxed;

macro_rules! heap {
    ($kind:ty, |$callback:ident, $calls:ident| $closure:expr) => {
        impl Cancel for $kind {
            type Source = CancelSource;
            type Token<'s> = CancelToken;

            #[inline]
            fn source(self) -> CancelSource {
                CancelSource::new()
            }

            #[inline]
            fn token(source: &CancelSource) -> CancelToken {
                source.token()
            }

            #[inline]
            fn uncancelable() -> CancelToken {
                CancelToken::uncancelable()
            }

            #[inline]
            fn is_canceled(token: &CancelToken) -> bool {
                token.is_canceled()
            }

            #[inline]
            fn cancel(source: &CancelSource) {
                source.cancel();
            }
        }

        impl Attaches for $kind {
            fn attach(self, source: &mut CancelSource, callback: Callback, calls: &'static Calls) {
                Self::register(&source.token(), callback, calls).forget();
            }
        }

        impl Hierarchy for $kind {
            /// By a token of the parent, as MongoDB's benchmark makes it.
            #[inline]
            fn child(parent: &CancelSource) -> CancelSource {
                CancelSource::child_of(&parent.token())
            }

            #[inline]
            fn child_directly(parent: &CancelSource) -> CancelSource {
                parent.child()
            }
        }

        impl Registers for $kind {
            type Registration<'s> = Registration;

            #[inline]
            fn register<'s>(token: &Self::Token<'s>, $callback: Callback, $calls: &'static Calls) -> Self::Registration<'s> {
                token.on_cancel($closure).expect("nobody has canceled")
            }

            #[inline]
            fn deregister(registration: Registration) {
                registration.unregister();
            }
        }

        impl Waits for $kind {
            type Wait<'s> = Canceled;

            #[inline]
            fn wait<'s>(token: &Self::Token<'s>) -> Self::Wait<'s> {
                token.canceled()
            }
        }
    };
}

heap!(Heap, |callback, calls| move || callback(calls));
heap!(HeapBoxed, |callback, calls| {
    let more = [core::ptr::from_ref(calls).addr(); 2];
    move || {
        core::hint::black_box(more);
        callback(calls);
    }
});
