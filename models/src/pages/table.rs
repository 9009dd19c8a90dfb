//! What a page's table says.

use super::Source;

/// What shows that a row's ordering is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is the weakest there is.
    NothingWeaker,
    /// No tool can show it; this argument does.
    Argued(String),
    /// Tests, the first of which must fail when the ordering is weakened.
    Tests(Vec<String>),
}

/// A line of a table of orderings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The row's name, such as `counter-6`.
    pub name: String,
    /// The operation.
    pub operation: String,
    /// Its ordering.
    pub ordering: String,
    /// What shows that it is needed.
    pub evidence: Evidence,
    /// File and line.
    pub place: String,
}

/// The columns of a table of orderings.
const COLUMNS: [&str; 6] = ["row", "operation", "ordering", "pairs with", "what breaks without it", "evidence"];

/// The rows of all tables of orderings in a source's inner documentation; an error says which line is none.
pub(super) fn read(source: &Source) -> Vec<Result<Row, String>> {
    let mut rows = Vec::new();
    let mut in_table = false;
    for (number, line) in source.text.lines().enumerate() {
        let Some(cells) = cells(line) else {
            in_table = false;
            continue;
        };
        if cells == COLUMNS {
            in_table = true;
        } else if in_table && !cells.iter().all(|cell| cell.chars().all(|letter| "-:".contains(letter))) {
            let place = format!("{}:{}", source.path.display(), number + 1);
            rows.push(row(&cells, &place).map_err(|problem| format!("{place}: {problem}")));
        }
    }
    rows
}

/// The cells of a line of a table in inner documentation.
fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.strip_prefix("//!")?.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(line.split('|').map(str::trim).collect())
}

fn row(cells: &[&str], place: &str) -> Result<Row, String> {
    let [name, operation, ordering, _pairs_with, _breaks, evidence] = cells else {
        return Err(format!("{} cells instead of {}", cells.len(), COLUMNS.len()));
    };
    let evidence = evidence_in(evidence)?;
    Ok(Row {
        name: (*name).to_owned(),
        operation: (*operation).to_owned(),
        ordering: (*ordering).to_owned(),
        evidence,
        place: place.to_owned(),
    })
}

fn evidence_in(cell: &str) -> Result<Evidence, String> {
    if cell == "nothing weaker" {
        return Ok(Evidence::NothingWeaker);
    }
    if let Some(argument) = cell.strip_prefix("argued:") {
        return Ok(Evidence::Argued(argument.trim().to_owned()));
    }
    let name = |part: &str| part.trim().strip_prefix('`')?.strip_suffix('`').map(str::to_owned);
    let names: Option<Vec<String>> = cell.split(',').map(name).collect();
    names.map(Evidence::Tests).ok_or_else(|| format!("evidence is `a_test`, `nothing weaker` or `argued: …`, not `{cell}`"))
}
