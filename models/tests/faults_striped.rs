//! Faults reported of other striped counters, turned round: each test is named for what must hold.

use std::{
    cell::RefCell,
    sync::{Barrier, Mutex},
    thread,
};

use jeton::counter::{StripedCounter, StripedGauge, ThreadCounter, ThreadGauge};

/// valkey-search #1119: the shard of a thread that ended was dropped. folly #133: a full read missed the cache of a dying thread.
#[test]
fn what_a_thread_counted_stays_when_it_ends() {
    static COUNTER: ThreadCounter<4> = ThreadCounter::new();
    static GAUGE: ThreadGauge<4> = ThreadGauge::new();
    let mut seen = 0;
    for generation in 1..=100 {
        let threads: Vec<_> = (0..6).map(|_| thread::spawn(|| (0..50).for_each(|_| (COUNTER.add(1), GAUGE.add(-1)).0))).collect();
        let during = COUNTER.sum();
        assert!(during >= seen, "a sum of a monotone counter went down from {seen} to {during}");
        threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        seen = generation * 300;
        assert_eq!((COUNTER.sum(), GAUGE.sum()), (seen, -(seen as i64)));
    }
}

/// More threads than stripes, and more than there are numbers.
#[test]
fn threads_without_a_stripe_of_their_own_count_all_the_same() {
    static COUNTER: ThreadCounter<8> = ThreadCounter::new();
    let all_alive = Barrier::new(300);
    thread::scope(|scope| {
        for _ in 0..300 {
            scope.spawn(|| {
                COUNTER.add(1);
                all_alive.wait();
                (0..9).for_each(|_| COUNTER.add(1));
            });
        }
    });
    assert_eq!(COUNTER.sum(), 3000);
}

/// sharded-slab #52 and its like: thread-locals used from the destructors of other thread-locals.
#[test]
fn counting_works_while_thread_locals_are_torn_down() {
    static COUNTER: ThreadCounter = ThreadCounter::new();

    struct CountsWhenDropped;
    impl Drop for CountsWhenDropped {
        fn drop(&mut self) {
            COUNTER.add(1);
        }
    }
    thread_local! {
        static EARLIER: RefCell<Option<CountsWhenDropped>> = const { RefCell::new(None) };
        static LATER: RefCell<Option<CountsWhenDropped>> = const { RefCell::new(None) };
    }
    thread::spawn(|| {
        // One registered before the counter's own thread-local and one after it, so that one is torn down on either side of it.
        EARLIER.set(Some(CountsWhenDropped));
        COUNTER.add(1);
        LATER.set(Some(CountsWhenDropped));
    })
    .join()
    .expect("no panic");
    // And one in a thread that has never counted before.
    thread::spawn(|| EARLIER.set(Some(CountsWhenDropped))).join().expect("no panic");
    // The destructors of thread-locals may run after `join` returns: wait for the threads' last counts.
    for _ in 0..1000 {
        if COUNTER.sum() < 4 {
            thread::sleep(std::time::Duration::from_millis(10));
        }
    }
    assert_eq!(COUNTER.sum(), 4);
}

/// Kamon #393 and dd-trace-java #12351: reading and resetting lost what was counted between.
#[test]
fn drains_and_what_is_left_add_up_to_what_was_counted() {
    const CALLS: u64 = 20_000;
    static COUNTER: StripedCounter<u64, 2> = StripedCounter::new();
    let drained = Mutex::new(0u64);
    thread::scope(|scope| {
        for near in 0..2 {
            scope.spawn(move || {
                let own = COUNTER.claim().expect("one of two");
                (0..CALLS).for_each(|_| {
                    own.add(1);
                    COUNTER.add(near, 1);
                });
            });
            scope.spawn(|| {
                for _ in 0..2000 {
                    let taken = COUNTER.drain();
                    assert!(taken <= 4 * CALLS, "a drain of a monotone counter is never negative");
                    *drained.lock().expect("no panic") += taken;
                }
            });
        }
    });
    assert_eq!(*drained.lock().expect("no panic") + COUNTER.sum(), 4 * CALLS);
    assert_eq!(*drained.lock().expect("no panic") + COUNTER.drain(), 4 * CALLS);
    assert_eq!(COUNTER.sum(), 0);
}

/// elasticsearch #52411: a counter of things that only grow in number read negative.
#[test]
fn a_sum_lies_between_the_counts_at_its_start_and_its_end() {
    static COUNTER: ThreadCounter<2> = ThreadCounter::new();
    const CALLS: u64 = 100_000;
    thread::scope(|scope| {
        let adding: Vec<_> = (0..3).map(|_| scope.spawn(|| (0..CALLS).for_each(|_| COUNTER.add(1)))).collect();
        let mut last = 0;
        while adding.iter().any(|thread| !thread.is_finished()) {
            let sum = COUNTER.sum();
            assert!((last..=3 * CALLS).contains(&sum), "{sum} after {last}");
            last = sum;
        }
    });
    assert_eq!(COUNTER.sum(), 3 * CALLS);
}

/// The kind of fault of elasticsearch #52411 for values that may fall: they are a type of their own, exact once nobody adds.
#[test]
fn a_gauge_is_exact_at_rest_and_its_drains_add_up() {
    let gauge = StripedGauge::<u32, 3>::new();
    thread::scope(|scope| {
        for near in 0..4 {
            let gauge = &gauge;
            scope.spawn(move || (0..1000).for_each(|_| (gauge.add(near, 3), gauge.add(near + 1, -5)).0));
        }
    });
    assert_eq!(gauge.sum(), -8000);
    assert_eq!((gauge.drain(), gauge.sum()), (-8000, 0));
    gauge.add(0, i32::MIN);
    assert_eq!((gauge.sum(), gauge.drain(), gauge.drain()), (i32::MIN, i32::MIN, 0));
}

/// libcds #76 and crossbeam #1055: neighbouring stripes on one cache line are no faster than one word.
#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn no_two_stripes_share_a_pair_of_cache_lines() {
    assert_eq!(size_of::<StripedCounter<u32, 1>>(), 128);
    assert_eq!(size_of::<StripedCounter<u64, 8>>(), 8 * 128);
    assert_eq!(align_of::<StripedCounter<u64, 8>>(), 128);
}

#[test]
fn a_forgotten_stripe_keeps_its_value_and_hurts_nobody_else() {
    let counter = StripedCounter::<u64, 2>::new();
    let own = counter.claim().expect("free");
    own.add(3);
    std::mem::forget(own);
    let other = counter.claim().expect("the second one");
    other.add(4);
    assert!(counter.claim().is_none());
    counter.add(0, 5);
    drop(other);
    assert!(counter.claim().is_some(), "handed on");
    assert_eq!(counter.sum(), 12);
}
