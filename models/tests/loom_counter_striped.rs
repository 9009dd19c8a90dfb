//! Striped counters, under every interleaving: nothing is lost, nothing comes twice, and no sum is below what has happened.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{
    counter::{StripedCounter, StripedGauge},
    sync::AtomicU32,
    util::Numbers,
};
use jeton_models::explore::{Arc, Model, explore, note, thread};

type Counter = StripedCounter<u32, 1>;
type Two = StripedCounter<u32, 2>;

/// Adds to a stripe of its own if there is one, and hands that on.
fn add_to_own<const N: usize>(counter: &StripedCounter<u32, N>, times: usize) {
    match counter.claim() {
        Some(mine) => (0..times).for_each(|_| mine.add(1)),
        None => (0..times).for_each(|_| counter.add(0, 1)),
    }
}

fn spawn<S: Send + Sync + 'static, R: Send + 'static>(
    subject: &Arc<S>,
    work: impl FnOnce(&S) -> R + Send + 'static,
) -> impl FnOnce() -> R {
    let subject = subject.clone();
    let other = thread::spawn(move || work(&subject));
    move || other.join().expect("a thread of the model panicked")
}

#[test]
fn a_stripe_handed_on_keeps_its_count() {
    explore(Model { threads: 2, loom: 16, rmw: 18, shuttle: 560 }, || {
        let counter = Arc::new(Counter::new());
        let other = spawn(&counter, |counter| add_to_own(counter, 2));
        add_to_own(&counter, 2);
        other();
        assert_eq!(counter.sum(), 4);
    });
}

/// The way of the std extension's threads: a number, the stripe of that number, and the number back.
#[test]
fn a_number_handed_back_keeps_its_stripe() {
    explore(Model { threads: 2, loom: 16, rmw: 18, shuttle: 1240 }, || {
        let subject = Arc::new((Numbers::<AtomicU32, 1>::new(), Counter::new()));
        let live = |(numbers, counter): &(Numbers<AtomicU32, 1>, Counter)| {
            let number = numbers.take();
            counter.add_at_own(number, 1);
            counter.add_at_own(number, 1);
            numbers.hand_back(number);
        };
        let other = spawn(&subject, live);
        live(&subject);
        other();
        assert_eq!(subject.1.sum(), 4);
    });
}

#[test]
fn three_owners_of_one_stripe_lose_nothing() {
    explore(Model { threads: 3, loom: 550, rmw: 610, shuttle: 18000 }, || {
        let counter = Arc::new(Counter::new());
        let add_one = |counter: &Counter| add_to_own(counter, 1);
        let others = [spawn(&counter, add_one), spawn(&counter, add_one)];
        add_one(&counter);
        others.into_iter().for_each(|other| other());
        assert_eq!(counter.sum(), 3);
    });
}

#[test]
fn a_sum_lies_between_the_counts_at_its_start_and_its_end() {
    explore(Model { threads: 3, loom: 150, rmw: 660, shuttle: 18000 }, || {
        let counter = Arc::new(Two::new());
        let owner = spawn(&counter, |counter| add_to_own(counter, 2));
        let sharer = spawn(&counter, |counter| counter.add(1, 1));
        counter.add(0, 1);
        let sums = [counter.sum(), counter.sum()];
        note(&format!("sums {sums:?}"));
        assert!(1 <= sums[0] && sums[0] <= sums[1] && sums[1] <= 4, "{sums:?}");
        owner();
        assert!(counter.sum() >= 3, "what the owner has added");
        sharer();
        assert_eq!(counter.sum(), 4);
    });
}

#[test]
fn a_sum_that_meets_a_drain_is_never_negative() {
    explore(Model { threads: 3, loom: 240, rmw: 460, shuttle: 18000 }, || {
        // Spawned in this order, so that the first execution tried is: add, drain, sum. loom does not come to it from every other one.
        let counter = Arc::new(Counter::new());
        let drain = spawn(&counter, Counter::drain);
        let sum = spawn(&counter, Counter::sum);
        add_to_own(&counter, 1);
        let (drained, sum) = (drain(), sum());
        assert!(sum <= 1, "a sum of {}", sum.cast_signed());
        assert_eq!(drained + counter.sum(), 1);
    });
}

#[test]
fn two_drains_never_take_a_negative_share() {
    explore(Model { threads: 3, loom: 150, rmw: 720, shuttle: 18000 }, || {
        let counter = Arc::new(Counter::new());
        let owner = spawn(&counter, |counter| add_to_own(counter, 1));
        let drain = spawn(&counter, Counter::drain);
        let here = counter.drain();
        owner();
        let there = drain();
        assert!(here <= 1 && there <= 1, "{} and {}", here.cast_signed(), there.cast_signed());
        assert_eq!(here + there + counter.sum(), 1);
    });
}

#[test]
fn drains_lose_nothing_that_is_added_meanwhile() {
    explore(Model { threads: 3, loom: 44, rmw: 220, shuttle: 18000 }, || {
        let counter = Arc::new(Two::new());
        let owner = spawn(&counter, |counter| add_to_own(counter, 2));
        let sharer = spawn(&counter, |counter| counter.add(0, 5));
        let drained = counter.drain();
        owner();
        sharer();
        assert_eq!(drained + counter.drain(), 7);
        assert_eq!(counter.sum(), 0);
    });
}

#[test]
fn a_gauge_ends_at_what_was_added_and_taken() {
    explore(Model { threads: 3, loom: 43, rmw: 120, shuttle: 18000 }, || {
        let gauge = Arc::new(StripedGauge::<u32, 1>::new());
        let other = spawn(&gauge, |gauge| gauge.claim().map_or_else(|| gauge.add(0, -2), |mine| mine.add(-2)));
        let drain = spawn(&gauge, StripedGauge::drain);
        gauge.add(0, 3);
        other();
        assert_eq!(drain() + gauge.sum(), 1);
    });
}
