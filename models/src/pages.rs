//! The pages' tables of orderings, held against the code.
//!
//! Every atomic operation of the library names a row, `ord!("counter-6", Relaxed)` or `fence!("gate-2", SeqCst)`; the row stands in
//! one table, in part 6 of the structure's page; and its evidence is a test that there is. [`problems`] finds what does not fit, and
//! [`Row`]s are what `cargo weaken` works through. The text is searched for what it needs and not parsed as Rust.
mod code;
mod table;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::{Path, PathBuf},
};

pub use code::{Use, test_names};
pub use table::{Evidence, Row};

/// A source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// From the workspace's root.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// The workspace's root.
pub fn workspace() -> PathBuf {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    package.parent().unwrap_or(package).to_path_buf()
}

/// The library's sources but for the shim, which is the place for bare orderings.
///
/// # Errors
/// If a file cannot be read.
pub fn library(root: &Path) -> io::Result<Vec<Source>> {
    let mut sources = read_all(root, "core/src")?;
    sources.extend(read_all(root, "std-ext/src")?);
    sources.retain(|source| !source.path.starts_with("core/src/sync") && source.path != Path::new("core/src/sync.rs"));
    Ok(sources)
}

/// The right one of the steps to a free list, and the page with its table.
///
/// # Errors
/// If a file cannot be read.
pub fn free_list(root: &Path) -> io::Result<Vec<Source>> {
    ["models/src/steps.rs", "models/src/steps/free_list/s5_tagged.rs"].iter().map(|path| read(root, Path::new(path))).collect()
}

/// The names of all tests that evidence may name.
///
/// # Errors
/// If a file cannot be read.
pub fn all_tests(root: &Path) -> io::Result<BTreeSet<String>> {
    let mut sources = library(root)?;
    sources.extend(read_all(root, "models/tests")?);
    Ok(sources.iter().flat_map(|source| test_names(&source.text)).collect())
}

/// The rows of all tables.
///
/// # Errors
/// The lines that are no rows.
pub fn rows(sources: &[Source]) -> Result<Vec<Row>, Vec<String>> {
    let (rows, errors): (Vec<_>, Vec<_>) = sources.iter().flat_map(table::read).partition(Result::is_ok);
    if errors.is_empty() {
        Ok(rows.into_iter().flatten().collect())
    } else {
        Err(errors.into_iter().filter_map(Result::err).collect())
    }
}

/// All operations that name a row.
pub fn uses(sources: &[Source]) -> Vec<Use> {
    sources.iter().flat_map(code::uses).collect()
}

/// Whatever does not fit together in `sources`; `tests` are the names that evidence may name.
pub fn problems(sources: &[Source], tests: &BTreeSet<String>) -> Vec<String> {
    let mut problems: Vec<String> = sources.iter().flat_map(code::bare_orderings).collect();
    let rows = match rows(sources) {
        Ok(rows) => rows,
        Err(errors) => {
            problems.extend(errors);
            return problems;
        }
    };
    let mut by_name: BTreeMap<String, (Vec<Row>, Vec<Use>)> = BTreeMap::new();
    for row in rows {
        problems.extend(evidence_problem(&row, tests));
        by_name.entry(row.name.clone()).or_default().0.push(row);
    }
    for operation in uses(sources) {
        by_name.entry(operation.row.clone()).or_default().1.push(operation);
    }
    for (name, (rows, uses)) in by_name {
        match (rows.as_slice(), uses.as_slice()) {
            ([row], [operation]) if row.ordering != operation.ordering => problems
                .push(format!("{}: {name} is {}, but {} says {}", operation.place, operation.ordering, row.place, row.ordering)),
            ([_], [_]) | ([], []) => {}
            ([], [operation, ..]) => problems.push(format!("{}: {name} stands in no table", operation.place)),
            ([row, ..], []) => problems.push(format!("{}: no operation names {name}", row.place)),
            ([_], [_, again, ..]) => problems.push(format!("{}: a second operation names {name}", again.place)),
            ([_, again, ..], _) => problems.push(format!("{}: {name} stands in a second line", again.place)),
        }
    }
    problems
}

fn evidence_problem(row: &Row, tests: &BTreeSet<String>) -> Option<String> {
    let problem = match &row.evidence {
        Evidence::NothingWeaker if row.ordering == "Relaxed" => return None,
        Evidence::NothingWeaker => format!("something is weaker than {}", row.ordering),
        Evidence::Argued(argument) if argument.is_empty() => "argued without an argument".to_owned(),
        Evidence::Argued(_) => return None,
        Evidence::Tests(names) => format!("there is no test `{}`", names.iter().find(|name| !tests.contains(*name))?),
    };
    Some(format!("{}: {}: {problem}", row.place, row.name))
}

/// The parts of a structure's page, in their order.
const PARTS: [&str; 10] = [
    "1. Problem",
    "2. Use",
    "3. Example",
    "4. State",
    "5. Invariants",
    "6. Orderings",
    "7. Progress",
    "8. Cost",
    "9. What surprised us",
    "10. References",
];

/// The pages of the structures: those files of the core's source folder that have a folder beside them.
pub fn structure_pages(sources: &[Source]) -> impl Iterator<Item = &Source> {
    sources.iter().filter(|source| {
        let folder = source.path.with_extension("");
        source.path.parent() == Some(Path::new("core/src"))
            && !folder.ends_with("util")
            && sources.iter().any(|other| other.path.parent() == Some(&folder))
    })
}

/// Whether a page has its parts, and no others, in their order; the error says where it leaves it.
///
/// # Errors
/// The first heading that is not the expected one.
pub fn check_parts(page: &Source) -> Result<(), String> {
    let mut headings = page.text.lines().filter_map(|line| line.strip_prefix("//! # "));
    for part in PARTS {
        let found = headings.next().unwrap_or("nothing");
        if !found.starts_with(part) {
            return Err(format!("{}: expected the part `{part}`, found `{found}`", page.path.display()));
        }
    }
    headings.next().map_or(Ok(()), |more| Err(format!("{}: `{more}` comes after the last part", page.path.display())))
}

fn read(root: &Path, path: &Path) -> io::Result<Source> {
    let text = fs::read_to_string(root.join(path));
    let text = text.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))?;
    Ok(Source { path: path.to_path_buf(), text })
}

/// All Rust files below `folder`, sorted.
fn read_all(root: &Path, folder: impl AsRef<Path>) -> io::Result<Vec<Source>> {
    let folder = folder.as_ref();
    let mut paths: Vec<PathBuf> = fs::read_dir(root.join(folder))?
        .map(|entry| entry.map(|entry| folder.join(entry.file_name())))
        .collect::<io::Result<_>>()?;
    paths.sort();
    let mut sources = Vec::new();
    for path in paths {
        if root.join(&path).is_dir() {
            sources.extend(read_all(root, &path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            sources.push(read(root, &path)?);
        }
    }
    Ok(sources)
}
