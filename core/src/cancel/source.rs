//! `Source`, and the two that are never written.

use core::fmt;

use super::{
    inner::{EntrySlot, Inner},
    status::{Reason, Status},
    token::Token,
    word::Word,
};
use crate::const_fn;

/// What can be canceled, once, with room for `N` registrations, at most 32.
///
/// Everything takes `&self`: whoever may cancel gets a reference, everybody else a [`Token`]. Dropping it cancels nothing.
///
/// # Ordering
/// What was done before [`cancel`](Self::cancel) is visible to whoever sees that it is canceled, and to its callbacks.
///
/// # Examples
/// ```
/// use jeton_core::cancel::{Reason, Source, Status};
///
/// static STOP: Source<4> = Source::new(); // zero bytes in .bss
/// assert!(STOP.cancel_with(Reason::new(16)));
/// assert!(!STOP.cancel()); // the first one counts
/// assert_eq!(STOP.token().status(), Status::Canceled(Reason::new(16)));
/// ```
pub struct Source<const N: usize> {
    inner: Inner<[EntrySlot; N]>,
}

impl<const N: usize> Source<N> {
    const_fn! {
        /// Active, without registrations.
        pub const fn new() -> Self {
            Self { inner: Inner::new(Word(0)) }
        }
    }

    #[cfg(not(jeton_loom))]
    const fn with(word: Word) -> Self {
        Self { inner: Inner::new(word) }
    }

    const fn inner(&self) -> &Inner<[EntrySlot]> {
        &self.inner
    }

    /// A token of this source. Nothing is written.
    #[inline]
    pub const fn token(&self) -> Token<'_> {
        Token(self.inner())
    }

    /// As [`cancel_with`](Self::cancel_with) with [`Reason::REQUESTED`].
    pub fn cancel(&self) -> bool {
        self.cancel_with(Reason::REQUESTED)
    }

    /// Cancels it, and calls what is registered; whether this call has done it. It does not wait for another one that has.
    ///
    /// Lock-free; callbacks take the time that they take. If one panics, the others are called before the panic goes on;
    /// a second panic meanwhile aborts the program.
    pub fn cancel_with(&self, reason: Reason) -> bool {
        self.inner().cancel(reason)
    }

    /// Says that it will never be canceled, wakes who waits, and forgets the callbacks; whether this call has done it. Lock-free.
    pub fn dismiss(&self) -> bool {
        self.inner().dismiss()
    }

    /// Lets [`poll_deadline`](Self::poll_deadline) cancel it from tick `at` on, and no other; whether it is still active.
    ///
    /// Ticks are the user's: 32 bits of any clock, which may wrap. A deadline is at most 2^31 − 1 ticks ahead, and polled at least once in
    /// the 2^31 ticks after it.
    pub fn set_deadline(&self, at: u32) -> bool {
        self.inner().set_deadline(at)
    }

    /// Cancels it with [`Reason::DEADLINE`] if its deadline has come; whether this call has done it.
    ///
    /// A call that is under way while the deadline is put off may still cancel by the one before, also after
    /// [`set_deadline`](Self::set_deadline) has said that it is active.
    pub fn poll_deadline(&self, now: u32) -> bool {
        self.inner().deadline_has_passed(now) && self.cancel_with(Reason::DEADLINE)
    }

    /// As [`Token::status`].
    #[inline]
    pub fn status(&self) -> Status {
        self.inner().status()
    }
}

/// Is never canceled. It is never written, so that no two threads meet on it.
#[cfg(not(jeton_loom))]
pub static UNCANCELABLE: Source<0> = Source::with(Word(Word::DISMISSED));

/// Is canceled from the beginning, with [`Reason::REQUESTED`]. It is never written.
#[cfg(not(jeton_loom))]
pub static CANCELED: Source<0> = Source::with(Word(Word::CANCELED));

#[cfg(not(jeton_loom))]
impl Token<'static> {
    /// A token that is never canceled.
    #[inline]
    pub const fn uncancelable() -> Self {
        UNCANCELABLE.token()
    }
}

impl<const N: usize> Default for Source<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize> fmt::Debug for Source<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.status()).finish()
    }
}
