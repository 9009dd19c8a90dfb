//! Faults reported of other generators, turned round: each test is named for what must hold, and covers the fault's kind.

use std::{collections::HashSet, sync::Barrier, thread};

use jeton_core::counter::{
    Exhaust, Exhausted, GUARD_BAND, Http2ClientStreams, Http2ServerStreams, IdGenerator, IdSpace, KuduCallIds, NonZeroU32Ids,
    NotInSpace, OwnerIds, SharedIds, SharedWord, Space, Word,
};

macro_rules! spaces {
    ($($name:ident: $word:ty = $space:expr;)+) => {$(
        #[derive(Debug)]
        enum $name {}
        impl Space for $name {
            type Word = $word;
            const SPACE: IdSpace = $space;
        }
    )+};
}

spaces! {
    NonZero31: u32 = IdSpace::bits(31).reserve_below(1);
    LowRange: u32 = IdSpace::bits(31).reserve_below(1000);
    NotAllOnes: u32 = IdSpace::bits(32).reserve(u32::MAX as u64);
    BothEnds: u64 = IdSpace::bits(64).reserve_below(34).reserve(u64::MAX);
    Bits63: u64 = IdSpace::bits(63);
    Bits64: u64 = IdSpace::bits(64);
    Bits8: u32 = IdSpace::bits(8);
    DynamicPorts: u32 = IdSpace::bits(16).reserve_below(49152);
}

fn next<G: IdGenerator<Id: Word>>(ids: &G) -> u64 {
    ids.try_next_id().map_or(u64::MAX, Word::widen)
}

/// Both generators, started a few IDs before the highest one.
fn over_the_wrap<S: Space<Word: SharedWord>>(calls: usize) -> Vec<u64> {
    let start = S::Word::truncate(S::SPACE.highest().unwrap_or_default() - 2 * S::SPACE.step());
    let owner = OwnerIds::<S>::starting_at(start).expect("an ID");
    let shared = SharedIds::<S>::starting_at(start).expect("an ID");
    let ids: Vec<u64> = (0..calls).map(|_| next(&owner)).collect();
    assert_eq!(ids, (0..calls).map(|_| next(&shared)).collect::<Vec<u64>>());
    ids
}

/// redpanda #16156: after 2^32 requests the ID 0, which means "invalid", was sent, and the sender stopped.
#[test]
fn a_reserved_value_is_never_handed_out_at_the_wrap() {
    const TOP31: u64 = (1 << 31) - 1;
    assert_eq!(over_the_wrap::<NonZeroU32Ids>(5), [u32::MAX as u64 - 2, u32::MAX as u64 - 1, u32::MAX as u64, 1, 2]);
    assert_eq!(over_the_wrap::<NonZero31>(5), [TOP31 - 2, TOP31 - 1, TOP31, 1, 2]);
    assert_eq!(over_the_wrap::<LowRange>(5), [TOP31 - 2, TOP31 - 1, TOP31, 1000, 1001]);
    assert_eq!(over_the_wrap::<NotAllOnes>(5), [u32::MAX as u64 - 3, u32::MAX as u64 - 2, u32::MAX as u64 - 1, 0, 1]);
    assert_eq!(over_the_wrap::<BothEnds>(5), [u64::MAX - 3, u64::MAX - 2, u64::MAX - 1, 34, 35]);
    assert_eq!(over_the_wrap::<Http2ClientStreams>(5), [TOP31 - 4, TOP31 - 2, TOP31, 1, 3]);
    assert_eq!(over_the_wrap::<Http2ServerStreams>(5), [TOP31 - 5, TOP31 - 3, TOP31 - 1, 2, 4]);
}

/// The same where threads meet in the reserved values, also where most values are reserved: steps that each makes by itself add up.
#[test]
fn threads_that_meet_in_reserved_values_get_the_next_ids_each_once() {
    fn check<S: Space<Word = u32>>(before_wrap: u64) {
        const THREADS: usize = 4;
        const CALLS: usize = 200;
        for _ in 0..50 {
            let start = S::SPACE.highest().unwrap_or_default() - before_wrap;
            let ids = SharedIds::<S>::starting_at(S::Word::truncate(start)).expect("an ID");
            let owner = OwnerIds::<S>::starting_at(S::Word::truncate(start)).expect("an ID");
            let mut all = from_threads(THREADS, || (0..CALLS).map(|_| ids.next_id()).collect());
            let mut expected: Vec<u32> = (0..THREADS * CALLS).map(|_| owner.next_id()).collect();
            all.sort_unstable();
            expected.sort_unstable();
            assert_eq!(all, expected, "no gap and no ID twice");
        }
    }
    check::<LowRange>(300);
    check::<NotAllOnes>(300);
    check::<DynamicPorts>(300);
}

/// blazingmq #1715 and motan #89: a signed counter overflowed and went negative. Kudu's Java client: no wrap at all.
#[test]
fn ids_stay_within_their_width_at_every_wrap() {
    assert_eq!(over_the_wrap::<KuduCallIds>(4), [0x7fff_fffd, 0x7fff_fffe, 0x7fff_ffff, 0]);
    assert_eq!(over_the_wrap::<Bits8>(4), [253, 254, 255, 0]);
    assert_eq!(over_the_wrap::<Bits63>(4), [i64::MAX as u64 - 2, i64::MAX as u64 - 1, i64::MAX as u64, 0]);
    assert_eq!(over_the_wrap::<Bits64>(4), [u64::MAX - 2, u64::MAX - 1, u64::MAX, 0]);
    // Many times round, and over the wrap of the word itself: 2^32 counts are 2^24 rounds of eight bits.
    let ids = SharedIds::<Bits8>::new();
    assert!((0..100_000u32).all(|call| ids.next_id() == call % 256));
}

/// redpanda #6005, #6021: a reset of the transport zeroed the counter, and live IDs came again.
#[test]
fn a_generator_that_resumes_repeats_no_id_of_the_one_before() {
    fn check<S: Space<Word: SharedWord>>(first: &impl IdGenerator<Id = S::Word>) {
        let before: HashSet<u64> = (0..100).map(|_| next(first)).collect();
        let last = S::Word::truncate(next(first));
        let resumed = OwnerIds::<S>::resume_after(last).expect("an ID");
        let shared = SharedIds::<S>::resume_after(last).expect("an ID");
        for _ in 0..100 {
            let (id, same) = (next(&resumed), next(&shared));
            assert!(id == same && !before.contains(&id) && id != last.widen());
        }
    }
    check::<KuduCallIds>(&OwnerIds::<KuduCallIds>::new());
    check::<LowRange>(&SharedIds::<LowRange>::starting_at((1 << 31) - 50).expect("an ID"));
    check::<BothEnds>(&SharedIds::<BothEnds>::starting_at(u64::MAX - 1).expect("an ID"));
    assert_eq!(OwnerIds::<LowRange>::resume_after(999).err(), Some(NotInSpace(999)), "the value is handed back");
}

/// okhttp #3670 and others: IDs with the reserved high bit went out for a minute, because nobody looked.
#[test]
fn exhaustion_is_an_error_before_an_id_outside_the_space_and_stays_one() {
    fn check<S: Space<Word: SharedWord>>(highest: u64) {
        let highest = S::Word::truncate(highest);
        let owner = OwnerIds::<S, Exhaust>::starting_at(highest).expect("the highest ID");
        let shared = SharedIds::<S, Exhaust>::starting_at(highest).expect("the highest ID");
        assert_eq!((owner.try_next_id(), shared.try_next_id()), (Ok(highest), Ok(highest)));
        for _ in 0..3 * GUARD_BAND {
            assert_eq!((owner.try_next_id(), shared.try_next_id()), (Err(Exhausted), Err(Exhausted)));
        }
        assert_eq!((owner.remaining(), shared.remaining()), (0, 0));
        let resumed = SharedIds::<S, Exhaust>::resume_after(highest).expect("an ID");
        assert_eq!(resumed.try_next_id(), Err(Exhausted));
    }
    check::<Http2ClientStreams>((1 << 31) - 1);
    check::<Http2ServerStreams>((1 << 31) - 2);
    check::<KuduCallIds>((1 << 31) - 1);
    check::<Bits8>(255);
    // Where a space fills its word, the guard band ends it earlier.
    check::<NonZeroU32Ids>((1 << 32) - GUARD_BAND);
    check::<BothEnds>(u64::MAX - GUARD_BAND + 34);
    let refused = SharedIds::<NonZeroU32Ids, Exhaust>::starting_at(u32::MAX);
    assert_eq!(refused.err(), Some(NotInSpace(u32::MAX)), "an ID of the guard band");
    let resumed = SharedIds::<NonZeroU32Ids, Exhaust>::resume_after(u32::MAX).expect("an ID that another generator may have used");
    assert_eq!((resumed.remaining(), resumed.try_next_id()), (0, Err(Exhausted)));
}

/// grpc-java #1809 and others: the channel learnt of exhaustion from failing calls.
#[test]
fn remaining_tells_before_exhaustion() {
    let ids = SharedIds::<Http2ClientStreams, Exhaust>::starting_at((1 << 31) - 1 - 2 * 99).expect("odd");
    for left in (1..=100).rev() {
        assert_eq!(ids.remaining(), left);
        assert!(ids.try_next_id().is_ok());
    }
    assert_eq!((ids.remaining(), ids.try_next_id()), (0, Err(Exhausted)));
    assert_eq!(SharedIds::<Http2ClientStreams, Exhaust>::new().remaining(), 1 << 30);
}

/// motan #89: two threads that met at the reset both read the counter again and got the same ID.
#[test]
fn one_step_of_the_counter_is_one_id_for_one_caller() {
    const CALLS: usize = 50_000;
    let ids = SharedIds::<KuduCallIds>::starting_at(0x7fff_ffff - 100_000).expect("an ID");
    let mut all = from_threads(4, || (0..CALLS).map(|_| ids.next_id()).collect());
    all.sort_by_key(|id| id.wrapping_sub(0x7fff_ffff - 100_000) & 0x7fff_ffff);
    let expected: Vec<u32> = (0..200_000).map(|call| (0x7fff_ffff - 100_000 + call) & 0x7fff_ffff).collect();
    assert_eq!(all, expected, "every value once, over the wrap too");
}

/// The refused calls themselves must not carry the counter round, where it would hand out every ID again.
#[test]
fn refused_calls_of_many_threads_bring_no_id_back() {
    for _ in 0..20 {
        let start = u32::MAX - 0xffff - 999;
        let ids = SharedIds::<NonZeroU32Ids, Exhaust>::starting_at(start).expect("an ID");
        assert_eq!(ids.remaining(), 1001 - 1);
        let mut all = from_threads(8, || {
            let mut got = Vec::new();
            let mut refused = 0;
            while refused < 5000 {
                ids.try_next_id().map_or_else(|Exhausted| refused += 1, |id| got.push(id));
            }
            got
        });
        all.sort_unstable();
        assert_eq!(all, (start..start + 1000).collect::<Vec<u32>>(), "each of the last IDs once, and no other");
        let count: u32 = format!("{ids:?}").chars().filter(char::is_ascii_digit).collect::<String>().parse().expect("the count");
        assert!(count <= u32::MAX - 0xffff + 8, "each thread counts at most once after the end, not {count}");
    }
}

fn from_threads(threads: usize, work: impl Fn() -> Vec<u32> + Sync) -> Vec<u32> {
    let start = Barrier::new(threads);
    thread::scope(|scope| {
        let run = || {
            start.wait();
            work()
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(run)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    })
}
