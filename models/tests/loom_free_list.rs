//! The right free list: no index twice, none lost, and no payload used by two threads at once.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{Model, explore},
    steps::free_list::{
        programs::{aba, hand_over, take_and_give},
        s5_tagged::List,
    },
};

#[test]
fn free_list_takes_and_gives_with_two_threads() {
    explore(Model { threads: 2, loom: 370, rmw: 540, shuttle: 63000 }, || take_and_give::<List>(2, 2));
}

#[test]
fn free_list_takes_and_gives_with_three_threads() {
    explore(Model { threads: 3, loom: 3700, rmw: 2900, shuttle: 18000 }, || take_and_give::<List>(3, 1));
}

#[test]
fn free_list_notices_that_the_same_index_came_back() {
    explore(Model { threads: 2, loom: 32, rmw: 160, shuttle: 41000 }, aba::<List>);
}

#[test]
fn free_list_hands_its_only_index_over() {
    explore(Model { threads: 2, loom: 34, rmw: 56, shuttle: 180 }, hand_over::<List>);
}

#[test]
#[ignore = "long"]
fn free_list_takes_and_gives_with_three_threads_twice() {
    explore(Model { threads: 3, loom: 58000, rmw: 17000, shuttle: 18000 }, || take_and_give::<List>(3, 2));
}
