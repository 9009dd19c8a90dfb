//! What a log refuses, and what a reader finds wrong.

use core::{error::Error, fmt};

/// Why a record was not appended. The log is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogError {
    /// There is not enough room; a shorter record may still fit.
    Full {
        /// The record's length.
        needed: usize,
        /// The longest record for which there was room; 0 also if there was none for a header.
        room: usize,
    },
    /// The log is sealed.
    Sealed,
}

/// A word in the log that no producer writes there: the memory was changed by something else, or is not that of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Corrupt {
    /// Where: the number of words before it.
    pub at: u32,
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed, room } => write!(f, "no room for {needed} bytes, but for {room} at most"),
            Self::Sealed => f.write_str("the log is sealed"),
        }
    }
}

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "word {} of the log is no header", self.at)
    }
}

impl Error for LogError {}
impl Error for Corrupt {}
