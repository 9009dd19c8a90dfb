//! IDs that are handed out and taken back: everything of [`jeton_core::pool`], and a pool for threads, which can also wait.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! Slots, ports or stream numbers for all threads of a program, how many being known at run time. The obvious solution is a vector of free
//! IDs behind a mutex, and a condition variable for those who wait: right, and every call of every thread takes the lock. With
//! a cache a thread, calls are cheap. What goes wrong then, by the reports: one thread's cache holds the IDs that another one is
//! refused; a thread ends and its IDs with it; threads beyond some number panic; a use in a thread-local's destructor panics; an ID that is
//! freed into a cache wakes nobody.
//!
//! # 2. Use / don't use
//!
//! [`IdPool`] is for any number of threads that live and die. For a fixed set of users, such as the threads of a run time of your own,
//! use the core's [`StealableCache`] in a `static`; for a thread that may keep IDs to itself, an owner's [`Cache`]. To find double
//! frees, wrap the pool in [`Checked`]. Who needs the smallest ID, or needs to reserve one, uses [`BitPool`].
//! Don't wait in a signal handler, nor free there while others wait: both may take a lock.
//!
//! # 3. Example
//!
//! ```
//! use std::{thread, time::Duration};
//! use jeton::pool::IdPool;
//!
//! let ports = IdPool::with_range(50_000, 4)?;
//! thread::scope(|scope| {
//!     for _ in 0..10 {
//!         scope.spawn(|| {
//!             let port = ports.alloc_wait(); // at most 4 at a time
//!             thread::sleep(Duration::from_millis(1));
//!             ports.free(port).expect("it was allocated");
//!         });
//!     }
//! });
//! assert_eq!(ports.available(), 4);
//! # Ok::<(), jeton::pool::IdPoolError>(())
//! ```
//!
//! # 4. State
//!
//! The core's pool and users, in boxes; which user is a thread's own, the thread's number says, which all structures share (see
//! [`counter`](crate::counter)): nothing is kept for a pair of thread and pool. Beside them is a wait:
//!
//! | part | what it holds |
//! |---|---|
//! | user `i` | IDs cached by the threads whose number is `i` modulo the number of users; within everybody's reach |
//! | the pool's press | somebody waits, or has waited, and nobody has freed an ID since |
//! | `wakes` | how often somebody was to be woken |
//! | `sleeping` | threads that sleep, or are about to leave their sleep |
//!
//! # 5. Invariants
//!
//! The pool's own are the core's. Of the wait:
//!
//! * **W1** A waiter takes a ticket, presses, and looks, in this order, and sleeps only with that ticket and only if that look has
//!   found all IDs taken at one instant. A free that comes after that instant finds the press, or another free has found it and come
//!   before; either of them wakes somebody, after the ticket was taken.
//! * **W2** If the look could not say so because others were moving IDs, the waiter sleeps for no more than a millisecond.
//! * **W3** A waiter that leaves, with an ID or without, wakes another one. So a wake is never lost on somebody who did not need
//!   it any more, and two IDs freed after one press are found by two waiters.
//!
//! So nobody sleeps for good beside a free ID. Suppose somebody does, and let S be the sleeper that pressed last. By W1 the ID was freed
//! after the look of S, and a wake came after its ticket. It woke some other sleeper, or somebody with a ticket did not go to sleep because of
//! it. That one has pressed and looked since. It did not go to sleep again after that, for then it would have pressed after S. So it has
//! left, and by W3 woken another one, of which the same is true. There are finitely many, and the last one to be woken is S.
//!
//! # 6. Orderings
//!
//! There are no atomic operations here: the press and what a free sees of it are rows of [`jeton_core::pool`]
//! (`whoever_presses_finds_an_id_or_is_told` is the model), and the wait has a mutex. That orders what W1 needs: had a waker been there
//! before the ticket was taken, its unlocking would come before that ticket, so before the press, and it could not have found that press.
//!
//! | model of the wait | finds it if |
//! |---|---|
//! | `a_waiter_is_woken_by_a_free_into_another_cache` | the press or the ticket comes after the look, a wake is not counted or comes before it is, the sleep does not compare the ticket, or W2 is left out |
//! | `two_waiters_share_what_one_thread_gives_back` | the ticket comes after the press, one press is to do for several looks, or who got an ID wakes nobody (W3) |
//! | `a_waiter_that_gives_up_passes_its_wake_on` | who got none wakes nobody (W3) |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `alloc` | never waits; bounded; a thread's first one looks through up to 256 numbers | the core's |
//! | `free` while nobody waits | never waits | the core's |
//! | `free` while somebody waits | blocking: a mutex that is held for a few instructions | the core's |
//! | `alloc_wait`, `alloc_timeout`, `alloc_deadline` | blocking, if there is no ID at once | that of the `alloc` within |
//!
//! Of several frees that come together only one is told to wake somebody. If that one's thread is stopped just then, the waiter sleeps
//! until it goes on, whatever the others free meanwhile.
//!
//! # 8. Cost
//!
//! As the core's [`StealableCache`], and the access to a thread-local. Waiting costs a free that nobody waits for nothing: it tests the
//! press together with the ID's range.
//!
//! # 9. What surprised us
//!
//! * There is no code for the end of a thread. Caches that anybody can take from need no flush, no list of caches, and no destructor.
//! * The usual wait needs a full fence in every free, between giving the ID back and looking for waiters. Here both happen inside of a
//!   cache that a waiter enters as well, and whoever is second sees the first.
//!
//! # 10. References
//!
//! * J. Bonwick, J. Adams, "Magazines and Vmem", USENIX 2001: caches of two magazines.
//! * D. Vyukov, "Eventcount", 2008: waiting for what is found without a lock.
mod guard;
mod id_pool;
mod storage;
mod waiting;

pub use guard::IdGuard;
pub use id_pool::{IdPool, IdPoolError};
pub use jeton_core::pool::*;
