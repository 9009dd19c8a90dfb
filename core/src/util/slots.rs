//! A registration table: up to 32 slots, each for something that is to be run once, or each time it has been armed again.
//!
//! For cancellation (callbacks and wakers, run once) and for gates (wakers, armed again). A payload is put in by the one who registers,
//! and taken out by exactly one: a runner, or whoever deregisters. Nobody waits for anybody.
//!
//! # State
//!
//! A bit a slot (*used*), a word a slot, and its payload.
//!
//! | used | word | whose the payload is | what can come next |
//! |---|---|---|---|
//! | 0 | empty | nobody's: there is none | its bit is set: reserved |
//! | 1 | empty | there is none; the slot is whoever's who has set the bit | armed; free |
//! | 1 | armed | whoever's who moves the word on | running; done, by its owner (`renew`); empty, by a deregistration |
//! | 1 | running | the runner's | done; free, if detached |
//! | 1 | done | there is none; the slot is its owner's | armed, by its owner (`renew`); free |
//! | 1 | done, detached | there is none; the slot is whoever's who has come second: the end of the run, or what has detached it | free |
//!
//! ```text
//! word   generation, 26 bits | 0 0 0 | detached | state, 2 bits        handle   generation, 26 bits | 1 | slot, 5 bits
//! ```
//!
//! *Detached* says that nobody owns the slot: it is set by `detach`, and by a `deregister` that comes too late to remove the payload. Whoever
//! ends the run then frees the slot; or, if it is over, whoever has detached it. The generation changes at the end of a registration.
//!
//! # Invariants
//!
//! * **R1** A slot's bit is set by who reserves it and cleared by one: whoever has removed the payload; or, if a runner has taken it, by whoever
//!   comes second, the end of the run or what detaches the slot. So a slot has one registration at a time.
//! * **R2** The payload is written only by the slot's owner, and only while the word says *empty* or *done*; it is read out only by the one
//!   who has moved the word out of *armed*, and before that one moves it on or clears the bit. A payload that is there is read out once.
//! * **R3** The slot's owner may look at the payload that it has put there, whatever the word says: nobody else writes it (R2), since nobody else
//!   frees the slot of an owner. Once it was taken these are its bits alone, and what they point to may be gone.
//! * **R4** Payloads are cloned, run and dropped while the word is in no state that makes another call wait or look again: a runner that
//!   is in the middle of a payload is passed by.
//!
//! # The meeting
//!
//! A runner looks at the slots once. What is armed behind its look is not run, so whoever arms does a read-modify-write of the structure's own
//! word afterwards, and the runner one before its look. They meet on that word: if the runner comes second it sees the slot armed, if
//! first, the one who armed sees why the runner came. That also holds for an interrupt in the middle of a registration.
//!
//! # Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | slots-1 | `register`: load | Relaxed | nothing: who has set the bit alone has the slot (R1) | – | nothing weaker |
//! | slots-2 | `register`: store of *armed* | Release | slots-15 | the payload is read before it is written | `a_payload_is_taken_as_it_was_armed` |
//! | slots-3 | `remove`, `deregister`: compare-and-swap, success | Relaxed | nothing: its owner armed it | – | nothing weaker |
//! | slots-4 | the same, failure | Relaxed | nothing: nothing is done, or slots-5 comes next | – | nothing weaker |
//! | slots-5 | `detach`, `deregister` that comes too late: fetch_add | AcqRel | slots-6, slots-15, slots-17 | the slot's next payload is written while its runner, or its owner, still reads this one | `a_mark_hands_the_slot_to_its_runner`, `an_ended_run_hands_the_slot_on` |
//! | slots-6 | `deregister_detached`: load | Acquire | slots-5 | the payload is read before it is written | `a_detached_payload_is_removed_as_it_was_armed` |
//! | slots-7 | the same: compare-and-swap, success | Relaxed | nothing: slots-6 has acquired what it takes | – | nothing weaker |
//! | slots-8 | the same, failure | Relaxed | nothing: somebody else has it | – | nothing weaker |
//! | slots-9 | `holds`: load | Relaxed | nothing: its owner armed it | – | nothing weaker |
//! | slots-10 | `renew`: load | Acquire | slots-17 | the payload is overwritten while its runner reads it | `a_renewed_payload_is_written_after_the_run_before` |
//! | slots-11 | `renew` of an armed slot: compare-and-swap, success | Relaxed | nothing: its owner armed it | – | nothing weaker |
//! | slots-12 | the same, failure | Relaxed | nothing: the runner has it | – | nothing weaker |
//! | slots-13 | `renew`: store of *armed* | Release | slots-15 | as slots-2 | `a_renewed_payload_is_taken_as_it_was_armed` |
//! | slots-14 | `take`: load | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | slots-15 | `take`: compare-and-swap, success | Acquire | slots-2, slots-5, slots-13 | as slots-2 | `a_payload_is_taken_as_it_was_armed` |
//! | slots-16 | the same, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | slots-17 | end of a run: fetch_add | AcqRel | slots-5, slots-10 | as slots-5 | `an_ended_run_hands_the_slot_on`, `a_mark_hands_the_slot_to_its_runner` |
//! | slots-18 | freeing: store of *empty* | Relaxed | nothing: the bit hands the slot on (bitmap-2) | – | nothing weaker |
//! | slots-19 | `clear`: load | Relaxed | nothing: nobody else has the table | – | nothing weaker |
//! | slots-20 | drop: load | Relaxed | nothing, as slots-19 | – | nothing weaker |
//!
//! The payload itself is plain memory. The bits' rows are bitmap-1, bitmap-2, bitmap-4 and bitmap-5.
//!
//! # Progress
//!
//! `register`: lock-free, it goes on only if another call has just taken the slot that it saw. All deregistrations, `holds`, `held`,
//! `renew` and `detach`: wait-free, without a second look. `take`: lock-free, one compare-and-swap, and a second one if the owner has detached the slot
//! meanwhile; a round over the table is at most 32 of them.
//!
//! # What surprised us
//!
//! * A slot that its runner frees by itself cannot be looked at by its owner: it may have been given away between the look at the word and the
//!   look at the payload. So an owned slot stays its owner's after the run, and a re-poll with the same waker is one load here.
//! * Reading a payload out must not write anything there, or that look races with the runner.
mod table;
mod word;

pub(crate) use table::next_bit;
pub use table::{Deregistered, Full, Renewed, Run, Slot, Slots, Taken};
pub use word::Handle;
