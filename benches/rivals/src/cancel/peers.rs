//! The contenders of each group: ours and MongoDB's through the scenario, peers as their documentation calls them.

use std::{
    pin::{Pin, pin},
    sync::OnceLock,
    task::{Context, Waker},
};

use ::cancellation::{CancellationToken as OldToken, CancellationTokenSource};
use futures_util::future::AbortHandle;
use jeton_benches::scenario::cancel::{
    self as scenario, After, Arena, Before, Cancel, Heap, HeapBoxed, Hierarchy, InPlace, Registers, Waits, Wide,
};
use stop_token::StopSource;

use super::{
    CORE, STD, TOKIO,
    bulk::{self, MANY, Place, bulk},
    kinds::{TokioUtil, tree},
    small::{each, run, small},
};
use crate::{contender::Entry, window::Pace};

macro_rules! entry {
    ($name:expr, $make:expr) => {
        entry!($name, 2, $make)
    };
    ($name:expr, $threads:expr, $make:expr) => {
        Entry { name: $name, most_threads: $threads, make: $make }
    };
}
const NOTHING: Entry = entry!("nothing (loop and black_box)", || small((), |(), pace, done| run(pace, done, scenario::nothing)));
const CLOCKS: &str = "nothing (the clocks)";
const STOP_TOKEN: &str = "stop-token 0.7";
const CANCELLATION: &str = "cancellation 0.1";
const FUTURES: &str = "futures 0.3 AbortHandle";
const BEFORE: &str = "MongoDB, a fresh state each";
const AFTER: &str = "MongoDB, one static state";

/// Few in the tests.
const SIBLINGS: u32 = if cfg!(test) { 1_000 } else { 100_000 };

fn aborts() -> AbortHandle {
    AbortHandle::new_pair().0
}

pub(super) const UNCANCELABLE: &[Entry] = &[
    NOTHING,
    entry!(STD, || small((), |(), pace, done| run(pace, done, scenario::uncancelable::<Heap>))),
    entry!(CORE, || small((), |(), pace, done| run(pace, done, scenario::uncancelable::<InPlace>))),
    entry!(TOKIO, || small((), |(), pace, done| run(pace, done, scenario::uncancelable::<TokioUtil>))),
    entry!(CANCELLATION, || small((), |(), pace, done| each(pace, done, OldToken::none))),
    entry!(BEFORE, || small((), |(), pace, done| run(pace, done, scenario::uncancelable::<Before>))),
    entry!(AFTER, || small((), |(), pace, done| run(pace, done, scenario::uncancelable::<After>))),
];

pub(super) const TOKEN: &[Entry] = &[
    NOTHING,
    entry!(STD, || small(Heap.source(), token::<Heap>)),
    entry!(CORE, || small(InPlace.source(), token::<InPlace>)),
    entry!(TOKIO, || small(TokioUtil.source(), token::<TokioUtil>)),
    entry!(STOP_TOKEN, || small(StopSource::new(), |source, pace, done| each(pace, done, || source.token()))),
    entry!(CANCELLATION, || small(CancellationTokenSource::new(), |source, pace, done| each(pace, done, || source
        .token()
        .clone()))),
    entry!(FUTURES, || small(aborts(), |source, pace, done| each(pace, done, || source.clone()))),
    entry!(AFTER, || small(After.source(), token::<After>)),
];

pub(super) const CLONE: &[Entry] = &[
    NOTHING,
    entry!(STD, || small(Heap.source(), clone::<Heap>)),
    entry!(CORE, || small(InPlace.source(), clone::<InPlace>)),
    entry!(TOKIO, || small(TokioUtil.source(), clone::<TokioUtil>)),
    entry!(STOP_TOKEN, || small(StopSource::new(), |source, pace, done| {
        let token = source.token();
        each(pace, done, || token.clone());
    })),
    entry!(CANCELLATION, || small(CancellationTokenSource::new(), |source, pace, done| {
        let token = source.token().clone();
        each(pace, done, || token.clone());
    })),
    entry!(FUTURES, || small(aborts(), |handle, pace, done| each(pace, done, || handle.clone()))),
    entry!(AFTER, || small(After.source(), clone::<After>)),
];

pub(super) const CHECK: &[Entry] = &[
    NOTHING,
    entry!(STD, || small(Heap.source(), check::<Heap>)),
    entry!(CORE, || small(InPlace.source(), check::<InPlace>)),
    entry!(TOKIO, || small(TokioUtil.source(), check::<TokioUtil>)),
    entry!(CANCELLATION, || small(CancellationTokenSource::new(), |source, pace, done| {
        let token = source.token().clone();
        each(pace, done, || token.is_canceled());
    })),
    entry!(FUTURES, || small(aborts(), |token, pace, done| each(pace, done, || token.is_aborted()))),
    entry!(AFTER, || small(After.source(), check::<After>)),
];

pub(super) const SOURCE: &[Entry] = &[
    NOTHING,
    entry!(STD, || small((), |(), pace, done| run(pace, done, |calls| scenario::source(Heap, calls)))),
    entry!(CORE, || small(tree!(Arena<64>, 1), |tree, pace, done| run(pace, done, |calls| scenario::source(*tree, calls)))),
    entry!(TOKIO, || small((), |(), pace, done| run(pace, done, |calls| scenario::source(TokioUtil, calls)))),
    entry!(STOP_TOKEN, || small((), |(), pace, done| each(pace, done, StopSource::new))),
    entry!(CANCELLATION, || small((), |(), pace, done| each(pace, done, CancellationTokenSource::new))),
    entry!(FUTURES, || small((), |(), pace, done| each(pace, done, AbortHandle::new_pair))),
    entry!(BEFORE, || small((), |(), pace, done| run(pace, done, |calls| scenario::source(Before, calls)))),
];

/// MongoDB's children stay in their parent's list, which grows until the window is over.
pub(super) const CHILD: &[Entry] = &[
    NOTHING,
    entry!(STD, || small(Heap.source(), child::<Heap>)),
    entry!(CORE, || small(tree!(Arena<64>, 1).source(), child::<Arena<64>>)),
    entry!(TOKIO, || small(TokioUtil.source(), child::<TokioUtil>)),
    entry!(BEFORE, || small(Before.source(), child::<Before>)),
];

/// A child beside siblings that live on: the first window makes them.
macro_rules! beside {
    ($kind:ty, $make:expr, $siblings:expr) => {
        || {
            static FAMILY: OnceLock<Family<<$kind as Cancel>::Source>> = OnceLock::new();
            let family = FAMILY.get_or_init(|| family::<$kind>($make, $siblings));
            small(family, |(parent, _), pace, done| child::<$kind>(parent, pace, done))
        }
    };
}

/// A parent and its children.
type Family<S> = (S, Vec<S>);

fn family<C: Hierarchy>(kind: C, siblings: u32) -> Family<C::Source> {
    let parent = kind.source();
    let siblings = scenario::siblings::<C>(&parent, siblings);
    (parent, siblings)
}

/// Of those that know who their children are.
pub(super) const CHILD_BESIDE: &[Entry] = &[
    NOTHING,
    entry!(STD, beside!(Heap, Heap, SIBLINGS)),
    entry!("jeton core, 30,000 siblings", beside!(Arena<32_000>, tree!(Arena<32_000>, 1), SIBLINGS.min(30_000))),
    entry!(TOKIO, beside!(TokioUtil, TokioUtil, SIBLINGS)),
];

/// `cancellation` has one thread: with two that register beside each other, an assertion of its list fails (lib.rs:181 of 0.1.0).
pub(super) const REGISTER: &[Entry] = &[
    NOTHING,
    entry!(STD, || small(Heap.source(), register::<Heap>)),
    entry!("jeton std, closure boxed", || small(Heap.source(), register::<HeapBoxed>)),
    entry!(CORE, 1, || small(InPlace.source(), register::<InPlace>)),
    entry!(TOKIO, || small(TokioUtil.source(), |token, pace, done| {
        each(pace, done, || assert!(poll(pin!(token.cancelled())), "nobody has canceled"));
    })),
    entry!(STOP_TOKEN, || small(StopSource::new(), |source, pace, done| {
        each(pace, done, || assert!(poll(pin!(source.token())), "nobody has canceled"));
    })),
    entry!(CANCELLATION, 1, || small(CancellationTokenSource::new(), |source, pace, done| {
        let token = source.token().clone();
        each(pace, done, || token.run(|| {}, || {}));
    })),
];

pub(super) const POLL_AGAIN: &[Entry] = &[
    NOTHING,
    entry!(STD, || small(Heap.source(), |source, pace, done| {
        let mut wait = Heap::wait(&Heap::token(source));
        run(pace, done, |calls| scenario::poll_again(&mut wait, calls));
    })),
    entry!(CORE, 1, || small(InPlace.source(), |source, pace, done| {
        let mut wait = InPlace::wait(&InPlace::token(source));
        run(pace, done, |calls| scenario::poll_again(&mut wait, calls));
    })),
    entry!(TOKIO, || small(TokioUtil.source(), |token, pace, done| {
        let mut wait = pin!(token.cancelled());
        each(pace, done, || poll(wait.as_mut()));
    })),
    entry!(STOP_TOKEN, || small(StopSource::new(), |source, pace, done| {
        let mut wait = pin!(source.token());
        each(pace, done, || poll(wait.as_mut()));
    })),
];

pub(super) const CALLBACKS: &[Entry] = &[
    entry!(CLOCKS, 1, || bulk(|pace| bulk::nothing(pace, MANY))),
    entry!(STD, 1, || bulk(|pace| bulk::callbacks(Heap, pace))),
    entry!("jeton std, tasks", 1, || bulk(|pace| bulk::tasks(Heap, Place::Root, pace))),
    entry!(CORE, 1, || bulk(|pace| bulk::callbacks(tree!(Wide<32>, 32), pace))),
    entry!(TOKIO, 1, || bulk(|pace| bulk::tasks(TokioUtil, Place::Root, pace))),
    entry!(STOP_TOKEN, 1, || bulk(bulk::stop_token)),
    entry!(BEFORE, 1, || bulk(|pace| bulk::callbacks(Before, pace))),
];

pub(super) const WAITING: &[Entry] = &[
    entry!(CLOCKS, 1, || bulk(|pace| bulk::nothing(pace, MANY))),
    entry!(STD, 1, || bulk(|pace| bulk::tasks(Heap, Place::Children, pace))),
    entry!(CORE, 1, || bulk(|pace| bulk::tasks(tree!(Arena<1_001>, 1), Place::Children, pace))),
    entry!(TOKIO, 1, || bulk(|pace| bulk::tasks(TokioUtil, Place::Children, pace))),
];

pub(super) const LEVELS: &[Entry] = &[
    entry!(CLOCKS, 1, || bulk(|pace| bulk::nothing(pace, MANY))),
    entry!(STD, 1, || bulk(|pace| bulk::tasks(Heap, Place::Levels, pace))),
    entry!(CORE, 1, || bulk(|pace| bulk::tasks(tree!(Arena<1_001>, 1), Place::Levels, pace))),
    entry!(TOKIO, 1, || bulk(|pace| bulk::tasks(TokioUtil, Place::Levels, pace))),
];

pub(super) const MIDDLE: &[Entry] = &[
    entry!(CLOCKS, 1, || bulk(|pace| bulk::nothing(pace, 1))),
    entry!(STD, 1, || bulk(|pace| bulk::middle(Heap, SIBLINGS, pace))),
    entry!("jeton core, 30,000 children", 1, || bulk(|pace| bulk::middle(tree!(Arena<30_002>, 1), SIBLINGS.min(30_000), pace))),
    entry!(TOKIO, 1, || bulk(|pace| bulk::middle(TokioUtil, SIBLINGS, pace))),
];

fn token<C: Cancel>(source: &C::Source, pace: Pace<'_>, done: &mut u64) {
    run(pace, done, |calls| scenario::token::<C>(source, calls));
}

fn clone<C: Cancel>(source: &C::Source, pace: Pace<'_>, done: &mut u64) {
    let token = C::token(source);
    run(pace, done, |calls| scenario::clone::<C>(&token, calls));
}

fn check<C: Cancel>(source: &C::Source, pace: Pace<'_>, done: &mut u64) {
    let token = C::token(source);
    run(pace, done, |calls| scenario::check::<C>(&token, calls));
}

fn child<C: Hierarchy>(parent: &C::Source, pace: Pace<'_>, done: &mut u64) {
    run(pace, done, |calls| scenario::child_directly::<C>(parent, calls));
}

fn register<C: Registers>(source: &C::Source, pace: Pace<'_>, done: &mut u64) {
    let token = C::token(source);
    run(pace, done, |calls| scenario::register::<C>(&token, calls));
}

/// Whether it waits on.
#[inline(always)]
fn poll(wait: Pin<&mut impl Future>) -> bool {
    wait.poll(&mut Context::from_waker(Waker::noop())).is_pending()
}
