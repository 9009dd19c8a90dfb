//! The rows of the result: figures or why there are none, ratios, targets.

use serde::Serialize;

use crate::{
    contender::{Entry, Group, Structure, Target},
    machine::Machine,
    run::{FEWEST_WINDOWS, Row},
    summary::Summary,
};

/// Whether there is a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// There is.
    Measured,
    /// Too few undisturbed windows: the machine is busy, or the contender often sleeps.
    Busy,
    /// Two threads need two CPUs.
    OneCpu,
    /// It is for one thread only.
    OneOwner,
}

/// What became of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The ratio is at least that.
    Met,
    /// It is less.
    NotMet,
    /// One of the two has no figure.
    NotMeasured,
    /// Nobody asks for a ratio.
    NotAsked,
}

/// A contender with one or two threads: an object of the JSON file.
#[derive(Clone, Debug, Serialize)]
pub struct ReportRow {
    /// The structure's name.
    pub structure: &'static str,
    /// The group's name.
    pub group: &'static str,
    /// What one operation is.
    pub operation: &'static str,
    /// The contender's name.
    pub contender: &'static str,
    /// Whether it is one of ours.
    pub ours: bool,
    /// How many threads.
    pub threads: usize,
    /// Whether there are figures; the following ones are null otherwise.
    pub status: Status,
    /// Nanoseconds per operation, as each thread sees it.
    pub ns: Option<Summary>,
    /// Nanoseconds per operation of both threads together.
    pub ns_system: Option<Summary>,
    /// How many times as fast as the group's reference: its median by this one's.
    pub times_reference: Option<f64>,
    /// How many times as fast ours is: this row's median by that of the group's contender of ours.
    pub ours_times_faster: Option<f64>,
    /// What is known to be wrong with it, or was found out in this run.
    pub not_correct: Option<String>,
    /// Undisturbed windows.
    pub windows: usize,
    /// All windows.
    pub windows_tried: usize,
    /// Its targets; only ours have some.
    pub targets: Vec<TargetRow>,
    /// What it was measured on; the same in all rows.
    pub machine: Machine,
}

/// A target and what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TargetRow {
    /// The fastest of its peers that is correct and measured.
    pub peer: Option<&'static str>,
    /// All its peers.
    pub peers: &'static [&'static str],
    /// How many of them are correct and measured.
    pub peers_measured: usize,
    /// How many times as fast as the fastest one it must be.
    pub at_least: Option<f64>,
    /// How many times as fast it is.
    pub ratio: Option<f64>,
    /// What that means.
    pub verdict: Verdict,
}

/// The rows of a structure, group by group, first those of one thread, then those of two.
pub fn rows(structure: &'static Structure, measured: &[Row], cpus: usize, machine: &Machine) -> Vec<ReportRow> {
    let mut report = Vec::new();
    for group in structure.groups {
        // A group in which everything is one thread's has no table of two.
        let most_threads = group.entries.iter().map(|entry| entry.most_threads).max().unwrap_or(0);
        for threads in 1..=most_threads {
            let medians = Medians { group, threads, measured };
            report.extend(group.entries.iter().map(|entry| medians.row(structure.name, entry, cpus, machine)));
        }
    }
    report
}

/// The figures of a group with a number of threads.
struct Medians<'a> {
    group: &'static Group,
    threads: usize,
    measured: &'a [Row],
}

impl Medians<'_> {
    fn find(&self, contender: &str) -> Option<&Row> {
        let same = |row: &&Row| row.group.name == self.group.name && row.entry.name == contender && row.threads == self.threads;
        self.measured.iter().find(same)
    }

    fn summary(&self, contender: &str) -> Option<Summary> {
        let row = self.find(contender).filter(|row| row.figures.len() >= FEWEST_WINDOWS)?;
        Summary::of(row.figures.iter().map(|figure| figure.per_thread))
    }

    /// How many times as fast `fast` is.
    fn ratio(&self, fast: &str, slow: &str) -> Option<f64> {
        let ratio = self.summary(slow)?.median / self.summary(fast)?.median;
        // Of two that are both nothing.
        (!ratio.is_nan()).then_some(ratio)
    }

    fn row(&self, structure: &'static str, entry: &Entry, cpus: usize, machine: &Machine) -> ReportRow {
        let (row, ns) = (self.find(entry.name), self.summary(entry.name));
        let status = match (&row, &ns) {
            _ if self.threads > entry.most_threads => Status::OneOwner,
            _ if self.threads > cpus => Status::OneCpu,
            (_, Some(_)) => Status::Measured,
            _ => Status::Busy,
        };
        let figures = row.filter(|_| ns.is_some()).into_iter().flat_map(|row| &row.figures);
        ReportRow {
            structure,
            group: self.group.name,
            operation: self.group.operation,
            contender: entry.name,
            ours: entry.is_ours(),
            threads: self.threads,
            status,
            ns,
            ns_system: Summary::of(figures.map(|figure| figure.system)),
            times_reference: self.ratio(entry.name, self.group.reference),
            ours_times_faster: self.ratio(self.group.ours, entry.name),
            not_correct: self.not_correct(entry.name),
            windows: row.map_or(0, |row| row.figures.len()),
            windows_tried: row.map_or(0, |row| row.tried),
            targets: self.targets_of(entry.name),
            machine: machine.clone(),
        }
    }

    fn not_correct(&self, contender: &str) -> Option<String> {
        let found = self.find(contender).and_then(|row| row.wrong.clone());
        let known = || self.group.not_correct.iter().find(|(name, _)| *name == contender).map(|(_, what)| (*what).to_owned());
        found.or_else(known)
    }

    fn targets_of(&self, ours: &str) -> Vec<TargetRow> {
        let targets = self.group.targets.iter().filter(|target| target.ours == ours && target.threads == self.threads);
        targets.map(|target| self.target_row(target)).collect()
    }

    fn target_row(&self, &Target { ours, peers, at_least, .. }: &Target) -> TargetRow {
        let correct = peers.iter().copied().filter(|peer| self.not_correct(peer).is_none());
        let measured: Vec<_> = correct.filter_map(|peer| Some((peer, self.summary(peer)?.median))).collect();
        let peer = measured.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(peer, _)| *peer);
        let ratio = peer.and_then(|peer| self.ratio(ours, peer));
        let verdict = match (ratio, at_least) {
            (None, _) => Verdict::NotMeasured,
            (_, None) => Verdict::NotAsked,
            (Some(ratio), Some(at_least)) if ratio >= at_least => Verdict::Met,
            _ => Verdict::NotMet,
        };
        TargetRow { peer, peers, peers_measured: measured.len(), at_least, ratio, verdict }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::{counter, window::Figure};

    pub(crate) fn machine() -> Machine {
        Machine {
            cpu: "a CPU".to_owned(),
            allowed_cpus: 2,
            used_cpus: vec![0, 1],
            rustc: "rustc 1".to_owned(),
            revision: "abc".to_owned(),
            load_before: "0.1 0.2 0.3".to_owned(),
            load_after: "0.1 0.2 0.3".to_owned(),
        }
    }

    /// As if every contender had `windows` windows: ours of 2 ns, peers of 9 ns, the rest of 1 ns.
    pub(crate) fn measured(windows: usize, most_threads: usize) -> Vec<Row> {
        rows_of(&counter::STRUCTURE, windows, most_threads)
    }

    fn rows_of(structure: &'static Structure, windows: usize, most_threads: usize) -> Vec<Row> {
        let mut rows = crate::run::rows(structure, most_threads);
        for row in &mut rows {
            let is_peer = row.group.targets.iter().any(|target| target.peers.contains(&row.entry.name));
            let ns = if is_peer {
                9.0
            } else if row.entry.is_ours() {
                2.0
            } else {
                1.0
            };
            row.figures = vec![Figure { per_thread: ns, system: ns / row.threads as f64 }; windows];
            row.tried = windows + 5;
        }
        rows
    }

    fn row<'a>(rows: &'a [ReportRow], contender: &str, threads: usize) -> &'a ReportRow {
        rows.iter().find(|row| row.contender == contender && row.threads == threads).expect("a row for each")
    }

    #[test]
    fn ratios_and_targets() {
        let rows = rows(&counter::STRUCTURE, &measured(FEWEST_WINDOWS, 2), 2, &machine());
        let fetch_add = row(&rows, "std AtomicU32: fetch_add & mask", 2);
        assert_eq!((fetch_add.times_reference, fetch_add.ours_times_faster), (Some(1.0), Some(4.5)));
        assert_eq!(fetch_add.ns_system.map(|ns| ns.median), Some(4.5));
        let lease = row(&rows, "jeton IdLease 64", 2);
        let (peers, peer) = (&["std AtomicU32: fetch_add & mask"], Some("std AtomicU32: fetch_add & mask"));
        let target = TargetRow { peer, peers, peers_measured: 1, at_least: Some(5.0), ratio: Some(4.5), verdict: Verdict::NotMet };
        assert_eq!(lease.targets[0], target);
        assert_eq!(lease.times_reference, Some(4.5));
        assert_eq!(row(&rows, "jeton StripedCounter: own stripe", 2).targets[0].verdict, Verdict::Met);
        assert!(row(&rows, "jeton StripedCounter: own stripe", 1).targets.is_empty(), "the target is for two threads");
    }

    const GROUP: Group = Group {
        targets: &[
            Target { ours: "jeton OwnerIds", peers: &["std Mutex<u32>", "sharded-counter 0.1"], threads: 1, at_least: Some(3.0) },
            Target { ours: "jeton OwnerIds", peers: &["parking_lot Mutex<u32>"], threads: 1, at_least: None },
        ],
        not_correct: &[("parking_lot Mutex<u32>", "known")],
        ..counter::STRUCTURE.groups[0]
    };
    const STRUCTURE: Structure = Structure { name: "counter", groups: &[GROUP], seconds: 1 };

    #[test]
    fn the_fastest_peer_is_one_that_is_correct_and_measured() {
        let ratio_and_peers = |change: fn(&mut Row)| {
            let mut measured = rows_of(&STRUCTURE, FEWEST_WINDOWS, 1);
            measured.iter_mut().filter(|row| row.entry.name == "std Mutex<u32>").for_each(change);
            let rows = rows(&STRUCTURE, &measured, 1, &machine());
            assert_eq!(row(&rows, "parking_lot Mutex<u32>", 1).not_correct.as_deref(), Some("known"));
            assert_eq!(row(&rows, "jeton OwnerIds", 1).targets[1].verdict, Verdict::NotMeasured, "its only peer is not correct");
            let target = row(&rows, "jeton OwnerIds", 1).targets[0].clone();
            (target.ratio, target.peer, target.peers_measured, target.verdict)
        };
        let slower = ratio_and_peers(|row| row.figures.fill(Figure { per_thread: 8.0, system: 8.0 }));
        assert_eq!(slower, (Some(4.0), Some("std Mutex<u32>"), 2, Verdict::Met));
        let only_other = (Some(4.5), Some("sharded-counter 0.1"), 1, Verdict::Met);
        assert_eq!(ratio_and_peers(|row| row.figures.clear()), only_other);
        let wrong = |row: &mut Row| {
            row.wrong = Some("an ID came twice".to_owned());
            row.figures.fill(Figure { per_thread: 1.0, system: 1.0 });
        };
        assert_eq!(ratio_and_peers(wrong), only_other);
    }

    #[test]
    fn too_few_windows_are_no_figure() {
        let rows = rows(&counter::STRUCTURE, &measured(FEWEST_WINDOWS - 1, 2), 2, &machine());
        let mutex = row(&rows, "std Mutex<u32>", 2);
        assert_eq!((mutex.status, mutex.ns, mutex.ns_system), (Status::Busy, None, None));
        assert_eq!((mutex.times_reference, mutex.ours_times_faster), (None, None));
        assert!(row(&rows, "jeton IdLease 64", 2).targets.iter().all(|target| target.verdict == Verdict::NotMeasured));
        assert_eq!((mutex.windows, mutex.windows_tried), (FEWEST_WINDOWS - 1, FEWEST_WINDOWS + 4));
    }

    #[test]
    fn two_threads_need_two_cpus_and_two_owners() {
        let rows = rows(&counter::STRUCTURE, &measured(FEWEST_WINDOWS, 1), 1, &machine());
        assert_eq!(row(&rows, "jeton IdLease 64", 1).status, Status::Measured);
        assert_eq!(row(&rows, "jeton IdLease 64", 2).status, Status::OneCpu);
        assert_eq!(row(&rows, "jeton OwnerIds", 2).status, Status::OneOwner);
    }

    #[test]
    fn the_json_has_an_object_for_each_row_with_its_machine() {
        let rows = rows(&counter::STRUCTURE, &measured(FEWEST_WINDOWS, 2), 2, &machine());
        let json = serde_json::to_value(&rows).expect("plain data");
        let objects = json.as_array().expect("an array");
        assert_eq!(objects.len(), rows.len());
        let object = objects.iter().find(|row| row["contender"] == "std Mutex<u32>" && row["threads"] == 2).expect("the mutex");
        assert_eq!((&object["status"], &object["ns"]["median"]), (&"measured".into(), &9.0.into()));
        assert_eq!((&object["structure"], &object["group"]), (&"counter".into(), &"ids".into()));
        let lease = objects.iter().find(|row| row["contender"] == "jeton IdLease 64" && row["threads"] == 2).expect("the lease");
        let target = &lease["targets"][1];
        assert_eq!((&target["verdict"], &target["at_least"]), (&"not-met".into(), &15.0.into()));
        assert_eq!((&target["peer"], &target["peers_measured"]), (&"std Mutex<u32>".into(), &1.into()));
        for key in ["cpu", "rustc", "revision", "load_before", "load_after", "used_cpus"] {
            assert!(!object["machine"][key].is_null(), "{key}");
        }
    }
}
