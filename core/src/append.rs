//! Bytes one after another: a buffer for one writer, with a cursor that lives in registers, and a log for many.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! A message is built by some eighty appends of a few bytes each. The obvious buffer has a pointer, a length and a capacity, and a
//! function that makes sure of room. If that function is a call, it costs more than the append (MongoDB's builder once did that: moving
//! the rare half out of line, and the test into the caller, made whole documents some 20 % faster). If it is inlined, what is left is a
//! cost that nobody wrote: the byte just stored might be part of the buffer's own fields, for all that the compiler knows, so pointer
//! and length are read again for each append. And its arithmetic is where the reports come from: lengths that wrap, a length that was
//! advanced before the growth failed, a limit that cannot be asked for.
//!
//! Many producers on one log have the same problem and another one: the word that says where the log ends travels between the cores
//! for each record, under a lock or not.
//!
//! # 2. Use / don't use
//!
//! | you have | use |
//! |---|---|
//! | a message to build in memory of your own, on the stack, or in a `heapless::Vec` (feature `heapless`) | [`AppendBuf`] over [`Slice`], [`Array`] or the vector; `Heap` in the std extension grows |
//! | fields of several parts | a [`Cursor`] a field, or one for all if a bound is known: one test, and the puts are stores |
//! | a length that is known at the end | [`slot`](AppendBuf::slot) and [`patch_le`](AppendBuf::patch_le) |
//! | records from several threads or interrupt handlers, in one order | [`AppendLog`], ordered |
//! | many records a producer, and no order between producers | a [`Lease`] each |
//!
//! Don't use the buffer as a queue (nothing leaves it at the front). Don't use the log for an unbounded stream: its memory is used
//! once, until [`clear`](AppendLog::clear), which needs it alone. Don't keep a [`Grant`] while you wait for something else.
//!
//! # 3. Example
//!
//! ```
//! use jeton_core::append::{AppendBuf, AppendError, AppendLog, Array, LogWord, Put};
//!
//! static LOG: AppendLog<[LogWord; 256]> = AppendLog::new(); // zeros in .bss
//!
//! fn message(celsius: i32) -> Result<AppendBuf<Array<64>>, AppendError> {
//!     let mut message = AppendBuf::new(Array::new());
//!     let length = message.slot::<u16>()?;
//!     let mut field = message.reserve(1 + 5 + 4)?; // one test for three puts
//!     field.put_u8(0x10)?;
//!     field.put_cstr(c"temp")?;
//!     field.put_i32_le(celsius)?;
//!     field.commit();
//!     let len = message.len() as u16;
//!     message.patch_be(length, len).expect("written above");
//!     Ok(message)
//! }
//!
//! match message(-40).map(|message| LOG.append(message.as_slice())) {
//!     Ok(Ok(())) => assert_eq!(LOG.committed().count(), 1),
//!     Ok(Err(full)) => { /* a shorter record may still fit */ let _ = full; }
//!     Err(too_long) => { /* nothing is lost */ let _ = too_long; }
//! }
//! ```
//!
//! # 4. State
//!
//! A buffer is its storage's fields: `start` ≤ `next` ≤ `end`, or `len` ≤ `N`. A log is one word and its memory:
//!
//! | `tail` | bits | holds |
//! |---|---|---|
//! | place | 0 to 30 | the first word that nobody has taken |
//! | sealed | 31 | no more is taken |
//!
//! | header | low 3 bits | the other 29: bytes behind it | who goes on from here |
//! |---|---|---|---|
//! | none yet | 0 | 0 | the producer that has taken the place; or nobody, at the tail |
//! | writing | 1 | the record's length | its [`Grant`], or the call of `append` |
//! | committed | 2 | the record's length | readers |
//! | padding | 3 | what is skipped | readers |
//! | chunk | 4 | the chunk's length | the [`Lease`]; readers of the records in it |
//!
//! ```text
//!              one record          a grant given up    a lease's chunk                              tail
//!              v                   v                   v                                            v
//! words  | commit 5 | … | … | padding 3 | … | chunk 24 | commit 4 | … | commit 0 | 0 | ? | ? | 0 | 0 …
//!                                                                                  ^
//!                                   who reads in order waits here for the lease ───┘
//! ```
//!
//! # 5. Invariants
//!
//! * **I1** A [`Slice`] is the mutable borrow that it was made of: its room is nobody else's as long as it lives.
//! * **I2** A [`Cursor`] borrows its storage, whose room is at least `reserved` bytes; the first `reserved` − `room` of them are written,
//!   and `next` is behind these. The storage's own fields change in `commit` only.
//! * **L1** Words belong to the call that has moved the tail over them, and to the grant or lease that it passes them on to; nobody else
//!   writes there. The owner ends this by the header *committed* or *padding*. No word is taken twice, but for `clear`, which has the
//!   log alone.
//! * **L2** From *committed* on, nobody writes the record's words.
//! * **L3** Starting with the first word, each header leads to the place of the next one: by its span, or into its chunk and then by
//!   that one's spans to the chunk's end. An owner writes headers at these places only, and readers look at no others; so nobody looks
//!   at payload as if it were a header, which would be a data race.
//! * **L4** A log's length is at most [`MAX_WORDS`], so that the sum of two places is a place, and a sealed tail is behind all of them.
//!
//! Storages promise S1 to S4 of [`Storage`].
//!
//! # 6. Orderings
//!
//! The tail hands out memory in which nothing has been, so taking it orders nothing. What a producer did is published by its headers,
//! also that it has moved the tail: a reader holds each span against the tail, and must not find an older one.
//!
//! | row | operation | ordering | pairs with | what breaks without it | evidence |
//! |---|---|---|---|---|---|
//! | append-1 | `claim`: load of the tail | Relaxed | nothing: the compare-and-swap decides | – | nothing weaker |
//! | append-2 | `claim`: compare-and-swap of the tail, success | Relaxed | itself in other threads: indivisible (L1) | – | nothing weaker |
//! | append-3 | `claim`: compare-and-swap of the tail, failure | Relaxed | nothing: looks again | – | nothing weaker |
//! | append-4 | `Memory::open`: store of the header *writing* | Release | append-7 | a reader that skips the record finds it behind the tail, and takes it for corrupt | `what_is_being_written_is_skipped` |
//! | append-5 | `Memory::commit`: store of the header *committed* | Release | append-7 | the payload is read before it is written | `two_producers_are_read_in_order_while_they_write` |
//! | append-6 | `Memory::fill`: store of the headers *padding* and *chunk* | Release | append-7 | as append-4 | `what_is_given_up_is_skipped` |
//! | append-7 | `Memory::look`: load of a header | Acquire | append-4, append-5, append-6 | as those | `two_producers_are_read_in_order_while_they_write` |
//! | append-8 | `LogWord::bits`: load | Relaxed | nothing: the owner of the memory alone has it | – | nothing weaker |
//! | append-9 | `AppendLog::seal`: fetch_or of the tail | Release | append-12 | who reads the end does not see what was done before sealing | `who_reads_the_end_sees_what_came_before_the_seal` |
//! | append-10 | `AppendLog::is_sealed`: load of the tail | Relaxed | nothing: a hint | – | nothing weaker |
//! | append-11 | `AppendLog::used`: load of the tail | Relaxed | nothing: a statistic | – | nothing weaker |
//! | append-12 | reader: load of the tail | Acquire | append-9 | as append-9 | `who_reads_the_end_sees_what_came_before_the_seal` |
//! | append-13 | `AppendLog::over`, `clear`, `recover`: store of a word | Relaxed | nothing: not shared then | – | nothing weaker |
//!
//! # 7. Progress and linearization
//!
//! | operation | progress | linearization point |
//! |---|---|---|
//! | `AppendBuf`, `Cursor`: all | wait-free but for the allocator, on every target | not shared |
//! | `AppendLog::append`, `grant` | lock-free: repeated only if another call has moved the tail; short masking of interrupts where the final user's choice for portable-atomic does that (ARMv6-M) | its place in the order: append-2; refusal: the load or the exchange that found the tail |
//! | `Lease::append`, `grant` | wait-free on every target while the record fits into the chunk; taking a chunk as above | append-5 |
//! | `Grant::commit`, dropping a grant or a lease | wait-free: one store | append-5, append-6 |
//! | `seal` | wait-free where `fetch_or` is | append-9 |
//! | `Reader::read` | wait-free but for padding, of which it skips what there is | a record: append-7; `Empty`, `End`: append-12 |
//! | `committed` | as `read` | none: each record by itself |
//!
//! No call waits. But *in order* is a wait by its nature: a record is read after those before it, so a producer that is stopped between
//! taking its place and committing, and a lease that is kept, hold back what others have committed behind them. `committed` goes past
//! both, except past a place whose header is still missing. On a chip without compare-and-swap, leases append with plain loads and
//! stores, and only taking a chunk masks interrupts.
//!
//! # 8. Cost
//!
#![doc = include_str!("../docs/cost/append.md")]
//!
//! A put of a known length is a comparison, the stores, and one addition to a field; in a cursor of known length only the stores are left.
//! A record in order is one compare-and-swap, two stores of its header and the copy; of a lease, one store of its header and the copy.
//! Reading a record is one load. A record takes four bytes more than its payload, rounded up to four; a chunk, four more.
//!
//! # 9. What surprised us
//!
//! * What costs is not the test but reading the fields again: by cursors, with a test a field, the document takes less than two thirds of
//!   what it takes by puts.
//! * With a length that is known at compile time the cursor's tests vanish. With `fixed + string.len()` they come back, since the sum
//!   might have wrapped; [`reserve_with`](AppendBuf::reserve_with) tells the compiler that it has not.
//! * The slow side must take the storage's fields by value. If it gets a reference, or if a refusal is computed in place, the fast side
//!   pays for it, in appends that never fail.
//! * An array's length stands before its bytes for the same reason: no index leads from the bytes back to it.
//! * In a cursor over an in-place storage, a reference to that storage beside the pointer into it is undefined behaviour, however
//!   little is done with it; it holds a pointer.
//! * Taking a place with `fetch_add` and giving it back when it was too much refuses records that fit: see the steps in the models.
//! * A lease that gave unused words back would hand out memory in which payload has been, and a reader would take that for headers.
//!
//! # 10. References
//!
//! * MongoDB, SERVER-1272: `BufBuilder::grow` split into an inlined test and an out-of-line reallocation.
//! * M. Thompson and others, Aeron: the log buffer, with lengths as headers, negative while writing, and padding at a term's end.
//! * J. Ogness, P. Mladek, Linux `printk_ringbuffer`: records reserved and committed apart, for writers that may be interrupted anywhere.
//! * M. Herlihy, N. Shavit, *The Art of Multiprocessor Programming*, chapter 3: why "lock-free" is said of each call by itself.
mod buf;
mod cursor;
mod error;
mod put;
mod slot;
mod storage;

// rustfmt does not look into macros; here it finds the files.
#[cfg(any())]
mod log;

crate::sync::cfg_has_rmw_32! {
    mod log;

    pub use log::{AppendLog, Committed, Corrupt, Grant, Lease, LogError, LogWord, MAX_WORDS, Read, Reader, Record, Words};
}

pub use buf::{AppendBuf, Mark};
pub use cursor::Cursor;
pub use error::{AppendError, PastEnd};
pub use put::Put;
pub use slot::{Number, Slot};
pub use storage::{Array, DEFAULT_CAP, FIRST_CAPACITY, Region, Slice, Spare, Storage, grown_capacity};
