use jeton_core::sync::{AtomicU32, Ordering, UnsafeCell};

use super::END;

/// What lies beside the indexes: for each the word that links it to the next one, and a payload that its holder uses.
#[derive(Debug)]
pub struct Slots {
    next: Box<[AtomicU32]>,
    #[cfg_attr(not(any(jeton_loom, jeton_shuttle)), allow(dead_code, reason = "only a model uses payloads"))]
    payloads: Box<[UnsafeCell<u32>]>,
}

// SAFETY: the payloads are accessed in `touch` alone, which exists only in models, where all threads are one of the system's.
unsafe impl Sync for Slots {}
// SAFETY: the same.
unsafe impl Send for Slots {}

impl Slots {
    /// Slots of which each is linked to the one after it.
    pub(super) fn linked(len: u32) -> Self {
        let next = |index| AtomicU32::new(if index + 1 < len { index + 1 } else { END });
        Self { next: (0..len).map(next).collect(), payloads: (0..len).map(|_| UnsafeCell::new(0)).collect() }
    }

    pub(super) fn next(&self, index: u32, ordering: Ordering) -> u32 {
        self.next[index as usize].load(ordering)
    }

    pub(super) fn set_next(&self, index: u32, next: u32, ordering: Ordering) {
        self.next[index as usize].store(next, ordering);
    }

    /// How many indexes there are.
    pub fn count(&self) -> u32 {
        self.next.len() as u32
    }

    /// Uses the payload beside an index that the caller holds. loom fails here if another thread uses it too.
    #[cfg(any(jeton_loom, jeton_shuttle))]
    pub fn touch(&self, index: u32) {
        crate::explore::note(&format!("uses payload {index}"));
        // SAFETY: in a model nothing else runs during this closure; under loom, the cell itself has checked before that the
        // accesses are ordered.
        self.payloads[index as usize].with_mut(|payload| unsafe { *payload += 1 });
    }

    pub(super) fn name_words(&self) {
        for (index, next) in self.next.iter().enumerate() {
            crate::explore::name(next, &format!("next{index}"));
        }
    }
}
