//! Numbers that are written later than what comes after them.

use core::{fmt::Debug, marker::PhantomData};

/// A number of a fixed size: what a [`Slot`] has.
pub trait Number: Copy + Default + Debug + sealed::Number {
    /// Its bytes.
    type Bytes: AsRef<[u8]>;

    /// The least significant byte first.
    fn le_bytes(self) -> Self::Bytes;

    /// The most significant byte first.
    fn be_bytes(self) -> Self::Bytes;
}

mod sealed {
    pub trait Number {}
}

macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl sealed::Number for $type {}
        impl Number for $type {
            type Bytes = [u8; size_of::<$type>()];

            #[inline(always)]
            fn le_bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }

            #[inline(always)]
            fn be_bytes(self) -> Self::Bytes {
                self.to_be_bytes()
            }
        }
    )+};
}

numbers!(u8, i8, u16, i16, u32, i32, u64, i64, u128, i128, f32, f64);

/// The place of a number in a buffer, to be written once: see [`AppendBuf::slot`](super::AppendBuf::slot).
///
/// It does not borrow the buffer, so that others can be appended meanwhile, and slots may lie within slots' lengths.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "its number stays zero until it is patched"]
pub struct Slot<T> {
    start: usize,
    number: PhantomData<T>,
}

impl<T> Slot<T> {
    pub(super) const fn at(start: usize) -> Self {
        Self { start, number: PhantomData }
    }

    /// Where in the buffer its first byte is.
    #[inline]
    pub const fn start(&self) -> usize {
        self.start
    }
}
