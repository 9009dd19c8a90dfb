//! `cargo weaken`.

use std::process::ExitCode;

use clap::Parser;
use jeton_models::command::{exit, weaken};

fn main() -> ExitCode {
    exit("weaken", weaken::run(&weaken::Arguments::parse()))
}
