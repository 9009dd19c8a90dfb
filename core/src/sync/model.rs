//! What models see of the words: the trace of an execution, the weakening of one ordering, and step mode.
//!
//! Compiled only under the private cfgs; a normal build has none of it. loom and shuttle run all threads of an execution in one
//! thread of the operating system, so everything here is kept by that thread, and models may run beside each other.
extern crate std;

use std::{
    boxed::Box,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    format,
    string::{String, ToString},
    thread_local,
    vec::Vec,
};

#[cfg(jeton_loom)]
use loom::thread::{self, ThreadId};
#[cfg(jeton_shuttle)]
use shuttle::thread::{self, ThreadId};
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
use std::thread::{self, ThreadId};

// ---- The trace: every step of the execution that is running, to be shown if it is the one that fails. ----

/// One step of an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread that took it, by the order in which the threads took their first steps.
    pub thread: usize,
    /// Word and operation.
    pub what: String,
    /// Every word seen so far, with its value after the step.
    pub state: String,
}

/// What is kept of a step while the execution runs; the texts are made only for the trace that somebody reads.
enum Event {
    Operation { address: usize, operation: &'static str, after: u64 },
    Note(String),
}

#[derive(Default)]
struct Trace {
    events: Vec<(ThreadId, Event)>,
    names: BTreeMap<usize, String>,
}

thread_local! {
    static TRACE: RefCell<Option<Trace>> = const { RefCell::new(None) };
}

fn with_trace(f: impl FnOnce(&mut Trace)) {
    TRACE.with_borrow_mut(|trace| trace.as_mut().map(f));
}

/// Begins the trace of an execution and forgets the last one. Without a call of it nothing is traced.
pub fn begin_trace() {
    TRACE.set(Some(Trace::default()));
}

/// Names a word in the trace.
pub fn name<W>(word: &W, name: &str) {
    with_trace(|trace| _ = trace.names.insert(core::ptr::from_ref(word).addr(), name.to_string()));
}

/// Adds a step that is no operation on a word, such as the result of a call.
pub fn note(what: &str) {
    if TRACE.with_borrow(Option::is_some) {
        let thread = thread::current().id();
        with_trace(|trace| trace.events.push((thread, Event::Note(what.to_string()))));
    }
}

/// Called by every word after a step.
pub(super) fn after_step(address: usize, operation: &'static str, after: u64) {
    if TRACE.with_borrow(Option::is_some) {
        let thread = thread::current().id();
        with_trace(|trace| trace.events.push((thread, Event::Operation { address, operation, after })));
    }
}

/// The steps since [`begin_trace`].
pub fn trace() -> Vec<Step> {
    TRACE.with_borrow(|trace| trace.as_ref().map(Trace::steps).unwrap_or_default())
}

impl Trace {
    fn steps(&self) -> Vec<Step> {
        let mut threads: Vec<ThreadId> = Vec::new();
        let mut words: BTreeMap<usize, (String, u64)> = BTreeMap::new();
        let step = |(id, event): &(ThreadId, Event)| {
            let thread = threads.iter().position(|known| known == id).unwrap_or_else(|| {
                threads.push(*id);
                threads.len() - 1
            });
            let what = match event {
                Event::Note(what) => what.clone(),
                Event::Operation { address, operation, after } => {
                    let unnamed = || format!("word{}", words.len());
                    let name = self.names.get(address).cloned().unwrap_or_else(unnamed);
                    let word = words.entry(*address).or_insert((name, 0));
                    word.1 = *after;
                    format!("{}.{operation}", word.0)
                }
            };
            let state = words.values().map(|(name, value)| format!("{name}={value:#x}")).collect::<Vec<_>>().join(" ");
            Step { thread, what, state }
        };
        self.events.iter().map(step).collect()
    }
}

// ---- Weakening: JETON_WEAKEN=row=Ordering lowers the operation of that row. ----

#[cfg(jeton_loom)]
mod weakening {
    extern crate std;

    use std::{
        eprintln, process,
        string::{String, ToString},
        sync::OnceLock,
    };

    use super::super::Ordering;

    static REACHED: OnceLock<()> = OnceLock::new();

    /// Whether `JETON_WEAKEN` is set, so that numbers of executions mean nothing.
    pub fn weakening() -> bool {
        setting().is_some()
    }

    /// Whether this process has come to the operation that `JETON_WEAKEN` names.
    pub fn weakened_row_reached() -> bool {
        REACHED.get().is_some()
    }

    fn setting() -> Option<&'static (String, String)> {
        static SETTING: OnceLock<Option<(String, String)>> = OnceLock::new();
        let read = || {
            let setting = std::env::var("JETON_WEAKEN").ok()?;
            match setting.rsplit_once('=') {
                Some((row, weaker)) => Some((row.to_string(), weaker.to_string())),
                None => not_understood(&setting),
            }
        };
        SETTING.get_or_init(read).as_ref()
    }

    /// No panic, which would look like a model that has caught something.
    fn not_understood(setting: &str) -> ! {
        eprintln!("JETON_WEAKEN={setting} is not understood: it is ROW=ORDERING, or ROW=none for a fence");
        process::exit(2)
    }

    fn weaker(row: &str) -> Option<&'static str> {
        let (weak_row, weaker) = setting()?;
        (weak_row == row).then(|| {
            _ = REACHED.set(());
            weaker.as_str()
        })
    }

    /// The ordering of a row: its own, or the weaker one that `JETON_WEAKEN` names for it.
    pub fn weakened(row: &str, ordering: Ordering) -> Ordering {
        match weaker(row) {
            None => ordering,
            Some("Relaxed") => Ordering::Relaxed,
            Some("Acquire") => Ordering::Acquire,
            Some("Release") => Ordering::Release,
            Some("AcqRel") => Ordering::AcqRel,
            Some(other) => not_understood(other),
        }
    }

    /// The fence of a row, or none.
    pub fn fence(row: &str, ordering: Ordering) {
        match weaker(row) {
            None => super::super::fence(ordering),
            Some("none") => {}
            Some(other) => not_understood(other),
        }
    }

    /// What `AcqRel`, one step below `SeqCst`, means for a load.
    #[cfg(not(jeton_rmw_load))]
    pub fn load_part(ordering: Ordering) -> Ordering {
        if ordering == Ordering::AcqRel { Ordering::Acquire } else { ordering }
    }

    /// What `AcqRel`, one step below `SeqCst`, means for a store.
    #[cfg(not(jeton_rmw_load))]
    pub fn store_part(ordering: Ordering) -> Ordering {
        if ordering == Ordering::AcqRel { Ordering::Release } else { ordering }
    }
}

#[cfg(jeton_loom)]
pub use weakening::{fence, weakened, weakened_row_reached, weakening};
#[cfg(all(jeton_loom, not(jeton_rmw_load)))]
pub(super) use weakening::{load_part, store_part};

// ---- Step mode: an interrupt is not a thread. It runs to its end at one step of what it interrupts, which waits meanwhile. ----

type Interrupt = Box<dyn FnOnce()>;

thread_local! {
    /// Steps left before the interrupt, and the interrupt.
    static PENDING: RefCell<Option<(usize, Interrupt)>> = const { RefCell::new(None) };
    /// Steps that the interrupt may take before it counts as waiting for what it interrupted.
    static BUDGET: Cell<Option<usize>> = const { Cell::new(None) };
}

/// More steps than any operation of a structure takes.
const INTERRUPT_BUDGET: usize = 10_000;

/// Runs `operation`, and `interrupt` to its end before its step number `at` (from 0). Returns whether there was such a step.
///
/// # Panics
/// If the interrupt takes so many steps that it must be waiting for the operation it interrupted.
pub fn interrupted(at: usize, operation: impl FnOnce(), interrupt: impl FnOnce() + 'static) -> bool {
    // An earlier interrupt may have ended with a panic.
    BUDGET.set(None);
    PENDING.set(Some((at, Box::new(interrupt))));
    operation();
    PENDING.take().is_none()
}

/// The last thing that an interrupt does: another one comes so many steps later.
pub fn then(at: usize, interrupt: impl FnOnce() + 'static) {
    PENDING.set(Some((at, Box::new(interrupt))));
}

/// Called by every word before a step.
pub(super) fn before_step() {
    if let Some(budget) = BUDGET.get() {
        assert!(budget > 0, "the interrupt waits for the operation that it interrupted");
        BUDGET.set(Some(budget - 1));
    }
    let due = PENDING.with_borrow_mut(|pending| match pending {
        Some((0, _)) => pending.take().map(|(_, interrupt)| interrupt),
        Some((steps, _)) => {
            *steps -= 1;
            None
        }
        None => None,
    });
    if let Some(interrupt) = due {
        BUDGET.set(Some(INTERRUPT_BUDGET));
        interrupt();
        BUDGET.set(None);
    }
}
