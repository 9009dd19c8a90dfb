//! IDs from a pool, allocated and freed in rounds: an array of n IDs, read and written without bounds checks.
//!
//! | round | each step | operations a step | before | after |
//! |---|---|---:|---|---|
//! | [`new`] | allocate | 1 | all free | all allocated |
//! | [`del`] | free the next ID of an array that [`shuffle`] has shuffled | 1 | all allocated | all free |
//! | [`mix`] | allocate, free that, allocate | 3 | all free | all allocated |
//! | [`rnd`] | allocate, swap with a random entry up to here, free what came, allocate | 3 | all free | all allocated |
//! | [`xfer`] | one user allocates, another one frees | 2 | all free | all free |
//!
//! [`NoPool`] is a pool that does nothing: what the rounds themselves cost, and part of every other figure.

use core::{hint::black_box, ops::Range};

mod jeton;
mod originals;
pub mod timed;

pub use ::jeton::pool::IdPool;
pub use jeton::{CheckedCaches, OwnBitPool, OwnerCaches, StealableCaches};
pub use originals::SlabUser;

/// What one user of a pool can do: a handle, by which the pool knows the user.
pub trait User {
    /// What the pool calls an ID: `u32`, but for some rivals.
    type Id: Copy + Default + Send;
    /// Takes an ID; `None` if the pool hands out none.
    fn alloc(&mut self) -> Option<Self::Id>;
    /// Gives an ID back; `false` if the pool refuses it.
    fn free(&mut self, id: Self::Id) -> bool;
}

/// A pool and its users.
pub trait Pool: Sync {
    /// As its users call an ID.
    type Id: Copy + Default + Send;
    /// A user's handle.
    type User<'p>: User<Id = Self::Id>
    where
        Self: 'p;

    /// Whether a round over n IDs takes the last ID that the pool has. Where users keep IDs that nobody can take from them, a pool
    /// for n IDs in the hands of a round has more of them.
    const TO_THE_LAST_ID: bool;

    /// A pool that hands out `ids` IDs to `users` users, however the IDs are divided between them.
    fn with(ids: u32, users: u32) -> Self;
    /// The handle of a user, by its number; there is one at a time.
    fn user(&self, number: u32) -> Self::User<'_>;
}

/// The pool refused an operation that the round knows to be possible: an allocation with IDs left, or to free an allocated ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("the pool refused an operation that is possible")
    }
}

impl core::error::Error for Refused {}

/// How many operations a step of `round` does; `None` if there is no such round.
pub fn operations_a_step(round: &str) -> Option<u32> {
    match round {
        "new" | "del" => Some(1),
        "xfer" => Some(2),
        "mix" | "rnd" => Some(3),
        _ => None,
    }
}

/// Allocates an ID into each entry.
///
/// # Errors
/// [`Refused`]
#[inline]
pub fn new<U: User>(user: &mut U, ids: &mut [U::Id]) -> Result<(), Refused> {
    for entry in ids {
        *entry = user.alloc().ok_or(Refused)?;
    }
    Ok(())
}

/// Frees the ID of each entry.
///
/// # Errors
/// [`Refused`]
#[inline]
pub fn del<U: User>(user: &mut U, ids: &[U::Id]) -> Result<(), Refused> {
    for entry in ids {
        free(user, *entry)?;
    }
    Ok(())
}

/// For each entry: allocates an ID into it, frees it, allocates another one into it.
///
/// # Errors
/// [`Refused`]
#[inline]
pub fn mix<U: User>(user: &mut U, ids: &mut [U::Id]) -> Result<(), Refused> {
    for entry in ids {
        *entry = user.alloc().ok_or(Refused)?;
        free(user, *entry)?;
        *entry = user.alloc().ok_or(Refused)?;
    }
    Ok(())
}

/// For each of the entries `steps`: allocates an ID into it, swaps it with a random entry up to here, frees the ID that came, and
/// allocates another one in its place. The entries before `steps` hold allocated IDs.
///
/// # Errors
/// [`Refused`]
///
/// # Panics
/// If there are not so many entries.
#[inline]
pub fn rnd<U: User>(user: &mut U, ids: &mut [U::Id], steps: Range<u32>, random: &mut Random) -> Result<(), Refused> {
    assert!(steps.end as usize <= ids.len(), "a step without an entry");
    let entries = ids.as_mut_ptr();
    for step in steps {
        let other = random.up_to(step) as usize;
        // SAFETY: `step` is an index of `ids`, which was asserted, and `other` is at most that.
        let (newest, other) = unsafe { (entries.add(step as usize), entries.add(other)) };
        let id = user.alloc().ok_or(Refused)?;
        // SAFETY: both are entries of `ids`, which is borrowed here alone, and no reference to an entry exists.
        let came = unsafe {
            newest.write(id);
            newest.swap(other);
            newest.read()
        };
        free(user, came)?;
        let id = user.alloc().ok_or(Refused)?;
        // SAFETY: as above.
        unsafe { newest.write(id) };
    }
    Ok(())
}

/// For each entry: `from` allocates an ID into it, `to` frees it.
///
/// # Errors
/// [`Refused`]
#[inline]
pub fn xfer<U: User>(from: &mut U, to: &mut U, ids: &mut [U::Id]) -> Result<(), Refused> {
    for entry in ids {
        *entry = from.alloc().ok_or(Refused)?;
        free(to, *entry)?;
    }
    Ok(())
}

#[inline(always)]
fn free<U: User>(user: &mut U, id: U::Id) -> Result<(), Refused> {
    if user.free(id) { Ok(()) } else { Err(Refused) }
}

/// Numbers that look random and are the same in every run: xorshift with 32 bits.
#[derive(Clone, Debug)]
pub struct Random(u32);

impl Random {
    /// Each thread of a round has its own seed, which is not 0.
    pub const fn new(seed: u32) -> Self {
        Self(if seed == 0 { 1 } else { seed })
    }

    /// A number from 0 to `last`.
    #[inline(always)]
    pub fn up_to(&mut self, last: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        // The upper half of the product: a share of the range, without a division.
        ((u64::from(self.0) * (u64::from(last) + 1)) >> 32) as u32
    }
}

/// Puts the IDs into an order that looks random.
pub fn shuffle<T>(ids: &mut [T], random: &mut Random) {
    for last in (1..ids.len()).rev() {
        ids.swap(last, random.up_to(last as u32) as usize);
    }
}

/// Whether no ID is there twice.
pub fn all_distinct(ids: &[u32]) -> bool {
    let highest = ids.iter().max().map_or(0, |id| *id as usize);
    let mut seen = vec![false; highest + 1];
    ids.iter().all(|id| !std::mem::replace(&mut seen[*id as usize], true))
}

/// A pool that does nothing, however many use it.
#[derive(Debug)]
pub struct NoPool;

/// A user of [`NoPool`]: gets the numbers in turn, and what comes back is forgotten.
#[derive(Debug, Default)]
pub struct Nothing {
    next: u32,
}

impl Pool for NoPool {
    type Id = u32;
    type User<'p> = Nothing;

    const TO_THE_LAST_ID: bool = true;

    fn with(_ids: u32, _users: u32) -> Self {
        Self
    }

    fn user(&self, _number: u32) -> Nothing {
        Nothing::default()
    }
}

impl User for Nothing {
    type Id = u32;

    #[inline(always)]
    fn alloc(&mut self) -> Option<u32> {
        let id = self.next;
        self.next = id.wrapping_add(1);
        Some(black_box(id))
    }

    #[inline(always)]
    fn free(&mut self, id: u32) -> bool {
        black_box(id);
        true
    }
}

#[cfg(test)]
mod tests;
