//! Properties of leases, for any order of calls on several of them and on the generator that they come from:
//!
//! 1. no ID is handed out twice, and each is one of the space;
//! 2. with `Exhaust`, what was handed out, what is left in leases, the gaps and what remains add up to the capacity after each call;
//! 3. a lease is refused only when nothing remains.

use std::collections::HashSet;

use jeton_core::counter::{Exhaust, IdSpace, SharedIds, Space, Wrap};
use proptest::prelude::*;

#[derive(Debug)]
enum Small {}
impl Space for Small {
    type Word = u32;
    const SPACE: IdSpace = IdSpace::bits(9).odd().reserve_below(20).reserve(101);
}

#[derive(Debug)]
enum Wide {}
impl Space for Wide {
    type Word = u32;
    const SPACE: IdSpace = IdSpace::bits(32).reserve_below(5).reserve(9).first((1 << 32) - 40);
}

#[derive(Clone, Copy, Debug)]
enum Call {
    /// One ID from the lease in this place, which is made when it is missing.
    Lease(usize),
    /// Ends the lease in this place.
    Drop(usize),
    /// One ID from the generator itself.
    Shared,
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let call = prop_oneof![
        6 => (0usize..3).prop_map(Call::Lease),
        1 => (0usize..3).prop_map(Call::Drop),
        2 => Just(Call::Shared),
    ];
    prop::collection::vec(call, 1..400)
}

proptest! {
    #[test]
    fn leases_of_an_exhausting_generator_lose_and_repeat_nothing(calls in calls()) {
        let ids = SharedIds::<Small, Exhaust>::new();
        let mut leases = [const { None }; 3];
        let mut handed_out = HashSet::new();
        for call in calls {
            let id = match call {
                Call::Lease(place) => {
                    let lease = leases[place].get_or_insert_with(|| ids.lease::<7>());
                    let before = (lease.left(), ids.remaining());
                    let id = lease.try_next_id();
                    prop_assert_eq!(id.is_err(), before == (0, 0));
                    id
                }
                Call::Drop(place) => {
                    leases[place] = None;
                    continue;
                }
                Call::Shared => ids.try_next_id(),
            };
            if let Ok(id) = id {
                prop_assert!(Small::SPACE.contains(id.into()) && handed_out.insert(id), "{} again", id);
            }
            let in_leases: u64 = leases.iter().flatten().map(|lease| lease.left()).sum();
            let all = handed_out.len() as u64 + in_leases + ids.gaps() + ids.remaining();
            prop_assert_eq!(all, SharedIds::<Small, Exhaust>::CAPACITY);
        }
    }

    #[test]
    fn leases_of_a_wrapping_generator_repeat_nothing_over_the_wrap(calls in calls()) {
        let ids = SharedIds::<Wide, Wrap>::new();
        let mut leases = [const { None }; 3];
        let mut handed_out = HashSet::new();
        for call in calls {
            let id = match call {
                Call::Lease(place) => leases[place].get_or_insert_with(|| ids.lease::<16>()).next_id(),
                Call::Drop(place) => {
                    leases[place] = None;
                    continue;
                }
                Call::Shared => ids.next_id(),
            };
            prop_assert!(Wide::SPACE.contains(id.into()) && handed_out.insert(id), "{} again", id);
        }
    }
}

#[test]
fn a_lease_that_nobody_overtook_gives_its_ids_back() {
    let ids = SharedIds::<Small, Exhaust>::new();
    let lease = ids.lease::<16>();
    assert_eq!((lease.try_next_id(), lease.try_next_id(), lease.left()), (Ok(21), Ok(23), 14));
    drop(lease);
    assert_eq!((ids.gaps(), ids.try_next_id()), (0, Ok(25)));
    let overtaken = ids.lease::<16>();
    assert_eq!((overtaken.try_next_id(), ids.try_next_id()), (Ok(27), Ok(27 + 2 * 16)));
    drop(overtaken);
    assert_eq!(ids.gaps(), 15);
}

#[test]
fn a_block_never_goes_over_the_end_or_a_reserved_value() {
    let ids = SharedIds::<Wide, Wrap>::starting_at(u32::MAX - 1).expect("an ID");
    let lease = ids.lease::<64>();
    assert_eq!((lease.next_id(), lease.left()), (u32::MAX - 1, 1), "up to the end");
    assert_eq!((lease.next_id(), lease.left()), (u32::MAX, 0));
    assert_eq!((lease.next_id(), lease.left()), (5, 3), "5 to 8");
    assert_eq!([lease.next_id(), lease.next_id(), lease.next_id()], [6, 7, 8]);
    assert_eq!((lease.next_id(), lease.left()), (10, 63));
}

#[test]
fn a_forgotten_lease_strands_at_most_its_block() {
    let ids = SharedIds::<Small, Exhaust>::new();
    let lease = ids.lease::<16>();
    assert!(lease.try_next_id().is_ok());
    std::mem::forget(lease);
    assert_eq!((ids.gaps(), ids.remaining()), (0, SharedIds::<Small, Exhaust>::CAPACITY - 16));
    assert_eq!(ids.try_next_id(), Ok(21 + 2 * 16));
}

#[test]
fn leases_of_many_threads_hand_out_every_id_once_but_for_the_gaps() {
    #[derive(Debug)]
    enum Bits16 {}
    impl Space for Bits16 {
        type Word = u32;
        const SPACE: IdSpace = IdSpace::bits(16).reserve_below(100).reserve(1000);
    }
    let ids = SharedIds::<Bits16, Exhaust>::new();
    let work = |thread: usize| {
        let mut got = Vec::new();
        let mut lease = ids.lease::<64>();
        while let Ok(id) = lease.try_next_id() {
            got.push(id);
            if got.len() % (97 + thread) == 0 {
                lease = ids.lease();
            }
        }
        got
    };
    let mut all: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic")).collect()
    });
    // What a lease gave back after the others had found the generator exhausted.
    all.extend(std::iter::from_fn(|| ids.try_next_id().ok()));
    let handed_out = all.len() as u64;
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len() as u64, handed_out, "no ID twice");
    assert_eq!(handed_out + ids.gaps(), SharedIds::<Bits16, Exhaust>::CAPACITY);
}
