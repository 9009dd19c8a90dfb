//! Where the kinds come from that the scenarios know: trees of our core, and tokio-util put into the scenarios' terms.

use std::pin::Pin;

use jeton_benches::scenario::cancel::{Cancel, Hierarchy, Waits};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

/// On cache lines of its own.
#[repr(align(128))]
pub(super) struct Alone<T>(pub(super) T);

/// Nodes of a tree of the contender's own. They are free again after each window, so that it is fresh for the next one.
macro_rules! tree {
    ($kind:ident<$nodes:literal>, $slots:literal) => {{
        static TREE: $crate::cancel::kinds::Alone<jeton_core::cancel::Tree<$nodes, $slots>> =
            $crate::cancel::kinds::Alone(jeton_core::cancel::Tree::new());
        $kind(&TREE.0)
    }};
}
pub(super) use tree;

/// tokio-util: the token is the source too.
#[derive(Clone, Copy, Debug)]
pub(super) struct TokioUtil;

impl Cancel for TokioUtil {
    type Source = CancellationToken;
    type Token<'s> = CancellationToken;

    #[inline]
    fn source(self) -> CancellationToken {
        CancellationToken::new()
    }

    #[inline]
    fn token(source: &CancellationToken) -> CancellationToken {
        source.clone()
    }

    /// It has none: a fresh one, which nobody cancels.
    #[inline]
    fn uncancelable() -> CancellationToken {
        CancellationToken::new()
    }

    #[inline]
    fn is_canceled(token: &CancellationToken) -> bool {
        token.is_cancelled()
    }

    #[inline]
    fn cancel(source: &CancellationToken) {
        source.cancel();
    }
}

impl Hierarchy for TokioUtil {
    #[inline]
    fn child(parent: &CancellationToken) -> CancellationToken {
        parent.child_token()
    }
}

/// Its future must not move once it is polled. It is boxed before the window.
impl Waits for TokioUtil {
    type Wait<'s> = Pin<Box<WaitForCancellationFutureOwned>>;

    fn wait<'s>(token: &CancellationToken) -> Self::Wait<'s> {
        Box::pin(token.clone().cancelled_owned())
    }
}
