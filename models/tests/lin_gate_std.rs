//! The std extension's gate, call by call, against its specification. A wait that ends is a look at the gate at one moment.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;
mod gate_std;

use cancel_std::{room, std_ext::cancel};
use gate_std::{
    std_ext::gate::{Gate, Moment, Waited},
    system::{blocking, three, two, wait_word},
};
use jeton_models::{
    explore::{Arc, explore, thread},
    linearizability::Recorder,
    spec::gate::{
        Answer, Call, Life,
        Mode::{self, Ended, Ending, Idle, Running},
    },
};

type Record = Recorder<Life>;

#[derive(Clone, Copy, Debug)]
enum Do {
    Call(Call),
    /// A wait for a state that comes to stay, in a thread or in one that could be canceled.
    Wait(Mode, bool),
}

fn moment(Moment { state, epoch }: Moment<Mode>) -> Answer {
    Answer::Moment(state, epoch.get() as u32)
}

fn make(gate: &Gate<Mode>, record: &Record, thread: usize, what: Do) {
    let call = if let Do::Call(call) = what { call } else { Call::Snapshot };
    record.call(thread, call, || match what {
        Do::Wait(mode, with_token) => {
            let source = with_token.then(cancel::CancelSource::new);
            let token = source.as_ref().map(cancel::CancelSource::token);
            let Waited::Reached(found) = gate.wait_for(mode, None, token.as_ref()) else { panic!("no other end") };
            assert_eq!(found.state, mode);
            moment(found)
        }
        Do::Call(Call::Go(from, to)) => Answer::Gone(gate.try_transition(from, to).map(|epoch| epoch.get() as u32)),
        Do::Call(Call::Snapshot) => moment(gate.snapshot()),
        Do::Call(Call::Check) => Answer::Is(gate.check()),
        // Epoch 0 is the only one that a program can name.
        Do::Call(Call::ChangedSince(_)) => Answer::Changes(gate.snapshot().epoch.get() as u32),
        Do::Call(Call::Close) => Answer::Is(gate.close()),
    });
}

fn history(programs: &'static [&'static [Do]]) {
    blocking::set(0);
    let (gate, record) = (Arc::new(Gate::new()), Record::default());
    let others: Vec<_> = (1..programs.len())
        .map(|number| {
            let (gate, record) = (gate.clone(), record.clone());
            thread::spawn(move || programs[number].iter().for_each(|what| make(&gate, &record, number, *what)))
        })
        .collect();
    programs[0].iter().for_each(|what| make(&gate, &record, 0, *what));
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    record.check(&Life::default());
}

macro_rules! go {
    ($from:ident, $to:ident) => {
        Do::Call(Call::Go($from, $to))
    };
}

const SNAPSHOT: Do = Do::Call(Call::Snapshot);
const CHECK: Do = Do::Call(Call::Check);
const CHANGED: Do = Do::Call(Call::ChangedSince(0));

#[test]
fn two_threads_move_a_std_gate_three_times_each() {
    explore(two(40, 72, 320), || {
        history(&[&[go!(Idle, Running), go!(Running, Idle), SNAPSHOT], &[go!(Idle, Running), CHECK, go!(Running, Ending)]]);
    });
}

#[test]
fn three_threads_move_and_close_a_std_gate() {
    explore(three(280, 880, 18_000), || {
        history(&[
            &[go!(Idle, Running), SNAPSHOT],
            &[Do::Call(Call::Close), CHECK, SNAPSHOT],
            &[go!(Running, Ending), go!(Idle, Ended)],
        ]);
    });
}

#[test]
fn a_change_and_back_of_a_std_gate_counts_as_two() {
    explore(two(170, 70, 180), || {
        history(&[&[go!(Idle, Running), go!(Running, Idle), go!(Idle, Running)], &[CHANGED, SNAPSHOT, CHANGED]]);
    });
}

#[test]
fn a_wait_of_a_thread_is_a_look_at_one_moment() {
    explore(two(29, 58, 70_000), || {
        history(&[&[go!(Idle, Running), go!(Running, Ending)], &[Do::Wait(Ending, false), SNAPSHOT, go!(Ending, Idle)]]);
    });
}

#[test]
fn a_wait_of_a_thread_that_can_be_canceled_is_a_look_at_one_moment() {
    explore(two(15, 60, 70_000), || {
        history(&[&[go!(Idle, Running), SNAPSHOT], &[Do::Wait(Running, true), go!(Running, Idle)]]);
    });
}

#[test]
fn two_waits_of_threads_are_looks_at_one_moment_each() {
    explore(three(230, 2100, 18_000), || {
        history(&[&[go!(Idle, Running), SNAPSHOT], &[Do::Wait(Running, false), CHECK], &[Do::Wait(Running, false), SNAPSHOT]]);
    });
}
