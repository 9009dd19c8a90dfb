//! Append buffers and logs: everything of [`jeton_core::append`], and a buffer that grows.
//!
//! # 1. Problem, and what the obvious solution costs
//!
//! See [the core's page](jeton_core::append): what an append costs is a test and the reading of the buffer's own fields. Growing adds a
//! rare call, and with it what the reports are about: lengths that wrap, a length that was advanced before the memory was refused, a
//! limit that is met at its half.
//!
//! # 2. Use / don't use
//!
//! [`GrowBuf`], an [`AppendBuf`] over [`Heap`], for messages whose length nobody knows before, with a cap on what a peer can make it take.
//! If the length is known, [`reserve`](AppendBuf::reserve) it first, or use a [`Slice`]. [`Heap::into_vec`] hands the bytes on without a
//! copy.
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
//! # 4. State
//!
//! | `start` | `next` | `end` | memory |
//! |---|---|---|---|
//! | dangling | the same | the same | none yet |
//! | of the allocation | `start` + length | `start` + capacity | the global allocator's, aligned to 1 |
//!
//! The capacity goes from 0 to 512, then doubles, or is as much as is needed, and at last the cap.
//!
//! # 5. Invariants
//!
//! * **H1** The region is memory of the global allocator, of just its capacity and aligned to 1, which nobody else has; or none, if the
//!   capacity is 0.
//! * **H2** The capacity is at most the cap, which is at most `isize::MAX`.
//! * **H3** The region changes after the allocator has said yes, and only then.
//!
//! # 6. Orderings
//!
//! No shared word. The log's are on [the core's page](jeton_core::append).
//!
//! # 7. Progress and linearization
//!
//! As the core's; growing is as the allocator is.
//!
//! # 8. Cost
//!
//! The allocator is asked once for each doubling, and never where there is room.
//!
//! # 9. What surprised us
//!
//! The function that grows takes the three pointers by value and gives new ones back. Given a reference instead, it would be free to
//! change the buffer as far as the compiler knows, and the fast side would have to keep the buffer in memory around each append.
//!
//! # 10. References
//!
//! * MongoDB, SERVER-1272: the split of growing into test and reallocation. Its builder adds 16 KiB to what is needed where doubling is
//!   not enough; this one takes what is needed.
mod heap;

pub use heap::{GrowBuf, Heap};
pub use jeton_core::append::*;
