//! What the models of magazines run on.

use jeton_core::{
    pool::{AllocError, Blocks, MagazinePool, StealableCache, Users, magazine::Storage},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, thread};

/// A pool, and what its callers do with their IDs: a cell an ID, which only the one who has the ID touches. loom fails if two do
/// without an order between them.
pub struct World<S: Storage, const USERS: usize> {
    pub ids: StealableCache<S, Users<USERS>>,
    pub in_use: Vec<UnsafeCell<bool>>,
    /// IDs that are taken at first, for the programs to give back.
    pub given: Vec<u32>,
}

// SAFETY: a cell is touched only by the one who has its ID; that is what the models check.
unsafe impl<S: Storage, const USERS: usize> Sync for World<S, USERS> {}
// SAFETY: as above.
unsafe impl<S: Storage, const USERS: usize> Send for World<S, USERS> {}

pub type Small<const BLOCKS: usize, const USERS: usize> = World<Blocks<BLOCKS>, USERS>;

impl<const BLOCKS: usize, const USERS: usize> Small<BLOCKS, USERS> {
    pub fn new() -> Self {
        Self::of(MagazinePool::<Blocks<BLOCKS>>::new(), 2 * BLOCKS)
    }
}

impl<S: Storage, const USERS: usize> World<S, USERS> {
    pub fn of(pool: MagazinePool<S>, len: usize) -> Self {
        Self { ids: StealableCache::of(pool), in_use: (0..len).map(|_| UnsafeCell::new(false)).collect(), given: Vec::new() }
    }

    pub fn mark(&self, id: u32, in_use: bool) {
        // SAFETY: the caller has the ID, if the pool is right; if not, the model fails.
        let was = self.in_use[id as usize].with_mut(|cell| unsafe { std::mem::replace(&mut *cell, in_use) });
        assert!(was != in_use, "{id} was given twice");
    }

    pub fn alloc(&self, user: usize) -> Result<u32, AllocError> {
        let id = self.ids.user(user).expect("a user").alloc();
        id.into_iter().for_each(|id| self.mark(id, true));
        id
    }

    pub fn free(&self, user: usize, id: u32) -> bool {
        self.mark(id, false);
        self.ids.user(user).expect("a user").free_and_tell(id).expect("an ID that was allocated")
    }

    /// So many IDs through a user for the programs, of which the user gets some back.
    pub fn give(mut self, user: usize, len: usize, back: usize) -> Self {
        self.given = (0..len).map(|_| self.alloc(user).expect("nobody else uses the pool yet")).collect();
        for _ in 0..back {
            let id = self.given.remove(0);
            self.free(user, id);
        }
        self
    }

    /// A cache of one's own: takes so many, gives so many of these back, and ends.
    pub fn with_cache(&self, take: usize, give: usize) {
        let mut cache = self.ids.pool().cache();
        let ids: Vec<u32> = (0..take).filter_map(|_| cache.alloc().ok()).collect();
        ids.iter().for_each(|id| self.mark(*id, true));
        for &id in ids.iter().take(give) {
            self.mark(id, false);
            assert_eq!(cache.free(id), Ok(()));
        }
    }
}

/// Runs the programs beside each other, the first one here. Afterwards every ID is free or in use.
pub fn run<S: Storage + Send + Sync + 'static, const USERS: usize>(world: World<S, USERS>, programs: &[fn(&World<S, USERS>)]) {
    let mut world = Arc::new(world);
    let mut others = Vec::new();
    for &program in &programs[1..] {
        let world = world.clone();
        others.push(thread::spawn(move || program(&world)));
    }
    programs[0](&world);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    let world = Arc::get_mut(&mut world).expect("all threads have ended");
    // SAFETY: nobody else is left.
    let mut seen: Vec<bool> = world.in_use.iter().map(|cell| cell.with(|cell| unsafe { *cell })).collect();
    world.ids.for_each_available(|id| {
        assert!(!std::mem::replace(&mut seen[id as usize], true), "{id} is free and in use, or free twice")
    });
    assert!(seen.iter().all(|seen| *seen), "lost: {seen:?}");
    // SAFETY: as above.
    let free = world.in_use.iter().filter(|cell| cell.with(|cell| unsafe { !*cell })).count();
    let user = world.ids.user(0).expect("a user");
    assert_eq!(std::iter::from_fn(|| user.alloc().ok()).count(), free, "whatever is free is found");
}

/// The least numbers of executions are some 10 % below what there are.
pub const fn model(threads: usize, loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads, loom, rmw, shuttle }
}

/// Memory for a pool over slices; a model's executions are few enough for it.
pub fn leak<T: Default>(len: usize) -> &'static mut [T] {
    Vec::leak(std::iter::repeat_with(T::default).take(len).collect())
}
