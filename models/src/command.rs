//! The commands `cargo models` and `cargo weaken`: they build the models, run them as processes and read what those print.
mod build;
pub mod models;
mod process;
mod progress;
pub mod weaken;

use std::process::ExitCode;

use comfy_table::{Table, presets};

/// What a command found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// All is as it must be.
    Good,
    /// Something is not.
    Bad,
}

/// The exit status: 0 if all is as it must be, 1 if not, 2 if the command could not find out.
pub fn exit(command: &str, result: anyhow::Result<Verdict>) -> ExitCode {
    match result {
        Ok(Verdict::Good) => ExitCode::SUCCESS,
        Ok(Verdict::Bad) => ExitCode::from(1),
        Err(error) => {
            eprintln!("{command}: error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn table(header: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    table.add_rows(rows);
    table
}

/// The text, cut to what fits into a table.
fn short(text: &str) -> String {
    const MOST: usize = 90;
    if text.chars().count() <= MOST { text.to_owned() } else { text.chars().take(MOST - 1).chain(['…']).collect() }
}

fn seconds(milliseconds: u128) -> String {
    format!("{:.2} s", milliseconds as f64 / 1000.0)
}
