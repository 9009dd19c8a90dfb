//! The std extension's gate under every interleaving: a crowd of threads, who wake each other. None of them is left asleep, whoever of them is
//! late, gives up, or finds the state gone again.
#![cfg(any(jeton_loom, jeton_shuttle))]

mod cancel_std;
mod gate_std;

use cancel_std::{Probe, beside, room, std_ext::cancel};
use gate_std::{
    Mode,
    std_ext::gate::Waited,
    system::{blocking, blocking::DEADLINE, gate, go, state, three, wait_word},
};
use jeton_models::explore::{Arc, Model, explore, explore_bounded, thread};

type Gate = Arc<gate_std::std_ext::gate::Gate<Mode>>;

fn waits(gate: &Gate, states: [Mode; 2]) -> Box<dyn FnOnce() -> Waited<Mode>> {
    let gate = gate.clone();
    Box::new(beside(move || gate.wait_for(states, None, None)))
}

#[test]
fn all_of_a_crowd_are_woken_and_see_what_came_before() {
    explore(three(270, 1590, 20_000), || {
        let (gate, probe) = (gate(), Probe::new());
        let others = [(), ()].map(|()| {
            let (gate, probe) = (gate.clone(), probe.clone());
            beside(move || {
                assert_eq!(state(gate.wait_for(Mode::One, None, None)), Some(Mode::One));
                probe.look();
            })
        });
        probe.touch();
        go(&gate, Mode::Zero, Mode::One);
        others.into_iter().for_each(|other| other());
        assert_eq!(wait_word::sleepers(), 0);
    });
}

#[test]
fn a_crowd_is_woken_also_if_its_state_has_gone_and_comes_again() {
    explore(three(2400, 5890, 20_000), || {
        let gate = gate();
        let others = [waits(&gate, [Mode::One; 2]), waits(&gate, [Mode::One; 2])];
        go(&gate, Mode::Zero, Mode::One);
        go(&gate, Mode::One, Mode::Zero);
        go(&gate, Mode::Zero, Mode::One);
        assert!(others.into_iter().all(|other| state(other()) == Some(Mode::One)));
    });
}

#[test]
fn who_is_woken_first_makes_no_difference() {
    explore(three(1670, 5520, 20_000), || {
        let gate = gate();
        wait_word::newest_first();
        let others = [waits(&gate, [Mode::One; 2]), waits(&gate, [Mode::One, Mode::Two])];
        go(&gate, Mode::Zero, Mode::One);
        go(&gate, Mode::One, Mode::Two);
        go(&gate, Mode::Two, Mode::One);
        assert!(others.into_iter().all(|other| state(other()).is_some()));
    });
}

#[test]
fn a_second_crowd_beside_a_cascade_is_woken_and_sees_what_came_before() {
    explore(three(1710, 7460, 20_000), || {
        let (gate, probe) = (gate(), Probe::new());
        let others = [(), ()].map(|()| {
            let (gate, probe) = (gate.clone(), probe.clone());
            beside(move || match state(gate.wait_for([Mode::One, Mode::Two], None, None)) {
                Some(Mode::One) => (),
                Some(Mode::Two) => probe.look(),
                other => panic!("no other end, {other:?}"),
            })
        });
        go(&gate, Mode::Zero, Mode::One);
        go(&gate, Mode::One, Mode::Three);
        probe.touch();
        go(&gate, Mode::Three, Mode::Two);
        others.into_iter().for_each(|other| other());
    });
}

#[test]
fn who_gives_up_in_a_crowd_leaves_nobody_asleep() {
    explore(three(300, 1280, 20_000), || {
        let gate = gate();
        let hasty = gate.clone();
        let hasty = beside(move || hasty.wait_for(Mode::One, Some(DEADLINE), None));
        let patient = waits(&gate, [Mode::One; 2]);
        wait_word::late();
        go(&gate, Mode::Zero, Mode::One);
        assert_eq!(state(patient()), Some(Mode::One));
        _ = hasty();
    });
}

#[test]
fn a_close_beside_a_cascade_ends_every_wait() {
    explore(three(1700, 6000, 20_000), || {
        let gate = gate();
        let others = [waits(&gate, [Mode::One; 2]), waits(&gate, [Mode::One; 2])];
        go(&gate, Mode::Zero, Mode::One);
        go(&gate, Mode::One, Mode::Zero);
        assert!(gate.close());
        for other in others {
            let waited = other();
            assert!(waited == Waited::Closed || state(waited) == Some(Mode::One));
        }
    });
}

/// The setter has found nobody asleep, and before it can say so, the crowd is awake, has ended the cascade itself, sleeps again, and is being
/// woken by the next one.
#[test]
fn a_cascade_that_ends_does_not_end_the_next_one() {
    explore_bounded(1, Model { threads: 4, loom: 150770, rmw: 4400, shuttle: 20_000 }, || {
        let gate = gate();
        let [first, second, third] = [(); 3].map(|()| gate.clone());
        let others = [
            Box::new(beside(move || {
                _ = first.wait_for(Mode::One, Some(DEADLINE), None);
                if first.try_transition(Mode::One, Mode::Two).is_err() {
                    assert_eq!(state(first.wait_for(Mode::One, None, None)), Some(Mode::One));
                    go(&first, Mode::One, Mode::Two);
                }
                state(first.wait_for(Mode::One, None, None))
            })) as Box<dyn FnOnce() -> Option<Mode>>,
            Box::new(beside(move || {
                _ = second.wait_for(Mode::One, Some(DEADLINE), None);
                state(second.wait_for(Mode::One, None, None))
            })),
        ];
        let third = beside(move || {
            assert_eq!(state(third.wait_for(Mode::Two, None, None)), Some(Mode::Two));
            go(&third, Mode::Two, Mode::One);
        });
        thread::yield_now();
        wait_word::late();
        go(&gate, Mode::Zero, Mode::One);
        third();
        assert!(others.into_iter().all(|other| other() == Some(Mode::One)));
    });
}
