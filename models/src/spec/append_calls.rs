//! Calls of a buffer, run on it and on its specification.

use jeton::append::{AppendBuf, AppendError, Mark, Put, Storage};

use super::append::Bytes;

/// A call.
#[derive(Clone, Debug)]
pub enum Call {
    /// Append bytes.
    Put(Vec<u8>),
    /// Append a number; whether its least significant byte goes first.
    PutNumber(u64, bool),
    /// Append a string without NUL, and a NUL.
    PutString(String),
    /// Reserve, put a part of it, and commit or not.
    Cursor {
        /// The room.
        reserved: usize,
        /// What is put, as far as it fits.
        put: Vec<u8>,
        /// Whether it is committed.
        commit: bool,
    },
    /// Reserve, and put nothing.
    Reserve(usize),
    /// Take a slot.
    Slot,
    /// Write into the last slot; which byte goes first.
    Patch(u32, bool),
    /// Note the length.
    Mark,
    /// Go back to the last mark.
    Rewind,
    /// Forget all.
    Clear,
}

/// Runs the calls on a buffer and on a vector of bytes.
///
/// # Panics
/// If an answer, the bytes or the capacity differ.
pub fn same<S: Storage>(storage: S, mut spec: Bytes, calls: &[Call]) {
    let mut buf = AppendBuf::new(storage);
    let (mut slots, mut marks): (Vec<_>, Vec<(Mark, usize)>) = (Vec::new(), Vec::new());
    for call in calls {
        match call {
            Call::Put(bytes) => assert_eq!(buf.put(bytes), spec.put(bytes)),
            Call::PutNumber(number, true) => assert_eq!(buf.put_u64_le(*number), spec.put(&number.to_le_bytes())),
            Call::PutNumber(number, false) => assert_eq!(buf.put_u64_be(*number), spec.put(&number.to_be_bytes())),
            Call::PutString(string) => {
                let string = std::ffi::CString::new(string.as_str()).expect("no NUL in it");
                assert_eq!(buf.put_cstr(&string), spec.put(string.as_bytes_with_nul()));
            }
            Call::Cursor { reserved, put, commit } => match (buf.reserve(*reserved), spec.reserve(*reserved)) {
                (Ok(mut cursor), Ok(())) => {
                    let first = put.len().min(7);
                    let mut done = Vec::new();
                    for part in [&put[..first], &put[first..]] {
                        let fits = done.len() + part.len() <= *reserved;
                        let full = AppendError::Full { needed: done.len() + part.len(), cap: *reserved };
                        assert_eq!(cursor.put(part), if fits { Ok(()) } else { Err(full) });
                        if fits {
                            done.extend_from_slice(part);
                        }
                        assert_eq!((cursor.len(), cursor.room()), (done.len(), *reserved - done.len()));
                    }
                    if *commit {
                        cursor.commit();
                        assert_eq!(spec.put(&done), Ok(()));
                    }
                }
                (Err(error), Err(expected)) => assert_eq!(error, expected),
                (cursor, expected) => panic!("{cursor:?} instead of {expected:?}"),
            },
            Call::Reserve(len) => assert_eq!(buf.reserve(*len).map(drop), spec.reserve(*len)),
            Call::Slot => match buf.slot::<u32>() {
                Ok(slot) => {
                    assert_eq!(slot.start(), spec.bytes.len());
                    assert_eq!(spec.put(&[0; 4]), Ok(()));
                    slots.push(slot);
                }
                Err(error) => assert_eq!(Err(error), spec.put(&[0; 4])),
            },
            Call::Patch(number, little) => {
                if let Some(slot) = slots.pop() {
                    let (start, bytes) = (slot.start(), if *little { number.to_le_bytes() } else { number.to_be_bytes() });
                    let done = if *little { buf.patch_le(slot, *number) } else { buf.patch_be(slot, *number) };
                    let place = spec.bytes.get_mut(start..start + 4);
                    assert_eq!(done.is_ok(), place.is_some());
                    if let Some(place) = place {
                        place.copy_from_slice(&bytes);
                    }
                }
            }
            Call::Mark => marks.push((buf.mark(), spec.bytes.len())),
            Call::Rewind => {
                if let Some((mark, len)) = marks.pop() {
                    assert_eq!(buf.rewind(mark).is_ok(), len <= spec.bytes.len());
                    spec.bytes.truncate(len);
                }
            }
            Call::Clear => {
                buf.clear();
                spec.bytes.clear();
            }
        }
        assert_eq!(buf.as_slice(), &spec.bytes[..]);
        assert_eq!((buf.len(), buf.capacity(), buf.is_empty()), (spec.bytes.len(), spec.capacity(), spec.bytes.is_empty()));
    }
}
