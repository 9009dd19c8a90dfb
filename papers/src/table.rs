//! The table on the terminal and the one in a paper's README.

use std::fmt::Write as _;

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table, presets};

use crate::{
    matrix::{self, Matrix},
    number,
    row::{Machine, Row},
    verdict::Verdict,
};

/// Narrower terminals get the reasons below the table.
const WIDE: u16 = 160;
/// The width when the output is no terminal.
const UNKNOWN_WIDTH: u16 = 200;

const NUMBERS: [&str; 6] = ["figure", "unit", "documented", "measured", "ratio", "tolerance"];

/// The rows of one paper for the terminal, then its matrices.
pub fn terminal(title: &str, rows: &[Row], matrices: &[Matrix]) -> String {
    let listed = matrix::listed(rows, matrices);
    let mut text = figures(title, &listed);
    for matrix in matrices {
        let grid = matrix.grid(rows);
        let (mut table, _) = new_table();
        table.set_header(grid.header.iter().map(|name| bold(name)));
        for line in &grid.lines {
            let numbers = line.iter().skip(1).map(|text| Cell::new(text).set_alignment(CellAlignment::Right));
            table.add_row(line.iter().take(1).map(Cell::new).chain(numbers));
        }
        let _ = writeln!(text, "\n{}\n{table}\n{}", grid.title, grid.legend.join("\n"));
    }
    text
}

fn new_table() -> (Table, u16) {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    let width = match table.width() {
        Some(width) => width,
        None => {
            table.set_width(UNKNOWN_WIDTH);
            UNKNOWN_WIDTH
        }
    };
    (table, width)
}

fn figures(title: &str, rows: &[Row]) -> String {
    let (mut table, width) = new_table();
    let wide = width >= WIDE;
    let mut header = NUMBERS.map(bold).to_vec();
    header.push(bold("verdict"));
    if wide {
        header.push(bold("reason"));
    }
    table.set_header(header);
    for row in rows {
        let [figure, unit, numbers @ ..] = cells(row);
        let mut line = vec![Cell::new(figure), Cell::new(unit)];
        line.extend(numbers.map(|text| Cell::new(text).set_alignment(CellAlignment::Right)));
        line.push(verdict_cell(row.verdict));
        if wide {
            line.push(Cell::new(&row.reason));
        }
        table.add_row(line);
    }
    let mut text = format!("{title}\n{table}\n");
    if !wide {
        for row in rows {
            // Writing into a string cannot fail.
            let _ = writeln!(text, "{}: {}", row.figure, row.reason);
        }
    }
    text
}

/// How many rows have each verdict, in one line.
pub fn summary(rows: &[Row]) -> String {
    let count = |verdict: Option<Verdict>| rows.iter().filter(|row| row.verdict == verdict).count();
    let mut parts: Vec<String> = Verdict::ALL.into_iter().map(|verdict| format!("{} {verdict}", count(Some(verdict)))).collect();
    let beside = count(None);
    if beside > 0 {
        parts.push(format!("{beside} beside them, documented by nobody"));
    }
    parts.join(" · ")
}

/// The machine in one line.
pub fn machine(machine: &Machine) -> String {
    let known = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    format!(
        "CPU {} · {} · valgrind {} · revision {}",
        known(&machine.cpu),
        known(&machine.rustc),
        machine.valgrind.as_deref().map_or("missing", |version| version.trim_start_matches("valgrind-")),
        known(&machine.revision),
    )
}

/// The rows of one paper as a Markdown table, with summary, matrices and machine.
pub fn markdown(rows: &[Row], matrices: &[Matrix]) -> String {
    let mut text = String::from("| figure | unit | documented | measured | ratio | tolerance | verdict | reason |\n");
    text += "|---|---|---:|---:|---:|---:|---|---|\n";
    for row in &matrix::listed(rows, matrices) {
        let verdict = row.verdict.map_or_else(|| "–".to_owned(), |verdict| verdict.to_string());
        let cells = cells(row).into_iter().chain([verdict, row.reason.clone()]);
        let line: Vec<String> = cells.collect();
        let _ = writeln!(text, "| {} |", escaped(&line));
    }
    let _ = writeln!(text, "\n{}", escape_markdown(&summary(rows)));
    for matrix in matrices {
        let grid = matrix.grid(rows);
        let _ = writeln!(text, "\n{}\n", escape_markdown(&grid.title));
        let _ = writeln!(text, "| {} |\n|---|{}", escaped(&grid.header), "---:|".repeat(grid.header.len() - 1));
        for line in &grid.lines {
            let _ = writeln!(text, "| {} |", escaped(line));
        }
        text.push('\n');
        for column in &grid.legend {
            let _ = writeln!(text, "* {}", escape_markdown(column));
        }
    }
    if let Some(row) = rows.first() {
        let _ = writeln!(text, "\n{}", escape_markdown(&machine(&row.machine)));
    }
    text
}

/// The first six columns: figure, unit, documented, measured, ratio, tolerance.
pub fn cells(row: &Row) -> [String; 6] {
    let dash = || "–".to_owned();
    [
        row.figure.clone(),
        row.unit.clone(),
        number::show_or_dash(row.documented),
        number::show_or_dash(row.measured),
        row.ratio.map_or_else(dash, |ratio| number::significant(ratio, 4)),
        row.tolerance.map_or_else(dash, number::percent),
    ]
}

fn bold(text: &str) -> Cell {
    Cell::new(text).add_attribute(Attribute::Bold)
}

fn verdict_cell(verdict: Option<Verdict>) -> Cell {
    let Some(verdict) = verdict else { return Cell::new("–") };
    Cell::new(verdict).fg(match verdict {
        Verdict::Reproduced => Color::Green,
        Verdict::InDirection => Color::Cyan,
        Verdict::NotReproduced => Color::Red,
        Verdict::NotTestable => Color::Yellow,
    })
}

fn escaped(cells: &[String]) -> String {
    cells.iter().map(|cell| escape_markdown(cell)).collect::<Vec<_>>().join(" | ")
}

fn escape_markdown(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            '|' | '*' | '`' | '\\' => escaped.extend(['\\', character]),
            '_' => escaped.push_str("\\_"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '\n' => escaped.push(' '),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::sample;

    #[test]
    fn the_terminal_table_has_a_line_a_figure() {
        let (_, rows) = sample();
        let text = terminal("T", &rows, &[]);
        for word in ["old", "instructions", "1,000", "1,005", "1.005", "1 %", "reproduced in direction", "documented by nobody"] {
            assert!(text.contains(word), "{word}\n{text}");
        }
    }

    #[test]
    fn the_summary_counts_every_row() {
        let (_, rows) = sample();
        let text = "2 reproduced · 1 reproduced in direction · 0 not reproduced · 0 not testable here · \
                    1 beside them, documented by nobody";
        assert_eq!(summary(&rows), text);
        assert!(machine(&rows[0].machine).ends_with("rustc 1 · valgrind 3 · revision unknown"));
    }

    #[test]
    fn markdown_is_escaped() {
        let (_, rows) = sample();
        let text = markdown(&rows, &[]);
        assert!(text.contains(r#"A &lt;note&gt; \| of "ours" &amp; theirs."#), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with('|')).count(), 2 + rows.len());
    }
}
