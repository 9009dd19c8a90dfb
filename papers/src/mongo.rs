//! MongoDB's cancellation: a fresh state for each token that is never canceled, against one static state; and ours beside them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use jeton_benches::harness::{Event, Report};

use crate::{
    counts::{count, count_if_possible},
    machine,
    native::{Program, mean_of_threads},
    number::median,
    progress::Progress,
    verdict::{Measured, Measurements, PROCESSORS},
};

/// One line about the paper.
pub const ABOUT: &str = "MongoDB: cancellation, a fresh state or a static one for tokens that are never canceled";

/// The documented columns, then ours: as the timed program calls them, and the first part of their figures' ids.
const KINDS: [&str; 4] = [BEFORE, AFTER, CORE, STD];
const BEFORE: &str = "before";
const AFTER: &str = "after";
const CORE: &str = "core";
const STD: &str = "std";

const UNCANCELABLE: &str = "BM_uncancelable_token_ctor";
const TOKEN: &str = "BM_create_single_token_from_source";
const CALLBACKS: &str = "BM_cancel_tokens_from_single_source";
const LEVELS: &str = "BM_ranged_depth_cancelation_hierarchy";

/// Benchmarks without a size.
const PLAIN: [&str; 5] = [
    TOKEN,
    UNCANCELABLE,
    "BM_check_if_token_from_source_canceled",
    "BM_cancelation_source_from_token_ctor",
    "BM_cancelation_source_default_ctor",
];
/// Those with a size, and how many powers of ten, from 1 on. Documented are seven and the first four.
const SIZED: [(&str, u32); 2] = [(CALLBACKS, 7), (LEVELS, 7)];
/// Deeper than that, the nodes of the core's tree are used up.
const DEEPEST_OF_CORE: u32 = 10_000;

/// What threads do at the same time, as the timed program calls it, and the figure.
const TOGETHER: [(&str, &str); 4] = [
    ("uncancelable/1", "uncancelable.1t"),
    ("uncancelable/2", "uncancelable.2t"),
    ("check/alone", "check.alone"),
    ("check/beside", "check.beside"),
];
/// What a second thread makes of it: the figure, and the two that it is a quotient of.
const MEETING: [(&str, &str, &str); 2] =
    [("uncancelable.meeting", "uncancelable.2t", "uncancelable.1t"), ("check.meeting", "check.beside", "check.alone")];

/// Runs of each cell: the values are medians.
const RUNS: u32 = 5;
/// What is timed in one run takes at least so long, unless to prepare it takes much longer.
const RUN_MS: &str = "20";
const TOGETHER_MS: &str = "100";

/// Measures every figure.
pub fn measure(progress: &Progress) -> Result<Measurements> {
    progress.step("building the program whose benchmarks are timed");
    let program = Program::build("cancel_times")?;
    let counts = count_if_possible("cancel", progress)?;
    let times = time(&program, progress)?;
    Ok(measurements(&times, &counts, machine::processors()))
}

/// Measures the figures with the method `exact` only.
pub fn measure_exact(progress: &Progress) -> Result<Measurements> {
    let counts = Ok(count("cancel", progress)?);
    Ok(exact(&counts))
}

/// By `<kind>.<name>` the nanoseconds of each run, or why there are none.
type Times = BTreeMap<String, Result<Vec<f64>, String>>;

/// The name of every benchmark, with its size.
fn names() -> impl Iterator<Item = String> {
    let sized = SIZED.into_iter().flat_map(|(name, powers)| (0..powers).map(move |power| format!("{name}/{}", 10_u32.pow(power))));
    PLAIN.into_iter().map(str::to_owned).chain(sized)
}

/// The levels of a hierarchy, of its benchmark's name.
fn levels(name: &str) -> Option<u32> {
    name.strip_prefix(LEVELS)?.strip_prefix('/')?.parse().ok()
}

fn time(program: &Program, progress: &Progress) -> Result<Times> {
    let mut times = Times::new();
    for run in 1..=RUNS {
        progress.step(&format!("timing a region with nothing in it, run {run} of {RUNS}"));
        add(&mut times, "clock.region".into(), run_once(program, CORE, "nothing", RUN_MS))?;
    }
    for name in names() {
        for run in 1..=RUNS {
            progress.step(&format!("timing {name}, run {run} of {RUNS}"));
            // In turn, so that a slow moment of the machine meets all of them.
            for kind in KINDS {
                let id = format!("{kind}.{name}");
                if times.get(&id).is_some_and(Result::is_err) {
                    continue;
                }
                let deep = levels(&name).filter(|levels| *levels > DEEPEST_OF_CORE);
                match (kind, deep) {
                    (CORE, Some(_)) => {
                        times.insert(id, Err("a tree of the core has at most 32,767 nodes".into()));
                    }
                    // Whether the stack is large enough for MongoDB's depends on the machine.
                    (BEFORE | AFTER, Some(_)) => match run_once(program, kind, &name, RUN_MS) {
                        Ok(ns) => add(&mut times, id, Ok(ns))?,
                        Err(error) => {
                            times.insert(id, Err(overflow(&error)));
                        }
                    },
                    _ => add(&mut times, id, run_once(program, kind, &name, RUN_MS))?,
                }
            }
        }
    }
    for (name, figure) in TOGETHER {
        for run in 1..=RUNS {
            progress.step(&format!("timing threads that meet, {name}, run {run} of {RUNS}"));
            for kind in KINDS {
                let id = format!("{kind}.{figure}");
                match run_once(program, kind, name, TOGETHER_MS) {
                    // The first run that has a value replaces why there was none.
                    Ok(ns) => match times.get_mut(&id) {
                        Some(Ok(runs)) => runs.push(ns),
                        _ => drop(times.insert(id, Ok(vec![ns]))),
                    },
                    // On a busy machine they may not meet.
                    Err(error) => drop(times.entry(id).or_insert_with(|| Err(error.to_string()))),
                }
            }
        }
    }
    Ok(times)
}

fn overflow(error: &anyhow::Error) -> String {
    format!("a cancel there is a call within a call for each level, which overflows the stack: {error}")
}

fn add(times: &mut Times, id: String, ns: Result<f64>) -> Result<()> {
    let ns = ns.with_context(|| id.clone())?;
    if let Ok(runs) = times.entry(id).or_insert_with(|| Ok(Vec::new())) {
        runs.push(ns);
    }
    Ok(())
}

fn run_once(program: &Program, kind: &str, name: &str, ms: &str) -> Result<f64> {
    mean_of_threads(&program.output(&[kind, name, ms])?)
}

/// Every figure.
fn measurements(times: &Times, counts: &Result<Report, String>, processors: f64) -> Measurements {
    let time = |id: &str| -> Measured {
        let runs = times.get(id).cloned().unwrap_or_else(|| Err("the program did not run this benchmark".into()))?;
        Ok(median(runs))
    };
    let mut all = Measurements::new();
    for kind in KINDS {
        for name in names() {
            let id = format!("{kind}.{name}");
            all.insert(id.clone(), time(&id));
        }
        all.insert(format!("{kind}.deepest"), deepest(kind, time));
        for (_, figure) in TOGETHER {
            let id = format!("{kind}.{figure}");
            all.insert(id.clone(), time(&id));
        }
        for (figure, together, alone) in MEETING {
            all.insert(format!("{kind}.{figure}"), quotient(time, &format!("{kind}.{together}"), &format!("{kind}.{alone}")));
        }
    }
    let size = |kind: &str, name: &str, size: u32| format!("{kind}.{name}/{size}");
    all.insert(
        "ratio.uncancelable".into(),
        quotient(time, &format!("{BEFORE}.{UNCANCELABLE}"), &format!("{AFTER}.{UNCANCELABLE}")),
    );
    all.insert("ratio.static_to_token".into(), quotient(time, &format!("{AFTER}.{UNCANCELABLE}"), &format!("{AFTER}.{TOKEN}")));
    for kind in [BEFORE, AFTER] {
        for (figure, name, many, few) in [
            ("callbacks_1m_by_1k", CALLBACKS, 1_000_000, 1_000),
            ("callbacks_1k_by_100", CALLBACKS, 1_000, 100),
            ("levels_1k_by_100", LEVELS, 1_000, 100),
        ] {
            let ratio = quotient(time, &size(kind, name, many), &size(kind, name, few));
            // Of one item: a median has no more digits than the clock.
            let ratio = ratio.map(|ratio| ratio * f64::from(few) / f64::from(many));
            all.insert(format!("ratio.{kind}.{figure}"), ratio);
        }
    }
    all.insert("clock.region".into(), time("clock.region"));
    all.insert(PROCESSORS.to_owned(), Ok(processors));
    all.extend(exact(counts));
    all.extend(counted(counts));
    all
}

fn quotient(time: impl Fn(&str) -> Measured, above: &str, below: &str) -> Measured {
    Ok(time(above)? / time(below)?)
}

/// The deepest hierarchy that was canceled.
fn deepest(kind: &str, time: impl Fn(&str) -> Measured) -> Measured {
    let canceled = names().filter(|name| time(&format!("{kind}.{name}")).is_ok()).filter_map(|name| levels(&name));
    canceled.max().map(f64::from).ok_or_else(|| "no hierarchy was canceled".to_owned())
}

/// Small operations: the figure, and the function of the benches after its kind.
const SMALL: [(&str, &str); 3] = [("uncancelable", "uncancelable"), ("token", "token"), ("check", "check")];

/// The figures with the method `exact`: our small operations, which allocate nothing, and the loop.
fn exact(counts: &Result<Report, String>) -> Measurements {
    let mut all = Measurements::new();
    for kind in [CORE, STD] {
        for (figure, function) in SMALL {
            all.insert(format!("{kind}.{figure}.instructions"), of_a_call(counts, &format!("{kind}_{function}")));
        }
    }
    all.insert("loop.instructions".into(), of_a_call(counts, "nothing_loop"));
    all
}

/// Those with what the C library's allocation does.
fn counted(counts: &Result<Report, String>) -> Measurements {
    let mut all = Measurements::new();
    for kind in [BEFORE, AFTER] {
        for (figure, function) in SMALL {
            all.insert(format!("{kind}.{figure}.instructions"), of_a_call(counts, &format!("{kind}_{function}")));
        }
    }
    for (kind, one, many) in [(BEFORE, BEFORE, BEFORE), (CORE, "tree", CORE), (STD, STD, STD)] {
        all.insert(format!("{kind}.source.instructions"), of_a_call(counts, &format!("{one}_source")));
        all.insert(format!("{kind}.child.instructions"), of_a_call(counts, &format!("{one}_child")));
        all.insert(format!("{kind}.callback.instructions"), of_a_thousand(counts, &format!("{many}_callbacks_and_drop")));
        all.insert(format!("{kind}.level.instructions"), of_a_thousand(counts, &format!("{one}_levels_and_drop")));
    }
    all
}

/// The difference of 11,000 and 1,000 calls.
fn of_a_call(counts: &Result<Report, String>, bench: &str) -> Measured {
    Ok((instructions(counts, &format!("{bench}::n11000"))? - instructions(counts, &format!("{bench}::n1000"))?) / 10_000.0)
}

/// A thousandth of the whole.
fn of_a_thousand(counts: &Result<Report, String>, bench: &str) -> Measured {
    Ok(instructions(counts, &format!("{bench}::n1000"))? / 1_000.0)
}

fn instructions(counts: &Result<Report, String>, bench: &str) -> Measured {
    let report = counts.as_ref().map_err(Clone::clone)?;
    let bench = format!("cancel::{bench}");
    let count = report.get(&bench).and_then(|counts| Event::Instructions.of(counts));
    count.map(|count| count as f64).ok_or_else(|| format!("the benches did not count {bench}"))
}

#[cfg(test)]
mod tests;
