//! Documents, timed.
//!
//! `document_times KIND WORKLOAD MS` prints the nanoseconds of a document and how many there were. `cargo papers` builds and runs this program.
use std::{io::Write, process::ExitCode, time::Duration};

use jeton_benches::scenario::append::workload::{KINDS, WORKLOADS, time};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let timing = match &*arguments {
        [kind, workload, ms] => ms.parse().ok().and_then(|ms| time(kind, workload, Duration::from_millis(ms))),
        _ => None,
    };
    let Some(timing) = timing else {
        return refuse(&format!("usage: document_times {} {} MS", KINDS.join("|"), WORKLOADS.map(|(name, _)| name).join("|")));
    };
    match writeln!(std::io::stdout(), "{:.4} {}", timing.ns, timing.iterations) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("document_times: cannot print the time: {error}")),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
