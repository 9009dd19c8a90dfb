//! A mode that many check, few change, and some wait for: threads and tasks, on one word of 64 bits.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! [`jeton_core::gate`] says what a gate is, and lets tasks wait for it. In a server threads wait too, as many as there are, some of them until a deadline
//! or a cancel. The obvious solution is a mutex and a condition variable. Then, by the reports of others: the check takes the lock; each change calls
//! the system though nobody sleeps; everybody is woken by every change, looks, and sleeps again; a thread and a task cannot wait for the same object; a
//! cancel has no way to a sleeper; a wait that is woken for no reason takes that for the change. Here what is waited for stands in the word, a bit for
//! each state. A transition calls the system only if somebody waits for its state, and wakes those alone.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | states, and edges between them | [`states!`](crate::gate::states): each state with an edge names the one that a transition given up there goes to |
//! | an operation that is allowed in one state | [`Gate::check`] |
//! | a change from one state to another | [`Gate::transition`], an edge that is known; [`Gate::try_transition`], one that is not |
//! | a change with work in it that may fail, or take too long | [`Gate::begin`], and [`Transition::commit`] |
//! | a thread that waits for some states, for any change | [`Gate::wait_for`], [`Gate::wait_change`] |
//! | a task that does | [`Gate::reached`], [`Gate::changed`] |
//! | the end of everything | [`Gate::close`] |
//!
//! Don't use it where memory must not be allocated, or in interrupt and signal handlers (that is the core: here tasks' slots are allocated, and threads call
//! the system), to wait until all operations in progress have ended, nor for values. The clock is not watched for a transition that was begun.
//!
//! # 3. Example
//!
//! ```
//! use jeton::{cancel::CancelSource, gate::{Gate, TransitionError, Waited, states}};
//! use std::{thread, time::{Duration, Instant}};
//!
//! states! {
//!     /// The life of a queue.
//!     enum Queue: open Running {
//!         Startup -> [Running], abort Ending;
//!         Running -> [Ending], abort Ending;
//!         Ending -> [Startup], abort Startup;
//!     }
//! }
//!
//! static QUEUE: Gate<Queue> = Gate::new();
//!
//! let waiter = thread::spawn(|| QUEUE.wait_for(Queue::Running, None, None));
//! QUEUE.transition::<{ Queue::Startup as u8 }, { Queue::Running as u8 }>().expect("it starts");
//! assert!(matches!(waiter.join().unwrap(), Waited::Reached(_)));
//! assert!(QUEUE.check());
//!
//! let before = QUEUE.snapshot().epoch;
//! let (source, soon) = (CancelSource::new(), Instant::now() + Duration::from_millis(1));
//! assert_eq!(QUEUE.wait_change(before, Some(soon), None), Waited::TimedOut);
//! source.cancel();
//! assert_eq!(QUEUE.wait_change(before, None, Some(&source.token())), Waited::Canceled);
//! QUEUE.close();
//! assert_eq!(QUEUE.wait_for([Queue::Startup, Queue::Ending], None, None), Waited::Closed);
//! assert_eq!(QUEUE.try_transition(Queue::Running, Queue::Ending), Err(TransitionError::Closed));
//! ```
//!
//! # 4. State
//!
//! One word, and a list of blocks of slots for tasks, empty until a task waits. From the word's lowest bit:
//!
//! ```text
//! state 4 | closed 1 | epoch 35 | interest 16 | cascade 5 | crowd 1 | threads 1 | tasks 1
//! `---- a sleeping thread is compared with the low half: state, closed, 27 bits of the epoch
//! ```
//!
//! | closed | interest | what can come next |
//! |---|---|---|
//! | 0 | none, and *crowd*, *threads* and *tasks* are 0; or one of nobody's, which an epoch that has gone round has left | a transition, one addition; a waiter; closing |
//! | 0 | states that somebody has waited for since they last came | a transition, which takes its state's bit and wakes; a waiter; closing, which takes all |
//! | 1 | none | nothing |
//!
//! A transition that leaves no interest clears *crowd*, *threads* and *tasks*. Who gives up leaves its interest: that costs the next transition to each such state
//! one call of the system, or one look at the slots, and then nothing more. Who waits for any change has an interest in the states that edges lead
//! to, and in no other one: it would stay for ever.
//!
//! *Crowd* says that a thread has found its interest there already, so that there may be many. Then the transition wakes one of them, and each that is
//! woken wakes four others before it does anything else. That is the *cascade*: a bit, and the state that it is for. It ends when somebody finds less than
//! four to wake. There is one at a time: a transition beside it wakes all of its own at once.
//!
//! A task's slot:
//!
//! ```text
//! held -> armed                    by the owner, who puts its waker and its states in before
//! armed -> taken -> held           by a transition, which takes the waker out
//! armed -> held                    by the owner, who takes it back
//! taken -> left -> held            the owner goes while a transition is taking the waker: that one gives the slot back
//! ```
//!
//! Slots are in blocks of 64 with a bit each that says *used*; blocks are added at the end of a list, without a lock. A thread with a token is a task to
//! the gate and to the token: its waker is a word of its own that it sleeps on.
//!
//! # 5. Invariants
//!
//! * **W1** The state changes along declared edges only, by one compare-and-swap that makes the epoch one more. A closed word does not change any more.
//!   So whatever ends a wait changes the low half, and nothing else does.
//! * **W2** A waiter's interest is published by a compare-and-swap from a word that it has found wanting. A transition takes the interest in its state, and
//!   nobody else does but closing, which takes all; it wakes all who have that interest, threads by the system, tasks by their slots.
//! * **W3** A thread sleeps only while the low half is that of the word that it has published in. If the transition came before, the system
//!   does not put it to sleep; if not, W2.
//! * **W4** A slot is armed before its task publishes, which writes the word also if nothing in it changes. A transition looks at the slots after its
//!   own compare-and-swap. So it finds the slot, or the task finds another word.
//! * **W5** While there is a cascade, either some thread that has been woken by it has still to wake others, or whoever has found nobody left has still to
//!   end it, from the very word that it saw before it looked; and nobody begins to sleep for the state of a cascade: who would, wakes all and ends it first.
//! * **T1** A block that is linked does not move, and goes with the gate.
//! * **T2** A slot belongs to the one who has set its bit in *used*, until the bit is cleared. The waker in it belongs to that owner while the slot is held, to
//!   whoever has moved it on from *armed* after that. Who moves it to *left* has given the slot to the one who has *taken* it.
//! * **T3** Wakers are cloned, woken and dropped while no slot is taken and nothing is locked. The panic of one does not keep the others from being woken,
//!   nor those in forgotten futures from being dropped with the gate.
//! * **G4** A [`Transition`] ends only the epoch that it has begun: what others have done since is not undone.
//!
//! # 6. Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | gate-std-1 | `check`, `snapshot` and the like, a waiter's look: load | Acquire | gate-std-3, gate-std-6 | what was done before a transition is not visible | `who_checks_a_gate_sees_what_came_before` |
//! | gate-std-2 | a transition's look: load | Acquire | gate-std-3, gate-std-6 | who is refused, or moves on, does not see what the one before did | `who_is_refused_sees_what_the_one_before_did` |
//! | gate-std-3 | a transition: compare-and-swap, success | AcqRel | gate-std-1, gate-std-2, gate-std-4, gate-std-8, gate-std-9 | as gate-std-1; a task that has published itself is not found | `the_last_waker_of_a_task_is_woken`, `a_waiter_is_woken_and_sees_what_came_before` |
//! | gate-std-4 | the same, failure | Acquire | gate-std-3, gate-std-6 | as gate-std-2 | `who_is_refused_sees_what_the_one_before_did` |
//! | gate-std-5 | `close`: load | Relaxed | nothing: the compare-and-swap decides; who finds it closed gets nothing else | – | nothing weaker |
//! | gate-std-6 | `close`: compare-and-swap, success | AcqRel | gate-std-1, gate-std-2, gate-std-4, gate-std-8, gate-std-9 | as gate-std-3 | `closing_wakes_a_task`, `a_close_sees_what_came_before_and_shows_it` |
//! | gate-std-7 | the same, failure | Relaxed | nothing: tries again | – | nothing weaker |
//! | gate-std-8 | a waiter publishes itself: compare-and-swap, success | Release | gate-std-3, gate-std-6 | a task's slot is looked at before it is armed | `a_task_is_woken_or_sees_the_transition` |
//! | gate-std-9 | the same, failure | Acquire | gate-std-3, gate-std-6 | as gate-std-1 | `a_task_is_woken_or_sees_the_transition` |
//! | gate-std-10 | arming a slot: store | Release | gate-std-16 | a transition that came before takes out what is not there yet | `the_last_waker_of_a_task_is_woken` |
//! | gate-std-11 | whether it is armed still: load | Relaxed | nothing: if it is, only the owner's own store can have made it so | – | nothing weaker |
//! | gate-std-12 | disarming: load | Acquire | gate-std-18 | a waker is put in while the last one is taken out | `a_task_polled_again_between_two_transitions_is_woken_for_the_second` |
//! | gate-std-13 | disarming: compare-and-swap, success | Relaxed | nothing: who disarms has armed; who leaves touches it no more | – | nothing weaker |
//! | gate-std-14 | disarming: compare-and-swap, failure | Acquire | gate-std-18 | as gate-std-12 | `the_last_waker_of_a_task_is_woken` |
//! | gate-std-15 | claiming: load | Relaxed | nothing: gate-std-16 decides; what must be seen came before gate-std-3 | – | nothing weaker |
//! | gate-std-16 | claiming: compare-and-swap, success | Acquire | gate-std-10 | as gate-std-10 | `the_last_waker_of_a_task_is_woken` |
//! | gate-std-17 | claiming: compare-and-swap, failure | Relaxed | nothing: looks again, gate-std-16 decides | – | nothing weaker |
//! | gate-std-18 | the waker is out: compare-and-swap, success | Release | gate-std-12, gate-std-14 | as gate-std-12 | `a_task_polled_again_between_two_transitions_is_woken_for_the_second` |
//! | gate-std-19 | the same, failure: the owner has left | Relaxed | nothing: the owner touches it no more | – | nothing weaker |
//! | gate-std-20 | a slot that was left is held again: store | Relaxed | nothing: gate-std-24 publishes it | – | nothing weaker |
//! | gate-std-21 | a slot for a task: load of *used* | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | gate-std-22 | the same: compare-and-swap, success | Acquire | gate-std-24 | a slot is written before its last owner has read it | `a_slot_goes_from_one_task_to_another` |
//! | gate-std-23 | the same, failure | Relaxed | nothing: tries again | – | nothing weaker |
//! | gate-std-24 | giving a slot back: fetch_and of *used* | Release | gate-std-22 | as gate-std-22 | `a_slot_goes_from_one_task_to_another` |
//! | gate-std-25 | a slot for a task: load of a link | Acquire | gate-std-26 | a block is used before it is made | `two_tasks_that_need_the_same_new_block_both_get_a_slot` |
//! | gate-std-26 | a new block: compare-and-swap of the link, success | Release | gate-std-25, gate-std-27, gate-std-28 | as gate-std-25 | `tasks_that_need_a_new_block_are_all_woken` |
//! | gate-std-27 | the same, failure | Acquire | gate-std-26 | as gate-std-25 | `two_tasks_that_need_the_same_new_block_both_get_a_slot` |
//! | gate-std-28 | a look at all slots: load of a link | Acquire | gate-std-26 | as gate-std-25 | `tasks_that_need_a_new_block_are_all_woken` |
//! | gate-std-29 | a look at all slots: load of *used* | Relaxed | nothing: what must be seen came before gate-std-3 | – | nothing weaker |
//! | gate-std-30 | freeing the blocks: load of the first link | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | gate-std-31 | freeing the blocks: load of a link | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | gate-std-32 | a thread with a token goes to sleep: compare-and-swap, success | Relaxed | nothing: the system compares | – | nothing weaker |
//! | gate-std-33 | the same, failure | Relaxed | nothing: gate-std-34 follows | – | nothing weaker |
//! | gate-std-34 | it is awake: swap | Acquire | gate-std-35 | it looks at the gate as it was before the call, and sleeps on | `who_can_be_canceled_is_woken_by_the_gate` |
//! | gate-std-35 | it is called: swap | Release | gate-std-34 | as gate-std-34 | `who_can_be_canceled_is_woken_by_the_gate` |
//! | gate-std-36 | ending a cascade: compare-and-swap, success | Relaxed | nothing: its sleepers are awake; who comes later compares with another word | – | nothing weaker |
//! | gate-std-37 | the same, failure | Acquire | gate-std-3, gate-std-6 | as gate-std-1 | `a_second_crowd_beside_a_cascade_is_woken_and_sees_what_came_before` |
//! | wait-1 | without a futex, before sleeping: load | Relaxed | nothing: under the queue's lock, which who wakes takes after its write | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `check`, `snapshot`, `is_closed`, `changed_since` | wait-free: one load | gate-std-1 |
//! | `transition`, `try_transition`, `begin`, `commit`, the drop of a `Transition`, `close` | lock-free; then, if somebody waits, one call of the system, and wakers | gate-std-3, gate-std-6; if refused, the last load |
//! | first poll of a wait | lock-free, but for the allocator if it needs a new block | gate-std-8, or the load that ends it |
//! | a poll again | wait-free, if the waker is the same and in its slot | gate-std-1 |
//! | drop of a future | lock-free | – |
//! | `wait_for`, `wait_change` | blocking | the load that ends it |
//!
//! Who is suspended between its transition and the wake keeps only those waiting whom it is about to wake, but these until it goes on, whatever comes
//! meanwhile. Without a futex, waking and going to sleep take the lock of a queue.
//!
//! # 8. Cost
//!
//! On a 64-bit target a gate takes 16 bytes, and a block of 64 tasks 1552, allocated when a task first needs it and kept until the gate goes.
//! A thread that waits takes none; one that waits with a token allocates its word, and has a task's slot and one of the token.
//!
//! A transition that nobody waits for is one read-modify-write and no call of the system. If threads wait for its state there is one call, however many
//! they are; those who wait for other states stay asleep. Of a crowd that call wakes one thread, whatever their number: the others cost the woken ones
//! a call for four of them, and, together, one read-modify-write.
//!
//! # 9. What surprised us
//!
//! * Interest must not be compared. Were it in the half that the system compares, each thread that goes to sleep would keep the others from doing so.
//! * A cancel cannot speak to the gate's own word: it would have to change what all sleepers are compared with. A word for each thread that can be canceled
//!   costs those threads an allocation, and nobody else anything.
//! * A sleeper is missed if an exact multiple of 2^27 transitions comes between its look and the system's, and brings the same state back; an epoch of 35
//!   bits comes round after 2^35. No counter that a system compares in 32 bits is free of the first one.
//! * A task that publishes writes the word even if all its bits stand there: a transition acquires its slot from just that. A thread need not: it
//!   has nothing but its bits.
//! * Who leaves while its waker is being taken cannot wait for the other to end, and cannot take the slot along. So it leaves the slot to the other.
//! * A thread that is woken to wake others does not know for which state it was: it may wait for several. So the word says it, and nobody
//!   has to rely on what the system makes visible to whom it wakes.
//! * The first cascade let who had missed the state sleep again. A model found two threads waking each other for ever: each was a sleeper for that
//!   state, and the cascade was never out of sleepers. That is what the second half of W5 is for.
//! * One woken thread that the system does not run keeps those asleep that it should wake. A call that wakes all does not have that, but the thread that
//!   makes it loses its processor to those it has woken, and is back after the last of them (`cargo rivals gate`: set-650).
//! * A state that has come counts before a deadline or a cancel that has come too; a closed gate counts before all. For that, who is about to give up
//!   looks once more: state and cancel may both have come since the last look, and in that order.
//!
//! # 10. References
//!
//! * Linux, `futex(2)`: `FUTEX_WAIT_BITSET`, `FUTEX_WAKE_BITSET`, absolute deadlines.
//! * `parking_lot_core`: `park` with a look under the lock, `unpark_filter`.
//! * D. Vyukov, *Eventcount*: look at the version, test, then wait, if it is the same.
//! * Tarantool queue, change 192 and issue 183: waits that block, in place of a poll each millisecond.
mod changes;
mod future;
mod inner;
mod parker;
mod shared;
mod slot;
mod tasks;
mod transition;
mod waiting;
mod word;

pub use changes::{Changes, Epoch, Moment, Waited};
pub use future::{Changed, Closed, Reached};
pub use shared::Gate;
pub use transition::{CommitError, Transition};

#[doc(no_inline)]
pub use jeton_core::gate::{MOST_STATES, StateSet, States, Table, TransitionError, states};
