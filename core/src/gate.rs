//! Mode gates: a state that every operation checks, that moves along declared edges only, and that tasks wait for.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A queue whose server becomes a follower must refuse its operations; a driver is starting, running, ending. Every operation checks the mode,
//! a few places change it, and others wait until it is what they need. The obvious solutions are a variable that a thread polls every
//! millisecond, which burns a tenth of a core for nothing and sees no change that is undone within the millisecond; or a mutex and a condition
//! variable, which makes the check a lock, and wakes everybody who waits whatever the new state. Others have reported modes that changed on a way
//! that told nobody, machines wedged halfway because a peer was dead, and "nobody waits" concluded from a stale count, so that a waiter slept on.
//! Here state, epoch and "somebody waits" are one word. The check is one load and one test. A transition is one compare-and-swap, and
//! wakes those who wait for its state.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | an operation that is allowed in one state | [`Gate::check`] |
//! | a change from one state to another | [`Gate::transition`], an edge that is known; [`Gate::try_transition`], one that is not |
//! | a change with work in it that may fail | [`Gate::begin`], and [`Transition::commit`] |
//! | a task that waits until it may go on | [`Gate::reached`] |
//! | a task that has something to do at every change | [`Gate::changed`] and [`Gate::changed_since`], which say how many there were |
//! | the end of everything | [`Gate::close`] |
//!
//! Don't use it to wait until all operations in progress have ended: the gate does not count them. A check says how the gate was; it may be shut
//! before the operation behind the check is done. Don't use it for values (that is a channel), nor for "stop" alone (that is
//! [`cancel`](crate::cancel)). Threads that block wait at the gate of the std extension.
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::gate::{Gate, TransitionError, states};
//!
//! states! {
//!     /// The life of a queue.
//!     enum Queue: open Running {
//!         Init -> [Startup], abort Waiting;
//!         Startup -> [Running], abort Waiting;
//!         Running -> [Ending], abort Ending;
//!         Ending -> [Waiting], abort Waiting;
//!         Waiting -> [Startup], abort Startup;
//!     }
//! }
//!
//! static QUEUE: Gate<Queue, 4> = Gate::new(); // up to four tasks wait
//!
//! fn put() -> Result<(), Queue> {
//!     if QUEUE.check() { Ok(()) } else { Err(QUEUE.snapshot().state) }
//! }
//!
//! fn main() -> Result<(), TransitionError<Queue>> {
//!     assert_eq!(put(), Err(Queue::Init));
//!     let starting = QUEUE.begin::<{ Queue::Init as u8 }, { Queue::Startup as u8 }>()?;
//!     // Work that may fail; an early return would lead to `Waiting`.
//!     starting.commit::<{ Queue::Running as u8 }>()?;
//!     assert_eq!(put(), Ok(()));
//!
//!     let before = QUEUE.snapshot().epoch;
//!     QUEUE.try_transition(Queue::Running, Queue::Ending)?;
//!     assert_eq!(QUEUE.changed_since(before), 1);
//!     Ok(())
//! }
//! ```
//!
//! # 4. State
//!
//! One word; a table of slots (its page is `util/slots.rs`); and for each slot the states that its waiter wants, a bit each. The word:
//!
//! | state | closed | awaited | epoch | what can come next |
//! |---|---|---|---|---|
//! | the open one: 0 | 0 | 0 or 1 | transitions so far | `check` succeeds; an edge, closed, awaited |
//! | another one | 0 | 0 or 1 | transitions so far | an edge, closed, awaited |
//! | the last one | 1 | 0 or 1 | transitions so far: closing is none | nothing |
//!
//! ```text
//! word   epoch, 26 bits | awaited | closed | state xor open state, 4 bits            check: word & 0b1_1111 == 0
//! ```
//!
//! *Awaited* says that somebody has published a slot, ever. It stays: a transition that takes it away wakes some and passes by those who wait for
//! another state, and these would be lost. So once somebody has waited, each transition looks at the table: a call, and one load if it is empty.
//!
//! # 5. Invariants
//!
//! * **G1** The state changes along declared edges only, by one compare-and-swap that makes the epoch one more. Closing keeps state and
//!   epoch, and a closed word does not change any more.
//! * **G2** A waiter arms its slot and writes what it wants, and then does a compare-and-swap that changes nothing but *awaited*, from a word that it has
//!   found wanting. A transition looks at the slots after its own. So if the waiter came first, every transition to what it wants takes
//!   its waker; if not, its compare-and-swap fails, since the epoch is another one, or it is closed, and it looks again.
//! * **G3** A wait owns its registration in the table, until it ends or is dropped; it is used through `&mut` alone.
//! * **G4** A [`Transition`] ends only the epoch that it has begun: what others have done since is not undone.
//! * **G5** Wakers are cloned, woken and dropped while no slot is held, and nobody waits for anybody meanwhile.
//! * **G6** A waker that was taken is woken after its slot is its owner's again. So a wait that finds its own task's waker being taken need not do
//!   anything: the wake-up comes when the slot can be armed once more.
//!
//! `unsafe` code here tells the table who owns what (G3).
//!
//! # 6. Orderings
//!
//! The rows of the slots, slots-1 to slots-20, are on the page of the table (`util/slots.rs`).
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | gate-1 | `check`, `snapshot` and the like; a transition's and a wait's look: load | Acquire | gate-2 | what was done before a transition is not visible | `who_sees_a_state_sees_what_came_before` |
//! | gate-2 | a transition, `close`: compare-and-swap, success | AcqRel | gate-1, gate-4 | as gate-1; a waiter that has published itself is not found | `who_sees_a_state_sees_what_came_before`, `who_waits_after_another_has_left_is_woken` |
//! | gate-3 | the same, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | gate-4 | a wait publishes its slot: compare-and-swap, success | Release | gate-2 | a waiter that has published itself is not found | `a_waiter_beside_a_transition_is_answered_or_woken` |
//! | gate-5 | the same, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | gate-6 | what a waiter wants: store | Relaxed | nothing: gate-4 publishes it | – | nothing weaker |
//! | gate-7 | the same: load, by a transition | Relaxed | nothing: after gate-2 | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `check`, `snapshot`, `is_closed`, `changed_since` | wait-free: one load | gate-1 |
//! | `transition`, `try_transition`, `begin`, `commit`, the drop of a `Transition`, `close` | lock-free: looks again if the word has changed; then at most 32 slots, and their wakers | gate-2; if refused, the last gate-1 |
//! | the first poll of a wait, and the first one after it was woken, or of another task | lock-free: a slot may be taken before it, and the word changed | gate-4; if it is over, the last gate-1; `Full`: the last look at the slots |
//! | a poll again, the drop of a wait | wait-free | gate-1 |
//!
//! A transition may come from an interrupt handler, at every step of any other operation. It masks no interrupts, and wakes at most 32 tasks. A wait
//! may be polled there too. A wait that has a place keeps it: `Full` is the answer to a first poll alone.
//!
//! Between taking a waker and letting its slot go a transition does nothing but copy it. If a wait is polled just then, and its end has not come or has
//! gone again, it does nothing, since it is woken next (G6). But if it was handed to another task meanwhile, it takes another slot; and
//! if there is none, it wakes that task at each poll, until the transition has gone on: a handler that polls until its tasks are quiet, and that others hand
//! waits to, needs one slot more than there are waits. A wait that is given up just then has left its place when the transition goes on.
//!
//! # 8. Cost
//!
#![doc = include_str!("../docs/cost/gate.md")]
//!
//! `checked` is the check as a branch, `check` its answer as a value, each with a loop of 2 instructions. The rows of transitions contain a half of such a
//! loop. `_after_waiters` is a gate that somebody has waited for, `_beside_other` one with waits for another state, in 1 slot or in 32.
//!
//! A transition without waiters is one read-modify-write, on an edge that is known as on one that is looked up. A waker that is found costs two more. On
//! a 64-bit target a gate takes 16 bytes, and a slot 28.
//!
//! # 9. What surprised us
//!
//! * The bit that says "somebody waits" cannot be taken away by who has woken some, once waiters choose their states: the others have no bit then.
//!   A bit that stays costs a look; a bit for each state would cost the word its epoch.
//! * A compare-and-swap that changes nothing is needed. If the word says *awaited* already, a waiter's publishing writes the same value, and a
//!   transition that comes later acquires the slot from just that.
//! * A wait for a state needs no memory of the epoch: whoever is beaten by a transition sees another word. A wait for a change needs it,
//!   since a change and back is the same state.
//! * An epoch of 26 bits comes round after 67 million transitions. [`Gate::changed_since`] then misses them, if it is not asked in between; a
//!   wait misses one transition if just so many are made between two instructions of its poll; and a [`Transition`] that is kept for just so many ends
//!   an epoch that is not its own.
//! * A wake-up that nobody asked for is possible: a transition that looks at the slots late finds the waker of one who came after it, or goes by what the
//!   last owner of the slot wanted. So a wait looks again, and never takes a wake-up for an answer.
//!
//! # 10. References
//!
//! * Tarantool queue, change 192 and issue 183: waits that block, in place of a poll each millisecond.
//! * D. Vyukov, *Eventcount*: look at the version, test, then wait, if it is the same.
//! * Linux, `futex(2)`, `FUTEX_WAKE_BITSET`: waking by what is waited for.
//! * Rust reference, `core::task::Waker`: `will_wake`, and that `wake`, `clone` and `drop` are anybody's code.
// rustfmt does not look into macros; here it finds the files.
#[cfg(any())]
mod future;
#[cfg(any())]
mod shared;
#[cfg(any())]
mod transition;
#[cfg(any())]
mod waiters;
#[cfg(any())]
mod word;

crate::sync::cfg_has_rmw_32! {
    mod future;
    mod shared;
    mod transition;
    mod waiters;
    mod word;

    pub use future::{Changed, Reached};
    pub use shared::Gate;
    pub use transition::Transition;
}

mod moment;
mod states;

#[doc(inline)]
pub use crate::__states as states;
pub use moment::{Epoch, Moment, WaitError};
pub use states::{MOST_STATES, StateSet, States, Table, TransitionError};
