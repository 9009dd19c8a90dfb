//! Magazines, users and the depot, under every interleaving: no ID twice, none lost, and whoever gets an ID sees all that was done
//! with it before. Blocks have two IDs in models and caches four, groups two blocks.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{
    pool::{AllocError, Blocks, MagazinePool, Slices, StealableCache, Users, magazine::Storage},
    sync::UnsafeCell,
};
use jeton_models::explore::{Arc, Model, explore, thread};

/// A pool, and what its callers do with their IDs: a cell an ID, which only the one who has the ID touches. loom fails if two do
/// without an order between them.
struct World<S: Storage, const USERS: usize> {
    ids: StealableCache<S, Users<USERS>>,
    in_use: Vec<UnsafeCell<bool>>,
    /// IDs that are taken at first, for the programs to give back.
    given: Vec<u32>,
}

// SAFETY: a cell is touched only by the one who has its ID; that is what the models check.
unsafe impl<S: Storage, const USERS: usize> Sync for World<S, USERS> {}
// SAFETY: as above.
unsafe impl<S: Storage, const USERS: usize> Send for World<S, USERS> {}

type Small<const BLOCKS: usize, const USERS: usize> = World<Blocks<BLOCKS>, USERS>;

impl<const BLOCKS: usize, const USERS: usize> Small<BLOCKS, USERS> {
    fn new() -> Self {
        Self::of(MagazinePool::<Blocks<BLOCKS>>::new(), 2 * BLOCKS)
    }
}

impl<S: Storage, const USERS: usize> World<S, USERS> {
    fn of(pool: MagazinePool<S>, len: usize) -> Self {
        Self { ids: StealableCache::of(pool), in_use: (0..len).map(|_| UnsafeCell::new(false)).collect(), given: Vec::new() }
    }

    fn mark(&self, id: u32, in_use: bool) {
        // SAFETY: the caller has the ID, if the pool is right; if not, the model fails.
        let was = self.in_use[id as usize].with_mut(|cell| unsafe { std::mem::replace(&mut *cell, in_use) });
        assert!(was != in_use, "{id} was given twice");
    }

    fn alloc(&self, user: usize) -> Result<u32, AllocError> {
        let id = self.ids.user(user).expect("a user").alloc();
        id.into_iter().for_each(|id| self.mark(id, true));
        id
    }

    fn free(&self, user: usize, id: u32) -> bool {
        self.mark(id, false);
        self.ids.user(user).expect("a user").free_and_tell(id).expect("an ID that was allocated")
    }

    /// So many IDs through a user for the programs, of which the user gets some back.
    fn give(mut self, user: usize, len: usize, back: usize) -> Self {
        self.given = (0..len).map(|_| self.alloc(user).expect("nobody else uses the pool yet")).collect();
        for _ in 0..back {
            let id = self.given.remove(0);
            self.free(user, id);
        }
        self
    }

    /// A cache of one's own: takes so many, gives so many of these back, and ends.
    fn with_cache(&self, take: usize, give: usize) {
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
fn run<S: Storage + Send + Sync + 'static, const USERS: usize>(world: World<S, USERS>, programs: &[fn(&World<S, USERS>)]) {
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
const fn model(threads: usize, loom: usize, rmw: usize, shuttle: usize) -> Model {
    Model { threads, loom, rmw, shuttle }
}

// ---- The depot. ----

/// A block goes from one cache to another one, in both directions.
#[test]
fn a_block_is_read_after_it_was_written() {
    explore(model(2, 90, 260, 63_000), || {
        let world = Small::<2, 1>::new();
        run(world, &[|world| world.with_cache(2, 2), |world| world.with_cache(2, 0)]);
    });
}

/// Two caches give blocks to the depot and take them; one of the blocks is written again after it was read.
#[test]
fn a_block_is_written_after_it_was_read() {
    explore(model(2, 850, 1300, 63_000), || {
        let world = Small::<2, 1>::new();
        world.with_cache(4, 4); // two full blocks
        run(world, &[|world| world.with_cache(2, 2), |world| world.with_cache(2, 2)]);
    });
}

/// Several groups, whose summary must lead to every full block.
#[test]
fn a_full_block_of_any_group_is_found() {
    explore(model(2, 3000, 3000, 63_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 1>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6);
        world.with_cache(6, 6); // three full blocks in two groups
        run(world, &[|world| world.with_cache(4, 2), |world| world.with_cache(2, 2)]);
    });
}

/// A user takes the only full block of a group, whose mark it clears, while another one puts a block into that group.
#[test]
fn a_full_block_is_found_whose_group_was_just_emptied() {
    explore(model(2, 98, 120, 63_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 4>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6);
        world.with_cache(6, 6); // three full blocks in two groups; users 2 and 3 begin in the second one
        let world = world.give(0, 2, 0);
        world.given.iter().for_each(|id| _ = world.free(3, *id));
        run(world, &[|world| _ = world.alloc(2), |world| world.ids.user(3).expect("a user").flush()]);
    });
}

/// The same with IDs that are spilled: one is drained, whose block's mark is cleared, while another one of that block is spilled.
#[test]
fn a_spilled_id_is_found_whose_block_was_just_drained() {
    explore(model(2, 50, 71, 8200), || {
        let world = Small::<1, 3>::new().give(0, 2, 0);
        world.free(0, world.given[0]);
        world.ids.user(0).expect("a user").flush();
        world.free(2, world.given[1]);
        run(world, &[|world| _ = world.alloc(1), |world| world.ids.user(2).expect("a user").flush()]);
    });
}

fn leak<T: Default>(len: usize) -> &'static mut [T] {
    Vec::leak(std::iter::repeat_with(T::default).take(len).collect())
}

/// Three users want the last three fresh IDs.
#[test]
fn fresh_ids_end_exactly_at_the_capacity() {
    explore(model(3, 7900, 4600, 18_000), || {
        let pool = MagazinePool::<Blocks<2>>::with_range(0, 3).expect("a range");
        let program: fn(&World<_, 3>) = |world| world.with_cache(1, 0);
        run(World::of(pool, 3), &[program, program, program]);
    });
}

// ---- Users. ----

/// A thief, and the owner, whose cache is full: it flushes.
#[test]
fn a_theft_beside_the_owner_loses_nothing() {
    explore(model(2, 9, 12, 43_100), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 2>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6).give(0, 5, 4);
        run(world, &[|world| _ = world.free(0, world.given[0]), |world| _ = world.alloc(1)]);
    });
}

/// The same with a single ID, which both want.
#[test]
fn the_last_id_of_a_user_goes_to_its_owner_or_to_a_thief() {
    explore(model(2, 26, 18, 190), || {
        let world = Small::<1, 2>::new().give(0, 2, 1);
        run(world, &[|world| _ = world.alloc(0), |world| _ = world.alloc(1)]);
    });
}

/// Two threads inside of the same user: one of them goes elsewhere.
#[test]
fn two_threads_share_a_user() {
    explore(model(2, 27, 150, 63_000), || {
        let world = Small::<1, 1>::new().give(0, 2, 0);
        run(
            world,
            &[
                |world| _ = world.free(0, world.given[0]),
                |world| {
                    world.free(0, world.given[1]);
                    _ = world.alloc(0);
                },
            ],
        );
    });
}

/// IDs that were spilled beside a busy user, against whoever drains: both, or one at a time.
#[test]
fn a_spilled_id_is_drained_once_and_not_lost() {
    explore(model(3, 1500, 3700, 18_000), || {
        let world = Small::<1, 2>::new().give(0, 2, 0);
        run(
            world,
            &[|world| _ = world.free(0, world.given[0]), |world| _ = world.free(0, world.given[1]), |world| _ = world.alloc(1)],
        );
    });
}

/// Two blocks of a group have a spilled ID each. While one is drained, another ID of it is spilled, and the other block is drained: the
/// group's mark is set again, and then the summary must be, too.
#[test]
fn a_group_that_is_marked_again_is_found() {
    explore(model(3, 8900, 7900, 18_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 2>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6);
        let mut cache = world.ids.pool().cache();
        let ids: Vec<u32> = (0..6).map(|_| cache.alloc().expect("free")).collect();
        assert_eq!(ids, [0, 1, 2, 3, 4, 5]);
        for id in [0, 2] {
            assert_eq!(cache.free(id), Ok(()));
            cache.flush(); // spills it
        }
        drop(cache);
        [1, 3, 4, 5].into_iter().for_each(|id| world.mark(id, true));
        run(
            world,
            &[
                |world| _ = world.alloc(0),
                |world| {
                    let mut cache = world.ids.pool().cache();
                    world.mark(1, false);
                    assert_eq!(cache.free(1), Ok(()));
                },
                |world| _ = world.alloc(1),
            ],
        );
    });
}

/// A cache that ends with a single ID spills it, against a user who drains.
#[test]
fn a_drop_beside_an_allocation_loses_nothing() {
    explore(model(2, 250, 140, 63_000), || {
        let world = Small::<1, 1>::new();
        run(
            world,
            &[
                |world| world.with_cache(1, 1),
                |world| {
                    if let Ok(id) = world.alloc(0) {
                        world.free(0, id);
                    }
                },
            ],
        );
    });
}

// ---- Exhaustion. ----

/// Takes one of two IDs and gives it back through another user; the other thread has one at most meanwhile.
fn there_and_back(world: &Small<1, 2>, from: usize, to: usize) {
    match world.alloc(from) {
        Ok(id) => _ = world.free(to, id),
        Err(error) => assert_eq!(error, AllocError::Contended, "one of the two is free"),
    }
}

/// One ID is free at every moment, but never at the same place for long.
#[test]
fn nobody_is_told_that_all_are_taken_while_one_is_free() {
    explore(model(2, 99, 95, 63_000), || {
        let world = Small::<1, 2>::new().give(0, 2, 2);
        run(world, &[|world| there_and_back(world, 0, 1), |world| there_and_back(world, 1, 0)]);
    });
}

/// The IDs are in the depot, and go from there to a user and back while another one looks for them.
#[test]
fn ids_on_their_way_through_the_depot_are_not_missed() {
    explore(model(2, 450, 280, 63_000), || {
        let world = Small::<1, 2>::new();
        world.with_cache(2, 2);
        run(world, &[|world| there_and_back(world, 0, 0), |world| there_and_back(world, 1, 1)]);
    });
}

/// The same, inside of the same user.
#[test]
fn ids_on_their_way_beside_a_busy_user_are_not_missed() {
    explore(model(2, 510, 720, 63_000), || {
        let world = Small::<1, 2>::new();
        world.with_cache(2, 2);
        run(world, &[|world| there_and_back(world, 0, 0), |world| there_and_back(world, 0, 0)]);
    });
}

/// Decision 15: a cache puts a block into one group, behind the look, while another user takes one ahead of it. One ID is free.
#[test]
fn a_block_that_comes_behind_the_look_is_not_missed() {
    explore(model(3, 39_800, 4900, 18_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 2>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6);
        world.with_cache(6, 6); // three full blocks in two groups
        let world = world.give(0, 4, 0); // and the one of the second group is left
        run(
            world,
            &[
                |world| {
                    let mut cache = world.ids.pool().cache();
                    for &id in &world.given[..2] {
                        world.mark(id, false);
                        assert_eq!(cache.free(id), Ok(()));
                    }
                },
                |world| _ = world.alloc(0),
                |world| assert_ne!(world.alloc(1), Err(AllocError::Exhausted), "two are taken at most"),
            ],
        );
    });
}

/// A user's two IDs go to the depot, and it takes one of them again; another one must not be told that all are taken.
#[test]
fn a_block_that_comes_and_goes_during_the_look_is_not_missed() {
    explore(model(2, 3700, 350, 63_000), || {
        let world = Small::<1, 2>::new().give(0, 2, 2);
        run(
            world,
            &[
                |world| {
                    world.ids.user(0).expect("a user").flush();
                    _ = world.alloc(0);
                },
                |world| assert_ne!(world.alloc(1), Err(AllocError::Exhausted), "at most one is taken"),
            ],
        );
    });
}

/// The same with three blocks in two groups, so that the look goes by the summary.
#[test]
fn a_block_of_a_group_that_comes_and_goes_during_the_look_is_not_missed() {
    explore(model(2, 17_700, 610, 63_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 2>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6).give(0, 6, 2);
        run(
            world,
            &[
                |world| {
                    world.ids.user(0).expect("a user").flush();
                    _ = world.alloc(0);
                },
                |world| assert_ne!(world.alloc(1), Err(AllocError::Exhausted), "one of two is taken at most"),
            ],
        );
    });
}

/// The same with two IDs that are spilled.
#[test]
fn spilled_ids_that_come_and_go_during_the_look_are_not_missed() {
    explore(model(2, 26_900, 580, 63_000), || {
        let world = Small::<1, 3>::new().give(0, 2, 1);
        world.mark(world.given[0], false);
        world.ids.user(2).expect("a user").free(world.given[0]).expect("allocated");
        run(
            world,
            &[
                |world| {
                    world.ids.user(0).expect("a user").flush();
                    world.ids.user(2).expect("a user").flush();
                    _ = world.alloc(0);
                },
                |world| assert_ne!(world.alloc(1), Err(AllocError::Exhausted), "at most one is taken"),
            ],
        );
    });
}

/// Three threads inside of one user: one spills beside it, where another ID has been spilled already, and one takes what was spilled.
#[test]
fn beside_a_busy_user_a_spilled_id_is_taken_after_it_was_given_back() {
    explore(model(3, 570, 1400, 18_000), || {
        let mut world = Small::<1, 1>::new();
        let mut cache = world.ids.pool().cache();
        let ids = [cache.alloc().expect("free"), cache.alloc().expect("free")];
        assert_eq!((ids, cache.free(1)), ([0, 1], Ok(())));
        drop(cache); // spills 1
        world.mark(0, true);
        world.given = vec![0];
        run(world, &[|world| _ = world.free(0, world.given[0]), |world| _ = world.alloc(0), |world| _ = world.alloc(0)]);
    });
}

// ---- Pressure. ----

/// Who presses and then finds none is told (the guard was up before), by a free that the search has missed.
#[test]
fn whoever_presses_finds_an_id_or_is_told() {
    explore(model(2, 44, 69, 63_000), || {
        let world = Small::<1, 2>::new().give(0, 2, 2).give(0, 2, 0);
        let world = Arc::new(world);
        let other = {
            let world = world.clone();
            thread::spawn(move || world.free(0, world.given[0]))
        };
        world.ids.pool().press();
        let got = world.alloc(1);
        let told = other.join().expect("a thread of the model panicked");
        assert!(told || got != Err(AllocError::Exhausted), "neither: it would sleep for ever");
    });
}

/// The same, if the ID is spilled beside a busy user. The one who presses is a thread of its own: loom's bound on preemptions then
/// suffices for it to come in the middle of the free.
#[test]
fn whoever_presses_is_told_of_an_id_that_is_spilled() {
    explore(model(3, 43_200, 59_600, 18_000), || {
        let world = Arc::new(Small::<1, 2>::new().give(0, 2, 2).give(0, 2, 0));
        let spawn = |work: fn(&Small<1, 2>) -> bool| {
            let world = world.clone();
            thread::spawn(move || work(&world))
        };
        let taken = spawn(|world| world.alloc(0).is_ok());
        let freed = spawn(|world| world.free(0, world.given[0]));
        let content = spawn(|world| {
            world.ids.pool().press();
            world.alloc(1) != Err(AllocError::Exhausted)
        });
        let [taken, told, content] = [taken, freed, content].map(|thread| thread.join().expect("no panic"));
        assert!(told || taken || content, "none of these: it would sleep for ever");
    });
}
