//! How documents are built by those who build many: in one buffer, each in a new one, and with values that are produced for it.

use std::{hint::black_box, time::Duration};

use jeton::append::{AppendError, GrowBuf};

use super::{Build, Document, Values, by_cursors, by_puts, documents};
use crate::{
    originals::buf_builder::{BufBuilder, Checked, Split, Whole},
    scenario::cancel::timed::{Timing, time_loop},
};

/// Builds it `times` times, each in a buffer of its own that begins without memory, and copies it into memory of its owner's.
///
/// # Errors
/// What `build` returns.
#[inline(always)]
pub fn new_documents<D: Document>(new: fn() -> D, values: &Values<'_>, times: u32, build: Build<D>) -> Result<(), AppendError> {
    for _ in 0..times {
        new_document(new, values, build)?;
    }
    Ok(())
}

#[inline(always)]
fn new_document<D: Document>(new: fn() -> D, values: &Values<'_>, build: Build<D>) -> Result<(), AppendError> {
    let mut document = black_box(new());
    build(&mut document, black_box(values))?;
    black_box(document.bytes().to_vec());
    Ok(())
}

/// As [`new_documents`], each with values of its own that are produced for it: a number that is formatted, and four strings, each in memory
/// of its own.
///
/// # Errors
/// What `build` returns.
#[inline(always)]
pub fn produced_documents<D: Document>(
    new: fn() -> D,
    values: &Values<'_>,
    times: u32,
    build: Build<D>,
) -> Result<(), AppendError> {
    for number in 0..times {
        let title = format!("title {number:07}");
        let [_, owner, group, notes] = black_box(values).strings.map(str::to_owned);
        let strings = [&*title, &*owner, &*group, &*notes];
        new_document(new, &Values { strings, ..*values }, build)?;
    }
    Ok(())
}

/// How much of the work is appending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// All of it: one buffer, which has the room.
    Appends,
    /// [`new_documents`].
    New,
    /// [`produced_documents`].
    Produced,
}

/// The workloads, as [`time`] calls them.
pub const WORKLOADS: [(&str, Workload); 3] =
    [("appends", Workload::Appends), ("new", Workload::New), ("produced", Workload::Produced)];

/// The buffers, as [`time`] calls them: the originals, then ours, by plain puts and by a cursor a field.
pub const KINDS: [&str; 5] = ["whole", "checked", "split", "puts", "cursors"];

/// Builds documents until that has taken `at_least` so long; `None` if there is no such kind or workload.
pub fn time(kind: &str, workload: &str, at_least: Duration) -> Option<Timing> {
    let (_, workload) = WORKLOADS.into_iter().find(|(name, _)| *name == workload)?;
    Some(match kind {
        "whole" => time_builds(BufBuilder::<Whole>::new, by_puts, workload, at_least),
        "checked" => time_builds(BufBuilder::<Checked>::new, by_puts, workload, at_least),
        "split" => time_builds(BufBuilder::<Split>::new, by_puts, workload, at_least),
        "puts" => time_builds(GrowBuf::default, by_puts, workload, at_least),
        "cursors" => time_builds(GrowBuf::default, by_cursors, workload, at_least),
        _ => return None,
    })
}

fn time_builds<D: Document>(new: fn() -> D, build: Build<D>, workload: Workload, at_least: Duration) -> Timing {
    let values = Values::default();
    let mut one = new();
    time_loop(at_least, |times| {
        let built = match workload {
            Workload::Appends => documents(&mut one, &values, times, build),
            Workload::New => new_documents(new, &values, times, build),
            Workload::Produced => produced_documents(new, &values, times, build),
        };
        assert_eq!(built, Ok(()), "a document fits");
    })
}

#[cfg(test)]
mod tests {
    use super::{super::DOCUMENT, *};

    #[test]
    fn documents_of_their_own_are_as_long_with_produced_values() {
        fn as_long(document: &mut GrowBuf, values: &Values<'_>) -> Result<(), AppendError> {
            assert_eq!((document.capacity(), values.strings[0].len()), (0, 13));
            by_puts(document, values)?;
            assert_eq!(document.len(), DOCUMENT);
            Ok(())
        }
        assert_eq!(new_documents(GrowBuf::default, &Values::default(), 2, as_long), Ok(()));
        assert_eq!(produced_documents(GrowBuf::default, &Values::default(), 2, as_long), Ok(()));
    }

    #[test]
    fn every_kind_runs_every_workload_and_nothing_else() {
        for kind in KINDS {
            for (workload, _) in WORKLOADS {
                assert!(time(kind, workload, Duration::ZERO).is_some_and(|timing| timing.ns > 0.0), "{kind} {workload}");
            }
            assert_eq!(time(kind, "else", Duration::ZERO), None);
        }
        assert_eq!(time("else", "appends", Duration::ZERO), None);
    }
}
