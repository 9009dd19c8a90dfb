//! The command `cargo weaken`.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;

use super::{
    Verdict,
    build::{self, Binary, Kind},
    process::{self, End, Said},
    progress::Progress,
    short, table,
};
use crate::{
    explore::{Way, report::Outcome},
    pages::{self, Evidence, Row, Use, workspace},
};

/// Lowers each ordering of the library by one step and expects the model that its page names to fail.
///
/// Only plain loom counts: loads as read-modify-writes order more than loads do, and shuttle knows no orderings. A model that passes
/// shows nothing if it also fails without the change, so each is run unchanged first.
#[derive(Debug, Parser)]
#[command(
    name = "weaken",
    bin_name = "cargo weaken",
    max_term_width = 100,
    after_help = "Exit status:\n  0  every weakened ordering was caught or is argued, and at most 5 % of all rows are argued\n  1  one survived, too many are argued, or a model fails unchanged\n  2  could not run (no such name, no such model, or the models do not build)\n\nExamples:\n  cargo weaken                  every row, by the model that its page names\n  cargo weaken counter claim-2  the rows of a structure, and one row\n  cargo weaken --search         by all models: which ones catch it?"
)]
pub struct Arguments {
    /// Structures, such as counter or free_list, or rows, such as counter-16; all if none is named.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Try all models instead of the named one.
    #[arg(long)]
    search: bool,
}

/// Argued rows are at most this part of all rows.
const ARGUED_PERCENT: usize = 5;

/// A weakened model that takes longer has caught nothing.
const LIMIT: Duration = Duration::from_secs(120);

/// An operation of the code and its line in a table.
struct Operation {
    row: Row,
    code: Use,
}

impl Operation {
    /// Whether `name` is the row, or the structure that it belongs to.
    fn is(&self, name: &str) -> bool {
        let name = name.replace('_', "-");
        self.row.name == name || self.row.name.rsplit_once('-').is_some_and(|(structure, _)| structure == name)
    }
}

/// Runs the command; the tables go to standard output, the rest to standard error.
///
/// # Errors
/// Whatever keeps it from weakening.
pub fn run(arguments: &Arguments) -> Result<Verdict> {
    let operations = operations()?;
    for name in &arguments.names {
        if !operations.iter().any(|operation| operation.is(name)) {
            bail!("no row and no structure with rows is called `{name}`");
        }
    }
    let selected: Vec<&Operation> = operations
        .iter()
        .filter(|operation| arguments.names.is_empty() || arguments.names.iter().any(|name| operation.is(name)))
        .collect();
    let progress = Progress::new();
    progress.step("loom: building");
    let mut binaries = build::build(Way::Loom, &build::files()?)?;
    binaries.retain(|binary| binary.file.kind == Kind::Model);
    let models = Models { binaries, progress };

    let mut bad = controls(&selected, &models, arguments.search)?;
    let mut lines = Vec::new();
    for operation in &selected {
        for (line, good) in weaken(operation, &models, arguments.search)? {
            if !good {
                bad.push(format!("{}: {} instead of {} {}", operation.row.name, line[3], line[2], line[5]));
            }
            lines.push(line);
        }
    }
    drop(models);
    println!("{}\n", table(&["row", "operation", "ordering", "weakened to", "caught by", "message"], lines));
    bad.extend(too_many_argued(&operations));
    print_summary(&selected, &bad);
    Ok(if bad.is_empty() { Verdict::Good } else { Verdict::Bad })
}

/// All operations with their rows; where the two do not fit, the `pages` test says how.
fn operations() -> Result<Vec<Operation>> {
    let root = workspace();
    let mut sources = pages::library(&root).context("the library's sources")?;
    sources.extend(pages::free_list(&root).context("the free list's sources")?);
    let rows = pages::rows(&sources).map_err(|errors| anyhow::anyhow!("{}", errors.join("\n")))?;
    let mut rows: BTreeMap<String, Row> = rows.into_iter().map(|row| (row.name.clone(), row)).collect();
    let with_row = |code: Use| {
        let row = rows.remove(&code.row).with_context(|| format!("{}: {} stands in no table", code.place, code.row))?;
        Ok(Operation { row, code })
    };
    let mut operations = pages::uses(&sources).into_iter().map(with_row).collect::<Result<Vec<_>>>()?;
    let number = |name: &str| name.rsplit_once('-').and_then(|(_, number)| number.parse::<u32>().ok());
    let key = |operation: &Operation| {
        let name = &operation.row.name;
        (name.rsplit_once('-').map(|(structure, _)| structure.to_owned()), number(name))
    };
    operations.sort_by_key(key);
    Ok(operations)
}

/// The built models.
struct Models {
    binaries: Vec<Binary>,
    progress: Progress,
}

impl Models {
    fn binary_of(&self, model: &str) -> Option<&Binary> {
        self.binaries.iter().find(|binary| binary.tests.iter().any(|test| test.name == model))
    }

    /// The models of the row's evidence, each weaker ordering of which one of them must catch.
    fn named<'a>(&self, operation: &'a Operation) -> Result<Vec<(&Binary, &'a str)>> {
        let Evidence::Tests(names) = &operation.row.evidence else {
            bail!("{}: {} names no model", operation.row.place, operation.row.name)
        };
        let models: Vec<_> = names.iter().filter_map(|name| Some((self.binary_of(name)?, name.as_str()))).collect();
        ensure!(!models.is_empty(), "{}: no evidence of {} is a model", operation.row.place, operation.row.name);
        Ok(models)
    }

    /// What becomes of a weakened ordering in the models of its row's evidence, up to the one that catches it, and that one's name.
    fn fate_in_named(&self, operation: &Operation, setting: &str) -> Result<(String, Fate)> {
        let mut survived = Vec::new();
        for (binary, model) in self.named(operation)? {
            match fate(&self.run(binary, &[model], Some(setting))?, model) {
                Fate::Survived(why) => survived.push(why),
                caught => return Ok((model.to_owned(), caught)),
            }
        }
        Ok((String::new(), Fate::Survived(survived.join(", "))))
    }

    fn run(&self, binary: &Binary, models: &[&str], weakening: Option<&str>) -> Result<Said> {
        let weakening: Vec<(&str, &str)> = weakening.map(|setting| ("JETON_WEAKEN", setting)).into_iter().collect();
        process::run(&binary.program, models, &weakening, LIMIT, |_| {})
    }

    /// All models but the long ones, by their program.
    fn all(&self) -> impl Iterator<Item = (&Binary, Vec<&str>)> {
        self.binaries.iter().map(|binary| {
            let short = binary.tests.iter().filter(|test| !test.long);
            (binary, short.map(|test| test.name.as_str()).collect())
        })
    }
}

/// Runs the models unchanged; returns those that fail.
fn controls(operations: &[&Operation], models: &Models, search: bool) -> Result<Vec<String>> {
    let mut runs: BTreeMap<String, (&Binary, BTreeSet<&str>)> = BTreeMap::new();
    let mut add = |binary, model| _ = runs.entry(name_of(binary)).or_insert((binary, BTreeSet::new())).1.insert(model);
    for operation in operations.iter().filter(|operation| matches!(operation.row.evidence, Evidence::Tests(_))) {
        models.named(operation)?.into_iter().for_each(|(binary, model)| add(binary, model));
    }
    if search {
        models.all().for_each(|(binary, tests)| tests.into_iter().for_each(|test| add(binary, test)));
    }
    let mut failing = Vec::new();
    for (file, (binary, tests)) in runs {
        models.progress.step(&format!("unchanged: {file}"));
        let tests: Vec<&str> = tests.into_iter().collect();
        let said = models.run(binary, &tests, None)?;
        let passed = |test: &&str| said.reports.iter().any(|report| report.model == **test && report.outcome == Outcome::Passed);
        failing.extend(tests.iter().filter(|test| !passed(test)).map(|test| format!("{test} fails without any change")));
    }
    Ok(failing)
}

fn name_of(binary: &Binary) -> String {
    binary.file.name.clone()
}

/// What became of a weakened model.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Fate {
    Caught(String),
    Survived(String),
}

/// The lines of one operation, and whether each is as it must be.
fn weaken(operation: &Operation, models: &Models, search: bool) -> Result<Vec<(Vec<String>, bool)>> {
    let Operation { row, code } = operation;
    let line = |weaker: &str, by: &str, message: &str| {
        [&row.name, &row.operation, &row.ordering, weaker, by, &short(message)].map(|cell| cell.to_owned()).to_vec()
    };
    let weaker = code.weaker();
    if weaker.is_empty() {
        return Ok(vec![(line("–", "–", "nothing weaker"), true)]);
    }
    if let Evidence::Argued(argument) = &row.evidence
        && !search
    {
        return Ok(vec![(line(&weaker.join(", "), "argued", argument), true)]);
    }
    let mut lines = Vec::new();
    for weaker in weaker {
        let setting = format!("{}={weaker}", row.name);
        models.progress.step(&setting);
        let (by, fate) = if search { search_all(models, &setting)? } else { models.fate_in_named(operation, &setting)? };
        let argued = matches!(row.evidence, Evidence::Argued(_));
        lines.push(match fate {
            Fate::Caught(message) => (line(weaker, &by, &message), true),
            Fate::Survived(why) => (line(weaker, "nothing", &format!("survived: {why}")), argued),
        });
    }
    Ok(lines)
}

/// All models on one weakened ordering: the names of those that catch it, and what the first of them says.
fn search_all(models: &Models, setting: &str) -> Result<(String, Fate)> {
    let mut caught = Vec::new();
    let mut first = None;
    for (binary, tests) in models.all() {
        let said = models.run(binary, &tests, Some(setting))?;
        for test in tests {
            if let Fate::Caught(message) = fate(&said, test) {
                caught.push(test);
                first.get_or_insert(message);
            }
        }
    }
    Ok((caught.join(", "), first.map_or_else(|| Fate::Survived("all models pass".to_owned()), Fate::Caught)))
}

/// Panics that say something about the machinery or its limits, and nothing about the weakened program.
const NOT_CAUGHT: [&str; 3] = ["exceeded maximum number of branches", "there is no such thing as", "JETON_WEAKEN"];

fn fate(said: &Said, model: &str) -> Fate {
    let report = said.reports.iter().find(|report| report.model == model);
    match (report, said.end) {
        (_, End::TimedOut) => Fate::Survived("not done in time".to_owned()),
        (Some(report), _) if report.outcome == Outcome::Failed => {
            if NOT_CAUGHT.iter().any(|limit| report.message.contains(limit)) {
                Fate::Survived(report.message.clone())
            } else {
                Fate::Caught(report.message.clone())
            }
        }
        (Some(report), _) if !report.reached => Fate::Survived(format!("{model} never comes to this operation")),
        (Some(_), _) => Fate::Survived(format!("{model} passes")),
        // Status 2 is how the shim refuses a setting.
        (None, End::Exited(status)) if status.code() == Some(2) => Fate::Survived("the shim refuses the setting".to_owned()),
        (None, End::Exited(status)) if status.success() => Fate::Survived(format!("{model} says nothing")),
        (None, End::Exited(status)) => Fate::Caught(format!("crash: {status}")),
    }
}

fn too_many_argued(operations: &[Operation]) -> Option<String> {
    let argued = operations.iter().filter(|operation| matches!(operation.row.evidence, Evidence::Argued(_))).count();
    (argued * 100 > operations.len() * ARGUED_PERCENT)
        .then(|| format!("{argued} of {} rows are argued: at most {ARGUED_PERCENT} % may be", operations.len()))
}

fn print_summary(operations: &[&Operation], bad: &[String]) {
    let count = |f: fn(&Operation) -> bool| operations.iter().filter(|operation| f(operation)).count();
    let argued = count(|operation| matches!(operation.row.evidence, Evidence::Argued(_)));
    let weakest = count(|operation| operation.code.weaker().is_empty());
    println!("{} rows: {weakest} with nothing weaker, {argued} argued, {} not as they must be", operations.len(), bad.len());
    bad.iter().for_each(|line| eprintln!("{line}"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::report::Report;

    fn said(outcome: Outcome, reached: bool, message: &str) -> Said {
        let report =
            Report { model: "m".into(), executions: 1, least: 0, milliseconds: 0, outcome, reached, message: message.into() };
        Said { reports: vec![report], end: End::Exited(Default::default()), ..Said::default() }
    }

    #[test]
    fn only_a_failure_of_the_model_itself_has_caught_something() {
        assert_eq!(fate(&said(Outcome::Failed, true, "an ID twice"), "m"), Fate::Caught("an ID twice".into()));
        let is_survivor = |said: &Said| matches!(fate(said, "m"), Fate::Survived(_));
        assert!(is_survivor(&said(Outcome::Passed, true, "")));
        assert_eq!(fate(&said(Outcome::Passed, false, ""), "m"), Fate::Survived("m never comes to this operation".into()));
        assert!(is_survivor(&said(Outcome::Failed, true, "Model exceeded maximum number of branches. This is often")));
        assert!(is_survivor(&said(Outcome::Failed, true, "there is no such thing as an acquire store")));
        assert!(is_survivor(&Said { end: End::TimedOut, ..said(Outcome::Failed, true, "an ID twice") }));
        assert!(is_survivor(&Said { end: End::Exited(Default::default()), ..Said::default() }));
    }

    #[test]
    #[cfg(unix)]
    fn a_crash_has_caught_something_and_a_refused_setting_has_not() {
        use std::os::unix::process::ExitStatusExt;
        let with = |raw| Said { end: End::Exited(std::process::ExitStatus::from_raw(raw)), ..Said::default() };
        assert!(matches!(fate(&with(6), "m"), Fate::Caught(_)));
        assert!(matches!(fate(&with(2 << 8), "m"), Fate::Survived(_)));
    }

    #[test]
    fn rows_are_selected_by_name_and_by_structure() {
        let operations = operations().expect("the tables fit the code");
        let names = |name: &str| operations.iter().filter(|operation| operation.is(name)).count();
        assert_eq!(names("free_list"), 8);
        assert_eq!((names("free-list-7"), names("free"), names("no-such-row")), (1, 0, 0));
        assert!(names("counter") > 7);
    }

    #[test]
    fn more_than_a_twentieth_may_not_be_argued() {
        let operation = |argued: bool| {
            let evidence = if argued { Evidence::Argued("x".into()) } else { Evidence::NothingWeaker };
            let (name, place) = ("x-1".to_owned(), "x.rs:1".to_owned());
            let row = Row { name: name.clone(), operation: "x".into(), ordering: "Relaxed".into(), evidence, place: place.clone() };
            Operation { row, code: Use { row: name, ordering: "Relaxed".into(), fence: false, place } }
        };
        let with = |argued: usize| (0..40).map(|number| operation(number < argued)).collect::<Vec<_>>();
        assert_eq!(too_many_argued(&with(2)), None);
        assert!(too_many_argued(&with(3)).is_some());
    }
}
