//! The wrong steps on the road to a cancel must be found by the checkers that their first lines name; the right ones must stand.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::cancel::{
        programs::{all_are_canceled, an_old_handle, called_or_refused},
        s1_two_words, s2_one_word, s3_generation, s4_one_phase, s5_look_then_link, s6_link_then_meet,
    },
};

#[test]
fn s1_two_words() {
    find(Seeded { threads: 2, found_by: &[Way::Loom] }, called_or_refused::<s1_two_words::Source>);
}

#[test]
fn s2_one_word() {
    find(Seeded { threads: 3, found_by: &Way::ALL }, an_old_handle::<s2_one_word::Source>);
}

#[test]
fn s2_one_word_with_one_registration() {
    explore(Model { threads: 2, loom: 9, rmw: 11, shuttle: 13 }, called_or_refused::<s2_one_word::Source>);
}

#[test]
fn s3_generation() {
    explore(Model { threads: 2, loom: 6, rmw: 16, shuttle: 27 }, called_or_refused::<s3_generation::Source>);
}

#[test]
fn s3_generation_with_an_old_handle() {
    explore(Model { threads: 3, loom: 150, rmw: 220, shuttle: 18000 }, an_old_handle::<s3_generation::Source>);
}

#[test]
fn s4_one_phase() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, all_are_canceled::<s4_one_phase::Tree>);
}

#[test]
fn s5_look_then_link() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, all_are_canceled::<s5_look_then_link::Tree>);
}

#[test]
fn s6_link_then_meet() {
    explore(Model { threads: 2, loom: 15, rmw: 13, shuttle: 1100 }, all_are_canceled::<s6_link_then_meet::Tree>);
}
