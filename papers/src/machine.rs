//! What this machine is.

use std::{process::Command, thread};

use jeton_benches::harness;

use crate::row::Machine;

/// This machine, compiler, valgrind and revision; none of them is needed for a run.
pub fn this() -> Machine {
    Machine { cpu: cpu(), rustc: harness::rustc_version().ok(), valgrind: harness::valgrind_version().ok(), revision: revision() }
}

/// The first processor's name in /proc/cpuinfo.
fn cpu() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

/// The commit, with `-dirty` if files differ from it.
fn revision() -> Option<String> {
    let root = harness::workspace_root().ok()?;
    let describe = ["describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"];
    let output = Command::new("git").arg("-C").arg(root).args(describe).output().ok()?;
    let revision = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !revision.is_empty()).then_some(revision)
}

/// How many threads run at a time.
pub fn processors() -> f64 {
    thread::available_parallelism().map_or(1.0, |count| count.get() as f64)
}
