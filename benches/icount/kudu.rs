//! Kudu's loops at the documented number of calls, and at two small ones whose difference is the cost of a call.
//!
//! The documented number is 800,000,000 plus a random 0 to 99, which are left at 0 here: the counts are to be the same every time.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton_benches::scenario::kudu;

fn last_after<const CALLS: u64>(last: u32) {
    assert_eq!(last, kudu::expected(CALLS), "the last ID of {CALLS} calls");
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = last_after::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = last_after::<11_000>)]
#[bench::n800m(args = (800_000_000), setup = black_box, teardown = last_after::<800_000_000>)]
fn old_branch(calls: u64) -> u32 {
    kudu::old_branch(calls)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = last_after::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = last_after::<11_000>)]
#[bench::n800m(args = (800_000_000), setup = black_box, teardown = last_after::<800_000_000>)]
fn old_branch_free(calls: u64) -> u32 {
    kudu::old_branch_free(calls)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = last_after::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = last_after::<11_000>)]
#[bench::n800m(args = (800_000_000), setup = black_box, teardown = last_after::<800_000_000>)]
fn new_mask(calls: u64) -> u32 {
    kudu::new_mask(calls)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = last_after::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = last_after::<11_000>)]
fn old_branch_used(calls: u64) -> u32 {
    kudu::old_branch_used(calls)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box, teardown = last_after::<1_000>)]
#[bench::n11000(args = (11_000), setup = black_box, teardown = last_after::<11_000>)]
fn new_mask_used(calls: u64) -> u32 {
    kudu::new_mask_used(calls)
}

library_benchmark_group!(
    name = kudu_loops;
    benchmarks = old_branch, old_branch_free, new_mask, old_branch_used, new_mask_used
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"]));
    library_benchmark_groups = kudu_loops
);
