//! Cancellation: small operations, two numbers of them, so that their difference is the cost of one; and the cancel of many as a whole.
//!
//! `before_` and `after_` are MongoDB's; `core_` is a source where it stands, `tree_` a tree of the core, `std_` the std extension. `nothing_loop` is the loop of the small
//! operations, `nothing_region` what a bench costs that calls nothing.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]

use core::{hint::black_box, task::Waker};

use iai_callgrind::{Callgrind, Dhat, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton_benches::scenario::cancel::{
    After, Arena, Attaches, Before, Calls, Cancel, Chain, Heap, HeapBoxed, Hierarchy, InPlace, Middle, Waiting, Waits, Wide,
    cancel, cancel_and_drop, check, child, child_directly, clone, count, nothing, poll_again, register, siblings, source, token,
    uncancelable, with_callbacks,
};
use jeton_core::cancel::Tree;

/// Where a kind's sources come from in this process, which runs one bench.
trait Place: Cancel<Source: 'static> + 'static {
    fn place() -> Self;
}

macro_rules! place {
    ($($kind:ty = $place:expr;)+) => {$(
        impl Place for $kind {
            fn place() -> Self {
                $place
            }
        }
    )+};
}

macro_rules! place_in_a_static {
    ($($kind:ident<$nodes:literal>, $slots:literal;)+) => {$(
        impl Place for $kind<$nodes> {
            fn place() -> Self {
                static TREE: Tree<$nodes, $slots> = Tree::new();
                Self(&TREE)
            }
        }
    )+};
}

place! { Before = Before; After = After; InPlace = InPlace; Heap = Heap; HeapBoxed = HeapBoxed; }
place_in_a_static! {
    Arena<100>, 1;
    Arena<1_001>, 1;
    Arena<32_000>, 1;
    Wide<32>, 32;
}

fn alone<C: Place>(calls: u32) -> (C, u32) {
    (C::place(), black_box(calls))
}

/// A source that lives on.
fn with_source<C: Place>(calls: u32) -> (&'static C::Source, u32) {
    (Box::leak(Box::new(C::place().source())), black_box(calls))
}

/// Children that live on, and who they are.
type Family<C> = (&'static <C as Cancel>::Source, &'static [<C as Cancel>::Source]);

fn with_siblings<C: Place + Hierarchy>(calls: u32, others: u32) -> (Family<C>, u32) {
    let (parent, calls) = with_source::<C>(calls);
    ((parent, siblings::<C>(parent, others).leak()), calls)
}

static CALLS: Calls = Calls::new();

fn callbacks<C: Place + Attaches>(callbacks: u32) -> C::Source {
    with_callbacks(C::place(), callbacks, count, &CALLS)
}

fn chain<C: Place + Hierarchy + Attaches>(levels: u32) -> Chain<C::Source> {
    Chain::new(C::place(), levels, count, &CALLS)
}

fn waiting<C: Place + Hierarchy + Waits>(children: u32) -> Waiting<C> {
    Waiting::new(C::place(), children, Waker::noop())
}

fn middle<C: Place + Hierarchy>(children: u32) -> Middle<C::Source> {
    Middle::new(C::place(), children)
}

fn called<S, const TIMES: u32>(_: S) {
    assert_eq!(CALLS.get(), TIMES, "each callback once");
}

fn are_over<C: Hierarchy + Waits>(mut waiting: Waiting<C>)
where
    C::Source: 'static,
{
    assert!(waiting.are_over(), "every wait");
}

fn alive<C: Cancel>(family: Family<C>) {
    assert!(family.1.iter().all(|other| !C::is_canceled(&C::token(other))), "nobody has canceled");
}

#[library_benchmark]
#[bench::n1000(args = (1_000), setup = black_box)]
#[bench::n11000(args = (11_000), setup = black_box)]
fn nothing_loop(calls: u32) {
    nothing(calls);
}

#[library_benchmark]
#[bench::once(args = (1_000), setup = with_source::<InPlace>)]
fn nothing_region(work: (&'static <InPlace as Cancel>::Source, u32)) -> (&'static <InPlace as Cancel>::Source, u32) {
    black_box(work)
}

macro_rules! tokens {
    ($kind:ty, $uncancelable:ident, $token:ident, $check:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = black_box)]
        #[bench::n11000(args = (11_000), setup = black_box)]
        fn $uncancelable(calls: u32) {
            uncancelable::<$kind>(calls);
        }

        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $token((source, calls): (&'static <$kind as Cancel>::Source, u32)) {
            token::<$kind>(source, calls);
        }

        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $check((source, calls): (&'static <$kind as Cancel>::Source, u32)) {
            let token = <$kind>::token(source);
            check::<$kind>(black_box(&token), calls);
        }
    };
}

macro_rules! clones {
    ($kind:ty, $clone:ident, $clone_uncancelable:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $clone((source, calls): (&'static <$kind as Cancel>::Source, u32)) {
            let token = <$kind>::token(source);
            clone::<$kind>(black_box(&token), calls);
        }

        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = black_box)]
        #[bench::n11000(args = (11_000), setup = black_box)]
        fn $clone_uncancelable(calls: u32) {
            let token = <$kind>::uncancelable();
            clone::<$kind>(black_box(&token), calls);
        }
    };
}

macro_rules! sources {
    ($kind:ty, $source:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = alone::<$kind>)]
        #[bench::n11000(args = (11_000), setup = alone::<$kind>)]
        fn $source((kind, calls): ($kind, u32)) {
            source(black_box(kind), calls);
        }
    };
}

macro_rules! children {
    ($kind:ty, $child:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $child((parent, calls): (&'static <$kind as Cancel>::Source, u32)) {
            child::<$kind>(black_box(parent), calls);
        }
    };
    ($kind:ty, $child:ident directly) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $child((parent, calls): (&'static <$kind as Cancel>::Source, u32)) {
            child_directly::<$kind>(black_box(parent), calls);
        }
    };
    ($kind:ty, $child_beside:ident beside $others:literal) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000, $others), setup = with_siblings::<$kind>, teardown = alive::<$kind>)]
        #[bench::n11000(args = (11_000, $others), setup = with_siblings::<$kind>, teardown = alive::<$kind>)]
        fn $child_beside((family, calls): (Family<$kind>, u32)) -> Family<$kind> {
            child::<$kind>(black_box(family.0), calls);
            family
        }
    };
    ($kind:ty, $child_beside:ident directly beside $others:literal) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000, $others), setup = with_siblings::<$kind>, teardown = alive::<$kind>)]
        #[bench::n11000(args = (11_000, $others), setup = with_siblings::<$kind>, teardown = alive::<$kind>)]
        fn $child_beside((family, calls): (Family<$kind>, u32)) -> Family<$kind> {
            child_directly::<$kind>(black_box(family.0), calls);
            family
        }
    };
    ($kind:ty, $middle:ident, $few:ident = $few_children:literal, $many:ident = $many_children:literal) => {
        #[library_benchmark]
        #[bench::$few(args = ($few_children), setup = middle::<$kind>)]
        #[bench::$many(args = ($many_children), setup = middle::<$kind>)]
        fn $middle(middle: Middle<<$kind as Cancel>::Source>) -> Middle<<$kind as Cancel>::Source> {
            middle.drop_middle()
        }
    };
}

/// The cancel alone, and with the end of the source, which is what the original times.
macro_rules! callbacks {
    ($kind:ty, $cancel:ident, $cancel_and_drop:ident) => {
        #[library_benchmark]
        #[bench::n100(args = (100), setup = callbacks::<$kind>, teardown = called::<_, 100>)]
        #[bench::n1000(args = (1_000), setup = callbacks::<$kind>, teardown = called::<_, 1_000>)]
        fn $cancel(source: <$kind as Cancel>::Source) -> <$kind as Cancel>::Source {
            cancel::<$kind>(source)
        }

        #[library_benchmark]
        #[bench::n100(args = (100), setup = callbacks::<$kind>, teardown = called::<_, 100>)]
        #[bench::n1000(args = (1_000), setup = callbacks::<$kind>, teardown = called::<_, 1_000>)]
        fn $cancel_and_drop(source: <$kind as Cancel>::Source) {
            cancel_and_drop::<$kind>(source);
        }
    };
}

macro_rules! levels {
    ($kind:ty, $cancel:ident, $cancel_and_drop:ident) => {
        #[library_benchmark]
        #[bench::n100(args = (100), setup = chain::<$kind>, teardown = called::<_, 100>)]
        #[bench::n1000(args = (1_000), setup = chain::<$kind>, teardown = called::<_, 1_000>)]
        fn $cancel(chain: Chain<<$kind as Cancel>::Source>) -> Chain<<$kind as Cancel>::Source> {
            chain.cancel::<$kind>()
        }

        #[library_benchmark]
        #[bench::n100(args = (100), setup = chain::<$kind>, teardown = called::<_, 100>)]
        #[bench::n1000(args = (1_000), setup = chain::<$kind>, teardown = called::<_, 1_000>)]
        fn $cancel_and_drop(chain: Chain<<$kind as Cancel>::Source>) {
            chain.cancel_and_drop::<$kind>();
        }
    };
}

macro_rules! registers {
    ($kind:ty, $register:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $register((source, calls): (&'static <$kind as Cancel>::Source, u32)) {
            let token = <$kind>::token(source);
            register::<$kind>(black_box(&token), calls);
        }
    };
}

macro_rules! waits {
    ($kind:ty, $poll_again:ident) => {
        #[library_benchmark]
        #[bench::n1000(args = (1_000), setup = with_source::<$kind>)]
        #[bench::n11000(args = (11_000), setup = with_source::<$kind>)]
        fn $poll_again((source, calls): (&'static <$kind as Cancel>::Source, u32)) {
            let mut wait = <$kind>::wait(&<$kind>::token(source));
            poll_again(black_box(&mut wait), calls);
        }
    };
    ($kind:ty, children $waiting:ident) => {
        #[library_benchmark]
        #[bench::n100(args = (100), setup = waiting::<$kind>, teardown = are_over::<$kind>)]
        #[bench::n1000(args = (1_000), setup = waiting::<$kind>, teardown = are_over::<$kind>)]
        fn $waiting(waiting: Waiting<$kind>) -> Waiting<$kind> {
            waiting.cancel()
        }
    };
}

tokens!(Before, before_uncancelable, before_token, before_check);
sources!(Before, before_source);
children!(Before, before_child);
children!(Before, before_middle, children10 = 10, children1000 = 1_000);
callbacks!(Before, before_callbacks, before_callbacks_and_drop);
levels!(Before, before_levels, before_levels_and_drop);
tokens!(After, after_uncancelable, after_token, after_check);
sources!(After, after_source);
tokens!(InPlace, core_uncancelable, core_token, core_check);
sources!(InPlace, core_source);
registers!(InPlace, core_register);
waits!(InPlace, core_poll_again);
callbacks!(Wide<32>, core_callbacks, core_callbacks_and_drop);
sources!(Arena<100>, tree_source);
children!(Arena<32_000>, tree_child);
children!(Arena<32_000>, tree_child_beside beside 30_000);
children!(Arena<32_000>, tree_middle, children10 = 10, children30000 = 30_000);
waits!(Arena<1_001>, children tree_waiting);
levels!(Arena<1_001>, tree_levels, tree_levels_and_drop);
tokens!(Heap, std_uncancelable, std_token, std_check);
clones!(Heap, std_clone, std_clone_uncancelable);
sources!(Heap, std_source);
children!(Heap, std_child);
children!(Heap, std_child_directly directly);
children!(Heap, std_child_beside beside 100_000);
children!(Heap, std_child_beside_directly directly beside 100_000);
children!(Heap, std_middle, children10 = 10, children100000 = 100_000);
registers!(Heap, std_register);
registers!(HeapBoxed, std_register_boxed);
waits!(Heap, std_poll_again);
waits!(Heap, children std_waiting);
callbacks!(Heap, std_callbacks, std_callbacks_and_drop);
levels!(Heap, std_levels, std_levels_and_drop);

library_benchmark_group!(
    name = exact;
    benchmarks = nothing_loop, nothing_region,
        before_token, before_check, after_uncancelable, after_token, after_check,
        core_uncancelable, core_token, core_check, core_source, core_register, core_poll_again, core_callbacks,
        tree_source, tree_child, tree_child_beside, tree_middle, tree_waiting, tree_levels
);
// Here the C library's allocation is part of the counts: the baseline allows for it where blocks are counted.
library_benchmark_group!(
    name = allocating;
    config = LibraryBenchmarkConfig::default().tool(Dhat::default());
    benchmarks = before_uncancelable, before_source, before_child, before_middle,
        before_callbacks, before_callbacks_and_drop, before_levels, before_levels_and_drop, after_source,
        core_callbacks_and_drop, tree_levels_and_drop,
        std_uncancelable, std_token, std_check, std_clone, std_clone_uncancelable, std_source, std_child, std_child_directly, std_child_beside, std_child_beside_directly,
        std_middle,
        std_register, std_register_boxed, std_poll_again, std_waiting,
        std_callbacks, std_callbacks_and_drop, std_levels, std_levels_and_drop
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"]));
    library_benchmark_groups = exact, allocating
);
