//! The first word of whatever stands in a log: what it is, and how long.

/// Bits of the kind; the length in bytes stands above them.
const KIND_BITS: u32 = 3;

/// A log's words are at most so many: 512 MiB. Every length in bytes then fits into a header, and every sum of two places into 32 bits.
pub const MAX_WORDS: u32 = 1 << (u32::BITS - KIND_BITS - 2);

/// What a header says of the words behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A producer is writing a record.
    Writing,
    /// A record.
    Committed,
    /// Nothing that anybody reads.
    Padding,
    /// A lease's chunk, with records of its own in it.
    Chunk,
}

/// A header: kind and length of the payload in bytes. A word that is 0 is none yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    pub(super) len: u32,
}

impl Header {
    #[inline(always)]
    pub(super) const fn new(kind: Kind, len: u32) -> Self {
        Self { kind, len }
    }

    /// What fills up `words` words, this one among them.
    pub(super) const fn filling(kind: Kind, words: u32) -> Self {
        Self { kind, len: words.saturating_sub(1) * 4 }
    }

    /// As it stands in the log: not 0.
    #[inline(always)]
    pub(super) const fn bits(self) -> u32 {
        let kind = match self.kind {
            Kind::Writing => 1,
            Kind::Committed => 2,
            Kind::Padding => 3,
            Kind::Chunk => 4,
        };
        self.len << KIND_BITS | kind
    }

    /// From the log; `None` if no header looks like this.
    #[inline(always)]
    pub(super) const fn from_bits(bits: u32) -> Option<Self> {
        let kind = match bits & !(u32::MAX << KIND_BITS) {
            1 => Kind::Writing,
            2 => Kind::Committed,
            3 => Kind::Padding,
            4 => Kind::Chunk,
            _ => return None,
        };
        Some(Self { kind, len: bits >> KIND_BITS })
    }

    /// How many words it and its payload take: at most 2^27 + 1.
    #[inline(always)]
    pub(super) const fn span(self) -> u32 {
        1 + self.len.div_ceil(4)
    }
}

/// The words that a record of `len` bytes takes; more than any log has, if it is too long for one.
#[inline(always)]
pub(super) const fn span_of(len: usize) -> u32 {
    // In 64 bits, since `usize` may have 16.
    if len as u64 > MAX_WORDS as u64 * 4 { u32::MAX } else { 1 + (len as u32).div_ceil(4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_the_way_through_a_word_and_is_never_zero() {
        for kind in [Kind::Writing, Kind::Committed, Kind::Padding, Kind::Chunk] {
            for len in [0, 1, 4, (MAX_WORDS - 1) * 4] {
                let header = Header::new(kind, len);
                assert_eq!(Header::from_bits(header.bits()), Some(header));
                assert_ne!(header.bits(), 0);
                assert!(header.span() <= MAX_WORDS);
            }
        }
        for none in [0, 5, 6, 7, 8, u32::MAX] {
            assert_eq!(Header::from_bits(none), None, "{none:#x}");
        }
    }

    #[test]
    fn spans_count_the_header_and_begun_words() {
        assert_eq!([0, 1, 4, 5].map(span_of), [1, 2, 2, 3]);
        assert_eq!(span_of(MAX_WORDS as usize * 4), MAX_WORDS + 1);
        assert_eq!([MAX_WORDS as usize * 4 + 1, usize::MAX].map(span_of), [u32::MAX; 2]);
        assert_eq!(Header::filling(Kind::Padding, 7).span(), 7);
    }
}
