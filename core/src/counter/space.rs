//! The numbers that a generator may hand out, described and checked at compile time. Pure arithmetic, no atomics.

use super::Word;

/// The IDs of a generator: width, step and reserved values.
///
/// A plain value, built in a `const`:
///
/// ```
/// use jeton_core::counter::IdSpace;
/// // HTTP/2 streams that a client opens: 31 bits, odd, never 0.
/// const STREAMS: IdSpace = IdSpace::bits(31).odd().reserve_below(1);
/// assert_eq!(STREAMS.lowest(), Some(1));
/// assert_eq!(STREAMS.highest(), Some(0x7fff_ffff));
/// assert!(STREAMS.contains(3) && !STREAMS.contains(2) && !STREAMS.contains(1 << 31));
/// ```
///
/// All arithmetic is unsigned and wrapping. Contradictions are found by [`check`](Self::check), which every generator runs at
/// compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdSpace {
    width: u32,
    parity: Option<u64>,
    first: Option<u64>,
    reserved_below: u64,
    reserved: Option<u64>,
    /// Something was set a second time.
    repeated: bool,
}

/// Why an [`IdSpace`] cannot exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Contradiction {
    /// The width is 0, more than 64, or more than the generator's word has.
    Width,
    /// Parity, first value, low range or the one reserved value is set twice: one of the two would be forgotten.
    Repeated,
    /// Every value is reserved, so no ID is left.
    Empty,
    /// The value to begin with does not fit the width, has the wrong parity or is reserved.
    First,
    /// The one reserved value does not fit the width or has the wrong parity: reserving it changes nothing.
    Reserved,
}

impl Contradiction {
    /// What is wrong, in words.
    pub const fn message(self) -> &'static str {
        match self {
            Self::Width => "the width of an IdSpace is 1 to 64 bits and at most that of its word",
            Self::Repeated => "parity, first value, low range or reserved value of the IdSpace is set twice",
            Self::Empty => "every value of the IdSpace is reserved: no ID is left",
            Self::First => "the first ID does not fit the width, has the wrong parity or is reserved",
            Self::Reserved => "the reserved value does not fit the width or has the wrong parity",
        }
    }
}

impl core::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.message())
    }
}

impl core::error::Error for Contradiction {}

impl IdSpace {
    /// All values of `width` bits, 1 to 64, in steps of 1.
    pub const fn bits(width: u32) -> Self {
        Self { width, parity: None, first: None, reserved_below: 0, reserved: None, repeated: false }
    }

    /// Only odd values, in steps of 2.
    pub const fn odd(mut self) -> Self {
        self.repeated |= self.parity.is_some();
        self.parity = Some(1);
        self
    }

    /// Only even values, in steps of 2.
    pub const fn even(mut self) -> Self {
        self.repeated |= self.parity.is_some();
        self.parity = Some(0);
        self
    }

    /// Begins with `id` instead of the lowest value.
    pub const fn first(mut self, id: u64) -> Self {
        self.repeated |= self.first.is_some();
        self.first = Some(id);
        self
    }

    /// Never hands out a value below `limit`.
    pub const fn reserve_below(mut self, limit: u64) -> Self {
        self.repeated |= self.reserved_below > 0;
        self.reserved_below = limit;
        self
    }

    /// Never hands out `id`, in addition to the low range.
    pub const fn reserve(mut self, id: u64) -> Self {
        self.repeated |= self.reserved.is_some();
        self.reserved = Some(id);
        self
    }

    /// Whether generators with a word of `word_bits` bits can use this space.
    ///
    /// # Errors
    /// The first [`Contradiction`] found.
    pub const fn check(self, word_bits: u32) -> Result<(), Contradiction> {
        if self.width == 0 || self.width > word_bits || self.width > 64 {
            return Err(Contradiction::Width);
        }
        if self.repeated {
            return Err(Contradiction::Repeated);
        }
        if let Some(id) = self.reserved
            && !self.fits(id)
        {
            return Err(Contradiction::Reserved);
        }
        if self.lowest().is_none() {
            return Err(Contradiction::Empty);
        }
        if let Some(id) = self.first
            && !self.contains(id)
        {
            return Err(Contradiction::First);
        }
        Ok(())
    }

    /// Distance between neighbouring values: 1, or 2 where only one parity is used.
    pub const fn step(self) -> u64 {
        if self.parity.is_some() { 2 } else { 1 }
    }

    /// Whether `id` is a value of this space that may be handed out.
    pub const fn contains(self, id: u64) -> bool {
        self.fits(id) && !self.is_reserved(id)
    }

    /// The lowest ID, if there is one.
    pub const fn lowest(self) -> Option<u64> {
        let mut id = self.reserved_below;
        if let Some(parity) = self.parity
            && id % 2 != parity
        {
            id = match id.checked_add(1) {
                Some(next) => next,
                None => return None,
            };
        }
        if self.is_reserved(id) {
            id = match id.checked_add(self.step()) {
                Some(next) => next,
                None => return None,
            };
        }
        if self.fits(id) { Some(id) } else { None }
    }

    /// The highest ID, if there is one.
    pub const fn highest(self) -> Option<u64> {
        let mut id = self.top();
        if self.is_reserved(id) {
            id = match id.checked_sub(self.step()) {
                Some(below) => below,
                None => return None,
            };
        }
        if self.contains(id) { Some(id) } else { None }
    }

    /// The ID that a new generator hands out first; 0 where [`check`](Self::check) finds that there is none.
    pub const fn first_id(self) -> u64 {
        match (self.first, self.lowest()) {
            (Some(id), _) if self.contains(id) => id,
            (None, Some(id)) => id,
            _ => 0,
        }
    }

    /// The highest value of the width, also of the impossible ones: 0 for no bits, all ones for more than 64.
    pub(crate) const fn mask(self) -> u64 {
        match self.width {
            0 => 0,
            width if width >= 64 => u64::MAX,
            width => (1 << width) - 1,
        }
    }

    /// The one reserved value beside the low range, if it has the width and parity of the space.
    pub(crate) const fn hole(self) -> Option<u64> {
        self.reserved
    }

    pub(crate) const fn reserved_range(self) -> u64 {
        self.reserved_below
    }

    /// Width and parity are right; the value may be reserved.
    const fn fits(self, id: u64) -> bool {
        let parity_fits = match self.parity {
            Some(parity) => id % 2 == parity,
            None => true,
        };
        id <= self.mask() && parity_fits
    }

    pub(crate) const fn is_reserved(self, id: u64) -> bool {
        let reserved = match self.reserved {
            Some(hole) => id == hole,
            None => false,
        };
        id < self.reserved_below || reserved
    }

    /// The highest value of the right width and parity, reserved or not.
    pub(crate) const fn top(self) -> u64 {
        match self.parity {
            Some(0) => self.mask() & !1,
            _ => self.mask(),
        }
    }
}

/// A type that names an [`IdSpace`] and the word that counts in it: what the generators are generic over.
///
/// ```
/// use jeton_core::counter::{IdSpace, OwnerIds, Space};
///
/// /// Sequence numbers of a radio frame: 12 bits, 0xfff means "none".
/// struct Frame;
/// impl Space for Frame {
///     type Word = u32;
///     const SPACE: IdSpace = IdSpace::bits(12).reserve(0xfff);
/// }
///
/// let frames = OwnerIds::<Frame>::new();
/// assert_eq!((frames.next_id(), frames.next_id()), (0, 1));
/// ```
///
/// # Contradictions do not compile
/// Each of these differs from the one above in one value.
///
/// No bits, or more than the word has:
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(0).reserve(0xfff);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(33).reserve(0xfff);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// A reserved value that the space does not have:
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).reserve(0x1000);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).even().reserve(0xfff);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// A first value that is reserved, too wide or of the other parity:
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).reserve(0xfff).first(0xfff);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).reserve(0xfff).first(0x1000);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).odd().reserve(0xfff).first(2);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// Something set twice, which would forget the first:
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).reserve(0xfff).reserve(0xffe);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
/// No value left:
/// ```compile_fail
/// # use jeton_core::counter::{IdSpace, OwnerIds, Space};
/// # struct Frame;
/// # impl Space for Frame { type Word = u32;
/// const SPACE: IdSpace = IdSpace::bits(12).reserve_below(0xfff).reserve(0xfff);
/// # }
/// # let frames = OwnerIds::<Frame>::new();
/// ```
pub trait Space {
    /// The word that counts: `u32`, or `u64` for more than 32 bits.
    type Word: Word;
    /// The space.
    const SPACE: IdSpace;
}

macro_rules! ready_made {
    ($($(#[$meta:meta])* $name:ident: $word:ty = $space:expr;)+) => {$(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Space for $name {
            type Word = $word;
            const SPACE: IdSpace = $space;
        }
    )+};
}

ready_made! {
    /// Apache Kudu's call IDs: 0 to 2^31 − 1, round and round. (Its reserved −2, −3 and −33 lie outside.)
    KuduCallIds: u32 = IdSpace::bits(31);
    /// HTTP/2 streams that a client opens: odd, 1 to 2^31 − 1; 0 means the connection.
    Http2ClientStreams: u32 = IdSpace::bits(31).odd().reserve_below(1);
    /// HTTP/2 streams that a server opens: even, 2 to 2^31 − 2; 0 means the connection.
    Http2ServerStreams: u32 = IdSpace::bits(31).even().reserve_below(1);
    /// 1 to 2^32 − 1; 0 stays free to mean "none".
    NonZeroU32Ids: u32 = IdSpace::bits(32).reserve_below(1);
}
