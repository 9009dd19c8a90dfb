//! `Put`: what can be appended, in both byte orders.

use core::ffi::CStr;

use super::AppendError;

/// The typed puts of [`Put`]: for each type one method a byte order.
macro_rules! typed_puts {
    ($($type:ident: $le:ident $be:ident;)+) => {$(
        #[doc = concat!("Appends a `", stringify!($type), "`, the least significant byte first.")]
        ///
        /// # Errors
        /// See [`Put`].
        #[inline(always)]
        fn $le(&mut self, value: $type) -> Result<(), AppendError> {
            self.put(&value.to_le_bytes())
        }

        #[doc = concat!("Appends a `", stringify!($type), "`, the most significant byte first.")]
        ///
        /// # Errors
        /// See [`Put`].
        #[inline(always)]
        fn $be(&mut self, value: $type) -> Result<(), AppendError> {
            self.put(&value.to_be_bytes())
        }
    )+};
}

/// Appends bytes, numbers and strings: an [`AppendBuf`](super::AppendBuf), or a [`Cursor`](super::Cursor) in it.
///
/// Each call appends all of its bytes or, with an error, none. Where the compiler knows how many bytes they are (a number, a literal),
/// a call is a test and a store.
///
/// # Errors
/// Every method gives an [`AppendError`] if the bytes do not fit; nothing has changed then.
///
/// # Examples
/// ```
/// use jeton_core::append::{AppendBuf, AppendError, Array, Put};
///
/// /// A point, into whatever takes it.
/// fn encode(to: &mut impl Put, x: i32, y: i32) -> Result<(), AppendError> {
///     to.put_u8(b'P')?;
///     to.put_i32_le(x)?;
///     to.put_i32_be(y)
/// }
///
/// let mut buf = AppendBuf::new(Array::<16>::new());
/// encode(&mut buf, 1, 2)?;
/// assert_eq!(buf.as_slice(), b"P\x01\0\0\0\0\0\0\x02");
/// assert_eq!(encode(&mut buf, 3, 4), Err(AppendError::Full { needed: 18, cap: 16 })); // the second number
/// assert_eq!(buf.len(), 14);
/// # Ok::<(), AppendError>(())
/// ```
pub trait Put {
    /// Appends bytes.
    ///
    /// # Errors
    /// See [`Put`].
    fn put(&mut self, bytes: &[u8]) -> Result<(), AppendError>;

    /// Appends a string, with no NUL after it.
    ///
    /// # Errors
    /// See [`Put`].
    #[inline(always)]
    fn put_str(&mut self, string: &str) -> Result<(), AppendError> {
        self.put(string.as_bytes())
    }

    /// Appends a C string with the NUL at its end.
    ///
    /// # Errors
    /// See [`Put`].
    #[inline(always)]
    fn put_cstr(&mut self, string: &CStr) -> Result<(), AppendError> {
        self.put(string.to_bytes_with_nul())
    }

    /// Appends a byte.
    ///
    /// # Errors
    /// See [`Put`].
    #[inline(always)]
    fn put_u8(&mut self, value: u8) -> Result<(), AppendError> {
        self.put(&[value])
    }

    /// Appends a byte, in two's complement.
    ///
    /// # Errors
    /// See [`Put`].
    #[inline(always)]
    fn put_i8(&mut self, value: i8) -> Result<(), AppendError> {
        self.put(&value.to_le_bytes())
    }

    typed_puts! {
        u16: put_u16_le put_u16_be;
        i16: put_i16_le put_i16_be;
        u32: put_u32_le put_u32_be;
        i32: put_i32_le put_i32_be;
        u64: put_u64_le put_u64_be;
        i64: put_i64_le put_i64_be;
        u128: put_u128_le put_u128_be;
        i128: put_i128_le put_i128_be;
        f32: put_f32_le put_f32_be;
        f64: put_f64_le put_f64_be;
    }
}
