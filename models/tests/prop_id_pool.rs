//! Any calls of an `IdPool` by several threads that come and go, one call at a time, against the set of free IDs:
//!
//! 1. no ID is handed out while somebody has it, and a call is refused only if there is none, whatever other threads have cached;
//! 2. a refused call leaves the pool as it was;
//! 3. at rest the number of free IDs is exact, and the main thread gets them all, each once, after all other threads have ended.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]

use std::{
    iter,
    sync::mpsc,
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use jeton::pool::{AllocError, Checked, FreeError, IdGuard, IdPool, IdPoolError, IdRange, RangeError, SliceError};
use jeton_models::spec::pool::{Choice, FreeIds};
use proptest::prelude::*;

/// The main thread and others.
const THREADS: usize = 3;

/// How a single ID is asked for. Of a pool with free IDs all must give one at once, and of one without only the last would wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Alloc,
    Timeout,
    Deadline,
    Wait,
}

/// The first part is the thread; places count modulo, among the IDs or guards there are.
#[derive(Clone, Copy, Debug)]
enum Call {
    Alloc(usize, Kind),
    AllocInto(usize, usize),
    AllocGuard(usize),
    Free(usize, usize),
    /// So many of the taken IDs, from this place on; and whether one that is none of the pool's comes after them.
    FreeSlice(usize, usize, usize, bool),
    DropGuard(usize, usize),
    IntoId(usize),
    /// An ID that is none of the pool's, or that it cannot have handed out yet.
    FreeWrongly(usize, u32),
    /// The thread ends, and another one begins when this is called for next.
    End(usize),
}

fn calls() -> impl Strategy<Value = Vec<Call>> {
    let (who, at) = (0..THREADS, any::<usize>());
    let kind = prop_oneof![Just(Kind::Alloc), Just(Kind::Timeout), Just(Kind::Deadline), Just(Kind::Wait)];
    let call = prop_oneof![
        8 => (who.clone(), kind).prop_map(|(who, kind)| Call::Alloc(who, kind)),
        4 => (who.clone(), 0usize..200).prop_map(|(who, len)| Call::AllocInto(who, len)),
        3 => who.clone().prop_map(Call::AllocGuard),
        6 => (who.clone(), at).prop_map(|(who, at)| Call::Free(who, at)),
        4 => (who.clone(), at, 0usize..200, any::<bool>()).prop_map(|(who, at, len, wrong)| Call::FreeSlice(who, at, len, wrong)),
        2 => (who.clone(), at).prop_map(|(who, at)| Call::DropGuard(who, at)),
        1 => at.prop_map(Call::IntoId),
        2 => (who.clone(), any::<u32>()).prop_map(|(who, id)| Call::FreeWrongly(who, id)),
        1 => who.prop_map(Call::End),
    ];
    prop::collection::vec(call, 1..150)
}

type Job = Box<dyn FnOnce(&IdPool) + Send>;

/// A thread with its own clone of the pool, and so with its own number while it lives.
struct Worker {
    jobs: mpsc::Sender<Job>,
    thread: JoinHandle<()>,
}

impl Worker {
    fn new(pool: &IdPool) -> Self {
        let (pool, (jobs, receiver)) = (pool.clone(), mpsc::channel::<Job>());
        Self { jobs, thread: thread::spawn(move || receiver.into_iter().for_each(|job| job(&pool))) }
    }

    fn end(self) {
        drop(self.jobs);
        self.thread.join().expect("no panic");
    }
}

struct World {
    pool: IdPool,
    users: u32,
    /// All threads but the main one.
    workers: [Option<Worker>; THREADS - 1],
    spec: FreeIds,
    taken: Vec<u32>,
    guards: Vec<IdGuard>,
    /// One more than the highest index handed out.
    reached: u32,
}

impl World {
    fn new(base: u32, capacity: u32, users: u32) -> Self {
        let pool = IdPool::with_users(base, capacity, users as usize).expect("a range");
        let spec = FreeIds::new(Choice::Any, base, capacity);
        Self { pool, users, workers: [const { None }; THREADS - 1], spec, taken: Vec::new(), guards: Vec::new(), reached: 0 }
    }

    /// Makes the call in thread `who` and waits for its end.
    fn on<T: Send + 'static>(&mut self, who: usize, call: impl FnOnce(&IdPool) -> T + Send + 'static) -> T {
        let Some(place) = who.checked_sub(1) else { return call(&self.pool) };
        let worker = self.workers[place].get_or_insert_with(|| Worker::new(&self.pool));
        let (sender, answer) = mpsc::channel();
        let job = move |pool: &IdPool| sender.send(call(pool)).expect("somebody waits for it");
        worker.jobs.send(Box::new(job)).expect("it lives");
        answer.recv().expect("no panic")
    }

    fn got(&mut self, id: u32) {
        assert_eq!(self.spec.reserve(id), Ok(()), "an ID that somebody has");
        self.reached = self.reached.max(id - self.pool.base() + 1);
    }

    /// A single ID, or a refusal that is right.
    fn got_one(&mut self, answer: Result<u32, AllocError>) {
        match answer {
            Ok(id) => {
                self.got(id);
                self.taken.push(id);
            }
            Err(error) => assert_eq!((error, self.spec.available()), (AllocError::Exhausted, 0), "alone, nobody contends"),
        }
    }

    fn alloc(&mut self, who: usize, kind: Kind) {
        if kind == Kind::Wait && self.spec.available() == 0 {
            return;
        }
        let answer = self.on(who, move |pool| match kind {
            Kind::Alloc => pool.alloc(),
            Kind::Timeout => pool.alloc_timeout(Duration::ZERO),
            Kind::Deadline => pool.alloc_deadline(Instant::now()),
            Kind::Wait => Ok(pool.alloc_wait()),
        });
        self.got_one(answer);
    }

    fn free_slice(&mut self, who: usize, at: usize, len: usize, wrong: bool) {
        let end = self.taken.len().min(at + len);
        let freed: Vec<u32> = self.taken.drain(at..end).collect();
        freed.iter().for_each(|&id| assert_eq!(self.spec.free(id), Ok(())));
        let outside = self.pool.base().wrapping_sub(1);
        let (mut ids, mut expected) = (freed, Ok(()));
        if wrong {
            expected = Err(SliceError { freed: ids.len(), error: FreeError::OutOfRange(outside) });
            ids.push(outside);
        }
        assert_eq!(self.on(who, move |pool| pool.free_slice(&ids)), expected);
    }

    fn free_wrongly(&mut self, who: usize, id: u32) {
        let index = id.wrapping_sub(self.pool.base());
        if index >= self.pool.capacity() {
            assert_eq!(self.on(who, move |pool| pool.free(id)), Err(FreeError::OutOfRange(id)));
        } else if u64::from(index) >= u64::from(self.reached) + 64 * u64::from(self.users) {
            // No cache can have fetched it.
            assert_eq!(self.on(who, move |pool| pool.free(id)), Err(FreeError::NotAllocated(id)));
        }
    }

    fn make(&mut self, call: Call) {
        match call {
            Call::Alloc(who, kind) => self.alloc(who, kind),
            Call::AllocInto(who, len) => {
                let ids = self.on(who, move |pool| {
                    let mut ids = vec![u32::MAX; len];
                    let done = pool.alloc_into(&mut ids);
                    ids.truncate(done);
                    ids
                });
                ids.iter().for_each(|&id| self.got(id));
                assert!(ids.len() == len || self.spec.available() == 0, "{} of {len}", ids.len());
                self.taken.extend(ids);
            }
            Call::AllocGuard(who) => match self.on(who, |pool| pool.alloc_guard().map(IdGuard::into_owned)) {
                Ok(guard) => {
                    self.got(guard.id());
                    self.guards.push(guard);
                }
                Err(error) => self.got_one(Err(error)),
            },
            Call::Free(who, at) if !self.taken.is_empty() => {
                let id = self.taken.swap_remove(at % self.taken.len());
                assert_eq!((self.on(who, move |pool| pool.free(id)), self.spec.free(id)), (Ok(()), Ok(())));
            }
            Call::FreeSlice(who, at, len, wrong) => self.free_slice(who, at % (self.taken.len() + 1), len, wrong),
            Call::DropGuard(who, at) if !self.guards.is_empty() => {
                let guard = self.guards.swap_remove(at % self.guards.len());
                assert_eq!(self.spec.free(guard.id()), Ok(()));
                self.on(who, move |_| drop(guard));
            }
            Call::IntoId(at) if !self.guards.is_empty() => {
                let guard = self.guards.swap_remove(at % self.guards.len());
                self.taken.push(guard.into_id());
            }
            Call::Free(..) | Call::DropGuard(..) | Call::IntoId(_) => {}
            Call::FreeWrongly(who, id) => self.free_wrongly(who, id),
            Call::End(who) => {
                let worker = who.checked_sub(1).and_then(|place| self.workers[place].take());
                worker.into_iter().for_each(Worker::end);
            }
        }
        assert_eq!(self.pool.available() as usize, self.spec.available(), "the count of a pool at rest is exact");
    }

    /// Ends all other threads; what they have cached is there.
    fn end(mut self) {
        self.workers.iter_mut().filter_map(Option::take).for_each(Worker::end);
        let (free, capacity) = (self.spec.available(), self.pool.capacity());
        let mut ids = vec![0; free + 1];
        assert_eq!(self.pool.alloc_into(&mut ids), free, "of {capacity}");
        ids[..free].iter().for_each(|&id| self.got(id));
        assert_eq!((self.pool.alloc(), self.pool.available()), (Err(AllocError::Exhausted), 0));
        let held = self.guards.len() + self.taken.len() + free;
        assert_eq!(held, capacity as usize, "all IDs recovered");
    }
}

fn run(base: u32, capacity: u32, users: u32, calls: Vec<Call>) {
    let mut world = World::new(base, capacity, users);
    calls.into_iter().for_each(|call| world.make(call));
    world.end();
}

proptest! {
    #[test]
    fn any_calls_agree_with_a_set_of_free_ids(
        (base, capacity) in prop_oneof![
            (Just(0_u32), 0_u32..700),
            (any::<u32>(), 0_u32..700).prop_map(|(base, capacity)| (base.min(u32::MAX - capacity), capacity)),
            // base + capacity = 2^32
            (1_u32..700).prop_map(|capacity| (u32::MAX - capacity + 1, capacity)),
            (Just(7_u32), 4000_u32..5000),
        ],
        users in prop_oneof![Just(1_u32), Just(2), Just(8)],
        calls in calls(),
    ) {
        run(base, capacity, users, calls);
    }
}

#[test]
fn a_range_may_end_at_the_last_u32_and_not_after_it() {
    for capacity in [1, 63, 64, 65, 2049] {
        let base = u32::MAX - capacity + 1;
        let pool = IdPool::with_range(base, capacity).expect("base + capacity = 2^32");
        let mut ids: Vec<u32> = iter::from_fn(|| pool.alloc().ok()).collect();
        ids.sort_unstable();
        assert!(ids.iter().copied().eq(base..=u32::MAX), "{capacity}");

        let capacity = capacity + 1;
        let refused = Some(IdPoolError::Range(RangeError::PastLastId { base, capacity }));
        assert_eq!(IdPool::with_range(base, capacity).err(), refused, "base + capacity = 2^32 + 1");
        assert_eq!(IdPool::with_users(base, capacity, 1).err(), refused);
    }
}

#[test]
fn a_pool_without_ids_refuses_everything() {
    for base in [0, 1, u32::MAX] {
        let pool = IdPool::with_range(base, 0).expect("no ID past the last one");
        assert_eq!((pool.base(), pool.capacity(), pool.available()), (base, 0, 0));
        assert_eq!((pool.alloc(), pool.alloc_timeout(Duration::ZERO)), (Err(AllocError::Exhausted), Err(AllocError::Exhausted)));
        assert_eq!((pool.alloc_into(&mut [0; 3]), pool.alloc_guard().err()), (0, Some(AllocError::Exhausted)));
        assert_eq!((pool.free(base), pool.free_slice(&[])), (Err(FreeError::OutOfRange(base)), Ok(())));
    }
}

/// Around this pool as around the core's.
#[test]
fn checked_finds_what_is_freed_twice() {
    let pool = Checked::<_, 100>::try_new(IdPool::with_users(40, 100, 2).expect("a range")).expect("as many bytes");
    let id = pool.alloc().expect("an ID");
    assert_eq!((pool.free(id), pool.free(id)), (Ok(()), Err(FreeError::NotAllocated(id))));
    assert_eq!(pool.pool().available(), 100);
}
