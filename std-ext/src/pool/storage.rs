//! The memory of an `IdPool`, as long as it turns out to be needed.

use std::collections::TryReserveError;

use jeton_core::pool::{
    Slices,
    magazine::{Block, Group, Spill, Storage, UserCell, UserStorage},
};

/// Blocks in boxes.
pub(super) struct BoxedBlocks {
    blocks: Box<[Block]>,
    spills: Box<[Spill]>,
    groups: Box<[Group]>,
}

/// Users in a box.
pub(super) struct BoxedUsers(Box<[UserCell]>);

impl BoxedBlocks {
    /// Room for `capacity` IDs.
    pub(super) fn new(capacity: u32) -> Result<Self, TryReserveError> {
        let (blocks, groups) = Slices::lengths(capacity);
        Ok(Self { blocks: boxed(blocks, Block::new)?, spills: boxed(blocks, Spill::new)?, groups: boxed(groups, Group::new)? })
    }
}

impl BoxedUsers {
    pub(super) fn new(users: usize) -> Result<Self, TryReserveError> {
        boxed(users, UserCell::new).map(Self)
    }
}

fn boxed<T>(len: usize, new: fn() -> T) -> Result<Box<[T]>, TryReserveError> {
    let mut items = Vec::new();
    items.try_reserve_exact(len)?;
    items.resize_with(len, new);
    Ok(items.into_boxed_slice())
}

// SAFETY: the boxes are never replaced, what they own does not move with them, and nothing else refers to it.
unsafe impl Storage for BoxedBlocks {
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
        &self.groups
    }
}

// SAFETY: as for the blocks.
unsafe impl UserStorage for BoxedUsers {
    #[inline(always)]
    fn cells(&self) -> &[UserCell] {
        &self.0
    }
    fn cells_mut(&mut self) -> &mut [UserCell] {
        &mut self.0
    }
}
