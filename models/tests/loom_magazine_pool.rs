//! Magazines, users and the depot, under every interleaving: no ID twice, none lost, and whoever gets an ID sees all that was done
//! with it before. Blocks have two IDs in models and caches four, groups two blocks.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod magazine_pool;

use jeton_core::pool::{Blocks, MagazinePool, Slices};
use jeton_models::explore::explore;
use magazine_pool::{Small, World, leak, model, run};

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
    explore(model(2, 140, 140, 63_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 4>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6);
        world.with_cache(6, 6); // three full blocks in two groups; users 1 and 3 begin in the second one
        let world = world.give(0, 2, 0);
        world.given.iter().for_each(|id| _ = world.free(3, *id));
        run(world, &[|world| _ = world.alloc(1), |world| world.ids.user(3).expect("a user").flush()]);
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
