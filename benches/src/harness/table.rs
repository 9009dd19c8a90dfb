//! The tables of `cargo icount`.

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};

use super::{
    Counts, Event, Report,
    baseline::{Baseline, Difference},
    cost,
    targets::{Limit, Outcome},
};

/// Every bench and its counts; a count that is not the baseline's as `baseline → measured`.
pub(super) fn counts(report: &Report, baseline: Option<&Baseline>, differences: &[Difference]) -> Table {
    let mut table = table(&[
        "bench",
        "instructions",
        "Δ",
        "cond. branches",
        "ind. branches",
        "reads",
        "writes",
        "cycles, est.",
        "mispredicted",
        "cache misses",
        "allocations",
    ]);
    for (name, counts) in report {
        let show = |event| event_cell(event, name, counts, differences);
        let change = baseline.and_then(|baseline| baseline.benches.get(name)?.get(Event::Instructions));
        let mut row = vec![
            name.clone(),
            show(Event::Instructions),
            change.map_or("new".to_owned(), |before| signed(i128::from(counts.instructions) - i128::from(before))),
        ];
        let events =
            [Event::ConditionalBranches, Event::IndirectBranches, Event::DataReads, Event::DataWrites, Event::EstimatedCycles];
        row.extend(events.map(show));
        row.push(grouped(counts.mispredicted_conditional + counts.mispredicted_indirect));
        row.push(grouped(counts.cache_misses.first_level));
        row.push(match counts.allocations {
            None => "–".to_owned(),
            Some(_) => format!("{} ({} B)", show(Event::AllocatedBlocks), show(Event::AllocatedBytes)),
        });
        table.add_row(row);
    }
    align(table, 1)
}

fn event_cell(event: Event, name: &str, counts: &Counts, differences: &[Difference]) -> String {
    let shown = |count: Option<u64>| count.map_or("–".to_owned(), grouped);
    let change = differences.iter().find_map(|difference| match difference {
        Difference::Changed { bench, event: changed, baseline, measured } if bench == name && *changed == event => {
            Some(format!("{} → {}", shown(*baseline), shown(*measured)))
        }
        _ => None,
    });
    change.unwrap_or_else(|| shown(event.of(counts)))
}

/// The cost of a call, exactly, of every bench that ran with two numbers of calls (ids such as n1000 and n11000).
pub(super) fn slopes(report: &Report) -> Table {
    let mut heads = vec!["a call of"];
    heads.extend(cost::EVENTS.map(Event::name));
    let mut table = table(&heads);
    let benches = report.iter().map(|(name, counts)| (name.as_str(), *counts));
    for (function, call) in cost::of_a_call(benches) {
        let cells = call.map(|cost| cost.map(decimal).unwrap_or_default());
        table.add_row([function].into_iter().chain(cells));
    }
    align(table, 1)
}

/// Every target, its limit, its figure and whether that keeps the limit.
pub(super) fn targets(outcomes: &[Outcome<'_>]) -> Table {
    let mut table = table(&["target", "what", "limit", "measured", ""]);
    for outcome in outcomes {
        let limit = match outcome.limit {
            Limit::AtMost(limit) => format!("≤ {}", decimal(limit)),
            Limit::Exactly(limit) => format!("= {}", decimal(limit)),
            Limit::Within { documented, percent } => format!("{} ± {percent} %", decimal(documented)),
        };
        let figure = match (outcome.figure, outcome.limit) {
            (None, _) => "not run".to_owned(),
            (Some(figure), Limit::Within { documented, .. }) => {
                format!("{} ({:+.3} %)", decimal(figure), (figure / documented - 1.0) * 100.0)
            }
            (Some(figure), _) => decimal(figure),
        };
        let verdict = match outcome.figure {
            None => "",
            Some(_) if outcome.fails() => "FAILS",
            Some(_) => "holds",
        };
        let event = outcome.target.event.name();
        table.add_row([
            outcome.target.name.clone(),
            format!("{}: {event}", outcome.target.what),
            limit,
            figure,
            verdict.to_owned(),
        ]);
    }
    align(table, 2)
}

fn table(heads: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_header(heads.iter().map(Cell::new));
    table
}

/// The first columns, `words` of them, to the left, the others, which are numbers, to the right.
fn align(mut table: Table, words: usize) -> Table {
    for column in table.column_iter_mut().skip(words) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// With a comma after each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn signed(number: i128) -> String {
    let sign = if number > 0 { "+" } else { "" };
    if number == 0 { "0".to_owned() } else { format!("{sign}{number}") }
}

/// Up to four decimals, and none that is not needed.
pub(super) fn decimal(number: f64) -> String {
    if number >= 0.0 && number.fract() == 0.0 {
        return grouped(number as u64);
    }
    let text = format!("{number:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0, 999, 1000, 2_800_000_013].map(grouped), ["0", "999", "1,000", "2,800,000,013"]);
        assert_eq!([0, 5, -5].map(signed), ["0", "+5", "-5"]);
        assert_eq!([3.5, 0.0, 8.0, -1.0, 5.0034].map(decimal), ["3.5", "0", "8", "-1", "5.0034"]);
    }

    #[test]
    fn the_slope_comes_from_two_numbers_of_calls() {
        let counts = |instructions| Counts { instructions, ..Counts::default() };
        let report = Report::from([
            ("a::f::n1000".to_owned(), counts(3_513)),
            ("a::f::n11000".to_owned(), counts(38_513)),
            ("a::f::n800m".to_owned(), counts(1)),
            ("a::g::n1000".to_owned(), counts(1)),
        ]);
        let text = slopes(&report).to_string();
        assert!(text.contains("3.5") && text.contains("a::f") && !text.contains("a::g"), "{text}");
    }

    #[test]
    fn a_difference_shows_both_counts() {
        let report = Report::from([("a::f::n1".to_owned(), Counts { instructions: 11, ..Counts::default() })]);
        let change = Difference::Changed {
            bench: "a::f::n1".to_owned(),
            event: Event::Instructions,
            baseline: Some(10),
            measured: Some(11),
        };
        assert!(counts(&report, None, &[change]).to_string().contains("10 → 11"));
    }
}
