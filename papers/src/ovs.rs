//! Open vSwitch's pools of IDs: slabs with a lock a user against a hash map of the IDs in use, and ours beside them.

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
pub const ABOUT: &str = "Open vSwitch: slabs of IDs a user, a hash map of all IDs, and our pools";

/// An implementation.
#[derive(Clone, Copy, Debug)]
struct Pool {
    /// The first part of its figures' ids.
    id: &'static str,
    /// As the timed program calls it.
    program: &'static str,
    /// The first part of its benches' names.
    bench: &'static str,
    /// Whether its counts hold nothing of the C library.
    exact: bool,
}

const POOLS: [Pool; 6] = [
    Pool { id: "seq-pool", program: "slab-shipped", bench: "slab_shipped", exact: false },
    Pool { id: "lean", program: "slab-lean", bench: "slab_lean", exact: false },
    Pool { id: MAP, program: "map", bench: "map", exact: false },
    Pool { id: "cache", program: "cache", bench: "cache", exact: true },
    Pool { id: "stealable", program: "stealable", bench: "stealable", exact: true },
    Pool { id: "bit", program: "bit", bench: "bit", exact: true },
];

/// The slow one of the documented pools.
const MAP: &str = "id-pool";

const SIZES: [(&str, u32); 3] = [("10k", 10_000), ("100k", 100_000), ("1m", 1_000_000)];
const THREADS: [u32; 3] = [1, 2, 4];
const ROUNDS: [&str; 5] = ["new", "del", "mix", "rnd", "xfer"];

/// As documented: then a round is stopped.
const CUT_OFF_MS: u32 = 10_000;
/// Runs of each cell: the values are medians.
const RUNS: u32 = 5;
/// Of the map pool one run must do where `rnd` takes the ten seconds of the cut-off, which it does with 100,000 IDs or more.
const RUNS_OF_MAP: [u32; 3] = [3, 1, 1];

/// The documented cells where both pools have a time, of which the quotient is a figure.
const RATIOS: [(&str, u32); 4] = [("100k", 1), ("1m", 1), ("1m", 2), ("1m", 4)];

/// Measures every figure.
pub fn measure(progress: &Progress) -> Result<Measurements> {
    progress.step("building the program whose rounds are timed");
    let program = Program::build("pool_rounds")?;
    let counts = count_if_possible("pool", progress)?;
    let times = time(&program, progress)?;
    Ok(measurements(&times, &counts, machine::processors()))
}

/// Measures the figures with the method `exact` only.
pub fn measure_exact(progress: &Progress) -> Result<Measurements> {
    let report = Ok(count("pool", progress)?);
    let pools = POOLS.into_iter().filter(|pool| pool.exact).chain([NOTHING]);
    Ok(pools.flat_map(|pool| instructions(pool, &report)).collect())
}

/// Of each cell, such as `seq-pool.new.10k.1t`, the mean time of its threads in each run; and the retries of each pool in all runs.
#[derive(Debug, Default)]
struct Times {
    cells: BTreeMap<String, Vec<f64>>,
    retries: BTreeMap<&'static str, u64>,
}

fn time(program: &Program, progress: &Progress) -> Result<Times> {
    let mut times = Times::default();
    for ((size, ids), runs_of_map) in SIZES.into_iter().zip(RUNS_OF_MAP) {
        for threads in THREADS {
            for run in 1..=RUNS {
                progress.step(&format!("timing the rounds, {ids} IDs, {threads} threads, run {run} of {RUNS}"));
                // In turn, so that a slow moment of the machine meets all of them.
                for pool in POOLS {
                    if pool.id != MAP || run <= runs_of_map {
                        let arguments = [pool.program, &ids.to_string(), &threads.to_string(), &CUT_OFF_MS.to_string()];
                        let (printed, _) = program.run(&arguments)?;
                        times.add(pool, &format!("{size}.{threads}t"), threads, &printed).with_context(|| arguments.join(" "))?;
                    }
                }
            }
        }
    }
    Ok(times)
}

impl Times {
    /// Adds what a run printed: a line a round, with retries, the kind of end, and the time of each thread.
    fn add(&mut self, pool: Pool, cell: &str, threads: u32, printed: &str) -> Result<()> {
        for line in printed.lines() {
            let not_understood = || format!("the line {line:?} is not understood");
            let mut words = line.split(' ');
            let (round, retries, end) = (words.next(), words.next(), words.next());
            let round = round.filter(|round| ROUNDS.contains(round)).with_context(not_understood)?;
            let retries: u64 = retries.and_then(|retries| retries.parse().ok()).with_context(not_understood)?;
            let each: Vec<f64> = words.map(str::parse).collect::<Result<_, _>>().with_context(not_understood)?;
            let right = matches!(end, Some("ended" | "cut-off")) && each.len() == threads as usize;
            ensure!(right, "{}", not_understood());
            let mean = each.iter().sum::<f64>() / f64::from(threads);
            self.cells.entry(format!("{}.{round}.{cell}", pool.id)).or_default().push((mean * 1e6).round() / 1e6);
            *self.retries.entry(pool.id).or_default() += retries;
        }
        Ok(())
    }
}

/// A pool that does nothing is counted too.
const NOTHING: Pool = Pool { id: "nothing", program: "", bench: "nothing", exact: true };

/// Every figure.
fn measurements(times: &Times, counts: &Result<Report, String>, processors: f64) -> Measurements {
    let mut all = Measurements::new();
    for pool in POOLS {
        for round in ROUNDS {
            for (size, _) in SIZES {
                for threads in THREADS {
                    let id = format!("{}.{round}.{size}.{threads}t", pool.id);
                    let value = times.cells.get(&id).map(|runs| median(runs.clone()));
                    all.insert(id, value.ok_or_else(|| "the program did not run this round".to_owned()));
                }
            }
        }
        all.insert(format!("{}.retries", pool.id), Ok(times.retries.get(pool.id).copied().unwrap_or(0) as f64));
    }
    for (size, threads) in RATIOS {
        for round in ["new", "del", "mix", "rnd"] {
            let ms = |pool: &str| all[&format!("{pool}.{round}.{size}.{threads}t")].clone();
            let ratio = ms(MAP).and_then(|slow| Ok(slow / ms("seq-pool")?));
            all.insert(format!("ratio.{round}.{size}.{threads}t"), ratio);
        }
    }
    for pool in POOLS.into_iter().chain([NOTHING]) {
        all.extend(instructions(pool, counts));
    }
    let of_few_ids = counts.as_ref().map_err(Clone::clone).and_then(|report| of_an_operation(report, "map_rnd", 300, 3000));
    all.insert("id-pool.rnd_1k.instructions".to_owned(), of_few_ids);
    all.insert(PROCESSORS.to_owned(), Ok(processors));
    all
}

/// Instructions an operation, with 100,000 IDs.
fn instructions(pool: Pool, counts: &Result<Report, String>) -> Vec<(String, Measured)> {
    let measured = |round: &str| {
        let (few, many) = match round {
            "mix" | "rnd" => (12_000, 300_000),
            "xfer" => (8_000, 200_000),
            _ => (4_000, 100_000),
        };
        if (pool.id, round) == (MAP, "rnd") {
            return Err("with 100,000 IDs it takes hours to count; id-pool.rnd_1k.instructions has the first 1,000".to_owned());
        }
        of_an_operation(counts.as_ref().map_err(Clone::clone)?, &format!("{}_{round}", pool.bench), few, many)
    };
    ROUNDS.iter().map(|round| (format!("{}.{round}.instructions", pool.id), measured(round))).collect()
}

/// The difference of two runs by the operations that one has more.
fn of_an_operation(report: &Report, bench: &str, few: u32, many: u32) -> Measured {
    let count = |operations: u32| {
        let bench = format!("pool::{bench}::n{operations}");
        let count = report.get(&bench).and_then(|counts| Event::Instructions.of(counts));
        count.map(|count| count as f64).ok_or_else(|| format!("the benches did not count {bench}"))
    };
    Ok((count(many)? - count(few)?) / f64::from(many - few))
}

#[cfg(test)]
mod tests;
