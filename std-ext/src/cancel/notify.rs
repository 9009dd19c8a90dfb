//! Cancel and dismissal: who has won the word tells everybody, without recursion, allocation or lock.

use std::ptr::NonNull;

use jeton_core::cancel::Reason;

use super::{
    node::{Marked, Node},
    panics::Panics,
    payload::{Child, Payload},
    room,
    table::Slots,
    word::Word,
};

/// Cancels a node and what is below it; whether this call has.
///
/// With `wait` it returns when all callbacks below are done, also those that other calls call.
///
/// # Safety
/// The caller is a user of the node.
#[inline]
pub(super) unsafe fn cancel(root: NonNull<Node>, reason: Reason, wait: bool) -> bool {
    // SAFETY: by the caller.
    let node = unsafe { root.as_ref() };
    let before = node.settle(|word| word.is_active().then(|| word.marked(reason)));
    match before {
        Some(before) if before.may_have_others() => {
            // SAFETY: by the caller; this call has marked the node, which is *notifying*.
            unsafe { tell(root, before, reason, wait) }.resume();
        }
        Some(_) => {}
        None if wait => wait_for(node),
        None => {}
    }
    before.is_some()
}

/// Waits until who has marked a node is done with it.
#[cold]
fn wait_for(node: &Node) {
    room::wait_for(node, node.word(), |word| Word(word).has(Word::NOTIFYING), Word::AWAITED);
}

/// # Safety
/// The caller is a user of the root, and has marked it.
unsafe fn tell(root: NonNull<Node>, before: Word, reason: Reason, wait: bool) -> Panics {
    let mut panics = Panics::default();
    // Before the first callback, so that whoever waits for this node, from there too, sees who is to be waited for (R2).
    let thread = room::here();
    // SAFETY: by the caller.
    unsafe { root.as_ref() }.set_canceler(thread);
    let (first, mut lost) = if before.has(Word::HAS_CHILDREN) {
        // SAFETY: by the caller.
        unsafe { mark_below(root, reason, wait, thread) }
    } else {
        (root, None)
    };
    // The root is the last one of the list, and there until this returns.
    let mut call = Call { root, at: Some(first), current: None };
    // SAFETY: the nodes from `first` on are marked by this call, and claimed but for the root.
    panics.keep(|| unsafe { call.run() });
    panics.keep(|| {
        while let Some(child) = lost {
            // SAFETY: this call has claimed it, and keeps it until it is unpinned here (N5).
            let node = unsafe { child.as_ref() };
            // SAFETY: as above.
            lost = unsafe { node.lost() };
            wait_for(node);
            // SAFETY: as above.
            unsafe { Node::unpin(child, 0) };
        }
    });
    panics
}

/// Marks all below the root. What is marked and has something to be told is a list, from the first one, which is returned, to the root.
///
/// A node that is marked goes to a stack if it may have children, and to the front of the list when these are marked: so each node is told
/// before the one above it, and its end is the end of all below it. Both are linked by `next`, since a node is in one of them.
///
/// The second result is a list of what another call has marked and still notifies, if that is to be waited for.
///
/// # Safety
/// As [`tell`].
unsafe fn mark_below(root: NonNull<Node>, reason: Reason, wait: bool, thread: u64) -> (NonNull<Node>, Child) {
    let mut lost = None;
    let mut list = None;
    let mut stack = None;
    let mut at = root;
    loop {
        // SAFETY: the root is the caller's; the others are claimed (N5), and marked by this call (N6).
        let node = unsafe { at.as_ref() };
        // SAFETY: as above.
        unsafe { node.set_next(list) };
        list = Some(at);
        // No child is on the way unseen: who arms a slot after the mark sees the mark.
        node.table().slots::<Child>().each(|slot| {
            let Some(child) = slot.claim_child() else { return };
            // SAFETY: claimed just now.
            match unsafe { Node::mark_claimed(child, reason, wait) } {
                // SAFETY: this call has marked it (N6), and claimed it (N5).
                Marked::Mine(before) => unsafe {
                    child.as_ref().set_canceler(thread);
                    if before.has(Word::HAS_CHILDREN) {
                        child.as_ref().set_next(stack.replace(child));
                    } else {
                        child.as_ref().set_next(list.replace(child));
                    }
                },
                Marked::Others => {
                    // SAFETY: this call has claimed it, and keeps it (N5).
                    unsafe { child.as_ref().set_lost(lost) };
                    lost = Some(child);
                }
                Marked::Done => {}
            }
        });
        let Some(next) = stack else { return (list.unwrap_or(root), lost) };
        at = next;
        // SAFETY: this call has marked it, and put it there (N6).
        stack = unsafe { at.as_ref().next() };
    }
}

/// Calls what waits at the nodes of a list. After a panic it goes on with what comes next.
struct Call<'a> {
    root: NonNull<Node>,
    at: Option<NonNull<Node>>,
    /// What is left of the node that it is at, if it has begun with it.
    current: Option<Slots<'a, Payload>>,
}

impl Call<'_> {
    /// # Safety
    /// This cancel has marked the nodes, and claimed them but for the root, of which the caller is a user.
    unsafe fn run(&mut self) {
        // After a panic.
        // SAFETY: by the caller.
        unsafe { self.rest() };
        while let Some(this) = self.at {
            // SAFETY: by the caller it is there until `finish` (N5).
            let node = unsafe { this.as_ref() };
            // A dismissed node has been told before.
            if !node.look().has_all(Word::CANCELED | Word::HAS_REGISTRATIONS) {
                // SAFETY: by the caller.
                unsafe { self.finish(this) };
            } else if let Some(slot) = node.table().only() {
                // After a panic nothing is left of it to go on with.
                let _finish = Finish(self, this);
                slot.notify(true);
            } else {
                self.current = Some(node.table().slots());
                // SAFETY: by the caller.
                unsafe { self.rest() };
            }
        }
    }

    /// Calls what is left of the node that it has begun with, if it has.
    ///
    /// # Safety
    /// As [`run`](Self::run).
    #[inline(never)]
    unsafe fn rest(&mut self) {
        if let (Some(slots), Some(this)) = (&mut self.current, self.at) {
            slots.each(|slot| slot.notify(true));
            self.current = None;
            // SAFETY: by the caller.
            unsafe { self.finish(this) };
        }
    }

    /// Leaves a node, and goes on to the next one.
    ///
    /// # Safety
    /// As [`run`](Self::run); it is the one that the call is at.
    #[inline]
    unsafe fn finish(&mut self, this: NonNull<Node>) {
        // SAFETY: by the caller it is there until the next step (N5).
        let node = unsafe { this.as_ref() };
        if this == self.root {
            self.at = None;
            node.end_notifying();
        } else {
            // SAFETY: this call has marked it (N6).
            self.at = unsafe { node.next() };
            // SAFETY: claimed, and not touched any more (N5).
            unsafe { Node::unpin(this, Word::NOTIFYING) };
        }
    }
}

/// Leaves a node, also if it panics there.
struct Finish<'c, 'a>(&'c mut Call<'a>, NonNull<Node>);

impl Drop for Finish<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: made where the call is at that node, by `run`.
        unsafe { self.0.finish(self.1) };
    }
}

/// Dismisses a node that has lost its last source: wakes who waits, and drops what will never be called.
///
/// # Safety
/// The caller is a user of the node.
pub(super) unsafe fn dismiss(node: NonNull<Node>) -> Panics {
    let mut panics = Panics::default();
    // SAFETY: by the caller.
    let node = unsafe { node.as_ref() };
    let before = node.settle(|word| word.is_active().then(|| word.with(Word::DISMISSED)));
    if before.is_some_and(|before| before.has(Word::HAS_REGISTRATIONS)) {
        let mut slots = node.table().slots::<Payload>();
        panics.keep(|| slots.each(|slot| slot.notify(false)));
    }
    panics
}
