//! The command line of `cargo papers`.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

const AFTER_HELP: &str = "\
Exit status:
  0  the papers ran (whatever the verdicts), or every check passed
  1  a check failed
  2  could not run: wrong usage, a build that fails, a file that cannot be written

Examples:
  cargo papers                       all papers, as a table
  cargo papers kudu --html kudu.html one paper, as a table and a page
  cargo papers --json results.json   all papers, also as JSON
  cargo papers kudu --save           renews papers/01-kudu/result.json and the table of its README
  cargo papers check                 what CI runs

Needs valgrind (Debian, Ubuntu: apt-get install valgrind); without it the figures that need it are `not testable here`.";

/// Runs published performance measurements again and shows each documented figure beside what this machine gives.
///
/// Instruction and branch counts of loops are exact; times are measured, and never decide anything.
#[derive(Debug, Parser)]
#[command(name = "cargo papers", bin_name = "cargo papers", version, after_help = AFTER_HELP, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// `list` or `check`; without one the papers run.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// What to run.
    #[command(flatten)]
    pub run: Run,
}

/// The options of a run.
#[derive(Debug, clap::Args)]
pub struct Run {
    /// The papers to run [default: all]; `cargo papers list` shows them
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// Also writes an array with one object a figure
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Also writes one page, complete in itself
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Renews result.json and the table in the README of each paper that runs
    #[arg(long)]
    pub save: bool,
}

/// The commands beside a run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Shows the papers, one a line
    List,
    /// Checks the figures, results and tables that the repository holds, and counts every exact figure again
    #[command(after_help = "Exit status: 0 all checks passed, 1 a check failed (one line each), 2 could not run.")]
    Check,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn parse(arguments: &[&str]) -> Result<Cli, clap::Error> {
        Cli::try_parse_from(["cargo papers"].iter().chain(arguments))
    }

    #[test]
    fn the_definition_is_sound() {
        Cli::command().debug_assert();
    }

    #[test]
    fn names_and_files() {
        let cli = parse(&["kudu", "--json", "a.json", "--html", "b.html"]).unwrap();
        assert_eq!(cli.run.names, ["kudu"]);
        assert_eq!(cli.run.json.unwrap(), PathBuf::from("a.json"));
        assert_eq!(cli.run.html.unwrap(), PathBuf::from("b.html"));
        assert!(cli.command.is_none() && !cli.run.save);
        assert!(parse(&[]).unwrap().run.names.is_empty());
        assert!(parse(&["--save"]).unwrap().run.save);
    }

    #[test]
    fn commands() {
        assert!(matches!(parse(&["list"]).unwrap().command, Some(Command::List)));
        assert!(matches!(parse(&["check"]).unwrap().command, Some(Command::Check)));
    }

    #[test]
    fn wrong_usage_has_status_2() {
        for wrong in [&["--json"][..], &["--unknown"], &["check", "--json", "x"]] {
            assert_eq!(parse(wrong).unwrap_err().exit_code(), 2, "{wrong:?}");
        }
        assert_eq!(parse(&["--help"]).unwrap_err().exit_code(), 0);
    }
}
