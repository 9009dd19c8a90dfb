//! Step 1: who uses a segment is counted, and the last one frees it. The list itself is the first user.
//!
//! Broken: between the look at where the list begins and the counting the segment may be freed; and the count is in it.
//! Found by: loom, rmw, shuttle.
use jeton_core::{ord, sync::AtomicU32};

use super::There;

/// Where the list begins, and the users of each segment.
#[derive(Debug)]
pub struct List {
    first: AtomicU32,
    users: [AtomicU32; 2],
    there: There,
}

impl List {
    fn leave(&self, segment: u32) {
        self.there.look(segment);
        if self.users[segment as usize].fetch_add(u32::MAX, ord!("list-3", AcqRel)) == 1 {
            self.there.free(segment);
        }
    }
}

impl super::Segments for List {
    fn new() -> Self {
        Self { first: AtomicU32::new(0), users: [AtomicU32::new(1), AtomicU32::new(1)], there: There::new() }
    }

    fn trim(&self) {
        self.first.swap(1, ord!("list-1", AcqRel));
        self.leave(0);
    }

    fn visit(&self) {
        let segment = self.first.load(ord!("list-2", Acquire));
        self.there.look(segment);
        self.users[segment as usize].fetch_add(1, ord!("list-4", AcqRel));
        self.there.look(segment);
        self.leave(segment);
    }

    fn name_words(&self) {
        crate::explore::name(&self.first, "first");
        crate::explore::name(&self.users[0], "users");
    }
}
