//! Step 6: a birth links the child first, and then does a read-modify-write of the root's word; so does a cancel, before it looks for children.
//!
//! New: they meet on that word. If the cancel comes second it sees the child, if first, the birth sees the cancel.
//! Broken: nothing. `Tree` does the same at every node.
use jeton_core::{ord, sync::AtomicU32};

use super::Family;

const BORN: u32 = 1;
const CANCELED: u32 = 2;

/// A word for the root, and one for each child.
#[derive(Debug)]
pub struct Tree {
    root: AtomicU32,
    children: [AtomicU32; 3],
}

impl Family for Tree {
    fn new() -> Self {
        Self { root: AtomicU32::new(0), children: [BORN, BORN, 0].map(AtomicU32::new) }
    }

    fn birth(&self) -> bool {
        self.children[2].fetch_or(BORN, ord!("link-first-1", Relaxed));
        let canceled = self.root.fetch_or(BORN, ord!("link-first-2", AcqRel)) & CANCELED != 0;
        if canceled {
            self.children[2].fetch_or(CANCELED, ord!("link-first-3", AcqRel));
        }
        canceled
    }

    fn cancel(&self) -> Vec<bool> {
        self.root.fetch_or(CANCELED, ord!("link-first-4", AcqRel));
        let born = |child: &&AtomicU32| child.load(ord!("link-first-5", Relaxed)) & BORN != 0;
        let children: Vec<_> = self.children.iter().filter(born).collect();
        children.iter().for_each(|child| _ = child.fetch_or(CANCELED, ord!("link-first-6", AcqRel)));
        // Their callbacks.
        children.iter().map(|_| (0..2).all(|child| self.is_canceled(child))).collect()
    }

    fn is_canceled(&self, child: usize) -> bool {
        self.children[child].load(ord!("link-first-7", Acquire)) & CANCELED != 0
    }

    fn name_words(&self) {
        crate::explore::name(&self.root, "root");
        self.children.iter().enumerate().for_each(|(at, child)| crate::explore::name(child, &format!("child {at}")));
    }
}
