//! The tables of `cargo rivals`.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use crate::{
    report::{ReportRow, Status, TargetRow, Verdict},
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
    let mut columns = vec!["contender", "ns", "quartiles", "best"];
    if first.threads > 1 {
        columns.push("ns, system");
    }
    columns.extend(["× reference", "ours × faster", "windows"]);
    let mut table = table(&columns);
    for row in rows {
        let mark = if row.not_correct.is_some() { " †" } else { "" };
        let mut cells = vec![format!("{}{mark}", row.contender), middle(row, row.ns), spread(row.ns), best(row.ns)];
        if first.threads > 1 {
            cells.push(middle(row, row.ns_system));
        }
        cells.extend([ratio(row.times_reference), ratio(row.ours_times_faster), windows(row)]);
        table.add_row(cells.into_iter().enumerate().map(|(column, text)| {
            let alignment = if column == 0 { CellAlignment::Left } else { CellAlignment::Right };
            Cell::new(text).set_alignment(alignment)
        }));
    }
    let wrong = rows.iter().filter_map(|row| Some(format!("† {}, not correct: {}\n", row.contender, row.not_correct.as_ref()?)));
    let wrong: String = wrong.collect();
    format!("{} {}, {threads}: {}\n{table}\n{wrong}", first.structure, first.group, first.operation)
}

/// The targets, a line each; empty if there are none.
pub(crate) fn targets(rows: &[ReportRow]) -> String {
    let mut table = table(&["time of the peer by ours", "at least", "ratio", ""]);
    let mut any = false;
    for row in rows {
        for target in &row.targets {
            any = true;
            let verdict = match target.verdict {
                Verdict::Met if target.peers_measured < target.peers.len() => "met, as far as measured",
                Verdict::Met => "met",
                Verdict::NotMet => "not met",
                Verdict::NotMeasured => "not measured",
                Verdict::NotAsked => "",
            };
            let threads = if row.threads == 1 { "1 thread" } else { "2 threads" };
            let what = format!("{} {}, {threads}: {} by {}", row.structure, row.group, peer(target), row.contender);
            let at_least = target.at_least.map_or_else(dash, |at_least| format!("{at_least:.2}"));
            table.add_row([what, at_least, ratio(target.ratio), verdict.to_owned()]);
        }
    }
    if any { format!("{table}\n") } else { String::new() }
}

/// The peer, and among how many it is the fastest.
fn peer(target: &TargetRow) -> String {
    let name = target.peer.or(target.peers.first().copied()).unwrap_or_default();
    match (target.peers.len(), target.peers_measured) {
        (1, _) => name.to_owned(),
        (all, 0) => format!("the fastest of {all} peers"),
        (all, measured) if all == measured => format!("{name} (fastest of {all})"),
        (all, measured) => format!("{name} (fastest of {measured}, of {all} peers)"),
    }
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

fn best(summary: Option<Summary>) -> String {
    summary.map_or_else(dash, |summary| format!("{:.2}", summary.minimum))
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
    fn who_is_not_correct_is_marked() {
        let mut measured = measured(FEWEST_WINDOWS, 2);
        measured.iter_mut().filter(|row| row.entry.name == "std Mutex<u32>").for_each(|row| row.wrong = Some("lost".to_owned()));
        let text = figures(&report::rows(&counter::STRUCTURE, &measured, 2, &machine()));
        for part in ["std Mutex<u32> †", "† std Mutex<u32>, not correct: lost\n"] {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
    }

    #[test]
    fn the_fastest_of_some_peers() {
        let text = |peer, peers, peers_measured| {
            super::peer(&TargetRow { peer, peers, peers_measured, at_least: None, ratio: None, verdict: Verdict::NotAsked })
        };
        assert_eq!(text(None, &["a"], 0), "a");
        assert_eq!(text(Some("b"), &["a", "b"], 2), "b (fastest of 2)");
        assert_eq!(text(Some("b"), &["a", "b"], 1), "b (fastest of 1, of 2 peers)");
        assert_eq!(text(None, &["a", "b"], 0), "the fastest of 2 peers");
    }

    #[test]
    fn busy_stands_in_the_place_of_a_number() {
        let rows = report::rows(&counter::STRUCTURE, &measured(3, 2), 2, &machine());
        let text = figures(&rows);
        assert!(text.contains("busy") && !text.contains("9.00"), "{text}");
        assert!(targets(&rows).contains("not measured"));
    }
}
