//! What every handle has of its pool: the words in front, and the storage.

use super::{
    depot::{FULL, Near},
    storage::{BLOCK, Block, Group, Spill},
};
use crate::{
    array, const_fn, ord,
    pool::{AllocError, FreeError},
    sync::AtomicU32,
    util::Padded,
};

/// How many words the calls in flight are spread over, by the group that they work in.
pub(super) const DEPOTS: usize = if cfg!(any(jeton_loom, jeton_shuttle, jeton_step)) {
    2
} else if cfg!(target_os = "none") {
    1
} else {
    8
};

/// Words that every `free` reads and whoever mints writes, 64 IDs at a time.
pub(super) struct Front {
    /// IDs from `base` to here are taken back without a further look: at most `next`, and 0 if the next `free` must look (I5).
    pub guard: AtomicU32,
    /// 1 if somebody is to be told of the next `free` (I5).
    pub pressed: AtomicU32,
    /// IDs minted: those from `base + next` on have never been handed out. Never falls (I3).
    pub next: AtomicU32,
    pub base: u32,
    /// How many IDs fewer the pool has than its storage has room for.
    pub withheld: u32,
}

/// The pool's words.
pub(super) struct Header {
    pub front: Padded<Front>,
    /// See [`DepotWord`].
    pub depot: [Padded<AtomicU32>; DEPOTS],
    /// Caches made, modulo 2^32.
    pub caches: AtomicU32,
    /// Spilled IDs, counted before their bits are set and after they are cleared (I6).
    pub spilled: Padded<AtomicU32>,
}

impl Header {
    const_fn! {
        pub(super) const fn new(base: u32, withheld: u32) -> Self {
            Self {
                front: Padded::new(Front {
                    guard: AtomicU32::new(0),
                    pressed: AtomicU32::new(0),
                    next: AtomicU32::new(0),
                    base,
                    withheld,
                }),
                depot: array![Padded::new(AtomicU32::new(0)); DEPOTS],
                caches: AtomicU32::new(0),
                spilled: Padded::new(AtomicU32::new(0)),
            }
        }
    }
}

impl Header {
    /// The word that counts the calls that begin in this group.
    #[inline(always)]
    pub(super) fn depot(&self, group: usize) -> &AtomicU32 {
        let [first, ..] = &self.depot;
        self.depot.get(group % DEPOTS).unwrap_or(first)
    }

    /// Whether an index lies below the guard: its ID is of the pool, has been minted, and nobody has asked for a closer look.
    #[inline(always)]
    pub(super) fn is_below_guard(&self, index: u32) -> bool {
        // Relaxed: a guard that is too low only sends the caller to `closer_look`.
        index < self.front.guard.load(ord!("magazine-15", Relaxed))
    }
}

/// A pool, whoever owns its storage.
///
/// In this order: what `free` reads is not at the address that a slow path is called with, or the compiler computes that each time.
#[derive(Clone, Copy)]
#[repr(C)]
pub(super) struct Parts<'a> {
    pub blocks: &'a [Block],
    pub spills: &'a [Spill],
    pub groups: &'a [Group],
    /// The first of the groups: those whose summary words are in use.
    pub summaries: &'a [Group],
    /// The group to begin with: each user has another one, as far as there are so many.
    pub home: usize,
    pub header: &'a Header,
    /// The header's: a copy saves the hot paths a load.
    pub base: u32,
}

/// How often a call looks everywhere again because something has moved meanwhile. Once in models.
pub(super) const ROUNDS: usize = if cfg!(any(jeton_loom, jeton_shuttle)) { 1 } else { 4 };

impl<'a> Parts<'a> {
    pub(super) fn capacity(&self) -> u32 {
        // Modulo 2^32, as the constructors have computed `withheld`.
        (self.blocks.len().wrapping_mul(BLOCK) as u32).wrapping_sub(self.header.front.withheld)
    }

    /// As the header's.
    #[inline(always)]
    pub(super) fn is_below_guard(&self, index: u32) -> bool {
        self.header.is_below_guard(index)
    }

    /// The index of an ID: its distance from the first one. More than any, if it is none of the pool's.
    #[inline(always)]
    pub(super) fn index(&self, id: u32) -> u32 {
        id.wrapping_sub(self.base)
    }

    /// The ID of an index.
    #[inline(always)]
    pub(super) fn id(&self, index: u32) -> u32 {
        self.base.wrapping_add(index)
    }

    /// Takes up to `most` IDs that were never handed out: the first one's index, and how many. The last ones are shared out among
    /// so many users, so that one of them that is stopped while inside of its magazines does not hold up all that is left.
    #[inline]
    pub(super) fn mint(&self, most: usize, users: usize) -> Option<(u32, usize)> {
        let capacity = self.capacity();
        let mut next = self.header.front.next.load(ord!("magazine-16", Relaxed));
        loop {
            let len = (capacity - next).div_ceil(users as u32).min(most as u32);
            if len == 0 {
                return None;
            }
            // The linearization point. Release pairs with magazine-20: who finds all minted sees the minter's user busy (I7).
            match self.header.front.next.compare_exchange(
                next,
                next + len,
                ord!("magazine-17", Release),
                ord!("magazine-18", Relaxed),
            ) {
                Ok(_) => {
                    // From 0 only `closer_look` raises it, which tells whoever lowered it.
                    if next != 0 {
                        self.raise_guard(next, next + len);
                    }
                    return Some((next, len as usize));
                }
                Err(found) => next = found,
            }
        }
    }

    /// Fresh IDs for a magazine that begins empty, the lowest one on top.
    #[inline]
    fn mint_into(&self, indexes: &mut [u32; BLOCK], users: usize) -> usize {
        let Some((first, len)) = self.mint(BLOCK, users) else { return 0 };
        let last = first + len as u32 - 1;
        // Always a whole block, which the compiler makes vectors of; what is more than `len` does not count.
        for (below, index) in indexes.iter_mut().enumerate() {
            *index = last.wrapping_sub(below as u32);
        }
        len
    }

    fn raise_guard(&self, from: u32, to: u32) -> bool {
        let guard = &self.header.front.guard;
        // Acquire pairs with magazine-21: who takes a 0 back sees the mark that was set before.
        guard.compare_exchange(from, to, ord!("magazine-19", Acquire), ord!("magazine-22", Relaxed)).is_ok()
    }

    /// Whether an index that is not below the guard is a minted one all the same. Returns how many are minted.
    fn judge(&self, index: u32) -> Result<u32, FreeError> {
        if index >= self.capacity() {
            return Err(FreeError::OutOfRange(self.id(index)));
        }
        // Whoever has the ID had it from a call that minted it, so its caller sees that mint.
        let minted = self.header.front.next.load(ord!("magazine-23", Relaxed));
        if index < minted { Ok(minted) } else { Err(FreeError::NotAllocated(self.id(index))) }
    }

    /// As `judge`, and raises the guard. `Ok(true)` if somebody has asked to be told of the next free.
    #[cold]
    #[inline(never)]
    fn closer_look(&self, index: u32) -> Result<bool, FreeError> {
        let minted = self.judge(index)?;
        let guard = self.header.front.guard.load(ord!("magazine-24", Relaxed));
        let taken_back = guard < minted && self.raise_guard(guard, minted) && guard == 0;
        let pressed = &self.header.front.pressed;
        Ok(taken_back && pressed.load(ord!("magazine-52", Relaxed)) != 0 && pressed.swap(0, ord!("magazine-50", Relaxed)) != 0)
    }

    /// Judges an index. `Ok(true)` if somebody has asked to be told of the next free.
    #[inline]
    pub(super) fn look_at(&self, index: u32) -> Result<bool, FreeError> {
        if self.is_below_guard(index) { Ok(false) } else { self.closer_look(index) }
    }

    /// Whether nothing is left outside magazines at this moment: nothing fresh, nothing in the depot, nothing spilled.
    /// Only if the depot was quiet at `look` and [`is_unmoved`](Self::is_unmoved) since.
    pub(super) fn is_bare(&self) -> bool {
        // Acquire, in all of them, pairs with whoever took the last one: its call in flight, or its busy user, is then seen too (I7).
        self.header.front.next.load(ord!("magazine-20", Acquire)) == self.capacity()
            && self.group_with(FULL).is_none()
            && self.header.spilled.load(ord!("magazine-25", Acquire)) == 0
    }

    /// Fills an empty magazine with what is outside magazines: a full block, or spilled IDs, or else fresh
    /// ones. Returns how many.
    #[inline(always)]
    pub(super) fn fill(&self, indexes: &mut [u32; BLOCK], near: &mut Near, users: usize) -> usize {
        // Fresh ones come last: that bounds how far IDs go up (I3). Both looks before are a load or two.
        if self.group_with(FULL).is_some() && self.take(indexes, near) {
            return BLOCK;
        }
        match self.drain_spilled(indexes) {
            0 => self.mint_into(indexes, users),
            drained => drained,
        }
    }

    /// As `fill`, or why not, if no user has IDs that could be stolen.
    #[cold]
    #[inline(never)]
    pub(super) fn fill_or_tell(&self, indexes: &mut [u32; BLOCK], near: &mut Near) -> Result<usize, AllocError> {
        for _ in 0..ROUNDS {
            let look = self.look();
            match self.fill(indexes, near, 1) {
                0 if self.is_bare() && look.is_some_and(|look| self.is_unmoved(look)) => return Err(AllocError::Exhausted),
                0 => {}
                filled => return Ok(filled),
            }
        }
        Err(AllocError::Contended)
    }

    /// Makes the next `free` look, and tell whoever made it (I5).
    pub(super) fn press(&self) {
        self.header.front.pressed.swap(1, ord!("magazine-51", Relaxed));
        // Release pairs with magazine-19.
        self.header.front.guard.swap(0, ord!("magazine-21", Release));
        // Changes nothing. Release pairs with magazine-27: an ID spilled after this finds the guard at 0, one spilled before is counted.
        self.header.spilled.fetch_add(0, ord!("magazine-35", Release));
    }
}
