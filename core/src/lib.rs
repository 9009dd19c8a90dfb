//! Lock-free structures for `no_std`, without allocation: every one of them can stand in a `static` on a microcontroller.
//!
//! Each structure comes with the page that explains it (its module here), a reason for every atomic operation (a table on that
//! page), tests that hold it to its specification, and its exact cost in instructions.
//!
//! # Which structure for which problem
//!
//! | problem | module | progress |
//! |---|---|---|
//! | number calls, requests or streams | [`counter`] | one load and one store for an owner; one `fetch_add` for anybody |
//! | count events in many contexts | [`counter`] | one load and one store in a stripe of one's own |
//! | hand out small numbers and take them back, the smallest first | [`pool`] | one read-modify-write to allocate, two to free |
//! | hand out small numbers and take them back, at the cost of an array access | [`pool::magazine`] | wait-free for an owner with IDs or room in its cache; for several users one read-modify-write |
//! | number calls in flight, and know late answers from current ones | [`pool::in_flight`] | as the pool |
//! | say "stop" to many, each of whom asks, waits or is called | [`cancel`] | one load to ask; nobody waits for anybody |
//! | build a message of many small parts | [`append`] | one test an append, or one for many |
//! | write one log from many threads or interrupt handlers, and read it meanwhile | [`append`] | one compare-and-swap a record, or one store; nobody waits for anybody |
//! | allow operations in one mode, change it, and wait for it | [`gate`] | one load to check; one compare-and-swap to change |
//!
//! # Reading order
//!
//! 1. [`counter`]: one word, relaxed operations. Shows how a page is built, and why even this needs care at its end.
//! 2. [`append`]: what the compiler cannot know about a byte, and memory that changes hands once, by a header.
//! 3. [`pool`]: a bit an ID; acquire and release, and why "exhausted" is hard to say.
//! 4. [`pool::in_flight`]: two structures made one, and calls that race with their own time-outs.
//! 5. [`pool::magazine`]: memory that changes hands by a bit, caches that are stolen from, and proof that nothing was anywhere.
//! 6. [`cancel`]: two sides that must not miss each other, code of others in the middle of it, and a tree without lists.
//! 7. [`gate`]: one word for two questions, who may go on and who must be woken; and a table that is proved when it is compiled.
//!
//! The [guide](docs::guide) shows the way onto a chip, the [glossary](docs::glossary) has the words, and
//! [progress by target](docs::progress_by_target) says which operation masks interrupts where.
//!
//! # Papers
//!
//! Five published performance stories are the origin of this crate. `cargo papers`, in a clone of the repository, measures their
//! documented figures again, row by row, with a verdict for each.
//!
//! # Panics
//!
//! None: what a caller can do wrong is an error with a type, or does not compile.
#![no_std]
#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod append;
pub mod cancel;
pub mod counter;
pub mod docs;
pub mod gate;
pub mod pool;
#[doc(hidden)]
pub mod sync;
#[doc(hidden)]
pub mod util;
