//! Where a buffer's bytes are: what a storage must do, and what several consist of.
mod array;
#[cfg(feature = "heapless")]
mod heapless_vec;
mod slice;

use core::ptr::NonNull;

use super::AppendError;

pub use array::Array;
pub use slice::Slice;

/// The capacity that an empty storage grows to, unless more is needed.
pub const FIRST_CAPACITY: usize = 512;
/// The length that a growing storage has at most, unless it is made with another one: 64 MiB.
pub const DEFAULT_CAP: usize = 64 << 20;

/// The room behind a storage's last byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spare {
    /// Where the next byte goes.
    pub next: NonNull<u8>,
    /// How many bytes fit from there on, without growing.
    pub room: usize,
}

/// Memory that an [`AppendBuf`](super::AppendBuf) appends to: bytes, and room behind them.
///
/// # Safety
/// * **S1** The bytes of [`spare`](Self::spare), as many as its `room` says, are in one allocation, are nobody else's, and may be written
///   until another method that takes `&mut self` is called, or the storage moves.
/// * **S2** Between calls of those methods, `spare` does not change.
/// * **S3** [`advance`](Self::advance) takes the bytes from the room and adds them to [`as_slice`](Self::as_slice), and changes nothing else.
/// * **S4** After a [`grow`](Self::grow) that has succeeded there is room for as many bytes as it was asked for; one that has failed has
///   changed nothing.
pub unsafe trait Storage {
    /// The bytes appended so far.
    fn as_slice(&self) -> &[u8];

    /// The bytes appended so far, to change.
    fn as_mut_slice(&mut self) -> &mut [u8];

    /// How many bytes it holds without growing.
    fn capacity(&self) -> usize;

    /// The room behind them.
    fn spare(&mut self) -> Spare;

    /// Takes the next `by` bytes in.
    ///
    /// It gets back what [`spare`](Self::spare) has said, so that it need not read its own fields again: a byte just written might be
    /// one of those, for all that the compiler knows.
    ///
    /// # Safety
    /// `spare` is what it is now, `by` is not more than its room, and the caller has written the first `by` bytes of it.
    unsafe fn advance(&mut self, spare: Spare, by: usize);

    /// Drops all bytes but the first `len`; nothing if there are no more than that.
    fn truncate(&mut self, len: usize);

    /// Makes room for `by` bytes, of which there is less: the slow side of an append.
    ///
    /// To be fast on the other side, it should be an inlined shell around a `#[cold] #[inline(never)]` function that takes the fields by
    /// value: if no pointer to the storage gets out of the caller, its fields may stay in registers there.
    ///
    /// # Errors
    /// [`AppendError`], with nothing changed.
    fn grow(&mut self, by: usize) -> Result<(), AppendError>;
}

/// The capacity that a storage grows to: twice the one before, at least 512 and what is needed, and `cap` at most.
///
/// The last step is clamped: a buffer that needs more than half of `cap` gets `cap`, and not a refusal.
///
/// # Errors
/// [`AppendError::Full`] if `len` bytes and `by` more are longer than `cap`, also where their sum is no `usize`.
pub const fn grown_capacity(len: usize, by: usize, capacity: usize, cap: usize) -> Result<usize, AppendError> {
    let needed = match len.checked_add(by) {
        Some(needed) if needed <= cap => needed,
        _ => return Err(AppendError::full(len, by, cap)),
    };
    let doubled = capacity.saturating_mul(2);
    // `Ord::max` is not for constants yet.
    let grown = if doubled < FIRST_CAPACITY { FIRST_CAPACITY } else { doubled };
    let grown = if grown < needed { needed } else { grown };
    Ok(if grown > cap { cap } else { grown })
}

/// The first byte, the next one and the end of some memory: what storages consist of whose bytes lie elsewhere.
///
/// Pointers to go by and not a length, because an append then needs no addition to find its place.
///
/// Invariant: `start` ≤ `next` ≤ `end`, all in one allocation (or all the same), and the bytes before `next` are initialized.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Region {
    start: NonNull<u8>,
    next: NonNull<u8>,
    end: NonNull<u8>,
}

impl Region {
    /// No bytes and no room.
    pub const EMPTY: Self = Self { start: NonNull::dangling(), next: NonNull::dangling(), end: NonNull::dangling() };

    /// The first `len` bytes of `capacity` many.
    ///
    /// # Safety
    /// They are in one allocation, `len` is not more than `capacity`, and the first `len` are initialized.
    pub const unsafe fn new(start: NonNull<u8>, len: usize, capacity: usize) -> Self {
        // SAFETY: both are in the allocation or at its end, as the caller promises.
        unsafe { Self { start, next: start.add(len), end: start.add(capacity) } }
    }

    /// The first byte.
    pub const fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// How many bytes have been appended.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.next.addr().get() - self.start.addr().get()
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.start == self.next
    }

    /// How many bytes there are in all.
    #[inline(always)]
    pub fn capacity(&self) -> usize {
        self.end.addr().get() - self.start.addr().get()
    }

    /// See [`Storage::spare`].
    #[inline(always)]
    pub fn spare(&self) -> Spare {
        Spare { next: self.next, room: self.end.addr().get() - self.next.addr().get() }
    }

    /// See [`Storage::advance`].
    ///
    /// # Safety
    /// As there.
    #[inline(always)]
    pub unsafe fn advance(&mut self, spare: Spare, by: usize) {
        // SAFETY: there is room for `by` bytes, as the caller promises.
        self.next = unsafe { spare.next.add(by) };
    }

    /// See [`Storage::truncate`].
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            // SAFETY: this is one of the bytes before `next`, which are in the allocation.
            self.next = unsafe { self.start.add(len) };
        }
    }

    /// The bytes.
    ///
    /// # Safety
    /// The memory lives for `'a`, and nobody writes to the bytes meanwhile.
    #[inline(always)]
    pub unsafe fn as_slice<'a>(&self) -> &'a [u8] {
        // SAFETY: the bytes before `next` are initialized; the rest is promised.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.len()) }
    }

    /// The bytes, to change.
    ///
    /// # Safety
    /// The memory lives for `'a`, and nobody else uses the bytes meanwhile.
    #[inline(always)]
    pub unsafe fn as_mut_slice<'a>(&mut self) -> &'a mut [u8] {
        // SAFETY: the bytes before `next` are initialized; the rest is promised.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.len()) }
    }
}
