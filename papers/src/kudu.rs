//! Apache Kudu's call IDs: a branch against a mask.

use std::thread;

use anyhow::{Context, Result, anyhow, ensure};
use jeton_benches::{
    harness::{self, Counts, Report},
    scenario::kudu::expected,
};

use crate::{
    counts,
    native::{Program, Totals, Usage},
    number::median,
    progress::Progress,
    verdict::{Measured, Measurements},
};

/// One line about the paper.
pub const ABOUT: &str = "Apache Kudu: call identifiers, a branch against a mask";

/// The documented number of calls; the random 0 to 99 on top are left at 0, so that every run is the same.
const CALLS: u64 = 800_000_000;
/// As many runs as the documented times are the mean of; ours are medians.
const RUNS: usize = 10;

/// Measures every figure.
pub fn measure(progress: &Progress) -> Result<Measurements> {
    progress.step("building the program whose whole process is measured");
    let program = Program::build("kudu_loop")?;
    let (loops, whole) = match harness::valgrind_version() {
        Ok(_) => {
            let (loops, whole) = count(&program, progress)?;
            (Ok(loops), Ok(whole))
        }
        Err(missing) => {
            progress.say(&missing.to_string());
            (Err(missing.to_string()), Err(missing.to_string()))
        }
    };
    let (times, plain_if_user_s) = time(&program, progress)?;
    Ok(measurements(&Sources { loops, whole, times, plain_if_user_s }))
}

/// Counts loops and processes at the same time: unlike times, counts do not depend on what else runs.
fn count(program: &Program, progress: &Progress) -> Result<(Loops, Processes<Totals>)> {
    thread::scope(|scope| {
        let whole = scope.spawn(|| count_processes(program, progress));
        let loops = count_loops(progress)?;
        let whole = whole.join().map_err(|_| anyhow!("counting the processes panicked"))??;
        Ok((loops, whole))
    })
}

/// Measures the figures with the method `exact` only.
pub fn measure_exact(progress: &Progress) -> Result<Measurements> {
    Ok(exact(&Ok(count_loops(progress)?)))
}

/// Everything that is measured, before it is made into figures.
struct Sources {
    loops: Result<Loops, String>,
    whole: Result<Processes<Totals>, String>,
    times: Processes<Usage>,
    /// Of the old version as the compiler builds the plain `if`.
    plain_if_user_s: f64,
}

/// What the loops alone cost.
#[derive(Clone, Copy, Default)]
struct Loops {
    old: Counts,
    plain_if: Counts,
    new: Counts,
    /// Instructions of a call whose ID is used.
    old_used: f64,
    new_used: f64,
}

/// Something about the process of each documented version.
struct Processes<T> {
    old: T,
    new: T,
}

fn count_loops(progress: &Progress) -> Result<Loops> {
    Loops::from_report(&counts::count("kudu", progress)?)
}

impl Loops {
    fn from_report(report: &Report) -> Result<Self> {
        let bench = |name: &str| {
            report.get(&format!("kudu::{name}")).copied().with_context(|| format!("the benches did not count kudu::{name}"))
        };
        let used = |version: &str| -> Result<f64> {
            let many = bench(&format!("{version}_used::n11000"))?.instructions;
            let few = bench(&format!("{version}_used::n1000"))?.instructions;
            Ok((many as f64 - few as f64) / 10_000.0)
        };
        Ok(Self {
            old: bench("old_branch_free::n800m")?,
            plain_if: bench("old_branch::n800m")?,
            new: bench("new_mask::n800m")?,
            old_used: used("old_branch")?,
            new_used: used("new_mask")?,
        })
    }
}

fn count_processes(program: &Program, progress: &Progress) -> Result<Processes<Totals>> {
    let count = |version: &str| {
        progress.step(&format!("counting the whole process of {version}, {CALLS} calls"));
        let (printed, totals) = program.count(&[version, &CALLS.to_string()])?;
        ensure_last_id(version, &printed).map(|()| totals)
    };
    Ok(Processes { old: count("old-branch-free")?, new: count("new-mask")? })
}

/// Times the documented versions, and returns the user time of the plain `if` too.
fn time(program: &Program, progress: &Progress) -> Result<(Processes<Usage>, f64)> {
    let versions = ["old-branch-free", "new-mask", "old-branch"];
    let mut runs = versions.map(|_| Vec::with_capacity(RUNS));
    for run in 1..=RUNS {
        progress.step(&format!("timing the processes, run {run} of {RUNS}"));
        // In turn, so that a slow moment of the machine meets all of them.
        for (version, runs) in versions.iter().zip(&mut runs) {
            let (printed, usage) = program.run(&[version, &CALLS.to_string()])?;
            ensure_last_id(version, &printed)?;
            runs.push(usage);
        }
    }
    let [old, new, plain_if] = runs.map(|runs| median_usage(&runs));
    Ok((Processes { old, new }, plain_if.user_s))
}

fn ensure_last_id(version: &str, printed: &str) -> Result<()> {
    let last = expected(CALLS);
    ensure!(printed.trim() == last.to_string(), "{version} ends with the ID {}, not {last}", printed.trim().escape_debug());
    Ok(())
}

/// The median of each value by itself.
fn median_usage(runs: &[Usage]) -> Usage {
    let of = |value: fn(&Usage) -> f64| median(runs.iter().map(value).collect());
    let migrations: Option<Vec<f64>> = runs.iter().map(|usage| usage.migrations).collect();
    Usage {
        elapsed_s: of(|usage| usage.elapsed_s),
        user_s: of(|usage| usage.user_s),
        system_s: of(|usage| usage.system_s),
        context_switches: of(|usage| usage.context_switches),
        migrations: migrations.map(median),
        page_faults: of(|usage| usage.page_faults),
    }
}

fn branches(counts: &Counts) -> f64 {
    (counts.conditional_branches + counts.indirect_branches) as f64
}

fn instructions(counts: &Counts) -> f64 {
    counts.instructions as f64
}

fn cycles(counts: &Counts) -> f64 {
    counts.estimated_cycles as f64
}

/// The figures with the method `exact`.
fn exact(loops: &Result<Loops, String>) -> Measurements {
    type Value = fn(&Loops) -> f64;
    let figures: [(&str, Value); 14] = [
        ("old.instructions", |l| instructions(&l.old)),
        ("old.branches", |l| branches(&l.old)),
        ("difference.instructions", |l| instructions(&l.old) - instructions(&l.new)),
        ("difference.branches", |l| branches(&l.old) - branches(&l.new)),
        ("per_call.instructions", |l| (instructions(&l.old) - instructions(&l.new)) / CALLS as f64),
        ("per_call.branches", |l| (branches(&l.old) - branches(&l.new)) / CALLS as f64),
        ("plain_if.instructions", |l| instructions(&l.plain_if)),
        ("plain_if.branches", |l| branches(&l.plain_if)),
        ("plain_if.per_call_instructions", |l| (instructions(&l.plain_if) - instructions(&l.new)) / CALLS as f64),
        ("plain_if.per_call_branches", |l| (branches(&l.plain_if) - branches(&l.new)) / CALLS as f64),
        ("new_loop.instructions", |l| instructions(&l.new)),
        ("used.old_instructions", |l| l.old_used),
        ("used.new_instructions", |l| l.new_used),
        ("used.saved_instructions", |l| l.old_used - l.new_used),
    ];
    figures.map(|(id, value)| (id.to_owned(), loops.as_ref().map(value).map_err(Clone::clone))).into()
}

/// Every figure.
fn measurements(sources: &Sources) -> Measurements {
    let loops = |value: fn(&Loops) -> f64| sources.loops.as_ref().map(value).map_err(Clone::clone);
    let whole = |value: fn(&Processes<Totals>) -> f64| sources.whole.as_ref().map(value).map_err(Clone::clone);
    let mut all = exact(&sources.loops);
    all.extend(process("old", &sources.times.old));
    all.extend(process("new", &sources.times.new));
    let more: [(&str, Measured); 13] = [
        ("old.cycles", loops(|l| cycles(&l.old))),
        ("old.branch_misses", whole(|w| w.old.branch_misses as f64)),
        ("new.cycles", whole(|w| w.new.estimated_cycles as f64)),
        ("new.instructions", whole(|w| w.new.instructions as f64)),
        ("new.branches", whole(|w| w.new.branches as f64)),
        ("new.branch_misses", whole(|w| w.new.branch_misses as f64)),
        ("difference.cycles", loops(|l| cycles(&l.old) - cycles(&l.new))),
        ("per_call.cycles", loops(|l| (cycles(&l.old) - cycles(&l.new)) / CALLS as f64)),
        ("plain_if.cycles", loops(|l| cycles(&l.plain_if))),
        ("plain_if.time_user_s", Ok(sources.plain_if_user_s)),
        ("headline.instructions", whole(|w| w.old.instructions as f64 / w.new.instructions as f64)),
        ("headline.branches", whole(|w| w.old.branches as f64 / w.new.branches as f64)),
        ("headline.cycles", whole(|w| w.old.estimated_cycles as f64 / w.new.estimated_cycles as f64)),
    ];
    all.extend(more.map(|(id, value)| (id.to_owned(), value)));
    all
}

/// The figures of a process that the operating system tells, and the one that it does not.
fn process(version: &str, usage: &Usage) -> [(String, Measured); 9] {
    let no_cycles = "hardware cycles are not read: no unprivileged counter works on every machine, and callgrind's estimate knows no \
                     instruction-level parallelism, so that instructions per estimated cycle are about 1 for any code";
    let no_migrations = "the kernel does not tell how often a process migrated (/proc/<process>/sched)";
    let milliseconds = ((usage.user_s + usage.system_s) * 1e6).round() / 1e3;
    [
        ("time_real_s", Ok(usage.elapsed_s)),
        ("time_user_s", Ok(usage.user_s)),
        ("time_sys_s", Ok(usage.system_s)),
        ("task_clock_ms", Ok(milliseconds)),
        ("context_switches", Ok(usage.context_switches)),
        ("cpu_migrations", usage.migrations.ok_or_else(|| no_migrations.to_owned())),
        ("page_faults", Ok(usage.page_faults)),
        ("instructions_per_cycle", Err(no_cycles.to_owned())),
        ("elapsed_s", Ok(usage.elapsed_s)),
    ]
    .map(|(figure, value)| (format!("{version}.{figure}"), value))
}

#[cfg(test)]
mod tests;
