//! `cargo rivals`: our structures and their peers by the clock, in one interleaved run. See `--help`.
use std::process::ExitCode;

use clap::Parser;
use jeton_rivals::command::{self, Arguments};

fn main() -> ExitCode {
    match command::run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
