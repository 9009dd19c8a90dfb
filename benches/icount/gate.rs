//! Gates: two numbers of calls, so that their difference is the cost of one. `nothing_loop` and `nothing_checked` are the loops alone; `std_` is the std extension.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton_benches::scenario::gate as scenario;
use jeton_benches::scenario::gate::{
    BenchGate, Mode, Stopped, left,
    std_ext::{self, StdGate},
};

/// A gate where it stands in a program, and how many calls.
type Work<const N: usize> = (&'static BenchGate<N>, u32);

static FRESH: BenchGate<1> = BenchGate::new();
static FULL: BenchGate<32> = BenchGate::new();

fn fresh(calls: u32) -> Work<1> {
    (black_box(&FRESH), black_box(calls))
}

fn open(calls: u32) -> Work<1> {
    assert!(FRESH.try_transition(Mode::Idle, Mode::Running).is_ok(), "nobody else is here");
    fresh(calls)
}

fn full(calls: u32) -> Work<32> {
    (black_box(&FULL), black_box(calls))
}

fn after_waiters(calls: u32) -> Work<1> {
    (black_box(Box::leak(Box::new(left()))), black_box(calls))
}

fn after_many_waiters(calls: u32) -> Work<32> {
    (black_box(Box::leak(Box::new(left()))), black_box(calls))
}

/// How many calls were let through.
fn all<const CALLS: u32>(calls: u32) {
    assert_eq!(calls, CALLS, "the gate is open, and the wait goes on");
}

fn made<const EPOCHS: u32>((epochs, result): (u32, Result<(), Stopped>)) {
    assert_eq!((epochs, result), (EPOCHS, Ok(())), "all transitions were made");
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box)]
#[bench::n11000(args = (11_000), setup = black_box)]
fn nothing_loop(calls: u32) {
    scenario::nothing(calls);
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = all::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = all::<11_000>)]
fn nothing_checked(calls: u32) -> u32 {
    scenario::nothing_checked(calls)
}

macro_rules! counted {
    ($bench:ident, $setup:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = $setup, teardown = all::<1_000>)]
        #[bench::n11000(args = (11_000), setup = $setup, teardown = all::<11_000>)]
        fn $bench((gate, calls): Work<1>) -> u32 {
            scenario::$bench(gate, calls)
        }
    };
}

macro_rules! plain {
    ($bench:ident, $setup:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = $setup)]
        #[bench::n11000(args = (11_000), setup = $setup)]
        fn $bench((gate, calls): Work<1>) {
            scenario::$bench(gate, calls);
        }
    };
}

macro_rules! moving {
    ($bench:ident, $scenario:ident, $setup:ident, $slots:literal, $few:literal, $many:literal) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = $setup, teardown = made::<$few>)]
        #[bench::n11000(args = (11_000), setup = $setup, teardown = made::<$many>)]
        fn $bench((gate, calls): Work<$slots>) -> (u32, Result<(), Stopped>) {
            let result = scenario::$scenario(gate, calls);
            (gate.snapshot().epoch.get(), result)
        }
    };
}

counted!(checked, open);
counted!(poll_again, fresh);
plain!(check, open);
plain!(snapshot, open);
plain!(wait_and_give_up, fresh);
moving!(transitions, transitions, fresh, 1, 1_000, 11_000);
moving!(transitions_looked_up, transitions_looked_up, fresh, 1, 1_000, 11_000);
moving!(transitions_after_waiters, transitions, after_waiters, 1, 1_000, 11_000);
moving!(transitions_after_waiters_32, transitions, after_many_waiters, 32, 1_000, 11_000);
moving!(transitions_beside_other_32, transitions_beside_others, full, 32, 1_000, 11_000);
moving!(transitions_beside_other, transitions_beside_others, fresh, 1, 1_000, 11_000);
moving!(begun, begun, fresh, 1, 1_000, 11_000);
moving!(wait_and_wake, wait_and_wake, fresh, 1, 2_000, 22_000);

/// A gate of the std extension, and how many calls.
type StdWork = (&'static StdGate, u32);

static STD_FRESH: StdGate = StdGate::new();

fn std_fresh(calls: u32) -> StdWork {
    (black_box(&STD_FRESH), black_box(calls))
}

fn std_open(calls: u32) -> StdWork {
    assert!(STD_FRESH.try_transition(Mode::Idle, Mode::Running).is_ok(), "nobody else is here");
    std_fresh(calls)
}

fn std_after_waiters(calls: u32) -> StdWork {
    (black_box(Box::leak(Box::new(std_ext::left().expect("nobody else is here")))), black_box(calls))
}

macro_rules! std_counted {
    ($bench:ident, $scenario:ident, $setup:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = $setup, teardown = all::<1_000>)]
        #[bench::n11000(args = (11_000), setup = $setup, teardown = all::<11_000>)]
        fn $bench((gate, calls): StdWork) -> u32 {
            std_ext::$scenario(gate, calls)
        }
    };
}

macro_rules! std_plain {
    ($bench:ident, $scenario:ident, $setup:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = $setup)]
        #[bench::n11000(args = (11_000), setup = $setup)]
        fn $bench((gate, calls): StdWork) {
            std_ext::$scenario(gate, calls);
        }
    };
}

macro_rules! std_moving {
    ($bench:ident, $scenario:ident, $setup:ident, $few:literal, $many:literal) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = $setup, teardown = made::<$few>)]
        #[bench::n11000(args = (11_000), setup = $setup, teardown = made::<$many>)]
        fn $bench((gate, calls): StdWork) -> (u32, Result<(), Stopped>) {
            let result = std_ext::$scenario(gate, calls);
            (gate.snapshot().epoch.get() as u32, result)
        }
    };
}

std_counted!(std_checked, checked, std_open);
std_counted!(std_poll_again, poll_again, std_fresh);
std_plain!(std_check, check, std_open);
std_plain!(std_snapshot, snapshot, std_open);
std_plain!(std_wait_and_give_up, wait_and_give_up, std_fresh);
std_moving!(std_transitions, transitions, std_fresh, 1_000, 11_000);
std_moving!(std_transitions_looked_up, transitions_looked_up, std_fresh, 1_000, 11_000);
// Two epochs more, of the lap that left nothing of the waiters.
std_moving!(std_transitions_after_waiters, transitions, std_after_waiters, 1_002, 11_002);
std_moving!(std_transitions_beside_another, transitions_beside_another, std_fresh, 1_000, 11_000);
std_moving!(std_wait_and_wake, wait_and_wake, std_fresh, 2_000, 22_000);

library_benchmark_group!(
    name = exact;
    benchmarks = nothing_loop, nothing_checked, checked, check, snapshot, transitions, transitions_looked_up, begun,
        transitions_after_waiters, transitions_after_waiters_32, transitions_beside_other, transitions_beside_other_32,
        poll_again, wait_and_give_up, wait_and_wake,
        std_checked, std_check, std_snapshot, std_transitions, std_transitions_looked_up, std_transitions_after_waiters,
        std_transitions_beside_another, std_poll_again, std_wait_and_give_up, std_wait_and_wake
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"]));
    library_benchmark_groups = exact
);
