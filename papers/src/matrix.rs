//! A table of measured values: what one run gives for several implementations, side by side.

use serde::Deserialize;

use crate::{
    figures::{Figure, Method},
    number,
    row::Row,
};

/// A table whose cells are figures: the cell of the column `a` in the line `b` is the figure `a.b`. Those that figures.toml does not
/// list by themselves are documented by nobody.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Matrix {
    /// What the table shows, with the unit.
    pub title: String,
    /// The unit of every cell.
    pub unit: String,
    /// The lines.
    pub lines: Vec<String>,
    /// The columns.
    pub columns: Vec<Column>,
    /// More columns: quotients of two.
    #[serde(default)]
    pub ratios: Vec<Ratio>,
}

/// One implementation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The first part of its figures' ids, and its head.
    pub id: String,
    /// How its values come about.
    pub method: Method,
    /// What it is.
    pub note: String,
}

/// A quotient of two columns.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// The column above.
    pub of: String,
    /// The column below.
    pub by: String,
}

/// A matrix with its values, ready to be printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The title.
    pub title: String,
    /// The first cell is that of the lines' names.
    pub header: Vec<String>,
    /// As many cells as the header.
    pub lines: Vec<Vec<String>>,
    /// What each column is.
    pub legend: Vec<String>,
}

impl Matrix {
    /// Adds the cells that are not there to the figures.
    pub fn add_to(&self, figures: &mut Vec<Figure>) {
        for column in &self.columns {
            for line in &self.lines {
                let id = format!("{}.{line}", column.id);
                if figures.iter().all(|figure| figure.id != id) {
                    let note = column.note.clone();
                    figures.push(Figure { note, ..Figure::beside(id, self.unit.clone(), column.method) });
                }
            }
        }
    }

    fn has(&self, id: &str) -> bool {
        let column = |column: &Column| id.strip_prefix(&*column.id).and_then(|rest| rest.strip_prefix('.'));
        self.columns.iter().filter_map(column).any(|rest| self.lines.iter().any(|line| line == rest))
    }

    /// The table with the values of the rows.
    pub fn grid(&self, rows: &[Row]) -> Grid {
        let value = |column: &str, line: &str| {
            let id = format!("{column}.{line}");
            rows.iter().find(|row| row.figure == id).and_then(|row| row.measured)
        };
        let ratio = |ratio: &Ratio, line: &str| Some(value(&ratio.of, line)? / value(&ratio.by, line)?);
        let show = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| number::significant(value, 3));
        let columns = self.columns.iter().map(|column| column.id.clone());
        let ratios = self.ratios.iter().map(|ratio| format!("{} / {}", ratio.of, ratio.by));
        let line = |line: &String| {
            let values = self.columns.iter().map(|column| value(&column.id, line));
            let ratios = self.ratios.iter().map(|of| ratio(of, line));
            [line.clone()].into_iter().chain(values.chain(ratios).map(show)).collect()
        };
        Grid {
            title: self.title.clone(),
            header: [String::new()].into_iter().chain(columns).chain(ratios).collect(),
            lines: self.lines.iter().map(line).collect(),
            legend: self.columns.iter().map(|column| format!("{}: {}", column.id, column.note)).collect(),
        }
    }
}

/// The rows that no matrix shows, and those with a documented value.
pub fn listed(rows: &[Row], matrices: &[Matrix]) -> Vec<Row> {
    let shown = |row: &Row| row.documented.is_none() && matrices.iter().any(|matrix| matrix.has(&row.figure));
    rows.iter().filter(|row| !shown(row)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        figures::Figures,
        row::{self, tests::machine},
    };

    const FIGURES: &str = r#"
title = "T"
[source]
project = "P"
subject = "S"
conditions = "C"
iterations = 1
[[figure]]
id = "old.x.1"
documented = 10
unit = "ms"
method = "timed"
tolerance = 0.5
[[matrix]]
title = "Times"
unit = "ms"
lines = ["x.1", "x.2"]
columns = [
    { id = "old", method = "timed", note = "The old one." },
    { id = "new", method = "timed", note = "The new one." },
]
ratios = [{ of = "old", by = "new" }]
"#;

    #[test]
    fn cells_are_figures_and_the_grid_shows_their_values() {
        let figures = Figures::parse(FIGURES).unwrap();
        let ids: Vec<&str> = figures.all.iter().map(|figure| &*figure.id).collect();
        assert_eq!(ids, ["old.x.1", "old.x.2", "new.x.1", "new.x.2"]);
        let mut all: crate::verdict::Measurements =
            ids.iter().zip([12.0, 8.0, 4.0]).map(|(id, ms)| ((*id).into(), Ok(ms))).collect();
        all.insert("new.x.2".into(), Err("too long".into()));
        let rows = row::rows("p", &figures, &all, &machine()).unwrap();
        let grid = figures.matrices[0].grid(&rows);
        assert_eq!(grid.header, ["", "old", "new", "old / new"]);
        assert_eq!(grid.lines, [["x.1", "12", "4", "3"], ["x.2", "8", "–", "–"]]);
        assert_eq!(grid.legend, ["old: The old one.", "new: The new one."]);
        let listed: Vec<String> = listed(&rows, &figures.matrices).into_iter().map(|row| row.figure).collect();
        assert_eq!(listed, ["old.x.1"]);
    }
}
