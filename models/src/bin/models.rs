//! `cargo models`.

use std::process::ExitCode;

use clap::Parser;
use jeton_models::command::{exit, models};

fn main() -> ExitCode {
    exit("models", models::run(&models::Arguments::parse()))
}
