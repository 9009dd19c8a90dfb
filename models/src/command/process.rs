//! Runs tests of one program as a process of their own and reads their reports.

use std::{
    io::{BufRead, BufReader, Read},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};

use crate::explore::report::{Report, Step};

/// What a process said.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) reports: Vec<Report>,
    /// The steps of the failing execution, where they were asked for.
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
    pub(super) stderr: String,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with this status.
    Exited(ExitStatus),
    /// Not within its time.
    #[default]
    TimedOut,
}

/// Runs the tests `names` of `program` with the variables `environment`; `seen` hears of each report at once.
pub(super) fn run(
    program: &Path,
    names: &[&str],
    environment: &[(&str, &str)],
    limit: Duration,
    mut seen: impl FnMut(&Report),
) -> Result<Said> {
    let mut command = Command::new(program);
    command.args(["--nocapture", "--test-threads=2", "--include-ignored", "--exact"]).args(names);
    // What only the commands set.
    command.env_remove("JETON_WEAKEN").env_remove("JETON_TRACE").envs(environment.iter().copied());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("{} does not start", program.display()))?;
    let (stdout, stderr) = (child.stdout.take().context("no output")?, child.stderr.take().context("no output")?);
    let mut said = Said::default();
    let errors = thread::spawn(move || {
        let mut bytes = Vec::new();
        _ = BufReader::new(stderr).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    });
    // Stops the process when its time is over; its output then ends, too.
    let waiting = thread::spawn(move || {
        let deadline = Instant::now() + limit;
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return End::Exited(status),
                Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(5)),
                _ => {
                    _ = child.kill();
                    _ = child.wait();
                    return End::TimedOut;
                }
            }
        }
    });
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        if let Some(report) = Report::read(&line) {
            seen(&report);
            said.reports.push(report);
        } else {
            said.steps.extend(Step::read(&line));
        }
    }
    said.end = waiting.join().unwrap_or(End::TimedOut);
    said.stderr = errors.join().unwrap_or_default();
    Ok(said)
}
