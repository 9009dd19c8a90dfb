//! Step mode: an interrupt handler appends, seals or reads between two steps of whatever it interrupts, and never waits for that.
//!
//! The core is compiled here a second time, with words that call a hook before each step (build.rs).
#![cfg(jeton_step)]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod append;
    pub mod sync;
    pub mod util;
}
use core_sources::{append, sync, util};

use std::{cell::RefCell, rc::Rc};

use append::{AppendLog, LogError, LogWord, Read};
use sync::model::interrupted;

type Log = AppendLog<[LogWord; 9]>;

/// What a call has done: the records that it has appended, those that were refused, and what it has read.
#[derive(Clone, Debug, Default)]
struct Done {
    appended: Vec<Vec<u8>>,
    refused: Vec<LogError>,
    read: Vec<Vec<u8>>,
}

impl Done {
    fn append(&mut self, bytes: &[u8], answer: Result<(), LogError>) {
        match answer {
            Ok(()) => self.appended.push(bytes.to_vec()),
            Err(error) => self.refused.push(error),
        }
    }
}

type Operation = fn(&Log) -> Done;

/// Each with bytes of its own, so that nobody takes another one's record for its own.
const OPERATIONS: [Operation; 7] = [
    |log| {
        let mut done = Done::default();
        done.append(b"ordered", log.append(b"ordered"));
        done
    },
    |log| {
        let mut done = Done::default();
        let granted = log.grant(5).map(|mut grant| {
            grant.bytes().copy_from_slice(b"grant");
            grant.commit();
        });
        done.append(b"grant", granted);
        done
    },
    |log| {
        drop(log.grant(4));
        Done::default()
    },
    |log| {
        let (mut done, mut lease) = (Done::default(), log.lease(8));
        for bytes in [b"l1", b"l2"] {
            done.append(bytes, lease.append(bytes));
        }
        done
    },
    |log| {
        log.seal();
        Done::default()
    },
    |log| {
        let (mut done, mut reader) = (Done::default(), log.reader());
        while let Read::Record(record) = reader.read().expect("not corrupt") {
            done.read.push(record.to_vec());
        }
        done
    },
    |log| {
        let records = log.committed().map(|record| record.expect("not corrupt").to_vec());
        Done { read: records.collect(), ..Done::default() }
    },
];

/// Whatever was appended is there, once, with what was read before; and nothing else is.
fn check(log: &Log, outer: &Done, inner: &Done) {
    let records: Vec<Vec<u8>> = log.committed().map(|record| record.expect("not corrupt").to_vec()).collect();
    let mut expected = [vec![b"first".to_vec()], outer.appended.clone(), inner.appended.clone()].concat();
    let mut sorted = records.clone();
    sorted.sort();
    expected.sort();
    assert_eq!(sorted, expected);
    for read in [&outer.read, &inner.read] {
        let mut rest = records.iter();
        assert!(read.iter().all(|record| rest.any(|other| other == record)), "{read:?} of {records:?}");
    }
    let mut reader = log.reader();
    for record in &records {
        assert!(matches!(reader.read(), Ok(Read::Record(read)) if *read == record[..]));
    }
    let end = reader.read().expect("not corrupt");
    assert!(if log.is_sealed() { matches!(end, Read::End) } else { matches!(end, Read::Empty) }, "{end:?}: nobody writes any more");
}

/// Interrupts each operation by each one at each of its steps; the number of steps in all.
fn at_every_step(subject: fn() -> Log, mut judge: impl FnMut(&Log, &Done, &Done)) -> usize {
    let mut steps = 0;
    for operation in OPERATIONS {
        for interrupt in OPERATIONS {
            for step in 0.. {
                let (log, inner) = (Rc::new(subject()), Rc::new(RefCell::new(Done::default())));
                let (of_interrupt, result) = (log.clone(), inner.clone());
                let mut outer = Done::default();
                let run = move || *result.borrow_mut() = interrupt(&of_interrupt);
                if !interrupted(step, || outer = operation(&log), run) {
                    break;
                }
                judge(&log, &outer, &inner.borrow());
                steps += 1;
            }
        }
    }
    steps
}

fn with_first() -> Log {
    let log = Log::new();
    log.append(b"first").expect("room");
    log
}

/// Six words are left: enough for some of the pairs and not for others.
#[test]
fn every_operation_can_be_interrupted_by_every_one_at_every_step() {
    let mut refused = 0;
    let steps = at_every_step(with_first, |log, outer, inner| {
        check(log, outer, inner);
        refused += outer.refused.len() + inner.refused.len();
    });
    assert!(steps >= 200 && refused >= 50, "{steps} steps, {refused} refusals");
}

/// A handler that finds no room has taken none: what it interrupts goes on as if it had not come.
#[test]
fn a_refused_interrupt_changes_nothing() {
    let operation = |log: &Log| log.append(b"12345678");
    for step in 0.. {
        let (log, inner) = (Rc::new(with_first()), Rc::new(RefCell::new(None)));
        let (of_interrupt, result) = (log.clone(), inner.clone());
        let mut outer = None;
        let run = move || *result.borrow_mut() = Some(of_interrupt.append(&[0; 21]));
        if !interrupted(step, || outer = Some(operation(&log)), run) {
            assert_eq!(step, 4, "a load, a compare-and-swap and two headers");
            break;
        }
        assert_eq!(outer, Some(Ok(())));
        let room = if step < 2 { 20 } else { 8 };
        assert_eq!(inner.borrow().clone(), Some(Err(LogError::Full { needed: 21, room })), "step {step}");
    }
}

/// The handler's record is read while the record that it has interrupted is not, where order does not matter.
#[test]
fn a_handlers_record_is_read_past_the_one_that_it_interrupts() {
    let seen = Rc::new(RefCell::new(Vec::new()));
    for step in 0.. {
        let log = Rc::new(with_first());
        let (of_interrupt, all) = (log.clone(), seen.clone());
        let run = move || {
            of_interrupt.append(b"now").expect("room");
            let records: Vec<Vec<u8>> = of_interrupt.committed().map(|record| record.expect("not corrupt").to_vec()).collect();
            all.borrow_mut().push(records.last().is_some_and(|last| last == b"now"));
        };
        if !interrupted(step, || log.append(b"slow").expect("room"), run) {
            break;
        }
    }
    // Before the place is taken it is simply the last; between that and the header, it is hidden for the length of one step.
    assert_eq!(*seen.borrow(), [true, true, false, true]);
}
