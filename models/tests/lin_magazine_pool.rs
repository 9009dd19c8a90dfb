//! Stealable users, call by call, against the set of free IDs: `Exhausted` is an answer only when all are taken at that moment.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::pool::{AllocError, Blocks, StealableCache, Users};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::pool::{Answer, Call, Choice, FreeIds},
};

/// What a thread does, with its user. `Free` gives back the oldest ID that the thread has; if it has none, it does nothing.
#[derive(Clone, Copy)]
enum Do {
    Alloc,
    Free,
}
use Do::{Alloc, Free};

type Ids<const BLOCKS: usize, const USERS: usize> = StealableCache<Blocks<BLOCKS>, Users<USERS>>;

fn act<const BLOCKS: usize, const USERS: usize>(
    ids: &Ids<BLOCKS, USERS>,
    recorder: &Recorder<FreeIds>,
    thread: usize,
    program: &[Do],
    mut held: Vec<u32>,
) {
    let user = ids.user(thread % USERS).expect("a user");
    for step in program {
        match step {
            Alloc => {
                let answer = recorder.call(thread, Call::Alloc, || Answer::Alloc(user.alloc()));
                held.extend(match answer {
                    Answer::Alloc(Ok(id)) => Some(id),
                    _ => None,
                });
            }
            Free if held.is_empty() => {}
            Free => {
                let id = held.remove(0);
                recorder.call(thread, Call::Free(id), || Answer::Free(user.free(id)));
            }
        }
    }
}

/// Thread `t` has `held[t]` IDs at first and runs `programs[t]` through user `t` (modulo).
fn history<const BLOCKS: usize, const USERS: usize>(held: &[usize], programs: &'static [&'static [Do]]) {
    let ids = Arc::new(Ids::<BLOCKS, USERS>::new());
    let mut spec = FreeIds::new(Choice::Any, 0, 2 * BLOCKS as u32);
    let mut given: Vec<Vec<u32>> = Vec::new();
    for (thread, &len) in held.iter().enumerate() {
        let user = ids.user(thread % USERS).expect("a user");
        given.push((0..len).map(|_| user.alloc().expect("nobody else uses them yet")).collect());
    }
    given.iter().flatten().for_each(|id| spec.reserve(*id).expect("free at first"));
    let recorder = Recorder::<FreeIds>::default();
    let mut others = Vec::new();
    for number in (1..programs.len()).rev() {
        let (ids, recorder, held) = (ids.clone(), recorder.clone(), given.pop().expect("one each"));
        others.push(thread::spawn(move || act(&*ids, &recorder, number, programs[number], held)));
    }
    act(&*ids, &recorder, 0, programs[0], given.pop().expect("one each"));
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    recorder.check(&spec);
    // At rest, the answer is certain: all that are left, and then `Exhausted`.
    let user = ids.user(0).expect("a user");
    let left = std::iter::from_fn(|| user.alloc().ok()).count();
    assert!(left <= 2 * BLOCKS);
    assert_eq!(user.alloc(), Err(AllocError::Exhausted));
}

/// The least numbers of executions are some 10 % below what there are.
const fn model(threads: usize, loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads, loom, rmw, shuttle }
}

/// Two users on two IDs: what one gives back while the other is looking.
#[test]
fn two_users_of_three_calls_are_linearizable() {
    explore(model(2, 3200, 4200, 63_000), || history::<1, 2>(&[1, 0], &[&[Free, Alloc, Alloc], &[Alloc, Alloc, Free]]));
}

/// Both IDs are taken, and given back behind and ahead of a user who looks for one.
#[test]
fn what_is_given_back_behind_the_look_is_not_missed() {
    explore(model(2, 600, 230, 63_000), || history::<1, 2>(&[2, 0], &[&[Free, Free, Alloc], &[Alloc, Alloc]]));
}

/// Two threads share a user, so that one of them is beside it.
#[test]
fn two_threads_of_one_user_are_linearizable() {
    explore(model(2, 450, 660, 63_000), || history::<1, 1>(&[1, 1], &[&[Free, Alloc, Free], &[Free, Alloc, Alloc]]));
}

#[test]
fn three_users_of_two_calls_are_linearizable() {
    explore(model(3, 81_200, 12_200, 18_000), || history::<1, 3>(&[1, 1, 0], &[&[Free, Alloc], &[Free, Alloc], &[Alloc, Alloc]]));
}
