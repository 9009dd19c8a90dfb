use jeton_benches::harness::Counts;

use super::*;
use crate::{
    figures::{Figure, Figures, Method},
    paper,
    verdict::{Verdict, judge},
};

fn figures() -> Figures {
    let paper = paper::ALL.iter().find(|paper| paper.name == "mongo").unwrap();
    Figures::read(&paper.file("figures.toml").unwrap()).unwrap()
}

/// The sixteen documented rows, as published: nanoseconds before and after, CPU time and iterations before.
const DOCUMENTED: &str = "\
BM_create_single_token_from_source 14.1 14.1 14.1 49630229
BM_uncancelable_token_ctor 172 14.1 172 4077472
BM_cancel_tokens_from_single_source/1 1507 1494 1509 464189
BM_cancel_tokens_from_single_source/10 1998 1985 2000 350055
BM_cancel_tokens_from_single_source/100 6985 6950 6982 100347
BM_cancel_tokens_from_single_source/1000 59314 59051 59304 11813
BM_cancel_tokens_from_single_source/10000 864175 843504 863888 915
BM_cancel_tokens_from_single_source/100000 9274757 9178104 9270859 73
BM_cancel_tokens_from_single_source/1000000 127268434 126632492 127259349 6
BM_check_if_token_from_source_canceled 0.371 0.371 0.371 1000000000
BM_cancelation_source_from_token_ctor 934 928 934 1161130
BM_cancelation_source_default_ctor 187 190 187 3745716
BM_ranged_depth_cancelation_hierarchy/1 1788 1771 1789 391206
BM_ranged_depth_cancelation_hierarchy/10 4735 4707 4736 148036
BM_ranged_depth_cancelation_hierarchy/100 36921 38334 36914 18951
BM_ranged_depth_cancelation_hierarchy/1000 497926 478853 497745 1405";

fn figure<'f>(figures: &'f Figures, id: &str) -> &'f Figure {
    figures.all.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}"))
}

#[test]
fn every_documented_row_is_there_with_both_columns() {
    let figures = figures();
    for line in DOCUMENTED.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, before, after, cpu, iterations] = words[..] else { panic!("{line}") };
        for (kind, documented) in [(BEFORE, before), (AFTER, after)] {
            let figure = figure(&figures, &format!("{kind}.{name}"));
            assert_eq!(figure.documented, documented.parse().ok(), "{kind}.{name}");
            assert!(figure.direction.is_some() && figure.note.contains("CPU time"), "{kind}.{name}");
        }
        let digits = |text: &str| text.replace(',', "");
        let note = digits(&figure(&figures, &format!("{BEFORE}.{name}")).note);
        assert!(note.contains(&format!("CPU time {cpu} ns {iterations} iterations")), "{note}");
        assert!(names().any(|measured| measured == name), "{name}");
        assert!(figures.matrices[0].lines.iter().any(|line| line == name), "{name}");
    }
    let more = figures.all.iter().filter(|figure| figure.documented.is_some() && !figure.id.starts_with("ratio."));
    assert_eq!(more.count(), 32);
}

#[test]
fn the_ratios_follow_from_the_documented_rows() {
    let figures = figures();
    let documented = |id: &str| figure(&figures, id).documented.unwrap();
    let ns = |kind: &str, name: &str| documented(&format!("{kind}.{name}"));
    let per_item = |kind: &str, name: &str, size: u32| ns(kind, &format!("{name}/{size}")) / f64::from(size);
    let near = |id: &str, quotient: f64| assert!((documented(id) / quotient - 1.0).abs() < 1e-12, "{id}");
    near("ratio.uncancelable", ns(BEFORE, UNCANCELABLE) / ns(AFTER, UNCANCELABLE));
    near("ratio.static_to_token", ns(AFTER, UNCANCELABLE) / ns(AFTER, TOKEN));
    for kind in [BEFORE, AFTER] {
        let quotient = |name, many, few| per_item(kind, name, many) / per_item(kind, name, few);
        near(&format!("ratio.{kind}.callbacks_1m_by_1k"), quotient(CALLBACKS, 1_000_000, 1_000));
        near(&format!("ratio.{kind}.callbacks_1k_by_100"), quotient(CALLBACKS, 1_000, 100));
        near(&format!("ratio.{kind}.levels_1k_by_100"), quotient(LEVELS, 1_000, 100));
    }
    assert_eq!(figures.all.iter().filter(|figure| figure.id.starts_with("ratio.")).count(), 8);
}

/// Times in every cell, and a count in every bench.
fn sources() -> (Times, Result<Report, String>) {
    let mut times = Times::from([("clock.region".to_owned(), Ok(vec![30.0]))]);
    for (at, kind) in KINDS.into_iter().enumerate() {
        for name in names().chain(TOGETHER.map(|(_, figure)| figure.to_owned())) {
            let deep = levels(&name).is_some_and(|levels| levels > DEEPEST_OF_CORE);
            let base = 10.0 * (at + 1) as f64;
            let runs = [base, 3.0 * base, 2.0 * base].map(|ns| if name == "check.beside" { 5.0 * ns } else { ns });
            times.insert(format!("{kind}.{name}"), if deep { Err("too deep".into()) } else { Ok(runs.to_vec()) });
        }
    }
    let mut report = Report::new();
    for bench in [
        "nothing_loop",
        "before_uncancelable",
        "before_token",
        "before_check",
        "before_source",
        "before_child",
        "before_callbacks_and_drop",
        "before_levels_and_drop",
        "after_uncancelable",
        "after_token",
        "after_check",
        "core_uncancelable",
        "core_token",
        "core_check",
        "core_callbacks_and_drop",
        "tree_source",
        "tree_child",
        "tree_levels_and_drop",
        "std_uncancelable",
        "std_token",
        "std_check",
        "std_source",
        "std_child",
        "std_callbacks_and_drop",
        "std_levels_and_drop",
    ] {
        for (id, instructions) in [("n1000", 6_000), ("n11000", 66_000)] {
            report.insert(format!("cancel::{bench}::{id}"), Counts { instructions, ..Counts::default() });
        }
    }
    (times, Ok(report))
}

#[test]
fn exactly_the_figures_are_measured() {
    let figures = figures();
    let (times, counts) = sources();
    let mut ids: Vec<&str> = figures.all.iter().map(|figure| &*figure.id).collect();
    ids.sort_unstable();
    assert!(measurements(&times, &counts, 2.0).keys().eq(ids.iter()));
    assert!(measurements(&times, &Err("no valgrind".into()), 2.0).keys().eq(ids.iter()));
    let mut of_file: Vec<&str> =
        figures.all.iter().filter(|figure| figure.method == Method::Exact).map(|figure| &*figure.id).collect();
    of_file.sort_unstable();
    assert!(exact(&counts).keys().eq(of_file));
}

#[test]
fn values_come_from_the_right_times_and_counts() {
    let (times, counts) = sources();
    let all = measurements(&times, &counts, 2.0);
    for (id, value) in [
        ("before.BM_uncancelable_token_ctor", 20.0),
        ("core.BM_cancel_tokens_from_single_source/1000000", 60.0),
        ("ratio.uncancelable", 0.5),
        ("ratio.static_to_token", 1.0),
        ("ratio.after.callbacks_1m_by_1k", 0.001),
        ("after.deepest", 10_000.0),
        ("after.uncancelable.meeting", 1.0),
        ("core.check.meeting", 5.0),
        ("core.uncancelable.instructions", 6.0),
        ("std.child.instructions", 6.0),
        ("core.level.instructions", 6.0),
        ("loop.instructions", 6.0),
        ("clock.region", 30.0),
        (PROCESSORS, 2.0),
    ] {
        assert_eq!(all[id], Ok(value), "{id}");
    }
    assert_eq!(all["before.BM_ranged_depth_cancelation_hierarchy/1000000"], Err("too deep".into()));
}

#[test]
fn a_change_that_wins_nothing_is_not_reproduced() {
    let figures = figures();
    let (times, counts) = sources();
    let all = measurements(&times, &counts, 2.0);
    let figure = figure(&figures, "ratio.uncancelable");
    let verdict = |ratio: f64| judge(figure, &Ok(ratio), &all).verdict;
    assert_eq!(verdict(12.0), Some(Verdict::Reproduced));
    assert_eq!(verdict(5.5), Some(Verdict::InDirection));
    assert_eq!(verdict(1.0), Some(Verdict::NotReproduced));
}
