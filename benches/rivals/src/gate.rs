//! `cargo rivals gate`: a state that is checked, changed and waited for. Those who wait are threads.
mod peers;
mod small;
mod waiters;

use crate::contender::{Contender, Entry, Group, Structure, Target};
use peers::{AtomicWait, EventListener, Gate, Jeton, ParkingLot, Std, TokioWatch};
use waiters::Figure;

/// Our gate and its peers.
pub const STRUCTURE: Structure =
    Structure { name: "gate", groups: &[CHECK, TRANSITION, WAKE, WAKE_MANY, IN_SET, NEEDLESS], seconds: 150 };

const OURS: &str = "jeton Gate";
const STD: &str = "std Mutex and Condvar";
const PARKING_LOT: &str = "parking_lot 0.12 Mutex and Condvar";
const EVENT_LISTENER: &str = "event-listener 5.4 and an atomic";
const TOKIO: &str = "tokio 1 watch";
const ATOMIC_WAIT: &str = "atomic-wait 1.1";

const PEERS: &[&str] = &[STD, PARKING_LOT, EVENT_LISTENER, TOKIO, ATOMIC_WAIT];
/// Those with which a thread can wait until a deadline.
const WITH_TIMEOUT: &[&str] = &[STD, PARKING_LOT, EVENT_LISTENER];

/// The entries of a group: `$make` is a function that makes a contender of a gate.
macro_rules! entries {
    ($make:ident $(, $figure:literal)?) => {
        &[
            Entry { name: OURS, most_threads: 1, make: $make::<Jeton $(, { $figure })?> },
            Entry { name: STD, most_threads: 1, make: $make::<Std $(, { $figure })?> },
            Entry { name: PARKING_LOT, most_threads: 1, make: $make::<ParkingLot $(, { $figure })?> },
            Entry { name: EVENT_LISTENER, most_threads: 1, make: $make::<EventListener $(, { $figure })?> },
            Entry { name: TOKIO, most_threads: 1, make: $make::<TokioWatch $(, { $figure })?> },
            Entry { name: ATOMIC_WAIT, most_threads: 1, make: $make::<AtomicWait $(, { $figure })?> },
        ]
    };
}

const CHECK: Group = Group {
    name: "check",
    operation: "whether it is in the open state",
    reference: STD,
    ours: OURS,
    fewest: 1000,
    entries: entries!(check),
    targets: &[asked(PEERS, None)],
    not_correct: &[],
};
const TRANSITION: Group = Group {
    name: "transition",
    operation: "a transition while nobody waits",
    entries: entries!(transition),
    targets: &[asked(WITH_TIMEOUT, Some(1.0)), asked(PEERS, None)],
    ..CHECK
};
const WAKE: Group = Group {
    name: "wake",
    operation: "one thread waits: from before the transition until it runs; ns is the median of a window's wakes",
    fewest: 1,
    entries: entries!(wake),
    targets: &[asked(PEERS, Some(1.0 / 1.15))],
    ..CHECK
};
const WAKE_MANY: Group = Group {
    name: "wake-650",
    operation: "650 threads wait: from before the transition until the last one runs",
    fewest: 1,
    entries: entries!(many, 0),
    targets: &[asked(PEERS, Some(1.0))],
    ..CHECK
};
const IN_SET: Group = Group {
    name: "set-650",
    operation: "650 threads wait: until the transition's call returns",
    entries: entries!(many, 1),
    targets: &[asked(PEERS, None)],
    ..WAKE_MANY
};
const NEEDLESS: Group = Group {
    name: "needless-650",
    operation: "650 threads wait for another state: their voluntary switches a transition, a number and no ns",
    entries: entries!(many, 2),
    // Met by none at all, and by nothing else.
    targets: &[asked(PEERS, Some(f64::INFINITY))],
    ..WAKE_MANY
};

const fn asked(peers: &'static [&'static str], at_least: Option<f64>) -> Target {
    Target { ours: OURS, peers, threads: 1, at_least }
}

fn check<G: Gate>() -> Box<dyn Contender> {
    small::check::<G>()
}

fn transition<G: Gate>() -> Box<dyn Contender> {
    small::transition::<G>()
}

fn wake<G: Gate>() -> Box<dyn Contender> {
    waiters::one::<G>()
}

fn many<G: Gate, const FIGURE: u8>() -> Box<dyn Contender> {
    waiters::many::<G>(match FIGURE {
        0 => Figure::LastAwake,
        1 => Figure::InSet,
        _ => Figure::Needless,
    })
}
