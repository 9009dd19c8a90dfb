//! A user of a `StealableCache`: magazines that one caller at a time is inside of, and nobody waits for.

use core::fmt;

use super::{
    magazines::{CACHE, Count, Magazines},
    parts::{Parts, ROUNDS},
    storage::BLOCK,
    word::Version,
};
use crate::{
    const_fn, ord,
    pool::{AllocError, FreeError, IdRange, Pool, SliceError},
    sync::{AtomicU32, Ordering, UnsafeCell},
};

/// The memory of one user of a [`StealableCache`](super::StealableCache), on cache lines of its own.
#[cfg_attr(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "powerpc64"), repr(align(128)))]
#[cfg_attr(
    all(any(target_arch = "x86", target_arch = "riscv64", target_arch = "loongarch64"), not(target_os = "none")),
    repr(align(64))
)]
pub struct UserCell {
    /// See [`Version`].
    version: AtomicU32,
    /// Written by whoever is inside; others look only whether it is worth entering.
    count: Count,
    ids: UnsafeCell<Magazines>,
}

// SAFETY: I8: the cell is accessed only by whoever is inside, and entering and leaving hand it on with acquire and release.
unsafe impl Sync for UserCell {}

impl UserCell {
    const_fn! {
        /// No IDs.
        pub const fn new() -> Self {
            Self { version: AtomicU32::new(0), count: Count::new(), ids: UnsafeCell::new(Magazines::new()) }
        }
    }

    /// Whether the caller is inside now. If not, somebody else is, and the caller does something else: it never waits.
    #[inline(always)]
    fn enter(&self) -> bool {
        // Acquire pairs with both ways of leaving (magazine-42, magazine-44). Only this bit of the old word is used: `lock bts`.
        self.version.fetch_or(Version::BUSY, ord!("magazine-40", Acquire)) & Version::BUSY == 0
    }

    /// Leaves; the version is another one than before.
    #[inline(always)]
    fn leave(&self) {
        // Whoever else writes the word meanwhile sets a bit that is set: a plain store loses nothing (I8).
        let inside = Version(self.version.load(ord!("magazine-41", Relaxed)));
        // Release pairs with the next enter.
        self.put_version(inside.after_change(), ord!("magazine-42", Release));
    }

    /// A plain store. For loom a swap: it has no order between a plain store and the read-modify-writes of others beside it, and
    /// would let two of these enter on the same value.
    #[inline(always)]
    fn put_version(&self, version: Version, ordering: Ordering) {
        #[cfg(not(jeton_loom))]
        self.version.store(version.0, ordering);
        #[cfg(jeton_loom)]
        self.version.swap(version.0, ordering);
    }

    /// Leaves everything as it was, also the version. Returns it.
    fn leave_unchanged(&self) -> Version {
        let version = Version(self.version.load(ord!("magazine-43", Relaxed))).unchanged();
        // Release pairs with the next enter: that one overwrites what was read here.
        self.put_version(version, ord!("magazine-44", Release));
        version
    }

    /// Enters if that seems worth it. Returns the number of IDs.
    fn enter_if_any(&self) -> Option<usize> {
        if self.count.get() == 0 || Version(self.version.load(ord!("magazine-47", Relaxed))).is_busy() || !self.enter() {
            return None;
        }
        match self.count.get() {
            0 => {
                self.leave_unchanged();
                None
            }
            count => Some(count),
        }
    }

    /// Calls `f` with every ID. Exact while nobody uses it.
    pub(super) fn for_each(&mut self, parts: &Parts<'_>, mut f: impl FnMut(u32)) {
        let count = self.count.get();
        // SAFETY: I8: `&mut self`: nobody is inside.
        self.ids.with(|ids| unsafe { &*ids }.first(count).iter().for_each(|index| f(parts.id(*index))));
    }

    /// How many IDs it had at some moment of the call.
    pub(super) fn estimate(&self) -> u32 {
        self.count.get() as u32
    }
}

impl Default for UserCell {
    fn default() -> Self {
        Self::new()
    }
}

/// A user's handle of a [`StealableCache`](super::StealableCache). Several threads may use the same one.
///
/// # Ordering
/// What was done before [`free`](Self::free) of an ID comes before everything that is done with it after it is allocated again.
#[derive(Clone, Copy)]
pub struct User<'a> {
    cell: &'a UserCell,
    parts: Parts<'a>,
    users: &'a [UserCell],
    number: usize,
}

impl<'a> User<'a> {
    pub(super) fn new(parts: Parts<'a>, users: &'a [UserCell], number: usize) -> Option<Self> {
        users.get(number).map(|cell| Self { cell, parts, users, number })
    }

    /// An ID that nobody has. It waits for nobody, and ends after a bounded number of tries.
    ///
    /// # Errors
    /// [`Exhausted`](AllocError::Exhausted) if at some instant of the call all IDs were taken (those in owner caches of the same pool
    /// are); [`Contended`](AllocError::Contended) if it found none while others were moving some.
    #[inline]
    pub fn alloc(&self) -> Result<u32, AllocError> {
        if !self.cell.enter() {
            return self.alloc_while_busy();
        }
        match self.cell.count.get().checked_sub(1) {
            Some(last) => Ok(self.pop(last)),
            None => self.alloc_while_empty(),
        }
    }

    /// Takes the last ID, whose place is `last`, and leaves.
    #[inline(always)]
    fn pop(&self, last: usize) -> u32 {
        // SAFETY: I1: `last` is less than the count, which is at most CACHE. I8: this caller is inside.
        let index = self.cell.ids.with(|ids| unsafe { (*ids).at(last) });
        self.cell.count.decrement();
        // The linearization point.
        self.cell.leave();
        self.parts.id(index)
    }

    #[cold]
    #[inline(never)]
    fn alloc_while_busy(&self) -> Result<u32, AllocError> {
        self.alloc_after(self.alloc_beside())
    }

    /// Inside.
    #[cold]
    #[inline(never)]
    fn alloc_while_empty(&self) -> Result<u32, AllocError> {
        self.alloc_after(self.alloc_inside())
    }

    /// Looks again as long as that may help, after the first look has `found` an ID or not.
    #[inline]
    fn alloc_after(&self, mut found: Option<u32>) -> Result<u32, AllocError> {
        for _ in 0..ROUNDS {
            if let Some(id) = found {
                return Ok(id);
            }
            if self.all_are_empty() {
                return Err(AllocError::Exhausted);
            }
            found = if self.cell.enter() { self.alloc_inside() } else { self.alloc_beside() };
        }
        found.ok_or(AllocError::Contended)
    }

    /// Inside of its own magazines, which it fills if they are empty. Leaves.
    fn alloc_inside(&self) -> Option<u32> {
        if self.cell.count.get() == 0 {
            self.cell.count.set(self.fill());
        }
        match self.cell.count.get().checked_sub(1) {
            Some(last) => Some(self.pop(last)),
            None => {
                self.cell.leave_unchanged();
                None
            }
        }
    }

    /// Fills its empty magazines with what is outside magazines, or with half of somebody else's.
    fn fill(&self) -> usize {
        self.cell.ids.with_mut(|ids| {
            // SAFETY: I8: this caller is inside.
            let ids = unsafe { &mut *ids };
            match ids.fill(&self.parts, self.users.len()) {
                0 => self.steal(ids),
                filled => filled,
            }
        })
    }

    /// The others, from the next one on.
    fn others(&self) -> impl Iterator<Item = &'a UserCell> {
        let (before, rest) = self.users.split_at_checked(self.number).unwrap_or_default();
        rest.iter().skip(1).chain(before)
    }

    fn steal(&self, ids: &mut Magazines) -> usize {
        for victim in self.others() {
            let Some(count) = victim.enter_if_any() else { continue };
            let (stolen, left) = victim.ids.with_mut(|from| {
                // SAFETY: I8: this caller is inside of the victim too, and that is another cell than its own.
                ids.steal(unsafe { &mut *from }, count)
            });
            victim.count.set(left);
            victim.leave();
            return stolen;
        }
        0
    }

    /// Somebody else is inside of its own magazines: one ID from anywhere else.
    fn alloc_beside(&self) -> Option<u32> {
        let from_other = || {
            let (other, count) = self.others().find_map(|other| other.enter_if_any().map(|count| (other, count)))?;
            Some(Self { cell: other, ..*self }.pop(count - 1))
        };
        let fresh = || self.parts.mint(1, 1).map(|(index, _)| index);
        let shared = || self.parts.take_spilled().or_else(|| self.parts.take_one()).or_else(fresh);
        from_other().or_else(|| shared().map(|index| self.parts.id(index)))
    }

    /// Whether there was nothing anywhere at one instant: every user empty with nobody inside, and nothing outside magazines (I7).
    ///
    /// First all are seen empty, then all are seen unchanged; at the moment between, all were empty together.
    fn all_are_empty(&self) -> bool {
        let look = self.parts.look();
        let mut versions = 0_u32;
        for user in self.users {
            if !user.enter() {
                return false;
            }
            let count = user.count.get();
            versions = versions.wrapping_add(user.leave_unchanged().0);
            if count != 0 {
                return false;
            }
        }
        if !self.parts.is_bare() {
            return false;
        }
        // Versions only grow, so that none has changed if their sum has not. Relaxed: the first look at each and `is_bare` acquired.
        let again = self.users.iter().map(|user| user.version.load(ord!("magazine-48", Relaxed)));
        again.fold(0, u32::wrapping_add) == versions && self.parts.is_unmoved(look)
    }

    /// Takes an ID back, from whichever user. It waits for nobody and never fails for want of room.
    ///
    /// An ID that is freed twice is not noticed here: [`Checked`](crate::pool::Checked) does that.
    ///
    /// # Errors
    /// [`OutOfRange`](FreeError::OutOfRange), or [`NotAllocated`](FreeError::NotAllocated) if it has never been handed out.
    #[inline]
    pub fn free(&self, id: u32) -> Result<(), FreeError> {
        self.free_and_tell(id).map(|_| ())
    }

    /// As `free`; and whether somebody had [pressed](super::MagazinePool::press) and is to be told that there is an ID.
    ///
    /// # Errors
    /// As `free`.
    #[doc(hidden)]
    #[inline]
    pub fn free_and_tell(&self, id: u32) -> Result<bool, FreeError> {
        if !self.cell.enter() {
            return self.free_beside(self.parts.index(id));
        }
        let count = self.cell.count.get();
        let index = self.parts.index(id);
        // Inside, so that whoever pressed before having looked in here is noticed.
        if self.parts.is_below_guard(index) && count < CACHE {
            self.push(index, count);
            return Ok(false);
        }
        self.free_inside(index)
    }

    /// Adds an ID to fewer than CACHE, and leaves.
    #[inline(always)]
    fn push(&self, index: u32, count: usize) {
        self.cell.ids.with_mut(|ids| {
            // SAFETY: I8: this caller is inside.
            if let Some(place) = unsafe { (*ids).place(count) } {
                *place = index;
            }
        });
        self.cell.count.increment();
        // The linearization point.
        self.cell.leave();
    }

    #[cold]
    #[inline(never)]
    fn free_inside(&self, index: u32) -> Result<bool, FreeError> {
        let pressed = match self.parts.look_at(index) {
            Ok(pressed) => pressed,
            Err(refused) => {
                self.cell.leave_unchanged();
                return Err(refused);
            }
        };
        let mut count = self.cell.count.get();
        if count == CACHE {
            // SAFETY: I8: this caller is inside.
            count = self.cell.ids.with_mut(|ids| unsafe { (*ids).flush_half(&self.parts) });
        }
        self.cell.count.set(count);
        self.push(index, count);
        Ok(pressed)
    }

    /// Somebody else is inside of its own magazines: the ID becomes a bit.
    #[cold]
    #[inline(never)]
    fn free_beside(&self, index: u32) -> Result<bool, FreeError> {
        let pressed = self.parts.look_at(index)?;
        if !self.parts.spill(index) {
            return Err(FreeError::NotAllocated(self.parts.id(index)));
        }
        // Once more, behind the count of spilled IDs: see `press`.
        Ok(pressed || self.parts.look_at(index)?)
    }

    /// Allocates into `ids` from the front. Returns how many: fewer than asked for only if [`alloc`](Self::alloc) then fails.
    pub fn alloc_into(&self, ids: &mut [u32]) -> usize {
        let mut done = 0;
        while let Some((first, rest)) = ids.get_mut(done..).and_then(<[u32]>::split_first_mut) {
            let Ok(id) = self.alloc() else { break };
            *first = id;
            done += 1;
            if rest.is_empty() || !self.cell.enter() {
                continue;
            }
            let count = self.cell.count.get();
            // SAFETY: I8: this caller is inside.
            let taken = self.cell.ids.with(|from| unsafe {
                (*from).first(count).iter().rev().zip(rest).map(|(index, id)| *id = self.parts.id(*index)).count()
            });
            self.cell.count.set(count - taken);
            self.cell.leave();
            done += taken;
        }
        done
    }

    /// Takes all of `ids` back, from the front.
    ///
    /// # Errors
    /// [`SliceError`] at the first ID that is refused; those before it are back.
    pub fn free_slice(&self, ids: &[u32]) -> Result<(), SliceError> {
        SliceError::free_each(ids, |id| self.free(id))
    }

    /// Gives back to everybody all IDs that are cached here; nothing if somebody is inside. For a user that rests for long:
    /// it is not needed for others to get the IDs.
    pub fn flush(&self) {
        if self.cell.enter() {
            let count = self.cell.count.get();
            // SAFETY: I8: this caller is inside.
            self.cell.ids.with_mut(|ids| unsafe { (*ids).flush(count, &self.parts) });
            self.cell.count.set(0);
            self.cell.leave();
        }
    }
}

impl IdRange for User<'_> {
    #[inline]
    fn base(&self) -> u32 {
        self.parts.header.front.base
    }

    #[inline]
    fn capacity(&self) -> u32 {
        self.parts.capacity()
    }
}

impl Pool for User<'_> {
    #[inline(always)]
    fn alloc(&self) -> Result<u32, AllocError> {
        self.alloc()
    }

    #[inline(always)]
    fn free(&self, id: u32) -> Result<(), FreeError> {
        self.free(id)
    }
}

impl Parts<'_> {
    /// Takes a full block for one ID; the others are spilled, in flight until then.
    fn take_one(&self) -> Option<u32> {
        self.group_with(super::depot::FULL)?;
        let mut indexes = [0; BLOCK];
        self.in_flight(|| {
            let taken = self.take(&mut indexes, &mut 0);
            let (index, rest) = indexes.split_last().filter(|_| taken)?;
            self.spill_all(rest);
            Some(*index)
        })
    }
}

impl fmt::Debug for UserCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserCell").field("count", &self.count.get()).finish_non_exhaustive()
    }
}

impl fmt::Debug for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("number", &self.number).field("cell", &self.cell).finish_non_exhaustive()
    }
}
