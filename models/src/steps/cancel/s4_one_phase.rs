//! Step 4: a tree. Each child is marked, and then its callback is called; and so on with the next one.
//!
//! New: a child is a word, and a cancel goes through all.
//! Broken: the callback of the first child finds the second one active, and may go on with its work there.
//! Found by: loom, rmw, shuttle. No second thread is needed.
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
        self.children[2].fetch_or(BORN, ord!("one-phase-1", AcqRel));
        let canceled = self.root.fetch_or(BORN, ord!("one-phase-2", AcqRel)) & CANCELED != 0;
        if canceled {
            self.children[2].fetch_or(CANCELED, ord!("one-phase-3", AcqRel));
        }
        canceled
    }

    fn cancel(&self) -> Vec<bool> {
        let mut seen = Vec::new();
        self.root.fetch_or(CANCELED, ord!("one-phase-4", AcqRel));
        for child in &self.children {
            if child.load(ord!("one-phase-5", Acquire)) & BORN != 0 {
                child.fetch_or(CANCELED, ord!("one-phase-6", AcqRel));
                // Its callback.
                seen.push((0..2).all(|child| self.is_canceled(child)));
            }
        }
        seen
    }

    fn is_canceled(&self, child: usize) -> bool {
        self.children[child].load(ord!("one-phase-7", Acquire)) & CANCELED != 0
    }

    fn name_words(&self) {
        crate::explore::name(&self.root, "root");
        self.children.iter().enumerate().for_each(|(at, child)| crate::explore::name(child, &format!("child {at}")));
    }
}
