//! When magazines say that all IDs are taken, under every interleaving: only if that is so at an instant of the call; and who waits because
//! of it is told of the next ID. Sizes as in `loom_magazine_pool`.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod magazine_pool;

use jeton_core::pool::{AllocError, MagazinePool, Slices};
use jeton_models::explore::{Arc, explore, thread};
use magazine_pool::{Small, World, leak, model, run};

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
    explore(model(3, 59_300, 6100, 18_000), || {
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

/// A user drains an ID whose spill has not ended, while another one looks. If that user does not take ID 2, it is there all the time (I6).
#[test]
fn a_spilled_id_is_counted_before_it_can_be_drained() {
    explore(model(3, 29_200, 14_000, 18_000), || {
        let leaked = (leak(3), leak(3), leak(2));
        let world = World::<Slices<'static>, 2>::of(MagazinePool::over(leaked, 0, 6).expect("a range"), 6);
        let mut cache = world.ids.pool().cache();
        assert_eq!([(); 6].map(|()| cache.alloc().expect("free")), [0, 1, 2, 3, 4, 5]);
        for id in [1, 2] {
            assert_eq!(cache.free(id), Ok(()));
            cache.flush(); // spills it
        }
        drop(cache);
        [0, 3, 4, 5].into_iter().for_each(|id| world.mark(id, true));
        let world = Arc::new(world);
        let spilling = {
            let world = world.clone();
            thread::spawn(move || {
                let mut cache = world.ids.pool().cache();
                world.mark(0, false);
                assert_eq!(cache.free(0), Ok(()));
            })
        };
        let draining = {
            let world = world.clone();
            thread::spawn(move || [world.alloc(0), world.alloc(0)])
        };
        let looking = world.alloc(1);
        spilling.join().expect("no panic");
        let drained = draining.join().expect("no panic");
        assert!(looking != Err(AllocError::Exhausted) || drained.contains(&Ok(2)), "2 was free all the time");
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
