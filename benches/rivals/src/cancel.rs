//! `cargo rivals cancel`: tokens, sources, children and waits, one small operation each; and the cancel or the end of what has many.
mod bulk;
mod kinds;
mod peers;
mod small;

use crate::contender::{Group, Structure, Target};

/// Our cancellation and its peers.
pub const STRUCTURE: Structure = Structure {
    name: "cancel",
    groups: &[
        UNCANCELABLE,
        TOKEN,
        CLONE,
        CHECK,
        SOURCE,
        CHILD,
        CHILD_BESIDE,
        REGISTER,
        POLL_AGAIN,
        CALLBACKS,
        WAITING,
        LEVELS,
        MIDDLE,
    ],
    seconds: 240,
};

const STD: &str = "jeton std";
const CORE: &str = "jeton core";
const TOKIO: &str = "tokio-util 0.7";

const UNCANCELABLE: Group = Group {
    name: "uncancelable",
    operation: "a token that is never canceled, and its end; where there is none, a fresh one",
    reference: TOKIO,
    ours: STD,
    fewest: 1000,
    entries: peers::UNCANCELABLE,
    targets: &targets(Some(40.0)),
    not_correct: &[],
};
const TOKEN: Group = Group {
    name: "token",
    operation: "a token of a source, and its end",
    entries: peers::TOKEN,
    targets: &targets(Some(3.0)),
    ..UNCANCELABLE
};
const CLONE: Group = Group {
    name: "clone",
    operation: "a clone of a token, and its end; two threads have one source",
    entries: peers::CLONE,
    targets: &targets(None),
    ..UNCANCELABLE
};
const CHECK: Group = Group {
    name: "check",
    operation: "whether it is canceled",
    entries: peers::CHECK,
    targets: &targets(Some(5.0)),
    ..UNCANCELABLE
};
const SOURCE: Group = Group {
    name: "source",
    operation: "a source, and its end",
    entries: peers::SOURCE,
    targets: &targets(Some(2.0)),
    ..UNCANCELABLE
};
const CHILD: Group = Group {
    name: "child",
    operation: "a child of a source, and its end; two threads have one parent",
    entries: peers::CHILD,
    targets: &targets(Some(2.0)),
    ..UNCANCELABLE
};
const CHILD_BESIDE: Group = Group {
    name: "child-beside",
    operation: "a child of a source that has 100,000 others, and its end; two threads have one parent",
    entries: peers::CHILD_BESIDE,
    targets: &targets(Some(2.0)),
    ..UNCANCELABLE
};
const REGISTER: Group = Group {
    name: "register",
    operation: "a callback registered and taken back; where there is none, a waiter",
    entries: peers::REGISTER,
    targets: &targets(None),
    ..UNCANCELABLE
};
const POLL_AGAIN: Group = Group {
    name: "poll-again",
    operation: "a poll by the task that waits already",
    entries: peers::POLL_AGAIN,
    targets: &targets(Some(2.5)),
    ..UNCANCELABLE
};

const CALLBACKS: Group = Group {
    name: "callbacks",
    operation: "the cancel of 1,000 callbacks, by the callback; where there is none, a task that waits",
    entries: peers::CALLBACKS,
    targets: &[of_one_thread(None)],
    ..UNCANCELABLE
};
const WAITING: Group = Group {
    name: "waiting",
    operation: "the cancel of 1,000 children, a task waiting for each, by the child",
    entries: peers::WAITING,
    targets: &[of_one_thread(Some(1.4))],
    ..UNCANCELABLE
};
const LEVELS: Group = Group {
    name: "levels",
    operation: "the cancel of a chain of 1,000 levels, a task waiting on each, by the level",
    entries: peers::LEVELS,
    targets: &[of_one_thread(Some(2.0))],
    ..UNCANCELABLE
};
const MIDDLE: Group = Group {
    name: "middle",
    operation: "the end of a node in the middle that has 100,000 children",
    fewest: 1,
    entries: peers::MIDDLE,
    targets: &[of_one_thread(None)],
    ..UNCANCELABLE
};

/// Of the issue: one thread; with two the ratio is shown.
const fn targets(at_least: Option<f64>) -> [Target; 2] {
    [of_one_thread(at_least), Target { threads: 2, ..of_one_thread(None) }]
}

const fn of_one_thread(at_least: Option<f64>) -> Target {
    Target { ours: STD, peers: &[TOKIO], threads: 1, at_least }
}
