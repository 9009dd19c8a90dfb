//! Every step on the road to a shared counter but the last is wrong, and must be found by the checkers that its first lines name.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::counter::{
        programs::{each_once, history},
        s1_load_then_store, s2_read_again, s3_check_then_add, s4_look_again,
    },
};

/// Two threads, and the checkers that must find the step.
fn two_threads(found_by: &[Way]) -> Seeded<'_> {
    Seeded { threads: 2, found_by }
}

#[test]
fn s1_load_then_store() {
    find(two_threads(&Way::ALL), || each_once::<s1_load_then_store::Counter>(2, 2, 4));
}

#[test]
fn s1_load_then_store_lin() {
    find(two_threads(&Way::ALL), || history::<s1_load_then_store::Counter>(2, 3, 4));
}

#[test]
fn s2_read_again() {
    find(two_threads(&Way::ALL), || each_once::<s2_read_again::Counter>(2, 2, 4));
}

#[test]
fn s2_read_again_lin() {
    find(two_threads(&Way::ALL), || history::<s2_read_again::Counter>(2, 3, 4));
}

#[test]
fn s3_check_then_add() {
    find(two_threads(&Way::ALL), || each_once::<s3_check_then_add::Counter>(2, 2, 3));
}

#[test]
fn s3_check_then_add_lin() {
    find(two_threads(&Way::ALL), || history::<s3_check_then_add::Counter>(2, 3, 4));
}

#[test]
fn s4_look_again() {
    explore(Model { threads: 2, loom: 25, rmw: 44, shuttle: 110 }, || each_once::<s4_look_again::Counter>(2, 2, 3));
}

#[test]
fn s4_look_again_lin() {
    explore(Model { threads: 2, loom: 64, rmw: 110, shuttle: 900 }, || history::<s4_look_again::Counter>(2, 3, 4));
}
