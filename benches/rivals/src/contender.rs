//! What is compared: structures, their groups, and the contenders in them.

use crate::window::Pace;

/// One implementation in one window: fresh for each, used by one or two threads.
///
/// A type that threads share stands on cache lines of its own (`#[repr(align(128))]`), so that only its own design decides what
/// the threads share.
pub trait Contender: Sync {
    /// What each thread does: gets its own part ready (a lease, a stripe) and then hands its operation to [`Pace::run`], or the steps
    /// of a round to [`Pace::go_through`]. One that cannot get ready returns, and tells [`check`](Self::check) why.
    fn work(&self, thread: usize, pace: Pace<'_>);

    /// Looks, after the threads have ended, whether the result is that of `operations` operations of all threads together.
    ///
    /// # Errors
    /// In words, what is wrong.
    fn check(&self, operations: u64) -> Result<(), String>;
}

/// A contender's line in its group.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Its name: unique in the group; ours begin with `jeton`.
    pub name: &'static str,
    /// The most threads with which it is defined: 1 or 2.
    pub most_threads: usize,
    /// Makes a fresh one.
    pub make: fn() -> Box<dyn Contender>,
}

impl Entry {
    /// Whether it is one of ours.
    pub fn is_ours(&self) -> bool {
        self.name.starts_with("jeton")
    }
}

/// A ratio that an issue asks for: the time of the fastest of `peers` by the time of `ours` is `at_least`.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// A contender of the group.
    pub ours: &'static str,
    /// Others of it. One that was found not to be correct does not count.
    pub peers: &'static [&'static str],
    /// With how many threads.
    pub threads: usize,
    /// The ratio; `None` if it is only to be shown.
    pub at_least: Option<f64>,
}

/// Contenders that do the same.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its name, unique in the structure.
    pub name: &'static str,
    /// What one operation is, in a few words.
    pub operation: &'static str,
    /// The contender that the others are compared with: the obvious solution.
    pub reference: &'static str,
    /// The contender of ours that is compared with each peer.
    pub ours: &'static str,
    /// So many operations does a thread at least in a window: 1 where one is the end of something large.
    pub fewest: u64,
    /// All contenders, in the order of the table.
    pub entries: &'static [Entry],
    /// What must hold between them.
    pub targets: &'static [Target],
    /// Contenders that are known not to be correct, and in what: shown, with a mark.
    pub not_correct: &'static [(&'static str, &'static str)],
}

/// A structure of ours and what it is compared with.
#[derive(Clone, Copy, Debug)]
pub struct Structure {
    /// Its name, as on the command line.
    pub name: &'static str,
    /// What is compared, one group after another.
    pub groups: &'static [Group],
    /// How long a run takes at most, if nobody says otherwise: enough for the windows of all rows, on a quiet machine.
    pub seconds: u32,
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, time::Duration};

    use crate::{STRUCTURES, cpu, window};

    #[test]
    fn names_are_unique_and_known() {
        for structure in STRUCTURES {
            for group in structure.groups {
                let names: HashSet<_> = group.entries.iter().map(|entry| entry.name).collect();
                assert_eq!(names.len(), group.entries.len(), "{}", group.name);
                let peers = group.targets.iter().flat_map(|target| target.peers.iter().copied());
                let ours = group.targets.iter().map(|target| target.ours);
                let not_correct: Vec<_> = group.not_correct.iter().map(|(name, _)| *name).collect();
                assert!(peers.clone().all(|peer| !not_correct.contains(&peer)), "{}: a target needs correct peers", group.name);
                for name in peers.chain(ours).chain([group.reference, group.ours]).chain(not_correct) {
                    assert!(names.contains(name), "{}: {name}", group.name);
                }
                assert!(group.entries.iter().all(|entry| (1..=2).contains(&entry.most_threads)));
            }
        }
    }

    #[test]
    fn every_contender_does_what_it_says() {
        let cpus = cpu::allowed().expect("this thread runs on some CPU");
        for group in STRUCTURES.iter().flat_map(|structure| structure.groups) {
            for entry in group.entries {
                for threads in 1..=entry.most_threads {
                    let cpus: Vec<_> = cpus.iter().copied().cycle().take(threads).collect();
                    let contender = (entry.make)();
                    let spans =
                        window::measure(&*contender, &cpus, 1000, Duration::from_micros(50)).expect("CPUs that are allowed");
                    let operations = window::all_operations(&spans);
                    assert!(operations >= group.fewest * threads as u64, "{}: {operations}", entry.name);
                    assert_eq!(contender.check(operations), Ok(()), "{}, {threads} threads", entry.name);
                    assert!(contender.check(2 * operations + 10).is_err() || entry.name.starts_with("nothing"), "{}", entry.name);
                }
            }
        }
    }
}
