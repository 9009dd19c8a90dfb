//! The document of the instruction counts, again and again from the beginning of a buffer that has the room.

use std::{
    hint::black_box,
    marker::PhantomData,
    sync::{Mutex, PoisonError},
};

use arrayvec::ArrayVec;
use bytes::{BufMut, BytesMut};
use jeton::append::{AppendBuf, AppendError, Array, GrowBuf, Put, Storage};
use jeton_benches::{
    originals::buf_builder::{BufBuilder, Split},
    scenario::append::{Build, Document, Values, by_cursors, by_one_cursor, by_puts, documents},
};
use smallvec::SmallVec;

use crate::{
    contender::{Contender, Entry, Group, Target},
    window::Pace,
};

const CURSORS: &str = "jeton GrowBuf, a cursor a field";
const PUTS: &str = "jeton GrowBuf, puts";
const VEC: &str = "std Vec";
const BYTES: &str = "bytes 1.12 BytesMut";
const ARRAYVEC: &str = "arrayvec 0.7";
const HEAPLESS: &str = "heapless 0.9";
const SMALLVEC: &str = "smallvec 1.16, on the heap";
const PEERS: &[&str] = &[VEC, BYTES, ARRAYVEC, HEAPLESS, SMALLVEC];

/// The room of a buffer in place.
const ROOM: usize = 32 * 1024;

pub(super) const GROUP: Group = Group {
    name: "document",
    operation: "a document of 20 fields, 335 bytes by 82 appends; peers by appends, each with the test it has",
    reference: VEC,
    ours: CURSORS,
    fewest: 100,
    entries: &[
        Entry { name: CURSORS, most_threads: 1, make: builder::<GrowBuf, Cursors> },
        Entry { name: "jeton GrowBuf, one cursor", most_threads: 1, make: builder::<GrowBuf, OneCursor> },
        Entry { name: PUTS, most_threads: 1, make: builder::<GrowBuf, Puts> },
        Entry { name: "jeton Array, a cursor a field", most_threads: 1, make: builder::<AppendBuf<Array<ROOM>>, Cursors> },
        Entry { name: "jeton Array, puts", most_threads: 1, make: builder::<AppendBuf<Array<ROOM>>, Puts> },
        Entry { name: VEC, most_threads: 1, make: builder::<Peer<Vec<u8>>, Puts> },
        Entry { name: BYTES, most_threads: 1, make: builder::<Peer<BytesMut>, Puts> },
        Entry { name: ARRAYVEC, most_threads: 1, make: builder::<Peer<Box<ArrayVec<u8, ROOM>>>, Puts> },
        Entry { name: HEAPLESS, most_threads: 1, make: builder::<Peer<Box<heapless::Vec<u8, ROOM>>>, Puts> },
        Entry { name: SMALLVEC, most_threads: 1, make: builder::<Peer<SmallVec<[u8; 64]>>, Puts> },
        Entry { name: "MongoDB's BufBuilder, split", most_threads: 1, make: builder::<BufBuilder<Split>, Puts> },
    ],
    targets: &[
        Target { ours: CURSORS, peers: PEERS, threads: 1, at_least: Some(1.3) },
        Target { ours: PUTS, peers: PEERS, threads: 1, at_least: None },
    ],
    not_correct: &[],
};

fn builder<D: Document + Default + 'static, H: How<D> + 'static>() -> Box<dyn Contender> {
    Box::new(Builder::<D, H> { built: Mutex::new((0, Vec::new())), kind: PhantomData })
}

/// Builds documents in a buffer of its own; how many there were, and the last one.
struct Builder<D, H> {
    built: Mutex<(u64, Vec<u8>)>,
    kind: PhantomData<fn(D, H)>,
}

/// How a document is built.
trait How<D> {
    const BUILD: Build<D>;
}
struct Puts;
struct Cursors;
struct OneCursor;
impl<D: Document> How<D> for Puts {
    const BUILD: Build<D> = by_puts;
}
impl<S: Storage> How<AppendBuf<S>> for Cursors {
    const BUILD: Build<AppendBuf<S>> = by_cursors;
}
impl<S: Storage> How<AppendBuf<S>> for OneCursor {
    const BUILD: Build<AppendBuf<S>> = by_one_cursor;
}

impl<D: Document + Default, H: How<D>> Contender for Builder<D, H> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let (mut document, values) = (Box::new(D::default()), Values::default());
        // It has the room from here on. A document that is refused is missing in the end, and the check notices.
        _ = H::BUILD(&mut document, &values);
        let mut built = 0;
        pace.run(|times| {
            if documents(black_box(&mut *document), &values, times, H::BUILD).is_ok() {
                built += u64::from(times);
            }
        });
        *self.built.lock().unwrap_or_else(PoisonError::into_inner) = (built, document.bytes().to_vec());
    }
    fn check(&self, operations: u64) -> Result<(), String> {
        let (built, last) = &*self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let mut right = GrowBuf::default();
        by_puts(&mut right, &Values::default()).map_err(|error| error.to_string())?;
        if last != right.as_slice() {
            return Err(format!("another document: {last:?}"));
        }
        crate::counter::equal("documents", *built, operations)
    }
}

/// A buffer of others, by what it has to append a slice.
#[derive(Default)]
struct Peer<B>(B);

trait Buffer {
    /// Appends; if it can refuse, by the call that does.
    ///
    /// # Errors
    /// It is full.
    fn append(&mut self, bytes: &[u8]) -> Result<(), AppendError>;
    fn clear(&mut self);
    fn bytes(&mut self) -> &mut [u8];
}

impl<B: Buffer> Put for Peer<B> {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) -> Result<(), AppendError> {
        self.0.append(bytes)
    }
}

impl<B: Buffer> Document for Peer<B> {
    type Length = ();
    #[inline(always)]
    fn clear(&mut self) {
        self.0.clear();
    }
    #[inline(always)]
    fn begin(&mut self) -> Result<(), AppendError> {
        self.put_u32_le(0)
    }
    #[inline(always)]
    fn end(&mut self, (): ()) {
        let bytes = self.0.bytes();
        let len = bytes.len() as u32;
        if let Some(length) = bytes.first_chunk_mut() {
            *length = len.to_le_bytes();
        }
    }
    #[inline(always)]
    fn bytes(&mut self) -> &[u8] {
        self.0.bytes()
    }
}

const FULL: AppendError = AppendError::Full { needed: ROOM + 1, cap: ROOM };

macro_rules! buffers {
    ($($kind:ty: |$buffer:ident, $bytes:ident| $append:expr;)+) => {$(
        impl Buffer for $kind {
            #[inline(always)]
            fn append(&mut self, $bytes: &[u8]) -> Result<(), AppendError> {
                let $buffer = self;
                $append
            }
            #[inline(always)]
            fn clear(&mut self) {
                self.truncate(0);
            }
            #[inline(always)]
            fn bytes(&mut self) -> &mut [u8] {
                self
            }
        }
    )+};
}

buffers! {
    Vec<u8>: |buffer, bytes| { buffer.extend_from_slice(bytes); Ok(()) };
    BytesMut: |buffer, bytes| { buffer.put_slice(bytes); Ok(()) };
    Box<ArrayVec<u8, ROOM>>: |buffer, bytes| buffer.try_extend_from_slice(bytes).map_err(|_| FULL);
    Box<heapless::Vec<u8, ROOM>>: |buffer, bytes| buffer.extend_from_slice(bytes).map_err(|_| FULL);
    SmallVec<[u8; 64]>: |buffer, bytes| { buffer.extend_from_slice(bytes); Ok(()) };
}
