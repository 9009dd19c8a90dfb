//! The exact counts of a bench file, as `cargo icount` takes them.

use anyhow::Result;
use jeton_benches::harness::{self, Report};

use crate::progress::Progress;

/// Counts. If that fails, what the benches have printed is shown.
pub fn count(file: &str, progress: &Progress) -> Result<Report> {
    let measured = harness::measure(&[file], &mut |line| progress.step(line));
    Ok(measured.inspect_err(|error| {
        if !error.output().is_empty() {
            progress.say(error.output().trim_end());
        }
    })?)
}

/// The same; or why there are no counts, if the machine has no valgrind.
pub fn count_if_possible(file: &str, progress: &Progress) -> Result<Result<Report, String>> {
    match harness::valgrind_version() {
        Ok(_) => Ok(Ok(count(file, progress)?)),
        Err(missing) => {
            progress.say(&missing.to_string());
            Ok(Err(missing.to_string()))
        }
    }
}
