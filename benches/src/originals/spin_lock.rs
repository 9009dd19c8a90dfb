//! A spin lock, once inlined, once out of line behind a wrapper.

use jeton_core::sync::{AtomicU32, Ordering, OwnerU32};

/// A lock that spins.
pub trait Lock: Default + Sync {
    /// Calls `work` with the lock held.
    fn locked<R>(&self, work: impl FnOnce() -> R) -> R;
}

const FREE: u32 = 0;
const HELD: u32 = 1;

/// Inlined: one swap to take it, one store to release it.
#[derive(Debug)]
pub struct Lean(AtomicU32);

impl Default for Lean {
    fn default() -> Self {
        Self(AtomicU32::new(FREE))
    }
}

impl Lean {
    #[inline(always)]
    fn acquire(&self) {
        // Acquire pairs with the release of the holder before: what it did to the guarded data is seen.
        while self.0.swap(HELD, Ordering::Acquire) != FREE {
            while self.0.load(Ordering::Relaxed) != FREE {
                core::hint::spin_loop();
            }
        }
    }

    #[inline(always)]
    fn release(&self) {
        self.0.store(FREE, Ordering::Release);
    }
}

impl Lock for Lean {
    #[inline(always)]
    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        self.acquire();
        let result = work();
        self.release();
        result
    }
}

/// As Open vSwitch ships it: a wrapper that is a function of its own. It calls the lock of the C library, another such function,
/// looks at the error that this returns, and notes where the lock was taken.
#[derive(Debug)]
pub struct Shipped {
    lock: Lean,
    /// The line where the holder took the lock, 0 while it is free: written by the holder only.
    line: OwnerU32,
}

impl Default for Shipped {
    fn default() -> Self {
        Self { lock: Lean::default(), line: OwnerU32::new(0) }
    }
}

impl Shipped {
    #[inline(never)]
    fn acquire(&self, line: u32) {
        if library_acquire(&self.lock) != NO_ERROR {
            refuse("acquire", line);
        }
        self.line.store(line, Ordering::Relaxed);
    }

    #[inline(never)]
    fn release(&self) {
        self.line.store(0, Ordering::Relaxed);
        if library_release(&self.lock) != NO_ERROR {
            refuse("release", 0);
        }
    }
}

impl Lock for Shipped {
    #[inline(always)]
    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        self.acquire(line!());
        let result = work();
        self.release();
        result
    }
}

const NO_ERROR: u32 = 0;

// `black_box` keeps the error one that the caller has to look at: this crate could see that there is none, a caller of the C library
// cannot.

#[inline(never)]
fn library_acquire(lock: &Lean) -> u32 {
    lock.acquire();
    core::hint::black_box(NO_ERROR)
}

#[inline(never)]
fn library_release(lock: &Lean) -> u32 {
    lock.release();
    core::hint::black_box(NO_ERROR)
}

#[cold]
fn refuse(what: &str, line: u32) -> ! {
    panic!("cannot {what} the lock of line {line}")
}

#[cfg(test)]
mod tests {
    use std::thread;

    use jeton_core::sync::UnsafeCell;

    use super::*;

    #[derive(Default)]
    struct Guarded<L> {
        lock: L,
        count: UnsafeCell<u32>,
    }

    // SAFETY: `count` is used with the lock held only.
    unsafe impl<L: Lock> Sync for Guarded<L> {}

    impl<L: Lock> Guarded<L> {
        fn change(&self, by: u32) -> u32 {
            self.lock.locked(|| {
                self.count.with_mut(|count| {
                    // SAFETY: the lock is held, so no other thread uses the cell.
                    unsafe {
                        *count += by;
                        *count
                    }
                })
            })
        }
    }

    fn counts_exactly<L: Lock>() {
        let guarded = Guarded::<L>::default();
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..10_000).for_each(|_| _ = guarded.change(1)));
            }
        });
        assert_eq!(guarded.change(0), 30_000);
    }

    #[test]
    fn one_holder_at_a_time() {
        counts_exactly::<Lean>();
        counts_exactly::<Shipped>();
    }
}
