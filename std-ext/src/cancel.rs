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
//! Don't use it where memory must not be allocated (that is the core), to hand over values, or to wait until all have stopped. A node stays as
//! long as nodes below it: a loop that makes each source a child of the last one, `current = current.child()`, keeps them all.
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
//! One allocation a node: two counts, a word, its place below another node, and two slots, one for a registration and one for a child;
//! more slots, of either kind, are elsewhere. The word's flags and reason:
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
//! free -> held                               take; a slot elsewhere comes from a stack, and is held there too
//! held -> callback, waker, child             arm
//! callback -> running -> done                claim; the end of the callback
//! callback, waker, child -> done             claim
//! free, held <- callback, waker, child       disarm, by the slot's owner
//! free <- held                               put back
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
//!   was made from goes. A count that has overflowed never comes to its end: its node is never freed. A static is not counted.
//! * **N2** A node is a user of its parent from its birth until it is freed. Parents are fixed, so that there is no circle.
//! * **N3** A slot belongs to the one who has taken it, from `take` to `put_back`. What it holds belongs to that owner while it is held, to the one who
//!   has moved its word on from *armed* after that. Nobody but that one writes what a slot holds that is running or done.
//! * **N4** Segments, and what they are found by, never move, and go with the node; a slot is handed out after its segment is there.
//! * **N5** A child's slot is claimed once. Who has claimed it may use the child until it has said *unpinned*; its last user, once it has found
//!   the slot claimed, until it has said *released*. Whoever comes second frees it; without a claim, the last user.
//! * **N6** `next` belongs to the call that has marked the node. A call that has claimed a node and finds it marked keeps it in a list by its slot.
//! * **N7** A slot is armed before the read-modify-write of the node's word by which its owner learns how the node stands; a cancel looks at the slots
//!   after its own. So a callback is called or handed back, a waker is woken or its task sees the cancel, a child is marked or marks itself.
//! * **N8** A closure that fits lies in its slot, another one in a box, and the callback's ends were made for that type.
//! * **N9** A word that is not active is not written by registrations, nor one that is marked by births, except by those that have seen it otherwise;
//!   the count of a static is not written at all.
//! * **R1** Who is in the room is a user of the node that it sleeps for. **R2** A cancel says in each node which thread it is, before it calls any callback.
//!
//! # 6. Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | cancel-std-1 | number of a slot: load | Relaxed | nothing: its owner alone writes it | – | nothing weaker |
//! | cancel-std-2 | `take` in the node: compare-and-swap, success | Acquire | cancel-std-4; cancel-std-5, which cancel-std-8 passes on | a slot is written before its last owner has read it | `a_slot_in_the_node_goes_from_one_thread_to_another` |
//! | cancel-std-3 | `take` in the node: compare-and-swap, failure | Relaxed | nothing: it looks elsewhere | – | nothing weaker |
//! | cancel-std-4 | freeing a slot in the node: store | Release | cancel-std-2 | as cancel-std-2 | `a_slot_in_the_node_goes_from_one_thread_to_another` |
//! | cancel-std-5 | arming a slot: store | Release | cancel-std-11 | who claims it takes out what is not there yet | `a_slot_that_is_used_again_beside_a_cancel_calls_its_new_closure` |
//! | cancel-std-6 | disarming: compare-and-swap, success | Relaxed | nothing: who disarms has armed | – | nothing weaker |
//! | cancel-std-7 | disarming: compare-and-swap, failure | Acquire | cancel-std-13 | who finds a callback done does not see what it did | `what_unregister_says_is_so` |
//! | cancel-std-8 | disarming and freeing in one: compare-and-swap, success | Relaxed | nothing: it passes cancel-std-5 on, and the owner has not touched the slot since | – | nothing weaker |
//! | cancel-std-9 | disarming and freeing in one: compare-and-swap, failure | Relaxed | nothing: cancel-std-7 or cancel-std-57 looks again | – | nothing weaker |
//! | cancel-std-10 | a look at a slot: load | Relaxed | nothing: cancel-std-2 or cancel-std-11 decides | – | nothing weaker |
//! | cancel-std-11 | claiming: compare-and-swap, success | Acquire | cancel-std-5 | as cancel-std-5 | `a_slot_that_is_used_again_beside_a_cancel_calls_its_new_closure` |
//! | cancel-std-12 | claiming: compare-and-swap, failure | Relaxed | nothing: it is left alone | – | nothing weaker |
//! | cancel-std-13 | end of a callback: fetch_add | Release | cancel-std-7, cancel-std-59 | as cancel-std-7 | `who_drops_a_registration_has_its_memory_for_itself` |
//! | cancel-std-14 | `take`: load of the head | Acquire | cancel-std-21 | as cancel-std-2; or its segment is not seen | `a_slot_goes_from_one_thread_to_another` |
//! | cancel-std-15 | `take`: load of the link | Relaxed | nothing: if it is stale, so is the tag | – | nothing weaker |
//! | cancel-std-16 | `take`: compare-and-swap, success | Relaxed | nothing: it is the head that was acquired, since each `take` changes the tag | – | nothing weaker |
//! | cancel-std-17 | `take`: compare-and-swap, failure | Acquire | cancel-std-21 | as cancel-std-14 | `a_slot_goes_from_one_thread_to_another` |
//! | cancel-std-18 | `take`: store of the number | Relaxed | nothing: for the owner; who else reads it has a stale tag | – | nothing weaker |
//! | cancel-std-19 | `give`: load of the head | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-std-20 | `give`: store of the link | Relaxed | nothing: cancel-std-21 publishes it | – | nothing weaker |
//! | cancel-std-21 | `give`: compare-and-swap, success | Release | cancel-std-14, cancel-std-17 | as cancel-std-14 | `a_slot_goes_from_one_thread_to_another` |
//! | cancel-std-22 | `give`: compare-and-swap, failure | Relaxed | nothing: tries again | – | nothing weaker |
//! | cancel-std-23 | `slot`: load of the segment | Relaxed | nothing: who has the number has seen it | – | nothing weaker |
//! | cancel-std-24 | `grow`: load of a segment | Relaxed | nothing: only whether it is there | – | nothing weaker |
//! | cancel-std-25 | `grow`: compare-and-swap of a segment, success | Release | cancel-std-29 | a cancel looks at slots that are not made yet | `a_closure_in_a_new_segment_is_called_or_handed_back` |
//! | cancel-std-26 | `grow`: compare-and-swap of a segment, failure | Relaxed | nothing: the own one is freed | – | nothing weaker |
//! | cancel-std-27 | `grow`: load of the head | Relaxed | nothing: `take` looks again | – | nothing weaker |
//! | cancel-std-28 | `grow`: load of the last segment | Relaxed | nothing: only whether it is there | – | nothing weaker |
//! | cancel-std-29 | a look at all slots: load of a segment | Acquire | cancel-std-25 | as cancel-std-25 | `a_closure_in_a_new_segment_is_called_or_handed_back` |
//! | cancel-std-30 | freeing segments: load of one | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | cancel-std-31 | `give`: load of what is far | Relaxed | nothing: who has such a slot has seen it | – | nothing weaker |
//! | cancel-std-32 | `take`: load of what is far | Acquire | cancel-std-33 | segments are looked up where they are not made yet | `a_table_that_grows_in_two_threads_loses_no_closure` |
//! | cancel-std-33 | `make_far`: compare-and-swap, success | Release | cancel-std-32, cancel-std-34, cancel-std-36 | as cancel-std-32 | `a_table_that_grows_in_two_threads_loses_no_closure` |
//! | cancel-std-34 | `make_far`: compare-and-swap, failure | Acquire | cancel-std-33 | as cancel-std-32 | `a_table_that_grows_in_two_threads_loses_no_closure` |
//! | cancel-std-35 | whether there is one slot only: load of what is far | Relaxed | nothing: a slot that a cancel must see came before its mark; cancel-std-36 looks again | – | nothing weaker |
//! | cancel-std-36 | a look at all slots: load of what is far | Acquire | cancel-std-33 | as cancel-std-32 | `a_closure_in_a_new_segment_is_called_or_handed_back` |
//! | cancel-std-37 | freeing a table: load of what is far | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | cancel-std-38 | one more user, one more source: fetch_add | Relaxed | nothing: who counts is one | – | nothing weaker |
//! | cancel-std-39 | a count that is lost: store | Relaxed | nothing: it never comes to its end | – | nothing weaker |
//! | cancel-std-40 | one user less, one source less: fetch_add | AcqRel | itself in other threads, cancel-std-42 | the node is freed before others have left it; a dismissal that does not tell of what came before another source's end | `a_source_dropped_beside_its_tokens_is_freed_once` |
//! | cancel-std-41 | whether it was the last one: load | Relaxed | nothing: after the last one nobody else counts | – | nothing weaker |
//! | cancel-std-42 | whether a source is alone: load | Acquire | cancel-std-40 | the node is freed before others have left it | `what_unregister_says_is_so` |
//! | cancel-std-43 | end of a cancel's use of a child: fetch_add of *unpinned* | AcqRel | cancel-std-57, cancel-std-59 | who frees the child does not see what the other has done with it | `a_child_dropped_beside_its_parents_cancel_is_freed_once` |
//! | cancel-std-44 | end of a cancel: fetch_and of *notifying* | Release | cancel-std-45, cancel-std-59 | who has waited does not see what callbacks did | `who_waits_for_the_end_of_a_cancel_sees_what_callbacks_did` |
//! | cancel-std-45 | `status` and the like: load | Acquire | cancel-std-52, cancel-std-44 | what was done before the cancel is not visible | `who_sees_a_cancel_of_a_heap_source_sees_what_came_before` |
//! | cancel-std-46 | whom a sleeper waits for: load | Relaxed | nothing: the room's mutex orders it (R2) | – | nothing weaker |
//! | cancel-std-47 | the same: store | Relaxed | nothing, as cancel-std-46 | – | nothing weaker |
//! | cancel-std-48 | `publish`: compare-and-swap, success | Release | cancel-std-52 | a callback that nobody calls and nobody hands back; a child that is not canceled | `a_closure_is_called_once_or_handed_back` |
//! | cancel-std-49 | `publish`: compare-and-swap, failure | Relaxed | nothing: cancel-std-50 looks again | – | nothing weaker |
//! | cancel-std-50 | `publish`, late: fetch_or of *has registrations*, *has children* | AcqRel | cancel-std-52 | as cancel-std-48, and as cancel-std-45 | `a_closure_registered_beside_a_birth_and_a_cancel_is_called_once_or_handed_back`, `a_closure_is_called_once_or_handed_back` |
//! | cancel-std-51 | `settle`: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | cancel-std-52 | `settle`: compare-and-swap, success | AcqRel | cancel-std-45, cancel-std-48, cancel-std-50 | as cancel-std-45 and cancel-std-48 | `a_heap_child_born_beside_a_cancel_is_canceled`, `a_first_poll_beside_the_end_of_all_sources_is_answered_or_woken` |
//! | cancel-std-53 | `settle`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | cancel-std-54 | `abandon`: load | Relaxed | nothing: nobody else writes what it looks for | – | nothing weaker |
//! | cancel-std-55 | freeing a node: load | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | cancel-std-56 | freeing a node that was alone: load | Relaxed | nothing, as cancel-std-55 | – | nothing weaker |
//! | cancel-std-57 | the last user of a claimed child: fetch_add of *released* | AcqRel | cancel-std-43 | as cancel-std-43 | `a_child_dropped_beside_its_parents_cancel_is_freed_once` |
//! | cancel-std-58 | the room: load of what a sleeper waits for | Relaxed | nothing: only whether it still does | – | nothing weaker |
//! | cancel-std-59 | the room: fetch_or of *awaited* | Acquire | cancel-std-13, cancel-std-43, cancel-std-44 | as cancel-std-44 | `who_waits_for_the_end_of_a_cancel_sees_what_callbacks_did` |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `status`, `is_canceled`, … | wait-free: one load | cancel-std-45 |
//! | `clone`, `token`, drop of either | wait-free, but for the nodes above that it frees | – |
//! | `on_cancel`, `child`, first poll | lock-free, but for the allocator | cancel-std-48, cancel-std-50 |
//! | `unregister`, `forget`, drop of a future or a child | lock-free | cancel-std-6, cancel-std-8 |
//! | drop of a registration | blocking, if another thread is calling the callback | cancel-std-6, cancel-std-8 |
//! | `cancel` | lock-free, then callbacks; takes the room's mutex only if a thread sleeps there for it | cancel-std-52 |
//! | `cancel_and_wait`, `wait`, … | blocking | as `cancel`, or the load |
//!
//! # 8. Cost
//!
//! The counts are the rows `std_` of the [core's page](jeton_core::cancel#8-cost), made from the baseline. Of a source and its drop, and of a child
//! and its drop, some 140 instructions are the allocator's. A token of [`CancelToken::uncancelable`], its clone and its drop have no
//! read-modify-write. The drop of a node in the middle costs the same with 10 and with 100,000 children.
//!
//! A node takes 104 bytes on a 64-bit target, a slot elsewhere 32 for a registration and 16 for a child; segments have 1, 2, 4, … slots.
//!
//! # 9. What surprised us
//!
//! * Generations are not needed: a slot has one owner, who alone gives it back, and a slot that a cancel has taken is never used again.
//! * The reference that a child slot owns need not be counted. If it were, the last user would have to find out that only the slot is left, after it
//!   has let go of the node.
//! * The first slot of a kind needs no stack of free ones: its own word says that it is free. One for each kind halves a cancel that goes down a chain.
//! * Users are counted less one: then the sign of the result tells of the last one and of a count that has overflowed by one test.
//! * Two lists through one link turn the tree round: a node is on the stack until its children are marked, and then before them no more.
//!   Children are told before parents, so that a node's end is the end of all below it.
//!
//! # 10. References
//!
//! * MongoDB, `src/mongo/util/cancellation.h`: sources, tokens, dismissal; the ticket SERVER-53623.
//! * ISO C++20, `std::stop_callback`: whose destructor waits, and not for its own thread.
//! * R. Treiber, *Systems Programming: Coping with Parallelism*, 1986: the stack of free slots, here with a tag.
mod count;
mod error;
mod free;
mod future;
mod node;
mod notify;
pub(crate) mod panics;
mod payload;
mod registration;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
mod room;
mod segments;
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
