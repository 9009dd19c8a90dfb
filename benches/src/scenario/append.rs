//! A document of 20 fields, appended in three ways and in three workloads; numbers, appended one by one; and records of 16 bytes into a log.
//!
//! The document: six int32, four int64, three double, four strings, a bool, an object ID of 12 bytes and a binary of 16; each field is a
//! type byte, a literal name with a NUL, and its value; the length of it all is patched at the front. 335 bytes, into a buffer that has
//! the room. The strings' lengths are not known when this is compiled, so each of them is a call of libc's `memcpy`, which is part of
//! the count.

pub mod workload;

use core::hint::black_box;

use jeton::append::{AppendBuf, AppendError, AppendLog, Lease, LogError, LogWord, Put, Slot, Storage};

use crate::originals::buf_builder::{BufBuilder, Grow};

/// What stands in the document.
#[derive(Debug)]
pub struct Values<'s> {
    int32: [i32; 6],
    int64: [i64; 4],
    double: [f64; 3],
    strings: [&'s str; 4],
    bool: bool,
    object: [u8; 12],
    binary: [u8; 16],
}

impl Default for Values<'_> {
    fn default() -> Self {
        Self {
            int32: [1, -2, 3, 4, 5, 6],
            int64: [7, 8, -9, 10],
            double: [1.5, 2.5, 3.5],
            strings: ["a title of it", "who has it", "all of them", "nothing to be noted..."],
            bool: true,
            object: *b"0123456789ab",
            binary: *b"0123456789abcdef",
        }
    }
}

/// The document's length.
pub const DOCUMENT: usize = 335;

/// The fields, each by the macro for values or that for strings.
macro_rules! fields {
    ($values:ident, $value:ident, $string:ident, $binary:ident) => {{
        let Values { int32, int64, double, strings, .. } = $values;
        $value!(16, b"count\0", int32[0].to_le_bytes());
        $value!(16, b"flags\0", int32[1].to_le_bytes());
        $value!(16, b"width\0", int32[2].to_le_bytes());
        $value!(16, b"depth\0", int32[3].to_le_bytes());
        $value!(16, b"level\0", int32[4].to_le_bytes());
        $value!(16, b"state\0", int32[5].to_le_bytes());
        $value!(18, b"begin\0", int64[0].to_le_bytes());
        $value!(18, b"until\0", int64[1].to_le_bytes());
        $value!(18, b"bytes\0", int64[2].to_le_bytes());
        $value!(18, b"calls\0", int64[3].to_le_bytes());
        $value!(1, b"price\0", double[0].to_le_bytes());
        $value!(1, b"ratio\0", double[1].to_le_bytes());
        $value!(1, b"total\0", double[2].to_le_bytes());
        $string!(b"title\0", strings[0]);
        $string!(b"owner\0", strings[1]);
        $string!(b"group\0", strings[2]);
        $string!(b"notes\0", strings[3]);
        $value!(8, b"alive\0", [u8::from($values.bool)]);
        $value!(7, b"ident\0", $values.object);
        $binary!(b"image\0", $values.binary);
    }};
}

/// The fields by plain puts.
macro_rules! put_fields {
    ($to:ident, $values:ident) => {{
        macro_rules! value {
            ($kind:expr, $name:expr, $value:expr) => {
                $to.put_u8($kind)?;
                $to.put($name)?;
                $to.put(&$value)?;
            };
        }
        macro_rules! string {
            ($name:expr, $string:expr) => {
                $to.put_u8(2)?;
                $to.put($name)?;
                $to.put_u32_le($string.len() as u32 + 1)?;
                $to.put_str($string)?;
                $to.put_u8(0)?;
            };
        }
        macro_rules! binary {
            ($name:expr, $binary:expr) => {
                $to.put_u8(5)?;
                $to.put($name)?;
                $to.put_u32_le($binary.len() as u32)?;
                $to.put_u8(0)?;
                $to.put(&$binary)?;
            };
        }
        fields!($values, value, string, binary);
        $to.put_u8(0)?;
    }};
}

/// What a document is built in: it begins with its length, which is known at its end.
pub trait Document: Put {
    /// Where the length goes.
    type Length;
    /// Forgets what was built.
    fn clear(&mut self);
    /// Leaves room for the length.
    ///
    /// # Errors
    /// The buffer's.
    fn begin(&mut self) -> Result<Self::Length, AppendError>;
    /// Writes the length.
    fn end(&mut self, length: Self::Length);
    /// All of it.
    fn bytes(&mut self) -> &[u8];
}

impl<S: Storage> Document for AppendBuf<S> {
    type Length = Slot<u32>;

    #[inline(always)]
    fn clear(&mut self) {
        AppendBuf::clear(self);
    }

    #[inline(always)]
    fn begin(&mut self) -> Result<Slot<u32>, AppendError> {
        self.slot()
    }

    #[inline(always)]
    fn end(&mut self, length: Slot<u32>) {
        let len = self.len() as u32;
        // The slot is at the front of this buffer.
        _ = self.patch_le(length, len);
    }

    #[inline(always)]
    fn bytes(&mut self) -> &[u8] {
        self.as_slice()
    }
}

impl<G: Grow> Document for BufBuilder<G> {
    type Length = usize;

    #[inline(always)]
    fn clear(&mut self) {
        BufBuilder::clear(self);
    }

    #[inline(always)]
    fn begin(&mut self) -> Result<usize, AppendError> {
        let at = self.len();
        self.put_u32_le(0)?;
        Ok(at)
    }

    #[inline(always)]
    fn end(&mut self, at: usize) {
        let bytes = BufBuilder::bytes(self).unwrap_or_default();
        let len = bytes.len() as u32;
        if let Some(length) = bytes.get_mut(at..at + 4) {
            length.copy_from_slice(&len.to_le_bytes());
        }
    }

    #[inline(always)]
    fn bytes(&mut self) -> &[u8] {
        BufBuilder::bytes(self).unwrap_or_default()
    }
}

/// By plain puts.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn by_puts<D: Document>(document: &mut D, values: &Values<'_>) -> Result<(), AppendError> {
    let length = document.begin()?;
    put_fields!(document, values);
    document.end(length);
    Ok(())
}

/// By a cursor for each field.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn by_cursors<S: Storage>(buf: &mut AppendBuf<S>, values: &Values<'_>) -> Result<(), AppendError> {
    let length = buf.begin()?;
    macro_rules! value {
        ($kind:expr, $name:expr, $value:expr) => {{
            let value = $value;
            let mut field = buf.reserve(1 + $name.len() + value.len())?;
            field.put_u8($kind)?;
            field.put($name)?;
            field.put(&value)?;
            field.commit();
        }};
    }
    macro_rules! string {
        ($name:expr, $string:expr) => {{
            let mut field = buf.reserve_with(1 + $name.len() + 4 + 1, $string.as_bytes())?;
            field.put_u8(2)?;
            field.put($name)?;
            field.put_u32_le($string.len() as u32 + 1)?;
            field.put_str($string)?;
            field.put_u8(0)?;
            field.commit();
        }};
    }
    macro_rules! binary {
        ($name:expr, $binary:expr) => {{
            let mut field = buf.reserve(1 + $name.len() + 4 + 1 + $binary.len())?;
            field.put_u8(5)?;
            field.put($name)?;
            field.put_u32_le($binary.len() as u32)?;
            field.put_u8(0)?;
            field.put(&$binary)?;
            field.commit();
        }};
    }
    fields!(values, value, string, binary);
    buf.put_u8(0)?;
    buf.end(length);
    Ok(())
}

/// By one cursor, for which a bound is enough.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn by_one_cursor<S: Storage>(buf: &mut AppendBuf<S>, values: &Values<'_>) -> Result<(), AppendError> {
    let length = buf.begin()?;
    let mut document = buf.reserve(1024)?;
    put_fields!(document, values);
    document.commit();
    buf.end(length);
    Ok(())
}

/// How a document is built.
pub type Build<D> = fn(&mut D, &Values<'_>) -> Result<(), AppendError>;

/// Builds the document `times` times, each time from the beginning of the buffer.
///
/// # Errors
/// What `build` returns.
#[inline(always)]
pub fn documents<D: Document>(document: &mut D, values: &Values<'_>, times: u32, build: Build<D>) -> Result<(), AppendError> {
    for _ in 0..times {
        document.clear();
        build(black_box(document), black_box(values))?;
    }
    Ok(())
}

/// Appends numbers one by one.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn numbers<S: Storage>(buf: &mut AppendBuf<S>, times: u32) -> Result<(), AppendError> {
    for number in 0..times {
        buf.put_u32_le(black_box(number))?;
    }
    Ok(())
}

/// Sixteen bytes that nobody knows.
#[inline(always)]
fn sixteen(bytes: &[u8; 16]) -> &[u8; 16] {
    black_box::<&[u8; 16]>(bytes)
}

/// Appends records of 16 bytes in order.
///
/// # Errors
/// The log's.
#[inline(never)]
pub fn ordered<const N: usize>(log: &AppendLog<[LogWord; N]>, bytes: &[u8; 16], times: u32) -> Result<(), LogError> {
    for _ in 0..times {
        log.append(sixteen(bytes))?;
    }
    Ok(())
}

/// Appends records of 16 bytes by a lease.
///
/// # Errors
/// The log's.
#[inline(never)]
pub fn leased(lease: &mut Lease<'_>, bytes: &[u8; 16], times: u32) -> Result<(), LogError> {
    for _ in 0..times {
        lease.append(sixteen(bytes))?;
    }
    Ok(())
}

/// Appends them to nothing.
#[inline(never)]
pub fn no_records(bytes: &[u8; 16], times: u32) {
    for _ in 0..times {
        sixteen(bytes);
    }
}

#[cfg(test)]
mod tests {
    use jeton::append::GrowBuf;

    use super::*;
    use crate::originals::buf_builder::{Checked, Split, Whole};

    #[test]
    fn the_document_is_the_same_whichever_way_it_is_built() {
        fn built<D: Document + Default>(build: Build<D>) -> Vec<u8> {
            let mut document = D::default();
            documents(&mut document, &Values::default(), 2, build).expect("room");
            document.bytes().to_vec()
        }
        let document = built::<GrowBuf>(by_puts);
        assert_eq!((document.len(), u32::from_le_bytes(document[..4].try_into().expect("four"))), (DOCUMENT, DOCUMENT as u32));
        assert_eq!(built::<GrowBuf>(by_cursors), document);
        assert_eq!(built::<GrowBuf>(by_one_cursor), document);
        assert_eq!(built::<BufBuilder<Whole>>(by_puts), document);
        assert_eq!(built::<BufBuilder<Checked>>(by_puts), document);
        assert_eq!(built::<BufBuilder<Split>>(by_puts), document);
    }

    #[test]
    fn all_records_and_numbers_arrive() {
        let log = AppendLog::<[LogWord; 64]>::new();
        ordered(&log, b"0123456789abcdef", 3).expect("room");
        leased(&mut log.lease(100), b"fedcba9876543210", 2).expect("room");
        let records: Vec<_> = log.committed().map(|record| record.expect("not corrupt").bytes()).collect();
        assert_eq!(records, [[b"0123456789abcdef"; 3].as_slice(), &[b"fedcba9876543210"; 2]].concat());
        let mut buf = GrowBuf::default();
        numbers(&mut buf, 300).expect("room");
        assert_eq!((buf.len(), &buf.as_slice()[1196..]), (1200, &299u32.to_le_bytes()[..]));
        no_records(b"0123456789abcdef", 1);
    }
}
