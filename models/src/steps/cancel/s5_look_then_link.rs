//! Step 5: two phases. All children are marked, and then the callbacks are called.
//!
//! New: every callback finds all canceled. And a birth looks at the root first: below a canceled root nothing need be linked.
//! Broken: the root may be canceled between that look and the link, and the cancel has gone by. The child stays active for ever.
//! Found by: loom, rmw, shuttle.
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
        let canceled = self.root.fetch_or(BORN, ord!("look-first-1", AcqRel)) & CANCELED != 0;
        self.children[2].fetch_or(if canceled { BORN | CANCELED } else { BORN }, ord!("look-first-2", AcqRel));
        canceled
    }

    fn cancel(&self) -> Vec<bool> {
        self.root.fetch_or(CANCELED, ord!("look-first-3", AcqRel));
        let born = |child: &&AtomicU32| child.load(ord!("look-first-4", Acquire)) & BORN != 0;
        let children: Vec<_> = self.children.iter().filter(born).collect();
        children.iter().for_each(|child| _ = child.fetch_or(CANCELED, ord!("look-first-5", AcqRel)));
        // Their callbacks.
        children.iter().map(|_| (0..2).all(|child| self.is_canceled(child))).collect()
    }

    fn is_canceled(&self, child: usize) -> bool {
        self.children[child].load(ord!("look-first-6", Acquire)) & CANCELED != 0
    }

    fn name_words(&self) {
        crate::explore::name(&self.root, "root");
        self.children.iter().enumerate().for_each(|(at, child)| crate::explore::name(child, &format!("child {at}")));
    }
}
