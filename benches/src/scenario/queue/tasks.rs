//! The documented benchmark: consumers that are tasks on one thread, as the original's fibers.
//!
//! Each puts its batch; when all have, each takes and acknowledges its batch. The operations of the benchmark do not wait, so a task gives way
//! only when its batch is done, as a fiber does. A watcher is a task among them.

use std::{
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    time::{Duration, Instant},
};

use jeton_core::sync::{AtomicU32, Ordering};

use super::{Mode, Queue, confirm, fill, usage};
use crate::originals::queue::{Instance, Machine, Tube, Wanted};

/// A task that is polled when it has been woken.
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(1, Ordering::Release);
    }
}

/// Gives way once.
fn give_way() -> impl Future<Output = ()> {
    let mut first = true;
    std::future::poll_fn(move |context| {
        if std::mem::take(&mut first) {
            context.waker().wake_by_ref();
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    })
}

type Task<'a> = Pin<Box<dyn Future<Output = u32> + 'a>>;

/// Polls what has been woken until all consumers are done, the watcher between them; returns the sum of what they did.
fn run(mut consumers: Vec<Task<'_>>, watcher: impl Future<Output = ()>) -> u32 {
    let mut watcher = pin!(watcher);
    let woken = Arc::new(Woken(AtomicU32::new(1)));
    let waker = Waker::from(woken.clone());
    let (mut context, mut sum) = (Context::from_waker(Waker::noop()), 0);
    while !consumers.is_empty() {
        consumers.retain_mut(|consumer| {
            if woken.0.swap(0, Ordering::AcqRel) == 1 {
                _ = watcher.as_mut().poll(&mut Context::from_waker(&waker));
            }
            match consumer.as_mut().poll(&mut context) {
                Poll::Ready(done) => {
                    sum += done;
                    false
                }
                Poll::Pending => true,
            }
        });
    }
    sum
}

/// Who watches the mode meanwhile.
#[derive(Clone, Copy, Debug)]
pub enum Watcher<'a> {
    /// Nobody.
    Nobody,
    /// It looks whenever a task gives way and a millisecond has passed.
    Polling(&'a Instance),
    /// It has asked to be woken when the state changes.
    Waiting(&'a Queue),
}

async fn watch(watcher: Watcher<'_>) {
    match watcher {
        Watcher::Nobody => (),
        Watcher::Polling(instance) => {
            let mut next = Instant::now();
            while {
                let now = Instant::now();
                let is_due = now >= next;
                if is_due {
                    next = now + Duration::from_millis(1);
                }
                !(is_due && instance.is(Wanted::ReadOnly))
            } {
                give_way().await;
            }
        }
        Watcher::Waiting(queue) => {
            let seen = queue.state().snapshot();
            _ = queue.state().changed(seen.epoch).await;
        }
    }
}

/// All put their batch.
pub fn all_fill<M: Mode>(mode: &M, tube: &Tube, watcher: Watcher<'_>, consumers: u32, batch: u32) -> u32 {
    let task = |_| -> Task<'_> { Box::pin(async move { fill(mode, tube, batch) }) };
    run((0..consumers).map(task).collect(), watch(watcher))
}

/// All take and acknowledge their batch.
pub fn all_confirm<M: Mode>(mode: &M, tube: &Tube, watcher: Watcher<'_>, consumers: u32, batch: u32) -> u32 {
    let task = |_| -> Task<'_> { Box::pin(async move { confirm(mode, tube, batch) }) };
    run((0..consumers).map(task).collect(), watch(watcher))
}

/// The kinds that [`time`] knows.
pub const KINDS: [&str; 4] = ["none", "gate", "polling", "blocking"];

/// Microseconds of the process in both halves; `None` if there is no such kind, or a task was lost.
pub fn time(kind: &str, consumers: u32, batch: u32) -> Option<[f64; 2]> {
    match kind {
        "none" => time_with(&super::NoMode, Watcher::Nobody, consumers, batch),
        "gate" => time_with(&Queue::running(), Watcher::Nobody, consumers, batch),
        "polling" => {
            // The original's machine is watched by a thread of its own until it runs; then by a task.
            let instance = Instance::new(Wanted::Writable);
            let machine = Machine::running();
            time_with(&machine, Watcher::Polling(&instance), consumers, batch)
        }
        "blocking" => {
            let queue = Queue::running();
            time_with(&queue, Watcher::Waiting(&queue), consumers, batch)
        }
        _ => None,
    }
}

fn time_with<M: Mode>(mode: &M, watcher: Watcher<'_>, consumers: u32, batch: u32) -> Option<[f64; 2]> {
    let all = consumers.checked_mul(batch)?;
    let tube = Tube::with_room(all as usize, 1);
    let start = usage::now();
    let filled = all_fill(mode, &tube, watcher, consumers, batch);
    let middle = usage::now();
    let confirmed = all_confirm(mode, &tube, watcher, consumers, batch);
    let end = usage::now();
    ((filled, confirmed) == (all, all)).then(|| [middle.since(start).cpu_us, end.since(middle).cpu_us])
}
