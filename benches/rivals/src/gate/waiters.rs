//! What is done while threads wait. Those run on any CPU that the process may use; the one that sets is where its window is.
#![allow(clippy::disallowed_types, reason = "what the harness counts is made of the standard library's atomics")]

use std::{
    fs, io,
    marker::PhantomData,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU32, Ordering::*},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rustix::{
    process::getpid,
    thread::{Pid, gettid, sched_getaffinity, sched_setaffinity},
};

use super::peers::Gate;
use crate::{contender::Contender, window::Pace};

/// So many threads wait.
const MANY: u32 = if cfg!(test) { 20 } else { 650 };

/// Wakes in a window; the first one is to warm up.
const WAKES: u32 = 21;

/// Transitions in a window to states that nobody waits for.
const NON_MATCHING: u32 = 4;

/// Threads that wait need little of it.
const STACK: usize = 128 * 1024;

/// So long may threads take to fall asleep.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a window with many threads finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// From before the transition until the last thread runs.
    LastAwake,
    /// How long the transition's call takes.
    InSet,
    /// Voluntary switches of threads that wait for something else.
    Needless,
}

/// A window: what was measured, and in how many operations.
type Work = fn(Figure) -> io::Result<(u64, u64)>;

struct Waiters<G> {
    work: Work,
    figure: Figure,
    ended: Mutex<Result<u64, String>>,
    gate: PhantomData<fn() -> G>,
}

pub(super) fn one<G: Gate>() -> Box<dyn Contender> {
    boxed::<G>(|_| wakes::<G>(), Figure::LastAwake)
}

pub(super) fn many<G: Gate>(figure: Figure) -> Box<dyn Contender> {
    boxed::<G>(crowd::<G>, figure)
}

fn boxed<G: Gate>(work: Work, figure: Figure) -> Box<dyn Contender> {
    Box::new(Waiters::<G> { work, figure, ended: Mutex::new(Ok(0)), gate: PhantomData })
}

impl<G: Gate> Contender for Waiters<G> {
    fn work(&self, _: usize, pace: Pace<'_>) {
        let ended = (self.work)(self.figure).map_err(|error| error.to_string());
        if let Ok((amount, operations)) = ended {
            pace.measured(amount, operations);
        }
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = ended.map(|(_, operations)| operations);
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        let done = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        super::small::expect("operations", done, operations)
    }
}

/// One thread waits for states 1 and 2 in turn. The median.
fn wakes<G: Gate>() -> io::Result<(u64, u64)> {
    let (gate, awake) = (G::new(), AtomicU32::new(0));
    let stamps = Mutex::new(Vec::with_capacity(WAKES as usize));
    let (send, receive) = mpsc::channel();
    let waiter = || -> io::Result<()> {
        run_anywhere()?;
        _ = send.send(gettid());
        for number in 0..WAKES {
            gate.wait(1 + number % 2);
            let now = Instant::now();
            stamps.lock().unwrap_or_else(PoisonError::into_inner).push(now);
            awake.fetch_add(1, Release);
        }
        Ok(())
    };
    thread::scope(|scope| {
        let waiter = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, waiter)?;
        let Ok(thread) = receive.recv() else { return Err(io::Error::other("the thread does not start")) };
        let (mut state, mut latencies) = (0, Vec::new());
        for number in 0..WAKES {
            let settled = settle(&[thread]);
            let next = 1 + number % 2;
            let begin = Instant::now();
            gate.set(state, next);
            state = next;
            // Also if it has not fallen asleep: otherwise the scope would not end.
            while awake.load(Acquire) == number {
                thread::yield_now();
            }
            settled?;
            let stamp = stamps.lock().unwrap_or_else(PoisonError::into_inner)[number as usize];
            latencies.push(stamp.saturating_duration_since(begin).as_nanos() as u64);
        }
        waiter.join().map_err(|_| io::Error::other("the thread failed"))??;
        latencies.remove(0);
        latencies.sort_unstable();
        Ok((latencies[latencies.len() / 2], 1))
    })
}

/// Many threads wait for state 1.
fn crowd<G: Gate>(figure: Figure) -> io::Result<(u64, u64)> {
    let gate = G::new();
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        let mut waiters = Vec::new();
        for _ in 0..MANY {
            let (gate, send) = (&gate, send.clone());
            let waiter = move || -> io::Result<Instant> {
                run_anywhere()?;
                _ = send.send(gettid());
                gate.wait(1);
                Ok(Instant::now())
            };
            waiters.push(thread::Builder::new().stack_size(STACK).spawn_scoped(scope, waiter));
        }
        drop(send);
        let started = waiters.iter().filter(|waiter| waiter.is_ok()).count();
        let threads: Vec<Pid> = receive.iter().take(started).collect();
        let mut state = 0;
        let mut before_the_end = || -> io::Result<u64> {
            let before = settle(&threads)?;
            let mut after = before;
            for number in 0..if figure == Figure::Needless { NON_MATCHING } else { 0 } {
                let next = 2 + number % 2;
                gate.set(state, next);
                state = next;
                after = settle(&threads)?;
            }
            Ok(after - before)
        };
        let needless = before_the_end();
        let begin = Instant::now();
        gate.set(state, 1);
        let in_set = begin.elapsed();
        let mut last = begin;
        for waiter in waiters {
            last = last.max(waiter?.join().map_err(|_| io::Error::other("a thread failed"))??);
        }
        let needless = needless?;
        Ok(match figure {
            Figure::LastAwake => ((last - begin).as_nanos() as u64, 1),
            Figure::InSet => (in_set.as_nanos() as u64, 1),
            Figure::Needless => (needless, u64::from(NON_MATCHING)),
        })
    })
}

/// A thread of a window is pinned, and so would be those that it starts.
fn run_anywhere() -> io::Result<()> {
    let of_the_process = sched_getaffinity(Some(getpid()))?;
    Ok(sched_setaffinity(None, &of_the_process)?)
}

/// Waits until all these threads sleep and none has done anything for a while. Their voluntary switches until then.
fn settle(threads: &[Pid]) -> io::Result<u64> {
    let begin = Instant::now();
    let mut before = None;
    while begin.elapsed() < PATIENCE {
        let now = switches_asleep(threads)?;
        if now.is_some() && now == before {
            return Ok(now.unwrap_or_default());
        }
        before = now;
        thread::sleep(Duration::from_micros(100));
    }
    Err(io::Error::other("the threads do not fall asleep"))
}

/// The voluntary switches of all of them, if all sleep.
fn switches_asleep(threads: &[Pid]) -> io::Result<Option<u64>> {
    let mut all = 0;
    for thread in threads {
        let status = fs::read_to_string(format!("/proc/self/task/{}/status", thread.as_raw_nonzero()))?;
        let field = |name| status.lines().find_map(|line: &str| line.strip_prefix(name)).map(str::trim);
        if !field("State:").is_some_and(|state| state.starts_with('S')) {
            return Ok(None);
        }
        let switches = field("voluntary_ctxt_switches:").and_then(|switches| switches.parse::<u64>().ok());
        all += switches.ok_or_else(|| io::Error::other("the system does not tell a thread's switches"))?;
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::{
        super::peers::{Jeton, Std},
        *,
    };

    #[test]
    fn needless_switches_are_counted_and_ours_has_none() -> io::Result<()> {
        assert_eq!(crowd::<Jeton>(Figure::Needless)?, (0, u64::from(NON_MATCHING)));
        let (switches, transitions) = crowd::<Std>(Figure::Needless)?;
        assert!(switches >= u64::from(MANY) * transitions, "{switches}");
        Ok(())
    }

    #[test]
    fn a_wake_takes_time_and_the_last_thread_is_awake_after_it() -> io::Result<()> {
        for figure in [Figure::LastAwake, Figure::InSet] {
            assert!(crowd::<Std>(figure)?.0 > 0);
        }
        assert!(wakes::<Std>()?.0 > 0);
        Ok(())
    }
}
