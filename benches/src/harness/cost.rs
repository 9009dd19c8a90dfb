//! The cost of a call, and the page that shows it: `core/docs/cost/<structure>.md`, made from the baseline.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use super::{Counts, Event, baseline::Baseline, environment, table::decimal};

/// What a call costs.
pub(super) const EVENTS: [Event; 6] = [
    Event::Instructions,
    Event::ConditionalBranches,
    Event::IndirectBranches,
    Event::DataReads,
    Event::DataWrites,
    Event::EstimatedCycles,
];

/// By function, what one call costs: the difference between two numbers of calls (ids such as n1000 and n11000).
pub(super) fn of_a_call<'a>(benches: impl Iterator<Item = (&'a str, Counts)>) -> BTreeMap<String, [Option<f64>; 6]> {
    let mut runs: BTreeMap<&str, BTreeMap<u64, Counts>> = BTreeMap::new();
    for (name, counts) in benches {
        if let Some((function, calls)) = name.rsplit_once("::n")
            && let Ok(calls) = calls.parse()
        {
            runs.entry(function).or_default().insert(calls, counts);
        }
    }
    let cost = |runs: &BTreeMap<u64, Counts>| {
        let ((few, few_counts), (many, many_counts)) = (runs.first_key_value()?, runs.last_key_value()?);
        let slope = |event: Event| {
            let difference = event.of(many_counts)? as f64 - event.of(few_counts)? as f64;
            Some(difference / (many - few) as f64)
        };
        (few < many).then(|| EVENTS.map(slope))
    };
    runs.iter().filter_map(|(function, runs)| Some(((*function).to_owned(), cost(runs)?))).collect()
}

/// The page of `structure`, a bench file; `None` if the structure has no module in the core.
///
/// # Errors
/// The workspace cannot be found.
pub(super) fn page(baseline: &Baseline, host: &str, structure: &str) -> anyhow::Result<Option<(PathBuf, String)>> {
    let core = environment::workspace_root()?.join("core");
    if !core.join("src").join(structure).with_extension("rs").exists() {
        return Ok(None);
    }
    let prefix = format!("{structure}::");
    let benches = baseline.benches.iter().filter(|(name, _)| name.starts_with(&prefix));
    let calls = of_a_call(benches.map(|(name, accepted)| (name.as_str(), accepted.counts())));
    let mut text = format!(
        "Exact counts on {host} with {}: `cargo icount {structure}`. The rows `no_…` and `nothing_…` are loops alone: what a loop and its `black_box` cost, part of the other rows.\n\n",
        baseline.rustc
    );
    text.push_str("| a call of | instructions | conditional branches | reads | writes |\n|---|---:|---:|---:|---:|\n");
    for (function, [instructions, conditional, _, reads, writes, _]) in calls {
        let cells = [instructions, conditional, reads, writes].map(|cost| cost.map(decimal).unwrap_or_default());
        text.push_str(&format!("| `{}` | {} |\n", function.trim_start_matches(&prefix), cells.join(" | ")));
    }
    text.push_str("\nConditional branches include one for each `lock xadd` that valgrind counts and the program does not have.\n");
    Ok(Some((core.join("docs/cost").join(structure).with_extension("md"), text)))
}

/// Writes the pages of `structures`; returns the names of those that have one.
///
/// # Errors
/// A page cannot be written.
pub(super) fn write_pages(baseline: &Baseline, host: &str, structures: &[&str]) -> anyhow::Result<Vec<String>> {
    let mut written = Vec::new();
    for structure in structures {
        if let Some((path, text)) = page(baseline, host, structure)? {
            fs::write(&path, text)
                .map_err(|error| io::Error::new(error.kind(), format!("core/docs/cost/{structure}.md: {error}")))?;
            written.push((*structure).to_owned());
        }
    }
    Ok(written)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_pages_are_those_of_the_baseline() -> anyhow::Result<()> {
        let host = "x86_64-unknown-linux-gnu";
        let baseline = Baseline::load(&environment::benches_dir()?.join("baseline").join(host).with_extension("json"))?;
        let mut pages = 0;
        for structure in environment::bench_files()? {
            if let Some((path, text)) = page(&baseline, host, &structure)? {
                assert_eq!(fs::read_to_string(path)?, text, "`cargo icount {structure} --bless` writes it anew");
                pages += 1;
            }
        }
        assert!(pages > 0);
        Ok(())
    }

    #[test]
    fn a_call_is_the_difference_of_two_runs() {
        let counts = |instructions| Counts { instructions, data_reads: 7, ..Counts::default() };
        let runs =
            [("a::f::n1000", counts(3_513)), ("a::f::n11000", counts(38_513)), ("a::f::n800m", counts(1)), ("a::g::n1", counts(1))];
        let calls = of_a_call(runs.into_iter());
        assert_eq!(calls.len(), 1);
        assert_eq!(calls["a::f"], [Some(3.5), Some(0.0), Some(0.0), Some(0.0), Some(0.0), Some(0.0)]);
    }
}
