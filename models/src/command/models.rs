//! The command `cargo models`.

use std::time::Duration;

use anyhow::{Result, bail};
use clap::Parser;

use super::{
    Verdict,
    build::{self, Binary, Kind},
    process::{self, End},
    progress::Progress,
    seconds, short, table,
};
use crate::explore::{
    Way,
    report::{Outcome, Report},
};

/// Explores every model in three ways: loom, loom with loads as read-modify-writes, and shuttle.
///
/// A model fails if an execution breaks an assertion, or if there were fewer executions than it asks for. The wrong steps on the
/// road to an algorithm (models/src/steps) must each be found by the checkers that they name.
#[derive(Debug, Parser)]
#[command(
    name = "models",
    bin_name = "cargo models",
    max_term_width = 100,
    after_help = "Exit status:\n  0  every model passed, every wrong step was found\n  1  one did not, or was not\n  2  could not run (no such name, or the models do not build)\n\nExamples:\n  cargo models                     everything but the long models\n  cargo models free_list           one structure\n  cargo models --show s1_no_tag    the interleaving that breaks a step"
)]
pub struct Arguments {
    /// Structures, such as counter or free_list, or models; all if none is named.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The long models and schedules as well.
    #[arg(long)]
    all: bool,
    /// Print the interleaving that breaks this step or model, instead of running the models.
    #[arg(long, value_name = "STEP", conflicts_with_all = ["names", "all"])]
    show: Option<String>,
}

/// Longer than any model takes, even a long one.
const LIMIT: Duration = Duration::from_secs(1800);

/// Runs the command; the tables go to standard output, the rest to standard error.
///
/// # Errors
/// Whatever keeps it from running the models.
pub fn run(arguments: &Arguments) -> Result<Verdict> {
    let progress = Progress::new();
    if let Some(step) = &arguments.show {
        return show(step, &progress);
    }
    let files = build::files()?;
    let mut done = Vec::new();
    for way in Way::ALL {
        progress.step(&format!("{}: building", way.name()));
        let binaries = build::build(way, &files)?;
        check_names(&arguments.names, &binaries)?;
        for binary in &binaries {
            let selected = selected(binary, &arguments.names, arguments.all);
            if !selected.is_empty() {
                progress.step(&format!("{}: {}", way.name(), binary.file.name));
                done.extend(explore(way, binary, &selected, arguments.all, &progress)?);
            }
        }
    }
    drop(progress);
    Ok(print(&done))
}

/// A model in one way.
struct Done {
    way: Way,
    kind: Kind,
    report: Report,
}

impl Done {
    fn is_good(&self) -> bool {
        matches!(self.report.outcome, Outcome::Passed | Outcome::Found | Outcome::Unseen)
    }
}

/// Every name must be a structure's or a model's: a name that selects nothing would pass without looking.
fn check_names(names: &[String], binaries: &[Binary]) -> Result<()> {
    for name in names {
        let known = |binary: &Binary| binary.file.is_about(name) || binary.tests.iter().any(|test| test.name == *name);
        if !binaries.iter().any(known) {
            let files = binaries.iter().map(|binary| binary.file.name.as_str()).collect::<Vec<_>>().join(", ");
            bail!("no structure and no model is called `{name}`; the models are in {files}");
        }
    }
    Ok(())
}

/// The tests to run: those named themselves, and those of the structures named, of these the long ones only if asked for.
fn selected<'a>(binary: &'a Binary, names: &[String], all: bool) -> Vec<&'a str> {
    let about = names.is_empty() || names.iter().any(|name| binary.file.is_about(name));
    let wanted = binary.tests.iter().filter(|test| names.contains(&test.name) || (about && (all || !test.long)));
    wanted.map(|test| test.name.as_str()).collect()
}

fn explore(way: Way, binary: &Binary, tests: &[&str], all: bool, progress: &Progress) -> Result<Vec<Done>> {
    let long = if all { &[("JETON_LONG", "1")][..] } else { &[] };
    let seen = |report: &Report| progress.detail(&format!("{}: {} ({} executions)", way.name(), report.model, report.executions));
    let said = process::run(&binary.program, tests, long, LIMIT, seen)?;
    let mut reports = said.reports;
    // A model that says nothing has not passed.
    for test in tests {
        if !reports.iter().any(|report| report.model == *test) {
            reports.push(silent(test, said.end, &said.stderr));
        }
    }
    // libtest fails if one of them panics; then one of the reports must say so.
    let failed = matches!(said.end, End::Exited(status) if !status.success());
    if failed && reports.iter().all(|report| !matches!(report.outcome, Outcome::Failed | Outcome::Missed)) {
        reports.push(silent(&binary.file.name, said.end, &said.stderr));
    }
    Ok(reports.into_iter().map(|report| Done { way, kind: binary.file.kind, report }).collect())
}

fn silent(test: &str, end: End, stderr: &str) -> Report {
    let how = match end {
        End::Exited(status) => format!("no report; {status}"),
        End::TimedOut => "no report in time".to_owned(),
    };
    let panic = stderr.lines().find(|line| line.contains("panicked at")).unwrap_or_default();
    let message = format!("{how} {panic}");
    let outcome = Outcome::Failed;
    Report { model: test.to_owned(), executions: 0, least: 0, milliseconds: 0, outcome, reached: false, message }
}

fn print(done: &[Done]) -> Verdict {
    let row = |Done { way, report, .. }: &Done| {
        let Report { model, executions, least, milliseconds, outcome, .. } = report;
        let numbers = [executions.to_string(), least.to_string(), seconds(*milliseconds)];
        [vec![model.clone(), way.name().to_owned()], numbers.to_vec(), vec![outcome.word().to_owned()]].concat()
    };
    let models: Vec<&Done> = sorted(done, Kind::Model);
    if !models.is_empty() {
        println!("{}\n", table(&["model", "way", "executions", "least", "time", "outcome"], models.iter().map(|done| row(done))));
    }
    let steps: Vec<&Done> = sorted(done, Kind::Steps);
    if !steps.is_empty() {
        let with_message = |done: &&Done| [row(done), vec![short(&done.report.message)]].concat();
        println!(
            "{}\n",
            table(&["step", "way", "executions", "least", "time", "outcome", "message"], steps.iter().map(with_message))
        );
    }
    let bad: Vec<&Done> = done.iter().filter(|done| !done.is_good()).collect();
    for Done { way, report, .. } in &bad {
        eprintln!("{}: {} {}: {}", way.name(), report.model, report.outcome.word(), report.message);
    }
    let executions: usize = done.iter().map(|done| done.report.executions).sum();
    println!("{} runs, {executions} executions, {} not as they must be", done.len(), bad.len());
    if bad.is_empty() && !done.is_empty() { Verdict::Good } else { Verdict::Bad }
}

/// By model, its ways beside each other.
fn sorted(done: &[Done], kind: Kind) -> Vec<&Done> {
    let mut some: Vec<&Done> = done.iter().filter(|done| done.kind == kind).collect();
    some.sort_by(|one, other| (&one.report.model, one.way).cmp(&(&other.report.model, other.way)));
    some
}

/// Prints the first failing interleaving that one of the ways finds.
fn show(step: &str, progress: &Progress) -> Result<Verdict> {
    let files = build::files()?;
    for way in Way::ALL {
        progress.step(&format!("{}: building", way.name()));
        let binaries = build::build(way, &files)?;
        check_names(&[step.to_owned()], &binaries)?;
        let Some(binary) = binaries.iter().find(|binary| binary.tests.iter().any(|test| test.name == step)) else {
            bail!("`{step}` is a structure; --show takes one of its steps or models");
        };
        progress.step(&format!("{}: {step}", way.name()));
        let said = process::run(&binary.program, &[step], &[("JETON_TRACE", "1")], LIMIT, |_| {})?;
        if said.steps.is_empty() {
            continue;
        }
        let row = |step: &crate::explore::report::Step| vec![step.thread.to_string(), step.what.clone(), step.state.clone()];
        println!("{}\n", table(&["thread", "step", "state"], said.steps.iter().map(row)));
        if let Some(report) = said.reports.first() {
            println!("{} in execution {} of {}: {}", way.name(), report.executions, report.model, report.message);
        }
        return Ok(Verdict::Good);
    }
    eprintln!("no way finds an interleaving that breaks {step}");
    Ok(Verdict::Bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::build::{File, Test};

    fn binary(tests: &[(&str, bool)]) -> Binary {
        let file = File::of("loom_counter").expect("a model");
        let tests = tests.iter().map(|(name, long)| Test { name: (*name).to_owned(), long: *long }).collect();
        Binary { file, program: "none".into(), tests }
    }

    #[test]
    fn names_select_structures_and_models() {
        let binary = binary(&[("short", false), ("long", true)]);
        let select = |names: &[&str], all| selected(&binary, &names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), all);
        assert_eq!(select(&[], false), ["short"]);
        assert_eq!(select(&[], true), ["short", "long"]);
        assert_eq!(select(&["counter"], false), ["short"]);
        assert_eq!(select(&["long"], false), ["long"]);
        assert!(select(&["gate"], true).is_empty());
        assert!(check_names(&["counter".into(), "long".into()], std::slice::from_ref(&binary)).is_ok());
        assert!(check_names(&["gate".into()], &[binary]).is_err());
    }

    fn done(outcome: Outcome) -> Done {
        let mut report = silent("a_model", End::TimedOut, "");
        report.outcome = outcome;
        Done { way: Way::Loom, kind: Kind::Model, report }
    }

    #[test]
    fn nothing_run_and_anything_bad_is_bad() {
        assert_eq!(print(&[]), Verdict::Bad);
        assert_eq!(print(&[done(Outcome::Passed), done(Outcome::Found), done(Outcome::Unseen)]), Verdict::Good);
        assert_eq!(print(&[done(Outcome::Passed), done(Outcome::Failed)]), Verdict::Bad);
        assert_eq!(print(&[done(Outcome::Passed), done(Outcome::Missed)]), Verdict::Bad);
    }
}
