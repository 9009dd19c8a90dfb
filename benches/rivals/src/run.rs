//! One interleaved run over all contenders of a structure.

use std::{
    fmt, io,
    time::{Duration, Instant},
};

use crate::{
    contender::{Entry, Group, Structure},
    window::{self, Figure},
};

/// Fewer undisturbed windows than this are no measurement.
pub const FEWEST_WINDOWS: usize = 20;

/// Operations between two looks at the clock while nobody knows how long one takes.
const FIRST_CHUNK: u32 = 1000;

/// How long to measure, and where.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Undisturbed windows that every row should have.
    pub windows: usize,
    /// When to stop without them.
    pub limit: Duration,
    /// One CPU or two.
    pub cpus: Vec<usize>,
}

/// A contender with one or two threads, and its windows.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its group.
    pub group: &'static Group,
    /// The contender.
    pub entry: &'static Entry,
    /// How many threads.
    pub threads: usize,
    /// The figures of the undisturbed windows.
    pub figures: Vec<Figure>,
    /// How many windows were measured, the disturbed ones as well.
    pub tried: usize,
    /// What was wrong with the result of its last window; it is not measured any more.
    pub wrong: Option<String>,
    chunk: Option<u32>,
}

/// Why there are no figures at all.
#[derive(Debug)]
pub enum RunError {
    /// The result of a contender of ours was not that of its operations.
    Wrong {
        /// The contender.
        contender: &'static str,
        /// What is wrong.
        what: String,
    },
    /// A thread could not be pinned.
    Pin(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Wrong { contender, what } => write!(f, "{contender} is wrong: {what}"),
            Self::Pin(error) => write!(f, "a thread cannot be pinned to its CPU: {error}"),
        }
    }
}

impl std::error::Error for RunError {}

/// Measures all contenders in turn, a window each, until every row has its windows or the time is over.
///
/// Each round begins with another contender, so that none always follows the same pause or comes at the same phase of another load.
/// `progress` is told the fewest undisturbed windows of any row after each round. A peer with a wrong result is out of the run from then
/// on, and its rows say what was wrong.
///
/// # Errors
/// [`RunError`]: a wrong result of ours, or a CPU that cannot be used.
pub fn run(structure: &'static Structure, plan: &Plan, progress: &mut dyn FnMut(usize)) -> Result<Vec<Row>, RunError> {
    let mut rows = rows(structure, plan.cpus.len());
    let begin = Instant::now();
    for round in 0.. {
        for position in 0..rows.len() {
            let row = (position + round) % rows.len();
            rows[row].measure(&plan.cpus, round)?;
        }
        let in_the_run = rows.iter().filter(|row| row.wrong.is_none());
        let fewest = in_the_run.map(|row| row.figures.len()).min().unwrap_or(plan.windows);
        progress(fewest);
        if fewest >= plan.windows || begin.elapsed() >= plan.limit {
            break;
        }
    }
    Ok(rows)
}

pub(crate) fn rows(structure: &'static Structure, cpus: usize) -> Vec<Row> {
    let row = |group, entry, threads| Row { group, entry, threads, figures: Vec::new(), tried: 0, wrong: None, chunk: None };
    let contenders = || structure.groups.iter().flat_map(|group| group.entries.iter().map(move |entry| (group, entry)));
    let with = |threads| {
        contenders().filter(move |(_, entry)| entry.most_threads >= threads).map(move |(group, entry)| row(group, entry, threads))
    };
    (1..=cpus.min(2)).flat_map(with).collect()
}

impl Row {
    fn measure(&mut self, cpus: &[usize], round: usize) -> Result<(), RunError> {
        if self.wrong.is_some() {
            return Ok(());
        }
        // One thread alone is on each CPU in turn; two threads change places.
        let cpus: Vec<usize> = cpus.iter().copied().cycle().skip(round % cpus.len()).take(self.threads).collect();
        let contender = (self.entry.make)();
        let chunk = self.chunk.unwrap_or(FIRST_CHUNK);
        let spans = window::measure(&*contender, &cpus, chunk, window::LENGTH).map_err(RunError::Pin)?;
        self.tried += 1;
        if let Err(what) = contender.check(window::all_operations(&spans)) {
            if self.entry.is_ours() {
                return Err(RunError::Wrong { contender: self.entry.name, what });
            }
            self.wrong = Some(what);
            return Ok(());
        }
        if let Ok(figure) = window::figure(&spans) {
            // The first window only finds out how many operations go between two looks at the clock.
            if self.chunk.replace(window::chunk(figure)).is_some() {
                self.figures.push(figure);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{counter, cpu};

    #[test]
    fn a_row_for_each_contender_and_number_of_threads() {
        let entries: Vec<_> = counter::STRUCTURE.groups.iter().flat_map(|group| group.entries).collect();
        let with_two = entries.iter().filter(|entry| entry.most_threads == 2).count();
        assert_eq!(rows(&counter::STRUCTURE, 1).len(), entries.len());
        assert_eq!(rows(&counter::STRUCTURE, 2).len(), entries.len() + with_two);
        assert_eq!(rows(&counter::STRUCTURE, 8).len(), entries.len() + with_two, "two threads at most");
    }

    #[test]
    fn a_run_ends_at_its_limit_and_has_tried_every_row() -> Result<(), RunError> {
        let cpus = cpu::allowed().map_err(RunError::Pin)?;
        let plan = Plan { windows: usize::MAX, limit: Duration::ZERO, cpus };
        let mut rounds = 0;
        let rows = run(&counter::STRUCTURE, &plan, &mut |_| rounds += 1)?;
        assert_eq!(rounds, 1);
        assert!(rows.iter().all(|row| row.tried == 1 && row.figures.is_empty()), "the first window is for the chunk only");
        Ok(())
    }
}
