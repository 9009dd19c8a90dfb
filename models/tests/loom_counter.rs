//! The call-ID generators, under every interleaving: no ID twice, none that is not of the space, none lost unless it is counted.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::counter::{Exhaust, IdSpace, KuduCallIds, SharedIds, Space};
use jeton_models::explore::{Arc, Model, explore, note, thread};

/// Four bits, of which 0, 1, 2 and 15 are reserved: after 14 comes 3.
enum Small {}
impl Space for Small {
    type Word = u32;
    const SPACE: IdSpace = IdSpace::bits(4).reserve_below(3).reserve(15);
}

/// Runs `work` in `threads` threads, of which this is one, and returns all that they return.
fn together<T, S>(threads: usize, subject: &Arc<S>, work: impl Fn(&S, usize) -> Vec<T> + Copy + Send + 'static) -> Vec<T>
where
    T: Send + 'static,
    S: Send + Sync + 'static,
{
    let others: Vec<_> = (1..threads)
        .map(|number| {
            let subject = subject.clone();
            thread::spawn(move || work(&subject, number))
        })
        .collect();
    let mut all = work(subject, 0);
    all.extend(others.into_iter().flat_map(|other| other.join().expect("a thread of the model panicked")));
    all
}

fn sorted(mut ids: Vec<u32>) -> Vec<u32> {
    note(&format!("IDs {ids:?}"));
    ids.sort_unstable();
    ids
}

fn assert_distinct(ids: Vec<u32>) {
    let sorted = sorted(ids);
    assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]), "an ID twice: {sorted:?}");
}

#[test]
fn shared_ids_are_distinct_over_the_wrap() {
    explore(Model { threads: 2, loom: 14, rmw: 22, shuttle: 31 }, || {
        let ids = Arc::new(SharedIds::<KuduCallIds>::starting_at(0x7fff_fffe).expect("an ID"));
        let all = together(2, &ids, |ids, _| (0..3).map(|_| ids.next_id()).collect());
        assert_eq!(sorted(all), [0, 1, 2, 3, 0x7fff_fffe, 0x7fff_ffff]);
    });
}

#[test]
fn shared_ids_that_meet_in_reserved_values_are_distinct() {
    explore(Model { threads: 2, loom: 50, rmw: 73, shuttle: 680 }, || {
        let ids = Arc::new(SharedIds::<Small>::starting_at(14).expect("an ID"));
        let all = together(2, &ids, |ids, _| (0..3).map(|_| ids.next_id()).collect());
        assert_eq!(sorted(all), [3, 4, 5, 6, 7, 14], "each once, and no gap");
    });
}

#[test]
fn three_threads_that_meet_in_reserved_values_get_distinct_ids() {
    explore(Model { threads: 3, loom: 340, rmw: 1090, shuttle: 18000 }, || {
        let ids = Arc::new(SharedIds::<Small>::starting_at(14).expect("an ID"));
        let all = together(3, &ids, |ids, _| (0..2).map(|_| ids.next_id()).collect());
        assert_eq!(sorted(all), [3, 4, 5, 6, 7, 14], "each once, and no gap");
    });
}

/// Who has been refused once is refused for ever.
fn until_refused(ids: &SharedIds<Small, Exhaust>, calls: usize) -> Vec<u32> {
    let answers: Vec<_> = (0..calls).map(|_| ids.try_next_id()).collect();
    let got: Vec<u32> = answers.iter().filter_map(|answer| answer.ok()).collect();
    assert!(answers[got.len()..].iter().all(Result::is_err), "an ID after a refusal: {answers:?}");
    got
}

fn run_out(threads: usize, calls: usize) {
    let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(12).expect("an ID"));
    let all = match calls {
        2 => together(threads, &ids, |ids, _| until_refused(ids, 2)),
        _ => together(threads, &ids, |ids, _| until_refused(ids, 3)),
    };
    assert_eq!(sorted(all), [12, 13, 14], "exactly the IDs left, each once");
    assert_eq!((ids.try_next_id().ok(), ids.remaining()), (None, 0));
}

#[test]
fn two_threads_exhaust_a_space_exactly() {
    explore(Model { threads: 2, loom: 59, rmw: 94, shuttle: 440 }, || run_out(2, 3));
}

#[test]
fn three_threads_exhaust_a_space_exactly() {
    explore(Model { threads: 3, loom: 730, rmw: 1100, shuttle: 18000 }, || run_out(3, 2));
}

#[test]
fn remaining_ids_never_rise_and_know_the_callers_own() {
    explore(Model { threads: 2, loom: 11, rmw: 44, shuttle: 110 }, || {
        let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(10).expect("an ID"));
        together(2, &ids, |ids, _| {
            let before = ids.remaining();
            let id = ids.try_next_id();
            let after = ids.remaining();
            assert!(before <= 5 && after < before && after >= 3, "{before}, {id:?}, {after}");
            Vec::<u32>::new()
        });
        assert_eq!(ids.remaining(), 3);
    });
}

// ---- Leases. ----

/// Every ID between the first and the next one is used once or a gap.
fn check_none_lost(ids: &SharedIds<Small, Exhaust>, before: u64, used: Vec<u32>) {
    assert_eq!(before - ids.remaining(), used.len() as u64 + ids.gaps(), "used {used:?}, gaps {}", ids.gaps());
    assert_distinct(used);
}

fn take<const N: u32>(ids: &SharedIds<Small, Exhaust>, count: usize) -> Vec<u32> {
    let lease = ids.lease::<N>();
    (0..count).filter_map(|_| lease.try_next_id().ok()).collect()
}

#[test]
fn a_lease_that_ends_beside_other_calls_loses_no_id() {
    explore(Model { threads: 2, loom: 23, rmw: 29, shuttle: 77 }, || {
        let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(3).expect("an ID"));
        let used = together(2, &ids, |ids, number| match number {
            0 => take::<3>(ids, 1),
            _ => (0..2).filter_map(|_| ids.try_next_id().ok()).collect(),
        });
        check_none_lost(&ids, 12, used);
    });
}

#[test]
fn two_leases_that_end_lose_no_id() {
    explore(Model { threads: 2, loom: 210, rmw: 290, shuttle: 63000 }, || {
        let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(3).expect("an ID"));
        let used = together(2, &ids, |ids, _| [take::<2>(ids, 1), take::<2>(ids, 3)].concat());
        check_none_lost(&ids, 12, used);
    });
}

#[test]
fn three_leases_that_end_lose_no_id() {
    explore(Model { threads: 3, loom: 890, rmw: 790, shuttle: 18000 }, || {
        let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(3).expect("an ID"));
        let used = together(3, &ids, |ids, _| take::<2>(ids, 1));
        check_none_lost(&ids, 12, used);
    });
}

#[test]
#[ignore = "long"]
fn three_threads_with_two_leases_each_lose_no_id() {
    explore(Model { threads: 3, loom: 7300, rmw: 4200, shuttle: 18000 }, || {
        let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(3).expect("an ID"));
        let used = together(3, &ids, |ids, _| [take::<2>(ids, 1), take::<2>(ids, 1)].concat());
        check_none_lost(&ids, 12, used);
    });
}

#[test]
fn leases_and_calls_at_the_end_of_a_space_hand_out_each_id_once() {
    explore(Model { threads: 2, loom: 20, rmw: 38, shuttle: 74 }, || {
        let ids = Arc::new(SharedIds::<Small, Exhaust>::starting_at(12).expect("an ID"));
        let used = together(2, &ids, |ids, number| match number {
            0 => take::<2>(ids, 3),
            _ => (0..2).filter_map(|_| ids.try_next_id().ok()).collect(),
        });
        assert!(used.iter().all(|id| (12..=14).contains(id)), "no ID of the space: {used:?}");
        check_none_lost(&ids, 3, used);
    });
}

#[test]
fn leases_over_the_wrap_hand_out_distinct_ids() {
    explore(Model { threads: 2, loom: 8, rmw: 20, shuttle: 41 }, || {
        let ids = Arc::new(SharedIds::<Small>::starting_at(13).expect("an ID"));
        let used = together(2, &ids, |ids, number| {
            let lease = ids.lease::<3>();
            let mut used: Vec<u32> = (0..2).map(|_| lease.next_id()).collect();
            used.extend((number == 1).then(|| ids.next_id()));
            used
        });
        assert!(used.iter().all(|&id| Small::SPACE.contains(id.into())), "a reserved value: {used:?}");
        assert_distinct(used);
    });
}
