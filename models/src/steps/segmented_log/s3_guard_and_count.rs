//! Step 3: a segment without users is not entered any more; who finds that looks again where the list begins.
//!
//! Broken: nothing.
use jeton_core::{ord, sync::AtomicU32};

use super::{Guards, There};

/// As in step 2.
#[derive(Debug)]
pub struct List {
    first: AtomicU32,
    users: [AtomicU32; 2],
    there: There,
    guards: Guards,
}

impl List {
    fn enter(&self, segment: u32) -> bool {
        self.there.look(segment);
        let users = &self.users[segment as usize];
        let mut found = users.load(ord!("list-4", Acquire));
        while found != 0 {
            match users.compare_exchange(found, found + 1, ord!("list-5", AcqRel), ord!("list-6", Acquire)) {
                Ok(_) => return true,
                Err(other) => found = other,
            }
        }
        false
    }

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
        let segment = loop {
            let segment = self.first.load(ord!("list-2", Acquire));
            if self.enter(segment) {
                break segment;
            }
        };
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
