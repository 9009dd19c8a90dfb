//! Where IDs lie while nobody has them: blocks, spill bits and the bitmaps over them.

use core::fmt;

use crate::{
    array, const_fn,
    sync::{AtomicU32, UnsafeCell},
    util::Padded,
};

/// IDs of a block. Small in models, so that they reach the edges.
pub const BLOCK: usize = if cfg!(any(jeton_loom, jeton_shuttle, jeton_step)) { 2 } else { 64 };
/// Blocks of a group, and groups of a summary word: the bits of a word.
pub(super) const GROUP: usize = if cfg!(any(jeton_loom, jeton_shuttle, jeton_step)) { 2 } else { 32 };
/// Words that hold a bit for each ID of a block.
const SPILL_WORDS: usize = BLOCK.div_ceil(32);

/// The bit of a block in its group's words, or of a group in its summary.
pub(super) const fn bit(index: usize) -> u32 {
    1 << (index % GROUP)
}

/// Room for 64 IDs: plain memory of whoever has claimed its bit (I2).
#[repr(align(64))]
pub struct Block(pub(super) UnsafeCell<[u32; BLOCK]>);

// SAFETY: I2: the cell is accessed only by the holder of the block's claim, and claims hand it on with acquire and release.
unsafe impl Sync for Block {}

impl Block {
    const_fn! {
        /// An empty block.
        pub const fn new() -> Self {
            Self(UnsafeCell::new([0; BLOCK]))
        }
    }
}

/// A bit for each ID of a block: set if the ID is free and in no magazine.
#[derive(Debug)]
pub struct Spill(pub(super) [AtomicU32; SPILL_WORDS]);

impl Spill {
    const_fn! {
        /// No ID.
        pub const fn new() -> Self {
            Self(array![AtomicU32::new(0); SPILL_WORDS])
        }
    }
}

/// The bitmaps of 32 blocks. All zero: every block is empty. On cache lines of their own, since users keep to groups of their own.
#[derive(Debug)]
pub struct Group {
    pub(super) blocks: Padded<BlockBits>,
    pub(super) summaries: Padded<SummaryBits>,
}

#[derive(Debug)]
pub(super) struct BlockBits {
    /// A bit a block: it is claimed, or full.
    pub used: AtomicU32,
    /// A bit a block: it is full, and whoever clears the bit has it.
    pub full: AtomicU32,
    /// A bit a block: some of its IDs may be spilled.
    pub spilled: AtomicU32,
}

/// In group i, for the groups 32 · i to 32 · i + 31, a bit each.
#[derive(Debug)]
pub(super) struct SummaryBits {
    /// Some of its blocks may be full.
    pub full: AtomicU32,
    /// The same for spilled IDs.
    pub spilled: AtomicU32,
}

impl Group {
    const_fn! {
        /// All blocks empty.
        pub const fn new() -> Self {
            Self {
                blocks: Padded::new(BlockBits { used: AtomicU32::new(0), full: AtomicU32::new(0), spilled: AtomicU32::new(0) }),
                summaries: Padded::new(SummaryBits { full: AtomicU32::new(0), spilled: AtomicU32::new(0) }),
            }
        }
    }
}

macro_rules! default_is_new {
    ($($name:ident),+) => {$(
        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    )+};
}
default_is_new!(Block, Spill, Group);

/// The memory of a [`MagazinePool`](super::MagazinePool): its own ([`Blocks`]) or somebody else's ([`Slices`]).
///
/// # Safety
/// Each method returns the same memory for as long as the value lives, also after it has moved if it does not own that memory in
/// place, and no other pool uses that memory meanwhile. There is a group for each 32 blocks or fewer, and no more of them.
pub unsafe trait Storage {
    /// No value has room for more IDs.
    #[doc(hidden)]
    const MOST: u32 = u32::MAX;
    /// The blocks.
    fn blocks(&self) -> &[Block];
    /// The spill bits, one [`Spill`] a block.
    fn spills(&self) -> &[Spill];
    /// The bitmaps, one [`Group`] for each 32 blocks or fewer.
    fn groups(&self) -> &[Group];
}

/// `N` blocks in the pool itself, at most 32: 64 · `N` IDs.
pub struct Blocks<const N: usize> {
    blocks: [Block; N],
    spills: [Spill; N],
    group: Group,
}

impl<const N: usize> Blocks<N> {
    const_fn! {
        /// Zero bytes.
        pub(super) const fn new() -> Self {
            const { assert!(N <= GROUP, "an owning pool has at most 32 blocks; larger ones borrow slices") };
            Self { blocks: array![Block::new(); N], spills: array![Spill::new(); N], group: Group::new() }
        }
    }
}

// SAFETY: owned in place, by one value.
unsafe impl<const N: usize> Storage for Blocks<N> {
    const MOST: u32 = (N * BLOCK) as u32;
    #[inline(always)]
    fn blocks(&self) -> &[Block] {
        &self.blocks
    }
    #[inline(always)]
    fn spills(&self) -> &[Spill] {
        &self.spills
    }
    #[inline(always)]
    fn groups(&self) -> &[Group] {
        core::slice::from_ref(&self.group)
    }
}

impl<const N: usize> fmt::Debug for Blocks<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocks").field("blocks", &N).finish_non_exhaustive()
    }
}

/// Borrowed blocks, any number of them. Made of unique references, so that no other pool can use them meanwhile.
pub struct Slices<'a> {
    blocks: &'a [Block],
    spills: &'a [Spill],
    groups: &'a [Group],
}

impl<'a> Slices<'a> {
    /// How many elements each slice needs for `capacity` IDs: blocks and spills, and groups.
    pub const fn lengths(capacity: u32) -> (usize, usize) {
        let blocks = (capacity as usize).div_ceil(BLOCK);
        (blocks, blocks.div_ceil(GROUP))
    }

    /// As many blocks as all three slices suffice for. What an earlier pool left in them is forgotten.
    pub(super) fn new(blocks: &'a mut [Block], spills: &'a mut [Spill], groups: &'a mut [Group]) -> Self {
        spills.fill_with(Spill::new);
        groups.fill_with(Group::new);
        let (blocks, spills, groups): (&[Block], &[Spill], &[Group]) = (blocks, spills, groups);
        let most = blocks.len().min(spills.len()).min(groups.len().saturating_mul(GROUP));
        let blocks = blocks.get(..most).unwrap_or_default();
        let groups = groups.get(..most.div_ceil(GROUP)).unwrap_or_default();
        Self { blocks, spills: spills.get(..most).unwrap_or_default(), groups }
    }
}

// SAFETY: the references are constant, and were unique when this was made.
unsafe impl Storage for Slices<'_> {
    #[inline(always)]
    fn blocks(&self) -> &[Block] {
        self.blocks
    }
    #[inline(always)]
    fn spills(&self) -> &[Spill] {
        self.spills
    }
    #[inline(always)]
    fn groups(&self) -> &[Group] {
        self.groups
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Block").finish_non_exhaustive()
    }
}

impl fmt::Debug for Slices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Slices").field("blocks", &self.blocks.len()).finish_non_exhaustive()
    }
}
