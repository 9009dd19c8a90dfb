//! `cargo papers`: published performance figures beside what this machine gives, with a verdict and its reason.
//!
//! [`paper`] lists the papers; [`kudu`], [`ovs`], [`mongo`], [`bufbuilder`] and [`tarantool`] measure one each, with [`native`] for whole processes;
//! [`verdict`] judges what was measured by the rules of [`figures`]; [`row`] joins both, [`matrix`] lays values side by side, and [`table`], [`page`]
//! and [`readme`] show the rows; [`check`] is what CI runs.
mod bufbuilder;
mod check;
mod cli;
mod counts;
mod figures;
mod kudu;
mod machine;
mod matrix;
mod mongo;
mod native;
mod number;
mod ovs;
mod page;
mod paper;
mod progress;
mod readme;
mod row;
mod table;
mod tarantool;
mod verdict;

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::Path,
    process::ExitCode,
};

use anyhow::{Context, Result, ensure};
use clap::Parser;

use crate::{
    cli::{Cli, Command, Run},
    figures::Figures,
    page::Section,
    paper::Paper,
    progress::Progress,
    row::Row,
};

/// A check failed.
const FAILED: u8 = 1;
/// Nothing could be run.
const COULD_NOT_RUN: u8 = 2;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        None => run(&cli.run),
        Some(Command::List) => list(),
        Some(Command::Check) => check_all(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("papers: error: {error:#}");
        ExitCode::from(COULD_NOT_RUN)
    })
}

fn list() -> Result<ExitCode> {
    for paper in paper::ALL {
        print(&format!("{:<12}{}\n", paper.name, paper.about))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn check_all() -> Result<ExitCode> {
    let mut failed = false;
    for paper in paper::ALL {
        let faults = check::check(paper).with_context(|| paper.name)?;
        for fault in &faults {
            eprintln!("papers: {}: {fault}", paper.name);
        }
        if !faults.is_empty() {
            failed = true;
            eprintln!(
                "papers: {0}: if the change is meant, `cargo papers {0} --save` renews result.json and README.md",
                paper.name
            );
        }
    }
    Ok(if failed { ExitCode::from(FAILED) } else { ExitCode::SUCCESS })
}

/// A paper that was run.
struct Ran {
    paper: &'static Paper,
    figures: Figures,
    rows: Vec<Row>,
}

impl Ran {
    fn section(&self) -> Section<'_> {
        let source = &self.figures.source;
        Section {
            title: title(&self.figures),
            source: format!("Documented by {}: {}; {}.", source.project, source.subject, source.conditions),
            rows: &self.rows,
            matrices: &self.figures.matrices,
        }
    }
}

fn title(figures: &Figures) -> String {
    match figures.source.iterations {
        Some(calls) => format!("{} ({} calls a run)", figures.title, number::show(calls as f64)),
        None => figures.title.clone(),
    }
}

fn run(options: &Run) -> Result<ExitCode> {
    let papers = paper::select(&options.names)?;
    // What is wrong with files shows now, not after minutes of measuring.
    for file in options.json.iter().chain(&options.html) {
        ensure_writable(file)?;
    }
    let mut read = Vec::new();
    for paper in papers {
        let figures = Figures::read(&paper.file("figures.toml")?).with_context(|| paper.name)?;
        if options.save {
            prepare_save(paper).with_context(|| paper.name)?;
        }
        read.push((paper, figures));
    }

    let machine = machine::this();
    let mut ran: Vec<Ran> = Vec::new();
    for (paper, figures) in read {
        let progress = Progress::new();
        let measured = (paper.measure)(&progress).with_context(|| paper.name)?;
        drop(progress);
        let rows = row::rows(paper.name, &figures, &measured, &machine)?;
        print(&table::terminal(&title(&figures), &rows, &figures.matrices))?;
        print(&format!("{}\n", table::summary(&rows)))?;
        ran.push(Ran { paper, figures, rows });
    }
    print(&format!("{}\n", table::machine(&machine)))?;

    if let Some(file) = &options.json {
        let rows: Vec<Row> = ran.iter().flat_map(|ran| ran.rows.iter().cloned()).collect();
        write(file, &row::to_json(&rows)?)?;
    }
    if let Some(file) = &options.html {
        let sections: Vec<Section<'_>> = ran.iter().map(Ran::section).collect();
        write(file, &page::page(&sections))?;
    }
    if options.save {
        for ran in &ran {
            save(ran).with_context(|| ran.paper.name)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Without valgrind a result would lose its exact rows, and a README without the lines around the table cannot show them.
fn prepare_save(paper: &Paper) -> Result<()> {
    jeton_benches::harness::valgrind_version().context("a result is saved with its exact counts only")?;
    let readme = paper.file("README.md")?;
    readme::with_table(&fs::read_to_string(&readme).context("cannot read README.md")?, &[], &[])?;
    ensure_writable(&readme)?;
    ensure_writable(&paper.file("result.json")?)
}

fn save(ran: &Ran) -> Result<()> {
    write(&ran.paper.file("result.json")?, &row::to_json(&ran.rows)?)?;
    let readme = ran.paper.file("README.md")?;
    let text = fs::read_to_string(&readme).context("cannot read README.md")?;
    write(&readme, &readme::with_table(&text, &ran.rows, &ran.figures.matrices)?)
}

/// Tries to open the file for writing and leaves everything as it was.
fn ensure_writable(file: &Path) -> Result<()> {
    let new = !file.exists();
    ensure!(!file.is_dir(), "{} is a folder, not a file", file.display());
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(file)
        .with_context(|| format!("cannot write {}", file.display()))?;
    if new {
        fs::remove_file(file).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

/// Prints to stdout; a reader that has gone, as `head` does, is an error and no panic.
fn print(text: &str) -> Result<()> {
    let mut stdout = std::io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).context("cannot print")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_cannot_be_written_are_found_and_nothing_is_left_behind() {
        let folder = std::env::temp_dir().join(format!("jeton-papers-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = folder.join("new.json");
        ensure_writable(&file).unwrap();
        assert!(!file.exists());
        fs::write(&file, "kept").unwrap();
        ensure_writable(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
        assert!(ensure_writable(&folder).unwrap_err().to_string().contains("folder"));
        assert!(ensure_writable(&folder.join("missing/new.json")).unwrap_err().to_string().contains("cannot write"));
        fs::remove_dir_all(&folder).unwrap();
    }
}
