//! A waker whose functions run code of the test's: wakers are anybody's code.
#![allow(missing_docs, dead_code, reason = "each file of tests uses a part")]

use std::{
    cell::{Cell, RefCell},
    task::{RawWaker, RawWakerVTable, Waker},
};

pub type Act = Box<dyn FnOnce()>;

thread_local! {
    /// What the next clone, wake and drop of a `meddler` does.
    pub static MEDDLE: RefCell<[Option<Act>; 3]> = const { RefCell::new([const { None }; 3]) };
    /// How many there are.
    pub static WAKERS: Cell<i32> = const { Cell::new(0) };
}

fn meddle(at: usize) {
    let what = MEDDLE.with_borrow_mut(|all| all[at].take());
    if let Some(what) = what {
        what();
    }
}

/// A waker whose functions do what `MEDDLE` says, and which counts itself.
pub fn meddler() -> Waker {
    const TABLE: RawWakerVTable = RawWakerVTable::new(
        |_| {
            meddle(0);
            WAKERS.set(WAKERS.get() + 1);
            RawWaker::new(std::ptr::null(), &TABLE)
        },
        |_| {
            meddle(1);
            WAKERS.set(WAKERS.get() - 1);
        },
        |_| meddle(1),
        |_| {
            meddle(2);
            WAKERS.set(WAKERS.get() - 1);
        },
    );
    WAKERS.set(WAKERS.get() + 1);
    // SAFETY: the functions keep no data, and may be called in any thread; they count in the one that calls them.
    unsafe { Waker::from_raw(RawWaker::new(std::ptr::null(), &TABLE)) }
}
