//! Every step on the road to the free list but the last is wrong, and must be found by the checkers that its first lines name.
//!
//! `…_lin` holds the step's histories to the specification; the others watch who holds which index and payload.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_models::{
    explore::{
        Seeded,
        Way::{self, Loom, Rmw, Shuttle},
        find,
    },
    steps::free_list::{
        FreeList,
        programs::{
            Do::{Give, Take},
            aba, history, take_and_give,
        },
        s1_no_tag, s2_store_instead_of_cas, s3_relaxed_push, s4_relaxed_pop,
    },
};

fn two_threads_with<L: FreeList>(found_by: &[Way]) {
    find(Seeded { threads: 2, found_by }, || take_and_give::<L>(2, 2));
}

#[test]
fn s1_no_tag() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, aba::<s1_no_tag::List>);
}

#[test]
fn s1_no_tag_lin() {
    find(Seeded { threads: 2, found_by: &[Rmw, Shuttle] }, || history::<s1_no_tag::List>(2, 3, &[Take, Take, Give]));
}

#[test]
fn s2_store_instead_of_cas() {
    two_threads_with::<s2_store_instead_of_cas::List>(&Way::ALL);
}

#[test]
fn s2_store_instead_of_cas_lin() {
    find(Seeded { threads: 2, found_by: &Way::ALL }, || history::<s2_store_instead_of_cas::List>(2, 2, &[Take, Give, Take]));
}

#[test]
fn s3_relaxed_push() {
    two_threads_with::<s3_relaxed_push::List>(&[Loom, Rmw]);
}

#[test]
fn s4_relaxed_pop() {
    two_threads_with::<s4_relaxed_pop::List>(&[Loom, Rmw]);
}
