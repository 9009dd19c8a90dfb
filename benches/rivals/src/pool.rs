//! `cargo rivals pool`: IDs, or whatever a peer calls what it hands out and takes back.
mod peers;
mod rounds;

use std::sync::Mutex;

use jeton_benches::{
    originals::{Lean, MapPool, Shipped, SlabPool},
    scenario::pool::{IdPool, OwnBitPool, OwnerCaches, Pool, StealableCaches},
};

use crate::contender::{Contender, Entry, Group, Structure, Target};
use rounds::{Nothing, Round, Rounds};

/// Our pools and their peers.
pub const STRUCTURE: Structure = Structure { name: "pool", groups: &[NEW, DEL, MIX, RND, XFER], seconds: 150 };

/// All IDs of a pool; each thread has its share of them, as in the benchmark of Open vSwitch. Few in the tests.
const IDS: u32 = if cfg!(test) { 4_000 } else { 100_000 };

const OWNER: &str = "jeton Cache, an owner's";
const STEALABLE: &str = "jeton StealableCache";
const ARRAY_QUEUE: &str = "crossbeam-queue 0.3 ArrayQueue";
const OBJECT_POOL: &str = "object-pool 0.6";
const VEC: &str = "std Mutex<Vec>";
const PARKING_LOT_VEC: &str = "parking_lot Mutex<Vec>";
const SHARDED_SLAB: &str = "sharded-slab 0.1";
const SLAB: &str = "std Mutex<slab 0.4>";
const SLOT_MAP: &str = "std Mutex<slotmap 1>";
const MPMC: &str = "heapless 0.9 mpmc";
const LEAN: &str = "Open vSwitch slabs, lock inlined";

const NEW: Group = Group {
    name: "new",
    operation: "allocate",
    reference: ARRAY_QUEUE,
    ours: OWNER,
    fewest: 1000,
    entries: &entries::<{ Round::New as u8 }>(),
    targets: &targets(4.0),
    not_correct: NOT_CORRECT,
};
const DEL: Group = Group {
    name: "del",
    operation: "free, in an order that looks random",
    entries: &entries::<{ Round::Del as u8 }>(),
    targets: &targets(4.0),
    ..NEW
};
const MIX: Group = Group {
    name: "mix",
    operation: "allocate, free that, allocate",
    entries: &entries::<{ Round::Mix as u8 }>(),
    targets: &targets(4.0),
    ..NEW
};
const RND: Group = Group {
    name: "rnd",
    operation: "allocate, free one at random, allocate",
    entries: &entries::<{ Round::Rnd as u8 }>(),
    targets: &targets(3.0),
    ..NEW
};
const XFER: Group = Group {
    name: "xfer",
    operation: "user 0 allocates, user 1 frees",
    entries: &entries::<{ Round::Xfer as u8 }>(),
    targets: &targets(4.0),
    ..NEW
};

/// The peers by whose fastest ours are measured.
const PEERS: &[&str] = &[ARRAY_QUEUE, OBJECT_POOL, VEC, PARKING_LOT_VEC, SHARDED_SLAB, SLAB, SLOT_MAP];

const NOT_CORRECT: &[(&str, &str)] =
    &[(MPMC, "says that it is empty, or full, while a thread that is within a call is off its CPU; here it is asked again")];

/// Of the issue. The lean original is a peer with two threads; with one it is beside them.
const fn targets(owner_alone: f64) -> [Target; 8] {
    [
        Target { ours: OWNER, peers: PEERS, threads: 1, at_least: Some(owner_alone) },
        Target { ours: OWNER, peers: &[LEAN], threads: 1, at_least: None },
        Target { ours: STEALABLE, peers: PEERS, threads: 1, at_least: Some(1.3) },
        Target { ours: STEALABLE, peers: &[LEAN], threads: 1, at_least: None },
        Target { ours: OWNER, peers: PEERS, threads: 2, at_least: Some(5.0) },
        Target { ours: OWNER, peers: &[LEAN], threads: 2, at_least: Some(5.0) },
        Target { ours: STEALABLE, peers: PEERS, threads: 2, at_least: Some(1.5) },
        Target { ours: STEALABLE, peers: &[LEAN], threads: 2, at_least: Some(1.5) },
    ]
}

/// All contenders in round number `ROUND`.
const fn entries<const ROUND: u8>() -> [Entry; 16] {
    [
        Entry { name: "nothing (the round alone)", most_threads: 2, make: nothing::<ROUND> },
        entry::<OwnerCaches, ROUND>(OWNER),
        entry::<StealableCaches, ROUND>(STEALABLE),
        entry::<IdPool, ROUND>("jeton IdPool"),
        entry::<OwnBitPool, ROUND>("jeton BitPool"),
        entry::<peers::ArrayQueue, ROUND>(ARRAY_QUEUE),
        entry::<peers::ObjectPool, ROUND>(OBJECT_POOL),
        entry::<peers::LockedVec, ROUND>(VEC),
        entry::<peers::ParkingLotVec, ROUND>(PARKING_LOT_VEC),
        entry::<peers::ShardedSlab, ROUND>(SHARDED_SLAB),
        entry::<peers::LockedSlab, ROUND>(SLAB),
        entry::<peers::LockedSlotMap, ROUND>(SLOT_MAP),
        entry::<peers::Mpmc, ROUND>(MPMC),
        entry::<SlabPool<Lean>, ROUND>(LEAN),
        entry::<SlabPool<Shipped>, ROUND>("Open vSwitch slabs, lock as shipped"),
        entry::<Mutex<MapPool>, ROUND>("Open vSwitch map"),
    ]
}

const fn entry<P: Pool<Id: Ord> + 'static, const ROUND: u8>(name: &'static str) -> Entry {
    Entry { name, most_threads: 2, make: contender::<P, ROUND> }
}

fn contender<P: Pool<Id: Ord> + 'static, const ROUND: u8>() -> Box<dyn Contender> {
    Box::new(Rounds::<P>::new(Round::of(ROUND), IDS))
}

fn nothing<const ROUND: u8>() -> Box<dyn Contender> {
    Box::new(Nothing::new(Round::of(ROUND), IDS))
}
