//! The baseline: what every bench counted when it was last accepted.

use std::{collections::BTreeMap, fmt, fs, io, path::Path};

use serde::{Deserialize, Serialize};

use super::{Allocations, Counts, Event, Report};

/// Fewer instructions than this are no measured code: a function that only returns a constant takes two.
pub const LEAST_INSTRUCTIONS: u64 = 3;

/// Estimated cycles may differ by this part of the baseline's, or by [`CYCLES_OF_PLACEMENT`] if that is more.
const CYCLE_TOLERANCE: f64 = 0.01;

/// Counts of a bench that allocates may differ by this part of the baseline's: the C library's share depends on where the checkout lies.
/// How many blocks and bytes it allocates may not.
const ALLOCATING_TOLERANCE: f64 = 0.03;

/// Two first touches of memory, 35 cycles each: where the linker puts the code decides how many cache lines it begins and ends in.
/// Only in benches of a few thousand cycles is that more than a hundredth.
const CYCLES_OF_PLACEMENT: u64 = 70;

/// A file of accepted counts, and what they were taken with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// What `rustc -V` printed. Counts of another compiler are not comparable.
    pub rustc: String,
    /// What `valgrind --version` printed.
    pub valgrind: String,
    /// The version of iai-callgrind and its runner.
    pub iai_callgrind: String,
    /// The accepted counts.
    pub benches: BTreeMap<String, Accepted>,
}

/// The counts of a bench that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    instructions: u64,
    conditional_branches: u64,
    indirect_branches: u64,
    data_reads: u64,
    data_writes: u64,
    estimated_cycles: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    allocations: Option<Allocations>,
}

impl From<&Counts> for Accepted {
    fn from(counts: &Counts) -> Self {
        Self {
            instructions: counts.instructions,
            conditional_branches: counts.conditional_branches,
            indirect_branches: counts.indirect_branches,
            data_reads: counts.data_reads,
            data_writes: counts.data_writes,
            estimated_cycles: counts.estimated_cycles,
            allocations: counts.allocations,
        }
    }
}

impl Accepted {
    /// The accepted count of the event; `None` if the bench did not count it.
    pub fn get(&self, event: Event) -> Option<u64> {
        event.of(&self.counts())
    }

    /// Whether the C library's allocation is part of the counts.
    fn allocates(&self) -> bool {
        self.allocations.is_some_and(|allocations| allocations.blocks > 0)
    }

    /// The accepted counts; what is not compared is 0.
    pub fn counts(&self) -> Counts {
        Counts {
            instructions: self.instructions,
            conditional_branches: self.conditional_branches,
            indirect_branches: self.indirect_branches,
            data_reads: self.data_reads,
            data_writes: self.data_writes,
            estimated_cycles: self.estimated_cycles,
            allocations: self.allocations,
            ..Counts::default()
        }
    }
}

/// Why there is no baseline to compare with.
#[derive(Debug)]
pub enum BaselineError {
    /// There is no such file.
    Missing,
    /// It cannot be read or written.
    Io(io::Error),
    /// It is no baseline.
    Malformed(String),
}

impl fmt::Display for BaselineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("there is none"),
            Self::Io(error) => error.fmt(f),
            Self::Malformed(reason) => write!(f, "malformed: {reason}"),
        }
    }
}

impl std::error::Error for BaselineError {}

impl Baseline {
    /// Reads the file.
    ///
    /// # Errors
    /// [`BaselineError`].
    pub fn load(path: &Path) -> Result<Self, BaselineError> {
        let text = fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => BaselineError::Missing,
            _ => BaselineError::Io(error),
        })?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self, BaselineError> {
        serde_json::from_str(text).map_err(|error| BaselineError::Malformed(error.to_string()))
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`BaselineError::Io`] or [`BaselineError::Malformed`] if it cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), BaselineError> {
        let text = self.to_text().map_err(|error| BaselineError::Malformed(error.to_string()))?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(BaselineError::Io)?;
        }
        fs::write(path, text).map_err(BaselineError::Io)
    }

    /// One line a bench, sorted: a change of one bench is a change of one line.
    fn to_text(&self) -> Result<String, serde_json::Error> {
        let mut lines = Vec::new();
        for (name, accepted) in &self.benches {
            lines.push(format!("    {}: {}", serde_json::to_string(name)?, serde_json::to_string(accepted)?));
        }
        let heads = [("rustc", &self.rustc), ("valgrind", &self.valgrind), ("iai_callgrind", &self.iai_callgrind)];
        let mut text = "{\n".to_owned();
        for (field, value) in heads {
            text += &format!("  \"{field}\": {},\n", serde_json::to_string(value)?);
        }
        text += &format!("  \"benches\": {{\n{}\n  }}\n}}\n", lines.join(",\n"));
        Ok(text)
    }

    /// Takes over what was measured: all of it, or, with `files`, the benches of these files only.
    pub fn accept(&mut self, report: &Report, files: Option<&[&str]>) {
        self.benches.retain(|name, _| !concerns(files, name));
        self.benches.extend(report.iter().map(|(name, counts)| (name.clone(), counts.into())));
    }

    /// All differences between the baseline and the report; with `files`, of the benches of these files only.
    pub fn compare(&self, report: &Report, files: Option<&[&str]>) -> Vec<Difference> {
        let mut differences = Vec::new();
        for name in self.benches.keys().filter(|name| concerns(files, name)) {
            if !report.contains_key(name) {
                differences.push(Difference::Missing { bench: name.clone() });
            }
        }
        for (bench, counts) in report {
            let Some(accepted) = self.benches.get(bench) else {
                differences.push(Difference::Extra { bench: bench.clone() });
                continue;
            };
            for event in Event::ALL {
                let (baseline, measured) = (accepted.get(event), event.of(counts));
                if !equal(event, baseline, measured, accepted.allocates()) {
                    differences.push(Difference::Changed { bench: bench.clone(), event, baseline, measured });
                }
            }
        }
        differences
    }
}

/// The benches whose measured code the compiler removed.
pub fn vanished(report: &Report) -> Vec<Difference> {
    let vanished = report.iter().filter(|(_, counts)| counts.instructions < LEAST_INSTRUCTIONS);
    vanished.map(|(bench, counts)| Difference::Vanished { bench: bench.clone(), instructions: counts.instructions }).collect()
}

/// Whether the bench is one of these files'.
fn concerns(files: Option<&[&str]>, bench: &str) -> bool {
    files.is_none_or(|files| bench.split_once("::").is_some_and(|(file, _)| files.contains(&file)))
}

fn equal(event: Event, baseline: Option<u64>, measured: Option<u64>, allocates: bool) -> bool {
    let (Some(baseline), Some(measured)) = (baseline, measured) else { return baseline == measured };
    let part = |tolerance: f64| (baseline as f64 * tolerance) as u64;
    let allowed = match event {
        Event::AllocatedBlocks | Event::AllocatedBytes => 0,
        Event::EstimatedCycles => part(if allocates { ALLOCATING_TOLERANCE } else { CYCLE_TOLERANCE }).max(CYCLES_OF_PLACEMENT),
        _ if allocates => part(ALLOCATING_TOLERANCE),
        _ => 0,
    };
    baseline.abs_diff(measured) <= allowed
}

/// What is not as in the baseline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// The baseline has a bench that was not run.
    Missing {
        /// Its name.
        bench: String,
    },
    /// A bench was run that the baseline does not have.
    Extra {
        /// Its name.
        bench: String,
    },
    /// A bench executed next to nothing.
    Vanished {
        /// Its name.
        bench: String,
        /// What it executed.
        instructions: u64,
    },
    /// A count is another.
    Changed {
        /// The bench.
        bench: String,
        /// What was counted.
        event: Event,
        /// The accepted count; `None` if the bench did not count it.
        baseline: Option<u64>,
        /// The count now.
        measured: Option<u64>,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |count: &Option<u64>| count.map_or("not counted".to_owned(), |count| count.to_string());
        match self {
            Self::Missing { bench } => write!(f, "{bench}: in the baseline, but did not run"),
            Self::Extra { bench } => write!(f, "{bench}: ran, but is not in the baseline"),
            Self::Vanished { bench, instructions } => {
                write!(f, "{bench}: {instructions} instructions: the compiler removed the measured code")
            }
            Self::Changed { bench, event, baseline, measured } => {
                write!(f, "{bench}: {}: {} → {}", event.name(), number(baseline), number(measured))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(instructions: u64) -> Counts {
        Counts { instructions, estimated_cycles: 100_000, allocations: Some(Allocations::default()), ..Counts::default() }
    }

    fn report() -> Report {
        Report::from([("a::f::n1".to_owned(), counts(10)), ("b::f::n1".to_owned(), counts(20))])
    }

    fn baseline() -> Baseline {
        let mut baseline = Baseline {
            rustc: "rustc 1".into(),
            valgrind: "valgrind 1".into(),
            iai_callgrind: "1".into(),
            benches: BTreeMap::new(),
        };
        baseline.accept(&report(), None);
        baseline
    }

    fn messages(differences: &[Difference]) -> Vec<String> {
        differences.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_same_counts_are_no_difference() {
        assert_eq!(baseline().compare(&report(), None), []);
    }

    #[test]
    fn every_exact_count_is_compared_in_both_directions() {
        for change in [
            |counts: &mut Counts, to| counts.instructions = to,
            |counts: &mut Counts, to| counts.conditional_branches = to,
            |counts: &mut Counts, to| counts.indirect_branches = to,
            |counts: &mut Counts, to| counts.data_reads = to,
            |counts: &mut Counts, to| counts.data_writes = to,
            |counts: &mut Counts, to| counts.allocations = Some(Allocations { blocks: to, bytes: 50 }),
            |counts: &mut Counts, to| counts.allocations = Some(Allocations { blocks: 50, bytes: to }),
        ] {
            let with = |to| {
                let mut report = report();
                change(report.get_mut("a::f::n1").expect("it is there"), to);
                report
            };
            let mut baseline = baseline();
            baseline.accept(&with(50), None);
            assert_eq!(baseline.compare(&with(50), None), []);
            for to in [49, 51] {
                let found = messages(&baseline.compare(&with(to), None));
                assert_eq!(found.len(), 1);
                assert!(found[0].ends_with(&format!(": 50 → {to}")), "{}", found[0]);
            }
        }
    }

    #[test]
    fn counts_of_what_allocates_have_a_tolerance_and_its_allocations_have_none() {
        let counts = |instructions, blocks| Counts {
            instructions,
            estimated_cycles: 100_000,
            allocations: Some(Allocations { blocks, bytes: 50 }),
            ..Counts::default()
        };
        let differences = |accepted: Counts, measured: Counts| {
            let mut baseline = baseline();
            baseline.accept(&Report::from([("a::f::n1".to_owned(), accepted)]), None);
            baseline.compare(&Report::from([("a::f::n1".to_owned(), measured)]), None).len()
        };
        assert_eq!(differences(counts(1000, 5), counts(1030, 5)), 0);
        assert_eq!(differences(counts(1000, 5), counts(970, 5)), 0);
        assert_eq!(differences(counts(1000, 5), counts(1031, 5)), 1);
        assert_eq!(differences(counts(1000, 5), counts(1000, 6)), 1);
        assert_eq!(differences(counts(1000, 0), counts(1001, 0)), 1, "it allocates nothing");
    }

    #[test]
    fn cycles_have_a_tolerance_of_a_hundredth() {
        let with = |cycles| {
            let mut report = report();
            report.get_mut("a::f::n1").expect("it is there").estimated_cycles = cycles;
            report
        };
        for (cycles, differences) in [(99_000, 0), (101_000, 0), (98_999, 1), (101_001, 1)] {
            assert_eq!(baseline().compare(&with(cycles), None).len(), differences, "{cycles}");
        }
        let mut small = baseline();
        small.accept(&with(200), None);
        for (cycles, differences) in [(270, 0), (271, 1), (130, 0), (129, 1)] {
            assert_eq!(small.compare(&with(cycles), None).len(), differences, "{cycles}");
        }
    }

    #[test]
    fn a_missing_and_an_extra_bench_are_differences() {
        let mut other = report();
        let moved = other.remove("a::f::n1").expect("it is there");
        other.insert("a::g::n1".to_owned(), moved);
        let expected = ["a::f::n1: in the baseline, but did not run", "a::g::n1: ran, but is not in the baseline"];
        assert_eq!(messages(&baseline().compare(&other, None)), expected);
    }

    #[test]
    fn a_count_that_is_no_longer_made_is_a_difference() {
        let mut other = report();
        other.get_mut("a::f::n1").expect("it is there").allocations = None;
        assert_eq!(messages(&baseline().compare(&other, None))[0], "a::f::n1: allocated blocks: 0 → not counted");
    }

    #[test]
    fn vanished_code_is_found() {
        let report = Report::from([("a::f::n1".to_owned(), counts(2)), ("a::g::n1".to_owned(), counts(3))]);
        assert_eq!(messages(&vanished(&report)), ["a::f::n1: 2 instructions: the compiler removed the measured code"]);
    }

    #[test]
    fn a_part_is_compared_and_accepted_alone() {
        let part = Report::from([("b::g::n1".to_owned(), counts(7))]);
        let mut baseline = baseline();
        assert_eq!(baseline.compare(&part, Some(&["b"])).len(), 2, "one missing, one extra, nothing of file a");
        baseline.accept(&part, Some(&["b"]));
        assert_eq!(baseline.benches.keys().collect::<Vec<_>>(), ["a::f::n1", "b::g::n1"]);
        baseline.accept(&part, None);
        assert_eq!(baseline.benches.keys().collect::<Vec<_>>(), ["b::g::n1"]);
    }

    #[test]
    fn what_is_written_is_read_again() {
        let text = baseline().to_text().expect("it can be written");
        assert_eq!(Baseline::parse(&text).expect("it can be read"), baseline());
        assert_eq!(text.lines().count(), 9, "one line a bench:\n{text}");
    }

    #[test]
    fn a_malformed_baseline_is_an_error() {
        let good = baseline().to_text().expect("it can be written");
        for text in [
            String::new(),
            "[]".to_owned(),
            good.replace("data_reads", "reads"),
            good.replace(": 10,", ": -10,").replace(":10,", ":-10,"),
        ] {
            assert!(matches!(Baseline::parse(&text), Err(BaselineError::Malformed(_))), "{text}");
        }
        assert!(matches!(Baseline::load(Path::new("no/such/file")), Err(BaselineError::Missing)));
    }
}
