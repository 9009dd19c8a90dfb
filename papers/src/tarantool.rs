//! Tarantool's queue: a watcher that polls, one that blocks, and our gate.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use jeton_benches::harness::{Event, Report};

use crate::{
    counts::{count, count_if_possible},
    machine,
    native::Program,
    number::median,
    progress::Progress,
    verdict::{Measured, Measurements, PROCESSORS},
};

/// One line about the paper.
pub const ABOUT: &str = "Tarantool: a queue whose watcher polls every millisecond, one that blocks, and our gate";

/// How threads wait: as the timed program calls it.
const WAITS: [&str; 4] = ["sleep", "timed", "blocking", "gate"];
const WAITERS: [&str; 3] = ["1", "8", "650"];
const IDLE_MS: &str = "6000";
const IDLE_US: f64 = 6e6;

const KINDS: [&str; 4] = ["none", "gate", "polling", "blocking"];
const CONSUMERS: &str = "650";
const BATCH: &str = "5000";
/// The documented figures are means of 25.
const RUNS: u32 = 5;

const FLIPS: &str = "100";
/// Half of a take's timeout, after which the queue ends: so much is left then.
const LEFT_MS: &str = "1500";
const CHANGES: &str = "9";

/// What each run printed, by the figure's id, or why there is nothing.
type Runs = BTreeMap<String, Result<Vec<f64>, String>>;

/// Measures every figure.
pub fn measure(progress: &Progress) -> Result<Measurements> {
    progress.step("building the program that waits");
    let program = Program::build("queue_times")?;
    let counts = count_if_possible("queue", progress)?;
    let mut runs = Runs::new();
    wait(&program, progress, &mut runs);
    time(&program, progress, &mut runs);
    faults(&program, progress, &mut runs);
    Ok(measurements(&runs, &counts, machine::processors()))
}

/// Measures the figures with the method `exact` only.
pub fn measure_exact(progress: &Progress) -> Result<Measurements> {
    Ok(exact(&Ok(count("queue", progress)?)))
}

/// Runs it once, and adds what it printed to the figures, one number each.
fn add<const N: usize>(runs: &mut Runs, program: &Program, arguments: &[&str], ids: [String; N]) {
    let printed = program.output(arguments).and_then(|printed| numbers::<N>(&printed)).map_err(|error| format!("{error:#}"));
    for (at, id) in ids.into_iter().enumerate() {
        let all = runs.entry(id).or_insert_with(|| Ok(Vec::new()));
        match (&printed, all) {
            (Ok(values), Ok(all)) => all.push(values[at]),
            // One run without a value is no value: a median of the others would hide it.
            (Err(error), all) => *all = Err(error.clone()),
            (Ok(_), Err(_)) => (),
        }
    }
}

fn numbers<const N: usize>(printed: &str) -> Result<[f64; N]> {
    let not_understood = || format!("the output {printed:?} is not understood");
    let all: Vec<f64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>().with_context(not_understood)?;
    ensure!(all.iter().all(|value| value.is_finite()), "{}", not_understood());
    all.try_into().ok().with_context(not_understood)
}

fn wait(program: &Program, progress: &Progress, runs: &mut Runs) {
    for waiters in WAITERS {
        for wait in WAITS {
            progress.step(&format!("waiting, {waiters} threads, {wait}"));
            let ids = ["cpu_us", "switches"].map(|what| format!("{wait}.idle.{waiters}.{what}"));
            add(runs, program, &["idle", wait, waiters, IDLE_MS], ids);
        }
    }
}

fn time(program: &Program, progress: &Progress, runs: &mut Runs) {
    for run in 1..=RUNS {
        for shape in ["tasks", "threads"] {
            progress.step(&format!("timing the benchmark, {shape}, run {run} of {RUNS}"));
            // In turn, so that a slow moment of the machine meets all of them.
            for kind in KINDS {
                let ids = ["fill", "confirm"].map(|half| format!("{kind}.{shape}.{half}"));
                add(runs, program, &[shape, kind, CONSUMERS, BATCH], ids);
            }
        }
    }
}

fn faults(program: &Program, progress: &Progress, runs: &mut Runs) {
    progress.step("what the original misses");
    for whose in ["original", "ours"] {
        add(runs, program, &["flips", whose, FLIPS], [format!("{whose}.flips_seen")]);
        add(runs, program, &["release", whose, LEFT_MS], [format!("{whose}.release")]);
        add(runs, program, &["herd", whose, CONSUMERS, CHANGES], [format!("{whose}.herd")]);
    }
}

/// Every figure.
fn measurements(runs: &Runs, counts: &Result<Report, String>, processors: f64) -> Measurements {
    let of = |id: &str| -> Result<Vec<f64>, String> {
        runs.get(id).cloned().unwrap_or_else(|| Err("the program did not run this".into()))
    };
    let middle = |id: &str| of(id).map(median);
    let mut all = Measurements::new();
    for wait in WAITS {
        for waiters in WAITERS {
            let id = format!("{wait}.idle.{waiters}");
            all.insert(format!("{id}.cpu"), middle(&format!("{id}.cpu_us")).map(|us| us / IDLE_US));
            all.insert(format!("{id}.switches"), middle(&format!("{id}.switches")));
        }
    }
    for kind in KINDS {
        for cell in ["tasks.fill", "tasks.confirm", "threads.fill", "threads.confirm"] {
            let id = format!("{kind}.{cell}");
            all.insert(id.clone(), middle(&id));
            all.insert(format!("{id}.spread"), of(&id).map(spread));
        }
    }
    for half in ["fill", "confirm"] {
        for (name, above, below) in COMPARED {
            let cell = |kind: &str| middle(&format!("{kind}.tasks.{half}"));
            let slower = cell(above).and_then(|above| Ok(above / cell(below)?));
            all.insert(format!("slower.{name}.{half}"), slower);
        }
    }
    for whose in ["original", "ours"] {
        for what in ["flips_seen", "release", "herd"] {
            let id = format!("{whose}.{what}");
            all.insert(id.clone(), middle(&id));
        }
    }
    all.insert(PROCESSORS.to_owned(), Ok(processors));
    for kind in ["none", "gate", "blocking", "level"] {
        for half in ["fill", "confirm"] {
            all.insert(format!("{kind}.{half}.instructions"), of_a_task(counts, kind, half));
        }
    }
    all.insert("share.gate".into(), share(counts, "gate"));
    all.insert("share.level".into(), share(counts, "level"));
    all.extend(exact(counts));
    all
}

/// The documented comparisons.
const COMPARED: [(&str, &str, &str); 3] = [
    ("polling_by_none", "polling", "none"),
    ("blocking_by_polling", "blocking", "polling"),
    ("blocking_by_none", "blocking", "none"),
];

/// From the least to the greatest, as a share of the median.
fn spread(runs: Vec<f64>) -> f64 {
    let (least, most) = runs.iter().fold((f64::INFINITY, 0.0_f64), |(least, most), run| (least.min(*run), most.max(*run)));
    (most - least) / median(runs)
}

/// What asking for the mode adds to put, take and acknowledge together, as a share of them.
fn share(counts: &Result<Report, String>, kind: &str) -> Measured {
    let all = |kind: &str| -> Measured { Ok(of_a_task(counts, kind, "fill")? + of_a_task(counts, kind, "confirm")?) };
    let none = all("none")?;
    Ok((all(kind)? - none) / none)
}

/// What asking adds to one task: with nothing of the C library, whose part is the same with and without.
fn exact(counts: &Result<Report, String>) -> Measurements {
    let mut all = Measurements::new();
    for kind in ["gate", "blocking", "level"] {
        for half in ["fill", "confirm"] {
            let added = of_a_task(counts, kind, half).and_then(|with| Ok(with - of_a_task(counts, "none", half)?));
            // Both are counts of 6,500 tasks: a difference has no more digits than that.
            let added = added.map(|added| (added * 6_500.0).round() / 6_500.0);
            all.insert(format!("{kind}.{half}.added"), added);
        }
    }
    all
}

/// Of one of the 6,500 tasks that a batch of 20 has more than one of 10.
fn of_a_task(counts: &Result<Report, String>, kind: &str, half: &str) -> Measured {
    let report = counts.as_ref().map_err(Clone::clone)?;
    let count = |batch: u32| {
        let bench = format!("queue::{kind}_{half}::n{batch}");
        let count = report.get(&bench).and_then(|counts| Event::Instructions.of(counts));
        count.map(|count| count as f64).ok_or_else(|| format!("the benches did not count {bench}"))
    };
    Ok((count(20)? - count(10)?) / 6_500.0)
}

#[cfg(test)]
mod tests;
