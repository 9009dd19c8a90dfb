//! Documents, numbers and records; two numbers of each, so that their difference is the cost of one to the instruction.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, Dhat, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton::append::{AppendBuf, AppendError, AppendLog, Array, GrowBuf, Heap, Lease, LogError, LogWord, Storage};
use jeton_benches::scenario::{
    append::{
        Build, DOCUMENT, Values, by_cursors, by_one_cursor, by_puts, documents, leased, no_records as records_loop_alone, numbers,
        ordered,
    },
    counter::no_generator as numbers_loop_alone,
};

/// Room for the longest run of numbers.
const ROOM: usize = 64 * 1024;

/// A buffer with the room, and how much to append.
fn growing(times: u32) -> (GrowBuf, Values<'static>, u32) {
    let mut buf = AppendBuf::new(Heap::new());
    drop(buf.reserve(ROOM).expect("memory"));
    (buf, Values::default(), black_box(times))
}

/// Its room is not on the stack: what moves it there would be counted, differently wherever the stack begins.
fn in_place(times: u32) -> (Box<AppendBuf<Array<ROOM>>>, Values<'static>, u32) {
    (Box::default(), Values::default(), black_box(times))
}

static LOG: AppendLog<[LogWord; 1 << 16]> = AppendLog::new();
const BYTES: [u8; 16] = *b"0123456789abcdef";

fn log(times: u32) -> u32 {
    black_box(times)
}

fn lease(times: u32) -> (Lease<'static>, u32) {
    (LOG.lease(4096), black_box(times))
}

fn len_is<const LEN: usize>(buf: Result<usize, AppendError>) {
    assert_eq!(buf, Ok(LEN));
}

fn records_are<const RECORDS: usize>(done: Result<(), LogError>) {
    assert_eq!((done, LOG.committed().count()), (Ok(()), RECORDS));
}

#[inline(always)]
fn run<S: Storage>(
    (mut buf, values, times): (AppendBuf<S>, Values<'static>, u32),
    build: Build<AppendBuf<S>>,
) -> Result<usize, AppendError> {
    documents(&mut buf, &values, times, build).map(|()| buf.len())
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = growing, teardown = len_is::<DOCUMENT>)]
#[bench::n11000(args = (11_000), setup = growing, teardown = len_is::<DOCUMENT>)]
fn document_by_puts(work: (GrowBuf, Values<'static>, u32)) -> Result<usize, AppendError> {
    run(work, by_puts)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = growing, teardown = len_is::<DOCUMENT>)]
#[bench::n11000(args = (11_000), setup = growing, teardown = len_is::<DOCUMENT>)]
fn document_by_cursors(work: (GrowBuf, Values<'static>, u32)) -> Result<usize, AppendError> {
    run(work, by_cursors)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = growing, teardown = len_is::<DOCUMENT>)]
#[bench::n11000(args = (11_000), setup = growing, teardown = len_is::<DOCUMENT>)]
fn document_by_one_cursor(work: (GrowBuf, Values<'static>, u32)) -> Result<usize, AppendError> {
    run(work, by_one_cursor)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = in_place, teardown = len_is::<DOCUMENT>)]
#[bench::n11000(args = (11_000), setup = in_place, teardown = len_is::<DOCUMENT>)]
fn document_by_puts_in_place(
    (mut buf, values, times): (Box<AppendBuf<Array<ROOM>>>, Values<'static>, u32),
) -> Result<usize, AppendError> {
    documents(&mut *buf, &values, times, by_puts).map(|()| buf.len())
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = growing, teardown = len_is::<4_000>)]
#[bench::n11000(args = (11_000), setup = growing, teardown = len_is::<44_000>)]
fn put_u32((mut buf, _, times): (GrowBuf, Values<'static>, u32)) -> Result<usize, AppendError> {
    numbers(black_box(&mut buf), times).map(|()| buf.len())
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = log)]
#[bench::n11000(args = (11_000), setup = log)]
fn no_put(times: u32) -> u32 {
    numbers_loop_alone(times)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = log, teardown = records_are::<1_000>)]
#[bench::n11000(args = (11_000), setup = log, teardown = records_are::<11_000>)]
fn log_ordered(times: u32) -> Result<(), LogError> {
    ordered(black_box(&LOG), &BYTES, times)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = lease, teardown = records_are::<1_000>)]
#[bench::n11000(args = (11_000), setup = lease, teardown = records_are::<11_000>)]
fn log_leased((mut lease, times): (Lease<'static>, u32)) -> Result<(), LogError> {
    leased(black_box(&mut lease), &BYTES, times)
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = log)]
#[bench::n11000(args = (11_000), setup = log)]
fn no_record(times: u32) {
    records_loop_alone(&BYTES, times);
}

library_benchmark_group!(
    name = append;
    benchmarks = no_put, put_u32,
        document_by_puts, document_by_puts_in_place, document_by_cursors, document_by_one_cursor,
        no_record, log_ordered, log_leased
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"])).tool(Dhat::default());
    library_benchmark_groups = append
);
