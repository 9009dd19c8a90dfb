//! Cancellation on the heap: sources and tokens to be cloned and sent, trees of any depth, callbacks, futures and blocking waits.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! [`jeton_core::cancel`] says what a cancellation is, and does it in memory that is there from the beginning. A server has requests that
//! come and go, in trees that nobody can bound. The obvious solution is a node with a mutex and a list of children and wakers. Then, by the
//! reports of others: a check takes the lock; a callback runs under it; a parent that lives long grows with each child; parent and child unlink
//! each other, and one of them is freed twice; dropping a node in the middle moves all its children; and deep trees overflow the stack.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | something to stop | [`CancelSource`]; its last clone's drop *dismisses* the tokens, unless it is [kept](CancelSource::keep) |
//! | something within it | [`CancelSource::child`], [`CancelToken::child`] |
//! | code that may be stopped | [`CancelToken`]: a clone is a count, [`CancelToken::uncancelable`] not even that |
//! | something to be done at once when it is canceled | [`CancelToken::on_cancel`] |
//! | a task, a thread that waits | [`CancelToken::canceled`], [`CancelToken::run_until_canceled`]; [`CancelToken::wait`] |
//!
//! Don't use it where memory must not be allocated (that is the core), to hand over values, or to wait until all have stopped.
//!
//! # 3. Example
//!
//! ```
//! use jeton::cancel::{CancelSource, CancelToken, Reason, Status};
//! use std::{sync::mpsc, thread, time::Duration};
//!
//! fn work(token: &CancelToken) -> usize {
//!     (0..1000).take_while(|_| !token.is_canceled()).count()
//! }
//!
//! let server = CancelSource::new();
//! let request = server.child();
//! let (stopped, stops) = mpsc::channel();
//! let registration = request.token().on_cancel(move || stopped.send("stopped").unwrap()).expect("not canceled");
//! let waiter = thread::spawn({
//!     let token = request.token();
//!     move || token.wait_timeout(Duration::from_secs(60))
//! });
//! assert_eq!((work(&request.token()), work(&CancelToken::uncancelable())), (1000, 1000));
//! assert!(server.cancel_with(Reason::new(17)));
//! assert_eq!((work(&request.token()), request.status()), (0, Status::Canceled(Reason::new(17))));
//! assert_eq!((stops.recv(), waiter.join().unwrap()), (Ok("stopped"), Ok(Reason::new(17))));
//! drop(registration); // waits for a callback that another thread is calling
//! ```
//!
//! # 4. State
//!
//! One allocation a node: two counts, a word, the parent, and a table of slots, one of which lies in the node. The word's flags and reason:
//!
//! | canceled | dismissed | visited | notifying | status |
//! |---|---|---|---|---|
//! | 0 | 0 | 0 | 0 | `Active` |
//! | 1 | 0 | 0 | 1 | `Canceled`; its callbacks, or some below it, are not all done |
//! | 1 | 0 | 0 | 0 | `Canceled` |
//! | 0 | 1 | 0 | 0 | `Dismissed` |
//! | 0 | 1 | 1 | 1 | `Dismissed`, and a cancel goes through it to what is below |
//! | 0 | 1 | 1 | 0 | `Dismissed`, and what is below is canceled |
//!
//! A slot's word; a slot that is *done* is not used again, and so is its node:
//!
//! ```text
//! idle -> callback -> running -> done        arm; claim; the end of the callback
//! idle -> callback, waker, child -> done     arm; claim
//! idle <- callback, waker, child             disarm, by the slot's owner
//!
//! users: sources, tokens, registrations, futures, children      parent <--- user --- child
//! (a child slot is no user: it lends the child to one cancel)   parent --- slot ---> child
//! ```
//!
//! The child's last user takes it out of the slot and frees it. If a cancel has taken it out before, both say so in the child's word, *released* and
//! *unpinned*, and the second one frees it.
//!
//! # 5. Invariants
//!
//! * **N1** A node is there while it has users. Each source, token, registration, future and child is one, and is counted before the one that it
//!   was made from goes. A count that has become immortal stays it: its node is never freed.
//! * **N2** A node is a user of its parent from its birth until it is freed. Parents are fixed, so that there is no circle.
//! * **N3** A slot belongs to the one who has taken it, from `take` to `put_back`. Its payload belongs to that owner while it is idle, to the one who has
//!   moved its word on from *armed* after that. Nobody writes the payload of a slot that is running or done.
//! * **N4** Spine and segments never move, and go with the node; an index is handed out after its segment is in the spine.
//! * **N5** A child's slot is claimed once. Who has claimed it may use the child until it has said *unpinned*; its last user, once it has found
//!   the slot claimed, until it has said *released*. Whoever comes second frees it; without a claim, the last user.
//! * **N6** `next` belongs to the call that has marked the node, `lost` to the one that has claimed it and found it marked.
//! * **N7** A slot is armed before the read-modify-write of the node's word by which its owner learns how the node stands; a cancel looks at the slots
//!   after its own. So a callback is called or handed back, a waker is woken or its task sees the cancel, a child is marked or marks itself.
//! * **N8** A closure that fits lies in its slot, another one in a box, and `Callback::end` was made for that type.
//! * **N9** A word that is not active is not written by registrations, nor one that is marked by births, except by those that have seen it otherwise;
//!   the count of a static is not written at all.
//! * **R1** Who is in the room is a user of the node that it sleeps for. **R2** A cancel says which thread it is before it calls a callback there.
//!
//! # 6. Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | cancel-std-1 | arming a slot: store | Release | cancel-std-5 | who claims it takes out what is not there yet | `a_slot_that_is_used_again_beside_a_cancel_calls_its_new_closure` |
//! | cancel-std-2 | disarming: compare-and-swap, success | Relaxed | nothing: who disarms has armed | – | nothing weaker |
//! | cancel-std-3 | disarming: compare-and-swap, failure | Acquire | cancel-std-7 | who finds a callback done does not see what it did | `what_unregister_says_is_so` |
//! | cancel-std-4 | a look at a slot: load | Relaxed | nothing: cancel-std-5 decides | – | nothing weaker |
//! | cancel-std-5 | claiming: compare-and-swap, success | Acquire | cancel-std-1 | as cancel-std-1 | `a_slot_that_is_used_again_beside_a_cancel_calls_its_new_closure` |
//! | cancel-std-6 | claiming: compare-and-swap, failure | Relaxed | nothing: it is left alone | – | nothing weaker |
//! | cancel-std-7 | end of a callback: swap | Release | cancel-std-3, cancel-std-50 | as cancel-std-3 | `who_drops_a_registration_has_its_memory_for_itself` |
//! | cancel-std-8 | `take`: load of the head | Acquire | cancel-std-14 | a slot is written before its last owner has read it; its segment is not seen | `a_slot_goes_from_one_thread_to_another` |
//! | cancel-std-9 | `take`: load of the next | Relaxed | nothing: if it is stale, so is the tag | – | nothing weaker |
//! | cancel-std-10 | `take`: compare-and-swap, success | Relaxed | nothing: it is the head that was acquired, since each `take` changes the tag | – | nothing weaker |
//! | cancel-std-11 | `take`: compare-and-swap, failure | Acquire | cancel-std-14 | as cancel-std-8 | `a_slot_goes_from_one_thread_to_another` |
//! | cancel-std-12 | `give`: load of the head | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-std-13 | `give`: store of the next | Relaxed | nothing: cancel-std-14 publishes it | – | nothing weaker |
//! | cancel-std-14 | `give`: compare-and-swap, success | Release | cancel-std-8, cancel-std-11 | as cancel-std-8 | `a_slot_goes_from_one_thread_to_another` |
//! | cancel-std-15 | `give`: compare-and-swap, failure | Relaxed | nothing: tries again | – | nothing weaker |
//! | cancel-std-16 | `far_slot`: load of the spine | Relaxed | nothing: who has the index has seen it | – | nothing weaker |
//! | cancel-std-17 | `far_slot`: load of the segment | Relaxed | nothing, as cancel-std-16 | – | nothing weaker |
//! | cancel-std-18 | `grow`: load of a segment | Relaxed | nothing: only whether it is there | – | nothing weaker |
//! | cancel-std-19 | `grow`: compare-and-swap of a segment, success | Release | cancel-std-27 | a cancel looks at slots that are not made yet | `a_closure_in_a_new_segment_is_called_or_handed_back` |
//! | cancel-std-20 | `grow`: compare-and-swap of a segment, failure | Relaxed | nothing: the own one is freed | – | nothing weaker |
//! | cancel-std-21 | `grow`: load of the last segment | Relaxed | nothing: only whether it is there | – | nothing weaker |
//! | cancel-std-22 | `grow`: load of the head | Relaxed | nothing: `take` looks again | – | nothing weaker |
//! | cancel-std-23 | `spine`: load | Acquire | cancel-std-24 | segments are looked up in a spine that is not made yet | `a_table_that_grows_in_two_threads_loses_no_closure` |
//! | cancel-std-24 | `spine`: compare-and-swap, success | Release | cancel-std-23, cancel-std-25, cancel-std-26 | as cancel-std-23 | `a_table_that_grows_in_two_threads_loses_no_closure` |
//! | cancel-std-25 | `spine`: compare-and-swap, failure | Acquire | cancel-std-24 | as cancel-std-23 | `a_table_that_grows_in_two_threads_loses_no_closure` |
//! | cancel-std-26 | a look at all slots: load of the spine | Acquire | cancel-std-24 | as cancel-std-23 | `a_closure_in_a_new_segment_is_called_or_handed_back` |
//! | cancel-std-27 | a look at all slots: load of a segment | Acquire | cancel-std-19 | as cancel-std-19 | `a_closure_in_a_new_segment_is_called_or_handed_back` |
//! | cancel-std-28 | freeing a table: load of the spine | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | cancel-std-29 | freeing a table: load of a segment | Relaxed | nothing, as cancel-std-28 | – | nothing weaker |
//! | cancel-std-30 | a count becomes immortal: store | Relaxed | nothing: it is never counted again | – | nothing weaker |
//! | cancel-std-31 | whether a count is immortal: load | Relaxed | nothing, as cancel-std-30 | – | nothing weaker |
//! | cancel-std-32 | end of a cancel's use of a child: fetch_add of *unpinned* | AcqRel | cancel-std-46, cancel-std-50 | who frees the child does not see what the other has done with it | `a_child_dropped_beside_its_parents_cancel_is_freed_once` |
//! | cancel-std-33 | end of a cancel: fetch_and of *notifying* | Release | cancel-std-34, cancel-std-50 | who has waited does not see what callbacks did | `who_waits_for_the_end_of_a_cancel_sees_what_callbacks_did` |
//! | cancel-std-34 | `status` and the like: load | Acquire | cancel-std-39, cancel-std-33 | what was done before the cancel is not visible | `who_sees_a_cancel_of_a_heap_source_sees_what_came_before` |
//! | cancel-std-35 | whom a sleeper waits for: load | Relaxed | nothing: the room's mutex orders it (R2) | – | nothing weaker |
//! | cancel-std-36 | the same: store | Relaxed | nothing, as cancel-std-35 | – | nothing weaker |
//! | cancel-std-37 | `publish`: fetch_or of *has registrations*, *has children* | AcqRel | cancel-std-39 | a callback that nobody calls and nobody hands back; a child that is not canceled | `a_closure_is_called_once_or_handed_back` |
//! | cancel-std-38 | `settle`: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-std-39 | `settle`: compare-and-swap, success | AcqRel | cancel-std-34, cancel-std-37 | as cancel-std-34 and cancel-std-37 | `a_heap_child_born_beside_a_cancel_is_canceled`, `a_first_poll_beside_the_end_of_all_sources_is_answered_or_woken` |
//! | cancel-std-40 | `settle`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | cancel-std-41 | one more user, one more source: fetch_add | Relaxed | nothing: who counts is one | – | nothing weaker |
//! | cancel-std-43 | whether a source is alone: load | Acquire | cancel-std-45 | the node is freed before others have left it | `what_unregister_says_is_so` |
//! | cancel-std-45 | one user less, one source less: fetch_add | AcqRel | itself in other threads, cancel-std-43 | the node is freed before others have left it; a dismissal that does not tell of what came before another source's end | `a_source_dropped_beside_its_tokens_is_freed_once` |
//! | cancel-std-46 | the last user of a claimed child: fetch_add of *released* | AcqRel | cancel-std-32 | as cancel-std-32 | `a_child_dropped_beside_its_parents_cancel_is_freed_once` |
//! | cancel-std-47 | freeing a node after a cancel: load | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | cancel-std-48 | whether there is one slot only: load of the spine | Relaxed | nothing: a slot that a cancel must see came before its mark; cancel-std-26 looks again | – | nothing weaker |
//! | cancel-std-49 | the room: load of what a sleeper waits for | Relaxed | nothing: only whether it still does | – | nothing weaker |
//! | cancel-std-50 | the room: fetch_or of *awaited* | Acquire | cancel-std-7, cancel-std-32, cancel-std-33 | as cancel-std-33 | `who_waits_for_the_end_of_a_cancel_sees_what_callbacks_did` |
//! | cancel-std-51 | freeing a node: load | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | cancel-std-52 | freeing a node that was alone: load | Relaxed | nothing, as cancel-std-51 | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `status`, `is_canceled`, … | wait-free: one load | cancel-std-34 |
//! | `clone`, `token`, drop of either | wait-free, but for the nodes above that it frees | – |
//! | `on_cancel`, `child`, first poll | lock-free, but for the allocator | cancel-std-37 |
//! | `unregister`, `forget`, drop of a future or a child | lock-free | cancel-std-2 |
//! | drop of a registration | blocking, if another thread is calling the callback | cancel-std-2 |
//! | `cancel` | lock-free, then callbacks; takes the room's mutex only if a thread sleeps there for it | cancel-std-39 |
//! | `cancel_and_wait`, `wait`, … | blocking | as `cancel`, or the load |
//!
//! # 8. Cost
//!
//! Instructions on x86-64, 3 to 4 of a loop included (callgrind, 11,000 repetitions less 1,000): check 8, token and its drop 12, source 170,
//! child 278, of which 150 are the allocator's; register and drop the registration 79, with a closure in a box some 300; a poll again 24.
//! Dropping a node in the middle costs the same with 10 and 100,000 children, unless something was ever registered at it: then its slots are
//! looked through. A node takes 96 bytes on a 64-bit target, a slot 32; segments have 1, 2, 4, … slots.
//!
//! # 9. What surprised us
//!
//! * Generations are not needed: a slot has one owner, who alone gives it back, and a slot that a cancel has taken is never used again.
//! * The reference that a child slot owns need not be counted. If it were, the last user would have to find out that only the slot is left, after it
//!   has let go of the node.
//! * One test of the sign serves statics and counts that have overflowed.
//! * A breadth-first list that is turned round on the way tells children before parents: a node's end is then the end of all below it.
//!
//! # 10. References
//!
//! * MongoDB, `src/mongo/util/cancellation.h`: sources, tokens, dismissal; the ticket SERVER-53623.
//! * ISO C++20, `std::stop_callback`: whose destructor waits, and not for its own thread.
//! * R. Treiber, *Systems Programming: Coping with Parallelism*, 1986: the stack of free slots, here with a tag.
mod count;
mod error;
mod future;
mod node;
mod notify;
mod panics;
mod payload;
mod ptr;
mod registration;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
mod room;
mod slot;
mod source;
mod table;
mod token;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
mod wait;
mod word;

#[cfg(any(jeton_loom, jeton_shuttle))]
use crate::room;
pub use error::{AlreadyCanceled, Dismissed, WaitError};
pub use future::{Canceled, RunUntilCanceled};
pub use jeton_core::cancel::{Deregistered, Reason, Status};
pub use registration::Registration;
pub use source::{CancelSource, DropGuard};
pub use token::CancelToken;
