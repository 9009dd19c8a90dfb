//! Step 2: a guard around the look and the counting; what has no user any more is freed when all guards are gone that were there.
//!
//! Broken: a segment that waits to be freed can still be entered, and is freed under its new user.
//! Found by: loom, rmw, shuttle.
use jeton_core::{ord, sync::AtomicU32};

use super::{Guards, There};

/// Where the list begins, the users of each segment, and the guards.
#[derive(Debug)]
pub struct List {
    first: AtomicU32,
    users: [AtomicU32; 2],
    there: There,
    guards: Guards,
}

impl List {
    fn leave(&self, segment: u32) {
        self.there.look(segment);
        if self.users[segment as usize].fetch_add(u32::MAX, ord!("list-3", AcqRel)) == 1 {
            self.guards.defer(&self.there);
        }
    }
}

impl super::Segments for List {
    fn new() -> Self {
        let users = [AtomicU32::new(1), AtomicU32::new(1)];
        Self { first: AtomicU32::new(0), users, there: There::new(), guards: Guards::new() }
    }

    fn trim(&self) {
        self.first.swap(1, ord!("list-1", AcqRel));
        self.leave(0);
    }

    fn visit(&self) {
        self.guards.enter();
        let segment = self.first.load(ord!("list-2", Acquire));
        self.there.look(segment);
        self.users[segment as usize].fetch_add(1, ord!("list-4", AcqRel));
        self.guards.leave(&self.there);
        self.there.look(segment);
        self.leave(segment);
    }

    fn name_words(&self) {
        crate::explore::name(&self.first, "first");
        crate::explore::name(&self.users[0], "users");
        crate::explore::name(&self.guards, "guards");
    }
}
