//! What the models of the segmented log have in common: the library's sources, and what stands in the place of what they use.
#![allow(missing_docs, dead_code, unused_imports, reason = "the library's sources, and each file of models uses a part")]

#[path = "../../../std-ext/src"]
pub mod std_ext {
    pub mod append;
}

/// crossbeam-epoch itself, with a collector for each execution, whose threads leave it before they end.
pub mod epoch {
    use std::{
        cell::{Cell, RefCell},
        mem::{self, ManuallyDrop},
    };

    use crossbeam_epoch::{Collector, LocalHandle};
    #[cfg(jeton_loom)]
    use loom::thread_local as thread_of_model_local;
    #[cfg(jeton_shuttle)]
    use shuttle::thread_local as thread_of_model_local;

    thread_local! {
        /// Of the running execution, all of which is in one thread.
        static COLLECTOR: RefCell<Option<Collector>> = const { RefCell::new(None) };
        static RUNNING: Cell<bool> = const { Cell::new(false) };
    }
    thread_of_model_local! {
        /// Dropped by `leave`, and not when loom's words are no more.
        static HANDLE: RefCell<Option<ManuallyDrop<LocalHandle>>> = RefCell::new(None);
    }

    pub struct Guard(crossbeam_epoch::Guard);

    pub fn pin() -> Guard {
        let register =
            || COLLECTOR.with_borrow(|collector| ManuallyDrop::new(collector.as_ref().expect("an execution").register()));
        let guard = HANDLE.with(|handle| handle.borrow_mut().get_or_insert_with(register).pin());
        // On x86 it pins by a compare-and-swap that is a fence as well. loom's is none.
        #[cfg(jeton_loom)]
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        Guard(guard)
    }

    impl Guard {
        /// # Safety
        /// As crossbeam-epoch's.
        pub unsafe fn defer_unchecked(&self, free: impl FnOnce() + 'static) {
            // What is left over when an execution fails runs when loom's words are no more.
            let free = || {
                if RUNNING.get() {
                    free();
                }
            };
            // SAFETY: as promised to this function.
            unsafe { self.0.defer_unchecked(free) };
        }

        pub fn flush(&self) {
            self.0.flush();
        }
    }

    pub fn begin() {
        COLLECTOR.set(Some(Collector::new()));
        RUNNING.set(true);
    }

    /// The last thing that a thread does.
    pub fn leave() {
        let handle = HANDLE.with(|handle| handle.borrow_mut().take());
        handle.map(ManuallyDrop::into_inner);
    }

    /// The last thing that an execution does: what is still not freed is freed.
    pub fn end() {
        leave();
        drop(COLLECTOR.take());
    }

    /// However the execution ends.
    pub fn over() {
        RUNNING.set(false);
        mem::forget(COLLECTOR.take());
    }
}

/// In the place of the library's memory: whoever looks too late finds a mark, and looking beside the end is a data race.
pub mod memory {
    use std::{
        any::{Any, type_name},
        cell::{Cell, RefCell},
        ptr::NonNull,
    };

    use jeton_core::sync::UnsafeCell;

    pub struct Block<T> {
        there: UnsafeCell<bool>,
        value: T,
    }

    // SAFETY: that nobody looks when it is freed is what the models check.
    unsafe impl<T: Sync> Sync for Block<T> {}
    // SAFETY: as above.
    unsafe impl<T: Send> Send for Block<T> {}

    thread_local! {
        /// What was freed in the running execution, all of which is in one thread.
        static FREED: RefCell<Vec<Box<dyn Any>>> = const { RefCell::new(Vec::new()) };
        /// How many segments are not freed.
        static SEGMENTS: Cell<usize> = const { Cell::new(0) };
    }

    fn count<T>(more: isize) {
        if type_name::<T>().ends_with("Segment") {
            SEGMENTS.set(SEGMENTS.get().wrapping_add_signed(more));
        }
    }

    /// At the beginning of an execution.
    pub fn begin() {
        FREED.take();
        SEGMENTS.set(0);
    }

    /// How many segments are not freed.
    pub fn segments() -> usize {
        SEGMENTS.get()
    }

    impl<T: 'static> Block<T> {
        pub fn allocate(value: T) -> Result<NonNull<Self>, T> {
            count::<T>(1);
            Ok(NonNull::from(Box::leak(Box::new(Self { there: UnsafeCell::new(true), value }))))
        }

        pub fn get(&self) -> &T {
            // SAFETY: loom says if it is not so.
            self.there.with(|there| assert!(unsafe { *there }, "used after it was freed"));
            &self.value
        }

        /// # Safety
        /// The models check it.
        pub unsafe fn free(block: NonNull<Self>) {
            // SAFETY: the memory is there until the next execution begins.
            unsafe { block.as_ref() }.there.with_mut(|there| {
                // SAFETY: loom says if somebody else is there.
                let there = unsafe { &mut *there };
                assert!(*there, "freed twice");
                *there = false;
            });
            count::<T>(-1);
            // SAFETY: it came from `allocate`, and is freed once.
            FREED.with_borrow_mut(|freed| freed.push(unsafe { Box::from_raw(block.as_ptr()) }));
        }
    }
}

/// In the place of the library's cancel sources: what they promise, under a lock.
pub mod cancel {
    use std::{
        pin::Pin,
        sync::Arc,
        task::{Context, Poll, Waker},
    };

    #[cfg(jeton_loom)]
    use loom::sync::Mutex;
    #[cfg(jeton_shuttle)]
    use shuttle::sync::Mutex;

    #[derive(Default)]
    struct State {
        canceled: bool,
        wakers: Vec<(usize, Waker)>,
        registered: usize,
    }

    #[derive(Clone)]
    pub struct CancelSource(Arc<Mutex<State>>);

    pub struct CancelToken(Arc<Mutex<State>>);

    pub struct Canceled {
        state: Arc<Mutex<State>>,
        number: Option<usize>,
    }

    impl CancelSource {
        pub fn new() -> Self {
            Self(Arc::new(Mutex::new(State::default())))
        }

        pub fn token(&self) -> CancelToken {
            CancelToken(self.0.clone())
        }

        pub fn cancel(&self) {
            let wakers = {
                let mut state = self.0.lock().expect("nobody panics");
                state.canceled = true;
                std::mem::take(&mut state.wakers)
            };
            wakers.into_iter().for_each(|(_, waker)| waker.wake());
        }
    }

    impl CancelToken {
        pub fn canceled(self) -> Canceled {
            Canceled { state: self.0, number: None }
        }
    }

    impl Future for Canceled {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
            let state = self.state.clone();
            let mut state = state.lock().expect("nobody panics");
            if state.canceled {
                return Poll::Ready(());
            }
            let number = *self.number.get_or_insert(state.registered);
            state.registered = state.registered.max(number + 1);
            state.wakers.retain(|(of, _)| *of != number);
            state.wakers.push((number, context.waker().clone()));
            Poll::Pending
        }
    }

    impl Drop for Canceled {
        fn drop(&mut self) {
            if let Some(number) = self.number {
                self.state.lock().expect("nobody panics").wakers.retain(|(of, _)| *of != number);
            }
        }
    }
}

use std::{
    pin::pin,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::append::Read;
use jeton_models::explore::{self, Model, note, thread};
#[cfg(jeton_loom)]
use loom::sync::{Condvar, Mutex};
#[cfg(jeton_shuttle)]
use shuttle::sync::{Condvar, Mutex};
use std_ext::append::{LogReader, ReadError, SegmentedLog};

/// Ends the execution, however it ends.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        epoch::over();
    }
}

/// Explores a program with logs. At its end, when all threads are joined and all is dropped, every segment must be freed.
pub fn explore(model: Model, program: impl Fn() + Send + Sync + 'static) {
    explore::explore(model, move || execute(&program));
}

pub fn execute(program: &impl Fn()) {
    memory::begin();
    epoch::begin();
    let _running = Running;
    program();
    epoch::end();
    assert_eq!(memory::segments(), 0, "segments that nobody frees");
}

/// A log of segments that have room for one record of 8 bytes each.
pub fn log() -> SegmentedLog {
    SegmentedLog::new(16).expect("there is memory")
}

/// The record of so many, eight bytes.
pub fn append(log: &SegmentedLog, numbers: impl IntoIterator<Item = u8>) {
    numbers.into_iter().for_each(|number| log.append(&[number; 8]).expect("there is memory"));
}

/// In a thread of its own, to which everything that it uses belongs.
pub fn beside<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> impl FnOnce() -> R {
    let other = thread::spawn(move || {
        let result = work();
        epoch::leave();
        result
    });
    move || other.join().expect("a thread of the model panicked")
}

/// The number of a record without bytes.
pub const EMPTY: u8 = u8::MAX;

/// What a reader finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Record(u8),
    Trimmed(u64),
    Nothing,
    End,
}

fn number(record: &[u8]) -> u8 {
    if record.is_empty() {
        return EMPTY;
    }
    assert!(record.len() == 8 && record.iter().all(|byte| *byte == record[0]), "a record that is not whole: {record:?}");
    record[0]
}

pub fn read(reader: &mut LogReader) -> Found {
    let found = match reader.read() {
        Ok(Read::Record(record)) => Found::Record(number(&record)),
        Ok(Read::Pending | Read::Empty) => Found::Nothing,
        Ok(Read::End) | Err(ReadError::End) => Found::End,
        Err(ReadError::Trimmed { segments }) => Found::Trimmed(segments),
        Err(other) => panic!("{other}"),
    };
    note(&format!("{found:?}"));
    found
}

/// Reads on until there is nothing or an end.
pub fn read_all(reader: &mut LogReader) -> Vec<Found> {
    let mut all = Vec::new();
    loop {
        match read(reader) {
            found @ (Found::Nothing | Found::End) => {
                all.push(found);
                return all;
            }
            found => all.push(found),
        }
    }
}

/// Sleeps until it is woken.
struct Sleeper(Mutex<bool>, Condvar);

impl Wake for Sleeper {
    fn wake(self: std::sync::Arc<Self>) {
        *self.0.lock().expect("nobody panics") = true;
        self.1.notify_one();
    }
}

/// As the library's blocking wait, with the checker's own sleep.
pub fn wait(reader: &mut LogReader) -> Found {
    let sleeper = std::sync::Arc::new(Sleeper(Mutex::new(false), Condvar::new()));
    let waker = Waker::from(sleeper.clone());
    let mut next = pin!(reader.next_record());
    loop {
        if let Poll::Ready(found) = next.as_mut().poll(&mut Context::from_waker(&waker)) {
            return match found {
                Ok(record) => Found::Record(number(&record)),
                Err(ReadError::End) => Found::End,
                Err(ReadError::Trimmed { segments }) => Found::Trimmed(segments),
                Err(other) => panic!("{other}"),
            };
        }
        let mut woken = sleeper.0.lock().expect("nobody panics");
        while !*woken {
            woken = sleeper.1.wait(woken).expect("nobody panics");
        }
        *woken = false;
    }
}
