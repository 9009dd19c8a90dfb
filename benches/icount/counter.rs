//! IDs from every generator, each one used; two numbers of calls, so that their difference is the cost of a call to the instruction.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, Dhat, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton_benches::scenario::counter::{every_id_used, no_generator as loop_alone};
use jeton_core::counter::{Exhaust, Exhausted, Http2ClientStreams, IdGenerator, KuduCallIds, NonZeroU32Ids, OwnerIds, SharedIds};

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

library_benchmark_group!(
    name = counter;
    benchmarks = no_generator,
        owner_kudu, owner_nonzero, owner_http2_exhaust,
        shared_kudu, shared_nonzero, shared_http2_exhaust
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"])).tool(Dhat::default());
    library_benchmark_groups = counter
);
