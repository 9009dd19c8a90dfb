//! The tables of `cargo rivals`.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::{
    report::{ReportRow, Status, Verdict},
    summary::Summary,
};

/// A table for each group and number of threads, with a title.
pub(crate) fn figures(rows: &[ReportRow]) -> String {
    let same = |a: &ReportRow, b: &ReportRow| (a.structure, a.group, a.threads) == (b.structure, b.group, b.threads);
    rows.chunk_by(same).map(group).collect::<Vec<_>>().join("\n")
}

fn group(rows: &[ReportRow]) -> String {
    let Some(first) = rows.first() else { return String::new() };
    let threads = if first.threads == 1 { "1 thread" } else { "2 threads" };
    let mut columns = vec!["contender", "ns", "quartiles"];
    if first.threads > 1 {
        columns.push("ns, system");
    }
    columns.extend(["× reference", "ours × faster", "windows"]);
    let mut table = table(&columns);
    for row in rows {
        let mut cells = vec![row.contender.to_owned(), middle(row, row.ns), spread(row.ns)];
        if first.threads > 1 {
            cells.push(middle(row, row.ns_system));
        }
        cells.extend([ratio(row.times_reference), ratio(row.ours_times_faster), windows(row)]);
        table.add_row(cells.into_iter().enumerate().map(|(column, text)| {
            let alignment = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(alignment)
        }));
    }
    format!("{} {}, {threads}: {}\n{table}\n", first.structure, first.group, first.operation)
}

/// The targets, a line each; empty if there are none.
pub(crate) fn targets(rows: &[ReportRow]) -> String {
    let mut table = table(&["time of the peer by ours", "at least", "ratio", ""]);
    let mut any = false;
    for row in rows {
        for target in &row.targets {
            any = true;
            let verdict = match target.verdict {
                Verdict::Met => "met",
                Verdict::NotMet => "not met",
                Verdict::NotMeasured => "not measured",
            };
            let what = format!("{}, {} threads: {} by {}", row.structure, row.threads, row.contender, target.ours);
            table.add_row([what, format!("{:.1}", target.at_least), ratio(target.ratio), verdict.to_owned()]);
        }
    }
    if any { format!("{table}\n") } else { String::new() }
}

fn middle(row: &ReportRow, summary: Option<Summary>) -> String {
    let none = match row.status {
        Status::Measured => "–",
        Status::Busy => "busy",
        Status::OneCpu => "one CPU",
        Status::OneOwner => "one owner",
    };
    summary.map_or(none.to_owned(), |summary| format!("{:.2}", summary.median))
}

fn spread(summary: Option<Summary>) -> String {
    summary.map_or_else(dash, |summary| format!("{:.2}–{:.2}", summary.first_quartile, summary.third_quartile))
}

fn ratio(ratio: Option<f64>) -> String {
    ratio.map_or_else(dash, |ratio| format!("{ratio:.2}"))
}

fn windows(row: &ReportRow) -> String {
    if row.windows_tried == 0 { dash() } else { format!("{} of {}", row.windows, row.windows_tried) }
}

fn dash() -> String {
    "–".to_owned()
}

fn table(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Disabled).set_header(columns);
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        counter,
        report::{self, tests::*},
        run::FEWEST_WINDOWS,
    };

    #[test]
    fn figures_ratios_and_verdicts_are_shown() {
        let rows = report::rows(&counter::STRUCTURE, &measured(FEWEST_WINDOWS, 2), 2, &machine());
        let text = figures(&rows);
        for part in ["counter ids, 1 thread", "counter statistics, 2 threads", "9.00", "4.50", "one owner", "20 of 25"] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
        let text = targets(&rows);
        assert!(text.contains("std Mutex<u32> by jeton IdLease 64") && text.contains("not met"), "{text}");
    }

    #[test]
    fn busy_stands_in_the_place_of_a_number() {
        let rows = report::rows(&counter::STRUCTURE, &measured(3, 2), 2, &machine());
        let text = figures(&rows);
        assert!(text.contains("busy") && !text.contains("9.00"), "{text}");
        assert!(targets(&rows).contains("not measured"));
    }
}
