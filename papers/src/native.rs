//! A small program as a whole process: built as the benches are, then timed, or counted by callgrind.

use std::{
    env,
    io::Read,
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::Instant,
};

use anyhow::{Context, Result, bail, ensure};
use jeton_benches::harness;

/// A program that is built.
#[derive(Debug)]
pub struct Program {
    name: String,
    path: PathBuf,
}

/// What one process used, as the operating system tells.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// From before the start until the end was seen.
    pub elapsed_s: f64,
    /// Processor time in user mode.
    pub user_s: f64,
    /// Processor time in the kernel.
    pub system_s: f64,
    /// How often it left its processor, by itself or not.
    pub context_switches: f64,
    /// How often it came back on another processor; `None` where the kernel does not tell.
    pub migrations: Option<f64>,
    /// Page faults, with and without a read from disk.
    pub page_faults: f64,
}

/// What callgrind counted in a whole process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Instructions.
    pub instructions: u64,
    /// Conditional and indirect branches.
    pub branches: u64,
    /// Those of them that the simulated predictor got wrong.
    pub branch_misses: u64,
    /// Callgrind's estimate.
    pub estimated_cycles: u64,
}

impl Program {
    /// Builds a program of the benches with the profile of all counts.
    pub fn build(name: &str) -> Result<Self> {
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.current_dir(harness::workspace_root()?);
        cargo.args(["build", "--quiet", "--locked", "--profile", "bench", "--package", "jeton-benches", "--no-default-features"]);
        cargo.args(["--bin", name, "--message-format", "json-render-diagnostics"]);
        neutral(&mut cargo);
        let output = cargo.stdin(Stdio::null()).output().context("cargo does not start")?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let first = errors.lines().find(|line| line.starts_with("error")).or_else(|| errors.lines().next());
            bail!("the program {name} does not build: {}", first.unwrap_or("cargo says nothing"));
        }
        let path = executable(&String::from_utf8_lossy(&output.stdout), name);
        let path = path.with_context(|| format!("cargo does not tell where it built {name}"))?;
        Ok(Self { name: name.to_owned(), path })
    }

    /// Runs it and returns what it printed and used.
    pub fn run(&self, arguments: &[&str]) -> Result<(String, Usage)> {
        let mut command = Command::new(&self.path);
        command.args(arguments).env_clear().stdin(Stdio::null()).stdout(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("{} does not start", self.name))?;
        let mut printed = String::new();
        let read = child.stdout.take().map(|mut stdout| stdout.read_to_string(&mut printed));
        // The end of its output is the end of its work; until it is waited for, the kernel still knows its scheduling.
        let migrations = migrations(child.id());
        let (status, mut usage) = wait(child).with_context(|| format!("cannot wait for {}", self.name))?;
        usage.elapsed_s = start.elapsed().as_secs_f64();
        usage.migrations = migrations;
        read.transpose().with_context(|| format!("cannot read what {} prints", self.name))?;
        ensure!(status.success(), "{} failed: {status}", self.name);
        Ok((printed, usage))
    }

    /// Runs it and returns what it printed; an error has the last line that it wrote about its end.
    pub fn output(&self, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.path);
        let output = command.args(arguments).env_clear().stdin(Stdio::null()).output();
        let output = output.with_context(|| format!("{} does not start", self.name))?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let last = errors.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("no message");
            bail!("{} failed ({}): {last}", self.name, output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it under callgrind and returns what it printed and what was counted.
    pub fn count(&self, arguments: &[&str]) -> Result<(String, Totals)> {
        let folder = harness::target_dir()?.join("papers");
        std::fs::create_dir_all(&folder).context("cannot create the folder of callgrind's output in the target folder")?;
        let file = folder.join(format!("callgrind.{}.out", self.name));
        let mut out = std::ffi::OsString::from("--callgrind-out-file=");
        out.push(&file);
        let mut command = Command::new("valgrind");
        command.args(["-q", "--tool=callgrind", "--branch-sim=yes", "--cache-sim=yes"]).arg(out);
        // The caches that iai-callgrind sets: the estimate must not depend on those of the host.
        command.args(["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]);
        // The start-up of a process reads its environment, so every run gets the same: only where to find valgrind.
        command.arg(&self.path).args(arguments).env_clear().env("PATH", env::var_os("PATH").unwrap_or_default());
        let output = command.stdin(Stdio::null()).output().context("valgrind does not start")?;
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            bail!("{} failed under valgrind: {}", self.name, errors.lines().next().unwrap_or("no message"));
        }
        let text = std::fs::read_to_string(&file).context("callgrind wrote no counts")?;
        let totals = Totals::parse(&text).context("callgrind's counts are not understood")?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), totals))
    }
}

impl Totals {
    /// Reads a file that callgrind wrote: the names of the events, and their sums.
    fn parse(text: &str) -> Option<Self> {
        let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name));
        let events: Vec<&str> = field("events:")?.split_whitespace().collect();
        let sums: Vec<u64> = field("totals:")?.split_whitespace().map(|sum| sum.parse().ok()).collect::<Option<_>>()?;
        // Callgrind leaves out zeros at the end.
        let sum = |name: &str| events.iter().position(|event| *event == name).map(|at| sums.get(at).copied().unwrap_or(0));
        let all = |names: &[&str]| names.iter().map(|name| sum(name)).sum::<Option<u64>>();
        let accesses = all(&["Ir", "Dr", "Dw"])?;
        let first_level = all(&["I1mr", "D1mr", "D1mw"])?;
        let memory = all(&["ILmr", "DLmr", "DLmw"])?;
        Some(Self {
            instructions: sum("Ir")?,
            branches: all(&["Bc", "Bi"])?,
            branch_misses: all(&["Bcm", "Bim"])?,
            // 1 for an access that the first cache has, 5 for one that the last cache has, 35 for one from memory.
            estimated_cycles: accesses.checked_sub(first_level)? + 5 * first_level.checked_sub(memory)? + 35 * memory,
        })
    }
}

/// Takes out of cargo's environment what would change the code that it builds.
fn neutral(cargo: &mut Command) {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        let flags = text == "RUSTFLAGS" || text == "CARGO_BUILD_RUSTFLAGS" || text == "CARGO_BUILD_TARGET";
        let target = text.starts_with("CARGO_TARGET_") && text.ends_with("_RUSTFLAGS");
        if flags || target || text.starts_with("CARGO_PROFILE_") {
            cargo.env_remove(&name);
        }
    }
    // Set, though empty: it stands above the flags of configuration files.
    cargo.env("CARGO_ENCODED_RUSTFLAGS", "");
}

/// The path of the program in cargo's messages, one JSON object a line.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let wanted = message["reason"] == "compiler-artifact" && message["target"]["name"] == name;
        wanted.then(|| message["executable"].as_str().map(PathBuf::from)).flatten()
    })
}

/// How often the process was moved to another processor, from `/proc/<process>/sched`.
fn migrations(process: u32) -> Option<f64> {
    parse_migrations(&std::fs::read_to_string(format!("/proc/{process}/sched")).ok()?)
}

fn parse_migrations(text: &str) -> Option<f64> {
    let line = text.lines().find(|line| line.starts_with("se.nr_migrations"))?;
    line.rsplit(':').next()?.trim().parse().ok()
}

/// Waits for the child and returns what it used; the time elapsed and the migrations are the caller's to fill in.
#[cfg(unix)]
fn wait(child: Child) -> std::io::Result<(ExitStatus, Usage)> {
    use std::{io, mem::MaybeUninit, os::unix::process::ExitStatusExt};

    let process = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to locals that live through the call. The process is ours and not yet waited for: `child`, which
        // alone could do so, is owned here.
        let ended = unsafe { libc::wait4(process, &raw mut status, 0, usage.as_mut_ptr()) };
        if ended == process {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: a `rusage` consists of integers only, for which zero is a value, and the kernel has overwritten it.
    let usage = unsafe { usage.assume_init() };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let usage = Usage {
        elapsed_s: 0.0,
        user_s: seconds(usage.ru_utime),
        system_s: seconds(usage.ru_stime),
        context_switches: (usage.ru_nvcsw + usage.ru_nivcsw) as f64,
        migrations: None,
        page_faults: (usage.ru_minflt + usage.ru_majflt) as f64,
    };
    Ok((ExitStatus::from_raw(status), usage))
}

#[cfg(not(unix))]
fn wait(_: Child) -> std::io::Result<(ExitStatus, Usage)> {
    Err(std::io::Error::other("this system does not tell what a process used"))
}

/// The mean of the threads of a program that prints a line for each, with nanoseconds and iterations.
pub fn mean_of_threads(printed: &str) -> Result<f64> {
    let mut all = Vec::new();
    for line in printed.lines() {
        let (ns, iterations) = line.split_once(' ').unwrap_or_default();
        let ns: Option<f64> = ns.parse().ok().filter(|ns: &f64| ns.is_finite() && *ns > 0.0);
        let understood = ns.filter(|_| iterations.parse::<u64>().is_ok_and(|iterations| iterations > 0));
        all.push(understood.with_context(|| format!("the line {line:?} is not understood"))?);
    }
    ensure!(!all.is_empty(), "the program printed nothing");
    Ok(all.iter().sum::<f64>() / all.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callgrind_totals() {
        let text = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw ILmr DLmr DLmw Bc Bcm Bi Bim\n\nfn=main\ntotals: 1000 200 100 10 8 2 4 1 0 50 6 7\n";
        let totals = Totals::parse(text).unwrap();
        assert_eq!((totals.instructions, totals.branches, totals.branch_misses), (1000, 57, 6));
        assert_eq!(totals.estimated_cycles, 1280 + 5 * 15 + 35 * 5);
        assert_eq!(Totals::parse("events: Ir\ntotals: 5\n"), None, "no branches counted");
        assert_eq!(Totals::parse(""), None);
        assert_eq!(Totals::parse("events: Ir\ntotals: many\n"), None);
    }

    #[test]
    fn what_a_program_prints_and_how_it_fails() {
        let shell = Program { name: "sh".into(), path: "/bin/sh".into() };
        assert_eq!(shell.output(&["-c", "echo 7"]).unwrap(), "7\n");
        let error = shell.output(&["-c", "echo first >&2; echo last >&2; exit 3"]).unwrap_err().to_string();
        assert!(error.contains("sh failed") && error.contains('3') && error.ends_with(": last"), "{error}");
    }

    #[test]
    fn the_executable_of_the_right_target() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"lib\"},\"executable\":null}\nno json\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"loop\"},\"executable\":\"/x/loop\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n"
        );
        assert_eq!(executable(messages, "loop"), Some("/x/loop".into()));
        assert_eq!(executable(messages, "other"), None);
    }

    #[test]
    fn migrations_of_a_process() {
        assert_eq!(parse_migrations("a (1, #threads: 1)\nse.nr_migrations      :      3\nnr_switches : 9\n"), Some(3.0));
        assert_eq!(parse_migrations("nr_switches : 9\n"), None);
    }

    #[test]
    fn what_the_program_prints_is_a_mean_of_threads() {
        assert_eq!(mean_of_threads("10.5 3\n").unwrap(), 10.5);
        assert_eq!(mean_of_threads("10 3\n20 1\n").unwrap(), 15.0);
        for printed in ["", "10\n", "x 3\n", "10 0\n", "10 x\n", "0 3\n", "nan 3\n", "10 3\n\n"] {
            assert!(mean_of_threads(printed).is_err(), "{printed:?}");
        }
    }
}
