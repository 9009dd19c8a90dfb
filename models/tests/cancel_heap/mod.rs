//! What the tests of sources on the heap have in common: an allocator that counts, wakers and callbacks that count.
#![allow(missing_docs, dead_code, reason = "each file of tests uses a part")]

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    panic::resume_unwind,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
};

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    pub static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
    pub static LIVE: Cell<isize> = const { Cell::new(0) };
}

// SAFETY: as the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        LIVE.set(LIVE.get() + layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.set(LIVE.get() - layout.size() as isize);
        // SAFETY: by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

pub fn allocations<R>(work: impl FnOnce() -> R) -> (usize, R) {
    let before = ALLOCATIONS.get();
    let result = work();
    (ALLOCATIONS.get() - before, result)
}

/// `work` leaves nothing on the heap.
#[track_caller]
pub fn without_leak<R>(work: impl FnOnce() -> R) -> R {
    let before = LIVE.get();
    let result = work();
    assert_eq!(LIVE.get(), before, "bytes are left on the heap, or gone twice");
    result
}

/// That many, or a few under Miri.
pub const fn many(number: usize) -> usize {
    if cfg!(miri) { if number > 20 { 20 } else { number } } else { number }
}

#[derive(Default)]
pub struct Woken(pub AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

pub fn waker() -> (Arc<Woken>, Waker) {
    let woken = Arc::new(Woken::default());
    (woken.clone(), woken.into())
}

pub fn poll<F: Future + Unpin>(future: &mut F, waker: &Waker) -> Poll<F::Output> {
    Pin::new(future).poll(&mut Context::from_waker(waker))
}

/// A panic that prints nothing, and keeps nothing for printing.
pub fn fail() {
    resume_unwind(Box::new("as planned"));
}

pub type Calls = Arc<AtomicU32>;

pub fn counting(calls: &Calls) -> impl FnOnce() + Send + 'static {
    let calls = calls.clone();
    move || _ = calls.fetch_add(1, Relaxed)
}
