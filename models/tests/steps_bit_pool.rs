//! The wrong steps on the road to `BitPool` must be found by the checkers that their first lines name; the right ones must stand.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, Seeded, Way, explore, find},
    steps::bit_pool::{
        Ids,
        programs::{
            Do::{Alloc, Free, Reserve},
            history, smallest_first,
        },
        s1_sweep, s2_count_first, s3_count_frees, s4_marks, s5_look_again,
    },
};

/// Of two IDs, 0 is allocated. It is freed, and then 1 taken.
fn behind_and_ahead<I: Ids>() {
    history::<I>(2, &[0], &[&[Alloc], &[Free(0), Reserve(1)]]);
}

/// Two allocations beside a free: both succeed.
fn beside_a_free<I: Ids>() {
    history::<I>(2, &[0], &[&[Alloc, Alloc], &[Free(0)]]);
}

#[test]
fn s1_sweep_lin() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, behind_and_ahead::<s1_sweep::Pool>);
}

#[test]
fn s2_count_first_lin() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, beside_a_free::<s2_count_first::Pool>);
}

#[test]
fn s3_count_frees_lin() {
    explore(Model { threads: 2, loom: 28, rmw: 18, shuttle: 51 }, behind_and_ahead::<s3_count_frees::Pool>);
}

#[test]
fn s3_count_frees_lin_beside_a_free() {
    explore(Model { threads: 2, loom: 54, rmw: 27, shuttle: 120 }, beside_a_free::<s3_count_frees::Pool>);
}

#[test]
fn s4_marks() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, smallest_first::<s4_marks::Pool>);
}

#[test]
fn s5_look_again() {
    explore(Model { threads: 2, loom: 8, rmw: 15, shuttle: 160 }, smallest_first::<s5_look_again::Pool>);
}

#[test]
fn s5_look_again_lin() {
    explore(Model { threads: 2, loom: 36, rmw: 50, shuttle: 1300 }, behind_and_ahead::<s5_look_again::Pool>);
}
