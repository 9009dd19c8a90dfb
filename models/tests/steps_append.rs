//! Every step on the road to a log but the last is wrong, and must be found by the checkers that its first lines name.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::append::{
        programs::{read_whole, shorter_fits},
        s1_read_to_the_tail, s2_give_back, s3_relaxed_commit, s4_commit_word,
    },
};

#[test]
fn s1_read_to_the_tail() {
    find(Seeded { threads: 3, found_by: &Way::ALL }, || read_whole::<s1_read_to_the_tail::Log>());
}

#[test]
fn s2_give_back() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, || shorter_fits::<s2_give_back::Log>());
}

#[test]
fn s3_relaxed_commit() {
    find(Seeded { threads: 3, found_by: &[Way::Loom, Way::Rmw] }, || read_whole::<s3_relaxed_commit::Log>());
}

#[test]
fn s4_commit_word() {
    explore(Model { threads: 3, loom: 180, rmw: 320, shuttle: 18000 }, || read_whole::<s4_commit_word::Log>());
}

#[test]
fn s4_commit_word_refuses_nothing_that_fits() {
    explore(Model { threads: 2, loom: 6, rmw: 8, shuttle: 10 }, || shorter_fits::<s4_commit_word::Log>());
}
