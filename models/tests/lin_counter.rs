//! Shared call IDs, call by call, against the specification.
//!
//! Not here: `remaining()`, whose relaxed load may be old; it has a model of its own in `loom_counter`.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::counter::{Exhaust, IdSpace, SharedIds, Space};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::counter::{End, Ids, NextId},
};

enum Small {}
impl Space for Small {
    type Word = u32;
    const SPACE: IdSpace = IdSpace::bits(3);
}

/// More reserved values than IDs, of which there are four: 11, 12, 14, 15.
enum Few {}
impl Space for Few {
    type Word = u32;
    const SPACE: IdSpace = IdSpace::bits(4).reserve_below(11).reserve(13);
}

/// Every thread makes `calls` calls of `next`.
fn history<G: Send + Sync + 'static>(ids: G, next: fn(&G) -> Option<u32>, (threads, calls): (usize, usize), spec: &Ids) {
    let ids = Arc::new(ids);
    let recorder = Recorder::<Ids>::default();
    let work = move |ids: &G, recorder: &Recorder<Ids>, thread: usize| {
        for _ in 0..calls {
            recorder.call(thread, NextId, || next(ids).map(u64::from));
        }
    };
    let others: Vec<_> = (1..threads)
        .map(|number| {
            let (ids, recorder) = (ids.clone(), recorder.clone());
            thread::spawn(move || work(&ids, &recorder, number))
        })
        .collect();
    work(&ids, &recorder, 0);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    recorder.check(spec);
}

fn wrapping(threads: usize, calls: usize) {
    let ids = SharedIds::<Small>::starting_at(6).expect("an ID");
    history(ids, |ids| Some(ids.next_id()), (threads, calls), &Ids::starting_at(Small::SPACE, End::Wrap, 6, 6).expect("an ID"));
}

fn over_reserved(threads: usize, calls: usize) {
    let ids = SharedIds::<Few>::starting_at(15).expect("an ID");
    history(ids, |ids| Some(ids.next_id()), (threads, calls), &Ids::starting_at(Few::SPACE, End::Wrap, 15, 0).expect("an ID"));
}

/// Four IDs are left for six calls.
fn exhausting(threads: usize, calls: usize) {
    let ids = SharedIds::<Small, Exhaust>::starting_at(4).expect("an ID");
    history(
        ids,
        |ids| ids.try_next_id().ok(),
        (threads, calls),
        &Ids::starting_at(Small::SPACE, End::Exhaust { capacity: 8 }, 4, 4).expect("an ID"),
    );
}

#[test]
fn wrapping_ids_are_linearizable_with_two_threads_of_three_calls() {
    explore(Model { threads: 2, loom: 14, rmw: 22, shuttle: 31 }, || wrapping(2, 3));
}

#[test]
fn wrapping_ids_are_linearizable_with_three_threads_of_two_calls() {
    explore(Model { threads: 3, loom: 77, rmw: 310, shuttle: 18000 }, || wrapping(3, 2));
}

#[test]
fn exhausting_ids_are_linearizable_with_two_threads_of_three_calls() {
    explore(Model { threads: 2, loom: 64, rmw: 110, shuttle: 900 }, || exhausting(2, 3));
}

#[test]
fn exhausting_ids_are_linearizable_with_three_threads_of_two_calls() {
    explore(Model { threads: 3, loom: 950, rmw: 1300, shuttle: 18000 }, || exhausting(3, 2));
}

#[test]
fn ids_over_reserved_values_are_linearizable_with_two_threads_of_three_calls() {
    explore(Model { threads: 2, loom: 67, rmw: 106, shuttle: 3200 }, || over_reserved(2, 3));
}

#[test]
fn ids_over_reserved_values_are_linearizable_with_three_threads_of_two_calls() {
    explore(Model { threads: 3, loom: 450, rmw: 1470, shuttle: 18000 }, || over_reserved(3, 2));
}
