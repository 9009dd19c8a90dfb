//! The right free list, call by call, against its specification.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, explore},
    steps::free_list::{
        programs::{
            Do::{Give, Take},
            history,
        },
        s5_tagged::List,
    },
};

#[test]
fn free_list_is_linearizable_with_two_threads_of_three_calls() {
    explore(Model { threads: 2, loom: 120, rmw: 280, shuttle: 63000 }, || history::<List>(2, 2, &[Take, Give, Take]));
}

#[test]
fn free_list_is_linearizable_where_an_index_comes_back() {
    explore(Model { threads: 2, loom: 120, rmw: 280, shuttle: 63000 }, || history::<List>(2, 3, &[Take, Take, Give]));
}

#[test]
fn free_list_is_linearizable_with_three_threads_of_two_calls() {
    explore(Model { threads: 3, loom: 3700, rmw: 2900, shuttle: 18000 }, || history::<List>(3, 2, &[Take, Give]));
}
