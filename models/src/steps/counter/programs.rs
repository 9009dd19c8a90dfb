//! The programs that every step has to stand.
use jeton_core::counter::IdSpace;

use super::Numbers;
use crate::{
    explore::{Arc, note, thread},
    linearizability::Recorder,
    spec::counter::{End, Ids, NextId},
};

/// Each thread asks `calls` times for one of `end` numbers. Returns what each got.
fn run<N: Numbers>(threads: usize, calls: usize, end: u32, recorder: &Recorder<Ids>) -> Vec<Vec<u64>> {
    let numbers = Arc::new(N::new(end));
    numbers.name_words();
    let work = move |numbers: &N, recorder: &Recorder<Ids>, thread: usize| -> Vec<u64> {
        let next = || {
            let number = numbers.next().map(u64::from);
            note(&format!("next returned {number:?}"));
            number
        };
        (0..calls).filter_map(|_| recorder.call(thread, NextId, next)).collect()
    };
    let others: Vec<_> = (1..threads)
        .map(|number| {
            let (numbers, recorder) = (numbers.clone(), recorder.clone());
            thread::spawn(move || work(&numbers, &recorder, number))
        })
        .collect();
    let mut got = vec![work(&numbers, recorder, 0)];
    got.extend(others.into_iter().map(|other| other.join().expect("a thread of the model panicked")));
    got
}

/// Every number that can be had is had by one thread, and no other number by anybody.
pub fn each_once<N: Numbers>(threads: usize, calls: usize, end: u32) {
    let mut all = run::<N>(threads, calls, end, &Recorder::default()).concat();
    all.sort_unstable();
    let expected: Vec<u64> = (0..u64::from(end).min((threads * calls) as u64)).collect();
    assert_eq!(all, expected, "each number once");
}

/// The same calls, held to the specification.
pub fn history<N: Numbers>(threads: usize, calls: usize, end: u32) {
    let recorder = Recorder::default();
    run::<N>(threads, calls, end, &recorder);
    recorder.check(&Ids::new(IdSpace::bits(8), End::Exhaust { capacity: end.into() }));
}
