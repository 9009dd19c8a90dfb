//! The benchmarks of MongoDB by the clock, and two threads that meet on what is never canceled.

use std::{
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use jeton_core::sync::{AtomicU32, Ordering};

use super::{
    After, Arena, Attaches, Before, Cancel, Chain, Heap, Hierarchy, InPlace, NOBODY, Wide, cancel_and_drop, check, child, empty,
    source, token, uncancelable, with_callbacks,
};

/// A median: a moment in which something else had the processor does not decide. The original shows means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Nanoseconds of an iteration.
    pub ns: f64,
    /// How many there were.
    pub iterations: u64,
}

impl Timing {
    /// Of parts that each have so many iterations, at least one part.
    fn of(mut parts: Vec<Duration>, iterations: u32) -> Self {
        parts.sort_unstable();
        let median = parts.get(parts.len() / 2).copied().unwrap_or_default();
        Self { ns: median.as_nanos() as f64 / f64::from(iterations), iterations: parts.len() as u64 * u64::from(iterations) }
    }
}

/// The kinds of cancellation that [`run`] knows.
pub const KINDS: [&str; 4] = ["before", "after", "core", "std"];

/// Runs the benchmark `name`, such as `BM_cancel_tokens_from_single_source/1000`, until what it times has taken `at_least` that long; `None`
/// if there is no such benchmark, or that kind cannot run it.
///
/// Ours of the core: `token`, `uncancelable` and `check` are of a source in place, everything else of a tree that has just as many nodes as it needs;
/// of 1,000 nodes where one is born and ends, and of one for each 32 callbacks.
pub fn run(kind: &str, name: &str, at_least: Duration) -> Option<Timing> {
    let (bench, size) = match name.split_once('/') {
        Some((bench, size)) => (bench, size.parse().ok()?),
        None => (name, 0),
    };
    match kind {
        "before" => run_on_heap(Before, bench, size, at_least),
        "after" => run_on_heap(After, bench, size, at_least),
        "core" => run_core(bench, size, at_least),
        "std" => run_on_heap(Heap, bench, size, at_least),
        _ => None,
    }
}

fn run_on_heap<C: Hierarchy + Attaches>(kind: C, bench: &str, size: u32, at_least: Duration) -> Option<Timing> {
    match (bench, size) {
        (TOKEN, 0) => Some(time_token(kind, at_least)),
        (UNCANCELABLE, 0) => Some(time_loop(at_least, uncancelable::<C>)),
        (CALLBACKS, 1..) => Some(time_callbacks(kind, size, at_least)),
        (CHECK, 0) => Some(time_check(kind, at_least)),
        (CHILD, 0) => Some(time_child(kind, at_least)),
        (SOURCE, 0) => Some(time_loop(at_least, |calls| source(kind, calls))),
        (DEPTH, 1..) => Some(time_chain(kind, size, at_least)),
        _ => None,
    }
}

const TOKEN: &str = "BM_create_single_token_from_source";
const UNCANCELABLE: &str = "BM_uncancelable_token_ctor";
const CALLBACKS: &str = "BM_cancel_tokens_from_single_source";
const CHECK: &str = "BM_check_if_token_from_source_canceled";
const CHILD: &str = "BM_cancelation_source_from_token_ctor";
const SOURCE: &str = "BM_cancelation_source_default_ctor";
const DEPTH: &str = "BM_ranged_depth_cancelation_hierarchy";

/// A tree of its own in .bss; the nodes of each iteration are free again after it.
macro_rules! in_a_static {
    ($kind:ident<$nodes:literal>, $slots:literal) => {{
        static TREE: jeton_core::cancel::Tree<$nodes, $slots> = jeton_core::cancel::Tree::new();
        $kind(&TREE)
    }};
}

fn run_core(bench: &str, size: u32, at_least: Duration) -> Option<Timing> {
    match (bench, size) {
        (TOKEN, 0) => Some(time_token(InPlace, at_least)),
        (UNCANCELABLE, 0) => Some(time_loop(at_least, uncancelable::<InPlace>)),
        (CHECK, 0) => Some(time_check(InPlace, at_least)),
        (CHILD, 0) => Some(time_child(in_a_static!(Arena<1000>, 1), at_least)),
        (SOURCE, 0) => {
            let arena = in_a_static!(Arena<1000>, 1);
            Some(time_loop(at_least, |calls| source(arena, calls)))
        }
        (CALLBACKS, 1 | 10) => Some(time_callbacks(in_a_static!(Wide<1>, 32), size, at_least)),
        (CALLBACKS, 100) => Some(time_callbacks(in_a_static!(Wide<4>, 32), size, at_least)),
        (CALLBACKS, 1_000) => Some(time_callbacks(in_a_static!(Wide<32>, 32), size, at_least)),
        (CALLBACKS, 10_000) => Some(time_callbacks(in_a_static!(Wide<313>, 32), size, at_least)),
        (CALLBACKS, 100_000) => Some(time_callbacks(in_a_static!(Wide<3_125>, 32), size, at_least)),
        (CALLBACKS, 1_000_000) => Some(time_callbacks(in_a_static!(Wide<31_250>, 32), size, at_least)),
        (DEPTH, 1) => Some(time_chain(in_a_static!(Arena<2>, 1), size, at_least)),
        (DEPTH, 10) => Some(time_chain(in_a_static!(Arena<11>, 1), size, at_least)),
        (DEPTH, 100) => Some(time_chain(in_a_static!(Arena<101>, 1), size, at_least)),
        (DEPTH, 1_000) => Some(time_chain(in_a_static!(Arena<1_001>, 1), size, at_least)),
        (DEPTH, 10_000) => Some(time_chain(in_a_static!(Arena<10_001>, 1), size, at_least)),
        _ => None,
    }
}

fn time_token<C: Cancel>(kind: C, at_least: Duration) -> Timing {
    let source = kind.source();
    time_loop(at_least, |calls| token::<C>(&source, calls))
}

fn time_check<C: Cancel>(kind: C, at_least: Duration) -> Timing {
    let source = kind.source();
    let token = C::token(&source);
    time_loop(at_least, |calls| check::<C>(&token, calls))
}

/// So many children a parent: a child of MongoDB leaves something in its parent for good.
const CHILDREN: u32 = 100_000;

fn time_child<C: Hierarchy>(kind: C, at_least: Duration) -> Timing {
    let region = |parent: C::Source| {
        child::<C>(&parent, CHILDREN);
        parent
    };
    let all = time_regions(at_least, || kind.source(), region);
    Timing { ns: all.ns / f64::from(CHILDREN), iterations: all.iterations * u64::from(CHILDREN) }
}

fn time_callbacks<C: Attaches>(kind: C, callbacks: u32, at_least: Duration) -> Timing {
    time_regions(at_least, || with_callbacks(kind, callbacks, empty, &NOBODY), cancel_and_drop::<C>)
}

fn time_chain<C: Hierarchy + Attaches>(kind: C, levels: u32, at_least: Duration) -> Timing {
    time_regions(at_least, || Chain::new(kind, levels, empty, &NOBODY), Chain::cancel_and_drop::<C>)
}

/// A loop in 21 parts, of as many calls each as take long enough.
pub fn time_loop(at_least: Duration, mut of_calls: impl FnMut(u32)) -> Timing {
    let mut part = |calls| {
        let start = Instant::now();
        of_calls(calls);
        start.elapsed()
    };
    let mut calls = 1000;
    while part(calls) < at_least / PARTS && calls < u32::MAX / 2 {
        calls *= 2;
    }
    Timing::of((0..PARTS).map(|_| part(calls)).collect(), calls)
}

const PARTS: u32 = 21;

/// Regions with something to prepare before each, and something that comes out and is dropped after it. Each costs two looks at the clock
/// ([`time_nothing`]), as the original stops and starts its clock; the first one is not counted.
pub fn time_regions<S, R>(at_least: Duration, mut prepare: impl FnMut() -> S, mut region: impl FnMut(S) -> R) -> Timing {
    drop(region(prepare()));
    let (mut time, mut regions) = (Duration::ZERO, Vec::new());
    let began = Instant::now();
    // What takes much longer to be prepared than to be run is stopped by the preparation.
    while regions.is_empty() || (time < at_least && began.elapsed() < at_least * 20) {
        let prepared = prepare();
        let start = Instant::now();
        let out = region(prepared);
        let took = start.elapsed();
        drop(out);
        time += took;
        regions.push(took);
    }
    Timing::of(regions, 1)
}

/// A region with nothing in it.
pub fn time_nothing(at_least: Duration) -> Timing {
    time_regions(at_least, || (), |()| ())
}

/// What threads do at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// Each of so many threads makes tokens that are never canceled, and drops them.
    Uncancelable(u32),
    /// One thread checks a token that is never canceled.
    CheckAlone,
    /// One thread checks such a token while another one makes and drops others.
    CheckBeside,
}

/// The time of a call of each thread: of the first one only, where the second one is there to be in its way. Each works for `time`.
///
/// Of what a thread did, only those parts count in which every other one did something too, and in which it did not lose its processor: on a busy
/// machine threads do not always run at the same time, and do not meet then. `None` if what counts is less than a tenth of the time.
pub fn together<C: Cancel>(what: Together, time: Duration) -> Option<Vec<Timing>> {
    match what {
        Together::Uncancelable(threads) => on_threads(threads, |here| here.work(time, uncancelable::<C>)).into_iter().collect(),
        Together::CheckAlone => on_threads(1, |here| here.check::<C>(time)).into_iter().collect(),
        Together::CheckBeside => {
            let over = AtomicU32::new(0);
            let both = on_threads(2, |here| {
                if here.number == 1 {
                    while over.load(Ordering::Relaxed) == 0 {
                        uncancelable::<C>(FEW);
                        here.done();
                    }
                    return None;
                }
                let timing = here.check::<C>(time);
                over.store(1, Ordering::Relaxed);
                timing
            });
            both.into_iter().next().flatten().map(|checks| vec![checks])
        }
    }
}

/// As [`together`], by the name of a kind; `None` also if there is no such kind.
pub fn run_together(kind: &str, what: Together, time: Duration) -> Option<Vec<Timing>> {
    match kind {
        "before" => together::<Before>(what, time),
        "after" => together::<After>(what, time),
        "core" => together::<InPlace>(what, time),
        "std" => together::<Heap>(what, time),
        _ => None,
    }
}

/// A part takes at least so long: long enough to see another thread move, far less than the system leaves a thread its processor.
const PART: Duration = Duration::from_micros(50);
/// A part that takes longer has lost its processor to another thread.
const LOST: Duration = Duration::from_millis(1);
/// Calls by which a thread that is in the way moves.
const FEW: u32 = 256;

/// How many parts a thread has done: on a line pair of its own, so that threads meet in what is measured and not here.
#[repr(align(128))]
struct Done(AtomicU32);

/// One thread among those that work together.
struct Here<'a> {
    number: usize,
    all: &'a [Done],
}

impl Here<'_> {
    fn done(&self) {
        self.all[self.number].0.fetch_add(1, Ordering::Relaxed);
    }

    fn look(&self, seen: &mut [u32]) -> bool {
        let mut all_moved = true;
        for (number, (done, seen)) in self.all.iter().zip(seen).enumerate() {
            let now = done.0.load(Ordering::Relaxed);
            all_moved &= number == self.number || now != *seen;
            *seen = now;
        }
        all_moved
    }

    fn check<C: Cancel>(&self, time: Duration) -> Option<Timing> {
        let token = C::uncancelable();
        self.work(time, |calls| check::<C>(&token, calls))
    }

    fn work(&self, time: Duration, mut of_calls: impl FnMut(u32)) -> Option<Timing> {
        let mut part = |calls| {
            let start = Instant::now();
            of_calls(calls);
            let took = start.elapsed();
            self.done();
            took
        };
        let mut calls = FEW;
        while part(calls) < PART {
            calls *= 2;
        }
        let (mut seen, mut together, mut iterations) = (vec![0; self.all.len()], Vec::new(), 0);
        let (mut all_parts, mut those_together) = (Duration::ZERO, Duration::ZERO);
        self.look(&mut seen);
        let began = Instant::now();
        while began.elapsed() < time {
            let (took, of) = (part(calls), calls);
            let all_moved = self.look(&mut seen);
            // A call may take hundreds of times as long while the other thread is there: a part stays as long as it should be.
            if took < PART {
                calls = calls.saturating_mul(2);
            } else if took > 4 * PART {
                calls = (calls / 2).max(FEW);
            }
            if took < PART / 2 || took > LOST {
                continue;
            }
            all_parts += took;
            if all_moved {
                together.push(took.as_nanos() as f64 / f64::from(of));
                iterations += u64::from(of);
                those_together += took;
            }
        }
        together.sort_unstable_by(f64::total_cmp);
        let ns = *together.get(together.len() / 2)?;
        // By the time and not by the number of parts, some of which are longer.
        (those_together * 10 > all_parts).then_some(Timing { ns, iterations })
    }
}

fn on_threads<R: Send>(threads: u32, each: impl Fn(Here<'_>) -> R + Sync) -> Vec<R> {
    let all: Vec<Done> = (0..threads).map(|_| Done(AtomicU32::new(0))).collect();
    let start = Barrier::new(all.len());
    thread::scope(|scope| {
        let (all, each, start) = (&*all, &each, &start);
        let spawn = |number| {
            scope.spawn(move || {
                start.wait();
                each(Here { number, all })
            })
        };
        let threads: Vec<_> = (0..all.len()).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(50);

    #[test]
    fn every_benchmark_of_every_kind_is_timed() {
        for kind in KINDS {
            for name in [
                TOKEN.to_owned(),
                UNCANCELABLE.to_owned(),
                format!("{CALLBACKS}/1"),
                format!("{CALLBACKS}/10000"),
                CHECK.to_owned(),
                CHILD.to_owned(),
                SOURCE.to_owned(),
                format!("{DEPTH}/1"),
                format!("{DEPTH}/1000"),
            ] {
                let timing = run(kind, &name, SHORT).unwrap_or_else(|| panic!("{kind} {name}"));
                assert!(timing.ns > 0.0 && timing.iterations > 0, "{kind} {name}");
            }
        }
    }

    #[test]
    fn what_is_unknown_is_not_timed() {
        for (kind, name) in [
            ("before", "BM"),
            ("before", "BM_cancel_tokens_from_single_source"),
            ("before", "BM_cancel_tokens_from_single_source/0"),
            ("before", "BM_cancel_tokens_from_single_source/x"),
            ("before", "BM_uncancelable_token_ctor/7"),
            ("core", "BM_ranged_depth_cancelation_hierarchy/100000"),
            ("other", TOKEN),
        ] {
            assert_eq!(run(kind, name, SHORT), None, "{kind} {name}");
        }
    }

    #[test]
    fn threads_are_timed_each_by_itself() {
        for kind in KINDS {
            // It may lose its processor.
            let alone = (0..20).find_map(|_| run_together(kind, Together::CheckAlone, SHORT));
            assert_eq!(alone.map(|timings| timings.len()), Some(1));
            for (what, threads) in [(Together::Uncancelable(2), 2), (Together::CheckBeside, 1)] {
                // On a machine that is busy, or has one processor, they may not meet.
                for timings in (0..20).filter_map(|_| run_together(kind, what, 40 * SHORT)) {
                    assert_eq!(timings.len(), threads);
                    assert!(timings.iter().all(|timing| timing.ns > 0.0 && timing.iterations >= u64::from(FEW)));
                }
            }
        }
        assert_eq!(run_together("other", Together::CheckAlone, SHORT), None);
    }

    #[test]
    fn parts_in_which_another_thread_does_nothing_do_not_count() {
        let timings = on_threads(2, |here| (here.number == 0).then(|| here.work(SHORT, |_| thread::sleep(PART))));
        assert_eq!(timings, [Some(None), None]);
    }

    #[test]
    fn a_region_is_timed_without_its_preparation() {
        let slow = || thread::sleep(Duration::from_millis(3));
        let timing = time_regions(Duration::from_millis(1), slow, |()| ());
        assert!(timing.ns < 1e6, "{timing:?}");
        assert!(timing.iterations >= 1);
    }
}
