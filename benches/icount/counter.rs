//! IDs from every generator, each one used; two numbers of calls, so that their difference is the cost of a call to the instruction.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, Dhat, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton::counter::{
    Exhaust, Exhausted, Http2ClientStreams, IdGenerator, IdLease, KuduCallIds, NonZeroU32Ids, OwnStripe, OwnerIds, SharedIds,
    StripedCounter, ThreadCounter, Wrap,
};
use jeton_benches::scenario::counter::{
    every_id_used, every_value_added, no_counter as adding_loop_alone, no_generator as loop_alone,
};

/// A generator at its first ID, and how many to take.
fn new<G: Default>(calls: u32) -> (G, u32) {
    (G::default(), black_box(calls))
}

fn owner_at_last(calls: u32) -> (OwnerIds<NonZeroU32Ids>, u32) {
    let ids = OwnerIds::<NonZeroU32Ids>::resume_after(u32::MAX).expect("the highest ID is an ID");
    (ids, black_box(calls))
}

fn shared_at_last(calls: u32) -> (SharedIds<NonZeroU32Ids>, u32) {
    let ids = SharedIds::<NonZeroU32Ids>::resume_after(u32::MAX).expect("the highest ID is an ID");
    (ids, black_box(calls))
}

static LEASED: SharedIds<KuduCallIds> = SharedIds::new();
static STRIPED: StripedCounter<u64, 2> = StripedCounter::new();
static THREADS: ThreadCounter = ThreadCounter::new();

fn lease<const N: u32>(calls: u32) -> (IdLease<'static, KuduCallIds, Wrap, N>, u32) {
    (LEASED.lease(), black_box(calls))
}

fn stripe(calls: u32) -> (OwnStripe<'static, u64>, u32) {
    (STRIPED.claim().expect("nobody else is here"), black_box(calls))
}

/// The thread has its number before the measurement: the first addition takes it.
fn thread(calls: u32) -> u32 {
    THREADS.add(0);
    black_box(calls)
}

/// What a bench that adds returns, for its check.
struct Added;

fn sum_is<const SUM: u64>(_: Added) {
    assert_eq!(STRIPED.sum() + THREADS.sum(), SUM, "all that was added");
}

fn last_is<const ID: u32>(last: u32) {
    assert_eq!(last, ID, "the last ID");
}

fn last_ok_is<const ID: u32>(last: Result<u32, Exhausted>) {
    assert_eq!(last, Ok(ID), "the last ID");
}

/// `black_box` keeps the counter in memory, where a program has it, instead of in a register of the loop.
#[inline(always)]
fn run<G: IdGenerator<Id = u32>>((ids, calls): (G, u32)) -> Result<u32, G::Error> {
    every_id_used(black_box(&ids), calls)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = last_is::<999>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = last_is::<10_999>)]
fn no_generator(calls: u32) -> u32 {
    loop_alone(calls)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = new, teardown = last_is::<999>)]
#[bench::n11000(args = (11_000), setup = new, teardown = last_is::<10_999>)]
fn owner_kudu(work: (OwnerIds<KuduCallIds>, u32)) -> u32 {
    let Ok(last) = run(work);
    last
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = new, teardown = last_is::<1_000>)]
#[bench::n11000(args = (11_000), setup = new, teardown = last_is::<11_000>)]
#[bench::over_reserved(args = (1), setup = owner_at_last, teardown = last_is::<1>)]
fn owner_nonzero(work: (OwnerIds<NonZeroU32Ids>, u32)) -> u32 {
    let Ok(last) = run(work);
    last
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = new, teardown = last_ok_is::<1_999>)]
#[bench::n11000(args = (11_000), setup = new, teardown = last_ok_is::<21_999>)]
fn owner_http2_exhaust(work: (OwnerIds<Http2ClientStreams, Exhaust>, u32)) -> Result<u32, Exhausted> {
    run(work)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = new, teardown = last_is::<999>)]
#[bench::n11000(args = (11_000), setup = new, teardown = last_is::<10_999>)]
fn shared_kudu(work: (SharedIds<KuduCallIds>, u32)) -> u32 {
    let Ok(last) = run(work);
    last
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = new, teardown = last_is::<1_000>)]
#[bench::n11000(args = (11_000), setup = new, teardown = last_is::<11_000>)]
#[bench::over_reserved(args = (1), setup = shared_at_last, teardown = last_is::<1>)]
fn shared_nonzero(work: (SharedIds<NonZeroU32Ids>, u32)) -> u32 {
    let Ok(last) = run(work);
    last
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = new, teardown = last_ok_is::<1_999>)]
#[bench::n11000(args = (11_000), setup = new, teardown = last_ok_is::<21_999>)]
fn shared_http2_exhaust(work: (SharedIds<Http2ClientStreams, Exhaust>, u32)) -> Result<u32, Exhausted> {
    run(work)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = lease::<64>, teardown = last_is::<999>)]
#[bench::n65000(args = (65_000), setup = lease::<64>, teardown = last_is::<64_999>)]
fn leased_64(work: (IdLease<'static, KuduCallIds, Wrap, 64>, u32)) -> u32 {
    let Ok(last) = run(work);
    last
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = lease::<1024>, teardown = last_is::<999>)]
#[bench::n1025000(args = (1_025_000), setup = lease::<1024>, teardown = last_is::<1_024_999>)]
fn leased_1024(work: (IdLease<'static, KuduCallIds, Wrap, 1024>, u32)) -> u32 {
    let Ok(last) = run(work);
    last
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box)]
#[bench::n11000(args = (11_000), setup = black_box)]
fn no_counter(calls: u32) {
    adding_loop_alone(calls);
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = stripe, teardown = sum_is::<1_000>)]
#[bench::n11000(args = (11_000), setup = stripe, teardown = sum_is::<11_000>)]
fn striped_own((own, calls): (OwnStripe<'static, u64>, u32)) -> Added {
    let own = black_box(&own);
    every_value_added(calls, |value| own.add(value));
    Added
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = sum_is::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = sum_is::<11_000>)]
fn striped_shared(calls: u32) -> Added {
    let counter = black_box(&STRIPED);
    every_value_added(calls, |value| counter.add(0, value));
    Added
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = thread, teardown = sum_is::<1_000>)]
#[bench::n11000(args = (11_000), setup = thread, teardown = sum_is::<11_000>)]
fn thread_counter(calls: u32) -> Added {
    let counter = black_box(&THREADS);
    every_value_added(calls, |value| counter.add(value));
    Added
}

library_benchmark_group!(
    name = counter;
    benchmarks = no_generator,
        owner_kudu, owner_nonzero, owner_http2_exhaust,
        shared_kudu, shared_nonzero, shared_http2_exhaust,
        leased_64, leased_1024,
        no_counter, striped_own, striped_shared, thread_counter
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"])).tool(Dhat::default());
    library_benchmark_groups = counter
);
