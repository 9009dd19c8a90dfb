//! What jeton's structures must do, and programs that hold them to it.
//!
//! * [`spec`]: the sequential specification of each structure: one oracle for every kind of test.
//! * `tests/prop_*`: any calls, in any order, against the specification.
//! * `tests/faults_*`: the faults reported of similar systems, each a test named for what must hold.
//! * `tests/stress_*`: real threads.
pub mod spec;
