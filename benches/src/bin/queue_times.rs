//! What waiting for a mode costs, and what asking for it does.
//!
//! * `queue_times idle WAIT WAITERS MS` prints microseconds of processor time and voluntary switches of all waiters;
//! * `queue_times tasks|threads KIND CONSUMERS BATCH` those of the halves fill and confirm;
//! * `queue_times flips original|ours FLIPS` how many were seen;
//! * `queue_times release original|ours MS` milliseconds until a blocked take returns, whose timeout is over in so many;
//! * `queue_times herd original|ours WAITERS CHANGES` voluntary switches for each change that nobody has waited for.
//!
//! `cargo papers` builds and runs this program.
use std::{io::Write, process::ExitCode, time::Duration};

use jeton_benches::scenario::queue::{faults, tasks, threads};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let Some(numbers) = numbers(&words) else {
        return refuse("queue_times: unknown arguments, or the run did not do all its work");
    };
    let text = numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
    match std::io::stdout().write_all(format!("{text}\n").as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("queue_times: cannot print: {error}")),
    }
}

fn numbers(words: &[&str]) -> Option<Vec<f64>> {
    match *words {
        ["idle", wait, waiters, ms] => {
            let used = threads::idle(wait, count(waiters)?, time(ms)?)?;
            Some(vec![used.cpu_us, used.switches])
        }
        ["tasks", kind, consumers, batch] => Some(tasks::time(kind, count(consumers)?, count(batch)?)?.to_vec()),
        ["threads", kind, consumers, batch] => Some(threads::time(kind, count(consumers)?, count(batch)?)?.to_vec()),
        ["flips", "original", flips] => Some(vec![f64::from(faults::flips_of_original(count(flips)?))]),
        ["flips", "ours", flips] => Some(vec![f64::from(faults::flips_of_ours(count(flips)?))]),
        ["release", "original", ms] => Some(vec![faults::release_of_original(time(ms)?)?]),
        ["release", "ours", ms] => Some(vec![faults::release_of_ours(time(ms)?)?]),
        ["herd", "original", waiters, changes] => Some(vec![faults::herd_of_original(count(waiters)?, count(changes)?)?]),
        ["herd", "ours", waiters, changes] => Some(vec![faults::herd_of_ours(count(waiters)?, count(changes)?)?]),
        _ => None,
    }
}

fn count(word: &str) -> Option<u32> {
    word.parse().ok().filter(|count| (1..=10_000).contains(count))
}

fn time(word: &str) -> Option<Duration> {
    Some(Duration::from_millis(u64::from(count(word)?)))
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
