//! What a segmented log refuses, and why a reader has no record.

use std::{error::Error, fmt};

use jeton_core::append::Corrupt;

/// Why a record was not appended. The log is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SegmentedError {
    /// The record is longer than a segment takes.
    Full {
        /// The record's length.
        needed: usize,
        /// The longest one that a segment takes.
        cap: usize,
    },
    /// The last segment is full, and the memory for another one was not to be had. A shorter record may still fit.
    Alloc,
    /// The log is closed.
    Closed,
}

/// Why there is no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReadError {
    /// There will be none: the log is closed, and all of it is read.
    End,
    /// The log was trimmed further than this reader has come. It goes on with the oldest segment that is left.
    Trimmed {
        /// How many segments it has not read to their end: at least one.
        segments: u64,
    },
    /// The deadline has passed. The reader is where it was.
    TimedOut,
    /// Not a header: the memory was changed by something else. The reader stays before it.
    Corrupt(Corrupt),
}

impl fmt::Display for SegmentedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full { needed, cap } => write!(f, "a record of {needed} bytes, and a segment takes {cap} at most"),
            Self::Alloc => f.write_str("no memory for another segment"),
            Self::Closed => f.write_str("the log is closed"),
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End => f.write_str("the log is closed, and read to its end"),
            Self::Trimmed { segments } => write!(f, "{segments} segments were given up before they were read to their end"),
            Self::TimedOut => f.write_str("no record before the deadline"),
            Self::Corrupt(corrupt) => corrupt.fmt(f),
        }
    }
}

impl Error for SegmentedError {}

impl Error for ReadError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Corrupt(corrupt) => Some(corrupt),
            _ => None,
        }
    }
}

impl From<Corrupt> for ReadError {
    fn from(corrupt: Corrupt) -> Self {
        Self::Corrupt(corrupt)
    }
}
