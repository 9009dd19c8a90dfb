//! Properties of the segmented log, for any calls in any order:
//!
//! 1. each reader reads what vectors of records say, through trims, and is told how many segments it has missed;
//! 2. the log holds its segments and those that readers are in, and no others for long;
//! 3. records of several leased writers come each once and in their writer's order, whatever else happens.

use std::collections::BTreeMap;

use jeton::append::{LogReader, Read, ReadError, SegmentedError, SegmentedLog};
use jeton_models::spec::segmented_log::{Answer, Call, Segments};
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Step {
    /// By the log, a writer that stays, a new writer, or a grant.
    Append(u8, Vec<u8>),
    Read(usize),
    AddReader(usize),
    RemoveReader(usize),
    TrimToEnd,
    TrimTo(usize),
    Close,
}

const READERS: usize = 3;

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        12 => (0u8..4, prop::collection::vec(any::<u8>(), 0..30)).prop_map(|(way, bytes)| Step::Append(way, bytes)),
        12 => (0..READERS).prop_map(Step::Read),
        2 => (0..READERS).prop_map(Step::AddReader),
        1 => (0..READERS).prop_map(Step::RemoveReader),
        2 => Just(Step::TrimToEnd),
        2 => (0..READERS).prop_map(Step::TrimTo),
        1 => Just(Step::Close),
    ];
    prop::collection::vec(step, 1..120)
}

fn answer_of_append(result: Result<(), SegmentedError>) -> Answer {
    match result {
        Ok(()) => Answer::Appended,
        Err(SegmentedError::Full { cap, .. }) => Answer::Full { cap },
        Err(SegmentedError::Closed) => Answer::Closed,
        Err(SegmentedError::Alloc) => unreachable!("there is memory"),
    }
}

fn answer_of_read(reader: &mut LogReader) -> Answer {
    match reader.read() {
        Ok(Read::Record(record)) => Answer::Record(record.to_vec()),
        Ok(Read::Pending) => Answer::Pending,
        Ok(Read::Empty) => Answer::Empty,
        Ok(Read::End) | Err(ReadError::End) => Answer::End,
        Err(ReadError::Trimmed { segments }) => Answer::Trimmed(segments),
        Err(error) => unreachable!("{error}"),
    }
}

proptest! {
    #[test]
    fn a_log_is_read_as_its_vectors_of_records(words in 4usize..9, steps in steps()) {
        let (log, mut spec) = (SegmentedLog::new(words * 4).expect("there is memory"), Segments::new(words));
        let mut writer = log.writer();
        let mut readers: BTreeMap<usize, LogReader> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Append(way, bytes) => {
                    let appended = match way {
                        0 => log.append(&bytes),
                        1 => writer.append(&bytes),
                        2 => log.writer().append(&bytes),
                        _ => writer.grant(bytes.len()).map(|mut grant| {
                            grant.bytes().copy_from_slice(&bytes);
                            grant.commit();
                        }),
                    };
                    prop_assert_eq!(answer_of_append(appended), spec.answer(&Call::Append(bytes)));
                }
                Step::Read(number) => {
                    if let Some(reader) = readers.get_mut(&number) {
                        prop_assert_eq!(answer_of_read(reader), spec.answer(&Call::Read(number)));
                    }
                }
                Step::AddReader(number) => {
                    readers.insert(number, log.reader());
                    spec.add_reader(number);
                }
                Step::RemoveReader(number) => {
                    readers.remove(&number);
                    spec.remove_reader(number);
                }
                Step::TrimToEnd => prop_assert_eq!(Answer::GivenUp(log.trim(log.end())), spec.answer(&Call::TrimToEnd)),
                Step::TrimTo(number) => {
                    if let Some(reader) = readers.get(&number) {
                        prop_assert_eq!(Answer::GivenUp(log.trim(reader.position())), spec.trim_to(number));
                    }
                }
                Step::Close => prop_assert_eq!(Answer::HasClosed(log.close()), spec.answer(&Call::Close)),
            }
            let (held, (listed, pinned)) = (log.held(), spec.held());
            prop_assert_eq!(held.listed, listed);
            prop_assert!(held.segments >= listed + pinned, "{:?}: {} pinned", held, pinned);
        }
        for (number, mut reader) in readers {
            loop {
                let answer = answer_of_read(&mut reader);
                prop_assert_eq!(&answer, &spec.answer(&Call::Read(number)));
                if matches!(answer, Answer::Empty | Answer::End) {
                    break;
                }
            }
        }
    }

    #[test]
    fn leased_records_come_once_and_in_their_writers_order(
        words in 4usize..20,
        chunks in prop::collection::vec(0usize..60, 1..4),
        steps in prop::collection::vec((0usize..4, 0usize..30, 0u8..6), 1..150),
    ) {
        let log = SegmentedLog::new(words * 4).expect("there is memory");
        let mut writers: Vec<_> = chunks.iter().map(|bytes| Some(log.leased_writer(*bytes))).collect();
        let (mut written, mut reader) = (BTreeMap::<u8, Vec<Vec<u8>>>::new(), log.reader());
        for (step, (writer, len, how)) in steps.into_iter().enumerate() {
            let number = writer % writers.len();
            let mut bytes = vec![step as u8; len];
            bytes.insert(0, number as u8);
            let Some(writer) = &mut writers[number] else { continue };
            let refused = Err(SegmentedError::Full { needed: bytes.len(), cap: (words - 2) * 4 });
            let result = match how {
                0 => writer.grant(bytes.len()).map(drop),
                1 => writer.grant(bytes.len()).map(|mut grant| {
                    grant.bytes().copy_from_slice(&bytes);
                    grant.commit();
                }),
                _ => writer.append(&bytes),
            };
            if bytes.len() > (words - 2) * 4 {
                prop_assert_eq!(result, refused);
                continue;
            }
            prop_assert_eq!(result, Ok(()));
            if how != 0 {
                written.entry(number as u8).or_default().push(bytes);
            }
            if how == 5 && len == 29 {
                writers[number] = None;
            }
        }
        drop(writers);
        log.close();
        let mut read = BTreeMap::<u8, Vec<Vec<u8>>>::new();
        loop {
            match answer_of_read(&mut reader) {
                Answer::Record(record) => read.entry(record[0]).or_default().push(record),
                Answer::End => break,
                other => prop_assert!(false, "{:?}", other),
            }
        }
        prop_assert_eq!(read, written);
    }
}
