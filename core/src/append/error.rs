//! What the buffer and the log refuse. Every refusal leaves them as they were.

use core::{error::Error, fmt};

/// Why bytes were not appended to a buffer, or to a cursor's reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AppendError {
    /// The bytes do not fit, nor can the storage grow so far.
    Full {
        /// The length that the buffer would have; `usize::MAX` if it would be more than that.
        needed: usize,
        /// The length that it may have at most.
        cap: usize,
    },
    /// The storage may grow so far, and the memory for it was not to be had.
    Alloc,
}

impl AppendError {
    /// That `len` bytes and `by` more are longer than `cap`.
    #[cold]
    #[inline(never)]
    pub const fn full(len: usize, by: usize, cap: usize) -> Self {
        Self::Full { needed: len.saturating_add(by), cap }
    }
}

/// A slot or a mark of something past the end of the buffer: rewound meanwhile, or of another buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PastEnd;

impl fmt::Display for AppendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed, cap } => write!(f, "{needed} bytes are needed, and {cap} are the most"),
            Self::Alloc => f.write_str("no memory to grow"),
        }
    }
}

impl fmt::Display for PastEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("past the end of the buffer")
    }
}

impl Error for AppendError {}
impl Error for PastEnd {}
