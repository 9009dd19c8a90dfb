//! `User`: a user of a `StealableCache`, who looks everywhere for an ID and waits for nobody.

use core::fmt;

use super::{
    cell::UserCell,
    depot::Near,
    magazines::Magazines,
    parts::{Parts, ROUNDS},
    storage::BLOCK,
    word::{UserBits, UserWord},
};
use crate::pool::{AllocError, FreeError, IdRange, Pool, SliceError};

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

    /// An ID that nobody has. Lock-free: it waits for nobody, and looks everywhere at most five times.
    ///
    /// # Errors
    /// [`Exhausted`](AllocError::Exhausted) if at some instant of the call all IDs were taken (those in owner caches of the same pool
    /// are); [`Contended`](AllocError::Contended) if it found none while others were moving some.
    #[inline]
    pub fn alloc(&self) -> Result<u32, AllocError> {
        match self.cell.try_alloc() {
            Ok(index) => Ok(self.parts.id(index)),
            Err(found) => self.alloc_elsewhere(found),
        }
    }

    /// Looks again as long as that may help; at first, it has `found` its own magazines empty or busy.
    #[cold]
    #[inline(never)]
    pub(super) fn alloc_elsewhere(&self, mut found: UserWord) -> Result<u32, AllocError> {
        for round in 0.. {
            let id = if found.is_busy() { self.alloc_beside() } else { self.alloc_inside(found) };
            if let Some(id) = id {
                return Ok(id);
            }
            if round == ROUNDS {
                break;
            }
            if self.all_are_empty() {
                return Err(AllocError::Exhausted);
            }
            found = self.cell.enter();
        }
        Err(AllocError::Contended)
    }

    /// Inside of its own magazines, which it fills if they are empty. Leaves.
    fn alloc_inside(&self, found: UserWord) -> Option<u32> {
        let inside = if found.count() == 0 { found.filled(self.fill()) } else { found };
        match inside.last() {
            Some(last) => Some(self.parts.id(self.cell.pop(inside, last))),
            None => {
                self.cell.leave(inside);
                None
            }
        }
    }

    /// Fills its empty magazines with what is outside magazines, or with half of somebody else's. Returns how many IDs there are.
    fn fill(&self) -> usize {
        let fill = |ids: &mut Magazines| match ids.fill(&self.parts, self.users.len()) {
            0 => self.steal(ids),
            filled => filled,
        };
        // SAFETY: I8: this caller is inside.
        unsafe { self.cell.with(fill) }
    }

    /// The others, from the next one on.
    fn others(&self) -> impl Iterator<Item = &'a UserCell> {
        let (before, rest) = self.users.split_at_checked(self.number).unwrap_or_default();
        rest.iter().skip(1).chain(before)
    }

    fn steal(&self, ids: &mut Magazines) -> usize {
        let Some((victim, inside)) = self.enter_other() else { return 0 };
        // SAFETY: I8: this caller is inside of the victim too, and that is another cell than its own.
        let (stolen, left) = unsafe { victim.with(|from| ids.steal(from, inside.count())) };
        victim.leave(inside.with_count(left));
        stolen
    }

    /// Enters another user that has an ID at least.
    fn enter_other(&self) -> Option<(&'a UserCell, UserWord)> {
        self.others().find_map(|other| other.enter_if_any().map(|inside| (other, inside)))
    }

    /// Somebody else is inside of its own magazines: one ID from anywhere else.
    fn alloc_beside(&self) -> Option<u32> {
        if let Some((other, inside)) = self.enter_other() {
            return inside.last().map(|last| self.parts.id(other.pop(inside, last)));
        }
        let fresh = || self.parts.mint(1, 1).map(|(index, _)| index);
        let index = self.parts.take_spilled().or_else(|| self.parts.take_one()).or_else(fresh);
        index.map(|index| self.parts.id(index))
    }

    /// Whether there was nothing anywhere at one instant: every user empty with nobody inside, and nothing outside magazines (I7).
    ///
    /// First all are seen empty, then all are seen unchanged; at the moment between, all were empty together.
    fn all_are_empty(&self) -> bool {
        let Some(depot) = self.parts.look() else { return false };
        let Some(versions) = self.sum_of_empty(UserCell::look) else { return false };
        // Versions only grow, so that none has changed if their sum has not: until they wrap (section 7 of the page).
        self.parts.is_bare() && self.sum_of_empty(UserCell::look_again) == Some(versions) && self.parts.is_unmoved(depot)
    }

    /// The sum of the users' words, if `look` finds each of them empty, with nobody inside.
    fn sum_of_empty(&self, look: fn(&UserCell) -> UserWord) -> Option<UserBits> {
        let mut words = self.users.iter().map(look);
        words.try_fold(0, |sum: UserBits, word| (word.room() == Some(0)).then(|| sum.wrapping_add(word.0)))
    }

    /// Takes an ID back, from whichever user. It waits for nobody and never fails for want of room.
    ///
    /// An ID that is freed twice is not noticed here: [`Checked`](crate::pool::Checked) does that.
    ///
    /// # Errors
    /// [`OutOfRange`](FreeError::OutOfRange), or [`NotAllocated`](FreeError::NotAllocated) if no cache has ever held it.
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
        let index = self.parts.index(id);
        match self.cell.try_free(index, self.parts.header) {
            Ok(()) => Ok(false),
            Err(found) => self.free_elsewhere(found, index),
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn free_elsewhere(&self, found: UserWord, index: u32) -> Result<bool, FreeError> {
        if found.is_busy() { self.free_beside(index) } else { self.free_inside(found, index) }
    }

    /// Inside, where there is no room, or of an ID that is to be looked at.
    fn free_inside(&self, found: UserWord, index: u32) -> Result<bool, FreeError> {
        let pressed = self.parts.look_at(index).inspect_err(|_| self.cell.leave(found))?;
        let inside = match found.room() {
            Some(_) => found,
            // SAFETY: I8: this caller is inside.
            None => found.with_count(unsafe { self.cell.with(|ids| ids.flush_half(&self.parts)) }),
        };
        self.cell.push(inside, inside.count(), index);
        Ok(pressed)
    }

    /// Somebody else is inside of its own magazines: the ID becomes a bit.
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
            if rest.is_empty() {
                break;
            }
            let inside = self.cell.enter();
            if inside.is_busy() {
                continue;
            }
            let count = inside.count();
            let take = |from: &mut Magazines| {
                from.first(count).iter().rev().zip(rest).map(|(index, id)| *id = self.parts.id(*index)).count()
            };
            // SAFETY: I8: this caller is inside.
            let taken = unsafe { self.cell.with(take) };
            self.cell.leave(inside.with_count(count - taken));
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
        let inside = self.cell.enter();
        if !inside.is_busy() {
            // SAFETY: I8: this caller is inside.
            unsafe { self.cell.with(|ids| ids.flush(inside.count(), &self.parts)) };
            self.cell.leave(inside.with_count(0));
        }
    }
}

impl IdRange for User<'_> {
    #[inline]
    fn base(&self) -> u32 {
        self.parts.base
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
        self.in_flight(Near::HOME, || {
            let taken = self.take(&mut indexes, &mut { Near::HOME });
            let (index, rest) = indexes.split_last().filter(|_| taken)?;
            self.spill_all(rest);
            Some(*index)
        })
    }
}

impl fmt::Debug for User<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("User").field("number", &self.number).field("cell", &self.cell).finish_non_exhaustive()
    }
}
