//! Properties of buffers and logs, for any calls in any order:
//!
//! 1. every storage holds what a byte vector would, grows by its rule, and refuses what and as that does (also what no length holds);
//! 2. a cursor appends what has been put before its commit, and else nothing;
//! 3. a document of fields is decoded again as it was built, whichever way it was built;
//! 4. an ordered log is read as the vector of records that it is;
//! 5. records of leases come each once and in their producer's order, whatever else happens;
//! 6. words that are no log are an error or a log that can be read, and nothing worse.

use std::collections::BTreeMap;

use jeton::append::{AppendBuf, AppendError, AppendLog, Array, Heap, LogError, LogWord, Put, Read, Slice, Storage, grown_capacity};
use jeton_models::spec::{
    append::{Answer, Bytes, Records},
    append_calls::{Call, same},
};
use proptest::prelude::*;

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..most)
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let length = prop_oneof![8 => 0usize..700, 1 => Just(usize::MAX), 1 => Just(isize::MAX as usize), 1 => any::<usize>()];
    let call = prop_oneof![
        4 => bytes(400).prop_map(Call::Put),
        4 => (any::<u64>(), any::<bool>()).prop_map(|(number, little)| Call::PutNumber(number, little)),
        1 => "[a-z]{0,9}".prop_map(Call::PutString),
        4 => (0usize..300, bytes(300), any::<bool>())
            .prop_map(|(reserved, put, commit)| Call::Cursor { reserved, put, commit }),
        2 => length.prop_map(Call::Reserve),
        2 => Just(Call::Slot),
        2 => (any::<u32>(), any::<bool>()).prop_map(|(number, little)| Call::Patch(number, little)),
        1 => Just(Call::Mark),
        1 => Just(Call::Rewind),
        1 => Just(Call::Clear),
    ];
    prop::collection::vec(call, 1..60)
}

/// A value of a document.
#[derive(Clone, Debug, PartialEq)]
enum Value {
    Double(f64),
    String(String),
    Document(BTreeMap<String, Value>),
    Binary(Vec<u8>),
    Bool(bool),
    Int32(i32),
    Int64(i64),
}

fn documents() -> impl Strategy<Value = BTreeMap<String, Value>> {
    let value = prop_oneof![
        any::<f64>().prop_filter("equal to itself", |value| !value.is_nan()).prop_map(Value::Double),
        "[ -~]{0,20}".prop_map(Value::String),
        bytes(20).prop_map(Value::Binary),
        any::<bool>().prop_map(Value::Bool),
        any::<i32>().prop_map(Value::Int32),
        any::<i64>().prop_map(Value::Int64),
    ];
    let value =
        value.prop_recursive(3, 30, 6, |inner| prop::collection::btree_map("[a-z]{1,6}", inner, 0..6).prop_map(Value::Document));
    prop::collection::btree_map("[a-z]{1,6}", value, 0..12)
}

/// The document with plain puts, as BSON lays it out.
fn encode<S: Storage>(buf: &mut AppendBuf<S>, document: &BTreeMap<String, Value>) -> Result<(), AppendError> {
    let start = buf.len();
    let length = buf.slot::<u32>()?;
    for (name, value) in document {
        let name = std::ffi::CString::new(name.as_str()).expect("no NUL in it");
        let kind = match value {
            Value::Double(_) => 1,
            Value::String(_) => 2,
            Value::Document(_) => 3,
            Value::Binary(_) => 5,
            Value::Bool(_) => 8,
            Value::Int32(_) => 16,
            Value::Int64(_) => 18,
        };
        buf.put_u8(kind)?;
        buf.put_cstr(&name)?;
        match value {
            Value::Double(value) => buf.put_f64_le(*value)?,
            Value::String(value) => {
                let mut cursor = buf.reserve_with(5, value.as_bytes())?;
                cursor.put_u32_le(value.len() as u32 + 1)?;
                cursor.put_str(value)?;
                cursor.put_u8(0)?;
                cursor.commit();
            }
            Value::Document(inner) => encode(buf, inner)?,
            Value::Binary(value) => {
                let mut cursor = buf.reserve(5 + value.len())?;
                cursor.put_u32_le(value.len() as u32)?;
                cursor.put_u8(0)?;
                cursor.put(value)?;
                cursor.commit();
            }
            Value::Bool(value) => buf.put_u8((*value).into())?,
            Value::Int32(value) => buf.put_i32_le(*value)?,
            Value::Int64(value) => buf.put_i64_le(*value)?,
        }
    }
    buf.put_u8(0)?;
    let len = (buf.len() - start) as u32;
    buf.patch_le(length, len).expect("written above");
    Ok(())
}

/// Reads a document at the front, and leaves what is behind it.
fn decode(bytes: &mut &[u8]) -> BTreeMap<String, Value> {
    fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
        bytes.split_off(..len).expect("as many bytes")
    }
    fn array<const N: usize>(bytes: &mut &[u8]) -> [u8; N] {
        take(bytes, N).try_into().expect("as many")
    }
    fn length(bytes: &mut &[u8]) -> usize {
        u32::from_le_bytes(array(bytes)) as usize
    }
    let whole = bytes.len();
    let len = length(bytes);
    let mut document = BTreeMap::new();
    loop {
        let kind = take(bytes, 1)[0];
        if kind == 0 {
            break;
        }
        let end = bytes.iter().position(|byte| *byte == 0).expect("a NUL");
        let name = String::from_utf8(take(bytes, end).to_vec()).expect("ASCII");
        take(bytes, 1);
        let value = match kind {
            1 => Value::Double(f64::from_le_bytes(array(bytes))),
            2 => {
                let len = length(bytes);
                let string = take(bytes, len).strip_suffix(b"\0").expect("a NUL").to_vec();
                Value::String(String::from_utf8(string).expect("ASCII"))
            }
            3 => Value::Document(decode(bytes)),
            5 => {
                let len = length(bytes);
                take(bytes, 1);
                Value::Binary(take(bytes, len).to_vec())
            }
            8 => Value::Bool(take(bytes, 1)[0] != 0),
            16 => Value::Int32(i32::from_le_bytes(array(bytes))),
            18 => Value::Int64(i64::from_le_bytes(array(bytes))),
            _ => panic!("no such kind: {kind}"),
        };
        document.insert(name, value);
    }
    assert_eq!(whole - bytes.len(), len, "the length in front");
    document
}

proptest! {
    #[test]
    fn every_storage_holds_what_a_vector_would(calls in calls(), cap in 0usize..5000) {
        let mut slice = [0; 1500];
        same(Slice::new(&mut slice), Bytes::fixed(1500), &calls);
        same(Array::<1500>::new(), Bytes::fixed(1500), &calls);
        same(heapless::Vec::<u8, 1500>::new(), Bytes::fixed(1500), &calls);
        same(Heap::with_cap(cap), Bytes::growing(cap), &calls);
    }

    #[test]
    fn a_document_is_decoded_as_it_was_built(document in documents()) {
        let mut buf = AppendBuf::new(Heap::new());
        prop_assert_eq!(encode(&mut buf, &document), Ok(()));
        let bytes = buf.into_storage().into_vec();
        let mut rest = &bytes[..];
        prop_assert_eq!(decode(&mut rest), document.clone());
        prop_assert!(rest.is_empty());
        // In just so many bytes it fits as well, and in one less it does not.
        let mut exact = vec![0; bytes.len()];
        prop_assert_eq!(encode(&mut AppendBuf::from(&mut exact[..]), &document), Ok(()));
        prop_assert_eq!(&exact, &bytes);
        let short = encode(&mut AppendBuf::from(&mut exact[1..]), &document);
        prop_assert_eq!(short, Err(AppendError::Full { needed: bytes.len(), cap: bytes.len() - 1 }));
    }

    #[test]
    fn the_growth_rule_holds_for_all_numbers(len in any::<usize>(), by in any::<usize>(), capacity in any::<usize>(), cap in any::<usize>()) {
        match grown_capacity(len, by, capacity, cap) {
            Ok(grown) => {
                let needed = len as u128 + by as u128;
                prop_assert!(needed <= grown as u128 && grown <= cap);
                let wanted = (2 * capacity as u128).max(needed).max(512);
                prop_assert_eq!(grown as u128, wanted.min(cap as u128));
            }
            Err(error) => {
                prop_assert!(len as u128 + by as u128 > cap as u128);
                prop_assert_eq!(error, AppendError::Full { needed: len.saturating_add(by), cap });
            }
        }
    }

    #[test]
    fn an_ordered_log_is_a_vector_of_records(
        calls in prop::collection::vec((0u8..10, bytes(40)), 1..60),
        words in 0usize..90,
    ) {
        let mut memory: Vec<LogWord> = (0..words).map(|_| LogWord::new()).collect();
        let log = AppendLog::over(&mut memory[..]);
        let (mut reader, mut spec) = (log.reader(), Records::new(words));
        for (call, bytes) in calls {
            match call {
                0..5 => prop_assert_eq!(log.append(&bytes), spec.append(&bytes)),
                5 => match (log.grant(bytes.len()), spec.append(&bytes)) {
                    (Ok(mut grant), Ok(())) => {
                        grant.bytes().copy_from_slice(&bytes);
                        grant.commit();
                    }
                    (grant, expected) => prop_assert_eq!(grant.map(drop), expected),
                },
                6 if bytes.is_empty() => {
                    log.seal();
                    spec.seal();
                }
                _ => {
                    let answer = match reader.read().expect("not corrupt") {
                        Read::Record(record) => Answer::Record(record.to_vec()),
                        Read::Pending => Answer::Pending,
                        Read::Empty => Answer::Empty,
                        Read::End => Answer::End,
                    };
                    prop_assert_eq!(answer, spec.read());
                }
            }
        }
        let all: Vec<Vec<u8>> = log.committed().map(|record| record.expect("not corrupt").to_vec()).collect();
        prop_assert_eq!(&all, &spec.records);
        // What is written down is the same log again.
        let used = log.used();
        let saved: Vec<u32> = log.into_words().iter().map(LogWord::bits).collect();
        let mut saved: Vec<LogWord> = saved.into_iter().map(LogWord::from_bits).collect();
        let log = AppendLog::recover(&mut saved[..]).expect("not corrupt");
        prop_assert_eq!(log.used(), used);
        prop_assert_eq!(log.committed().map(|record| record.expect("not corrupt").to_vec()).collect::<Vec<_>>(), all);
    }

    #[test]
    fn records_of_leases_come_once_and_in_their_producers_order(
        calls in prop::collection::vec((0usize..4, 0u8..8, 0usize..60), 1..120),
        words in 0usize..300,
        chunk in 0usize..100,
    ) {
        let mut memory: Vec<LogWord> = (0..words).map(|_| LogWord::new()).collect();
        let log = AppendLog::over(&mut memory[..]);
        let (mut leases, mut grants) = ([(); 4].map(|()| Some(log.lease(chunk))), Vec::new());
        let mut expected: [Vec<Vec<u8>>; 4] = Default::default();
        for (number, (producer, call, len)) in calls.into_iter().enumerate() {
            let bytes: Vec<u8> = [producer as u8, number as u8].into_iter().chain((0..len).map(|at| at as u8)).collect();
            let lease = leases[producer].get_or_insert_with(|| log.lease(chunk));
            let refused = |error, room: usize| matches!(error, LogError::Full { needed, room: left } if needed == bytes.len() && needed > left && left >= room);
            match call {
                0..5 => match lease.append(&bytes) {
                    Ok(()) => expected[producer].push(bytes),
                    Err(error) => prop_assert!(refused(error, lease.room()), "{error:?}"),
                },
                5 => match lease.grant(bytes.len()) {
                    Ok(mut grant) => {
                        grant.bytes().copy_from_slice(&bytes);
                        if len % 3 == 0 {
                            drop(grant);
                        } else {
                            expected[producer].push(bytes);
                            grants.push(grant);
                        }
                    }
                    Err(error) => prop_assert!(refused(error, lease.room()), "{error:?}"),
                },
                6 => leases[producer] = None,
                _ => {
                    for record in log.committed() {
                        let record = record.expect("not corrupt");
                        prop_assert!(expected[usize::from(record[0])].iter().any(|known| known[..] == *record));
                    }
                }
            }
        }
        grants.into_iter().for_each(jeton::append::Grant::commit);
        drop(leases);
        let (mut reader, mut read): (_, [Vec<Vec<u8>>; 4]) = (log.reader(), Default::default());
        while let Read::Record(record) = reader.read().expect("not corrupt") {
            read[usize::from(record[0])].push(record.to_vec());
        }
        prop_assert!(matches!(reader.read(), Ok(Read::Empty)));
        prop_assert_eq!(read, expected);
    }

    #[test]
    fn any_words_are_an_error_or_a_log(words in prop::collection::vec(prop_oneof![Just(0), 0u32..300, any::<u32>()], 0..40)) {
        let mut memory: Vec<LogWord> = words.iter().copied().map(LogWord::from_bits).collect();
        match AppendLog::recover(&mut memory[..]) {
            Ok(log) => {
                let records = log.committed().map(|record| record.map(|record| record.len())).collect::<Result<Vec<_>, _>>();
                let records = records.expect("not corrupt");
                prop_assert!(records.iter().map(|len| 4 + len).sum::<usize>() <= log.used());
                let mut reader = log.reader();
                for _ in &records {
                    prop_assert!(matches!(reader.read(), Ok(Read::Record(_))));
                }
                prop_assert!(matches!(reader.read(), Ok(Read::Empty)));
            }
            Err(corrupt) => prop_assert!((corrupt.at as usize) < words.len() && words[corrupt.at as usize] != 0),
        }
    }
}
