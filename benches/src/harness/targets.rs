//! Targets: figures computed from the counts, with a limit each.

use std::{fmt, fs, path::Path};

use serde::Deserialize;

use super::{Event, Report};

/// A figure, and what it must not exceed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// How it is called.
    pub name: String,
    /// What the figure is, in words.
    pub what: String,
    /// Where the limit comes from.
    pub source: String,
    /// What is counted.
    pub event: Event,
    bench: String,
    minus: Option<String>,
    per_call: Option<PerCall>,
    at_most: Option<f64>,
    exactly: Option<f64>,
    documented: Option<f64>,
    within_percent: Option<f64>,
}

/// The cost of a call: the difference between two ids of a bench, by the calls between them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
struct PerCall {
    from: String,
    to: String,
    calls: u32,
}

/// What a figure is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// No more than this.
    AtMost(f64),
    /// This and nothing else.
    Exactly(f64),
    /// A documented figure and how far from it, in percent.
    Within {
        /// The figure.
        documented: f64,
        /// The distance.
        percent: f64,
    },
}

impl Limit {
    /// Whether the figure keeps the limit.
    pub fn holds(self, figure: f64) -> bool {
        match self {
            Self::AtMost(limit) => figure <= limit,
            Self::Exactly(limit) => figure == limit,
            Self::Within { documented, percent } => (figure - documented).abs() <= documented * percent / 100.0,
        }
    }
}

/// A target and its measured figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome<'a> {
    /// The target.
    pub target: &'a Target,
    /// Its limit.
    pub limit: Limit,
    /// The figure; `None` if its benches were not run.
    pub figure: Option<f64>,
}

impl Outcome<'_> {
    /// Whether a figure was measured and lies outside the limit.
    pub fn fails(&self) -> bool {
        self.figure.is_some_and(|figure| !self.limit.holds(figure))
    }
}

/// Targets that cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetError(String);

impl fmt::Display for TargetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for TargetError {}

/// Reads the file of targets.
///
/// # Errors
/// [`TargetError`] if it cannot be read or has a target without exactly one limit.
pub fn load(path: &Path) -> Result<Vec<Target>, TargetError> {
    parse(&fs::read_to_string(path).map_err(|error| TargetError(error.to_string()))?)
}

fn parse(text: &str) -> Result<Vec<Target>, TargetError> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        target: Vec<Target>,
    }
    let file: File = toml::from_str(text).map_err(|error| TargetError(error.to_string()))?;
    for target in &file.target {
        target.limit()?;
    }
    Ok(file.target)
}

/// The figures of all targets; those of files other than `measured_files` have none.
///
/// # Errors
/// [`TargetError`] if a target names a bench that is not in the report though its file is, or a count that the bench does not make.
pub fn evaluate<'a>(targets: &'a [Target], report: &Report, measured_files: &[&str]) -> Result<Vec<Outcome<'a>>, TargetError> {
    let outcome = |target: &'a Target| {
        let was_run = target.files().all(|file| measured_files.contains(&file));
        let figure = if was_run { Some(target.figure(report)?) } else { None };
        Ok(Outcome { target, limit: target.limit()?, figure })
    };
    targets.iter().map(outcome).collect()
}

impl Target {
    /// The bench files that the figure needs.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let benches = [Some(&self.bench), self.minus.as_ref()].into_iter().flatten();
        benches.map(|bench| bench.split("::").next().unwrap_or_default())
    }

    fn limit(&self) -> Result<Limit, TargetError> {
        match (self.at_most, self.exactly, self.documented, self.within_percent) {
            (Some(limit), None, None, None) => Ok(Limit::AtMost(limit)),
            (None, Some(limit), None, None) => Ok(Limit::Exactly(limit)),
            (None, None, Some(documented), Some(percent)) => Ok(Limit::Within { documented, percent }),
            _ => Err(self.error("needs one of at_most, exactly, documented with within_percent")),
        }
    }

    fn figure(&self, report: &Report) -> Result<f64, TargetError> {
        let minus = self.minus.as_ref().map_or(Ok(0.0), |bench| self.of_bench(bench, report))?;
        let counted = self.of_bench(&self.bench, report)? - minus;
        match &self.per_call {
            None => Ok(counted),
            Some(PerCall { calls: 0, .. }) => Err(self.error("has no calls")),
            // Divided only here: whole numbers up to here, so that a figure that is its limit exactly holds it.
            Some(PerCall { calls, .. }) => Ok(counted / f64::from(*calls)),
        }
    }

    /// What the bench counts, of all calls together.
    fn of_bench(&self, bench: &str, report: &Report) -> Result<f64, TargetError> {
        let count = |name: &str| {
            let counts = report.get(name).ok_or_else(|| self.error(&format!("there is no bench `{name}`")))?;
            let count = self.event.of(counts);
            // Exact: no count comes near 2^53.
            count.map(|count| count as f64).ok_or_else(|| self.error(&format!("`{name}` does not count {}", self.event.name())))
        };
        match &self.per_call {
            None => count(bench),
            Some(PerCall { from, to, .. }) => Ok(count(&format!("{bench}::{to}"))? - count(&format!("{bench}::{from}"))?),
        }
    }

    fn error(&self, reason: &str) -> TargetError {
        TargetError(format!("target `{}`: {reason}", self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::Counts;

    const SLOPE: &str = r#"per_call = { from = "n1", to = "n11", calls = 10 }"#;

    fn target(lines: &str) -> Result<Vec<Target>, TargetError> {
        parse(&format!("[[target]]\nname = \"t\"\nwhat = \"w\"\nsource = \"s\"\nevent = \"instructions\"\n{lines}\n"))
    }

    fn report() -> Report {
        let counts = |instructions| Counts { instructions, ..Counts::default() };
        [("a::f::n1", 15), ("a::f::n11", 105), ("a::empty::n1", 7), ("a::empty::n11", 47)]
            .into_iter()
            .map(|(name, instructions)| (name.to_owned(), counts(instructions)))
            .collect()
    }

    fn figure(lines: &str) -> Result<(f64, bool), TargetError> {
        let targets = target(lines)?;
        let outcomes = evaluate(&targets, &report(), &["a"])?;
        Ok((outcomes[0].figure.expect("the file was run"), outcomes[0].fails()))
    }

    #[test]
    fn figures_are_counts_differences_and_slopes() {
        assert_eq!(figure("bench = \"a::f::n11\"\nat_most = 105"), Ok((105.0, false)));
        assert_eq!(figure("bench = \"a::f::n11\"\nminus = \"a::empty::n11\"\nat_most = 57"), Ok((58.0, true)));
        assert_eq!(figure(&format!("bench = \"a::f\"\n{SLOPE}\nat_most = 9")), Ok((9.0, false)));
        assert_eq!(figure(&format!("bench = \"a::f\"\nminus = \"a::empty\"\n{SLOPE}\nexactly = 5")), Ok((5.0, false)));
        assert_eq!(figure(&format!("bench = \"a::f\"\n{SLOPE}\nexactly = 9.1")), Ok((9.0, true)), "below is wrong too");
    }

    #[test]
    fn a_documented_figure_has_a_range_on_both_sides() {
        let within = Limit::Within { documented: 200.0, percent: 0.5 };
        assert!(within.holds(199.0) && within.holds(201.0));
        assert!(!within.holds(198.9) && !within.holds(201.1));
    }

    #[test]
    fn what_was_not_run_has_no_figure() -> Result<(), TargetError> {
        let targets = target("bench = \"b::f::n1\"\nat_most = 1")?;
        let outcomes = evaluate(&targets, &report(), &["a"])?;
        assert_eq!((outcomes[0].figure, outcomes[0].fails()), (None, false));
        Ok(())
    }

    #[test]
    fn an_unknown_bench_or_count_is_an_error() {
        let error = figure("bench = \"a::g::n1\"\nat_most = 1").expect_err("there is no such bench");
        assert_eq!(error.to_string(), "target `t`: there is no bench `a::g::n1`");
        let targets = target("bench = \"a::f::n1\"\nat_most = 1").map(|mut targets| {
            targets[0].event = Event::AllocatedBlocks;
            targets
        });
        let error = evaluate(&targets.expect("it is complete"), &report(), &["a"]).expect_err("nothing was allocated");
        assert_eq!(error.to_string(), "target `t`: `a::f::n1` does not count allocated blocks");
    }

    #[test]
    fn a_target_has_exactly_one_limit() {
        for limits in ["", "at_most = 1\nexactly = 1", "documented = 1", "within_percent = 1", "at_most = 1\nwithin_percent = 1"] {
            assert!(target(&format!("bench = \"a::f::n1\"\n{limits}")).is_err(), "{limits}");
        }
        assert!(target("bench = \"a::f::n1\"\nat_most = 1\nunknown = 1").is_err());
        assert!(figure("bench = \"a::f\"\nper_call = { from = \"n1\", to = \"n11\", calls = 0 }\nat_most = 1").is_err());
    }

    #[test]
    fn the_targets_of_this_package_are_complete() {
        let targets = parse(include_str!("../../targets.toml")).expect("they can be read");
        assert!(targets.iter().all(|target| {
            target
                .files()
                .all(|file| ["append", "bufbuilder", "cancel", "counter", "gate", "kudu", "pool", "queue"].contains(&file))
        }));
    }
}
