//! Append buffers and logs: everything of [`jeton_core::append`], a buffer that grows, and a log without an end.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! See [the core's page](jeton_core::append): what an append costs is a test and the reading of the buffer's own fields. Growing adds a
//! rare call, and with it what the reports are about: lengths that wrap, a length that was advanced before the memory was refused, a
//! limit that is met at its half.
//!
//! A log that never ends, for many producers and readers, is a queue of records under a mutex, whose word travels between the cores for
//! each record; or a list of pieces without one, and then the question is when a piece may be freed that others still walk over. Reference
//! counts from piece to piece make the slowest reader keep all that came after it. Epochs or hazard pointers held by a reader while it
//! reads do worse: one that sleeps keeps everything that anybody in the process gives up.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | messages whose length nobody knows before, and a cap on what a peer can make it take | [`GrowBuf`], an [`AppendBuf`] over [`Heap`]; [`Heap::into_vec`] hands the bytes on without a copy |
//! | a length that is known | [`reserve`](AppendBuf::reserve) it first, or a [`Slice`] |
//! | records from many threads, read by one or many, blocking or `async`, for as long as the program runs | [`SegmentedLog`] |
//! | a few records now and then, from anywhere | [`SegmentedLog::append`] |
//! | a producer that stays; records to be written in place | [`SegmentedLog::writer`] |
//! | many producers at full speed, and no order between them | [`SegmentedLog::leased_writer`] |
//!
//! Don't use the log as a queue of which each record is taken once: all readers read all of it. Don't expect it to forget by itself:
//! [`trim`](SegmentedLog::trim) says what may go. Don't give it records that are longer than a segment: they are refused
//! ([`Full`](SegmentedError::Full)), so that all segments are of one size and the memory that a log holds is a number of them.
//!
//! # 3. Example
//!
//! ```
//! use jeton::append::{AppendBuf, AppendError, GrowBuf, Heap, Put};
//!
//! let mut message = GrowBuf::default();
//! message.put_str("hello")?;
//! assert_eq!((message.len(), message.capacity()), (5, 512));
//! let bytes: Vec<u8> = message.into_storage().into_vec();
//! assert_eq!(bytes, b"hello");
//!
//! let mut small = AppendBuf::new(Heap::with_cap(600));
//! small.put(&[0; 512])?;
//! small.put_u8(0)?; // twice as much would be too much: the last step goes up to the cap
//! assert_eq!(small.capacity(), 600);
//! assert_eq!(small.put(&[0; 88]), Err(AppendError::Full { needed: 601, cap: 600 }));
//! # Ok::<(), AppendError>(())
//! ```
//!
//! ```
//! use std::time::Duration;
//! use jeton::append::{ReadError, SegmentedLog};
//!
//! let log = SegmentedLog::new(64)?;
//! let (mut slow, mut fast) = (log.reader(), log.reader());
//! for number in 0..100_u32 {
//!     log.append(&number.to_le_bytes())?; // eight to a segment
//! }
//! for number in 0..100_u32 {
//!     assert_eq!(*fast.wait().unwrap(), number.to_le_bytes());
//! }
//! assert_eq!(fast.wait_timeout(Duration::from_millis(1)).err(), Some(ReadError::TimedOut));
//! assert_eq!(log.trim(fast.position()), 12); // what `fast` has behind it
//! let held = log.held();
//! assert_eq!((held.listed, held.segments <= 14), (1, true)); // the last one; and the first one, where `slow` is
//! assert_eq!(*slow.wait().unwrap(), 0_u32.to_le_bytes());
//! # Ok::<(), jeton::append::SegmentedError>(())
//! ```
//!
//! # 4. State
//!
//! A growing buffer:
//!
//! | `start` | `next` | `end` | memory |
//! |---|---|---|---|
//! | dangling | the same | the same | none yet |
//! | of the allocation | `start` + length | `start` + capacity | the global allocator's, aligned to 1 |
//!
//! The capacity goes from 0 to 512, then doubles, or is as much as is needed, and at last the cap.
//!
//! A segment of a log is an [`AppendLog`], a number, a link and a count:
//!
//! | `next` | sealed | `users` | the segment |
//! |---|---|---|---|
//! | null | no | the list, pins | is written |
//! | null | yes | the list, pins | is full, and somebody is about to link the next one or to close the log |
//! | next | yes | the list, pins | is read |
//! | next | yes | pins | is trimmed, and some reader or writer is still there |
//! | next | yes | 0 | waits for the guards that may see it, then is freed |
//! | closed | yes | the list, pins | is the last one for ever |
//!
//! ```text
//!              first                                   last
//!                v                                      v
//! [0] -> … -> [ 7 ] -> [ 8 ] -> [ 9 ] -> [ 10 ] -> [ 11 ] -> null
//!  ^             ^                           ^
//!  a reader      trimmed up to here          a reader
//! ```
//!
//! `signal` is null, or leads to the [`CancelSource`](crate::cancel::CancelSource) that wakes all who wait now.
//!
//! **Memory.** At any moment a log has in memory: the segments from `first` to `last`; one for each reader and each writer whose segment is
//! trimmed; one for each call that is about to link a new one, which frees it if another call was faster; and those that were left by
//! their last user while some thread of the process was inside of a guard of crossbeam-epoch, or has left it a moment ago. A log's own
//! guards are held over a few loads, the making of a segment or of a source or, in [`SegmentedLog::append`], the copy of the record; never
//! while a reader or a writer stands still, a grant is written, or a waker runs. So a sleeping reader holds one segment and keeps no other
//! from being freed.
//! Who else in the process stays pinned to crossbeam-epoch's default collector does. [`SegmentedLog::held`] counts them all.
//!
//! # 5. Invariants
//!
//! * **H1** The region is memory of the global allocator, of just its capacity and aligned to 1, which nobody else has; or none, if the
//!   capacity is 0.
//! * **H2** The capacity is at most the cap, which is at most `isize::MAX`.
//! * **H3** The region changes after the allocator has said yes, and only then.
//! * **G1** `first` leads to a segment that is listed, and `last` to one that is not before it. A segment is unlisted by moving `first`
//!   beyond it, and only after that the list's user is taken from it. So a guard that is there when the list begins at a segment, or before it,
//!   may look at that segment as long as it is there.
//! * **G2** A segment is freed once, after its last user has left and then all guards have gone that were there. Who finds it without
//!   users does not become one.
//! * **G3** A segment is sealed before its link is set, and its link is set once. So what is in a segment comes before what is in the next.
//! * **G4** What a reader has of its segment, and what a writer has, is used only as long as it has its user there: the record until the
//!   next call, the grant as long as it borrows the writer, the lease until the writer goes on.
//! * **G5** Every change of a log that a reader could wait for is followed by a look at `signal`; who waits is told by the source that it has found
//!   there, and looks at the log after that.
//! * **G6** Who has seen the mark *closing* links no segment; it closes the log itself.
//!
//! # 6. Orderings
//!
//! The log's own are on [the core's page](jeton_core::append).
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | segmented-log-1 | `Live::segments`: load | Relaxed | nothing: a statistic | – | nothing weaker |
//! | segmented-log-2 | `Segment::allocate`: fetch_add | Relaxed | nothing: a statistic | – | nothing weaker |
//! | segmented-log-3 | `Segment::free`: fetch_add of −1 | Relaxed | nothing: a statistic | – | nothing weaker |
//! | segmented-log-4 | `Segment::next`: load of the link | Acquire | segmented-log-5 | the next segment is written before it is made; the end is read before what came before the close | `two_producers_link_one_segment_after_the_other` |
//! | segmented-log-5 | `set_next`: compare-and-swap, success | Release | segmented-log-4 | as segmented-log-4 | `two_producers_link_one_segment_after_the_other` |
//! | segmented-log-6 | `set_next`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | segmented-log-7 | `enter`: load of the users | Acquire | segmented-log-11 | no more than time: who finds no user may find an old `first` once more | argued: a segment without users is not entered whatever is seen beside it; the next look at `first` comes to the new value sooner or later |
//! | segmented-log-8 | `enter`: compare-and-swap, success | Relaxed | nothing: it is found by pointers that are acquired, and indivisible (G2) | – | nothing weaker |
//! | segmented-log-9 | `enter`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | segmented-log-10 | `leave`: load of the users | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | segmented-log-11 | `leave`: compare-and-swap, success | Release | segmented-log-31 | the segment is freed before others have left it | `the_last_one_that_leaves_a_trimmed_segment_frees_it` |
//! | segmented-log-12 | `leave`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | segmented-log-13 | `first`: load | Acquire | segmented-log-17 | the segment is read before it is made | `a_reader_made_beside_a_link_and_a_trim_sees_the_new_segment_whole` |
//! | segmented-log-14 | `last`: load | Acquire | segmented-log-15 | as segmented-log-13 | `two_producers_link_one_segment_after_the_other` |
//! | segmented-log-15 | `last`: compare-and-swap, success | Release | segmented-log-14 | as segmented-log-13 | `two_producers_link_one_segment_after_the_other` |
//! | segmented-log-16 | `last`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | segmented-log-17 | `trim`: compare-and-swap of `first`, success | Release | segmented-log-13 | as segmented-log-13 | `a_reader_sees_whole_what_one_thread_has_linked_and_another_one_made_the_first` |
//! | segmented-log-18 | `trim`: compare-and-swap of `first`, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | segmented-log-19 | `wake`: fence | SeqCst | segmented-log-27 | a reader sleeps beside a record | `who_waits_is_woken_by_a_record` |
//! | segmented-log-20 | `wake`: load of the signal | Relaxed | nothing: the fence orders it | – | nothing weaker |
//! | segmented-log-21 | `wake_all`: load of the signal | Acquire | segmented-log-25 | the source is read before it is made | `a_source_in_the_place_of_another_one_is_seen_whole` |
//! | segmented-log-22 | `wake_all`: compare-and-swap, success | Relaxed | nothing: it is the pointer that was acquired | – | nothing weaker |
//! | segmented-log-23 | `wake_all`: compare-and-swap, failure | Relaxed | nothing: another call wakes | – | nothing weaker |
//! | segmented-log-24 | `next_wake`: load of the signal | Acquire | segmented-log-25 | as segmented-log-21 | `a_source_that_another_reader_has_made_is_seen_whole` |
//! | segmented-log-25 | `next_wake`: compare-and-swap, success | Release | segmented-log-21, segmented-log-24 | as segmented-log-21 | `who_waits_is_woken_by_a_record` |
//! | segmented-log-26 | `next_wake`: compare-and-swap, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | segmented-log-27 | `settled`: fence | SeqCst | segmented-log-19 | as segmented-log-19 | `who_waits_is_woken_by_a_record` |
//! | segmented-log-28 | drop of a log: load of the signal | Relaxed | nothing: nobody else has it | – | nothing weaker |
//! | segmented-log-29 | `after`: load of the mark *closing* | Acquire | segmented-log-30 | who is refused does not see what came before the close | `who_is_refused_by_a_closed_log_sees_what_came_before_the_close` |
//! | segmented-log-30 | `close`: fetch_or of the mark *closing* | Release | segmented-log-29 | as segmented-log-29 | `who_is_refused_by_a_closed_log_sees_what_came_before_the_close` |
//! | segmented-log-31 | `leave`: load of the users, by the last one | Acquire | segmented-log-11 | as segmented-log-11 | argued: crossbeam-epoch makes a fence when it takes over what is to be freed, which comes to the same; but that is no part of its interface, and ThreadSanitizer does not know it |
//!
//! # 7. Progress and linearization
//!
//! The buffer's are as the core's; growing is as the allocator is.
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `SegmentedLog::append`, `LogWriter::append`, `grant`, ordered | lock-free, but for the allocator: who finds the last segment full links a new one itself, or finds that another call has | as the core's, in the segment where it fits |
//! | the same, leased | wait-free while the record fits into the chunk; else as above | as the core's |
//! | commit, drop of a grant | wait-free, but for waking | as the core's |
//! | drop of a writer or a reader | lock-free, but for waking and the allocator | that of a lease: as the core's |
//! | `LogReader::read` | lock-free: it tries again if the segment that it goes to has been trimmed meanwhile | a record: as the core's; `End`: segmented-log-4; `Trimmed`: segmented-log-13 |
//! | `trim` | lock-free | segmented-log-17 |
//! | `close` | lock-free: each producer links one segment at most before it sees the mark | segmented-log-5 |
//! | `reader`, `writer`, `held`, `end`, `is_closed` | lock-free | – |
//! | `wait`, `next_record` | blocking | as `read` |
//!
//! No producer waits for another one, for a reader, or for a lock. If readers sleep, an append is also the call of their wakers, whatever these do.
//! *In order* is a wait by its nature, as on [the core's page](jeton_core::append): a grant or a chunk that is kept holds the readers back, until
//! it is given up or the log is trimmed past it.
//!
//! # 8. Cost
//!
//! The allocator is asked once for each doubling of a buffer, and never where there is room; by a log, twice for each segment.
//!
//! A record by a writer costs what it costs in the core's log, and a fence and a load, to see whether anybody waits; by [`SegmentedLog::append`]
//! also the entry and exit of a guard, which is another fence. A read costs what it costs in the core's log; the last record of a segment, and a
//! read that finds nothing, enter a guard. A reader that is to sleep allocates a cancel source, once for all who sleep until the next wake.
//! Records take four bytes more than they have, rounded up to four; a segment, 384 bytes more than its words on x86-64, for cache lines of
//! its own. Without memory for a segment a call says `Alloc`; without memory for what is small and of a fixed size (a log itself, the source
//! and the waker of who sleeps, crossbeam-epoch's own) the program ends, as it does for a `Box`.
//!
//! # 9. What surprised us
//!
//! * The function that grows takes the three pointers by value and gives new ones back. Given a reference instead, it would be free to
//!   change the buffer as far as the compiler knows, and the fast side would have to keep the buffer in memory around each append.
//! * Sealing a segment before linking the next one is what makes the end of a segment an end. Without it a shorter record still fits behind a reader
//!   that has gone on.
//! * The memory is taken before sealing. The other way round a refused allocation leaves a log that is full for everybody.
//! * A count of users does not save a reader that is just about to count: it may find the segment freed, and a count that rises from zero is a
//!   segment that is freed under a reader. The guard covers the one, the test for zero the other.
//! * Waking is a set of registrations that is used once, with callbacks outside of any lock. That was there already: it is a cancel source.
//! * Closing needs a mark before it seals. Without it a closer and one producer can go on for ever: one seals the last segment, the other one links
//!   a new one behind it. shuttle found that, by not coming to an end.
//! * Trimming must wake readers as well: one that waits for a forgotten grant waits for something that is gone.
//!
//! # 10. References
//!
//! * MongoDB, SERVER-1272: the split of growing into test and reallocation. Its builder adds 16 KiB to what is needed where doubling is
//!   not enough; this one takes what is needed.
//! * K. Fraser, *Practical lock-freedom*, 2004, section 5.2.3: epochs. crossbeam-epoch is what is used of it.
//! * M. Michael, M. Scott, *Simple, Fast, and Practical Non-Blocking and Blocking Concurrent Queue Algorithms*, 1996: a tail that lags behind and is
//!   helped on.
//! * T. Dekker's mutual exclusion for two, in E. Dijkstra, *Cooperating Sequential Processes*, 1965: each says what it does, and then looks at the other one.
mod heap;
mod segmented;

pub use heap::{GrowBuf, Heap};
pub use jeton_core::append::*;
pub use segmented::{Held, LogGrant, LogReader, LogWriter, NextRecord, Position, ReadError, SegmentedError, SegmentedLog};
