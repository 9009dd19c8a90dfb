//! Histories of concurrent calls, and whether they could have come one after another.
//!
//! The search is Wing and Gong's with Lowe's memory: take any call that no unfinished call must precede, ask the specification
//! whether it could give that answer now, go on with the rest; remember which sets of calls have led to which state in vain.
//!
//! Two orders are possible. A history is *linearizable* if the calls can be put in an order that keeps the order in real time: a call
//! that ended before another began comes first. That is what shuttle and loom with loads as read-modify-writes are held to. Plain
//! loom lets a load return an old value as long as nothing *happens before* it that forbids that: rightly so, since the clock on the
//! wall synchronizes nothing. There the order within each thread is kept, and only that (*sequential consistency*).
//!
//! What is not linearizable by design is not checked here: a relaxed `remaining()` may be old, and where reserved values leave gaps,
//! the weaker promise of distinct IDs is a model of its own.
//!
//! * J. Wing, C. Gong, *Testing and Verifying Concurrent Objects*, 1993.
//! * G. Lowe, *Testing for linearizability*, 2017: the memory.

use std::{
    collections::HashMap,
    fmt::Debug,
    sync::{Arc, Mutex, PoisonError},
};

/// A sequential specification: a state, and which answers a call may give in it.
pub trait Spec: Clone + Eq + Debug {
    /// A call with its arguments.
    type Call: Debug;
    /// What a call returns.
    type Answer: Debug;

    /// Whether `call` may return `answer` now. If so, the state is the one after the call; if not, it means nothing any more.
    fn accepts(&mut self, call: &Self::Call, answer: &Self::Answer) -> bool;
}

/// A call of a history, with the moments at which it began and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<C, A> {
    /// The thread that made it.
    pub thread: usize,
    /// The call.
    pub call: C,
    /// What it returned.
    pub answer: A,
    /// When it began, by the history's clock.
    pub begin: usize,
    /// When it ended.
    pub end: usize,
}

/// Which calls must keep their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A call that ended before another began: linearizability.
    RealTime,
    /// Calls of the same thread: sequential consistency.
    Thread,
}

impl Order {
    /// The order that the checker of this build can be held to.
    pub const fn of_this_build() -> Self {
        if cfg!(all(jeton_loom, not(jeton_rmw_load))) { Self::Thread } else { Self::RealTime }
    }

    fn precedes<C, A>(self, first: &Entry<C, A>, second: &Entry<C, A>) -> bool {
        first.end < second.begin && (self == Self::RealTime || first.thread == second.thread)
    }
}

/// The most calls of a history: one bit each.
pub const MOST_CALLS: usize = u64::BITS as usize;

/// An order of the calls (as positions in `history`) in which `spec` gives the same answers, or `None` if there is none.
///
/// # Panics
/// If the history has more than [`MOST_CALLS`] calls.
pub fn explain<S: Spec>(spec: &S, history: &[Entry<S::Call, S::Answer>], order: Order) -> Option<Vec<usize>> {
    assert!(history.len() <= MOST_CALLS, "a history of {} calls: at most {MOST_CALLS} can be checked", history.len());
    let before = |call: &Entry<S::Call, S::Answer>| {
        history.iter().enumerate().filter(|(_, other)| order.precedes(other, call)).fold(0, |set, (bit, _)| set | 1 << bit)
    };
    let mut search = Search { history, predecessors: history.iter().map(before).collect(), in_vain: HashMap::new() };
    let mut path = Vec::new();
    search.goes_on(spec, 0, &mut path).then_some(path)
}

struct Search<'a, S: Spec> {
    history: &'a [Entry<S::Call, S::Answer>],
    /// For each call, the set of calls that must come before it.
    predecessors: Vec<u64>,
    /// By the set of calls done: states from which the rest is impossible.
    in_vain: HashMap<u64, Vec<S>>,
}

impl<S: Spec> Search<'_, S> {
    fn goes_on(&mut self, state: &S, done: u64, path: &mut Vec<usize>) -> bool {
        if path.len() == self.history.len() {
            return true;
        }
        if self.in_vain.get(&done).is_some_and(|states| states.contains(state)) {
            return false;
        }
        for (position, entry) in self.history.iter().enumerate() {
            let bit = 1 << position;
            let mut next = state.clone();
            if done & bit == 0 && self.predecessors[position] & !done == 0 && next.accepts(&entry.call, &entry.answer) {
                path.push(position);
                if self.goes_on(&next, done | bit, path) {
                    return true;
                }
                path.pop();
            }
        }
        self.in_vain.entry(done).or_default().push(state.clone());
        false
    }
}

/// Records the calls of all threads of a model. Its clock is no word of the model, so recording adds no interleaving.
#[derive(Debug)]
pub struct Recorder<S: Spec> {
    shared: Arc<Mutex<Recording<S>>>,
}

#[derive(Debug)]
struct Recording<S: Spec> {
    clock: usize,
    entries: Vec<Entry<S::Call, S::Answer>>,
}

impl<S: Spec> Clone for Recorder<S> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<S: Spec> Default for Recorder<S> {
    fn default() -> Self {
        Self { shared: Arc::new(Mutex::new(Recording { clock: 0, entries: Vec::new() })) }
    }
}

impl<S: Spec<Call: Clone, Answer: Clone>> Recorder<S> {
    fn tick(recording: &mut Recording<S>) -> usize {
        recording.clock += 1;
        recording.clock
    }

    fn with<R>(&self, f: impl FnOnce(&mut Recording<S>) -> R) -> R {
        f(&mut self.shared.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Makes a call and records it.
    pub fn call(&self, thread: usize, call: S::Call, make: impl FnOnce() -> S::Answer) -> S::Answer {
        let begin = self.with(Self::tick);
        let answer = make();
        self.with(|recording| {
            let end = Self::tick(recording);
            recording.entries.push(Entry { thread, call, answer: answer.clone(), begin, end });
        });
        answer
    }

    /// Checks what has been recorded.
    ///
    /// # Panics
    /// If no order of the calls explains it.
    pub fn check(&self, spec: &S) {
        self.with(|recording| {
            let order = Order::of_this_build();
            let line = |entry: &Entry<S::Call, S::Answer>| {
                let Entry { thread, call, answer, begin, end } = entry;
                format!("\n  thread {thread} from {begin} to {end}: {call:?} -> {answer:?}")
            };
            let lines = || recording.entries.iter().map(line).collect::<String>();
            assert!(explain(spec, &recording.entries, order).is_some(), "no order of these calls explains them:{}", lines());
        });
    }
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;
    use crate::spec::free_list::{Call, FreeIndexes};

    fn entry(thread: usize, call: Call, answer: Option<u32>, begin: usize, end: usize) -> Entry<Call, Option<u32>> {
        Entry { thread, call, answer, begin, end }
    }

    fn explained(len: u32, history: &[Entry<Call, Option<u32>>], order: Order) -> Option<Vec<usize>> {
        explain(&FreeIndexes::new(len), history, order)
    }

    #[test]
    fn overlapping_calls_may_come_in_either_order() {
        // The list has one index. The second call gets it although it began later; the first finds nothing.
        let history = [entry(0, Call::Alloc, None, 1, 4), entry(1, Call::Alloc, Some(0), 2, 3)];
        assert_eq!(explained(1, &history, Order::RealTime), Some(vec![1, 0]));
        assert_eq!(explained(1, &[], Order::RealTime), Some(vec![]));
    }

    #[test]
    fn an_index_twice_is_rejected() {
        let history = [entry(0, Call::Alloc, Some(0), 1, 4), entry(1, Call::Alloc, Some(0), 2, 3)];
        assert_eq!(explained(2, &history, Order::RealTime), None);
        assert_eq!(explained(2, &history, Order::Thread), None);
        let freed_between = [history[0], entry(0, Call::Free(0), None, 5, 6), entry(1, Call::Alloc, Some(0), 7, 8)];
        assert_eq!(explained(2, &freed_between, Order::RealTime), Some(vec![0, 1, 2]));
    }

    #[test]
    fn a_lost_index_and_a_wrong_refusal_are_rejected() {
        let lost = [entry(0, Call::Alloc, Some(0), 1, 2), entry(0, Call::Free(0), None, 3, 4), entry(0, Call::Alloc, None, 5, 6)];
        assert_eq!(explained(1, &lost, Order::RealTime), None);
        assert_eq!(explained(1, &lost, Order::Thread), None);
        let double_free = [entry(0, Call::Free(0), None, 1, 2)];
        assert_eq!(explained(1, &double_free, Order::RealTime), None);
    }

    #[test]
    fn real_time_is_kept_between_threads_and_only_there_where_it_is_asked_for() {
        // Thread 1 finds nothing although thread 0 has long given the index back: an old value.
        let old = [entry(0, Call::Alloc, Some(0), 1, 2), entry(0, Call::Free(0), None, 3, 4), entry(1, Call::Alloc, None, 5, 6)];
        assert_eq!(explained(1, &old, Order::RealTime), None);
        assert_eq!(explained(1, &old, Order::Thread), Some(vec![0, 2, 1]));
    }

    #[test]
    fn the_search_goes_back_and_remembers() {
        // Sixteen calls at once, of which only the last order of many is possible: index 0 goes round through all threads.
        let mut history = Vec::new();
        for thread in 0..8 {
            history.push(entry(thread, Call::Free(0), None, thread + 1, 100));
            history.push(entry(thread, Call::Alloc, Some(0), thread + 1, 100));
        }
        let order = explained(1, &history, Order::RealTime).expect("alloc and free take turns");
        assert_eq!(history[order[0]].call, Call::Alloc);
        // One more allocation than there can be: every order fails, and memory keeps that from taking 17! steps.
        history.push(entry(8, Call::Alloc, Some(1), 1, 100));
        assert_eq!(explained(1, &history, Order::RealTime), None);
    }

    #[test]
    #[should_panic(expected = "65 calls")]
    fn too_many_calls_are_refused() {
        let history: Vec<_> = (0..65).map(|at| entry(0, Call::Alloc, Some(at as u32), 2 * at, 2 * at + 1)).collect();
        explained(65, &history, Order::RealTime);
    }

    #[test]
    fn a_recorder_notes_overlaps() {
        let recorder = Recorder::<FreeIndexes>::default();
        recorder.call(0, Call::Alloc, || {
            recorder.call(1, Call::Alloc, || Some(0));
            None
        });
        recorder.check(&FreeIndexes::new(1));
        let outcome = std::panic::catch_unwind(|| recorder.check(&FreeIndexes::new(2)));
        assert!(outcome.is_err(), "with two indexes, nobody is refused");
    }
}
