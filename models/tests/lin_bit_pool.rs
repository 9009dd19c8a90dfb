//! `BitPool`, call by call, against the set of free IDs. Words have two bits in models, so five IDs are three words and two levels.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::pool::{AllocError, BitPool, bit_pool_words};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::pool::{Answer, Call, Choice, FreeIds},
};

/// What a thread does. `Free` takes an ID that this thread allocated before, the oldest one; if it has none, it does nothing.
#[derive(Clone, Copy)]
enum Do {
    Alloc,
    Free,
    FreeId(u32),
    Reserve(u32),
}
use Do::{Alloc, Free, FreeId, Reserve};

fn act<const N: usize, const WORDS: usize>(
    pool: &BitPool<N, WORDS>,
    recorder: &Recorder<FreeIds>,
    thread: usize,
    program: &[Do],
    mut held: Vec<u32>,
) {
    let free = |id| recorder.call(thread, Call::Free(id), || Answer::Free(pool.free(id)));
    for step in program {
        match *step {
            Alloc => {
                let answer = recorder.call(thread, Call::Alloc, || Answer::Alloc(pool.alloc()));
                assert_ne!(answer, Answer::Alloc(Err(AllocError::Contended)), "this pool never says so");
                held.extend(match answer {
                    Answer::Alloc(Ok(id)) => Some(id),
                    _ => None,
                });
            }
            Free if held.is_empty() => {}
            Free => _ = free(held.remove(0)),
            FreeId(id) => _ = free(id),
            Reserve(id) => _ = recorder.call(thread, Call::Reserve(id), || Answer::Reserve(pool.reserve(id))),
        }
    }
}

/// Thread `t` runs `programs[t]` on a pool in which the IDs `held[t]` are allocated, for `t`.
fn history<const N: usize, const WORDS: usize>(held: &[&[u32]], programs: &'static [&'static [Do]]) {
    let pool = Arc::new(BitPool::<N, WORDS>::new());
    let mut spec = FreeIds::new(Choice::Any, 0, N as u32);
    for &id in held.iter().copied().flatten() {
        pool.reserve(id).expect("free at first");
        spec.reserve(id).expect("free at first");
    }
    let recorder = Recorder::<FreeIds>::default();
    let mut others = Vec::new();
    for (number, program) in programs.iter().enumerate().skip(1) {
        let (pool, recorder, held) = (pool.clone(), recorder.clone(), held[number].to_vec());
        others.push(thread::spawn(move || act(&*pool, &recorder, number, program, held)));
    }
    act(&*pool, &recorder, 0, programs[0], held[0].to_vec());
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    recorder.check(&spec);
}

const WORDS_3: usize = bit_pool_words(3);

/// Two words; both threads go to the last ID.
#[test]
fn two_threads_of_three_calls_are_linearizable() {
    explore(Model { threads: 2, loom: 610, rmw: 1000, shuttle: 63000 }, || {
        history::<3, WORDS_3>(&[&[0], &[]], &[&[Free, Alloc, Alloc], &[Alloc, Alloc, Free]]);
    });
}

/// A count taken before the bit fails here: the second thread takes the ID of a free that has not been counted, and is then refused.
#[test]
fn an_id_is_not_hidden_by_a_free_that_has_not_ended() {
    explore(Model { threads: 2, loom: 36, rmw: 31, shuttle: 2900 }, || {
        history::<2, { bit_pool_words(2) }>(&[&[0], &[]], &[&[Free], &[Alloc, Alloc]]);
    });
}

/// A sweep alone fails here: an ID is freed behind it, and another one taken ahead of it.
#[test]
fn two_threads_one_of_which_frees_behind_and_takes_ahead_are_linearizable() {
    explore(Model { threads: 2, loom: 1100, rmw: 250, shuttle: 63000 }, || {
        history::<3, WORDS_3>(&[&[0, 1], &[]], &[&[Free, Reserve(2), FreeId(2)], &[Alloc, Alloc]]);
    });
}

#[test]
fn three_threads_of_one_or_two_calls_are_linearizable() {
    explore(Model { threads: 3, loom: 4800, rmw: 1800, shuttle: 18000 }, || {
        history::<2, { bit_pool_words(2) }>(&[&[0], &[], &[]], &[&[Free], &[Alloc, Alloc], &[Alloc]]);
    });
}

#[test]
#[ignore = "long"]
fn three_threads_of_two_calls_are_linearizable() {
    explore(Model { threads: 3, loom: 710000, rmw: 13000, shuttle: 18000 }, || {
        history::<2, { bit_pool_words(2) }>(&[&[0], &[1], &[]], &[&[Free, Alloc], &[Free, Alloc], &[Alloc, Alloc]]);
    });
}

/// A double free that meets the first one, while others look for IDs.
#[test]
fn a_double_free_among_three_threads_is_linearizable() {
    explore(Model { threads: 3, loom: 600, rmw: 660, shuttle: 18000 }, || {
        history::<3, WORDS_3>(&[&[0, 1], &[], &[]], &[&[FreeId(0)], &[FreeId(0), Reserve(2)], &[Alloc]]);
    });
}
