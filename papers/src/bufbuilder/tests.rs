use jeton_benches::harness::Counts;

use super::*;
use crate::{
    figures::{Figure, Figures, Method},
    paper,
    verdict::{Verdict, judge},
};

fn figures() -> Figures {
    let paper = paper::ALL.iter().find(|paper| paper.name == "bufbuilder").unwrap();
    Figures::read(&paper.file("figures.toml").unwrap()).unwrap()
}

fn figure<'f>(figures: &'f Figures, id: &str) -> &'f Figure {
    figures.all.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}"))
}

/// What a document costs in arbitrary units.
fn cost(kind: &str, workload: &str) -> u32 {
    let appends = match kind {
        "whole" => 1_000,
        "split" => 250,
        _ => 500,
    };
    appends
        + match workload {
            "appends" => 0,
            "new" => 1_000,
            _ => 2_000,
        }
}

fn sources() -> (Times, Result<Report, String>) {
    let (mut times, mut report) = (Times::new(), Report::new());
    for kind in KINDS {
        for (workload, _) in WORKLOADS {
            let ns = f64::from(cost(kind, workload));
            times.insert(format!("{kind}.{workload}"), vec![2.0 * ns, ns, ns / 2.0]);
            for (id, documents) in [("n100", 100), ("n1100", 1_100)] {
                let instructions = u64::from(77 + documents * cost(kind, workload));
                report.insert(format!("bufbuilder::{kind}_{workload}::{id}"), Counts { instructions, ..Counts::default() });
            }
        }
    }
    (times, Ok(report))
}

#[test]
fn the_documented_figures_are_there() {
    let figures = figures();
    let documented: Vec<(&str, f64)> = figures.all.iter().filter_map(|figure| Some((&*figure.id, figure.documented?))).collect();
    let expected = [
        ("throughput_gain", DOCUMENTED),
        ("growth.first_bytes", 512.0),
        ("growth.factor", 2.0),
        ("growth.oversize_slack_bytes", 16_384.0),
        ("growth.cap_bytes", 67_108_864.0),
    ];
    assert_eq!(documented, expected);
}

#[test]
fn exactly_the_figures_are_measured() {
    let figures = figures();
    let (times, counts) = sources();
    let mut ids: Vec<&str> = figures.all.iter().map(|figure| &*figure.id).collect();
    ids.sort_unstable();
    assert!(measurements(&times, &counts).keys().eq(ids.iter()));
    assert!(measurements(&times, &Err("no valgrind".into())).keys().eq(ids.iter()));
    let mut of_file: Vec<&str> =
        figures.all.iter().filter(|figure| figure.method == Method::Exact).map(|figure| &*figure.id).collect();
    of_file.sort_unstable();
    assert!(exact(&counts).keys().eq(of_file));
}

#[test]
fn values_come_from_the_right_times_and_counts() {
    let (times, counts) = sources();
    let all = measurements(&times, &counts);
    for (id, value) in [
        ("whole.new.ns", 2_000.0),
        ("cursors.produced.instructions", 2_500.0),
        ("split.appends.instructions", 250.0),
        ("share_of_instructions.produced", 1.0 / 3.0),
        ("share_of_time.appends", 1.0),
        ("gain_by_instructions.appends", 3.0),
        ("gain_in_time.new", 0.6),
        ("throughput_gain", 3_000.0 / 2_250.0 - 1.0),
    ] {
        assert!((all[id].clone().unwrap() - value).abs() < 1e-12, "{id}");
    }
}

#[test]
fn the_documented_gain_lies_on_the_line() {
    let (_, counts) = sources();
    let share = exact_share(&counts);
    // Of so much appending, a quarter of which is left.
    assert!((1.0 / (1.0 - share * 0.75) - 1.0 - DOCUMENTED).abs() < 1e-12);
    assert!(share_of_gain(&|_| Ok(1.0)).is_err(), "no gain at all");
}

fn exact_share(counts: &Result<Report, String>) -> f64 {
    exact(counts)["documented_at.share_of_instructions"].clone().unwrap()
}

#[test]
fn both_growth_rules_are_read_off_the_buffers() {
    let all = exact(&sources().1);
    let of = |kind: &str| {
        ["first_bytes", "factor", "oversize_slack_bytes", "cap_bytes", "grows_past_half_of_cap"]
            .map(|figure| all[&format!("{kind}.{figure}")].clone().unwrap())
    };
    assert_eq!(of("growth"), [512.0, 2.0, 16_384.0, 67_108_864.0, 0.0]);
    assert_eq!(of("ours"), [512.0, 2.0, 0.0, 67_108_864.0, 1.0]);
}

#[test]
fn a_split_that_wins_nothing_is_not_reproduced() {
    let figures = figures();
    let all = measurements(&sources().0, &sources().1);
    let figure = figure(&figures, "throughput_gain");
    let verdict = |gain: f64| judge(figure, &Ok(gain), &all).verdict;
    assert_eq!(verdict(0.22), Some(Verdict::Reproduced));
    assert_eq!(verdict(0.6), Some(Verdict::InDirection));
    assert_eq!(verdict(0.0), Some(Verdict::NotReproduced));
}
