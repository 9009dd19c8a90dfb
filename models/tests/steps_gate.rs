//! The wrong steps on the road to a gate must be found by the checkers that their first lines name; the right one must stand.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::gate::{
        programs::{no_change_is_missed, there_or_woken, woken_by_the_second},
        s1_two_words, s2_load_then_store, s3_taken_bit, s4_sticky_bit, s5_epoch,
    },
};

#[test]
fn s1_two_words() {
    find(Seeded { threads: 2, found_by: &[Way::Loom] }, there_or_woken::<s1_two_words::Gate>);
}

#[test]
fn s2_load_then_store() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, there_or_woken::<s2_load_then_store::Gate>);
}

#[test]
fn s3_taken_bit() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, woken_by_the_second::<s3_taken_bit::Gate>);
}

#[test]
fn s3_taken_bit_with_one_state() {
    explore(Model { threads: 2, loom: 7, rmw: 19, shuttle: 31 }, there_or_woken::<s3_taken_bit::Gate>);
}

#[test]
fn s4_sticky_bit() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, no_change_is_missed::<s4_sticky_bit::Gate>);
}

#[test]
fn s4_sticky_bit_with_two_states() {
    explore(Model { threads: 2, loom: 10, rmw: 31, shuttle: 176 }, woken_by_the_second::<s4_sticky_bit::Gate>);
}

#[test]
fn s5_epoch() {
    explore(Model { threads: 2, loom: 9, rmw: 24, shuttle: 102 }, no_change_is_missed::<s5_epoch::Gate>);
}

#[test]
fn s5_epoch_with_two_states() {
    explore(Model { threads: 2, loom: 10, rmw: 31, shuttle: 176 }, woken_by_the_second::<s5_epoch::Gate>);
}
