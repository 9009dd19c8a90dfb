//! Gates, in the core and in std.

use std::{
    cell::UnsafeCell,
    pin::Pin,
    task::{Context, Poll, RawWaker, RawWakerVTable, Waker},
    thread,
    time::{Duration, Instant},
};

use jeton::{
    cancel::CancelSource,
    gate::{self, StateSet, Waited},
};
use jeton_core::{
    gate::{Gate, states},
    sync::{AtomicU32, Ordering},
};

use super::{THREADS, in_so_many_threads, in_threads};

states! {
    /// Whose turn it is.
    enum Turn: open First {
        First -> [Second], abort Second;
        Second -> [Third], abort Third;
        Third -> [First], abort First;
    }
}

/// Polls a wait until it is over, in between only when its waker has said so. (ThreadSanitizer does not know the fence with which the library's `Arc`
/// ends, so the waker has none.)
pub fn wait<F: Future + Unpin>(number: usize, mut future: F) -> F::Output {
    static WOKEN: [AtomicU32; THREADS] = [const { AtomicU32::new(0) }; THREADS];
    const TABLE: RawWakerVTable = RawWakerVTable::new(|data| RawWaker::new(data, &TABLE), wake, wake, |_| {});
    fn wake(data: *const ()) {
        // SAFETY: it comes from the static above.
        unsafe { &*data.cast::<AtomicU32>() }.store(1, Ordering::Release);
    }
    // SAFETY: the functions only use a static, and may be called in any thread.
    let waker = unsafe { Waker::from_raw(RawWaker::new((&raw const WOKEN[number]).cast(), &TABLE)) };
    loop {
        if let Poll::Ready(output) = Pin::new(&mut future).poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        while WOKEN[number].swap(0, Ordering::Acquire) == 0 {
            thread::yield_now();
        }
    }
}

/// Memory that is not atomic.
struct Plain(UnsafeCell<usize>);
// SAFETY: whoever has the turn alone touches it.
unsafe impl Sync for Plain {}

/// Each waits for its turn, adds one to plain memory, and hands the turn on. A wake-up that is lost stops all of them.
pub fn a_gate_hands_memory_round(rounds: usize) {
    let (gate, plain) = (Gate::<Turn, THREADS>::new(), Plain(UnsafeCell::new(0)));
    let turns = [Turn::First, Turn::Second, Turn::Third];
    let plain = &plain;
    in_threads(|number| {
        let (own, next) = (turns[number], turns[(number + 1) % THREADS]);
        for round in 0..rounds {
            if round % 3 == 0 {
                // One that is given up, perhaps just while it is woken.
                _ = Pin::new(&mut gate.reached(next)).poll(&mut Context::from_waker(Waker::noop()));
            }
            let moment = wait(number, gate.reached(own)).expect("a slot for each, and nobody closes it");
            assert_eq!(moment.epoch.get() as usize % THREADS, number);
            // SAFETY: it is this thread's turn.
            unsafe { *plain.0.get() += 1 };
            gate.try_transition(own, next).expect("it is this thread's turn");
        }
    });
    assert_eq!(gate.snapshot().epoch.get() as usize, rounds * THREADS);
    // SAFETY: all threads have ended.
    assert_eq!(unsafe { *plain.0.get() }, rounds * THREADS);
}

/// The same with a thread that sleeps on the gate, one that can be canceled, and a task; at the end two of them wait for the gate's.
pub fn threads_and_a_task_hand_memory_round(rounds: usize) {
    const LAPS: usize = 20;
    let turns = [Turn::First, Turn::Second, Turn::Third];
    for _ in 0..rounds.div_ceil(LAPS) {
        let (gate, plain, source) = (gate::Gate::<Turn>::new(), Plain(UnsafeCell::new(0)), CancelSource::new());
        let (token, plain) = (source.token(), &plain);
        let wait_for = |number, states: StateSet<Turn>| match number {
            0 => gate.wait_for(states, None, None),
            // ThreadSanitizer does not know the fence with which the `Arc` ends that a wait with a token has.
            1 if !cfg!(jeton_tsan) => gate.wait_for(states, None, Some(&token)),
            1 => gate.wait_for(states, None, None),
            _ => wait(number, gate.reached(states)).map_or(Waited::Closed, Waited::Reached),
        };
        let closed = in_threads(|number| {
            let (own, next) = (turns[number], turns[(number + 1) % THREADS]);
            for lap in 0..LAPS {
                if lap % 3 == 0 {
                    // Given up, perhaps just while it is woken.
                    _ = Pin::new(&mut gate.reached(next)).poll(&mut Context::from_waker(Waker::noop()));
                    _ = gate.wait_for(next, Some(Instant::now() + Duration::from_micros(lap as u64)), None);
                }
                let Waited::Reached(moment) = wait_for(number, own.into()) else { panic!("nobody ends it yet") };
                assert_eq!(moment.epoch.get() as usize % THREADS, number);
                // SAFETY: it is this thread's turn.
                unsafe { *plain.0.get() += 1 };
                gate.try_transition(own, next).expect("it is this thread's turn");
            }
            number == THREADS - 1 && gate.close() || wait_for(number, StateSet::none()) == Waited::Closed
        });
        assert_eq!(closed, [true; THREADS]);
        // SAFETY: all threads have ended.
        assert_eq!(unsafe { *plain.0.get() }, LAPS * THREADS);
    }
}

/// A crowd waits for each state of a circle in turn; some of it gives up and comes again. The setter goes on when all have come: a thread that is
/// left asleep stops it.
pub fn a_crowd_is_woken_at_every_turn(rounds: usize) {
    const CROWD: usize = 12;
    let turns = [Turn::First, Turn::Second, Turn::Third];
    let (gate, plain, arrived) = (gate::Gate::<Turn>::new(), Plain(UnsafeCell::new(0)), AtomicU32::new(0));
    let plain = &plain;
    let laps = (rounds / CROWD).max(1);
    in_so_many_threads(CROWD + 1, |number| {
        for lap in 1..=laps {
            if number == CROWD {
                // SAFETY: all others wait for what comes next.
                unsafe { *plain.0.get() = lap };
                gate.try_transition(turns[(lap - 1) % 3], turns[lap % 3]).expect("nobody else sets it");
                while arrived.load(Ordering::Acquire) as usize != CROWD * lap {
                    thread::yield_now();
                }
                continue;
            }
            if (lap + number) % 4 == 0 {
                _ = gate.wait_for(turns[lap % 3], Some(Instant::now() + Duration::from_micros((lap % 50) as u64)), None);
            }
            let Waited::Reached(moment) = gate.wait_for(turns[lap % 3], None, None) else { panic!("nobody ends it") };
            // SAFETY: the setter waits until this thread has arrived.
            assert_eq!((moment.epoch.get() as usize, unsafe { *plain.0.get() }), (lap, lap));
            arrived.fetch_add(1, Ordering::Release);
        }
    });
}
