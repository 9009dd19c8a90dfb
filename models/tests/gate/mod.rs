//! What the tests of the gate's reported faults share.
#![allow(missing_docs, dead_code, reason = "each file of tests uses a part")]
#![allow(clippy::disallowed_types, reason = "what wakers count is outside of what is tested")]

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::gate::{Gate, Moment, WaitError, states};

states! {
    /// The life of a queue whose instance is now a leader and now a follower.
    pub enum Queue: open Running {
        Init -> [Startup], abort Waiting;
        Startup -> [Running], abort Waiting;
        Running -> [Ending], abort Ending;
        Ending -> [Waiting], abort Waiting;
        Waiting -> [Startup], abort Startup;
    }
}

pub use Queue::{Ending, Init, Running, Startup, Waiting};

pub const INIT: u8 = Init as u8;
pub const STARTUP: u8 = Startup as u8;
pub const RUNNING: u8 = Running as u8;
pub const ENDING: u8 = Ending as u8;
pub const WAITING: u8 = Waiting as u8;

/// What is borrowed for ever.
pub fn leak<const N: usize>() -> &'static Gate<Queue, N> {
    Box::leak(Box::new(Gate::new()))
}

/// Goes all the way to that state, which is not the first one.
pub fn go_to<const N: usize>(gate: &Gate<Queue, N>, state: Queue) {
    for (from, to) in [(Init, Startup), (Startup, Running), (Running, Ending), (Ending, Waiting)] {
        assert!(gate.try_transition(from, to).is_ok());
        if to == state {
            return;
        }
    }
    unreachable!("the road comes to every state")
}

#[derive(Default)]
pub struct Woken(AtomicU32);

impl Woken {
    pub fn times(&self) -> u32 {
        self.0.load(Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

pub fn waker() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

/// A waker that panics when it wakes.
pub fn bomb() -> Waker {
    struct Bomb;
    impl Wake for Bomb {
        fn wake(self: Arc<Self>) {
            panic!("a waker");
        }
    }
    Waker::from(Arc::new(Bomb))
}

pub fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// The state that a wait has ended in.
pub fn state(answer: Poll<Result<Moment<Queue>, WaitError>>) -> Option<Queue> {
    match answer {
        Poll::Ready(Ok(moment)) => Some(moment.state),
        _ => None,
    }
}
