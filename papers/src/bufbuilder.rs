//! MongoDB's `BufBuilder`: the whole of `grow` in a function, or its test in the caller; and ours beside them.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use jeton::append::{AppendError, DEFAULT_CAP, GrowBuf, Put};
use jeton_benches::{
    harness::{Event, Report},
    originals::buf_builder::{BufBuilder, CAP, Split},
    scenario::append::workload::{KINDS, WORKLOADS},
};

use crate::{
    counts::{count, count_if_possible},
    native::{Program, mean_of_threads},
    number::median,
    progress::Progress,
    verdict::{Measured, Measurements},
};

/// One line about the paper.
pub const ABOUT: &str = "MongoDB: BufBuilder, grow as one function or split into a test and the rest";

/// Before, and after.
const WHOLE: &str = "whole";
const SPLIT: &str = "split";
/// What every workload does, and the first one does alone.
const APPENDS: &str = "appends";
/// The documented gain.
const DOCUMENTED: f64 = 0.20;

/// Runs of each cell: the values are medians.
const RUNS: u32 = 7;
const RUN_MS: &str = "40";

/// Measures every figure.
pub fn measure(progress: &Progress) -> Result<Measurements> {
    progress.step("building the program whose documents are timed");
    let program = Program::build("document_times")?;
    let counts = count_if_possible("bufbuilder", progress)?;
    let times = time(&program, progress)?;
    Ok(measurements(&times, &counts))
}

/// Measures the figures with the method `exact` only.
pub fn measure_exact(progress: &Progress) -> Result<Measurements> {
    Ok(exact(&Ok(count("bufbuilder", progress)?)))
}

/// By `<kind>.<workload>` the nanoseconds of a document in each run.
type Times = BTreeMap<String, Vec<f64>>;

fn time(program: &Program, progress: &Progress) -> Result<Times> {
    let mut times = Times::new();
    for (workload, _) in WORKLOADS {
        for run in 1..=RUNS {
            progress.step(&format!("timing documents, {workload}, run {run} of {RUNS}"));
            // In turn, so that a slow moment of the machine meets all of them.
            for kind in KINDS {
                let id = format!("{kind}.{workload}");
                let ns = mean_of_threads(&program.output(&[kind, workload, RUN_MS])?).with_context(|| id.clone())?;
                times.entry(id).or_default().push(ns);
            }
        }
    }
    Ok(times)
}

/// Every figure.
fn measurements(times: &Times, counts: &Result<Report, String>) -> Measurements {
    let ns = |id: &str| -> Measured {
        let runs = times.get(id).cloned().ok_or_else(|| "the program did not run this".to_owned())?;
        Ok(median(runs))
    };
    let instructions = |id: &str| instructions(counts, id);
    let mut all = exact(counts);
    for (workload, _) in WORKLOADS {
        for kind in KINDS {
            let id = format!("{kind}.{workload}");
            all.insert(format!("{id}.ns"), ns(&id));
            all.insert(format!("{id}.instructions"), instructions(&id));
        }
        all.insert(format!("share_of_instructions.{workload}"), share(&instructions, workload));
        all.insert(format!("share_of_time.{workload}"), share(&ns, workload));
        all.insert(format!("gain_by_instructions.{workload}"), gain(&instructions, workload));
        all.insert(format!("gain_in_time.{workload}"), gain(&ns, workload));
    }
    all.insert("throughput_gain".into(), gain(&ns, "produced"));
    all.insert("documented_at.share_of_time".into(), share_of_gain(&ns));
    all
}

/// How much of a workload is appending, before the split.
fn share(cost: &impl Fn(&str) -> Measured, workload: &str) -> Measured {
    Ok(cost(&format!("{WHOLE}.{APPENDS}"))? / cost(&format!("{WHOLE}.{workload}"))?)
}

/// How many more documents are built after the split: as a share of those before.
fn gain(cost: &impl Fn(&str) -> Measured, workload: &str) -> Measured {
    Ok(cost(&format!("{WHOLE}.{workload}"))? / cost(&format!("{SPLIT}.{workload}"))? - 1.0)
}

/// The share of appending at which the gain is the documented one.
///
/// If appending is a share s of the work, and takes r times as long after the split, the work takes 1 - s (1 - r) times as long.
fn share_of_gain(cost: &impl Fn(&str) -> Measured) -> Measured {
    let appends_take = cost(&format!("{SPLIT}.{APPENDS}"))? / cost(&format!("{WHOLE}.{APPENDS}"))?;
    if appends_take >= 1.0 {
        return Err("the split does not make appends faster here".into());
    }
    Ok((1.0 - 1.0 / (1.0 + DOCUMENTED)) / (1.0 - appends_take))
}

/// The figures with the method `exact`: the documents into one buffer, which allocate nothing, and the growth rule.
fn exact(counts: &Result<Report, String>) -> Measurements {
    let mut all: Measurements = KINDS
        .into_iter()
        .map(|kind| format!("{kind}.{APPENDS}"))
        .map(|id| (format!("{id}.instructions"), instructions(counts, &id)))
        .collect();
    all.insert("documented_at.share_of_instructions".into(), share_of_gain(&|id| instructions(counts, id)));
    all.extend(growth("growth", BufBuilder::<Split>::new, BufBuilder::capacity));
    all.extend(growth("ours", GrowBuf::default, GrowBuf::capacity));
    all
}

/// The difference of 1,100 and 100 documents.
fn instructions(counts: &Result<Report, String>, id: &str) -> Measured {
    let report = counts.as_ref().map_err(Clone::clone)?;
    let bench = id.replace('.', "_");
    let count = |documents: u32| {
        let bench = format!("bufbuilder::{bench}::n{documents}");
        let count = report.get(&bench).and_then(|counts| Event::Instructions.of(counts));
        count.map(|count| count as f64).ok_or_else(|| format!("the benches did not count {bench}"))
    };
    Ok((count(1_100)? - count(100)?) / 1_000.0)
}

/// The growth rule, read off a buffer.
fn growth<B: Put>(kind: &str, new: fn() -> B, capacity: fn(&B) -> usize) -> Measurements {
    let refused = |error: AppendError| error.to_string();
    let after = |bytes: &[usize]| -> Result<usize, String> {
        let mut buffer = new();
        for &bytes in bytes {
            buffer.put(&vec![0; bytes]).map_err(refused)?;
        }
        Ok(capacity(&buffer))
    };
    let first = after(&[1]);
    let doubled = first.clone().and_then(|first| after(&[first, 1]));
    let oversize = 100_000;
    // The greatest capacity is that of the longest first append, which the original refuses earlier: it asks for the slack too.
    let most = |cap: usize| {
        let (mut fits, mut refused) = (cap / 2, cap + 1);
        while refused - fits > 1 {
            let middle = fits + (refused - fits) / 2;
            if after(&[middle]).is_ok() { fits = middle } else { refused = middle }
        }
        after(&[fits])
    };
    let cap = most(CAP.max(DEFAULT_CAP));
    // More than half of the cap is needed, by doubling.
    let past_half = after(&[CAP / 2 + 1, CAP / 4]).map_or(0.0, |_| 1.0);
    [
        ("first_bytes", first.clone().map(|bytes| bytes as f64)),
        ("factor", doubled.and_then(|doubled| Ok(doubled as f64 / first? as f64))),
        ("oversize_slack_bytes", after(&[oversize]).map(|bytes| (bytes - oversize) as f64)),
        ("cap_bytes", cap.map(|bytes| bytes as f64)),
        ("grows_past_half_of_cap", Ok(past_half)),
    ]
    .map(|(figure, value)| (format!("{kind}.{figure}"), value))
    .into()
}

#[cfg(test)]
mod tests;
