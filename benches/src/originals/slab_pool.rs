//! Slabs of 64 IDs, one a user, and a lock a user: the fast pool of Open vSwitch.

use jeton_core::{sync::UnsafeCell, util::Padded};

use super::Lock;

/// How many IDs a slab holds.
pub const SLAB: usize = 64;

/// A pool in which each user has a slab of IDs behind a lock of its own. Full slabs, and IDs that nobody has had yet, lie behind
/// the lock of the pool. Who finds neither takes one ID of another user, under that user's lock.
///
/// Known faults, which are the original's: an ID freed twice is handed out twice; an ID that was never handed out can be freed; IDs
/// outside the range are ignored in silence; [`alloc`](Self::alloc) may find nothing while other users allocate and free, though there
/// are free IDs all the time; a pattern at the border of a slab allocates and frees memory for ever.
#[derive(Debug)]
pub struct SlabPool<L> {
    first: u32,
    end: u32,
    users: Box<[Padded<PerUser<L>>]>,
    lock: L,
    shared: UnsafeCell<Shared>,
}

#[derive(Debug)]
struct PerUser<L> {
    lock: L,
    slab: UnsafeCell<Option<Box<Slab>>>,
}

/// A stack of IDs, and the next slab of the list of full ones while it is in it.
#[derive(Debug)]
struct Slab {
    len: usize,
    ids: [u32; SLAB],
    next: Option<Box<Slab>>,
}

/// What the pool's lock guards.
#[derive(Debug)]
struct Shared {
    full: Option<Box<Slab>>,
    fresh: u32,
}

// SAFETY: a cell is used with its lock held only: `slab` with that of its user, `shared` with that of the pool. The rest is immutable
// or a lock, which is `Sync`.
unsafe impl<L: Lock> Sync for SlabPool<L> {}

impl<L: Lock> SlabPool<L> {
    /// A pool of `count` IDs from `first` on. Each user has a slab of fresh IDs from the beginning, as far as there are any.
    ///
    /// # Panics
    /// If there are not so many IDs from `first` on.
    pub fn new(first: u32, count: u32, users: u32) -> Self {
        let end = first.checked_add(count).expect("IDs of 32 bits");
        let mut shared = Shared { full: None, fresh: first };
        let users = (0..users).map(|_| {
            let slab = UnsafeCell::new(shared.fresh_slab(end));
            Padded::new(PerUser { lock: L::default(), slab })
        });
        Self { first, end, users: users.collect(), lock: L::default(), shared: UnsafeCell::new(shared) }
    }

    /// Takes an ID for the user of this number: its own newest one, or one of another user if there is no other.
    ///
    /// # Panics
    /// If there is no such user.
    #[inline]
    pub fn alloc(&self, user: usize) -> Option<u32> {
        let own = &self.users[user];
        let found = own.lock.locked(|| {
            own.slab.with_mut(|slab| {
                // SAFETY: this user's lock is held.
                let slab = unsafe { &mut *slab };
                match pop(slab) {
                    None => self.refill(slab),
                    found => found,
                }
            })
        });
        if found.is_some() { found } else { self.steal(user) }
    }

    /// Gives an ID back to the user of this number; an ID outside the range is ignored.
    ///
    /// # Panics
    /// If there is no such user.
    #[inline]
    pub fn free(&self, user: usize, id: u32) {
        if id < self.first || id >= self.end {
            return;
        }
        let own = &self.users[user];
        own.lock.locked(|| {
            own.slab.with_mut(|slab| {
                // SAFETY: this user's lock is held.
                let slab = unsafe { &mut *slab };
                match slab {
                    Some(slab) if slab.len < SLAB => slab.push(id),
                    _ => self.put_away(slab, id),
                }
            });
        });
    }

    /// A slab for a user that has none left, and its first ID: a full one of the list, else one of fresh IDs. The user's lock is held.
    #[cold]
    #[inline(never)]
    fn refill(&self, slab: &mut Option<Box<Slab>>) -> Option<u32> {
        *slab = None;
        *slab = self.lock.locked(|| {
            self.shared.with_mut(|shared| {
                // SAFETY: the pool's lock is held.
                let shared = unsafe { &mut *shared };
                shared.full_slab().or_else(|| shared.fresh_slab(self.end))
            })
        });
        pop(slab)
    }

    /// Puts the slab, which is full, into the list, and the ID into a new one. The user's lock is held.
    #[cold]
    #[inline(never)]
    fn put_away(&self, slab: &mut Option<Box<Slab>>, id: u32) {
        if let Some(full) = slab.take() {
            // SAFETY: the pool's lock is held.
            self.lock.locked(|| self.shared.with_mut(|shared| unsafe { (*shared).put(full) }));
        }
        let mut new = Box::new(Slab::new());
        new.push(id);
        *slab = Some(new);
    }

    /// One ID of the first other user that has one.
    #[cold]
    #[inline(never)]
    fn steal(&self, thief: usize) -> Option<u32> {
        let others = self.users.iter().enumerate().filter(|(user, _)| *user != thief);
        others.map(|(_, victim)| victim).find_map(|victim| {
            // SAFETY: the victim's lock is held.
            victim.lock.locked(|| victim.slab.with_mut(|slab| pop(unsafe { &mut *slab })))
        })
    }
}

impl Slab {
    fn new() -> Self {
        Self { len: 0, ids: [0; SLAB], next: None }
    }

    #[inline(always)]
    fn push(&mut self, id: u32) {
        self.ids[self.len] = id;
        self.len += 1;
    }
}

#[inline(always)]
fn pop(slab: &mut Option<Box<Slab>>) -> Option<u32> {
    let slab = slab.as_mut()?;
    slab.len = slab.len.checked_sub(1)?;
    slab.ids.get(slab.len).copied()
}

impl Shared {
    fn full_slab(&mut self) -> Option<Box<Slab>> {
        let mut slab = self.full.take()?;
        self.full = slab.next.take();
        Some(slab)
    }

    fn put(&mut self, mut slab: Box<Slab>) {
        slab.next = self.full.take();
        self.full = Some(slab);
    }

    /// The next 64 IDs that nobody has had, or what is left of them; the lowest comes out first.
    fn fresh_slab(&mut self, end: u32) -> Option<Box<Slab>> {
        let count = (end - self.fresh).min(SLAB as u32);
        if count == 0 {
            return None;
        }
        let mut slab = Box::new(Slab::new());
        for id in (self.fresh..self.fresh + count).rev() {
            slab.push(id);
        }
        self.fresh += count;
        Some(slab)
    }
}

impl Drop for Shared {
    /// One slab after another: the list is long, and a drop of its first one would call itself for every other.
    fn drop(&mut self) {
        while self.full_slab().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeSet, thread};

    use super::*;
    use crate::originals::{Lean, Shipped};

    fn all_once<L: Lock>() {
        for (first, count, users) in [(0, 1000, 1), (5, 1, 1), (100, 1000, 4), (7, 65, 2), (0, 0, 2), (u32::MAX - 99, 99, 3)] {
            let pool = SlabPool::<L>::new(first, count, users);
            let mut ids = BTreeSet::new();
            for round in 0..2 {
                // By one user alone: those that the others have from the beginning are stolen.
                ids.extend(std::iter::from_fn(|| pool.alloc(0)));
                assert_eq!(ids, (first..first + count).collect(), "{count} IDs for {users}, round {round}");
                for (turn, id) in std::mem::take(&mut ids).into_iter().enumerate() {
                    pool.free(turn % users as usize, id);
                }
            }
        }
    }

    #[test]
    fn exactly_all_ids_each_once() {
        all_once::<Lean>();
        all_once::<Shipped>();
    }

    #[test]
    fn an_id_outside_the_range_is_ignored() {
        let pool = SlabPool::<Lean>::new(10, 2, 1);
        for outside in [9, 12, 0, u32::MAX] {
            pool.free(0, outside);
        }
        assert_eq!([pool.alloc(0), pool.alloc(0), pool.alloc(0)], [Some(10), Some(11), None]);
    }

    #[test]
    fn the_newest_comes_out_first_and_fresh_ones_in_order() {
        let pool = SlabPool::<Lean>::new(0, 200, 1);
        assert_eq!((0..70).filter_map(|_| pool.alloc(0)).collect::<Vec<_>>(), (0..70).collect::<Vec<_>>());
        pool.free(0, 3);
        pool.free(0, 1);
        assert_eq!((pool.alloc(0), pool.alloc(0)), (Some(1), Some(3)));
    }

    #[test]
    fn no_id_is_lost_or_given_twice_between_threads() {
        const IDS: u32 = 4096;
        const USERS: u32 = 4;
        let pool = SlabPool::<Lean>::new(0, IDS, USERS);
        let (share, at_once) = (IDS / USERS, 200);
        let held: Vec<Vec<u32>> = thread::scope(|scope| {
            let pool = &pool;
            let threads = (0..USERS as usize).map(|user| {
                scope.spawn(move || {
                    for _ in 0..50 {
                        let ids: Vec<u32> = (0..at_once).filter_map(|_| pool.alloc(user)).collect();
                        ids.into_iter().for_each(|id| pool.free((user + 1) % USERS as usize, id));
                    }
                    // A user may find nothing while others allocate and free, so it asks again.
                    (0..share).map(|_| std::iter::repeat_with(|| pool.alloc(user)).flatten().next().expect("it repeats")).collect()
                })
            });
            let threads: Vec<_> = threads.collect();
            threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
        });
        let mut ids = held.concat();
        ids.sort_unstable();
        assert_eq!(ids, (0..IDS).collect::<Vec<_>>());
        assert_eq!(pool.alloc(0), None);
    }
}
