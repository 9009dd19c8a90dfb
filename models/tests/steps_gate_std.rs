//! The wrong steps on the road to a gate for threads and tasks must be found by the checkers that their first lines name; the right one must stand.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::gate_std::{
        programs::{a_slot_has_one_owner, a_task_is_woken, a_thread_is_woken, nobody_is_looked_for_in_vain},
        s1_kept_interest, s2_cleared_too_widely, s3_unpublished, s4_wake_first, s5_freed_while_taken, s6_no_second_look,
        s7_all_rules,
    },
};

#[test]
fn s1_kept_interest() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, nobody_is_looked_for_in_vain::<s1_kept_interest::Step>);
}

#[test]
fn s2_cleared_too_widely() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, a_thread_is_woken::<s2_cleared_too_widely::Step>);
}

#[test]
fn s3_unpublished() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, a_thread_is_woken::<s3_unpublished::Step>);
}

#[test]
fn s4_wake_first() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, a_thread_is_woken::<s4_wake_first::Step>);
}

#[test]
fn s5_freed_while_taken() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, a_slot_has_one_owner::<s5_freed_while_taken::Step>);
}

#[test]
fn s6_no_second_look() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, a_task_is_woken::<s6_no_second_look::Step>);
}

#[test]
fn s7_all_rules_for_a_thread() {
    explore(Model { threads: 2, loom: 37, rmw: 38, shuttle: 210 }, a_thread_is_woken::<s7_all_rules::Step>);
}

#[test]
fn s7_all_rules_without_a_look_in_vain() {
    explore(Model { threads: 2, loom: 23, rmw: 20, shuttle: 35 }, nobody_is_looked_for_in_vain::<s7_all_rules::Step>);
}

#[test]
fn s7_all_rules_for_a_task() {
    explore(Model { threads: 2, loom: 7, rmw: 11, shuttle: 35 }, a_task_is_woken::<s7_all_rules::Step>);
}

#[test]
fn s7_all_rules_for_a_slot() {
    explore(Model { threads: 2, loom: 45, rmw: 98, shuttle: 1000 }, a_slot_has_one_owner::<s7_all_rules::Step>);
}
