//! One benchmark of MongoDB's cancellation, timed.
//!
//! `cancel_times KIND NAME MS` prints the nanoseconds of an iteration and how many there were; NAME is that of the benchmark, or `nothing` for
//! a region with nothing in it, or what threads do at the same time: then there is a line for each. `cargo papers` builds and runs this program.
use std::{io::Write, process::ExitCode, time::Duration};

use jeton_benches::scenario::cancel::timed::{KINDS, Timing, Together, run, run_together, time_nothing};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(timings) = timings(&arguments) else {
        if let [_, name, _] = &*arguments
            && (name.starts_with("uncancelable/") || name == "check/beside")
        {
            return refuse("cancel_times: the threads did not run at the same time");
        }
        let usage = "NAME MS; NAME is that of a benchmark, nothing, uncancelable/THREADS, check/alone or check/beside";
        return refuse(&format!("usage: cancel_times {} {usage}", KINDS.join("|")));
    };
    let text: String = timings.iter().map(|timing| format!("{:.4} {}\n", timing.ns, timing.iterations)).collect();
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("cancel_times: cannot print the times: {error}")),
    }
}

fn timings(arguments: &[String]) -> Option<Vec<Timing>> {
    let [kind, name, ms] = arguments else { return None };
    let time = Duration::from_millis(ms.parse().ok()?);
    match name.split_once('/') {
        Some(("uncancelable", threads)) => {
            let threads = threads.parse().ok().filter(|threads| (1..=64).contains(threads))?;
            run_together(kind, Together::Uncancelable(threads), time)
        }
        Some(("check", "alone")) => run_together(kind, Together::CheckAlone, time),
        Some(("check", "beside")) => run_together(kind, Together::CheckBeside, time),
        None if name == "nothing" => Some(vec![time_nothing(time)]),
        _ => run(kind, name, time).map(|timing| vec![timing]),
    }
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
