//! IDs that are handed out and taken back: pools, wrappers around them, and calls in flight.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! Connections, buffers, queues and calls are known by small numbers, which must be unique while they are in use and come back
//! afterwards. The obvious solution, a vector of free numbers under a mutex, costs a lock each time and lets everybody wait for whoever
//! is preempted inside. A lock-free list that links the free IDs through memory misses the cache at every step once they are mixed up,
//! and needs a tag against an old head (ABA), which wraps. Queues used as pools say "empty" while others are under way. And most
//! pools take an ID twice without a word, and then give it to two. Here an ID is a bit, which is the whole truth about it; that leaves
//! nothing to be tagged, and a double free shows itself.
//!
//! # 2. Use / don't use
//!
//! | you want | use |
//! |---|---|
//! | the smallest free ID first, one bit an ID, `reserve` of a chosen one, double frees found | [`BitPool`]; over borrowed words and a range known at run time, [`BorrowedBitPool`] |
//! | the price of an array access for an ID, from one owner or thread | [`Cache`] of a [`MagazinePool`] ([its page](magazine)) |
//! | nearly that from several threads, down to the last ID | [`StealableCache`] ([its page](magazine)) |
//! | double frees found in any pool | [`Checked`] around it |
//! | old IDs found although the number is in use again | [`Generational`] around it |
//! | to match answers with calls, some of which time out | [`InFlight`] ([its page](in_flight)) |
//!
//! Don't use `BitPool` where several threads allocate all the time: the smallest free ID is the same for all of them, and they meet on
//! its word. Don't use a pool to number what never comes back: that is a [counter](crate::counter).
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::pool::{BitPool, FreeError, Generational, bit_pool_words};
//!
//! type Ports = BitPool<16_384, { bit_pool_words(16_384) }, 49_152>;
//! static PORTS: Ports = Ports::new(); // zero bytes in .bss: the base is part of the type
//!
//! assert_eq!(PORTS.reserve(49_152), Ok(()));
//! let port = PORTS.alloc().expect("not exhausted");
//! assert_eq!(port, 49_153);
//! assert_eq!(PORTS.free(port), Ok(()));
//! assert_eq!(PORTS.free(port), Err(FreeError::NotAllocated(port))); // found, refused, nothing changed
//!
//! let sessions: Generational<Ports, 16_384> = Generational::new(Ports::new());
//! let old = sessions.alloc().expect("not exhausted");
//! assert_eq!(sessions.free(old), Ok(()));
//! let new = sessions.alloc().expect("not exhausted");
//! assert_eq!(new.id(), old.id());
//! assert_eq!(sessions.free(old), Err(FreeError::Stale(old)));
//! ```
//!
//! # 4. State
//!
//! A `BitPool`: words of bits, a summary above them (its rules are in `util/summary.rs`), and two counts.
//!
//! | word | legal values | meaning |
//! |---|---|---|
//! | bit of an ID | 1 | allocated |
//! | | 0 | free; at first all are |
//! | mark of a word, of a word of marks, … | 1 | a look has found nothing there, not long ago |
//! | `low` | 0 ..= the last word | the word to look at first |
//! | `frees` | 2 × the frees so far, modulo 2^32 | even |
//! | `proven` | 0, or `frees` + 1 at some time | at that time all IDs were allocated |
//!
//! ```text
//! top                 ......01            one word marks up to 32 words of marks, and so on
//! marks               ...00011            word 0 and word 1 are full: low = 2
//! IDs      [11111111] [11111111] [00000101]
//!           word 0     word 1     word 2, whose second ID is the smallest free one
//! ```
//!
//! A `Checked` adds a byte an ID (1 from `alloc` to `free`), a `Generational` a word an ID:
//!
//! | word of an ID | its ID | handle |
//! |---|---|---|
//! | 2 k | has been allocated and freed k times | none is good |
//! | 2 k + 1 | is allocated for the time k + 1 | {generation 2 k + 1, ID} |
//! | 0, and its ID never in the pool again | retired: all 2^bits generations are used up | none is good |
//!
//! # 5. Invariants
//!
//! * **B1** Only the call that sets an ID's bit has allocated it, only the one that clears it has freed it; so an ID belongs to one at a
//!   time, and of two frees one finds the bit clear.
//! * **B2** A free clears the bit, then counts itself in `frees`. If `frees` has not changed while a call found every word full, then all
//!   IDs that are free at its end belong to frees that have not counted themselves; these come after it, and it may say `Exhausted`. A
//!   free whose ID is allocated again before that comes just before that allocation. Who refuses a free because of a bit that is
//!   already clear counts it for the one who cleared it.
//! * **B3** A word gets a mark only from a search that has found it full, and who marks looks again (S1 of the summary): once all calls
//!   are over, no free ID is behind a mark, and none below `low`.
//! * **C1** `Checked`, `Generational`: the byte is cleared, or the word made even, by exactly one free of an allocation, and that before
//!   the pool inside gets the ID back; while the pool has it, nobody else writes there.
//! * **G1** `Retire`: a word that has come to its end goes to 0 while its ID stays allocated inside; so no handle comes twice.
//!
//! There is no `unsafe` code in these files; the magazines have some, and a page of their own.
//!
//! # 6. Orderings
//!
//! The bits' own rows, bitmap-1 to bitmap-6 and summary-1 to summary-5, are in `util`: they hand an ID from who frees it to who gets it,
//! and make marks safe. Here are the counts. The wrappers' words order nothing: the pool inside does.
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | pool-1 | proof of exhaustion: load of `frees` | Acquire | pool-5 | a free is counted and its bit not seen: `Exhausted` with an ID free | `an_id_freed_before_another_is_taken_is_seen_with_its_data` |
//! | pool-2 | the same: load of `proven` | Relaxed | nothing: a proof is of a number of frees, whoever made it | – | nothing weaker |
//! | pool-3 | the same: load of `frees` again | Relaxed | nothing: bitmap-5 before it has acquired | – | nothing weaker |
//! | pool-4 | the same: store of `proven` | Relaxed | nothing, as pool-2 | – | nothing weaker |
//! | pool-5 | `free`: fetch_add of `frees` | Release | pool-1 | as pool-1 | `an_id_freed_before_another_is_taken_is_seen_with_its_data` |
//! | pool-6 | `Generational::alloc`: load | Relaxed | nothing: the ID's holder alone writes (C1), handed over by the pool inside | – | nothing weaker |
//! | pool-7 | `Generational::alloc`: store | Relaxed | nothing (C1) | – | nothing weaker |
//! | pool-8 | `Generational::free`: compare-and-swap, success | Relaxed | itself in other threads: indivisible (C1) | – | nothing weaker |
//! | pool-9 | `Generational::free`: compare-and-swap, failure | Relaxed | nothing: a refusal | – | nothing weaker |
//! | pool-10 | retiring: fetch_add | Relaxed | nothing: a statistic | – | nothing weaker |
//! | pool-11 | `Generational::free` refused by the pool inside: store | Relaxed | nothing: puts back what pool-8 took | – | nothing weaker |
//! | pool-12 | `Generational::is_current`: load | Relaxed | nothing: at no particular moment | – | nothing weaker |
//! | pool-13 | `Generational::retired`: load | Relaxed | nothing: a statistic | – | nothing weaker |
//! | pool-14 | `Checked::alloc`: store | Relaxed | nothing: the ID's holder alone writes (C1) | – | nothing weaker |
//! | pool-15 | `Checked::free`: swap | Relaxed | itself in other threads: indivisible (C1) | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `BitPool::alloc` | lock-free: it goes on only if others have taken the ID it saw, or freed one | bitmap-1; of `Exhausted`, pool-3, or pool-2 for a proof that still holds |
//! | `BitPool::free` | wait-free if its word is not marked; else lock-free, once in 32 frees at most | pool-5, or just before the ID's next allocation (B2); refused: bitmap-2 |
//! | `BitPool::reserve` | wait-free | bitmap-1 |
//! | `BitPool::alloc_into` | as `alloc` | for each word's IDs, bitmap-3 |
//! | `BitPool::is_exhausted` | wait-free | as `Exhausted`; `false` has none |
//! | `allocated`, `free_ids`, `is_allocated` | wait-free | exact while nothing else runs |
//! | `Checked`, `Generational`: `alloc`, `free` | as the pool inside | as the pool inside; refused: pool-15, pool-9 |
//!
//! Wait-free means: where a read-modify-write of 32 bits is one instruction; [progress by target](crate::docs::progress_by_target)
//! says where not. A call that is delayed between its steps delays nobody, but may hide IDs of the words it works on from searches
//! for the smallest one; `Exhausted` is said only after a look at every word.
//!
//! The proof of exhaustion holds until exactly 2^31 frees have come between its two looks at `frees`, or between it and its use.
//!
//! # 8. Cost
//!
#![doc = include_str!("../docs/cost/pool.md")]
//!
//! The rounds: *new* allocates n IDs, *del* frees them in a shuffled order, *mix* allocates, frees and allocates, *rnd* the same with a random
//! earlier ID freed, *xfer* allocates by one user and frees by another.
//!
//! An allocation of a `BitPool` is one read-modify-write, a free two. A word that is found full costs a search, and each free in a
//! marked word an update of the summary, once for up to 32 IDs; if a program keeps the pool nearly full, at every call. `Exhausted` looks
//! at n / 32 words, but only if an ID has been freed since the last time.
//!
//! # 9. What surprised us
//!
//! * A count taken before the bit, as by a semaphore, does not make `Exhausted` exact. With IDs 0 (allocated) and 1 (free): one thread
//!   frees 0, clears the bit, and is delayed before it counts; another one allocates 0, and is then refused, with 1 free all the time.
//!   A history of three calls in two threads; `s2_count_first` finds it.
//! * Counting only the frees is exact, and leaves an allocation with a single read-modify-write.
//! * The count of frees makes a proof that lasts: after one look at all words, an exhausted pool answers at once until the next free.
//! * Marking a word as full when its last ID is taken costs each allocation three instructions. Marking it when a search finds it full
//!   costs nothing until then.
//! * On x86 the old value of a `fetch_or` must be used for one bit alone, or the compiler makes a loop of it. So a free asks the
//!   summary whether its word was full, and not the word.
//!
//! # 10. References
//!
//! * Open vSwitch, `lib/id-pool.c` and `lib/id-fpool.c`: the map and the slabs that pools in production use.
//! * J. Bonwick, J. Adams, *Magazines and Vmem*, USENIX 2001: caches over a depot.
//! * Linux, `lib/sbitmap.c` and `lib/idr.c`: bitmaps as allocators, the smallest ID first.
//! * M. Herlihy, J. Wing, *Linearizability*, 1990: why a refusal must be right at an instant of the call.
mod error;
mod traits;

// rustfmt does not look into macros; here it finds the files.
#[cfg(any())]
mod bit_pool;
#[cfg(any())]
mod bits;
#[cfg(any())]
mod checked;
#[cfg(any())]
mod generational;
#[cfg(any())]
mod in_flight;
#[cfg(any())]
mod magazine;

crate::sync::cfg_has_rmw_32! {
    mod bit_pool;
    mod bits;
    mod checked;
    mod generational;
    pub mod in_flight;
    pub mod magazine;

    pub use bit_pool::{BitPool, BorrowedBitPool, bit_pool_words};
    pub use checked::{Checked, CheckedUser};
    pub use crate::util::BitWord;
    pub use generational::{GenerationPolicy, Generational, GenerationalUser, Handle, Retire, Wrap};
    pub use in_flight::{CallId, CompleteError, Full, InFlight, NotTimedOut, Ticket};
    pub use magazine::{Blocks, Cache, MagazinePool, Slices, StealableCache, User, Users};
}

pub use error::{AllocError, FreeError, RangeError, ReserveError, SliceError};
pub use traits::{IdRange, Pool, PoolUser};
