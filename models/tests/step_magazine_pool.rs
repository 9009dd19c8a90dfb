//! Step mode for magazines: a user is stopped between two steps of a call, as by an interrupt or for good, and others go on.
//!
//! Every call is stopped at each of its steps. Others finish all of theirs, in any user, also the same one; what everybody was
//! answered has an order; and when the stopped call has gone on, no ID is lost. The core is compiled here a second time
//! (build.rs), with blocks of two IDs and users of four.
#![cfg(jeton_step)]
#![allow(missing_docs, unused_imports, dead_code, reason = "the core's sources, of which only a part is used")]

#[path = "../../core/src"]
mod core_sources {
    pub mod pool;
    pub mod sync;
    pub mod util;
}
use core_sources::{pool, sync, util};
mod step;
#[path = "step/errors.rs"]
mod step_errors;

use std::{cell::RefCell, rc::Rc};

use jeton_models::{
    linearizability::{Entry, Order, explain},
    spec::pool::{Answer, Call, Choice, FreeIds},
};
use pool::{AllocError, FreeError, MagazinePool, Slices, StealableCache, Users};
use step::interrupt_at;
use step_errors::alloc_error;
use sync::model::{interrupted, then};

/// Three blocks in two groups.
const IDS: usize = 6;
type Pool<const USERS: usize> = StealableCache<Slices<'static>, Users<USERS>>;
type Ids = Pool<2>;

fn pool<const USERS: usize>(ids: u32) -> Pool<USERS> {
    fn leak<T: Default>(len: usize) -> &'static mut [T] {
        Vec::leak(std::iter::repeat_with(T::default).take(len).collect())
    }
    let (blocks, groups) = Slices::lengths(ids);
    let storage = (leak(blocks), leak(blocks), leak(groups));
    StealableCache::of(MagazinePool::over(storage, 0, ids).expect("the slices suffice"))
}

fn alloc(ids: &Ids, user: usize) -> Result<u32, AllocError> {
    ids.user(user).expect("of two").alloc()
}

fn free(ids: &Ids, user: usize, id: u32) -> Result<(), FreeError> {
    ids.user(user).expect("of two").free(id)
}

/// A call through a user. What it frees is an ID that the caller has.
#[derive(Clone, Copy, Debug)]
enum Do {
    Alloc(usize),
    Free(usize, u32),
}

fn make(ids: &Ids, step: Do) -> (Call, Answer) {
    match step {
        Do::Alloc(user) => (Call::Alloc, Answer::Alloc(alloc(ids, user).map_err(alloc_error))),
        Do::Free(user, id) => {
            assert_eq!(free(ids, user, id), Ok(()), "whoever frees it has it");
            (Call::Free(id), Answer::Free(Ok(())))
        }
    }
}

/// How the IDs lie at first: so many are taken through user 0, and so many of these given back through a user.
#[derive(Clone, Copy, Debug)]
struct Setup {
    taken: usize,
    back: usize,
    through: usize,
}

impl Setup {
    fn all() -> impl Iterator<Item = Self> {
        let backs = (0..=IDS).flat_map(|taken| (0..=taken).map(move |back| (taken, back)));
        backs.flat_map(|(taken, back)| (0..2).map(move |through| Self { taken, back, through }))
    }

    /// The pool, its specification, and the IDs that are still taken.
    fn make(self) -> (Rc<Ids>, FreeIds, Vec<u32>) {
        let ids = Rc::new(pool(IDS as u32));
        let mut taken: Vec<u32> = (0..self.taken).map(|_| alloc(&ids, 0).expect("nobody else is there")).collect();
        let held = taken.split_off(self.back);
        taken.into_iter().for_each(|id| free(&ids, self.through, id).expect("it was taken"));
        let mut spec = FreeIds::new(Choice::Any, 0, IDS as u32);
        held.iter().for_each(|id| spec.reserve(*id).expect("free at first"));
        (ids, spec, held)
    }
}

/// All that are not held can be had, each once, by either user; and then the answer is certain.
fn check_rest(ids: &Ids, held: &[u32]) {
    let mut seen: Vec<u32> = held.to_vec();
    seen.extend((0..2 * IDS).filter_map(|turn| alloc(ids, turn % 2).ok()));
    seen.sort_unstable();
    assert_eq!(seen, (0..IDS as u32).collect::<Vec<_>>(), "{held:?} were held");
    assert_eq!(alloc(ids, 1), Err(AllocError::Exhausted));
}

/// What is held after these answers, whatever their order was.
fn held_after(held: &[u32], history: &[(Call, Answer)]) -> Vec<u32> {
    let allocated = history.iter().filter_map(|(_, answer)| match answer {
        Answer::Alloc(Ok(id)) => Some(*id),
        _ => None,
    });
    let mut held: Vec<u32> = held.iter().copied().chain(allocated).collect();
    for (call, _) in history {
        if let Call::Free(id) = call {
            held.remove(held.iter().position(|held| held == id).expect("it was held"));
        }
    }
    held
}

#[test]
fn every_pair_of_calls_can_interrupt_each_other_at_every_step() {
    let mut steps = 0;
    for setup in Setup::all() {
        let held = setup.make().2;
        let mut outer = vec![Do::Alloc(0)];
        outer.extend(held.first().map(|id| Do::Free(0, *id)));
        let mut inner = vec![Do::Alloc(0), Do::Alloc(1)];
        inner.extend(held.get(1).into_iter().flat_map(|id| [Do::Free(0, *id), Do::Free(1, *id)]));
        for &operation in &outer {
            for &first in &inner {
                for second in [Do::Alloc(0), Do::Alloc(1)] {
                    for at in 0.. {
                        let (ids, spec, held) = setup.make();
                        let interrupt = move |ids: &Ids| [make(ids, first), make(ids, second)];
                        let Some((outer, [one, two])) = interrupt_at(at, &ids, |ids| make(ids, operation), interrupt) else {
                            break;
                        };
                        let entry = |thread, (call, answer): (Call, Answer), begin, end| Entry { thread, call, answer, begin, end };
                        let history = [entry(0, outer, 0, 9), entry(1, one, 1, 2), entry(1, two, 3, 4)];
                        assert!(explain(&spec, &history, Order::RealTime).is_some(), "{setup:?}, step {at}: {history:?}");
                        check_rest(&ids, &held_after(&held, &[outer, one, two]));
                        steps += 1;
                    }
                }
            }
        }
    }
    assert!(steps > 3_000, "{steps} steps");
}

/// What a user may take with it when it is stopped for good inside: a magazine of its own, and a block under way.
const STOPPED_WITH: usize = 4 + 2;

/// The others take all that there is, give it back, and take it again, while a call is stopped at one of its steps.
#[test]
fn while_a_user_is_stopped_inside_all_others_finish() {
    let mut steps = 0;
    let everything = |ids: &Ids| -> (usize, AllocError) {
        let mut got = Vec::new();
        let refused = loop {
            match alloc(ids, 1) {
                Ok(id) => got.push(id),
                Err(refused) => break refused,
            }
        };
        got.iter().for_each(|id| assert_eq!(free(ids, usize::from(id % 2 == 0), *id), Ok(()), "a free never fails"));
        (got.len(), refused)
    };
    for setup in Setup::all() {
        let calls = [Some(Do::Alloc(0)), setup.make().2.first().map(|id| Do::Free(0, *id))];
        for operation in calls.into_iter().flatten() {
            for at in 0.. {
                let (ids, _, held) = setup.make();
                let rounds = move |ids: &Ids| [everything(ids), everything(ids)];
                let Some((outer, rounds)) = interrupt_at(at, &ids, |ids| make(ids, operation), rounds) else { break };
                // The stopped call may have the ID that it allocates or frees.
                let free_now = IDS - held.len();
                for (got, refused) in rounds {
                    assert!(got + STOPPED_WITH >= free_now && got <= free_now + 1, "{setup:?}, step {at}: {got} of {free_now}");
                    let all = got + usize::from(matches!(operation, Do::Alloc(_))) >= free_now;
                    assert!(all || refused == AllocError::Contended, "{setup:?}, step {at}: {got} of {free_now}, and {refused}");
                }
                check_rest(&ids, &held_after(&held, &[outer]));
                steps += 1;
            }
        }
    }
    assert!(steps > 400, "{steps} steps");
}

/// A cache that is stopped while it gives all back, or takes, keeps nobody from going on.
#[test]
fn while_a_cache_is_stopped_on_its_way_to_the_depot_all_others_finish() {
    let mut steps = 0;
    for len in 1..=4 {
        for at in 0.. {
            let ids = Rc::new(pool(IDS as u32));
            let cache_comes_and_goes = move |ids: &Ids| {
                let mut cache = ids.pool().cache();
                let mut got = [0; 4];
                let got = &mut got[..len];
                assert!(cache.alloc_into(got) <= len);
            };
            let both = interrupt_at(at, &ids, cache_comes_and_goes, |ids| {
                let got: Vec<u32> = std::iter::from_fn(|| alloc(ids, 1).ok()).collect();
                got.iter().for_each(|id| assert_eq!(free(ids, 0, *id), Ok(())));
                got.len()
            });
            let Some(((), others)) = both else { break };
            assert!(others + STOPPED_WITH >= IDS, "{others}");
            steps += 1;
        }
    }
    assert!(steps > 20, "{steps} steps");
}

/// One ID is always free. It moves between users 0 and 1 at five steps of a call of user 2: whatever these are, that call is not told that
/// all are taken. This is what the versions are for.
#[test]
fn an_id_that_goes_to_and_fro_is_not_missed() {
    fn move_it(ids: Rc<Pool<3>>, held: u32, to: usize, mut gaps: Vec<usize>) {
        assert_eq!(ids.user(to).expect("of three").free(held), Ok(()));
        let other = ids.user(1 - to).expect("of three").alloc().expect("nobody is inside");
        if let Some(gap) = gaps.pop() {
            then(gap, move || move_it(ids, other, 1 - to, gaps));
        }
    }
    const GAPS: usize = 7;
    for number in 0..GAPS.pow(5) {
        let mut gaps: Vec<usize> = (0..5).map(|place| number / GAPS.pow(place) % GAPS).collect();
        let first = gaps.pop().expect("five");
        let ids: Rc<Pool<3>> = Rc::new(pool(2));
        let user = ids.user(1).expect("of three");
        let [held, free] = [user.alloc(), user.alloc()].map(|id| id.expect("two are free"));
        assert_eq!(user.free(free), Ok(()));
        let (inner, rest) = (ids.clone(), gaps.clone());
        let mut answer = None;
        interrupted(first, || answer = Some(ids.user(2).expect("of three").alloc()), move || move_it(inner, held, 0, rest));
        assert_ne!(answer, Some(Err(AllocError::Exhausted)), "{first} {gaps:?}");
    }
}

/// While a user is stopped inside, others take spilled IDs one by one, block after block. Afterwards no marks of theirs are in the way.
#[test]
fn spilled_ids_that_were_taken_one_by_one_leave_no_marks_behind() {
    const MANY: u32 = 128;
    let ids: Rc<Ids> = Rc::new(pool(MANY));
    assert_eq!(ids.user(1).expect("of two").alloc_into(&mut [0; MANY as usize]), MANY as usize);
    for at in 0..6 {
        let one_by_one = |ids: &Ids| {
            for block in (0..60).rev() {
                assert_eq!(free(ids, 0, 2 * block), Ok(()));
                assert!(alloc(ids, 0).is_ok());
            }
        };
        assert!(interrupt_at(at, &ids, |ids| alloc(ids, 0), one_by_one).is_some());
        let mut cache = ids.pool().cache();
        assert_eq!(cache.free(MANY - 1), Ok(()));
        drop(cache); // spills it
        assert_eq!([(); 2].map(|()| alloc(&ids, 1)), [Ok(MANY - 1), Err(AllocError::Exhausted)], "stopped at {at}");
    }
}
