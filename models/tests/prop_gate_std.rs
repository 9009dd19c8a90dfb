//! Properties of the std extension's gate for any calls: against the specification, and exactly the wakes that were waited for.
#![cfg(not(any(jeton_loom, jeton_shuttle)))]
#![allow(clippy::disallowed_types, reason = "what wakers count is outside of what is tested")]

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Wake, Waker},
    time::Instant,
};

use jeton::{
    cancel::{CancelSource, CancelToken},
    gate::{Changed, Closed, Epoch, Gate, Moment, Reached, StateSet, Waited},
};
use jeton_models::spec::gate::{Answer, Call, Life, Mode};
use proptest::{collection::vec, prelude::*};

const MODES: [Mode; 4] = [Mode::Idle, Mode::Running, Mode::Ending, Mode::Ended];

#[derive(Clone, Copy, Debug)]
enum Act {
    Go(usize, usize),
    /// Along some edge from where it is, if there is one.
    GoOn(usize),
    /// A guarded transition, which ends well or is dropped.
    Begin(bool),
    Look,
    ChangedSince(usize),
    Close,
    Wait(u8),
    WaitChange(usize),
    Poll(usize),
    GiveUp(usize),
    Block(u8, bool),
    BlockChange(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let any = any::<usize>;
    let act = prop_oneof![
        2 => (0..4usize, 0..4usize).prop_map(|(from, to)| Act::Go(from, to)),
        8 => any().prop_map(Act::GoOn),
        3 => (0..2).prop_map(|commits| Act::Begin(commits == 0)),
        1 => Just(Act::Look),
        2 => any().prop_map(Act::ChangedSince),
        1 => (0..8).prop_map(|close| if close == 0 { Act::Close } else { Act::Look }),
        4 => (0..16u8).prop_map(Act::Wait),
        2 => any().prop_map(Act::WaitChange),
        6 => any().prop_map(Act::Poll),
        2 => any().prop_map(Act::GiveUp),
        1 => (0..16u8, 0..2).prop_map(|(states, token)| Act::Block(states, token == 0)),
        1 => any().prop_map(Act::BlockChange),
    ];
    vec(act, 0..80)
}

fn set(bits: u8) -> StateSet<Mode> {
    MODES
        .into_iter()
        .enumerate()
        .filter(|(number, _)| bits & 1 << number != 0)
        .fold(StateSet::none(), |set, (_, mode)| set.with(mode))
}

#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

enum Wait<'g> {
    Reached(Reached<'g, Mode>),
    Changed(Changed<'g, Mode>),
}

#[derive(Clone, Copy)]
enum Want {
    States(StateSet<Mode>),
    Change(u32),
}

impl Want {
    fn is_reached(self, spec: &Life) -> bool {
        match self {
            Self::States(states) => states.contains(spec.state),
            Self::Change(epoch) => spec.epoch != epoch,
        }
    }

    /// Whether a transition to `state` wakes it: the end alone is looked for at each.
    fn wakes(self, state: Mode) -> bool {
        match self {
            Self::States(states) => states == StateSet::none() || states.contains(state),
            Self::Change(_) => true,
        }
    }
}

struct Task<'g> {
    wait: Wait<'g>,
    want: Want,
    /// Whether its waker is in the gate.
    is_armed: bool,
    wakes: u32,
    woken: Arc<Woken>,
    waker: Waker,
}

impl<'g> Task<'g> {
    fn new(wait: Wait<'g>, want: Want) -> Self {
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(woken.clone());
        Self { wait, want, is_armed: false, wakes: 0, woken, waker }
    }

    fn poll(&mut self) -> Poll<Result<Moment<Mode>, Closed>> {
        let mut context = Context::from_waker(&self.waker);
        match &mut self.wait {
            Wait::Reached(wait) => Pin::new(wait).poll(&mut context),
            Wait::Changed(wait) => Pin::new(wait).poll(&mut context),
        }
    }

    fn expect_wake(&mut self, is_woken: bool) {
        if self.is_armed && is_woken {
            self.is_armed = false;
            self.wakes += 1;
        }
    }
}

/// The gate, what it should do, and every epoch that there was.
struct Twins<'g> {
    gate: &'g Gate<Mode>,
    spec: Life,
    epochs: Vec<Epoch>,
    tasks: Vec<Task<'g>>,
}

impl<'g> Twins<'g> {
    fn go(&mut self, from: Mode, to: Mode) {
        let found = self.gate.try_transition(from, to);
        assert_eq!(Answer::Gone(found.map(|epoch| epoch.get() as u32)), self.spec.call(Call::Go(from, to)));
        if let Ok(epoch) = found {
            self.went(epoch, to);
        }
    }

    fn went(&mut self, epoch: Epoch, to: Mode) {
        self.epochs.push(epoch);
        for task in &mut self.tasks {
            task.expect_wake(task.want.wakes(to));
        }
    }

    fn begin(&mut self, commits: bool) {
        let begun = self.gate.begin::<{ Mode::Idle as u8 }, { Mode::Running as u8 }>(None);
        let went = begun.as_ref().map(|begun| begun.epoch().get() as u32).map_err(|error| *error);
        assert_eq!(Answer::Gone(went), self.spec.call(Call::Go(Mode::Idle, Mode::Running)));
        let Ok(begun) = begun else { return };
        self.went(begun.epoch(), Mode::Running);
        let to = if commits { Mode::Idle } else { Mode::Ending };
        let end = if commits {
            begun.commit::<{ Mode::Idle as u8 }>().expect("nobody else moves it")
        } else {
            drop(begun);
            self.gate.snapshot().epoch
        };
        assert_eq!(Answer::Gone(Ok(end.get() as u32)), self.spec.call(Call::Go(Mode::Running, to)));
        self.went(end, to);
    }

    fn close(&mut self) {
        let is_first = self.gate.close();
        assert_eq!(Answer::Is(is_first), self.spec.call(Call::Close));
        if is_first {
            for task in &mut self.tasks {
                task.expect_wake(true);
            }
        }
    }

    fn epoch(&self, at: usize) -> (usize, Epoch) {
        let at = at % self.epochs.len();
        (at, self.epochs[at])
    }

    fn poll(&mut self, at: usize) {
        let task = &mut self.tasks[at];
        let expected = match () {
            () if self.spec.closed => Poll::Ready(Err(Closed)),
            () if task.want.is_reached(&self.spec) => Poll::Ready(Ok(self.gate.snapshot())),
            () => Poll::Pending,
        };
        assert_eq!(task.poll(), expected);
        match expected {
            Poll::Pending => task.is_armed = true,
            Poll::Ready(_) => _ = self.tasks.swap_remove(at),
        }
    }

    /// With a deadline that has passed: no sleep, but all the rest.
    fn block(&self, want: Want, token: Option<&CancelToken>) {
        let late = Some(Instant::now());
        let found = match want {
            Want::States(states) => self.gate.wait_for(states, late, token),
            Want::Change(epoch) => self.gate.wait_change(self.epochs[epoch as usize], late, token),
        };
        let expected = match () {
            () if self.spec.closed => Waited::Closed,
            () if want.is_reached(&self.spec) => Waited::Reached(self.gate.snapshot()),
            () => Waited::TimedOut,
        };
        assert_eq!(found, expected);
    }

    fn act(&mut self, act: Act) {
        match act {
            Act::Go(from, to) => self.go(MODES[from], MODES[to]),
            Act::GoOn(to) => self.go(self.spec.state, MODES[to % 4]),
            Act::Begin(commits) => self.begin(commits),
            Act::ChangedSince(at) => {
                let (at, epoch) = self.epoch(at);
                let changes = self.gate.changed_since(epoch).0 as u32;
                assert_eq!(Answer::Changes(changes), self.spec.call(Call::ChangedSince(at as u32)));
                assert_eq!(self.gate.snapshot().epoch.since(epoch) as u32, changes);
            }
            Act::Close => self.close(),
            Act::Wait(states) => {
                let states = set(states);
                self.tasks.push(Task::new(Wait::Reached(self.gate.reached(states)), Want::States(states)));
            }
            Act::WaitChange(at) => {
                let (at, epoch) = self.epoch(at);
                self.tasks.push(Task::new(Wait::Changed(self.gate.changed(epoch)), Want::Change(at as u32)));
            }
            Act::Poll(at) if !self.tasks.is_empty() => self.poll(at % self.tasks.len()),
            Act::GiveUp(at) if !self.tasks.is_empty() => {
                let task = self.tasks.swap_remove(at % self.tasks.len());
                drop(task.wait);
                drop(task.waker);
                assert_eq!(Arc::strong_count(&task.woken), 1, "its waker has gone with it");
            }
            Act::Block(states, false) => self.block(Want::States(set(states)), None),
            Act::Block(states, true) => {
                let source = CancelSource::new();
                self.block(Want::States(set(states)), Some(&source.token()));
            }
            Act::BlockChange(at) => self.block(Want::Change(self.epoch(at).0 as u32), None),
            Act::Look | Act::Poll(_) | Act::GiveUp(_) => {}
        }
        let now = self.gate.snapshot();
        assert_eq!(Answer::Moment(now.state, now.epoch.get() as u32), self.spec.call(Call::Snapshot));
        assert_eq!(Answer::Is(self.gate.check()), self.spec.call(Call::Check));
        assert_eq!(self.gate.is_closed(), self.spec.closed);
        for task in &self.tasks {
            assert_eq!(task.woken.0.load(Relaxed), task.wakes);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 8 } else { 512 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_gate_does_what_its_specification_says(acts in acts()) {
        let gate = Gate::new();
        let mut twins = Twins { gate: &gate, spec: Life::default(), epochs: vec![gate.snapshot().epoch], tasks: vec![] };
        for act in acts {
            twins.act(act);
        }
    }
}
