//! A segment: a log over words on the heap, a link to the next one, and how many use it.

use std::{
    marker::PhantomData,
    ops::Deref,
    ptr::{self, NonNull},
    sync::Arc,
};

use jeton_core::{
    append::{AppendLog, LogWord, Words},
    ord,
    sync::{AtomicPtr, AtomicU32},
};

use super::{Block, SegmentedError};
use crate::epoch::{self, Guard};

/// A segment where it lies.
pub(super) type Node = Block<Segment>;

#[cfg(all(target_arch = "x86_64", not(any(jeton_loom, jeton_shuttle))))]
const _: () = assert!(size_of::<Node>() == 384, "as the page says");

/// Words on the heap.
pub(super) struct HeapWords(Box<[LogWord]>);

// SAFETY: a box's own elements.
unsafe impl Words for HeapWords {
    #[inline(always)]
    fn words(&self) -> &[LogWord] {
        &self.0
    }
}

/// How many segments of a log there are in memory, listed or not.
pub(super) struct Live(AtomicU32);

impl Live {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(0))
    }

    pub(super) fn segments(&self) -> u32 {
        self.0.load(ord!("segmented-log-1", Relaxed))
    }
}

pub(super) struct Segment {
    /// The first one of a log is 0.
    pub(super) number: u64,
    pub(super) log: AppendLog<HeapWords>,
    /// Null, the next segment, or [`closed`]. Written once (G3).
    next: AtomicPtr<Node>,
    /// The list, until the segment is trimmed, and each [`Pinned`]. From 0 it never rises again (G2).
    users: AtomicU32,
    live: Arc<Live>,
}

/// What comes behind a segment.
pub(super) enum Next<'g> {
    /// Nothing yet.
    Nothing,
    /// Nothing, for ever.
    Closed,
    Segment(Seen<'g>),
}

/// A segment that is there as long as the guard. It keeps the pointer that the segment will be freed by: a reference is none.
#[derive(Clone, Copy)]
pub(super) struct Seen<'g> {
    node: NonNull<Node>,
    guard: PhantomData<&'g Guard>,
}

impl<'g> Seen<'g> {
    /// # Safety
    /// The segment is not freed as long as the guard is there.
    pub(super) unsafe fn new(node: NonNull<Node>, _: &'g Guard) -> Self {
        Self { node, guard: PhantomData }
    }

    pub(super) fn node(self) -> NonNull<Node> {
        self.node
    }
}

impl Deref for Seen<'_> {
    type Target = Segment;

    fn deref(&self) -> &Segment {
        // SAFETY: as promised to `new`.
        unsafe { self.node.as_ref() }.get()
    }
}

/// In the place of a segment's next one: the log is closed.
fn closed() -> *mut Node {
    ptr::without_provenance_mut(1)
}

impl Segment {
    /// A segment of so many words, with the list as its user.
    pub(super) fn allocate(number: u64, words: usize, live: &Arc<Live>) -> Result<NonNull<Node>, SegmentedError> {
        let mut memory = Vec::new();
        memory.try_reserve_exact(words).map_err(|_| SegmentedError::Alloc)?;
        memory.resize_with(words, LogWord::new);
        // SAFETY: new words are zero.
        let log = unsafe { AppendLog::over_zeros(HeapWords(memory.into_boxed_slice())) };
        let segment = Self { number, log, next: AtomicPtr::null(), users: AtomicU32::new(1), live: live.clone() };
        let node = Block::allocate(segment).map_err(|_| SegmentedError::Alloc)?;
        live.0.fetch_add(1, ord!("segmented-log-2", Relaxed));
        Ok(node)
    }

    /// # Safety
    /// Nobody looks at it any more.
    pub(super) unsafe fn free(node: NonNull<Node>) {
        // SAFETY: as promised to this function.
        unsafe {
            let live = node.as_ref().get().live.clone();
            Block::free(node);
            live.0.fetch_add(u32::MAX, ord!("segmented-log-3", Relaxed));
        }
    }

    /// What comes next, for as long as the guard holds.
    ///
    /// # Safety
    /// The guard was there when the list still began at or before the next segment (G1).
    pub(super) unsafe fn next<'g>(&self, guard: &'g Guard) -> Next<'g> {
        // Acquire pairs with `set_next`.
        let next = self.next.load(ord!("segmented-log-4", Acquire));
        if next == closed() {
            return Next::Closed;
        }
        // SAFETY: it was linked, and is not freed as long as the guard holds, as promised.
        NonNull::new(next).map_or(Next::Nothing, |next| Next::Segment(unsafe { Seen::new(next, guard) }))
    }

    /// Puts a segment behind this one. No if there is something already.
    pub(super) fn link(&self, next: NonNull<Node>) -> bool {
        self.set_next(next.as_ptr()).is_ok()
    }

    /// Closes the log behind this segment. No if there is another segment.
    pub(super) fn close(&self) -> bool {
        match self.set_next(closed()) {
            Ok(_) => true,
            Err(found) => found == closed(),
        }
    }

    fn set_next(&self, next: *mut Node) -> Result<*mut Node, *mut Node> {
        // Release pairs with `next`: the new segment is seen as it was made, and the end by who sees what came before `close`.
        self.next.compare_exchange(ptr::null_mut(), next, ord!("segmented-log-5", Release), ord!("segmented-log-6", Relaxed))
    }

    /// One more user, unless there is none any more.
    fn enter(&self) -> bool {
        loop {
            // Acquire pairs with `leave`: who finds that the segment has gone sees that the list begins further on.
            let users = self.users.load(ord!("segmented-log-7", Acquire));
            let more = match users {
                0 => return false,
                // Too many to be counted: it is never freed.
                u32::MAX => return true,
                _ => users + 1,
            };
            // Who comes to use it has found it by the list's pointers, which are acquired.
            if self
                .users
                .compare_exchange_weak(users, more, ord!("segmented-log-8", Relaxed), ord!("segmented-log-9", Relaxed))
                .is_ok()
            {
                return true;
            }
        }
    }

    /// One user less: whether it was the last one.
    fn leave(&self) -> bool {
        let mut users = self.users.load(ord!("segmented-log-10", Relaxed));
        while users != u32::MAX {
            // Release pairs with the load below: what all users have done comes before the end.
            let left = self.users.compare_exchange_weak(
                users,
                users - 1,
                ord!("segmented-log-11", Release),
                ord!("segmented-log-12", Relaxed),
            );
            match left {
                Ok(1) => {
                    // Acquire pairs with the exchange in the others.
                    self.users.load(ord!("segmented-log-31", Acquire));
                    return true;
                }
                Ok(_) => return false,
                Err(found) => users = found,
            }
        }
        false
    }
}

/// Takes a user from a segment, which is freed if that was the last one, as soon as nobody can be looking at it: whether it was.
/// Then [`collect`] is to be called, without a guard.
///
/// # Safety
/// The caller owns one of its users.
pub(super) unsafe fn leave(node: NonNull<Node>) -> bool {
    // SAFETY: it is there as long as it has a user (G2).
    let last = unsafe { node.as_ref() }.get().leave();
    if last {
        // SAFETY: it has left the list, since that was a user, and cannot be entered any more (G2). So only guards that are there
        // already see it (G1), and this waits for them.
        unsafe { epoch::pin().defer_unchecked(move || Segment::free(node)) };
    }
    last
}

/// Frees what nobody looks at any more: two epochs later, which two calls begin if nobody holds them up.
pub(super) fn collect() {
    for _ in 0..2 {
        epoch::pin().flush();
    }
}

/// A segment with a user more, which stays as long as this.
pub(super) struct Pinned(NonNull<Node>);

// SAFETY: a segment is `Send` and `Sync`, and counts its users.
unsafe impl Send for Pinned {}
// SAFETY: as above.
unsafe impl Sync for Pinned {}

impl Pinned {
    /// None if the segment was trimmed and left by its last user.
    pub(super) fn new(seen: Seen<'_>) -> Option<Self> {
        seen.enter().then(|| Self(seen.node))
    }

    /// The log, for as long as this is there, however the compiler takes that.
    ///
    /// # Safety
    /// It is used no longer than this `Pinned` is there.
    #[inline(always)]
    pub(super) unsafe fn log(&self) -> &'static AppendLog<HeapWords> {
        // SAFETY: G2, and as promised to this function.
        &unsafe { self.0.as_ref() }.get().log
    }
}

impl Deref for Pinned {
    type Target = Segment;

    #[inline(always)]
    fn deref(&self) -> &Segment {
        // SAFETY: G2: it has a user, which is this.
        unsafe { self.0.as_ref() }.get()
    }
}

impl Clone for Pinned {
    fn clone(&self) -> Self {
        // It has a user, so that there can be another one.
        self.enter();
        Self(self.0)
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // SAFETY: G2: its user is this, which ends here.
        if unsafe { leave(self.0) } {
            collect();
        }
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    /// More users than can be counted: four thousand million readers, or so many that were forgotten.
    #[test]
    fn a_segment_with_more_users_than_can_be_counted_is_never_freed() {
        let live = Arc::new(Live::new());
        let log = AppendLog::over(HeapWords(Box::new([LogWord::new()])));
        let users = AtomicU32::new(u32::MAX - 1);
        let segment = Segment { number: 0, log, next: AtomicPtr::null(), users, live: live.clone() };
        let Ok(node) = Block::allocate(segment) else { panic!("there is memory") };
        let guard = epoch::pin();
        // SAFETY: it is freed below.
        let seen = unsafe { Seen::new(node, &guard) };
        let pinned = Pinned::new(seen).expect("it has users");
        drop([pinned.clone(), pinned.clone(), pinned]);
        assert!(format!("{:?}", seen.users).contains(&u32::MAX.to_string()), "{:?}", seen.users);
        // SAFETY: this is the last that looks at it.
        unsafe { Segment::free(node) };
    }
}
