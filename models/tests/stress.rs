//! Real threads, as many rounds as JETON_STRESS_ROUNDS says (1,000 if nothing): for ThreadSanitizer and Miri, and for the machine.
//!
//! A program of its own, without the test harness: ThreadSanitizer does not know the harness' threads and would report races in it.
//! `stress --broken STEP` runs a wrong step of the free list instead: a checker that finds nothing then finds nothing at all.
//! `stress --only NAME…` runs these tests, and `stress --except NAME…` the others.

#[path = "stress/gates.rs"]
mod gates;

use std::{cell::UnsafeCell, collections::HashSet, process::ExitCode, sync::Arc, thread, time::Duration};

use jeton::{
    append::{AppendLog, LogWord, Read, ReadError, SegmentedLog},
    cancel::CancelSource,
    counter::{Exhaust, IdSpace, KuduCallIds, SharedIds, Space, StripedCounter, ThreadCounter},
    pool::{BitPool, Blocks, Checked, IdPool, StealableCache, Users, bit_pool_words},
};
use jeton_models::steps::free_list::{FreeList, s3_relaxed_push, s4_relaxed_pop, s5_tagged};

const THREADS: usize = 3;

/// Runs `work` in threads, all of which are joined here: the sanitizer sees a join, and not how a scope ends.
fn in_threads<T: Send>(work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    in_so_many_threads(THREADS, work)
}

fn in_so_many_threads<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..count).map(|number| scope.spawn(move || work(number))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    })
}

fn assert_distinct(ids: &[u32]) {
    assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "an ID came twice");
}

fn shared_ids_are_distinct_over_the_wrap(rounds: usize) {
    let ids = SharedIds::<KuduCallIds>::starting_at(i32::MAX as u32 - 50).expect("an ID");
    assert_distinct(&in_threads(|_| (0..rounds).map(|_| ids.next_id()).collect::<Vec<_>>()).concat());
}

fn leases_and_single_ids_are_distinct_and_complete(rounds: usize) {
    #[derive(Debug)]
    enum Bits14 {}
    impl Space for Bits14 {
        type Word = u32;
        const SPACE: IdSpace = IdSpace::bits(14).reserve(100);
    }
    let ids = SharedIds::<Bits14, Exhaust>::new();
    let got = in_threads(|number| {
        let mut got = Vec::new();
        for _ in 0..rounds / 8 + 1 {
            let lease = ids.lease::<16>();
            got.extend((0..number + 5).map_while(|_| lease.try_next_id().ok()));
            got.extend(ids.try_next_id());
        }
        got
    })
    .concat();
    assert_distinct(&got);
    assert_eq!(got.len() as u64 + ids.gaps() + ids.remaining(), SharedIds::<Bits14, Exhaust>::CAPACITY);
}

fn stripes_that_change_owners_lose_no_count(rounds: usize) {
    let counter = StripedCounter::<u64, 2>::new();
    let drained = in_threads(|number| {
        let mut drained = 0;
        for round in 0..rounds {
            match counter.claim() {
                Some(own) => own.add(1),
                None => counter.add(number, 1),
            }
            if round % 64 == 0 {
                drained += counter.drain();
            }
        }
        drained
    });
    assert_eq!(drained.iter().sum::<u64>() + counter.sum(), (THREADS * rounds) as u64);
}

fn threads_that_end_leave_their_counts(rounds: usize) {
    static COUNTER: ThreadCounter<2> = ThreadCounter::new();
    let before = COUNTER.sum();
    for _ in 0..rounds / 100 + 1 {
        in_threads(|_| (0..10).for_each(|_| COUNTER.add(1)));
    }
    assert_eq!(COUNTER.sum() - before, (rounds / 100 + 1) as u64 * 10 * THREADS as u64);
}

/// Plain memory that the holder of an index uses.
struct Payloads([UnsafeCell<u64>; 2]);

// SAFETY: an index has one holder at a time, and the free list orders its holders: that is what this test is about.
unsafe impl Sync for Payloads {}

/// Threads take one of two IDs, of which there are fewer than threads, work on what it stands for, and give it back.
fn hand_payloads_over(rounds: usize, alloc: impl Fn(usize, usize) -> Option<u32> + Sync, free: impl Fn(u32) + Sync) {
    let payloads = &Payloads([const { UnsafeCell::new(0) }; 2]);
    let uses: u64 = in_threads(|number| {
        let mut uses = 0;
        for round in 0..rounds {
            if let Some(id) = alloc(number, round) {
                // SAFETY: this thread holds the ID.
                unsafe { *payloads.0[id as usize].get() += 1 };
                uses += 1;
                free(id);
            }
        }
        uses
    })
    .into_iter()
    .sum();
    // SAFETY: the threads have been joined.
    let sum: u64 = payloads.0.iter().map(|payload| unsafe { *payload.get() }).sum();
    assert_eq!(sum, uses, "two holders at once");
}

fn free_list_hands_payloads_over<L: FreeList>(rounds: usize) {
    let list = L::new(2);
    hand_payloads_over(rounds, |_, _| list.alloc(), |index| list.free(index));
}

/// One waits, in either way, is woken by a free into another cache, and works on with what that one wrote.
fn an_id_pool_hands_payloads_over(rounds: usize) {
    let pool = IdPool::with_users(0, 2, 2).expect("two IDs");
    let alloc = |number, round| match (number + round) % 3 {
        // The sanitizer does not see what std's own code does to a mutex that others wait for, and would report a race.
        _ if cfg!(jeton_tsan) => pool.alloc().ok(),
        0 => pool.alloc().ok(),
        1 => pool.alloc_timeout(Duration::from_micros(20)).ok(),
        _ => Some(pool.alloc_wait()),
    };
    hand_payloads_over(rounds, alloc, |id| pool.free(id).expect("it was allocated"));
}

/// In words that are full and marked all the time.
fn checked_bits_hand_payloads_over(rounds: usize) {
    type Ids = BitPool<2, { bit_pool_words(2) }>;
    let pool = Checked::<Ids, 2>::new(Ids::new());
    hand_payloads_over(rounds, |_, _| pool.alloc().ok(), |id| pool.free(id).expect("it was allocated"));
}

fn threads_that_end_leave_their_ids(rounds: usize) {
    let pool = IdPool::with_users(7, 300, 2).expect("300 IDs");
    for _ in 0..rounds / 100 + 1 {
        in_threads(|_| {
            let mut ids = [0; 100];
            let done = pool.alloc_into(&mut ids);
            pool.free_slice(&ids[..done]).expect("they were allocated");
        });
        let mut ids = [0; 300];
        assert_eq!(pool.alloc_into(&mut ids), 300);
        assert_distinct(&ids);
        pool.free_slice(&ids).expect("they were allocated");
    }
}

/// Batches that fill magazines, blocks and spill bits, through users and through caches that come and go.
fn magazines_hand_payloads_over(rounds: usize) {
    const IDS: usize = 5 * 64;
    static POOL: StealableCache<Blocks<5>, Users<2>> = StealableCache::new();
    let payloads: Vec<Payloads> = (0..IDS / 2).map(|_| Payloads([const { UnsafeCell::new(0) }; 2])).collect();
    let write = |ids: &[u32]| {
        for &id in ids {
            // SAFETY: this thread holds the ID.
            unsafe { *payloads[id as usize / 2].0[id as usize % 2].get() += 1 };
        }
    };
    let uses: usize = in_threads(|number| {
        let (mine, next) = (POOL.user(number % 2).expect("of two"), POOL.user((number + 1) % 2).expect("of two"));
        let mut uses = 0;
        for round in 0..rounds / 50 + 1 {
            let mut ids = [0; 150];
            let ids = &mut ids[..1 + (round * 37 + number * 50) % 150];
            if round % 3 == 0 {
                let mut cache = POOL.pool().cache();
                let done = cache.alloc_into(ids);
                write(&ids[..done]);
                uses += done;
                cache.free_slice(&ids[..done]).expect("they were allocated");
            } else {
                let done = mine.alloc_into(ids);
                write(&ids[..done]);
                uses += done;
                next.free_slice(&ids[..done]).expect("they were allocated");
            }
        }
        uses
    })
    .into_iter()
    .sum();
    // SAFETY: the threads have been joined.
    let sum: u64 = payloads.iter().flat_map(|two| &two.0).map(|payload| unsafe { *payload.get() }).sum();
    assert_eq!(sum, uses as u64, "two holders at once");
    let mut ids = [0; IDS];
    assert_eq!(POOL.user(0).expect("of two").alloc_into(&mut ids), IDS);
    assert_distinct(&ids);
}

/// One reads in order what the others append, in order and leased, and what they give up is nowhere.
fn a_log_hands_records_over(rounds: usize) {
    let mut words: Vec<LogWord> = (0..THREADS * (rounds * 8 + 64)).map(|_| LogWord::new()).collect();
    let log = AppendLog::over(&mut words[..]);
    let record = |producer: usize, round: usize| [producer as u32, round as u32, !round as u32].map(u32::to_ne_bytes);
    let read = in_threads(|number| {
        let (mut lease, mut reader, mut next) = (log.lease(64), log.reader(), [0; THREADS]);
        if number != 0 {
            for round in 0..rounds {
                let bytes = record(number, round);
                if round % 2 == 0 {
                    log.append(bytes.as_flattened()).expect("room");
                } else if number == 1 {
                    lease.append(bytes.as_flattened()).expect("room");
                    // Its next record comes behind this chunk.
                    lease = log.lease(64);
                } else {
                    drop(log.grant(4).expect("room"));
                    let mut grant = log.grant(12).expect("room");
                    grant.bytes().copy_from_slice(bytes.as_flattened());
                    grant.commit();
                }
            }
            return 0;
        }
        while next.iter().sum::<usize>() < (THREADS - 1) * rounds {
            match reader.read().expect("not corrupt") {
                Read::Record(bytes) => {
                    let producer = usize::from(bytes[if cfg!(target_endian = "little") { 0 } else { 3 }]);
                    assert_eq!(*bytes, *record(producer, next[producer]).as_flattened(), "whole, and in its producer's order");
                    next[producer] += 1;
                }
                _ => thread::yield_now(),
            }
        }
        next.iter().sum()
    });
    assert_eq!(read.iter().sum::<usize>(), (THREADS - 1) * rounds);
}

/// One waits for what the others append, leased, in order and in grants, and trims behind it; these also read what they can of what is left.
fn a_segmented_log_hands_records_over(rounds: usize) {
    let log = SegmentedLog::new(256).expect("there is memory");
    let record = |producer: usize, round: usize| [producer as u32, round as u32, !round as u32].map(u32::to_le_bytes);
    let number = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[4 * at..][..4].try_into().expect("four bytes")) as usize;
    let first = log.reader();
    let read = in_threads(|thread| {
        let (mut reader, mut next) = (first.clone(), [0; THREADS]);
        if thread == 0 {
            while next.iter().sum::<usize>() < (THREADS - 1) * rounds {
                // As in gates.rs: ThreadSanitizer does not know the fence with which the `Arc` ends that a blocking wait has.
                let waited = if cfg!(jeton_tsan) { gates::wait(thread, reader.next_record()) } else { reader.wait() };
                let bytes = waited.expect("nobody else trims");
                let producer = number(&bytes, 0);
                assert_eq!(*bytes, *record(producer, next[producer]).as_flattened(), "whole, and in its producer's order");
                next[producer] += 1;
                log.trim(reader.position());
            }
            return next.iter().sum();
        }
        let (mut writer, mut leased) = (log.writer(), Some(log.leased_writer(64)));
        for round in 0..rounds {
            let bytes = record(thread, round);
            match &mut leased {
                _ if thread == 2 => {
                    drop(writer.grant(4).expect("there is memory"));
                    let mut grant = writer.grant(12).expect("there is memory");
                    grant.bytes().copy_from_slice(bytes.as_flattened());
                    grant.commit();
                }
                Some(leased) if round < rounds / 2 => leased.append(bytes.as_flattened()).expect("there is memory"),
                _ => {
                    // Its chunk is given up before its producer goes on elsewhere, so that the order is kept.
                    leased = None;
                    log.append(bytes.as_flattened()).expect("there is memory");
                }
            }
            match reader.read() {
                Ok(Read::Record(bytes)) => {
                    assert_eq!(*bytes, *record(number(&bytes, 0), number(&bytes, 1)).as_flattened(), "whole")
                }
                Ok(_) | Err(ReadError::Trimmed { .. }) => {}
                Err(error) => panic!("{error}"),
            }
            if round % 64 == 0 {
                reader = log.reader();
            }
        }
        0
    });
    assert_eq!(read.iter().sum::<usize>(), (THREADS - 1) * rounds);
    assert!(log.close());
    assert!(log.held().listed <= 2);
}

/// Threads make and drop what is below a source that another thread cancels. What a callback has written its registration's end sees.
fn threads_make_cancel_and_drop_one_tree(rounds: usize) {
    struct Plain(UnsafeCell<u32>);
    // SAFETY: until its registration has ended a callback alone touches it.
    unsafe impl Sync for Plain {}
    // SAFETY: as above.
    unsafe impl Send for Plain {}
    impl Plain {
        /// # Safety
        /// Nobody else uses it meanwhile.
        unsafe fn add_one(&self) -> u32 {
            // SAFETY: by the caller.
            unsafe {
                *self.0.get() += 1;
                *self.0.get()
            }
        }
    }
    for round in 0..rounds / 20 + 1 {
        let root = CancelSource::new();
        in_threads(|number| {
            if number == 0 {
                (0..round % 8).for_each(|_| thread::yield_now());
                assert!(root.cancel());
                return;
            }
            for turn in 0..4 {
                let child = root.child();
                let leaf = child.child();
                let plain = Arc::new(Plain(UnsafeCell::new(0)));
                let of_callback = plain.clone();
                let callback = move || {
                    // SAFETY: its registration has not ended.
                    _ = unsafe { of_callback.add_one() };
                };
                let registration = leaf.token().on_cancel(callback);
                let others = (0..turn).map(|_| leaf.token().on_cancel(|| {})).collect::<Vec<_>>();
                if (round + turn) % 2 == 0 {
                    drop((child, others));
                }
                drop(registration);
                // SAFETY: it is removed, handed back or done.
                assert!(unsafe { plain.add_one() } <= 2);
            }
        });
        assert!(root.is_canceled());
    }
}

fn main() -> ExitCode {
    let rounds = std::env::var("JETON_STRESS_ROUNDS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(1000);
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    type Test = (&'static str, fn(usize));
    let broken: [Test; 2] = [
        ("s3_relaxed_push", free_list_hands_payloads_over::<s3_relaxed_push::List>),
        ("s4_relaxed_pop", free_list_hands_payloads_over::<s4_relaxed_pop::List>),
    ];
    let tests: [Test; 15] = [
        ("a_gate_hands_memory_round", gates::a_gate_hands_memory_round),
        ("threads_and_a_task_hand_memory_round", gates::threads_and_a_task_hand_memory_round),
        ("a_crowd_is_woken_at_every_turn", gates::a_crowd_is_woken_at_every_turn),
        ("shared_ids_are_distinct_over_the_wrap", shared_ids_are_distinct_over_the_wrap),
        ("leases_and_single_ids_are_distinct_and_complete", leases_and_single_ids_are_distinct_and_complete),
        ("stripes_that_change_owners_lose_no_count", stripes_that_change_owners_lose_no_count),
        ("threads_that_end_leave_their_counts", threads_that_end_leave_their_counts),
        ("a_log_hands_records_over", a_log_hands_records_over),
        ("a_segmented_log_hands_records_over", a_segmented_log_hands_records_over),
        ("free_list_hands_payloads_over", free_list_hands_payloads_over::<s5_tagged::List>),
        ("magazines_hand_payloads_over", magazines_hand_payloads_over),
        ("checked_bits_hand_payloads_over", checked_bits_hand_payloads_over),
        ("an_id_pool_hands_payloads_over", an_id_pool_hands_payloads_over),
        ("threads_that_end_leave_their_ids", threads_that_end_leave_their_ids),
        ("threads_make_cancel_and_drop_one_tree", threads_make_cancel_and_drop_one_tree),
    ];
    let named = |option: &str| arguments.split_first().filter(|(first, _)| *first == option).map(|(_, names)| names);
    let is_in = |names: &[String], test: &Test| names.iter().any(|name| name == test.0);
    let chosen: Vec<Test> = if let Some(names) = named("--broken") {
        broken.into_iter().filter(|test| is_in(names, test)).collect()
    } else if let Some(names) = named("--only") {
        tests.into_iter().filter(|test| is_in(names, test)).collect()
    } else if let Some(names) = named("--except") {
        // A name that is none would leave nothing out.
        let rest = tests.into_iter().filter(|test| !is_in(names, test)).collect::<Vec<_>>();
        if rest.len() + names.len() == tests.len() { rest } else { Vec::new() }
    } else {
        tests.to_vec()
    };
    if chosen.is_empty() {
        eprintln!("--broken takes s3_relaxed_push or s4_relaxed_pop; --only and --except take names of tests");
        return ExitCode::from(2);
    }
    for (name, test) in &chosen {
        test(rounds);
        println!("stress {name}: ok, {rounds} rounds");
    }
    println!("\n{} passed, 0 failed", chosen.len());
    ExitCode::SUCCESS
}
