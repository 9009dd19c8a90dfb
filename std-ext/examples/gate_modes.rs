//! A service with modes: calls are let in while it runs, and a thread and a task follow it without looking at a clock.

use std::{
    pin::pin,
    sync::Arc,
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::{Duration, Instant},
};

use jeton::gate::{Gate, Waited, states};

states! {
    /// What the service does.
    enum Mode: open Running {
        Starting -> [Running], abort Stopped;
        Running -> [Draining], abort Draining;
        Draining -> [Stopped], abort Stopped;
        Stopped -> [];
    }
}

static MODE: Gate<Mode> = Gate::new();

/// Wakes the thread that runs the future.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end in this thread, which sleeps while there is nothing to do.
fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// A call: let in with one load.
fn call(number: u32) -> Option<u32> {
    MODE.check().then_some(number + 1)
}

fn main() {
    assert_eq!(call(1), None, "it starts still");
    let start = MODE.snapshot().epoch;

    // A thread that waits for the end of the service, though not for ever; and a task that waits for its start.
    let ends =
        thread::spawn(|| MODE.wait_for([Mode::Draining, Mode::Stopped], Some(Instant::now() + Duration::from_secs(60)), None));
    let starts = thread::spawn(|| block_on(MODE.reached(Mode::Running)));
    MODE.try_transition(Mode::Starting, Mode::Running).expect("an edge of the table, and it was starting");
    assert_eq!(starts.join().expect("no panic").map(|moment| moment.state), Ok(Mode::Running));
    assert_eq!(call(1), Some(2));

    MODE.try_transition(Mode::Running, Mode::Draining).expect("as above");
    let Waited::Reached(moment) = ends.join().expect("no panic") else { panic!("it ends in time") };
    assert_eq!((moment.state, call(1)), (Mode::Draining, None));
    // Who looks seldom still knows that something has happened in between.
    println!("{} transitions up to {:?}", MODE.changed_since(start).0, moment.state);
    assert_eq!(MODE.changed_since(start).0, 2);
}
