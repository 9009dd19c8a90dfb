//! What the figures were measured on and with.

use std::{fs, process::Command};

use serde::Serialize;

/// Machine, compiler, source and load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Machine {
    /// The model of the CPU.
    pub cpu: String,
    /// How many CPUs this process may use.
    pub allowed_cpus: usize,
    /// The CPUs that the threads were pinned to.
    pub used_cpus: Vec<usize>,
    /// The compiler that built this program.
    pub rustc: String,
    /// The commit, with `-dirty` if the working copy differs from it.
    pub revision: String,
    /// Load averages (1, 5, 15 minutes) before the run.
    pub load_before: String,
    /// The same after it.
    pub load_after: String,
}

impl Machine {
    /// Before the run.
    pub fn look(allowed_cpus: usize, used_cpus: &[usize]) -> Self {
        let load = load();
        Self {
            cpu: cpu_model().unwrap_or_else(unknown),
            allowed_cpus,
            used_cpus: used_cpus.to_vec(),
            rustc: env!("JETON_RUSTC").to_owned(),
            revision: revision().unwrap_or_else(unknown),
            load_before: load.clone(),
            load_after: load,
        }
    }

    /// The same after the run.
    pub fn look_again(&mut self) {
        self.load_after = load();
    }
}

fn unknown() -> String {
    "unknown".to_owned()
}

fn load() -> String {
    let load = fs::read_to_string("/proc/loadavg").ok();
    load.map_or_else(unknown, |load| load.split(' ').take(3).collect::<Vec<_>>().join(" "))
}

fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn revision() -> Option<String> {
    let mut git = Command::new("git");
    git.args(["-C", env!("CARGO_MANIFEST_DIR"), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]);
    let output = git.output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
