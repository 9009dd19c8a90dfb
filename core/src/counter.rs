//! Call IDs, the next number of a space, for one owner or for everybody; and counts that many threads add to.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A protocol numbers its calls, so that an answer finds its call. The numbers have a width that the wire gives (31 bits, say), often
//! a step (HTTP/2: odd for clients, even for servers) and reserved values (0 means "the connection"). The obvious solution,
//! `if id == MAX { 0 } else { id + 1 }` on a signed integer under a lock, costs a branch and a lock for each call, and fails late: at
//! the wrap, after hours or months. Other systems' reports say how: a reserved value on the wire after 2^32 requests, negative IDs,
//! the same ID for two callers who met at the reset, the same ID again after a reconnect, exhaustion noticed by the peer. Here the
//! space is described once, at compile time; a shared ID is one `fetch_add`, an owner's ID one load and one store; and what happens
//! at the end is part of the type.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | one thread or interrupt level that makes all IDs (a reactor, a connection's task) | [`OwnerIds`] |
//! | several threads or interrupt handlers | [`SharedIds`] |
//! | several threads that each make many | an [`IdLease`] each: one shared step for `N` IDs |
//! | a protocol whose IDs may come again | policy [`Wrap`] (the default) |
//! | a protocol whose IDs may never come again (HTTP/2) | policy [`Exhaust`], and [`remaining`](SharedIds::remaining) to act early |
//! | a statistic that many threads add to | [`StripedCounter`]; if it may fall, [`StripedGauge`] |
//!
//! Don't use it for IDs that must not be guessed (use random ones) or that carry a time. It does not know which IDs are still in use:
//! with `Wrap`, a call that lives for a whole round of the space meets its own ID again.
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::counter::{Exhaust, Http2ClientStreams, IdSpace, SharedIds, Space};
//!
//! /// Request numbers of a sensor bus: 16 bits, the low 32 values are commands, 0xffff is broadcast.
//! enum Bus {}
//! impl Space for Bus {
//!     type Word = u32;
//!     const SPACE: IdSpace = IdSpace::bits(16).reserve_below(32).reserve(0xffff);
//! }
//!
//! static REQUESTS: SharedIds<Bus> = SharedIds::new(); // zero bytes in .bss
//! assert_eq!(REQUESTS.next_id(), 32);
//!
//! static STREAMS: SharedIds<Http2ClientStreams, Exhaust> = SharedIds::new();
//! if STREAMS.remaining() < 1000 { /* open the next connection now */ }
//! match STREAMS.try_next_id() {
//!     Ok(stream) => assert_eq!(stream, 1),
//!     Err(exhausted) => { /* this connection has had its 2^30 streams */ let _ = exhausted; }
//! }
//! ```
//!
//! # 4. State
//!
//! One word, `count`. The ID is computed from it and stored nowhere. W is the width of the word, w that of the space.
//!
//! | policy | legal `count` | next ID | after the call |
//! |---|---|---|---|
//! | `Wrap`, the value at `count` is an ID | 0 ..= 2^W − 1 | (first + count · step) mod 2^w | count + 1 |
//! | `Wrap`, it is a reserved value | 0 ..= 2^W − 1 | the next value that is not | the count of that one + 1 |
//! | `Exhaust`, IDs left | 0 ..= capacity − 1 | first + count · step, one step more from the reserved value on | count + 1 |
//! | `Exhaust`, exhausted | capacity ..= 2^W − 1 | `Err(Exhausted)` | count; or count + 1 for a shared call that met the end |
//!
//! ```text
//! Wrap, 4 bits, first 3, reserve_below(2), reserve(12):       Exhaust, the same space: capacity 12
//!
//! count  0 1 2 3 4 5 6 7 8  9  10 11 12 13 14 15 16 …         count  0 1 2 3 4 5 6 7 8  9  10 11 | 12 …
//! value  3 4 5 6 7 8 9 10 11 ×  13 14 15 ×  ×  2  3            ID     3 4 5 6 7 8 9 10 11 13 14 15 | Exhausted
//! ```
//!
//! `Exhaust` numbers only the IDs from the first one up: they ascend, as protocols without reuse want it.
//!
//! A lease holds the next ID of its block, the one after the last, and the `count` after the block; a stripe holds four words:
//!
//! | word of a stripe | written by | holds |
//! |---|---|---|
//! | `claim` | who claims it, then that owner | 0 free, 1 owned |
//! | `own` | its owner: load, store | all that owners ever added |
//! | `shared` | everybody: `fetch_add`; drains: `swap` | what others added since the last drain |
//! | `drained` | drains: compare-and-swap | how much of `own` drains have taken |
//!
//! # 5. Invariants
//!
//! * **I1** A value is handed out only if [`IdSpace::contains`] it.
//! * **I2** `SharedIds`: every change of `count` is one indivisible step, `fetch_add` or compare-and-swap, and a call's ID comes from the
//!   value that its own step has replaced; so no two calls use the same count, and only counts of reserved values go unused.
//! * **I3** `Wrap`: 2^w divides step · 2^W, so the wrap of the word falls on a wrap of the space and repeats or skips nothing.
//! * **I4** `Exhaust`: `capacity` ≤ 2^W − 2^16 (checked at compile time, [`GUARD_BAND`]). Past the capacity `count` never falls, and
//!   a thread steps past it at most once, because after its own step it never again reads an older value. So fewer than 65,536
//!   threads never carry `count` over the wrap of the word, and a refused call brings no ID back.
//! * **I5** `OwnerIds`: only its owner stores; it is not `Sync`, so shared references stay in one thread.
//! * **I6** `own` has one writer: the claim's holder, whose handle is not `Sync`. It only grows, modulo the word.
//! * **I7** Whoever reads `drained` and then `own` reads `own` at least as new as the drain that wrote that `drained`; so
//!   `own` − `drained` is never negative, and the drains' shares telescope: nothing is lost, nothing comes twice.
//! * **I8** Leases: a block's counts are taken by one compare-and-swap, lie before the capacity, and are given back only if `count`
//!   still is what it was after that exchange: with `Exhaust`, nobody then has a later one. With `Wrap` the same value may stand
//!   there a whole wrap of the word later; the IDs given back are then those of the last calls.
//!
//! There is no `unsafe` code in this module.
//!
//! # 6. Orderings
//!
//! An ID publishes nothing, so every operation on `count` is relaxed: what matters is that `fetch_add` is one indivisible step (I2)
//! and that a thread reads its own writes and nothing older (I4), which holds for any one word at any ordering. The stripes have
//! two pairs that need more: the hand-over of a stripe (claim-2 and claim-4, in `util`) and the drain (I7).
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | counter-1 | `OwnerIds::starting_at`, `resume_after`: store | Relaxed | nothing: the owner alone has the word | – | nothing weaker |
//! | counter-2 | `OwnerIds::next_id`, `remaining`: load | Relaxed | nothing (I5) | – | nothing weaker |
//! | counter-3 | `OwnerIds::next_id`: store | Relaxed | nothing (I5) | – | nothing weaker |
//! | counter-4 | `SharedIds::starting_at`, `resume_after`: fetch_add | Relaxed | nothing: not yet shared | – | nothing weaker |
//! | counter-5 | `SharedIds::try_next_id`, `remaining`: load | Relaxed | counter-7 of the same thread (I4) | – | nothing weaker |
//! | counter-6 | `SharedIds::next_id`: fetch_add | Relaxed | itself in other threads: indivisible (I2) | – | nothing weaker |
//! | counter-7 | `SharedIds::try_next_id`: fetch_add | Relaxed | itself in other threads: indivisible (I2) | – | nothing weaker |
//! | counter-8 | `SharedIds::gaps`: load | Relaxed | nothing: a statistic | – | nothing weaker |
//! | counter-9 | `IdLease` refill, `SharedIds::next_id` that meets a reserved value: compare-and-swap, success | Relaxed | counter-6, counter-7 and itself: indivisible (I8) | – | nothing weaker |
//! | counter-10 | the same: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | counter-11 | `IdLease` end, giving back: compare-and-swap, success | Relaxed | counter-9: indivisible (I8) | – | nothing weaker |
//! | counter-12 | `IdLease` end, giving back: compare-and-swap, failure | Relaxed | nothing | – | nothing weaker |
//! | counter-13 | `IdLease` end, counting gaps: fetch_add | Relaxed | nothing: a statistic | – | nothing weaker |
//! | counter-14 | `StripedCounter::add`: fetch_add | Relaxed | counter-18: indivisible | – | nothing weaker |
//! | counter-15 | `StripedCounter::sum`: load of `drained` | Acquire | counter-21 of the drain it reads from (I7) | a sum that misses what a drain took from `own`: negative | `a_sum_that_meets_a_drain_is_never_negative` |
//! | counter-16 | `StripedCounter::sum`: load of `own` | Relaxed | counter-24, at no particular moment | – | nothing weaker |
//! | counter-17 | `StripedCounter::sum`: load of `shared` | Relaxed | counter-14, at no particular moment | – | nothing weaker |
//! | counter-18 | `StripedCounter::drain`: swap of `shared` | Relaxed | counter-14: indivisible | – | nothing weaker |
//! | counter-19 | `StripedCounter::drain`: load of `drained` | Acquire | counter-21 of the drain before (I7) | a drain that takes a negative share | `two_drains_never_take_a_negative_share` |
//! | counter-20 | `StripedCounter::drain`: load of `own` | Relaxed | counter-24, at no particular moment | – | nothing weaker |
//! | counter-21 | `StripedCounter::drain`: compare-and-swap of `drained`, success | Release | counter-15 and counter-19 (I7) | as those | `two_drains_never_take_a_negative_share` |
//! | counter-22 | `StripedCounter::drain`: compare-and-swap of `drained`, failure | Relaxed | nothing: looks again with counter-19 | – | nothing weaker |
//! | counter-23 | `OwnStripe::add`: load of `own` | Relaxed | nothing: the owner's own word (I6), handed over by claim-2 | – | nothing weaker |
//! | counter-24 | `OwnStripe::add`: store of `own` | Relaxed | nothing (I6), handed over by claim-4 | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `OwnerIds`: all | wait-free on every target | not shared |
//! | `SharedIds::next_id`, no reserved value met | wait-free where `fetch_add` is (x86-64, AArch64 with LSE, RISC-V with A); lock-free where it is a load-exclusive loop (ARMv7-M); short masking of interrupts where the final user's choice for portable-atomic does that (ARMv6-M) | counter-6 |
//! | `SharedIds::next_id` that meets a reserved value | lock-free: it repeats only if another call moved the counter | counter-9 |
//! | `SharedIds::try_next_id` | as the first row | success: counter-7; refusal: counter-5, or counter-7 |
//! | `SharedIds::remaining`, `gaps` | wait-free | counter-5, counter-8 |
//! | `IdLease::next_id`, `try_next_id` | wait-free while it has a block; the refill is lock-free, as is giving back | counter-9, for the whole block |
//! | `StripedCounter::claim` | wait-free: at most `N` tries | claim-2 |
//! | `StripedCounter::add` | as `SharedIds::next_id` | counter-14 |
//! | `OwnStripe::add` | wait-free on every target | counter-24 |
//! | `StripedCounter::sum` | wait-free | none: a value between the counts at its start and its end, while nobody drains |
//! | `StripedCounter::drain` | lock-free | for each stripe, counter-18 and counter-21 |
//!
//! # 8. Cost
//!
#![doc = include_str!("../docs/cost/counter.md")]
//!
//! # 9. What surprised us
//!
//! * The published gain of the mask over the branch, a factor of 1000, is the number of calls divided by the start-up of a process:
//!   the compiler folds the whole loop of masks into one addition, because nobody uses the IDs. Used IDs gain one instruction.
//!   `cargo papers kudu` shows both.
//! * Storing the *reduced* count instead of the running one saves the owner an instruction: the ID of a space that begins with 0 is
//!   then the stored value itself.
//! * Reserving 0 costs a shared ID two instructions (compare and branch), since first = 1 makes the reserved value the wrap of the word.
//! * Callers that meet in the reserved values must not each step over them without looking: their steps add up, and in a space with
//!   more reserved values than IDs two callers were enough to go once round and hand out the same ID twice.
//! * Without the guard band, `Exhaust` is wrong in a way that no test of a few thousand calls finds: 2^32 refused calls later, all
//!   IDs come again. The load before the `fetch_add` makes it rare; the band makes it impossible.
//! * A stripe that its owner writes with plain stores cannot be set to 0 by a drain: the owner would store the old count back. The
//!   drain moves a second word instead, and needs the only two orderings of this page that are not relaxed.
//! * callgrind counts one conditional branch too many for each `lock xadd`.
//!
//! # 10. References
//!
//! * Apache Kudu, change 7813, "faster generation of KRPC call ID": the figures of [the paper](crate#papers).
//! * RFC 9113 (HTTP/2), section 5.1.1: stream identifiers.
//! * M. Herlihy, N. Shavit, *The Art of Multiprocessor Programming*, chapter 5: `getAndIncrement` and consensus numbers;
//!   chapter 12: counting without a single hot word.
//! * D. Dice, Y. Lev, M. Moir, "Scalable Statistics Counters", SPAA 2013: stripes, and who may write them.
//! * M. Bos, *Rust Atomics and Locks*, chapter 2: ID allocation with `fetch_add`, and its overflow.
mod gauge;
mod lease;
mod owner;
mod policy;
mod sequence;
mod shared;
mod space;
mod striped;
mod word;

pub use gauge::{OwnGaugeStripe, StripedGauge};
pub use lease::IdLease;
pub use owner::OwnerIds;
pub use policy::{Exhaust, Exhausted, IdGenerator, NotInSpace, Policy, Wrap};
pub use sequence::GUARD_BAND;
pub use shared::SharedIds;
pub use space::{Contradiction, Http2ClientStreams, Http2ServerStreams, IdSpace, KuduCallIds, NonZeroU32Ids, Space};
pub use striped::{OwnStripe, StripedCounter};
pub use word::{SharedWord, Word};
