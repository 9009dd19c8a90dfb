//! Cancellation: the small operations in a loop, and the cancel of many.
//!
//! The benchmarks of MongoDB, and what each of them times:
//!
//! | benchmark | here | timed | not timed |
//! |---|---|---|---|
//! | `BM_create_single_token_from_source` | [`token`] | a token of a source, and its end | the source |
//! | `BM_uncancelable_token_ctor` | [`uncancelable`] | a token that is never canceled, and its end | |
//! | `BM_cancel_tokens_from_single_source/N` | [`cancel_and_drop`] | the cancel **and** the end of the source: all teardown | N times a token, an empty callback on it, the token's end: [`with_callbacks`] |
//! | `BM_check_if_token_from_source_canceled` | [`check`] | a check | source and token |
//! | `BM_cancelation_source_from_token_ctor` | [`child`] | a token of the parent, a child of that, the end of both | the parent |
//! | `BM_cancelation_source_default_ctor` | [`source`] | a source and its end, which dismisses it | |
//! | `BM_ranged_depth_cancelation_hierarchy/D` | [`Chain::cancel_and_drop`] | the cancel of the root **and** the end of all D sources | a chain of D children, an empty callback on each: [`Chain::new`] |
//!
//! Beside these: [`clone()`], [`child_directly`], [`register`], [`poll_again`], the cancel alone ([`cancel`], [`Chain::cancel`]), children that wait ([`Waiting`]), and the end of a
//! [`Middle`].
//!
//! [`nothing`] is the loop alone, which is part of every small operation.

use core::{
    hint::black_box,
    pin::Pin,
    task::{Context, Waker},
};

use jeton_core::sync::{AtomicU32, Ordering};

mod bulk;
mod jeton;
mod originals;
mod std_ext;
pub mod timed;

pub use bulk::{Chain, Middle, Waiting, are_over, cancel, cancel_and_drop, chain, siblings, wait_in, with_callbacks};
pub use jeton::{Arena, InPlace, Wide};
pub use originals::{After, Before};
pub use std_ext::{Heap, HeapBoxed};

/// What a callback gets: how often callbacks were called.
#[derive(Debug)]
pub struct Calls(AtomicU32);

impl Calls {
    /// None yet.
    #[expect(clippy::new_without_default, reason = "it stands in statics")]
    pub const fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    /// How often [`count`] was called.
    pub fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A callback.
pub type Callback = fn(&'static Calls);

/// The empty callback.
pub fn empty(_: &'static Calls) {}

/// A callback that counts its calls.
pub fn count(calls: &'static Calls) {
    calls.0.fetch_add(1, Ordering::Relaxed);
}

/// A callback that counts its calls, all of which are one thread's: without a read-modify-write, which would be half the time of a callback.
pub fn count_alone(calls: &'static Calls) {
    calls.0.store(calls.get().wrapping_add(1), Ordering::Relaxed);
}

/// What every callback that is not counted gets.
pub static NOBODY: Calls = Calls::new();

/// A kind of cancellation. A value of it knows where sources come from: an arena, or nothing at all for those on the heap.
pub trait Cancel: Copy {
    /// What cancels.
    type Source;
    /// What sees it.
    type Token<'s>: Clone;

    /// A source.
    fn source(self) -> Self::Source;
    /// A token.
    fn token(source: &Self::Source) -> Self::Token<'_>;
    /// A token that is never canceled.
    fn uncancelable() -> Self::Token<'static>;
    /// Whether it is canceled.
    fn is_canceled(token: &Self::Token<'_>) -> bool;
    /// Cancels.
    fn cancel(source: &Self::Source);
}

/// A kind with callbacks.
pub trait Attaches: Cancel {
    /// Has `callback` called when the source is canceled, without anybody who could take it back.
    ///
    /// # Panics
    /// If there is no room.
    fn attach(self, source: &mut Self::Source, callback: Callback, calls: &'static Calls);
}

/// A kind that has a hierarchy.
pub trait Hierarchy: Cancel {
    /// A source that is canceled when `parent` is: by a token of it, where that is a thing of its own.
    ///
    /// # Panics
    /// If there is no room.
    fn child(parent: &Self::Source) -> Self::Source;
    /// The same without a token, where there is such a way.
    ///
    /// # Panics
    /// If there is no room.
    #[inline]
    fn child_directly(parent: &Self::Source) -> Self::Source {
        Self::child(parent)
    }
}

/// A kind whose callbacks can be taken back.
pub trait Registers: Cancel {
    /// A callback that is registered.
    type Registration<'s>;
    /// Registers one.
    ///
    /// # Panics
    /// If there is no room.
    fn register<'s>(token: &Self::Token<'s>, callback: Callback, calls: &'static Calls) -> Self::Registration<'s>;
    /// Takes it back.
    fn deregister(registration: Self::Registration<'_>);
}

/// A kind that tasks can wait for.
pub trait Waits: Cancel {
    /// The future.
    type Wait<'s>: Future + Unpin;
    /// Waits for the cancel.
    fn wait<'s>(token: &Self::Token<'s>) -> Self::Wait<'s>;
}

/// Does it `calls` times; what comes out is used, then dropped.
#[inline(always)]
pub fn repeat<R>(calls: u32, mut operation: impl FnMut() -> R) {
    for _ in 0..calls {
        drop(black_box(operation()));
    }
}

/// The loop alone.
#[inline]
pub fn nothing(calls: u32) {
    repeat(calls, || ());
}

/// A token that is never canceled, and its end.
#[inline]
pub fn uncancelable<C: Cancel>(calls: u32) {
    repeat(calls, C::uncancelable);
}

/// A token and its end.
#[inline]
pub fn token<C: Cancel>(source: &C::Source, calls: u32) {
    repeat(calls, || C::token(source));
}

/// A clone of a token and its end.
#[inline]
pub fn clone<C: Cancel>(token: &C::Token<'_>, calls: u32) {
    repeat(calls, || token.clone());
}

/// A check of a token that is not canceled.
#[inline]
pub fn check<C: Cancel>(token: &C::Token<'_>, calls: u32) {
    repeat(calls, || C::is_canceled(token));
}

/// A source and its end.
#[inline]
pub fn source<C: Cancel>(kind: C, calls: u32) {
    repeat(calls, || kind.source());
}

/// A child and its end.
#[inline]
pub fn child<C: Hierarchy>(parent: &C::Source, calls: u32) {
    repeat(calls, || C::child(parent));
}

/// The same without a token of the parent.
#[inline]
pub fn child_directly<C: Hierarchy>(parent: &C::Source, calls: u32) {
    repeat(calls, || C::child_directly(parent));
}

/// A callback that is registered and taken back.
#[inline]
pub fn register<C: Registers>(token: &C::Token<'_>, calls: u32) {
    repeat(calls, || C::deregister(black_box(C::register(token, empty, &NOBODY))));
}

/// The first poll of a future.
///
/// # Panics
/// If it does not wait.
pub fn begin<W: Future + Unpin>(wait: &mut W, waker: &Waker) {
    assert!(Pin::new(wait).poll(&mut Context::from_waker(waker)).is_pending(), "nobody has canceled");
}

/// A poll of a future that waits, by the task that waits already.
///
/// # Panics
/// If it does not wait.
#[inline]
pub fn poll_again<W: Future + Unpin>(wait: &mut W, calls: u32) {
    begin(wait, Waker::noop());
    let mut context = Context::from_waker(Waker::noop());
    repeat(calls, || Pin::new(&mut *wait).poll(&mut context).is_pending());
}

#[cfg(test)]
mod tests;
