//! Waiting for an ID, under every interleaving: nobody sleeps for good beside a free ID. The wait and the loop around it are the
//! library's own files; loom and shuttle report threads that all sleep. Two waiters get into each other's way and look again: those
//! models are for shuttle alone, since loom finds no end of schedules in which one of them does, and lets no nap end.
#![cfg(any(jeton_loom, jeton_shuttle))]

/// In the place of `std`'s.
mod blocking {
    use std::{cell::Cell, ops::Add, time::Duration};

    #[cfg(jeton_loom)]
    pub use loom::{
        sync::{Condvar, Mutex, MutexGuard},
        thread::yield_now,
    };
    #[cfg(jeton_shuttle)]
    pub use shuttle::{
        sync::{Condvar, Mutex, MutexGuard},
        thread::yield_now,
    };

    /// On a clock that stands still until a program calls `late`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub struct Instant(Duration);

    thread_local! {
        /// Of the running execution, all of which is in one thread.
        static NOW: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    impl Instant {
        pub fn now() -> Self {
            Self(NOW.get())
        }

        pub fn saturating_duration_since(self, earlier: Self) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    impl Add<Duration> for Instant {
        type Output = Self;

        fn add(self, rest: Duration) -> Self {
            Self(self.0 + rest)
        }
    }

    /// Starts the clock.
    pub fn early() {
        NOW.set(Duration::ZERO);
    }

    /// A deadline that passes when the program calls [`late`].
    #[cfg(jeton_shuttle)]
    pub const DEADLINE: Instant = Instant(Duration::from_secs(1));

    #[cfg(jeton_shuttle)]
    pub fn late() {
        NOW.set(Duration::from_secs(3600));
    }
}
#[path = "../../std-ext/src/wait.rs"]
mod wait;
#[path = "../../std-ext/src/pool/waiting.rs"]
mod waiting;

use jeton_core::pool::{AllocError, Blocks, StealableCache, Users};
use jeton_models::explore::{Arc, Model, explore, thread};
use waiting::look_and_sleep;

/// Two IDs, in models, and what an `IdPool` has beside them.
struct World {
    ids: StealableCache<Blocks<1>, Users<2>>,
    waiters: wait::Waiters,
}

impl World {
    /// With both IDs taken.
    fn new() -> Arc<Self> {
        blocking::early();
        let world = Self { ids: StealableCache::new(), waiters: wait::Waiters::new() };
        let user = world.ids.user(0).expect("a user");
        assert_eq!((user.alloc(), user.alloc()), (Ok(0), Ok(1)));
        Arc::new(world)
    }

    fn alloc_wait(&self, user: usize) -> u32 {
        self.alloc_until(user, None).expect("no deadline")
    }

    fn alloc_until(&self, user: usize, deadline: Option<blocking::Instant>) -> Result<u32, AllocError> {
        let alloc = || self.ids.user(user).expect("a user").alloc();
        alloc().or_else(|_| look_and_sleep(&self.waiters, || self.ids.pool().press(), alloc, deadline))
    }

    fn free(&self, user: usize, id: u32) {
        if self.ids.user(user).expect("a user").free_and_tell(id).expect("allocated") {
            self.waiters.wake_one();
        }
    }
}

/// Runs the programs beside each other, the first one here.
fn run(programs: &[fn(&World)]) {
    let world = World::new();
    let others: Vec<_> = programs[1..]
        .iter()
        .map(|&program| {
            let world = world.clone();
            thread::spawn(move || program(&world))
        })
        .collect();
    programs[0](&world);
    others.into_iter().for_each(|other| other.join().expect("a thread of the model panicked"));
}

/// Of those for shuttle alone.
#[cfg(jeton_shuttle)]
const THREE: Model = Model { threads: 3, loom: 0, rmw: 0, shuttle: 18000 };

#[test]
fn a_waiter_is_woken_by_a_free_into_another_cache() {
    explore(Model { threads: 2, loom: 230, rmw: 880, shuttle: 63000 }, || {
        run(&[|world| assert_eq!(world.alloc_wait(1), 0), |world| world.free(0, 0)])
    });
}

#[test]
#[cfg(jeton_shuttle)]
fn two_waiters_share_what_one_thread_gives_back() {
    explore(THREE, || {
        let waits: fn(&World) = |world| _ = world.alloc_wait(1);
        run(&[
            |world| {
                world.free(0, 0);
                world.free(0, 1);
            },
            waits,
            waits,
        ]);
    });
}

#[test]
#[cfg(jeton_shuttle)]
fn a_waiter_that_has_its_id_lends_it_to_another_one() {
    explore(THREE, || {
        let waits: fn(&World) = |world| {
            let id = world.alloc_wait(1);
            world.free(1, id);
        };
        run(&[|world| world.free(0, 0), waits, waits]);
    });
}

/// The wake of a free comes to one whose time is up, and who finds no ID because somebody is inside of the cache with it.
#[test]
#[cfg(jeton_shuttle)]
fn a_waiter_that_gives_up_passes_its_wake_on() {
    explore(THREE, || {
        run(&[
            |world| {
                blocking::late();
                world.free(0, 0);
                if let Ok(id) = world.ids.user(0).expect("a user").alloc() {
                    world.free(0, id);
                }
            },
            |world| {
                if let Ok(id) = world.alloc_until(1, Some(blocking::DEADLINE)) {
                    world.free(1, id);
                }
            },
            |world| _ = world.alloc_wait(1),
        ]);
    });
}
