use super::*;
use crate::{
    figures::{Figures, Method},
    paper::ALL,
};

/// All that perf stat and `time` printed, as published: old, new.
const DOCUMENTED: [(&str, f64, f64); 13] = [
    ("time_real_s", 0.831, 0.005),
    ("time_user_s", 0.822, 0.001),
    ("time_sys_s", 0.005, 0.002),
    ("task_clock_ms", 790.584545, 0.888215),
    ("context_switches", 1.0, 0.0),
    ("cpu_migrations", 1.0, 0.0),
    ("page_faults", 273.0, 273.0),
    ("cycles", 2_583_562_591.0, 2_561_042.0),
    ("instructions", 2_805_308_074.0, 2_804_468.0),
    ("instructions_per_cycle", 1.09, 1.10),
    ("branches", 200_917_139.0, 480_394.0),
    ("branch_misses", 13_513.0, 11_575.0),
    ("elapsed_s", 0.790023494, 0.001068744),
];

fn figures() -> Figures {
    Figures::read(&ALL[0].file("figures.toml").unwrap()).unwrap()
}

fn documented(figures: &Figures, id: &str) -> f64 {
    figures.all.iter().find(|figure| figure.id == id).and_then(|figure| figure.documented).unwrap_or_else(|| panic!("{id}"))
}

fn usage(seconds: f64, migrations: Option<f64>) -> Usage {
    Usage { elapsed_s: seconds, user_s: seconds / 2.0, system_s: 0.001, context_switches: 2.0, migrations, page_faults: 70.0 }
}

fn sources(loops: Result<Loops, String>) -> Sources {
    let totals = |instructions| Totals { instructions, branches: 20, branch_misses: 3, estimated_cycles: 900 };
    let whole = loops.as_ref().map(|_| Processes { old: totals(2_800_000), new: totals(280) }).map_err(Clone::clone);
    let times = Processes { old: usage(0.8, Some(1.0)), new: usage(0.001, None) };
    Sources { loops, whole, times, plain_if_user_s: 0.3 }
}

#[test]
fn every_documented_figure_is_there() {
    let figures = figures();
    assert_eq!(figures.source.iterations, Some(CALLS));
    for (name, old, new) in DOCUMENTED {
        assert_eq!(documented(&figures, &format!("old.{name}")), old, "old.{name}");
        assert_eq!(documented(&figures, &format!("new.{name}")), new, "new.{name}");
    }
}

#[test]
fn derived_figures_follow_from_the_documented_ones() {
    let figures = figures();
    let calls = CALLS as f64;
    for name in ["instructions", "branches", "cycles"] {
        let (old, new) = (documented(&figures, &format!("old.{name}")), documented(&figures, &format!("new.{name}")));
        let equal = |id: &str, value: f64| {
            let documented = documented(&figures, id);
            assert!((documented / value - 1.0).abs() < 1e-12, "{id} is {documented}, not {value}");
        };
        equal(&format!("difference.{name}"), old - new);
        equal(&format!("per_call.{name}"), (old - new) / calls);
        equal(&format!("headline.{name}"), old / new);
        equal(&format!("plain_if.{name}"), old);
    }
    for (id, as_in) in [
        ("per_call.cycles_model", "per_call.cycles"),
        ("plain_if.per_call_instructions", "per_call.instructions"),
        ("plain_if.per_call_branches", "per_call.branches"),
        ("plain_if.time_user_s", "old.time_user_s"),
        ("used.saved_instructions", "per_call.instructions"),
    ] {
        assert_eq!(documented(&figures, id), documented(&figures, as_in), "{id}");
    }
}

#[test]
fn exactly_the_figures_are_measured() {
    let figures = figures();
    let ids = |wanted: fn(Method) -> bool| {
        let mut ids: Vec<&str> = figures.all.iter().filter(|figure| wanted(figure.method)).map(|figure| &*figure.id).collect();
        ids.sort_unstable();
        ids
    };
    for loops in [Ok(Loops::default()), Err("no valgrind".to_owned())] {
        assert!(measurements(&sources(loops.clone())).keys().eq(ids(|method| method != Method::Model)));
        assert!(exact(&loops).keys().eq(ids(|method| method == Method::Exact)));
    }
}

#[test]
fn without_valgrind_only_times_and_the_systems_counts_have_values() {
    let measured = measurements(&sources(Err("no valgrind".to_owned())));
    for figure in figures().all {
        let Some(value) = measured.get(&figure.id) else { continue };
        match figure.method {
            Method::Timed | Method::Os if figure.id != "new.cpu_migrations" => assert!(value.is_ok(), "{}", figure.id),
            _ => assert!(value.is_err(), "{}", figure.id),
        }
    }
    assert_eq!(measured["old.instructions"], Err("no valgrind".to_owned()));
    assert!(measured["new.cpu_migrations"].as_ref().is_err_and(|reason| reason.contains("migrated")));
}

#[test]
fn values_come_from_the_right_counts() {
    let counts = |instructions, conditional_branches, indirect_branches, estimated_cycles| Counts {
        instructions,
        conditional_branches,
        indirect_branches,
        estimated_cycles,
        ..Counts::default()
    };
    let mut report = Report::new();
    for (bench, counts) in [
        ("old_branch_free::n800m", counts(2_800_000_008, 200_000_002, 1, 2_900_000_000)),
        ("old_branch::n800m", counts(4_000_000_008, 600_000_002, 1, 4_100_000_000)),
        ("new_mask::n800m", counts(8, 1, 1, 100)),
        ("old_branch_used::n1000", counts(8_010, 0, 0, 0)),
        ("old_branch_used::n11000", counts(88_010, 0, 0, 0)),
        ("new_mask_used::n1000", counts(7_010, 0, 0, 0)),
        ("new_mask_used::n11000", counts(77_010, 0, 0, 0)),
    ] {
        report.insert(format!("kudu::{bench}"), counts);
    }
    let measured = measurements(&sources(Ok(Loops::from_report(&report).unwrap())));
    for (id, value) in [
        ("old.instructions", 2_800_000_008.0),
        ("old.branches", 200_000_003.0),
        ("difference.instructions", 2_800_000_000.0),
        ("difference.branches", 200_000_001.0),
        ("per_call.instructions", 3.5),
        ("plain_if.per_call_instructions", 5.0),
        ("new_loop.instructions", 8.0),
        ("used.old_instructions", 8.0),
        ("used.saved_instructions", 1.0),
        ("new.instructions", 280.0),
        ("headline.instructions", 10_000.0),
        ("old.time_user_s", 0.4),
        ("old.task_clock_ms", 401.0),
        ("old.cpu_migrations", 1.0),
        ("plain_if.time_user_s", 0.3),
    ] {
        assert_eq!(measured[id], Ok(value), "{id}");
    }
    report.remove("kudu::new_mask::n800m");
    assert!(Loops::from_report(&report).is_err_and(|error| error.to_string().contains("new_mask::n800m")));
}

#[test]
fn medians() {
    assert_eq!(median_usage(&[usage(1.0, None), usage(3.0, Some(1.0))]).migrations, None, "one unknown run leaves it unknown");
    assert_eq!(median_usage(&[usage(1.0, Some(0.0)), usage(3.0, Some(1.0))]).migrations, Some(0.5));
}

#[test]
fn a_wrong_last_id_is_an_error() {
    assert!(ensure_last_id("new-mask", "799999999\n").is_ok());
    assert!(ensure_last_id("new-mask", "0\n").is_err_and(|error| error.to_string().contains("ID 0, not 799999999")));
}
