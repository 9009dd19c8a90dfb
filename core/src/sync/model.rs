//! What models see of the words: the trace of an execution, the weakening of one ordering, and step mode.
//!
//! Compiled only under the private cfgs; a normal build has none of it.
extern crate std;

use std::{
    boxed::Box,
    cell::{Cell, RefCell},
    collections::BTreeMap,
    format,
    string::{String, ToString},
    sync::{Mutex, OnceLock, PoisonError},
    thread_local,
    vec::Vec,
};

// ---- The trace: every step of the execution that is running, for the one that fails. ----

/// One step on a word.
#[derive(Clone, Debug)]
pub struct Step {
    /// The thread that took it, by the order in which the threads took their first steps.
    pub thread: usize,
    /// Word and operation.
    pub what: String,
    /// Every word seen so far, with its value after the step.
    pub state: String,
}

#[derive(Default)]
struct Trace {
    steps: Vec<Step>,
    threads: Vec<String>,
    /// By address: the word's name and its value.
    words: BTreeMap<usize, (String, Option<u64>)>,
}

static TRACE: Mutex<Option<Trace>> = Mutex::new(None);

fn with_trace<R>(f: impl FnOnce(&mut Option<Trace>) -> R) -> R {
    f(&mut TRACE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Begins the trace of an execution and forgets the last one. Without a call of it nothing is traced.
pub fn begin_trace() {
    with_trace(|trace| *trace = Some(Trace::default()));
}

/// The steps since [`begin_trace`].
pub fn trace() -> Vec<Step> {
    with_trace(|trace| trace.as_ref().map(|trace| trace.steps.clone()).unwrap_or_default())
}

/// Names a word in the trace.
pub fn name<W>(word: &W, name: &str) {
    with_trace(|trace| {
        if let Some(trace) = trace {
            trace.words.insert(core::ptr::from_ref(word).addr(), (name.to_string(), None));
        }
    });
}

/// Adds a step that is no operation on a word, such as an access to a payload.
pub fn note(what: &str) {
    with_trace(|trace| {
        if let Some(trace) = trace {
            trace.push(what.to_string());
        }
    });
}

impl Trace {
    fn push(&mut self, what: String) {
        let id = thread_id();
        let thread = self.threads.iter().position(|known| *known == id).unwrap_or_else(|| {
            self.threads.push(id);
            self.threads.len() - 1
        });
        let known = self.words.values().filter_map(|(name, value)| value.map(|value| format!("{name}={value:#x}")));
        let state = known.collect::<Vec<_>>().join(" ");
        self.steps.push(Step { thread, what, state });
    }
}

fn thread_id() -> String {
    #[cfg(jeton_loom)]
    return format!("{:?}", loom::thread::current().id());
    #[cfg(jeton_shuttle)]
    return format!("{:?}", shuttle::thread::current().id());
    #[cfg(not(any(jeton_loom, jeton_shuttle)))]
    return format!("{:?}", std::thread::current().id());
}

/// Called by every word after a step.
pub(super) fn after_step(address: usize, operation: &str, after: u64) {
    with_trace(|trace| {
        let Some(trace) = trace else { return };
        let unnamed = format!("word{}", trace.words.len());
        let (name, value) = trace.words.entry(address).or_insert((unnamed, None));
        *value = Some(after);
        let what = format!("{name}.{operation}");
        trace.push(what);
    });
}

// ---- Weakening: JETON_WEAKEN=row=Ordering lowers the operation of that row. ----

/// The row and the ordering that `JETON_WEAKEN` names.
pub fn weakening() -> Option<&'static (String, String)> {
    static WEAKENING: OnceLock<Option<(String, String)>> = OnceLock::new();
    WEAKENING
        .get_or_init(|| {
            let setting = std::env::var("JETON_WEAKEN").ok()?;
            let (row, ordering) = setting.rsplit_once('=')?;
            Some((row.to_string(), ordering.to_string()))
        })
        .as_ref()
}

/// The ordering of a row: its own, or the weaker one that `JETON_WEAKEN` names for it.
#[cfg(jeton_loom)]
pub fn weakened(row: &str, ordering: super::Ordering) -> super::Ordering {
    use super::Ordering;
    match weakening() {
        Some((weak_row, weak)) if weak_row == row => match weak.as_str() {
            "Relaxed" => Ordering::Relaxed,
            "Acquire" => Ordering::Acquire,
            "Release" => Ordering::Release,
            "AcqRel" => Ordering::AcqRel,
            other => panic!("JETON_WEAKEN: {other} is no ordering"),
        },
        _ => ordering,
    }
}

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
    PENDING.set(Some((at, Box::new(interrupt))));
    operation();
    PENDING.take().is_none()
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
