//! Cancellation of MongoDB in the scenarios: before and after the change of the ticket, which is one function.

use super::{Attaches, Callback, Calls, Cancel, Hierarchy};
use crate::originals::cancel::{Outcome, Source, Token};

/// A fresh state for each token that is never canceled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Before;

/// One state for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct After;

macro_rules! original {
    ($kind:ty, $uncancelable:ident) => {
        impl Cancel for $kind {
            type Source = Source;
            type Token<'s> = Token;

            #[inline]
            fn source(self) -> Source {
                Source::new()
            }

            #[inline]
            fn token(source: &Source) -> Token {
                source.token()
            }

            #[inline]
            fn uncancelable() -> Token {
                Token::$uncancelable()
            }

            #[inline]
            fn is_canceled(token: &Token) -> bool {
                token.is_canceled()
            }

            #[inline]
            fn cancel(source: &Source) {
                source.cancel();
            }
        }

        impl Attaches for $kind {
            fn attach(self, source: &mut Source, callback: Callback, calls: &'static Calls) {
                source.token().on_end(move |outcome| {
                    if outcome == Outcome::Canceled {
                        callback(calls);
                    }
                });
            }
        }

        impl Hierarchy for $kind {
            #[inline]
            fn child(parent: &Source) -> Source {
                Source::child_of(&parent.token())
            }
        }
    };
}

original!(Before, uncancelable_fresh);
original!(After, uncancelable_static);
