//! A document of 20 fields, appended in three ways; numbers, appended one by one; and records of 16 bytes into a log.
//!
//! The document: six int32, four int64, three double, four strings, a bool, an object ID of 12 bytes and a binary of 16; each field is a
//! type byte, a literal name with a NUL, and its value; the length of it all is patched at the front. 335 bytes, into a buffer that has
//! the room. The strings' lengths are not known when this is compiled, so each of them is a call of libc's `memcpy`, which is part of
//! the count.

use core::hint::black_box;

use jeton::append::{AppendBuf, AppendError, AppendLog, Lease, LogError, LogWord, Put, Storage};

/// What stands in the document.
#[derive(Debug)]
pub struct Values {
    int32: [i32; 6],
    int64: [i64; 4],
    double: [f64; 3],
    strings: [&'static str; 4],
    bool: bool,
    object: [u8; 12],
    binary: [u8; 16],
}

impl Default for Values {
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

fn patch<S: Storage>(buf: &mut AppendBuf<S>, length: jeton::append::Slot<u32>) {
    let len = buf.len() as u32;
    // The slot is at the front of this buffer.
    _ = buf.patch_le(length, len);
}

/// By plain puts.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn by_puts<S: Storage>(buf: &mut AppendBuf<S>, values: &Values) -> Result<(), AppendError> {
    let length = buf.slot()?;
    put_fields!(buf, values);
    patch(buf, length);
    Ok(())
}

/// By a cursor for each field.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn by_cursors<S: Storage>(buf: &mut AppendBuf<S>, values: &Values) -> Result<(), AppendError> {
    let length = buf.slot()?;
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
    patch(buf, length);
    Ok(())
}

/// By one cursor, for which a bound is enough.
///
/// # Errors
/// The buffer's.
#[inline(never)]
pub fn by_one_cursor<S: Storage>(buf: &mut AppendBuf<S>, values: &Values) -> Result<(), AppendError> {
    let length = buf.slot()?;
    let mut document = buf.reserve(1024)?;
    put_fields!(document, values);
    document.commit();
    patch(buf, length);
    Ok(())
}

/// Builds the document `times` times, each time from the beginning of the buffer.
///
/// # Errors
/// What `build` returns.
#[inline(always)]
pub fn documents<S: Storage>(
    buf: &mut AppendBuf<S>,
    values: &Values,
    times: u32,
    build: fn(&mut AppendBuf<S>, &Values) -> Result<(), AppendError>,
) -> Result<(), AppendError> {
    for _ in 0..times {
        buf.clear();
        build(black_box(buf), black_box(values))?;
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

    #[test]
    fn the_document_is_the_same_whichever_way_it_is_built() {
        let build = |build: fn(&mut GrowBuf, &Values) -> Result<(), AppendError>| {
            let mut buf = GrowBuf::default();
            documents(&mut buf, &Values::default(), 2, build).expect("room");
            buf.into_storage().into_vec()
        };
        let document = build(by_puts);
        assert_eq!((document.len(), u32::from_le_bytes(document[..4].try_into().expect("four"))), (DOCUMENT, DOCUMENT as u32));
        assert_eq!(build(by_cursors), document);
        assert_eq!(build(by_one_cursor), document);
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
