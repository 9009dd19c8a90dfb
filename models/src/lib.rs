//! What jeton's structures must do, and programs that hold them to it.
//!
//! * [`spec`]: the sequential specification of each structure: one oracle for every kind of test.
//! * [`explore`](mod@explore): runs a model, a small program of two or three threads, in every interleaving a checker can find.
//! * [`linearizability`]: histories of calls, and whether some order of them agrees with the specification.
//! * [`steps`]: the road to an algorithm, wrong versions included; each wrong one must be found.
//! * [`pages`]: the tables of orderings, and whether they match the code.
//! * `fuzz`: what the fuzzers of `models/fuzz` run, and `tests/fuzz_*` with inputs of its own.
//! * `tests/loom_*`, `tests/lin_*`, `tests/steps_*`: the models, run by `cargo models`; empty in a normal build.
//! * `tests/step_*`: an operation in the middle of another, as an interrupt does it.
//! * `tests/prop_*`: any calls, in any order, against the specification.
//! * `tests/faults_*`: the faults reported of similar systems, each a test named for what must hold.
//! * `tests/stress_*`: real threads.
#[cfg(feature = "command")]
pub mod command;
pub mod explore;
#[cfg(not(any(jeton_loom, jeton_shuttle)))]
pub mod fuzz;
pub mod linearizability;
pub mod pages;
pub mod spec;
pub mod steps;
