//! One of Kudu's loops as a whole process, for what is only known of a process: its time, page faults, start-up.
//!
//! `kudu_loop VERSION CALLS` makes CALLS call IDs and prints the last one. The number of calls comes from the command line, so that
//! the compiler cannot compute the answer in advance; `cargo papers` builds, runs and counts this program.
use std::io::Write;
use std::process::ExitCode;

use jeton_benches::scenario::kudu;

const USAGE: &str = "usage: kudu_loop old-branch|old-branch-free|new-mask CALLS";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(version), Some(calls), None) = (arguments.next(), arguments.next(), arguments.next()) else {
        return refuse(USAGE);
    };
    let Some(calls) = calls.to_str().and_then(|calls| calls.parse::<u64>().ok()) else {
        return refuse("kudu_loop: CALLS is not a number of calls");
    };
    let last = match version.to_str() {
        Some("old-branch") => old_branch(calls),
        Some("old-branch-free") => old_branch_free(calls),
        Some("new-mask") => new_mask(calls),
        _ => return refuse(USAGE),
    };
    match writeln!(std::io::stdout(), "{last}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("kudu_loop: cannot print the last ID: {error}")),
    }
}

// A function of its own for each loop: inlined into `main`, the loop is compiled in another shape (the new version was not even
// folded), and no longer the one that the iai-callgrind bench counts.

#[inline(never)]
fn old_branch(calls: u64) -> u32 {
    kudu::old_branch(calls)
}

#[inline(never)]
fn old_branch_free(calls: u64) -> u32 {
    kudu::old_branch_free(calls)
}

#[inline(never)]
fn new_mask(calls: u64) -> u32 {
    kudu::new_mask(calls)
}

fn refuse(message: &str) -> ExitCode {
    eprintln!("{message}");
    ExitCode::from(2)
}
