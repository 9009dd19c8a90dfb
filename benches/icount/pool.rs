//! The rounds on every pool, by one thread; two numbers of operations, so that their difference is the cost of an operation.
//!
//! The ids count operations, of which a step of `mix` and `rnd` has three and one of `xfer` two: `n4000` and `n100000` of `new`, the
//! others likewise, are all 4,000 and 100,000 IDs. Between them lie 1,500 blocks of 64, so that each operation bears its part of what
//! a pool does once a block.
#![allow(missing_docs, reason = "the macro of iai-callgrind takes no documentation")]
#![allow(clippy::boxed_local, reason = "a teardown takes what its bench returns")]

use core::hint::black_box;
use std::sync::Mutex;

use iai_callgrind::{Callgrind, LibraryBenchmarkConfig, library_benchmark, library_benchmark_group, main};
use jeton_benches::{
    originals::{Lean, MapPool, Shipped, SlabPool},
    scenario::pool::{
        CheckedCaches, IdPool, NoPool, OwnBitPool, OwnerCaches, Pool, Random, StealableCaches, all_distinct, del, mix, new, rnd,
        shuffle, xfer,
    },
};
use jeton_core::pool::BorrowedBitPool;

/// A pool of its own for each bench, two users of it, and the array.
struct Work<P: Pool<Id = u32> + 'static> {
    user: P::User<'static>,
    other: P::User<'static>,
    ids: Vec<u32>,
    random: Random,
}

impl<P: Pool<Id = u32>> Work<P> {
    /// Nothing is allocated yet.
    fn free(ids: u32) -> Box<Self> {
        let pool: &'static P = Box::leak(Box::new(P::with(ids, 2)));
        let random = Random::new(2_463_534_242);
        Box::new(Self { user: pool.user(0), other: pool.user(1), ids: vec![0; ids as usize], random })
    }

    /// All IDs of the array are allocated, and it is shuffled.
    fn allocated(ids: u32) -> Box<Self> {
        let mut work = Self::free(ids);
        let Self { user, ids, random, .. } = &mut *work;
        new(user, ids).expect("there are IDs enough");
        shuffle(ids, random);
        work
    }

    fn are_allocated(self: Box<Self>) {
        self.must_differ();
    }

    fn must_differ(&self) {
        assert!(all_distinct(&self.ids), "an ID was given twice");
    }

    /// None is lost: all of them can be allocated again.
    fn are_free(mut self: Box<Self>) {
        new(&mut self.user, &mut self.ids).expect("every ID has come back");
        self.must_differ();
    }
}

/// The rounds but `rnd`. `black_box` keeps a user's handle in memory, where a program has it.
macro_rules! rounds {
    ($pool:ty, $new:ident, $del:ident, $mix:ident, $xfer:ident) => {
        #[library_benchmark]
        #[bench::n4000(args = (4_000), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_allocated)]
        #[bench::n100000(args = (100_000), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_allocated)]
        fn $new(mut work: Box<Work<$pool>>) -> Box<Work<$pool>> {
            let Work { user, ids, .. } = black_box(&mut *work);
            new(user, ids).expect("there are IDs enough");
            work
        }

        #[library_benchmark]
        #[bench::n4000(args = (4_000), setup = Work::<$pool>::allocated, teardown = Work::<$pool>::are_free)]
        #[bench::n100000(args = (100_000), setup = Work::<$pool>::allocated, teardown = Work::<$pool>::are_free)]
        fn $del(mut work: Box<Work<$pool>>) -> Box<Work<$pool>> {
            let Work { user, ids, .. } = black_box(&mut *work);
            del(user, ids).expect("all of them are allocated");
            work
        }

        #[library_benchmark]
        #[bench::n12000(args = (4_000), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_allocated)]
        #[bench::n300000(args = (100_000), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_allocated)]
        fn $mix(mut work: Box<Work<$pool>>) -> Box<Work<$pool>> {
            let Work { user, ids, .. } = black_box(&mut *work);
            mix(user, ids).expect("there are IDs enough");
            work
        }

        #[library_benchmark]
        #[bench::n8000(args = (4_000), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_free)]
        #[bench::n200000(args = (100_000), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_free)]
        fn $xfer(mut work: Box<Work<$pool>>) -> Box<Work<$pool>> {
            let Work { user, other, ids, .. } = black_box(&mut *work);
            xfer(user, other, ids).expect("there are IDs enough");
            work
        }
    };
}

/// The round `rnd`; of the map pool it takes hours with as many IDs as the other rounds have.
macro_rules! rnd {
    ($pool:ty, $rnd:ident) => {
        rnd!($pool, $rnd, n12000 = 4_000, n300000 = 100_000);
    };
    ($pool:ty, $rnd:ident, $few:ident = $few_ids:literal, $many:ident = $many_ids:literal) => {
        #[library_benchmark]
        #[bench::$few(args = ($few_ids), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_allocated)]
        #[bench::$many(args = ($many_ids), setup = Work::<$pool>::free, teardown = Work::<$pool>::are_allocated)]
        fn $rnd(mut work: Box<Work<$pool>>) -> Box<Work<$pool>> {
            let Work { user, ids, random, .. } = black_box(&mut *work);
            let steps = 0..ids.len() as u32;
            rnd(user, ids, steps, random).expect("there are IDs enough");
            work
        }
    };
}

rounds!(NoPool, nothing_new, nothing_del, nothing_mix, nothing_xfer);
rnd!(NoPool, nothing_rnd);
rounds!(OwnerCaches, cache_new, cache_del, cache_mix, cache_xfer);
rnd!(OwnerCaches, cache_rnd);
rounds!(CheckedCaches, checked_new, checked_del, checked_mix, checked_xfer);
rnd!(CheckedCaches, checked_rnd);
rounds!(StealableCaches, stealable_new, stealable_del, stealable_mix, stealable_xfer);
rnd!(StealableCaches, stealable_rnd);
rounds!(IdPool, id_pool_new, id_pool_del, id_pool_mix, id_pool_xfer);
rnd!(IdPool, id_pool_rnd);
rounds!(OwnBitPool, bit_new, bit_del, bit_mix, bit_xfer);
rnd!(OwnBitPool, bit_rnd);
rounds!(BorrowedBitPool<'static>, bit_borrowed_new, bit_borrowed_del, bit_borrowed_mix, bit_borrowed_xfer);
rnd!(BorrowedBitPool<'static>, bit_borrowed_rnd);
rounds!(SlabPool<Shipped>, slab_shipped_new, slab_shipped_del, slab_shipped_mix, slab_shipped_xfer);
rnd!(SlabPool<Shipped>, slab_shipped_rnd);
rounds!(SlabPool<Lean>, slab_lean_new, slab_lean_del, slab_lean_mix, slab_lean_xfer);
rnd!(SlabPool<Lean>, slab_lean_rnd);
rounds!(Mutex<MapPool>, map_new, map_del, map_mix, map_xfer);
rnd!(Mutex<MapPool>, map_rnd, n300 = 100, n3000 = 1_000);

library_benchmark_group!(
    name = pool;
    benchmarks = nothing_new, nothing_del, nothing_mix, nothing_rnd, nothing_xfer,
        cache_new, cache_del, cache_mix, cache_rnd, cache_xfer,
        checked_new, checked_del, checked_mix, checked_rnd, checked_xfer,
        stealable_new, stealable_del, stealable_mix, stealable_rnd, stealable_xfer,
        id_pool_new, id_pool_del, id_pool_mix, id_pool_rnd, id_pool_xfer,
        bit_new, bit_del, bit_mix, bit_rnd, bit_xfer,
        bit_borrowed_new, bit_borrowed_del, bit_borrowed_mix, bit_borrowed_rnd, bit_borrowed_xfer,
        slab_shipped_new, slab_shipped_del, slab_shipped_mix, slab_shipped_rnd, slab_shipped_xfer,
        slab_lean_new, slab_lean_del, slab_lean_mix, slab_lean_rnd, slab_lean_xfer,
        map_new, map_del, map_mix, map_rnd, map_xfer
);
main!(
    config = LibraryBenchmarkConfig::default().tool(Callgrind::with_args(["--branch-sim=yes"]));
    library_benchmark_groups = pool
);
