//! MongoDB's `BufBuilder` in three shapes, and ours: documents in three workloads.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, Dhat, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton::append::{AppendError, GrowBuf};
use jeton_benches::{
    originals::buf_builder::{BufBuilder, Checked, Split, Whole},
    scenario::append::{
        Build, Document, Values, by_cursors, by_puts, documents,
        workload::{new_documents, produced_documents},
    },
};

/// A buffer with the room of one document, and how many to build.
fn with_room<D: Document + Default>(times: u32) -> (D, Values<'static>, u32) {
    let (mut document, values) = (D::default(), Values::default());
    by_puts(&mut document, &values).expect("memory");
    (document, values, black_box(times))
}

fn values(times: u32) -> (Values<'static>, u32) {
    (Values::default(), black_box(times))
}

fn built<D>((_, built): (D, Result<(), AppendError>)) {
    assert_eq!(built, Ok(()));
}

fn all_built(built: Result<(), AppendError>) {
    assert_eq!(built, Ok(()));
}

/// The three workloads of a buffer.
macro_rules! workloads {
    ($kind:ty, $build:ident: $appends:ident, $new:ident, $produced:ident) => {
        #[library_benchmark]
        #[bench::n100(args = (100), setup = with_room::<$kind>, teardown = built::<$kind>)]
        #[bench::n1100(args = (1_100), setup = with_room::<$kind>, teardown = built::<$kind>)]
        fn $appends((mut document, values, times): ($kind, Values<'static>, u32)) -> ($kind, Result<(), AppendError>) {
            let built = documents(&mut document, &values, times, $build as Build<$kind>);
            (document, built)
        }
        #[library_benchmark]
        #[bench::n100(args = (100), setup = values, teardown = all_built)]
        #[bench::n1100(args = (1_100), setup = values, teardown = all_built)]
        fn $new((values, times): (Values<'static>, u32)) -> Result<(), AppendError> {
            new_documents(<$kind>::default, &values, times, $build as Build<$kind>)
        }
        #[library_benchmark]
        #[bench::n100(args = (100), setup = values, teardown = all_built)]
        #[bench::n1100(args = (1_100), setup = values, teardown = all_built)]
        fn $produced((values, times): (Values<'static>, u32)) -> Result<(), AppendError> {
            produced_documents(<$kind>::default, &values, times, $build as Build<$kind>)
        }
    };
}

workloads!(BufBuilder<Whole>, by_puts: whole_appends, whole_new, whole_produced);
workloads!(BufBuilder<Checked>, by_puts: checked_appends, checked_new, checked_produced);
workloads!(BufBuilder<Split>, by_puts: split_appends, split_new, split_produced);
workloads!(GrowBuf, by_puts: puts_appends, puts_new, puts_produced);
workloads!(GrowBuf, by_cursors: cursors_appends, cursors_new, cursors_produced);

library_benchmark_group!(
    name = exact;
    benchmarks = whole_appends, checked_appends, split_appends, puts_appends, cursors_appends
);
// Here the C library's allocation is part of the counts: the baseline allows for it where blocks are counted.
library_benchmark_group!(
    name = allocating;
    config = LibraryBenchmarkConfig::default().tool(Dhat::default());
    benchmarks = whole_new, checked_new, split_new, puts_new, cursors_new,
        whole_produced, checked_produced, split_produced, puts_produced, cursors_produced
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"]));
    library_benchmark_groups = exact, allocating
);
