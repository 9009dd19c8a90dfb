use std::collections::BTreeSet;
use std::sync::Mutex;

use jeton_core::pool::BorrowedBitPool;

use super::*;
use crate::originals::{Lean, MapPool, Shipped, SlabPool};

/// A pool that is plainly right, and notes what is done with it.
#[derive(Default)]
struct Plain {
    free: BTreeSet<u32>,
    used: BTreeSet<u32>,
    allocated: u32,
    freed: u32,
}

impl Plain {
    fn new(ids: u32) -> Self {
        Self { free: (0..ids).collect(), ..Self::default() }
    }

    fn done(&mut self) -> (u32, u32) {
        (std::mem::take(&mut self.allocated), std::mem::take(&mut self.freed))
    }
}

impl User for Plain {
    type Id = u32;

    fn alloc(&mut self) -> Option<u32> {
        self.allocated += 1;
        let id = self.free.pop_first()?;
        self.used.insert(id);
        Some(id)
    }

    fn free(&mut self, id: u32) -> bool {
        self.freed += 1;
        self.free.insert(id);
        self.used.remove(&id)
    }
}

const IDS: u32 = 300;

#[test]
fn each_round_does_its_operations_and_ends_as_it_says() {
    let mut pool = Plain::new(IDS);
    let mut ids = vec![0; IDS as usize];
    let random = &mut Random::new(1);

    assert_eq!(new(&mut pool, &mut ids), Ok(()));
    assert_eq!((pool.done(), pool.used.len()), ((IDS, 0), IDS as usize));
    assert_eq!(del(&mut pool, &ids), Ok(()));
    assert_eq!((pool.done(), pool.used.len()), ((0, IDS), 0));
    assert_eq!(mix(&mut pool, &mut ids), Ok(()));
    assert_eq!((pool.done(), pool.used.iter().eq(&ids)), ((2 * IDS, IDS), true));
    assert_eq!(del(&mut pool, &ids), Ok(()));
    pool.done();
    assert_eq!(rnd(&mut pool, &mut ids, 0..IDS, random), Ok(()));
    assert_eq!((pool.done(), pool.used.len()), ((2 * IDS, IDS), IDS as usize));
    assert!(!ids.is_sorted(), "some entries were swapped");
    assert!(all_distinct(&ids) && ids.iter().all(|id| pool.used.contains(id)));
    assert_eq!(del(&mut pool, &ids), Ok(()));
    pool.done();
    let mut to = Plain { used: (0..IDS).collect(), ..Plain::default() };
    assert_eq!(xfer(&mut pool, &mut to, &mut ids), Ok(()));
    assert_eq!((pool.done(), to.done()), ((IDS, 0), (0, IDS)));
    for round in ["new", "del", "mix", "rnd", "xfer"] {
        assert!(operations_a_step(round).is_some(), "{round}");
    }
    assert_eq!(operations_a_step("old"), None);
}

#[test]
fn rnd_in_parts_is_rnd() {
    let run = |parts: &[Range<u32>]| {
        let mut ids = vec![0; 100];
        let (mut pool, mut random) = (Plain::new(100), Random::new(3));
        for part in parts {
            rnd(&mut pool, &mut ids, part.clone(), &mut random).expect("there are IDs enough");
        }
        ids
    };
    assert_eq!(run(&[0..99, 99..100]), run(&[0..17, 17..17, 17..100]));
}

#[test]
#[should_panic = "without an entry"]
fn rnd_looks_at_its_bounds() {
    let _ = rnd(&mut Plain::new(10), &mut [0; 3], 0..4, &mut Random::new(1));
}

#[test]
fn a_refusal_ends_the_round() {
    let mut ids = [0; 3];
    assert_eq!(new(&mut Plain::new(2), &mut ids), Err(Refused));
    assert_eq!(mix(&mut Plain::new(2), &mut ids), Err(Refused));
    assert_eq!(rnd(&mut Plain::new(2), &mut ids, 0..3, &mut Random::new(1)), Err(Refused));
    assert_eq!(del(&mut Plain::new(2), &[1]), Err(Refused));
    assert_eq!(xfer(&mut Plain::new(2), &mut Plain::new(2), &mut ids), Err(Refused));
}

#[test]
fn random_numbers_stay_in_range_and_reach_its_ends() {
    let mut random = Random::new(0);
    let mut seen = [0; 4];
    for _ in 0..1000 {
        seen[random.up_to(3) as usize] += 1;
    }
    assert!(seen.iter().all(|times| *times > 150), "{seen:?}");
    assert_eq!(random.up_to(0), 0);
    assert!((0..1000).any(|_| random.up_to(u32::MAX) > u32::MAX / 2));
}

#[test]
fn shuffling_keeps_the_ids() {
    let mut ids: Vec<u32> = (0..1000).collect();
    shuffle(&mut ids, &mut Random::new(5));
    assert!(!ids.is_sorted());
    assert!(all_distinct(&ids) && ids.iter().max() == Some(&999));
    assert!(!all_distinct(&[1, 2, 1]) && all_distinct(&[]));
}

/// All rounds on a pool of exactly as many IDs; a second time, so that every ID must have come back.
fn survives_the_rounds<P: Pool<Id = u32>>(ids: u32) {
    let pool = P::with(ids, 2);
    let (mut user, mut other) = (pool.user(0), pool.user(1));
    let mut array = vec![0; ids as usize];
    let mut random = Random::new(11);
    for _ in 0..2 {
        new(&mut user, &mut array).expect("new");
        assert!(all_distinct(&array));
        shuffle(&mut array, &mut random);
        del(&mut user, &array).expect("del");
        mix(&mut user, &mut array).expect("mix");
        assert!(all_distinct(&array));
        del(&mut other, &array).expect("del by the other user");
        rnd(&mut user, &mut array, 0..ids, &mut random).expect("rnd");
        assert!(all_distinct(&array));
        del(&mut user, &array).expect("del");
        xfer(&mut user, &mut other, &mut array).expect("xfer");
    }
}

#[test]
fn every_pool_survives_the_rounds() {
    for ids in [1, 64, 1000] {
        survives_the_rounds::<OwnerCaches>(ids);
        survives_the_rounds::<CheckedCaches>(ids);
        survives_the_rounds::<StealableCaches>(ids);
        survives_the_rounds::<IdPool>(ids);
        survives_the_rounds::<OwnBitPool>(ids);
        survives_the_rounds::<BorrowedBitPool<'static>>(ids);
        survives_the_rounds::<SlabPool<Shipped>>(ids);
        survives_the_rounds::<SlabPool<Lean>>(ids);
        survives_the_rounds::<Mutex<MapPool>>(ids);
    }
}
