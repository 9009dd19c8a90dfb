//! The rounds by threads that each have a user, an array and a clock, as the benchmark of Open vSwitch runs them: for a pool of n
//! IDs, each of T threads takes n / T of them.

use std::{
    ops::Range,
    process,
    sync::{Barrier, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use super::{Pool, Random, Refused, User, all_distinct, del, mix, new, rnd, shuffle, xfer};

/// What a round took.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The round's name.
    pub round: &'static str,
    /// How long each thread worked.
    pub threads: Vec<Duration>,
    /// Whether a thread was stopped before its end.
    pub cut_off: bool,
    /// How often an allocation found nothing, although there are always IDs enough, and was tried again.
    pub retries: u64,
}

/// All rounds; each thread of each round is stopped after `cut_off`. `rnd` is the last one, for it is the one that some pools do not
/// end.
///
/// The process ends, with a message, if the pool refuses what is possible or hands out an ID twice.
pub fn rounds<P: Pool<Id = u32>>(ids: u32, threads: u32, cut_off: Duration) -> Vec<Timed> {
    let mut all = four_rounds::<P>(ids, threads, cut_off);
    let rnd = all.pop();
    all.push(if threads == 1 { xfer_alone::<P>(ids, cut_off) } else { xfer_between::<P>(ids, threads, cut_off) });
    all.extend(rnd);
    all
}

/// new, del, mix, rnd.
fn four_rounds<P: Pool<Id = u32>>(ids: u32, threads: u32, cut_off: Duration) -> Vec<Timed> {
    let pool = P::with(ids, threads);
    let meeting = Meeting::new(ids, threads);
    let one_thread = |number: u32| {
        let mut user = Patient::new(pool.user(number));
        let mut array = vec![0; meeting.share];
        let mut random = Random::new(number + 1);
        // Written once, so that no page of the array is new in a round.
        array.fill(number);

        let new = meeting.time(cut_off, &mut user, &mut array, |user, array, part| new(user, &mut array[part]));
        // After a cut-off the next rounds have fewer IDs, and count as cut off too.
        array.truncate(new.steps);
        meeting.compare(&array);
        shuffle(&mut array, &mut random);
        let freed = meeting.time(cut_off, &mut user, &mut array, |user, array, part| del(user, &array[part]));
        or_end(del(&mut user, &array[freed.steps..]));
        let mix = meeting.time(cut_off, &mut user, &mut array, |user, array, part| mix(user, &mut array[part]));
        array.truncate(mix.steps);
        meeting.compare(&array);
        or_end(del(&mut user, &array));
        let steps = |part: Range<usize>| part.start as u32..part.end as u32;
        let rnd = meeting.time(cut_off, &mut user, &mut array, |user, array, part| rnd(user, array, steps(part), &mut random));
        meeting.compare(&array[..rnd.steps]);
        [new, freed, mix, rnd]
    };
    let spans = on_threads(threads, &one_thread);
    let names = ["new", "del", "mix", "rnd"].into_iter().enumerate();
    names.map(|(at, round)| Timed::of(round, spans.iter().map(|of_thread| &of_thread[at]))).collect()
}

/// One thread with two users: one allocates, the other one frees.
fn xfer_alone<P: Pool<Id = u32>>(ids: u32, cut_off: Duration) -> Timed {
    let pool = P::with(ids, 2);
    let mut users = (Patient::new(pool.user(0)), Patient::new(pool.user(1)));
    let mut array = vec![1; ids as usize];
    let mut span =
        Meeting::new(ids, 1).time(cut_off, &mut users, &mut array, |(from, to), array, part| xfer(from, to, &mut array[part]));
    span.retries += users.0.take_retries();
    Timed::of("xfer", [&span])
}

/// Each thread allocates, and frees what its neighbour has allocated; the time is that of both.
fn xfer_between<P: Pool<Id = u32>>(ids: u32, threads: u32, cut_off: Duration) -> Timed {
    let pool = P::with(ids, threads);
    let meeting = Meeting::new(ids, threads);
    let arrays: Vec<Mutex<Vec<u32>>> = (0..threads).map(|_| Mutex::new(vec![1; meeting.share])).collect();
    let one_thread = |number: u32| {
        let mut user = Patient::new(pool.user(number));
        let take = |number: u32| std::mem::take(&mut *held(&arrays[(number % threads) as usize]));
        let mut array = take(number);
        let mut span = meeting.time(cut_off, &mut user, &mut array, |user, array, part| new(user, &mut array[part]));
        array.truncate(span.steps);
        meeting.compare(&array);
        *held(&arrays[number as usize]) = array;
        meeting.wait();
        let mut array = take(number + 1);
        let freed = meeting.time(cut_off, &mut user, &mut array, |user, array, part| del(user, &array[part]));
        span.time += freed.time;
        span.retries += freed.retries;
        span.cut_off |= freed.cut_off;
        span
    };
    Timed::of("xfer", &on_threads(threads, &one_thread))
}

fn on_threads<R: Send>(threads: u32, one_thread: &(impl Fn(u32) -> R + Sync)) -> Vec<R> {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|number| scope.spawn(move || one_thread(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| end("a thread of a round panicked"))).collect()
    })
}

/// What one thread did in one round.
#[derive(Debug)]
struct Span {
    time: Duration,
    steps: usize,
    cut_off: bool,
    retries: u64,
}

impl Timed {
    fn of<'s>(round: &'static str, spans: impl IntoIterator<Item = &'s Span>) -> Self {
        let mut timed = Self { round, threads: Vec::new(), cut_off: false, retries: 0 };
        for span in spans {
            timed.threads.push(span.time);
            timed.cut_off |= span.cut_off;
            timed.retries += span.retries;
        }
        timed
    }
}

/// Where the threads of a pool wait for each other, and lay their IDs together.
struct Meeting {
    /// How many IDs each thread is to have.
    share: usize,
    barrier: Barrier,
    ids: Mutex<Vec<u32>>,
}

impl Meeting {
    fn new(ids: u32, threads: u32) -> Self {
        Self { share: (ids / threads) as usize, barrier: Barrier::new(threads as usize), ids: Mutex::default() }
    }

    fn wait(&self) -> bool {
        self.barrier.wait().is_leader()
    }

    /// Does all steps of a round, begun together, until the cut-off.
    fn time<U: CountsRetries>(
        &self,
        cut_off: Duration,
        user: &mut U,
        array: &mut [u32],
        mut steps: impl FnMut(&mut U, &mut [u32], Range<usize>) -> Result<(), Refused>,
    ) -> Span {
        // Of what came before, nothing is counted.
        user.take_retries();
        self.wait();
        let start = Instant::now();
        let (mut done, mut part, mut time) = (0, FIRST_PART, Duration::ZERO);
        while done < array.len() && time < cut_off {
            let until = array.len().min(done + part);
            or_end(steps(user, array, done..until));
            done = until;
            let now = start.elapsed();
            // Looked at seldom enough to cost nothing, and often enough to stop in time.
            match now - time {
                took if took < Duration::from_micros(100) => part = (2 * part).min(LONGEST_PART),
                took if took > Duration::from_millis(10) => part = (part / 2).max(1),
                _ => {}
            }
            time = now;
        }
        let cut_off = done < self.share;
        self.wait();
        Span { time, steps: done, cut_off, retries: user.take_retries() }
    }

    /// Looks whether the IDs that all threads have are different.
    fn compare(&self, ids: &[u32]) {
        held(&self.ids).extend_from_slice(ids);
        if self.wait() && !all_distinct(&held(&self.ids)) {
            end("an ID was handed out twice");
        }
        if self.wait() {
            held(&self.ids).clear();
        }
        self.wait();
    }
}

const FIRST_PART: usize = 64;
/// Some microseconds of the fastest pool: a look at the clock is a hundredth of that.
const LONGEST_PART: usize = 2048;

/// A user that asks again when its pool finds nothing: under contention a pool may say so though there are free IDs.
#[derive(Debug)]
pub struct Patient<U> {
    user: U,
    retries: u64,
}

trait CountsRetries {
    /// The retries since it was last asked.
    fn take_retries(&mut self) -> u64;
}

impl<U> Patient<U> {
    /// Beyond so many in one allocation, the pool has lost IDs.
    const MOST: u64 = 1 << 20;

    /// `user`, which has not been asked again yet.
    pub fn new(user: U) -> Self {
        Self { user, retries: 0 }
    }
}

impl<U: User> User for Patient<U> {
    type Id = U::Id;

    #[inline(always)]
    fn alloc(&mut self) -> Option<U::Id> {
        match self.user.alloc() {
            None => self.again(),
            found => found,
        }
    }

    #[inline(always)]
    fn free(&mut self, id: U::Id) -> bool {
        self.user.free(id)
    }
}

impl<U: User> Patient<U> {
    #[cold]
    #[inline(never)]
    fn again(&mut self) -> Option<U::Id> {
        (0..Self::MOST).find_map(|_| {
            self.retries += 1;
            thread::yield_now();
            self.user.alloc()
        })
    }
}

impl<U> CountsRetries for Patient<U> {
    fn take_retries(&mut self) -> u64 {
        std::mem::take(&mut self.retries)
    }
}

impl<A: CountsRetries, B: CountsRetries> CountsRetries for (A, B) {
    fn take_retries(&mut self) -> u64 {
        self.0.take_retries() + self.1.take_retries()
    }
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn or_end(result: Result<(), Refused>) {
    if let Err(refused) = result {
        end(&refused.to_string());
    }
}

/// Of the whole process: other threads wait for the one that has found a fault.
fn end(fault: &str) -> ! {
    eprintln!("error: {fault}");
    process::exit(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::originals::{Lean, MapPool, SlabPool};

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn every_round_is_timed_on_every_thread() {
        for threads in [1, 2, 4] {
            for all in [rounds::<SlabPool<Lean>>(1000, threads, LONG), rounds::<Mutex<MapPool>>(1000, threads, LONG)] {
                assert_eq!(all.iter().map(|timed| timed.round).collect::<Vec<_>>(), ["new", "del", "mix", "xfer", "rnd"]);
                for timed in all {
                    assert_eq!(timed.threads.len(), threads as usize, "{}", timed.round);
                    assert!(timed.threads.iter().all(|time| !time.is_zero()) && !timed.cut_off, "{}", timed.round);
                }
            }
        }
    }

    #[test]
    fn cut_off_rounds_are_told() {
        for threads in [1, 2] {
            let all = rounds::<Mutex<MapPool>>(200_000, threads, Duration::ZERO);
            assert!(all.iter().all(|timed| timed.cut_off), "{all:?}");
        }
        let all = four_rounds::<Mutex<MapPool>>(100_000, 1, Duration::from_millis(50));
        let rnd = all.last().expect("four rounds");
        assert!(rnd.cut_off && rnd.threads[0] >= Duration::from_millis(50), "{rnd:?}");
    }

    #[test]
    fn a_user_asks_again_and_counts_it() {
        struct Late(u32);
        impl User for Late {
            type Id = u32;
            fn alloc(&mut self) -> Option<u32> {
                self.0 = self.0.checked_sub(1)?;
                (self.0 == 0).then_some(7)
            }
            fn free(&mut self, _: u32) -> bool {
                true
            }
        }
        let mut user = Patient::new(Late(4));
        assert_eq!((user.alloc(), user.take_retries(), user.take_retries()), (Some(7), 3, 0));
        assert_eq!(user.alloc(), None, "it does not ask for ever");
    }
}
