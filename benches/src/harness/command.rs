//! The command `cargo icount`.

use std::{
    fmt,
    io::{self, IsTerminal},
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Parser;
use indicatif::{ProgressBar, ProgressStyle};

use super::{
    Report,
    baseline::{self, Baseline, BaselineError},
    cost, environment, measure, runner, table,
    targets::{self, Outcome},
};

/// Counts instructions, branches and memory accesses of the benches under valgrind and compares them with the baseline.
///
/// All counts are exact: they are equal to those in benches/baseline or the command fails, in both directions. Estimated cycles have
/// a tolerance of 1 % (70 cycles in short benches); mispredictions and cache misses are shown only. The figures that
/// benches/targets.toml limits are computed from the counts and must keep their limits.
#[derive(Debug, Parser)]
#[command(
    name = "icount",
    bin_name = "cargo icount",
    max_term_width = 100,
    after_help = "Exit status:\n  0  all counts equal, all targets kept\n  1  a count, or the set of benches, differs; or a target is exceeded\n  2  could not measure or compare (also: no valgrind, no baseline, a baseline of another rustc)\n\nExamples:\n  cargo icount                 all benches\n  cargo icount counter         those of benches/icount/counter.rs only\n  cargo icount --bless         accept the counts; commit the changed baseline and say why\n\nNeeds valgrind (Debian, Ubuntu: apt-get install valgrind). Installs iai-callgrind-runner into the target folder itself."
)]
pub struct Arguments {
    /// Bench files, by structure or paper, such as counter or kudu; all if none is named.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write the counts into the baseline instead of comparing; of the named files only, if any.
    ///
    /// Exceeded targets still fail, and nothing is written if the compiler removed the code of a bench.
    #[arg(long)]
    bless: bool,
}

/// What the exit status says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All counts are equal, all targets kept.
    Equal,
    /// Something differs.
    Different,
}

/// Runs the command; the tables go to standard output, the rest to standard error.
///
/// # Errors
/// Whatever keeps it from measuring or comparing.
pub fn run(arguments: &Arguments) -> anyhow::Result<Verdict> {
    let known = environment::bench_files()?;
    let names: Vec<&str> = arguments.names.iter().map(String::as_str).collect();
    measure::check_names(&names)?;
    let part = (!names.is_empty()).then_some(names.as_slice());
    let files: Vec<&str> = known.iter().map(String::as_str).filter(|file| part.is_none_or(|part| part.contains(file))).collect();

    let targets = targets::load(&environment::benches_dir()?.join("targets.toml")).context("benches/targets.toml")?;
    if let Some(target) = targets.iter().find(|target| !target.files().all(|file| known.iter().any(|name| name == file))) {
        bail!("benches/targets.toml: target `{}` names a bench file that is not there", target.name);
    }
    let tools = Tools::find()?;
    let path = environment::benches_dir()?.join("baseline").join(format!("{}.json", tools.host));
    let before = tools.usable(Baseline::load(&path), arguments.bless, part.is_some())?;

    let report = count(&files)?;

    let mut differences = baseline::vanished(&report);
    let vanished = !differences.is_empty();
    if let Some(before) = &before {
        differences.extend(before.compare(&report, part));
    }
    let outcomes = targets::evaluate(&targets, &report, &files)?;
    println!(
        "{}\n\n{}\n\n{}\n",
        table::counts(&report, before.as_ref(), &differences),
        table::slopes(&report),
        table::targets(&outcomes)
    );

    let targets_kept = print_failures(&outcomes);
    for difference in &differences {
        eprintln!("{}: {difference}", if arguments.bless { "changed" } else { "different" });
    }
    if arguments.bless && !vanished {
        let baseline = tools.bless(before, &report, part);
        baseline.save(&path).context("the baseline cannot be written")?;
        eprintln!("wrote benches/baseline/{}.json: {} benches", tools.host, report.len());
        for page in cost::write_pages(&baseline, &tools.host, &files)? {
            eprintln!("wrote core/docs/cost/{page}.md");
        }
        return Ok(if targets_kept { Verdict::Equal } else { Verdict::Different });
    }
    if differences.is_empty() && targets_kept {
        eprintln!("equal to the baseline: {} benches", report.len());
        return Ok(Verdict::Equal);
    }
    if vanished && arguments.bless {
        eprintln!("nothing written: a count of nearly zero is never accepted");
    } else if !differences.is_empty() {
        eprintln!("if this is meant, accept it: `cargo icount --bless`, and say why in the commit");
        if let Some(before) = &before {
            tools.print_other_tools(before);
        }
    }
    Ok(Verdict::Different)
}

/// Measures with a sign of life on standard error.
fn count(files: &[&str]) -> anyhow::Result<Report> {
    let spinner = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg} ({elapsed})")?);
    let on_terminal = io::stderr().is_terminal();
    if on_terminal {
        spinner.enable_steady_tick(Duration::from_millis(120));
    }
    let result = measure(files, &mut |message| {
        if on_terminal && !message.starts_with("installing") {
            spinner.set_message(message.to_owned());
        } else {
            spinner.suspend(|| eprintln!("{message}"));
        }
    });
    spinner.finish_and_clear();
    result.inspect_err(|error| eprint!("{}", error.output())).map_err(Into::into)
}

/// Whether all targets that were computed are kept; a line for each that is not.
fn print_failures(outcomes: &[Outcome<'_>]) -> bool {
    let failing = outcomes.iter().filter(|outcome| outcome.fails());
    failing.map(|outcome| eprintln!("target exceeded: {} ({})", outcome.target.name, outcome.target.source)).count() == 0
}

/// What the counts are taken with.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Tools {
    rustc: String,
    host: String,
    valgrind: String,
    iai_callgrind: String,
}

impl Tools {
    fn find() -> anyhow::Result<Self> {
        let rustc = environment::rustc()?;
        let (valgrind, iai_callgrind) = (environment::valgrind_version()?, runner::required_version()?);
        Ok(Self { rustc: rustc.version, host: rustc.host, valgrind, iai_callgrind })
    }

    /// The baseline, if it can be compared with; to bless, no or another baseline will do, unless a part of it is to be kept.
    fn usable(&self, loaded: Result<Baseline, BaselineError>, bless: bool, part: bool) -> anyhow::Result<Option<Baseline>> {
        let file = format!("benches/baseline/{}.json", self.host);
        match loaded {
            Ok(baseline) if baseline.rustc == self.rustc => Ok(Some(baseline)),
            Ok(_) | Err(BaselineError::Malformed(_)) if bless && !part => Ok(None),
            Ok(baseline) => bail!(
                "{file} was taken with {}, this is {}: use that toolchain, or take all counts anew with `cargo icount --bless`",
                baseline.rustc,
                self.rustc
            ),
            Err(BaselineError::Missing) if bless => Ok(None),
            Err(BaselineError::Missing) => bail!("{file}: there is no baseline; `cargo icount --bless` writes it"),
            Err(error) => bail!("{file}: {error}; restore it, or write it anew with `cargo icount --bless`"),
        }
    }

    fn bless(&self, before: Option<Baseline>, report: &Report, part: Option<&[&str]>) -> Baseline {
        let benches = before.map(|baseline| baseline.benches).unwrap_or_default();
        let Self { rustc, valgrind, iai_callgrind, .. } = self.clone();
        let mut baseline = Baseline { rustc, valgrind, iai_callgrind, benches };
        baseline.accept(report, part);
        baseline
    }

    fn print_other_tools(&self, baseline: &Baseline) {
        let print = |then: &str, now: &dyn fmt::Display| eprintln!("note: the baseline was taken with {then}, this is {now}");
        if baseline.valgrind != self.valgrind {
            print(&baseline.valgrind, &self.valgrind);
        }
        if baseline.iai_callgrind != self.iai_callgrind {
            print(&format!("iai-callgrind {}", baseline.iai_callgrind), &self.iai_callgrind);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Tools {
        Tools {
            rustc: "rustc 1.95.0 (a)".into(),
            host: "host".into(),
            valgrind: "valgrind-3".into(),
            iai_callgrind: "0.16.1".into(),
        }
    }

    fn baseline(rustc: &str) -> Baseline {
        Baseline { rustc: rustc.into(), ..tools().bless(None, &Report::new(), None) }
    }

    #[test]
    fn a_baseline_of_the_same_rustc_is_used() -> anyhow::Result<()> {
        let usable = tools().usable(Ok(baseline("rustc 1.95.0 (a)")), false, false)?;
        assert_eq!(usable, Some(baseline("rustc 1.95.0 (a)")));
        Ok(())
    }

    #[test]
    fn a_baseline_of_another_rustc_is_refused() -> anyhow::Result<()> {
        for (bless, part) in [(false, false), (false, true), (true, true)] {
            let error = tools().usable(Ok(baseline("rustc 1.95.0 (b)")), bless, part).expect_err("another revision");
            assert!(error.to_string().contains("was taken with rustc 1.95.0 (b), this is rustc 1.95.0 (a)"), "{error}");
        }
        assert_eq!(tools().usable(Ok(baseline("rustc 1.95.0 (b)")), true, false)?, None);
        Ok(())
    }

    #[test]
    fn without_a_baseline_there_is_only_blessing() -> anyhow::Result<()> {
        let error = tools().usable(Err(BaselineError::Missing), false, false).expect_err("nothing to compare with");
        assert!(error.to_string().contains("cargo icount --bless"), "{error}");
        assert_eq!(tools().usable(Err(BaselineError::Missing), true, true)?, None);
        Ok(())
    }

    #[test]
    fn a_malformed_baseline_is_replaced_only_as_a_whole() -> anyhow::Result<()> {
        let malformed = || Err(BaselineError::Malformed("no JSON".into()));
        assert!(tools().usable(malformed(), false, false).is_err());
        assert!(tools().usable(malformed(), true, true).is_err());
        assert_eq!(tools().usable(malformed(), true, false)?, None);
        Ok(())
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
