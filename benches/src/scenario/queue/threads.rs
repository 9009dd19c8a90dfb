//! Consumers that are threads, and threads that wait for a mode that does not come.

use std::{sync::Barrier, thread, time::Duration};

use jeton_core::sync::{AtomicU32, Ordering};

use super::{
    Mode, NoMode, Queue, QueueState, confirm, fill,
    usage::{self, Usage},
};
use crate::originals::queue::{Instance, Machine, Tube, Wanted, Watch};

/// Their stacks are small: there are hundreds.
const STACK: usize = 128 * 1024;

/// Spawns a thread with a small stack; panics if the system has none.
pub(super) fn spawn<'scope, 'env>(scope: &'scope thread::Scope<'scope, 'env>, work: impl FnOnce() + Send + 'scope) {
    thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).expect("the system has a thread left");
}

/// What threads that wait may use, by name.
pub const WAITS: [&str; 4] = ["sleep", "timed", "blocking", "gate"];

/// What so many waiting threads use in `time`, while nothing changes; `None` if there is no such wait.
pub fn idle(wait: &str, waiters: u32, time: Duration) -> Option<Usage> {
    let watch = match wait {
        "sleep" => Watch::Sleep,
        "timed" => Watch::Timed,
        "blocking" => Watch::Blocking,
        "gate" => {
            let queue = Queue::running();
            let wait = || {
                _ = queue.state().wait_for(QueueState::Waiting, None, None);
            };
            return used(waiters, time, wait, || queue.end());
        }
        _ => return None,
    };
    let instance = Instance::new(Wanted::Writable);
    used(
        waiters,
        time,
        || {
            _ = instance.wait(Wanted::ReadOnly, watch);
        },
        || instance.end(),
    )
}

fn used(waiters: u32, time: Duration, wait: impl Fn() + Sync, end: impl FnOnce()) -> Option<Usage> {
    waiting(waiters, wait, end, || {
        let start = usage::of_others();
        thread::sleep(time);
        usage::of_others().since(start)
    })
}

/// Runs `meanwhile` while so many threads wait, until `end`; `None` if a wait was over before.
pub(super) fn waiting<R>(waiters: u32, wait: impl Fn() + Sync, end: impl FnOnce(), meanwhile: impl FnOnce() -> R) -> Option<R> {
    let over = AtomicU32::new(0);
    let wait = || {
        wait();
        over.fetch_add(1, Ordering::Relaxed);
    };
    thread::scope(|scope| {
        (0..waiters).for_each(|_| spawn(scope, wait));
        settle();
        let result = meanwhile();
        let all_wait = over.load(Ordering::Relaxed) == 0;
        end();
        all_wait.then_some(result)
    })
}

/// Until all threads that were made wait: a fifth of a second in which none of them did anything, or two seconds if they never rest.
pub(super) fn settle() {
    for _ in 0..10 {
        let before = usage::of_others();
        thread::sleep(Duration::from_millis(200));
        if usage::of_others().since(before) == Usage::default() {
            return;
        }
    }
}

/// Microseconds of the process in both halves, with a thread for each consumer; `None` if there is no such kind, or a task was lost. Kinds are
/// those of [`time`](super::tasks::time).
pub fn time(kind: &str, consumers: u32, batch: u32) -> Option<[f64; 2]> {
    match kind {
        "none" => time_with(&NoMode, consumers, batch),
        "gate" => time_with(&Queue::running(), consumers, batch),
        "polling" => {
            let instance = Instance::new(Wanted::Writable);
            watched(
                &Machine::running(),
                || {
                    _ = instance.wait(Wanted::ReadOnly, Watch::Timed);
                },
                || instance.end(),
                consumers,
                batch,
            )
        }
        "blocking" => {
            let queue = Queue::running();
            let seen = queue.state().snapshot().epoch;
            watched(
                &queue,
                || {
                    _ = queue.state().wait_change(seen, None, None);
                },
                || queue.end(),
                consumers,
                batch,
            )
        }
        _ => None,
    }
}

fn watched<M: Mode>(mode: &M, wait: impl FnOnce() + Send, end: impl FnOnce(), consumers: u32, batch: u32) -> Option<[f64; 2]> {
    thread::scope(|scope| {
        spawn(scope, wait);
        let times = time_with(mode, consumers, batch);
        end();
        times
    })
}

fn time_with<M: Mode>(mode: &M, consumers: u32, batch: u32) -> Option<[f64; 2]> {
    let all = consumers.checked_mul(batch)? as usize;
    let tube = Tube::with_room(all, consumers as usize);
    let barrier = Barrier::new(consumers as usize + 1);
    let times = thread::scope(|scope| {
        for _ in 0..consumers {
            spawn(scope, || {
                barrier.wait();
                fill(mode, &tube, batch);
                barrier.wait();
                barrier.wait();
                confirm(mode, &tube, batch);
                barrier.wait();
            });
        }
        let half = || {
            let start = usage::now();
            barrier.wait();
            barrier.wait();
            usage::now().since(start).cpu_us
        };
        [half(), half()]
    });
    (tube.counts() == (0, 0) && tube.put("") == all as u64).then_some(times)
}
