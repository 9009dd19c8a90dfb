//! Every step on the road to a segmented log but the right ones is wrong, and must be found by the checkers that its first lines name. So must
//! a use after free that is planted into the log itself: loom sees what crossbeam-epoch does.
//! (shuttle does not, and takes long to come between two steps that it does see.)
#![cfg(any(jeton_loom, jeton_shuttle))]

mod segmented_log;

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::segmented_log::{
        programs::{sleep_beside_put, visit_beside_trim},
        s1_count_only, s2_count_from_zero, s3_guard_and_count, s4_look_then_register, s5_look_again, s6_fences,
    },
};
use segmented_log::{cancel, epoch, memory};
#[cfg(jeton_loom)]
use segmented_log::{come_beside_trim, epoch::Planted, read_beside_trim};

#[test]
fn s1_count_only() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, || visit_beside_trim::<s1_count_only::List>());
}

#[test]
fn s2_count_from_zero() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, || visit_beside_trim::<s2_count_from_zero::List>());
}

#[test]
fn s3_guard_and_count() {
    explore(Model { threads: 2, loom: 36, rmw: 37, shuttle: 220 }, || visit_beside_trim::<s3_guard_and_count::List>());
}

#[test]
fn s4_look_then_register() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, || sleep_beside_put::<s4_look_then_register::Signal>());
}

#[test]
fn s5_look_again() {
    find(Seeded { threads: 2, found_by: &[Way::Loom] }, || sleep_beside_put::<s5_look_again::Signal>());
}

#[test]
fn s6_fences() {
    explore(Model { threads: 2, loom: 11, rmw: 9, shuttle: 10 }, || sleep_beside_put::<s6_fences::Signal>());
}

#[test]
#[cfg(jeton_loom)]
fn what_is_freed_at_once_is_found_by_a_reader_that_reads_on() {
    segmented_log::find(Seeded { threads: 2, found_by: &[Way::Loom, Way::Rmw] }, Planted::FreedAtOnce, read_beside_trim);
}

#[test]
#[cfg(jeton_loom)]
fn what_is_freed_at_once_is_found_by_a_reader_that_comes() {
    segmented_log::find(Seeded { threads: 2, found_by: &[Way::Loom, Way::Rmw] }, Planted::FreedAtOnce, come_beside_trim);
}

#[test]
#[cfg(jeton_loom)]
fn a_look_without_a_guard_is_found_by_a_reader_that_reads_on() {
    segmented_log::find(Seeded { threads: 2, found_by: &[Way::Loom, Way::Rmw] }, Planted::NoGuard, read_beside_trim);
}

#[test]
#[cfg(jeton_loom)]
fn a_look_without_a_guard_is_found_by_a_reader_that_comes() {
    segmented_log::find(Seeded { threads: 2, found_by: &[Way::Loom, Way::Rmw] }, Planted::NoGuard, come_beside_trim);
}
