//! The shim itself: what a checker must see through its words, fences and cells, on programs whose outcomes are known.
#![cfg(any(jeton_loom, jeton_shuttle))]

use jeton_core::{
    fence, ord,
    sync::{AtomicPtr, AtomicU32, OwnerU32},
};
use jeton_models::{
    explore::{Arc, Model, explore, thread},
    linearizability::Order,
};

/// Two threads each write one word and read the other's. With a fence between, one of them sees the other (Dekker's handshake).
#[test]
fn fences_let_one_of_two_writers_see_the_other() {
    explore(Model { threads: 2, loom: 9, rmw: 8, shuttle: 9 }, || {
        let words = Arc::new((AtomicU32::new(0), AtomicU32::new(0)));
        let other = {
            let words = words.clone();
            thread::spawn(move || {
                words.1.store(1, ord!("shim-1", Relaxed));
                fence!("shim-2", SeqCst);
                words.0.load(ord!("shim-3", Relaxed))
            })
        };
        words.0.store(1, ord!("shim-4", Relaxed));
        fence!("shim-5", SeqCst);
        let here = words.1.load(ord!("shim-6", Relaxed));
        let there = other.join().expect("a thread of the model panicked");
        assert!(here + there > 0, "neither sees the other");
    });
}

/// What an owner has written before a release is there after an acquire that reads it.
#[test]
fn a_release_publishes_an_owners_word() {
    explore(Model { threads: 2, loom: 5, rmw: 3, shuttle: 3 }, || {
        let words = Arc::new((OwnerU32::new(0), AtomicU32::new(0)));
        let owner = {
            let words = words.clone();
            thread::spawn(move || {
                words.0.store(7, ord!("shim-7", Relaxed));
                words.1.fetch_or(1, ord!("shim-8", Release));
            })
        };
        if words.1.load(ord!("shim-9", Acquire)) == 1 {
            assert_eq!(words.0.load(ord!("shim-10", Relaxed)), 7);
        }
        owner.join().expect("a thread of the model panicked");
    });
}

/// Of two threads that set a pointer one wins, and what it has written before is there for who reads the pointer.
#[test]
fn a_pointer_is_set_once_and_publishes_what_was_written() {
    explore(Model { threads: 2, loom: 8, rmw: 7, shuttle: 9 }, || {
        let shared = Arc::new((AtomicPtr::<u32>::null(), OwnerU32::new(0)));
        let (null, new) = (core::ptr::null_mut(), core::ptr::dangling_mut());
        let other = {
            let shared = shared.clone();
            thread::spawn(move || {
                let new = core::ptr::dangling_mut();
                shared.1.store(7, ord!("shim-11", Relaxed));
                shared.0.compare_exchange(core::ptr::null_mut(), new, ord!("shim-12", Release), ord!("shim-13", Relaxed)).is_ok()
            })
        };
        if shared.0.load(ord!("shim-14", Acquire)) == new {
            assert_eq!(shared.1.load(ord!("shim-15", Relaxed)), 7);
        }
        let won = shared.0.compare_exchange(null, new, ord!("shim-16", Relaxed), ord!("shim-17", Relaxed)).is_ok();
        assert!(won != other.join().expect("a thread of the model panicked"));
    });
}

/// Histories are held to real time where no load can be old, and to each thread's own order where one can.
#[test]
fn histories_are_held_to_the_order_that_this_way_can_judge() {
    let expected = if cfg!(all(jeton_loom, not(jeton_rmw_load))) { Order::Thread } else { Order::RealTime };
    explore(Model { threads: 1, loom: 1, rmw: 1, shuttle: 1 }, move || assert_eq!(Order::of_this_build(), expected));
}
