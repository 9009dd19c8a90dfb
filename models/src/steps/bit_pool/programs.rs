//! The programs that every step has to stand.
use super::Ids;
use crate::{
    explore::{Arc, note, thread},
    linearizability::Recorder,
    spec::pool::{Answer, Call, Choice, FreeIds},
};

/// What a thread does.
#[derive(Clone, Copy, Debug)]
pub enum Do {
    /// Allocate, and keep the ID.
    Alloc,
    /// Free this ID, which is allocated.
    Free(u32),
    /// Take this ID, if it is free.
    Reserve(u32),
}

fn run<I: Ids>(len: u32, taken: &[u32], programs: &'static [&'static [Do]], recorder: &Recorder<FreeIds>) -> Arc<I> {
    let ids = Arc::new(I::new(len, taken));
    ids.name_words();
    let work = |ids: &I, recorder: &Recorder<FreeIds>, thread: usize| {
        for step in programs[thread] {
            match *step {
                Do::Alloc => {
                    let alloc = || Answer::Alloc(ids.alloc().ok_or(jeton_core::pool::AllocError::Exhausted));
                    note(&format!("alloc returned {:?}", recorder.call(thread, Call::Alloc, alloc)));
                }
                Do::Free(id) => {
                    let free = || {
                        ids.free(id);
                        Answer::Free(Ok(()))
                    };
                    recorder.call(thread, Call::Free(id), free);
                }
                Do::Reserve(id) => {
                    let error = jeton_core::pool::ReserveError::Allocated(id);
                    let reserve = || Answer::Reserve(ids.reserve(id).then_some(()).ok_or(error));
                    recorder.call(thread, Call::Reserve(id), reserve);
                }
            }
        }
    };
    let others: Vec<_> = (1..programs.len())
        .map(|number| {
            let (ids, recorder) = (ids.clone(), recorder.clone());
            thread::spawn(move || work(&ids, &recorder, number))
        })
        .collect();
    work(&ids, recorder, 0);
    for other in others {
        other.join().expect("a thread of the model panicked");
    }
    ids
}

/// The calls, held to the specification in which an allocation gets any free ID.
pub fn history<I: Ids>(len: u32, taken: &[u32], programs: &'static [&'static [Do]]) {
    let recorder = Recorder::default();
    run::<I>(len, taken, programs, &recorder);
    let mut spec = FreeIds::new(Choice::Any, 0, len);
    taken.iter().for_each(|&id| spec.reserve(id).expect("free at first"));
    recorder.check(&spec);
}

/// ID 0 is freed beside an allocation, of which two IDs are left. Afterwards the smallest free ID comes first.
pub fn smallest_first<I: Ids>() {
    let ids = run::<I>(3, &[0], &[&[Do::Free(0)], &[Do::Alloc]], &Recorder::default());
    let rest = [ids.alloc(), ids.alloc(), ids.alloc()];
    assert!(rest == [Some(0), Some(2), None] || rest == [Some(1), Some(2), None], "the smallest first: {rest:?}");
}
