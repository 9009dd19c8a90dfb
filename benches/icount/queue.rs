//! Tarantool's queue: put, take and acknowledge by 650 tasks on one thread, with and without a question for the mode before each; two sizes of
//! a batch, so that their difference is the cost of 6,500 operations.
//!
//! `none_` asks nobody, `gate_` our gate, `blocking_` our gate while a task waits for it, `level_` the original's state.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::hint::black_box;

use iai_callgrind::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton_benches::{
    originals::queue::{Machine, Tube},
    scenario::queue::{
        Mode, NoMode, Queue,
        tasks::{Watcher, all_confirm, all_fill},
    },
};

const CONSUMERS: u32 = 650;

trait Place: Mode + 'static {
    fn place() -> Self;
}

impl Place for NoMode {
    fn place() -> Self {
        Self
    }
}

impl Place for Machine {
    fn place() -> Self {
        Self::running()
    }
}

impl Place for Queue {
    fn place() -> Self {
        Self::running()
    }
}

type Work<M> = (&'static M, Tube, u32);

fn empty<M: Place>(batch: u32) -> Work<M> {
    let all = (CONSUMERS * batch) as usize;
    (Box::leak(Box::new(black_box(M::place()))), Tube::with_room(all, 1), black_box(batch))
}

fn full<M: Place>(batch: u32) -> Work<M> {
    let work = empty::<M>(batch);
    assert_eq!(all_fill(&NoMode, &work.1, Watcher::Nobody, CONSUMERS, batch), CONSUMERS * batch);
    work
}

fn is_full<M, const TASKS: usize>((_, tube, _): Work<M>) {
    assert_eq!(tube.counts(), (TASKS, 0), "each task is there");
}

fn is_empty<M>((_, tube, _): Work<M>) {
    assert_eq!(tube.counts(), (0, 0), "each task is done");
}

fn watcher_of_queue(queue: &Queue) -> Watcher<'_> {
    Watcher::Waiting(queue)
}

fn nobody<M>(_: &M) -> Watcher<'_> {
    Watcher::Nobody
}

macro_rules! halves {
    ($mode:ty, $watcher:path, $fill:ident, $confirm:ident) => {
        #[library_benchmark]
        #[bench::n10(args = (10), setup = empty::<$mode>, teardown = is_full::<$mode, 6_500>)]
        #[bench::n20(args = (20), setup = empty::<$mode>, teardown = is_full::<$mode, 13_000>)]
        fn $fill(work: Work<$mode>) -> Work<$mode> {
            all_fill(work.0, &work.1, $watcher(work.0), CONSUMERS, work.2);
            work
        }

        #[library_benchmark]
        #[bench::n10(args = (10), setup = full::<$mode>, teardown = is_empty::<$mode>)]
        #[bench::n20(args = (20), setup = full::<$mode>, teardown = is_empty::<$mode>)]
        fn $confirm(work: Work<$mode>) -> Work<$mode> {
            all_confirm(work.0, &work.1, $watcher(work.0), CONSUMERS, work.2);
            work
        }
    };
}

halves!(NoMode, nobody, none_fill, none_confirm);
halves!(Queue, nobody, gate_fill, gate_confirm);
halves!(Queue, watcher_of_queue, blocking_fill, blocking_confirm);
halves!(Machine, nobody, level_fill, level_confirm);

library_benchmark_group!(
    name = queue;
    benchmarks = none_fill, none_confirm, gate_fill, gate_confirm, blocking_fill, blocking_confirm, level_fill, level_confirm
);

main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"]));
    library_benchmark_groups = queue
);
