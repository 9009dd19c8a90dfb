//! `cargo icount`: exact counts of the benches, compared with the baseline. See `--help`.
use std::process::ExitCode;

use clap::Parser;
use jeton_benches::harness::command::{self, Arguments, Verdict};

fn main() -> ExitCode {
    match command::run(&Arguments::parse()) {
        Ok(Verdict::Equal) => ExitCode::SUCCESS,
        Ok(Verdict::Different) => ExitCode::from(1),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
