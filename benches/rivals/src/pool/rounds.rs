//! One pool in one round of the scenario, by one thread or by two, and what must be true of its IDs afterwards.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    hint::black_box,
    iter,
    ops::Range,
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
};

use jeton_benches::scenario::pool::{NoPool, Pool, Random, Refused, User, del, mix, new, rnd, shuffle, timed::Patient, xfer};

use crate::{contender::Contender, window::Pace};

/// The rounds of the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    New,
    Del,
    Mix,
    Rnd,
    Xfer,
}

impl Round {
    const ALL: [Self; 5] = [Self::New, Self::Del, Self::Mix, Self::Rnd, Self::Xfer];

    pub(super) fn of(number: u8) -> Self {
        Self::ALL[usize::from(number)]
    }
}

/// A pool, for one round. Each thread has a user and its share of the IDs. Before the window it allocates them all and frees them again,
/// in order, so that neither memory that nobody has touched nor an order of IDs that nobody has chosen is part of a figure. What a window
/// is too short for begins at another place of the round in each: see [`begin`].
#[repr(align(128))]
pub(super) struct Rounds<P: Pool> {
    pool: P,
    round: Round,
    ids: u32,
    /// In `xfer` with two threads: what thread 0 has allocated for thread 1 to free. A sender that is gone is a refusal.
    sender: Mutex<Option<mpsc::Sender<Vec<P::Id>>>>,
    receiver: Mutex<mpsc::Receiver<Vec<P::Id>>>,
    /// Of all threads, after the round.
    ended: Mutex<Result<Ended<P::Id>, Refused>>,
}

/// What a round leaves.
struct Ended<I> {
    held: Vec<I>,
    operations: u64,
}

impl<P: Pool<Id: Ord>> Rounds<P> {
    pub(super) fn new(round: Round, ids: u32) -> Self {
        let (sender, receiver) = mpsc::channel();
        let ended = Mutex::new(Ok(Ended { held: Vec::new(), operations: 0 }));
        let (sender, receiver) = (Mutex::new(Some(sender)), Mutex::new(receiver));
        Self { pool: P::with(ids, 2), round, ids, sender, receiver, ended }
    }

    /// What thread `thread` does.
    fn go(&self, thread: u32, pace: Pace<'_>) -> Result<Ended<P::Id>, Refused> {
        // Taken by thread 0, so that it is gone when that thread is.
        let sender = if thread == 0 { held(&self.sender).take() } else { None };
        let share = self.ids / pace.threads() as u32;
        let mut user = Patient::new(self.pool.user(thread));
        let mut ids = vec![P::Id::default(); share as usize];
        new(&mut user, &mut ids)?;
        del(&mut user, &ids)?;
        match (self.round, pace.threads(), sender) {
            (Round::Xfer, 1, _) => self.xfer_alone(user, ids, pace),
            (Round::Xfer, _, Some(sender)) => {
                let mut others = ids.clone();
                new(&mut user, &mut others)?;
                sender.send(others).map_err(|_| Refused)?;
                one_user(Round::New, user, ids, Random::new(1), pace, false)
            }
            (Round::Xfer, ..) => {
                let ids = held(&self.receiver).recv().map_err(|_| Refused)?;
                one_user(Round::Del, user, ids, Random::new(2), pace, false)
            }
            (round, ..) => {
                let mut random = Random::new(thread + 1);
                if round == Round::Del {
                    new(&mut user, &mut ids)?;
                    shuffle(&mut ids, &mut random);
                }
                one_user(round, user, ids, random, pace, true)
            }
        }
    }

    fn xfer_alone<'p>(
        &'p self,
        mut from: Patient<P::User<'p>>,
        mut ids: Vec<P::Id>,
        pace: Pace<'_>,
    ) -> Result<Ended<P::Id>, Refused> {
        let mut to = Patient::new(self.pool.user(1));
        let done = pace.go_through(0..self.ids, 2, |part| {
            let ids = &mut ids[part.start as usize..part.end as usize];
            xfer(black_box(&mut from), black_box(&mut to), ids)
        })?;
        Ok(Ended { held: Vec::new(), operations: 2 * u64::from(done) })
    }

    /// Looks whether the IDs that are held are different, can be freed, and are then, with all others, there to be allocated.
    fn check_ids(&self, mut ids: Vec<P::Id>) -> Result<(), String> {
        all_differ(&mut ids)?;
        let mut user = self.pool.user(0);
        del(&mut user, &ids).map_err(|refused| refused.to_string())?;
        // One more than there are: if the pool has room for it, it must be another one too.
        let all = self.ids as usize;
        ids = iter::from_fn(|| user.alloc()).take(all + 1).collect();
        if ids.len() < all { Err(format!("{} of {all} IDs are lost", all - ids.len())) } else { all_differ(&mut ids) }
    }
}

fn all_differ<I: Ord>(ids: &mut [I]) -> Result<(), String> {
    ids.sort_unstable();
    if ids.windows(2).any(|pair| pair[0] == pair[1]) { Err("an ID was handed out twice".to_owned()) } else { Ok(()) }
}

/// A round of one user, which `xfer` between two threads is too. `black_box` keeps the user's handle in memory, where a program has it.
fn one_user<U: User>(
    round: Round,
    mut user: Patient<U>,
    mut ids: Vec<U::Id>,
    mut random: Random,
    pace: Pace<'_>,
    steps_differ: bool,
) -> Result<Ended<U::Id>, Refused> {
    let user = &mut user;
    let a_step = if matches!(round, Round::Mix | Round::Rnd) { 3 } else { 1 };
    // In `xfer` all places are the same, and thread 1 may still need IDs to get ready.
    let first = if steps_differ { begin(ids.len() as u32, pace.operations() / a_step) } else { 0 };
    if round == Round::Del { del(user, &ids[..first as usize]) } else { new(user, &mut ids[..first as usize]) }?;
    let steps = first..ids.len() as u32;
    let all = |part: Range<u32>| part.start as usize..part.end as usize;
    let end = match round {
        Round::New | Round::Xfer => pace.go_through(steps, a_step, |part| new(black_box(&mut *user), &mut ids[all(part)])),
        Round::Del => pace.go_through(steps, a_step, |part| del(black_box(&mut *user), &ids[all(part)])),
        Round::Mix => pace.go_through(steps, a_step, |part| mix(black_box(&mut *user), &mut ids[all(part)])),
        Round::Rnd => pace.go_through(steps, a_step, |part| rnd(black_box(&mut *user), &mut ids, part, &mut random)),
    }?;
    let held = if round == Round::Del { ids.split_off(end as usize) } else { ids[..end as usize].to_vec() };
    Ok(Ended { held, operations: u64::from(end - first) * u64::from(a_step) })
}

/// The step at which a window begins that has time for `in_a_window` of them: 0 if those are all, and any other one from which on there
/// are so many.
fn begin(steps: u32, in_a_window: u32) -> u32 {
    let last = steps.saturating_sub(in_a_window);
    (RandomState::new().build_hasher().finish() % (u64::from(last) + 1)) as u32
}

impl<P: Pool<Id: Ord>> Contender for Rounds<P> {
    fn work(&self, thread: usize, pace: Pace<'_>) {
        let ended = self.go(thread as u32, pace);
        let mut all = held(&self.ended);
        match (&mut *all, ended) {
            (Ok(all), Ok(ended)) => {
                all.held.extend(ended.held);
                all.operations += ended.operations;
            }
            (_, Err(refused)) => *all = Err(refused),
            (Err(_), Ok(_)) => {}
        }
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        let all = held(&self.ended);
        let Ended { held, operations: done } = all.as_ref().map_err(ToString::to_string)?;
        if *done != operations {
            return Err(format!("{done} operations instead of {operations}"));
        }
        self.check_ids(held.clone())
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the round itself costs: its pool does nothing, and nobody looks at its IDs.
pub(super) struct Nothing(Rounds<NoPool>);

impl Nothing {
    pub(super) fn new(round: Round, ids: u32) -> Self {
        Self(Rounds::new(round, ids))
    }
}

impl Contender for Nothing {
    fn work(&self, thread: usize, pace: Pace<'_>) {
        self.0.work(thread, pace);
    }

    fn check(&self, _: u64) -> Result<(), String> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{cpu, window};

    /// A plain pool with one fault, which shows when its first ID is freed.
    struct Faulty<const FAULT: u8>(Mutex<Vec<u32>>);

    const NONE: u8 = 0;
    const GIVES_ONE_TWICE: u8 = 1;
    const REFUSES_TO_FREE: u8 = 2;

    impl<const FAULT: u8> Pool for Faulty<FAULT> {
        type Id = u32;
        type User<'p> = &'p Self;
        const TO_THE_LAST_ID: bool = true;

        fn with(ids: u32, _: u32) -> Self {
            Self(Mutex::new((0..ids).collect()))
        }
        fn user(&self, _: u32) -> Self::User<'_> {
            self
        }
    }

    impl<const FAULT: u8> User for &Faulty<FAULT> {
        type Id = u32;

        fn alloc(&mut self) -> Option<u32> {
            held(&self.0).pop()
        }
        fn free(&mut self, id: u32) -> bool {
            let mut ids = held(&self.0);
            match FAULT {
                GIVES_ONE_TWICE if id == 999 => ids.extend([id; 2]),
                REFUSES_TO_FREE if id == 999 => return false,
                _ => ids.push(id),
            }
            true
        }
    }

    fn result<const FAULT: u8>(round: Round, threads: usize) -> Result<(), String> {
        let cpu = cpu::allowed().expect("this thread runs on some CPU")[0];
        let rounds = Rounds::<Faulty<FAULT>>::new(round, 1000);
        // Chunks of one: windows have time for 100 operations and begin anywhere.
        let spans = window::measure(&rounds, &vec![cpu; threads], 1, Duration::from_millis(1)).expect("a CPU that is allowed");
        rounds.check(window::all_operations(&spans))
    }

    #[test]
    fn faults_are_found_in_every_round() {
        for round in Round::ALL {
            for threads in [1, 2] {
                assert_eq!(result::<NONE>(round, threads), Ok(()), "{round:?}");
                let twice = result::<GIVES_ONE_TWICE>(round, threads);
                assert_eq!(twice, Err("an ID was handed out twice".to_owned()), "{round:?}");
                assert_eq!(result::<REFUSES_TO_FREE>(round, threads), Err(Refused.to_string()), "{round:?}");
            }
        }
    }

    #[test]
    fn windows_begin_anywhere_in_a_long_round() {
        assert_eq!(begin(1000, 1000), 0);
        assert_eq!(begin(1000, u32::MAX), 0);
        let begins: Vec<_> = (0..1000).map(|_| begin(1000, 900)).collect();
        assert!(begins.iter().all(|first| *first <= 100));
        assert!(begins.iter().any(|first| *first < 10) && begins.iter().any(|first| *first > 90));
    }

    #[test]
    fn a_lost_id_is_missed() {
        let rounds = Rounds::<Faulty<NONE>>::new(Round::Mix, 1000);
        held(&rounds.pool.0).retain(|id| *id != 5);
        assert_eq!(rounds.check(0), Err("1 of 1000 IDs are lost".to_owned()));
    }
}
