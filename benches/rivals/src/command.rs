//! The command `cargo rivals`.

use std::{
    fs,
    io::{self, IsTerminal},
    path::PathBuf,
    time::Duration,
};

use anyhow::{Context, bail};
use clap::{Parser, Subcommand, value_parser};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    STRUCTURES,
    contender::Structure,
    cpu,
    machine::Machine,
    report::{self, ReportRow, Status},
    run::{self, FEWEST_WINDOWS, Plan},
    table,
};

/// Times our structures and their peers, in turn, with one thread and with two.
///
/// Every contender works for windows of a millisecond. A window counts only if its threads, each on a CPU of its own, had their CPU for
/// 97 % of the time and started within 50 µs; a row with too few such windows is `busy` instead of a number. Ratios between rows of one
/// run mean something; single times belong to this machine and this hour, and so no ratio makes the command fail.
#[derive(Debug, Parser)]
#[command(
    name = "rivals",
    bin_name = "cargo rivals",
    max_term_width = 100,
    args_conflicts_with_subcommands = true,
    after_help = "Exit status:\n  0  measured, whatever the ratios are, or said why not (busy, one CPU)\n  2  could not measure: an unknown name, a CPU that may not be used, a contender of ours with a wrong result\n\nExamples:\n  cargo rivals                       everything\n  cargo rivals counter --json c.json its table, and its rows as JSON\n  cargo rivals list                  what is compared\n\nNeeds Linux. For figures with two threads, stop what else uses the CPUs."
)]
pub struct Arguments {
    /// Structures, such as counter; all if none is named.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Write the rows into FILE as well, as an array of JSON objects.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Undisturbed windows for each row.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = value_parser!(u32).range(FEWEST_WINDOWS as i64..))]
    windows: u32,
    /// Stop after SECONDS for each structure, with the windows that there are [default: 60 for counter, 150 for pool and gate, 240 for cancel,
    /// 120 for append].
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u32>,
    /// The two CPUs for the threads [default: the first two that this process may use].
    #[arg(long, value_name = "A,B", value_delimiter = ',', num_args = 1)]
    cpus: Vec<usize>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List the structures, their groups and contenders.
    List,
}

/// Runs the command; the tables go to standard output, the rest to standard error.
///
/// # Errors
/// Whatever keeps it from measuring; never a ratio.
pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    if let Some(Command::List) = arguments.command {
        list();
        return Ok(());
    }
    let structures = structures(&arguments.names)?;
    let allowed = cpu::allowed().context("the CPUs of this process are unknown")?;
    let cpus = cpus(&arguments.cpus, &allowed)?;
    let plan = |structure: &Structure| {
        let limit = Duration::from_secs(arguments.seconds.unwrap_or(structure.seconds).into());
        Plan { windows: arguments.windows as usize, limit, cpus: cpus.clone() }
    };
    if let Some(path) = &arguments.json {
        // Before the minutes of measuring, not after them.
        fs::write(path, "").with_context(|| format!("{} cannot be written", path.display()))?;
    }
    let mut machine = Machine::look(allowed.len(), &cpus);

    let measured = structures.iter().map(|&structure| Ok((structure, measure(structure, &plan(structure))?)));
    let measured = measured.collect::<anyhow::Result<Vec<_>>>()?;
    machine.look_again();
    let rows = measured.iter().flat_map(|(structure, rows)| report::rows(structure, rows, cpus.len(), &machine));
    let rows: Vec<_> = rows.collect();

    println!("{}\n{}", table::figures(&rows), table::targets(&rows));
    print_machine(&machine);
    explain_missing(&rows, &machine);
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&rows)? + "\n";
        fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    }
    Ok(())
}

fn list() {
    for structure in STRUCTURES {
        for group in structure.groups {
            println!("{} {}: {}", structure.name, group.name, group.operation);
            for entry in group.entries {
                println!("  {}{}", entry.name, if entry.most_threads == 1 { " (one thread)" } else { "" });
            }
        }
    }
}

fn structures(names: &[String]) -> anyhow::Result<Vec<&'static Structure>> {
    if let Some(unknown) = names.iter().find(|name| STRUCTURES.iter().all(|structure| structure.name != **name)) {
        let known: Vec<_> = STRUCTURES.iter().map(|structure| structure.name).collect();
        bail!("there is no structure `{unknown}`; there are: {}", known.join(", "));
    }
    let named = |structure: &&Structure| names.is_empty() || names.iter().any(|name| name == structure.name);
    Ok(STRUCTURES.iter().filter(named).collect())
}

/// Two CPUs, or the only one.
fn cpus(named: &[usize], allowed: &[usize]) -> anyhow::Result<Vec<usize>> {
    if let Some(other) = named.iter().find(|cpu| !allowed.contains(cpu)) {
        bail!("CPU {other} may not be used by this process; these may: {allowed:?}");
    }
    match named {
        [] => Ok(allowed.iter().copied().take(2).collect()),
        [a, b] if a != b => Ok(vec![*a, *b]),
        _ => bail!("--cpus takes two different CPUs, such as 0,1"),
    }
}

fn measure(structure: &'static Structure, plan: &Plan) -> anyhow::Result<Vec<run::Row>> {
    let style = ProgressStyle::with_template("{spinner} {msg} [{bar:30}] {pos} of {len} windows in each row ({elapsed})")?;
    let bar = ProgressBar::new(plan.windows as u64).with_style(style).with_message(structure.name);
    if !io::stderr().is_terminal() {
        eprintln!("{}: {} windows in each row, at most {} s", structure.name, plan.windows, plan.limit.as_secs());
    }
    let rows = run::run(structure, plan, &mut |windows| bar.set_position(windows as u64));
    bar.finish_and_clear();
    Ok(rows?)
}

fn print_machine(machine: &Machine) {
    let Machine { cpu, allowed_cpus, used_cpus, rustc, revision, load_before, load_after } = machine;
    println!("{cpu}; CPUs {used_cpus:?} of {allowed_cpus}; {rustc}; revision {revision}");
    println!("load before: {load_before}, after: {load_after}");
    println!("ns: median per operation, loop and black_box included (first row); × reference and ours × faster: ratios of medians");
}

fn explain_missing(rows: &[ReportRow], machine: &Machine) {
    let count = |status| rows.iter().filter(|row| row.status == status).count();
    if count(Status::OneCpu) > 0 {
        eprintln!("this process may use one CPU only: no figures with two threads");
    }
    let busy = count(Status::Busy);
    if busy > 0 {
        eprintln!(
            "busy: {busy} rows have fewer than {FEWEST_WINDOWS} undisturbed windows; load {}. Stop what else runs, or give more \
             --seconds. (A row of a mutex can also be busy because its threads sleep.)",
            machine.load_after
        );
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn names_choose_structures() -> anyhow::Result<()> {
        assert_eq!(structures(&[])?.len(), STRUCTURES.len());
        assert_eq!(structures(&["counter".to_owned()])?.len(), 1);
        let error = structures(&["count".to_owned()]).expect_err("no such structure").to_string();
        assert!(error.contains("`count`") && error.contains("counter"), "{error}");
        Ok(())
    }

    #[test]
    fn two_different_cpus_that_may_be_used() -> anyhow::Result<()> {
        assert_eq!(cpus(&[], &[0, 2, 3])?, [0, 2]);
        assert_eq!(cpus(&[], &[5])?, [5]);
        assert_eq!(cpus(&[3, 0], &[0, 2, 3])?, [3, 0]);
        for wrong in [&[1, 2][..], &[2, 2], &[2]] {
            assert!(cpus(wrong, &[0, 2, 3]).is_err(), "{wrong:?}");
        }
        Ok(())
    }
}
