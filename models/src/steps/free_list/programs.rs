//! The programs that every step has to stand: small enough for every interleaving.
use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use super::FreeList;
use crate::{
    explore::{Arc, note, thread},
    linearizability::Recorder,
    spec::free_list::{Call, FreeIndexes},
};

/// A list, and who holds which index. The record is no part of the model: it adds no interleaving and no ordering.
struct Watched<L> {
    list: L,
    held: Mutex<Vec<bool>>,
}

impl<L: FreeList> Watched<L> {
    fn new(len: u32) -> Arc<Self> {
        let watched = Arc::new(Self { list: L::new(len), held: Mutex::new(vec![false; len as usize]) });
        watched.list.name_words();
        watched
    }

    fn set_held(&self, index: u32, held: bool) -> bool {
        let mut all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut all[index as usize], held)
    }

    fn alloc(&self) -> Option<u32> {
        let index = self.list.alloc();
        note(&format!("alloc returned {index:?}"));
        if let Some(index) = index {
            assert!(!self.set_held(index, true), "index {index} was handed out although somebody holds it");
            self.list.slots().touch(index);
        }
        index
    }

    fn free(&self, index: u32) {
        self.list.slots().touch(index);
        self.set_held(index, false);
        self.list.free(index);
        note(&format!("free({index}) returned"));
    }

    /// At the end, when the threads are done: every index is held or can be had.
    fn check_none_lost(&self) {
        let mut found = 0;
        while self.alloc().is_some() {
            found += 1;
            assert!(found <= self.list.slots().count(), "the list goes round in a circle");
        }
        let all = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(all.iter().all(|&held| held), "an index is lost: held {all:?}");
    }
}

/// Runs `work` in `threads` threads, of which this is one, on a list of `len` indexes.
fn run<L: FreeList>(threads: usize, len: u32, work: impl Fn(&Watched<L>, usize) + Copy + Send + 'static) {
    let watched = Watched::<L>::new(len);
    let others: Vec<_> = (1..threads)
        .map(|number| {
            let watched = watched.clone();
            thread::spawn(move || work(&watched, number))
        })
        .collect();
    work(&watched, 0);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    watched.check_none_lost();
}

/// Each thread takes an index and gives it back, `rounds` times. Two indexes: with three threads, one finds none.
pub fn take_and_give<L: FreeList>(threads: usize, rounds: usize) {
    run::<L>(threads, 2, move |watched, _| {
        for _ in 0..rounds {
            if let Some(index) = watched.alloc() {
                watched.free(index);
            }
        }
    });
}

/// One thread takes two indexes and keeps them; the other takes two and gives back the first: the list's top is then what it was.
pub fn aba<L: FreeList>() {
    run::<L>(2, 3, |watched, number| {
        let first = watched.alloc();
        let _second = watched.alloc();
        if number == 1
            && let Some(index) = first
        {
            watched.free(index);
        }
    });
}

/// One thread gives back an index while the other, having found the list empty or not, takes it.
pub fn hand_over<L: FreeList>() {
    run::<L>(2, 1, |watched, _| {
        if let Some(index) = watched.alloc() {
            watched.free(index);
        }
    });
}

/// What a thread does in a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Do {
    /// Take an index.
    Take,
    /// Give back the one that it has had longest, if any.
    Give,
}

/// Every thread follows `script` on a list of `len` indexes; the calls are recorded and held to the specification.
pub fn history<L: FreeList>(threads: usize, len: u32, script: &'static [Do]) {
    let list = Arc::new(L::new(len));
    list.name_words();
    let recorder = Recorder::<FreeIndexes>::default();
    let work = move |list: &L, recorder: &Recorder<FreeIndexes>, thread: usize| {
        let mut mine = VecDeque::new();
        for what in script {
            match what {
                Do::Take => mine.extend(recorder.call(thread, Call::Alloc, || list.alloc())),
                Do::Give => {
                    let Some(index) = mine.pop_front() else { continue };
                    let free = || {
                        list.free(index);
                        None
                    };
                    recorder.call(thread, Call::Free(index), free);
                }
            }
        }
    };
    let others: Vec<_> = (1..threads)
        .map(|number| {
            let (list, recorder) = (list.clone(), recorder.clone());
            thread::spawn(move || work(&list, &recorder, number))
        })
        .collect();
    work(&list, &recorder, 0);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    recorder.check(&FreeIndexes::new(len));
}
