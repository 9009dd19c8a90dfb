//! Call IDs and statistics: everything of [`jeton_core::counter`], and counters that give each thread a stripe of its own.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A statistic that every thread counts up (requests served, bytes sent) is one atomic word in the obvious solution. It is right, and
//! its cache line travels between the cores for each count. With a stripe a thread, a count is a load and a store in the thread's
//! own line. What goes wrong then, by the reports: the count of a thread that ended is lost; resetting loses what is counted
//! meanwhile; stripes without padding are no faster than one word.
//!
//! # 2. Use / don't use
//!
//! [`ThreadCounter`] and [`ThreadGauge`] are for counts that are written often and read seldom: reading looks at every stripe. Don't use
//! them for a count that must be exact at an instant (a limit, a reference count), or where memory is dear: a stripe is 128 bytes.
//! On a microcontroller use [`StripedCounter`] with a stripe for each context.
//!
//! # 3. Example
//!
//! ```
//! use jeton::counter::ThreadCounter;
//!
//! static REQUESTS: ThreadCounter = ThreadCounter::new();
//!
//! let threads: Vec<_> = (0..4).map(|_| std::thread::spawn(|| (0..1000).for_each(|_| REQUESTS.add(1)))).collect();
//! threads.into_iter().for_each(|thread| thread.join().unwrap());
//! assert_eq!(REQUESTS.sum(), 4000); // the threads have ended, their counts have not
//! ```
//!
//! # 4. State
//!
//! A thread's number is in a thread-local cell, for all counters (and pools) alike; the counters themselves are [`StripedCounter`]s.
//!
//! | cell | the thread | adds |
//! |---|---|---|
//! | 0 to 255 | has this number, and no other thread has it | stripe of its own if the counter has so many, else shared |
//! | 256 and up | found no number free, or is ending | shared: one `fetch_add` |
//! | `usize::MAX` | has not counted yet | takes a number first |
//!
//! # 5. Invariants
//!
//! * **I1** At most one thread has a number, and stripe `i` of any counter is written as an owner's only by the thread that has `i`.
//! * **I2** A thread hands its number back (release) after its last addition as an owner; the next thread takes it (acquire) before
//!   its first. So the values of all its stripes go on from where they were.
//! * **I3** After handing back, the thread counts shared: also in the destructors of other thread-locals.
//!
//! # 6. Orderings
//!
//! None of its own. The numbers are `jeton_core::util::Numbers`, with the rows claim-1 to claim-5 there; the stripes have those of
//! [`jeton_core::counter`]. The model `a_number_handed_back_keeps_its_stripe` has both; what no model has is when the system runs the
//! destructors of thread-locals, which tests with real threads look at.
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `add` | wait-free; a thread's first one looks through up to 256 numbers | the store, or the `fetch_add` |
//! | `sum` | wait-free | none: between the count at its start and that at its end, while nobody drains |
//! | `drain` | lock-free | for each stripe, its exchange |
//!
//! # 8. Cost
//!
//! As [`StripedCounter`], and the access to a thread-local: `cargo icount counter`.
//!
//! # 9. What surprised us
//!
//! One number a thread for all counters makes the thread's end cheap: there is one destructor, however many counters there are, and
//! a counter in a `static` needs no list of who has counted in it.
//!
//! # 10. References
//!
//! * D. Dice, Y. Lev, M. Moir, "Scalable Statistics Counters", SPAA 2013.
//! * P. McKenney, *Is Parallel Programming Hard, And, If So, What Can You Do About It?*, chapter "Counting".
mod thread_counter;

pub use jeton_core::counter::*;
pub use thread_counter::{ThreadCounter, ThreadGauge};
