//! What the original does wrong, and ours beside it.

use std::{
    thread,
    time::{Duration, Instant},
};

use super::{
    Queue, QueueState, Role,
    threads::{settle, spawn, waiting},
    usage,
};
use crate::originals::queue::{Instance, Machine, Tube, Wanted, Watch};

/// Until something holds, at most for ten seconds; whether it does.
fn until(mut holds: impl FnMut() -> bool) -> bool {
    let began = Instant::now();
    while !holds() {
        if began.elapsed() > Duration::from_secs(10) {
            return false;
        }
        thread::sleep(Duration::from_micros(100));
    }
    true
}

/// How many of so many fast flips, writable to read-only and back, the original's watcher has answered. In the original it cannot run between
/// the two changes of a flip, since a fiber gives way only when it waits: here it is made after each.
pub fn flips_of_original(flips: u32) -> u32 {
    let (instance, machine, tube) = (Instance::new(Wanted::Writable), Machine::running(), Tube::default());
    for _ in 0..flips {
        instance.set(Wanted::ReadOnly);
        instance.set(Wanted::Writable);
    }
    thread::scope(|scope| {
        spawn(scope, || machine.watch(&instance, &tube, Watch::Blocking));
        thread::sleep(Duration::from_millis(200));
        instance.end();
    });
    machine.endings()
}

/// How many of them ours has answered, under the same conditions: its watcher knew the role before the first flip.
pub fn flips_of_ours(flips: u32) -> u32 {
    let (queue, tube) = (Queue::running(), Tube::default());
    let seen = queue.role().epoch;
    for _ in 0..flips {
        _ = queue.set_role(Role::ReadOnly);
        _ = queue.set_role(Role::Writable);
    }
    thread::scope(|scope| {
        spawn(scope, || queue.watch(&tube, seen));
        until(|| queue.endings() == flips);
        thread::sleep(Duration::from_millis(200));
        queue.end();
    });
    queue.endings()
}

/// Milliseconds from the end of the original's queue until a blocked `take` returns, which had `timeout` left.
pub fn release_of_original(timeout: Duration) -> Option<f64> {
    let (instance, machine, tube) = (Instance::new(Wanted::Writable), Machine::running(), Tube::default());
    thread::scope(|scope| {
        spawn(scope, || machine.watch(&instance, &tube, Watch::Blocking));
        let took = released(|| machine.take(&tube, 2 * timeout), || instance.set(Wanted::ReadOnly), timeout);
        instance.end();
        took
    })
}

/// Milliseconds from the end of our queue until a blocked `take` returns.
pub fn release_of_ours(timeout: Duration) -> Option<f64> {
    let (queue, tube) = (Queue::running(), Tube::default());
    let seen = queue.role().epoch;
    thread::scope(|scope| {
        spawn(scope, || queue.watch(&tube, seen));
        let took = released(
            || queue.take(&tube, 2 * timeout),
            || {
                _ = queue.set_role(Role::ReadOnly);
            },
            timeout,
        );
        queue.end();
        took
    })
}

/// `None` if it did not block, or took a task.
fn released(take: impl FnOnce() -> Option<u64> + Send, close: impl FnOnce(), before: Duration) -> Option<f64> {
    thread::scope(|scope| {
        let takes = scope.spawn(|| (take(), Instant::now()));
        thread::sleep(before);
        let (blocked, start) = (!takes.is_finished(), Instant::now());
        close();
        let (task, end) = takes.join().ok()?;
        (blocked && task.is_none()).then(|| (end - start).as_secs_f64() * 1e3)
    })
}

/// Voluntary switches for each change that nobody has waited for, of so many original waiters; a change wakes all.
pub fn herd_of_original(waiters: u32, changes: u32) -> Option<f64> {
    let instance = Instance::new(Wanted::Writable);
    let wait = || {
        _ = instance.wait(Wanted::ReadOnly, Watch::Blocking);
    };
    herd(waiters, changes, wait, |_| instance.set(Wanted::Writable), || instance.end())
}

/// The same of ours: they wait for RUNNING, and the gate goes to ENDING, WAITING, STARTUP and to ENDING again.
pub fn herd_of_ours(waiters: u32, changes: u32) -> Option<f64> {
    use QueueState::{Ending, Running, Startup, Waiting};
    let queue = Queue::running();
    _ = queue.state().try_transition(Running, Ending);
    let wait = || {
        _ = queue.state().wait_for(Running, None, None);
    };
    let path = [(Ending, Waiting), (Waiting, Startup), (Startup, Ending)];
    let change = |at: usize| {
        let (from, to) = path[at % path.len()];
        queue.state().try_transition(from, to).expect("an edge of the path");
    };
    herd(waiters, changes, wait, change, || queue.end())
}

fn herd(waiters: u32, changes: u32, wait: impl Fn() + Sync, change: impl Fn(usize), end: impl FnOnce()) -> Option<f64> {
    waiting(waiters, wait, end, || {
        let start = usage::of_others();
        for at in 0..changes as usize {
            change(at);
            settle();
        }
        usage::of_others().since(start).switches / f64::from(changes)
    })
}
