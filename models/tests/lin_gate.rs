//! A gate, call by call, against its specification.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::gate::{Gate, TransitionError};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Recorder,
    spec::gate::{
        Answer, Call, Life,
        Mode::{self, Ended, Ending, Idle, Running},
    },
};

type Record = Recorder<Life>;

fn make(gate: &Gate<Mode, 1>, record: &Record, thread: usize, call: Call) {
    record.call(thread, call, || match call {
        Call::Go(from, to) => {
            Answer::Gone(gate.try_transition(from, to).map(|epoch| epoch.get()).map_err(|error: TransitionError<Mode>| error))
        }
        Call::Snapshot => {
            let moment = gate.snapshot();
            Answer::Moment(moment.state, moment.epoch.get())
        }
        Call::Check => Answer::Is(gate.check()),
        Call::ChangedSince(_) => {
            // Epoch 0 is the only one that a program can name.
            Answer::Changes(gate.snapshot().epoch.get())
        }
        Call::Close => Answer::Is(gate.close()),
    });
}

fn history(programs: &'static [&'static [Call]]) {
    let (gate, record) = (Arc::new(Gate::new()), Record::default());
    let others: Vec<_> = (1..programs.len())
        .map(|number| {
            let (gate, record) = (gate.clone(), record.clone());
            thread::spawn(move || programs[number].iter().for_each(|call| make(&gate, &record, number, *call)))
        })
        .collect();
    programs[0].iter().for_each(|call| make(&gate, &record, 0, *call));
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    record.check(&Life::default());
}

#[test]
fn two_threads_move_a_gate_three_times_each() {
    explore(Model { threads: 2, loom: 40, rmw: 72, shuttle: 466 }, || {
        history(&[
            &[Call::Go(Idle, Running), Call::Go(Running, Idle), Call::Snapshot],
            &[Call::Go(Idle, Running), Call::Check, Call::Go(Running, Ending)],
        ]);
    });
}

#[test]
fn three_threads_move_and_close_a_gate() {
    explore(Model { threads: 3, loom: 268, rmw: 733, shuttle: 18000 }, || {
        history(&[
            &[Call::Go(Idle, Running), Call::Snapshot],
            &[Call::Close, Call::Check],
            &[Call::Go(Running, Ending), Call::Go(Idle, Ended)],
        ]);
    });
}

#[test]
fn a_change_and_back_counts_as_two() {
    explore(Model { threads: 2, loom: 166, rmw: 68, shuttle: 189 }, || {
        history(&[
            &[Call::Go(Idle, Running), Call::Go(Running, Idle), Call::Go(Idle, Running)],
            &[Call::ChangedSince(0), Call::Snapshot, Call::ChangedSince(0)],
        ]);
    });
}
