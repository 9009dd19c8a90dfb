//! The HTML page: complete in itself, no scripts, nothing loaded.

use maud::{DOCTYPE, Markup, html};

use crate::{
    matrix::{self, Grid, Matrix},
    row::Row,
    table::{cells, machine, summary},
    verdict::Verdict,
};

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:90rem;padding:0 1rem;color:#1b1b1b;background:#fff}\
.scroll{overflow-x:auto}\
table{border-collapse:collapse;font-size:.9rem}\
th,td{text-align:left;vertical-align:top;padding:.35rem .6rem;border-bottom:1px solid #d5d5d5}\
td.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
td.verdict{white-space:nowrap;font-weight:600}\
.yes{color:#0b6b2b}.direction{color:#0b5a7a}.no{color:#a11616}.untested{color:#7a5a00}";

/// One paper on the page.
#[derive(Debug)]
pub struct Section<'a> {
    /// The paper's title.
    pub title: String,
    /// Where its figures come from.
    pub source: String,
    /// Its rows.
    pub rows: &'a [Row],
    /// Its tables of values side by side.
    pub matrices: &'a [Matrix],
}

/// The page.
pub fn page(sections: &[Section<'_>]) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "jeton: published figures and what this machine gives" }
                style { (maud::PreEscaped(STYLE)) }
            }
            body {
                h1 { "Published figures and what this machine gives" }
                @for section in sections { (paper(section)) }
            }
        }
    }
    .into_string()
}

fn paper(section: &Section<'_>) -> Markup {
    html! {
        section {
            h2 { (section.title) }
            p { (section.source) }
            p { (summary(section.rows)) }
            @if let Some(row) = section.rows.first() { p { (machine(&row.machine)) } }
            div.scroll {
                table {
                    thead {
                        tr {
                            @for name in ["figure", "unit", "documented", "measured", "ratio", "tolerance", "verdict", "reason"] {
                                th scope="col" { (name) }
                            }
                        }
                    }
                    tbody { @for row in &matrix::listed(section.rows, section.matrices) { (line(row)) } }
                }
            }
            @for matrix in section.matrices { (grid(&matrix.grid(section.rows))) }
        }
    }
}

fn grid(grid: &Grid) -> Markup {
    html! {
        h3 { (grid.title) }
        div.scroll {
            table {
                thead { tr { @for name in &grid.header { th scope="col" { (name) } } } }
                tbody {
                    @for line in &grid.lines {
                        tr {
                            @for name in line.iter().take(1) { th scope="row" { (name) } }
                            @for number in line.iter().skip(1) { td.number { (number) } }
                        }
                    }
                }
            }
        }
        ul { @for column in &grid.legend { li { (column) } } }
    }
}

fn line(row: &Row) -> Markup {
    let [figure, unit, numbers @ ..] = cells(row);
    let class = match row.verdict {
        Some(Verdict::Reproduced) => "yes",
        Some(Verdict::InDirection) => "direction",
        Some(Verdict::NotReproduced) => "no",
        Some(Verdict::NotTestable) => "untested",
        None => "beside",
    };
    html! {
        tr {
            th scope="row" { (figure) }
            td { (unit) }
            @for number in numbers { td.number { (number) } }
            td class={ "verdict " (class) } {
                @match row.verdict {
                    Some(verdict) => { (verdict.to_string()) }
                    None => { "–" }
                }
            }
            td { (row.reason) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::tests::sample;

    #[test]
    fn text_is_escaped_and_every_row_is_there() {
        let (_, rows) = sample();
        let text = page(&[Section { title: "<T>".into(), source: "\"S\" & co".into(), rows: &rows, matrices: &[] }]);
        assert!(text.starts_with("<!DOCTYPE html>"));
        assert!(text.contains("<h2>&lt;T&gt;</h2>") && text.contains("&amp; co"));
        assert!(text.contains("A &lt;note&gt; | of") && !text.contains("<note>"));
        assert!(text.contains("CPU A &amp; B"));
        assert_eq!(text.matches("<tr>").count(), 1 + rows.len());
        for outside in ["http:", "https:", "<script", "src=", "href="] {
            assert!(!text.contains(outside), "{outside}");
        }
    }
}
