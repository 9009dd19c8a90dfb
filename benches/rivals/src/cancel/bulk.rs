//! Contenders whose window is one cancel of many, or the end of one that has many children: all is prepared before the window, and looked at
//! after it. What is timed is done once before that, with another one, to warm up.

use std::{
    convert::Infallible,
    iter,
    sync::{Mutex, PoisonError},
    task::Waker,
};

use jeton_benches::scenario::cancel::{
    Attaches, Calls, Hierarchy, Middle, Waits, are_over, begin, cancel, chain, count_alone, siblings, wait_in, with_callbacks,
};
use stop_token::StopSource;

use crate::{contender::Contender, window::Pace};

/// So many callbacks, tasks, children or levels.
pub(super) const MANY: u32 = 1_000;

/// What one thread does, and how many operations that was, or what was wrong.
type Work = fn(Pace<'_>) -> Result<u64, String>;

#[repr(align(128))]
struct Bulk {
    work: Work,
    ended: Mutex<Result<u64, String>>,
}

impl Contender for Bulk {
    fn work(&self, _: usize, pace: Pace<'_>) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = (self.work)(pace);
    }

    fn check(&self, operations: u64) -> Result<(), String> {
        let done = self.ended.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        if done == operations { Ok(()) } else { Err(format!("{done} operations instead of {operations}")) }
    }
}

/// Of one thread.
pub(super) fn bulk(work: Work) -> Box<dyn Contender> {
    Box::new(Bulk { work, ended: Mutex::new(Ok(0)) })
}

/// The window: `operation`, once, which counts as so many.
pub(super) fn once(pace: Pace<'_>, operations: u32, mut operation: impl FnMut()) -> Result<u64, String> {
    let step = |_| -> Result<(), Infallible> {
        operation();
        Ok(())
    };
    let Ok(steps) = pace.go_through(0..1, operations, step);
    Ok(u64::from(steps * operations))
}

fn expect(what: &str, found: u32, expected: u32) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found} instead of {expected}")) }
}

/// The cancel of a source with callbacks.
pub(super) fn callbacks<C: Attaches>(kind: C, pace: Pace<'_>) -> Result<u64, String> {
    static CALLS: Calls = Calls::new();
    drop(cancel::<C>(with_callbacks(kind, MANY, count_alone, &CALLS)));
    let (source, before) = (with_callbacks(kind, MANY, count_alone, &CALLS), CALLS.get());
    let done = once(pace, MANY, || C::cancel(&source))?;
    expect("calls", CALLS.get().wrapping_sub(before), MANY)?;
    Ok(done)
}

/// Where tasks wait that end with the cancel of a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// All at the root.
    Root,
    /// One in each of its children.
    Children,
    /// One on each level below it.
    Levels,
}

/// The cancel of a root; nobody wakes up, which would cost the same everywhere.
pub(super) fn tasks<C: Hierarchy + Waits>(kind: C, place: Place, pace: Pace<'_>) -> Result<u64, String> {
    wait_for::<C>(kind, place, C::cancel)?;
    let mut done = Ok(0);
    wait_for::<C>(kind, place, |root| done = once(pace, MANY, || C::cancel(root)))?;
    done
}

fn wait_for<C: Hierarchy + Waits>(kind: C, place: Place, cancel: impl FnOnce(&C::Source)) -> Result<(), String> {
    let root = kind.source();
    let below = match place {
        Place::Root => Vec::new(),
        Place::Children => siblings::<C>(&root, MANY),
        Place::Levels => chain::<C>(&root, MANY, |_| ()),
    };
    let mut waits = match place {
        Place::Root => wait_in::<C>(iter::repeat_n(&root, MANY as usize), Waker::noop()),
        Place::Children | Place::Levels => wait_in::<C>(&below, Waker::noop()),
    };
    expect("tasks that wait", waits.len() as u32, MANY)?;
    cancel(&root);
    if are_over(&mut waits) { Ok(()) } else { Err("a task waits on".to_owned()) }
}

/// The end of a stop-token source is its cancel.
pub(super) fn stop_token(pace: Pace<'_>) -> Result<u64, String> {
    fn wait_for(cancel: impl FnOnce(StopSource)) -> Result<(), String> {
        let source = StopSource::new();
        let mut waits: Vec<_> = (0..MANY).map(|_| Box::pin(source.token())).collect();
        waits.iter_mut().for_each(|wait| begin(wait, Waker::noop()));
        cancel(source);
        if are_over(&mut waits) { Ok(()) } else { Err("a task waits on".to_owned()) }
    }
    wait_for(drop)?;
    let mut done = Ok(0);
    wait_for(|source| {
        let mut source = Some(source);
        done = once(pace, MANY, || source = None);
    })?;
    done
}

/// The end of a node in the middle; a cancel of the root must still come to all its children.
pub(super) fn middle<C: Hierarchy>(kind: C, children: u32, pace: Pace<'_>) -> Result<u64, String> {
    drop(Middle::new(kind, 10).drop_middle());
    let mut middle = Some(Middle::new(kind, children));
    let done = once(pace, 1, || middle = middle.take().map(Middle::drop_middle))?;
    let canceled = middle.map_or(0, |middle| middle.canceled_after_root::<C>());
    expect("children canceled", canceled as u32, children)?;
    Ok(done)
}

/// What is left of a window without an operation: the clocks.
pub(super) fn nothing(pace: Pace<'_>, operations: u32) -> Result<u64, String> {
    once(pace, operations, || std::hint::black_box(()))
}

#[cfg(test)]
mod tests {
    use jeton_benches::scenario::cancel::{Arena, Heap};

    use super::{
        super::kinds::{TokioUtil, tree},
        *,
    };

    fn is_found<C: Hierarchy + Waits>(kind: C, places: &[Place]) {
        for &place in places {
            assert_eq!(wait_for::<C>(kind, place, C::cancel), Ok(()), "{place:?}");
            assert_eq!(wait_for::<C>(kind, place, |_| ()), Err("a task waits on".to_owned()), "{place:?}");
        }
    }

    #[test]
    fn a_cancel_that_does_not_come_to_a_task_is_found() {
        is_found(Heap, &[Place::Root, Place::Children, Place::Levels]);
        is_found(tree!(Arena<1_001>, 1), &[Place::Children, Place::Levels]);
        is_found(TokioUtil, &[Place::Root, Place::Children, Place::Levels]);
    }

    #[test]
    fn what_is_not_what_it_should_be_is_told() {
        assert_eq!(expect("calls", 7, 7), Ok(()));
        assert_eq!(expect("calls", 6, 7), Err("calls: 6 instead of 7".to_owned()));
        let contender = bulk(|_| Err("lost".to_owned()));
        assert_eq!(contender.check(0), Ok(()), "it has not worked yet");
        let cpu = crate::cpu::allowed().expect("this thread runs on some CPU")[0];
        let spans = crate::window::measure(&*contender, &[cpu], 1, std::time::Duration::ZERO).expect("a CPU that is allowed");
        assert_eq!(contender.check(crate::window::all_operations(&spans)), Err("lost".to_owned()));
    }
}
