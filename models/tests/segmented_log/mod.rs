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
        static PLANTED: Cell<Planted> = const { Cell::new(Planted::Nothing) };
    }
    thread_of_model_local! {
        /// Dropped by `leave`, and not when loom's words are no more.
        static HANDLE: RefCell<Option<ManuallyDrop<LocalHandle>>> = RefCell::new(None);
        static YIELDS: Cell<u32> = Cell::new(0);
    }

    /// What is wrong.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Planted {
        Nothing,
        /// What is to be freed is freed at once, whoever looks.
        FreedAtOnce,
        /// Who looks is not seen by who frees.
        NoGuard,
    }

    pub struct Guard(ManuallyDrop<Option<crossbeam_epoch::Guard>>);

    impl Drop for Guard {
        fn drop(&mut self) {
            if !is_over() {
                // SAFETY: dropped here and nowhere else.
                unsafe { ManuallyDrop::drop(&mut self.0) };
            }
        }
    }

    /// Whether the execution has failed: what is left on the stacks of its threads is not dropped, or that would fail as well.
    pub fn is_over() -> bool {
        !RUNNING.get() || std::thread::panicking()
    }

    pub fn pin() -> Guard {
        if PLANTED.get() == Planted::NoGuard {
            return Guard(ManuallyDrop::new(None));
        }
        let guard = pin_really();
        (0..YIELDS.with(Cell::get)).for_each(|_| jeton_models::explore::thread::yield_now());
        Guard(ManuallyDrop::new(Some(guard)))
    }

    /// Lets others go so far as they can, so many times, between the guards of `work` and what is looked at under them. loom does not
    /// come to think of that: see the shim, on loads before a compare-and-swap.
    pub fn slowly<R>(yields: u32, work: impl FnOnce() -> R) -> R {
        YIELDS.with(|slow| slow.set(yields));
        let result = work();
        YIELDS.with(|slow| slow.set(0));
        result
    }

    fn pin_really() -> crossbeam_epoch::Guard {
        let register =
            || COLLECTOR.with_borrow(|collector| ManuallyDrop::new(collector.as_ref().expect("an execution").register()));
        let guard = HANDLE.with(|handle| handle.borrow_mut().get_or_insert_with(register).pin());
        // On x86 it pins by a compare-and-swap that is a fence as well. loom's is none.
        #[cfg(jeton_loom)]
        loom::sync::atomic::fence(loom::sync::atomic::Ordering::SeqCst);
        guard
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
            match &*self.0 {
                _ if PLANTED.get() == Planted::FreedAtOnce => free(),
                // SAFETY: as promised to this function.
                Some(guard) => unsafe { guard.defer_unchecked(free) },
                // SAFETY: not at all, in the models of what is wrong.
                None => unsafe { pin_really().defer_unchecked(free) },
            }
        }

        pub fn flush(&self) {
            match &*self.0 {
                Some(guard) => guard.flush(),
                None => pin_really().flush(),
            }
        }
    }

    pub fn begin(planted: Planted) {
        PLANTED.set(planted);
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

    /// At its end.
    pub fn end() {
        assert_eq!(SEGMENTS.get(), 0, "segments that nobody frees");
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
    mem::ManuallyDrop,
    pin::pin,
    task::{Context, Poll, Wake, Waker},
};

use jeton_core::append::Read;
use jeton_models::explore::{self, Model, Seeded, note, thread};
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
///
/// At most two preemptions, since crossbeam-epoch takes many steps of its own.
pub fn explore(model: Model, program: impl Fn() + Send + Sync + 'static) {
    explore_bounded(2, model, program);
}

/// The same with another bound.
pub fn explore_bounded(preemptions: usize, model: Model, program: impl Fn() + Send + Sync + 'static) {
    explore::explore_bounded(preemptions, model, move || execute(epoch::Planted::Nothing, &program));
}

/// Finds what is planted into a program with logs.
#[track_caller]
pub fn find(seeded: Seeded<'_>, planted: epoch::Planted, program: impl Fn() + Send + Sync + 'static) {
    // The name of the test, by which its report is known, is that of this thread.
    explore::find(seeded, move || execute(planted, &program));
    epoch::over();
}

/// One execution.
fn execute(planted: epoch::Planted, program: &impl Fn()) {
    memory::begin();
    epoch::begin(planted);
    let _running = Running;
    program();
    epoch::end();
    memory::end();
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

/// What is dropped unless the execution has failed.
struct Kept<T>(ManuallyDrop<T>);

impl<T> Kept<T> {
    fn new(value: T) -> Self {
        Self(ManuallyDrop::new(value))
    }
}

impl<T> Drop for Kept<T> {
    fn drop(&mut self) {
        if !epoch::is_over() {
            // SAFETY: dropped here and nowhere else.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}

/// A reader that reads on beside a trim.
pub fn read_beside_trim() {
    let log = Kept::new(log());
    append(&log.0, 0..3);
    let mut reader = Kept::new(log.0.reader());
    let (end, other) = (log.0.end(), Kept::new(SegmentedLog::clone(&log.0)));
    let trim = beside(move || other.0.trim(end));
    let found = read_all(&mut reader.0);
    let skips = [Found::Record(0), Found::Trimmed(1), Found::Record(2), Found::Nothing];
    assert!(
        [&[Found::Record(0), Found::Record(1), Found::Record(2), Found::Nothing][..], &skips].contains(&&found[..]),
        "{found:?}"
    );
    assert_eq!(trim(), 2);
}

/// A reader that comes beside a trim.
pub fn come_beside_trim() {
    let log = Kept::new(log());
    append(&log.0, 0..2);
    let (end, other) = (log.0.end(), Kept::new(SegmentedLog::clone(&log.0)));
    let trim = beside(move || other.0.trim(end));
    let mut reader = Kept::new(log.0.reader());
    assert!([Found::Record(0), Found::Record(1)].contains(&read(&mut reader.0)));
    assert_eq!(trim(), 1);
    drop(reader);
    assert_eq!(log.0.held().listed, 1);
}

/// One poll of a future that is dropped then: whether it was ready.
pub fn poll_once(reader: &mut LogReader) -> bool {
    pin!(reader.next_record()).as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready()
}
