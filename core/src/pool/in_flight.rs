//! Calls in flight: which answer belongs to which call, when answers come late, twice or never.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A client numbers its calls, and an answer names the number of its call. The obvious table is indexed by the number modulo its
//! size: two calls that are that far apart then meet in one slot, and the table is full although it is not, or the newer call
//! overwrites the older one. A late answer, to a call that has been given up, reaches the call that has its slot now. Here a call first
//! takes a free slot, and its number is made of the slot and of a generation that counts the calls of this slot.
//!
//! # 2. Use / don't use
//!
//! Use it where calls and answers are matched by a number of at most 32 bits and calls may time out. Don't use it if an answer cannot be
//! late (then a pool's ID is number enough), or if numbers must never come again: they do, after all generations of a slot.
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::pool::{CallId, CompleteError, InFlight, bit_pool_words};
//!
//! static CALLS: InFlight<64, { bit_pool_words(64) }> = InFlight::new();
//!
//! let ticket = CALLS.begin().expect("fewer than 64 calls are in flight");
//! let sent = ticket.id().to_bits(); // goes out with the request, and comes back with the answer
//! let answered = CallId::from_bits(sent).expect("not 0");
//! assert_eq!(CALLS.complete(answered), Ok(()));
//! assert_eq!(CALLS.complete(answered), Err(CompleteError::Duplicate(answered)));
//! assert!(ticket.finish()); // the slot is free
//!
//! let slow = CALLS.begin().expect("fewer than 64 calls are in flight");
//! let late = slow.time_out().expect("no answer has come"); // the slot is kept, since an answer may still come
//! assert_eq!(CALLS.complete(late), Err(CompleteError::Stale(late))); // now it is free
//! ```
//!
//! # 4. State
//!
//! A word a slot: the generation of its last call and three bits. The slots that are not free are those allocated in a [`BitPool`].
//!
//! | timed out | held | answered | the last call | its slot | `complete` says | and makes of it |
//! |---|---|---|---|---|---|---|
//! | 0 | 0 | 0 | has ended without an answer (generation 0: there was none) | free | `Stale` (`Unknown`) | – |
//! | 0 | 0 | 1 | has ended, answered | free | `Duplicate` | – |
//! | 0 | 1 | 0 | waits | taken | `Ok` | held, answered |
//! | 0 | 1 | 1 | is answered, and its ticket not yet dropped | taken | `Duplicate` | – |
//! | 1 | 0 | 0 | has timed out, and its answer may come | taken | `Stale` | free, answered |
//!
//! ```text
//! call ID   generation, 32 − s bits | slot, s bits         N slots, s = ⌈log2 N⌉; `BITS` instead of 32 if the wire has fewer
//! word      generation, 29 bits | timed out | held | answered
//! ```
//!
//! # 5. Invariants
//!
//! * **F1** A slot is taken in the pool from before its word says *held* until after its word says neither *held* nor *timed out*; so a
//!   call never gets a slot that another one still has, and the table is full at exactly N calls.
//! * **F2** A generation passes only when a call begins, and only the one that has the slot from the pool writes it. So every other
//!   step is on a word that says the same generation as the call ID.
//! * **F3** Of all answers to a call exactly one finds *held* without *answered*. Of that answer and the time-out, one comes first.
//!
//! # 6. Orderings
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | in-flight-1 | `begin`: load | Relaxed | nothing: the slot's holder alone writes it (F2), handed over by the pool | – | nothing weaker |
//! | in-flight-2 | `begin`: store | Relaxed | nothing (F2) | – | nothing weaker |
//! | in-flight-3 | `complete`: load | Relaxed | nothing: chooses the step | – | nothing weaker |
//! | in-flight-4 | `complete` of a waiting call: compare-and-swap, success | Release | in-flight-8, in-flight-9 | the caller does not see what came with the answer | `what_came_with_an_answer_is_visible` |
//! | in-flight-5 | the same, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | in-flight-6 | late `complete`, `forget`: compare-and-swap, success | Acquire | in-flight-10 | the slot's next call meets what its last one still did | `a_late_answer_hands_the_slot_on` |
//! | in-flight-7 | the same, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | in-flight-8 | `Ticket::is_answered`: load | Acquire | in-flight-4 | as in-flight-4 | `what_came_with_an_answer_is_visible` |
//! | in-flight-9 | `Ticket::finish`, drop: fetch_and | Acquire | in-flight-4 | as in-flight-4 | `who_finishes_sees_what_came_with_the_answer` |
//! | in-flight-10 | `Ticket::time_out`: compare-and-swap, success | Release | in-flight-6 | as in-flight-6 | `a_late_answer_hands_the_slot_on` |
//! | in-flight-11 | the same, failure | Relaxed | nothing: the call has been answered | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `begin` | as [`BitPool::alloc`] | the pool's; of [`Full`], the pool's `Exhausted` |
//! | `complete`, `forget` | lock-free: it looks again only if another call has moved this slot on | in-flight-4 or 6; a refusal: in-flight-3 |
//! | `Ticket::finish`, drop, `time_out` | one step, then as [`BitPool::free`] | in-flight-9, in-flight-10 |
//!
//! Whatever ends a call does so in that one step, and frees the slot before it returns. Between the two the call's answers are stale
//! and its slot is still taken: `Full` counts it.
//!
//! # 8. Cost
//!
//! A call is one allocation and one free of a [`BitPool`], one load and one store at its begin, one compare-and-swap for its answer, and
//! one read-modify-write at its end. Four bytes a slot and the pool's words.
//!
//! # 9. What surprised us
//!
//! * Dropping a ticket is one `fetch_and` in every state, because "ended" is *held* taken away, whatever *answered* says.
//! * A duplicate is told from a stale answer even after the slot is free, as long as no other call has had it.
//! * A reused slot is found by comparing generations for equality. Which of two generations is the newer one is only asked to choose
//!   between `Stale` and `Unknown`, so a wrap costs nothing but a name.
//!
//! # 10. References
//!
//! * [`BitPool`] for the slots, [`Generational`](super::Generational) for generations without time-outs.
//! * RFC 1035, section 4.1.1, and RFC 5452, section 4: numbers that match answers to questions, and what goes wrong with few of them.

use core::{fmt, num::NonZeroU32};

use super::BitPool;
use crate::{array, const_fn, ord, sync::AtomicU32};

const ANSWERED: u32 = 1;
const HELD: u32 = 1 << 1;
const TIMED_OUT: u32 = 1 << 2;
const FLAGS: u32 = ANSWERED | HELD | TIMED_OUT;
const GENERATION_SHIFT: u32 = 3;

/// The number of a call: its slot and its slot's generation. Never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(NonZeroU32);

impl CallId {
    /// The number, as it is sent.
    #[inline]
    pub const fn to_bits(self) -> u32 {
        self.0.get()
    }

    /// The call ID with this number. `None` for 0, which is no call's.
    #[inline]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        match NonZeroU32::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }
}

/// All slots are taken: by calls that wait, by answered ones whose tickets are not dropped, and by those that have timed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Full;

/// What is wrong with an answer: with the call ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompleteError {
    /// Its call has timed out or been dropped, or is an earlier one of this slot.
    Stale(CallId),
    /// There has been no such call, or not in the last half of the generations.
    Unknown(CallId),
    /// The call has been answered already.
    Duplicate(CallId),
}

/// Why a call cannot be forgotten: it has not timed out, or its answer has come, or it was forgotten before. With the call ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotTimedOut(pub CallId);

/// Up to `N` calls in flight. `WORDS` is [`bit_pool_words`](super::bit_pool_words)`(N)`, and call IDs have `BITS` bits.
///
/// A call ID comes again when its slot has had as many calls as there are generations: 2^(`BITS` − s), for slot numbers of s bits, and
/// at most 2^29. An answer that late is taken for the newer call's.
///
/// # Ordering
/// What was done before [`complete`](Self::complete) is visible after [`Ticket::is_answered`] or [`Ticket::finish`] has said `true`.
///
/// # Examples
/// On [the module's page](self).
pub struct InFlight<const N: usize, const WORDS: usize, const BITS: u32 = 32> {
    slots: BitPool<N, WORDS>,
    words: [AtomicU32; N],
}

/// A call in flight, for the caller. Dropping it ends the call and frees its slot; an answer that comes later is stale.
///
/// Forgetting it ([`core::mem::forget`]) strands its slot, and nothing else.
#[must_use = "dropping a ticket ends its call"]
pub struct Ticket<'a, const N: usize, const WORDS: usize, const BITS: u32 = 32> {
    calls: &'a InFlight<N, WORDS, BITS>,
    word: &'a AtomicU32,
    id: CallId,
    slot: u32,
}

impl<const N: usize, const WORDS: usize, const BITS: u32> InFlight<N, WORDS, BITS> {
    const SLOT_BITS: u32 = usize::BITS - N.saturating_sub(1).leading_zeros();
    const GENERATIONS: u32 = {
        assert!(BITS <= 32, "call IDs have at most 32 bits");
        assert!(Self::SLOT_BITS + 2 <= BITS, "call IDs have room for a slot's number and two bits of generation");
        let room = BITS - Self::SLOT_BITS;
        1 << if room < u32::BITS - GENERATION_SHIFT { room } else { u32::BITS - GENERATION_SHIFT }
    };

    const_fn! {
        /// No calls.
        pub const fn new() -> Self {
            const { Self::GENERATIONS };
            Self { slots: BitPool::new(), words: array![AtomicU32::new(0); N] }
        }
    }

    /// A call with a slot of its own. Lock-free.
    ///
    /// # Errors
    /// [`Full`] if at some instant of the call all `N` slots were taken.
    pub fn begin(&self) -> Result<Ticket<'_, N, WORDS, BITS>, Full> {
        let slot = self.slots.alloc().map_err(|_| Full)?;
        let word = self.words.get(slot as usize).ok_or(Full)?;
        // Only the slot's holder writes its generation; `complete` and the others find another one, or no flag to step on (F2).
        let before = word.load(ord!("in-flight-1", Relaxed)) >> GENERATION_SHIFT;
        // 0 means that there has been no call.
        let generation = if before + 1 < Self::GENERATIONS { before + 1 } else { 1 };
        word.store(generation << GENERATION_SHIFT | HELD, ord!("in-flight-2", Relaxed));
        // A generation is not 0, nor is the number.
        let id = CallId(NonZeroU32::new(generation << Self::SLOT_BITS | slot).ok_or(Full)?);
        Ok(Ticket { calls: self, word, id, slot })
    }

    /// Says that a call's answer has come. Of all answers to a call, exactly one is `Ok`. Lock-free.
    ///
    /// # Errors
    /// [`CompleteError`] with the call ID. Nothing has changed then, but that the slot of a call that had timed out is free.
    pub fn complete(&self, id: CallId) -> Result<(), CompleteError> {
        let (slot, generation) = Self::parts(id);
        let Some(word) = self.words.get(slot as usize).filter(|_| generation != 0) else {
            return Err(CompleteError::Unknown(id));
        };
        loop {
            let state = word.load(ord!("in-flight-3", Relaxed));
            let last = state >> GENERATION_SHIFT;
            if last != generation {
                let calls_since = last.wrapping_sub(generation) % Self::GENERATIONS;
                let was = last != 0 && calls_since < Self::GENERATIONS / 2;
                return Err(if was { CompleteError::Stale(id) } else { CompleteError::Unknown(id) });
            }
            match state & FLAGS {
                // Linearization point. Release pairs with `is_answered` and `finish`.
                HELD => {
                    let answered = state | ANSWERED;
                    if word.compare_exchange(state, answered, ord!("in-flight-4", Release), ord!("in-flight-5", Relaxed)).is_ok() {
                        return Ok(());
                    }
                }
                TIMED_OUT => {
                    if self.free_timed_out(slot, word, generation, ANSWERED) {
                        return Err(CompleteError::Stale(id));
                    }
                }
                0 => return Err(CompleteError::Stale(id)),
                _ => return Err(CompleteError::Duplicate(id)),
            }
        }
    }

    /// Frees the slot of a call that has timed out, and whose answer is no longer expected. Wait-free, then as [`BitPool::free`].
    ///
    /// # Errors
    /// [`NotTimedOut`] with the call ID; nothing has changed then.
    pub fn forget(&self, id: CallId) -> Result<(), NotTimedOut> {
        let (slot, generation) = Self::parts(id);
        let word = self.words.get(slot as usize).ok_or(NotTimedOut(id))?;
        if self.free_timed_out(slot, word, generation, 0) { Ok(()) } else { Err(NotTimedOut(id)) }
    }

    /// How many slots are taken. Exact while no other call of the table runs.
    pub fn outstanding(&self) -> u32 {
        self.slots.allocated()
    }

    fn free_timed_out(&self, slot: u32, word: &AtomicU32, generation: u32, flags: u32) -> bool {
        let generation = generation << GENERATION_SHIFT;
        // Acquire pairs with `time_out`: what the caller did before comes before what the slot's next call does.
        let timed_out = word.compare_exchange(
            generation | TIMED_OUT,
            generation | flags,
            ord!("in-flight-6", Acquire),
            ord!("in-flight-7", Relaxed),
        );
        timed_out.is_ok() && self.free(slot)
    }

    /// F1: the slot has been taken until here.
    fn free(&self, slot: u32) -> bool {
        self.slots.free(slot).is_ok()
    }

    fn parts(id: CallId) -> (u32, u32) {
        let (slot, generation) = (id.to_bits() & !(u32::MAX << Self::SLOT_BITS), id.to_bits() >> Self::SLOT_BITS);
        // A number with more bits than call IDs have is no call's.
        if generation < Self::GENERATIONS { (slot, generation) } else { (slot, 0) }
    }
}

impl<const N: usize, const WORDS: usize, const BITS: u32> Ticket<'_, N, WORDS, BITS> {
    /// The call's number.
    #[inline]
    pub fn id(&self) -> CallId {
        self.id
    }

    /// The call's slot, below `N`: an index of the caller's own data about calls.
    #[inline]
    pub fn slot(&self) -> u32 {
        self.slot
    }

    /// Whether the answer has come.
    #[inline]
    pub fn is_answered(&self) -> bool {
        // Acquire pairs with `complete`.
        self.word.load(ord!("in-flight-8", Acquire)) & ANSWERED != 0
    }

    /// Ends the call and frees its slot; whether the answer had come.
    pub fn finish(self) -> bool {
        let answered = self.end();
        core::mem::forget(self);
        answered
    }

    /// Ends the call, and keeps its slot until a late answer comes or the call is [forgotten](InFlight::forget).
    ///
    /// # Errors
    /// The ticket, if the answer has come.
    pub fn time_out(self) -> Result<CallId, Self> {
        let generation = InFlight::<N, WORDS, BITS>::parts(self.id).1 << GENERATION_SHIFT;
        // Release pairs with the late answer, which frees the slot.
        let timed_out = self.word.compare_exchange(
            generation | HELD,
            generation | TIMED_OUT,
            ord!("in-flight-10", Release),
            ord!("in-flight-11", Relaxed),
        );
        if timed_out.is_err() {
            return Err(self);
        }
        let id = self.id;
        core::mem::forget(self);
        Ok(id)
    }

    fn end(&self) -> bool {
        // Acquire pairs with `complete`. Whatever the answer did, what is left is a free slot's state.
        let before = self.word.fetch_and(!HELD, ord!("in-flight-9", Acquire));
        self.calls.free(self.slot);
        before & ANSWERED != 0
    }
}

impl<const N: usize, const WORDS: usize, const BITS: u32> Drop for Ticket<'_, N, WORDS, BITS> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<const N: usize, const WORDS: usize, const BITS: u32> Default for InFlight<N, WORDS, BITS> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const N: usize, const WORDS: usize, const BITS: u32> fmt::Debug for InFlight<N, WORDS, BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFlight").field("outstanding", &self.outstanding()).finish_non_exhaustive()
    }
}

impl<const N: usize, const WORDS: usize, const BITS: u32> fmt::Debug for Ticket<'_, N, WORDS, BITS> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("id", &self.id).finish_non_exhaustive()
    }
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("as many calls are in flight as there are slots")
    }
}

impl fmt::Display for CompleteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale(id) => write!(f, "call {id} has ended"),
            Self::Unknown(id) => write!(f, "there is no call {id}"),
            Self::Duplicate(id) => write!(f, "call {id} has been answered already"),
        }
    }
}

impl fmt::Display for NotTimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "call {} has not timed out, or has been forgotten or answered since", self.0)
    }
}

impl core::error::Error for Full {}
impl core::error::Error for CompleteError {}
impl core::error::Error for NotTimedOut {}
