use jeton_benches::harness::Counts;

use super::*;
use crate::{
    figures::{Figure, Figures, Method},
    paper,
    verdict::{Verdict, judge},
};

fn figures() -> Figures {
    let paper = paper::ALL.iter().find(|paper| paper.name == "ovs").unwrap();
    Figures::read(&paper.file("figures.toml").unwrap()).unwrap()
}

/// The forty documented rows, as published: pool, round, IDs, threads and the milliseconds of each thread; `+` where it was stopped.
const DOCUMENTED: &str = "\
seq-pool 10k 1t: new 1 del 0 mix 1 rnd 1
id-pool 10k 1t: new 0 del 1 mix 1 rnd 1201
seq-pool 100k 1t: new 2 del 5 mix 5 rnd 5
id-pool 100k 1t: new 8 del 5 mix 11 rnd 10000+
seq-pool 1m 1t: new 23 del 49 mix 53 rnd 53
id-pool 1m 1t: new 190 del 173 mix 273 rnd 10042+
seq-pool 1m 2t: new 40,39 del 33,33 mix 89,91 rnd 146,151
id-pool 1m 2t: new 485,485 del 541,542 mix 550,600 rnd 10048,10003+
seq-pool 1m 4t: new 40,39,40,40 del 24,28,28,30 mix 60,63,69,69 rnd 195,197,202,202
id-pool 1m 4t: new 478,471,482,485 del 474,469,467,474 mix 558,558,611,545 rnd 10121,10076,10030,10167+";

fn documented() -> Vec<(String, Vec<f64>, bool)> {
    let mut rows = Vec::new();
    for line in DOCUMENTED.lines() {
        let (head, rest) = line.split_once(": ").unwrap();
        let (pool, cell) = head.split_once(' ').unwrap();
        let words: Vec<&str> = rest.split(' ').collect();
        for pair in words.chunks(2) {
            let [round, each] = pair else { panic!("{line}") };
            let times = each.trim_end_matches('+').split(',').map(|ms| ms.parse().unwrap()).collect();
            rows.push((format!("{pool}.{round}.{}", cell.replace(' ', ".")), times, each.ends_with('+')));
        }
    }
    rows
}

fn figure<'f>(figures: &'f Figures, id: &str) -> &'f Figure {
    figures.all.iter().find(|figure| figure.id == id).unwrap_or_else(|| panic!("{id}"))
}

#[test]
fn every_documented_row_is_there() {
    let (figures, rows) = (figures(), documented());
    assert_eq!(rows.len(), 40);
    for (id, threads, stopped) in &rows {
        let figure = figure(&figures, id);
        assert_eq!((&figure.per_thread, figure.lower_bound.is_some()), (threads, *stopped), "{id}");
        assert!(figure.note.contains("To the last ID"), "{id}");
    }
    let more = figures.all.iter().filter(|figure| figure.documented.is_some() && !figure.id.starts_with("ratio."));
    assert_eq!(more.count(), 40);
}

#[test]
fn the_ratios_follow_from_the_documented_rows() {
    let figures = figures();
    let ratios: Vec<&Figure> = figures.all.iter().filter(|figure| figure.id.starts_with("ratio.")).collect();
    assert_eq!(ratios.len(), 16);
    for ratio in ratios {
        let cell = ratio.id.trim_start_matches("ratio.");
        let ms = |pool: &str| figure(&figures, &format!("{pool}.{cell}")).documented.unwrap();
        let quotient = ms("id-pool") / ms("seq-pool");
        assert!((ratio.documented.unwrap() / quotient - 1.0).abs() < 1e-12, "{cell}");
    }
}

/// A time in every cell, all different, and a count in every bench.
fn sources() -> (Times, Result<Report, String>) {
    let mut times = Times::default();
    for (at, pool) in POOLS.into_iter().enumerate() {
        for (size, _) in SIZES {
            for threads in THREADS {
                let each = vec![format!("{}", 10 * (at + 1)); threads as usize].join(" ");
                let printed: String = ROUNDS.map(|round| format!("{round} 1 ended {each}\n")).concat();
                times.add(pool, &format!("{size}.{threads}t"), threads, &printed).unwrap();
            }
        }
    }
    let mut report = Report::new();
    for pool in POOLS.into_iter().chain([NOTHING]) {
        for round in ROUNDS {
            for (operations, instructions) in [
                (300, 1),
                (3000, 27_001),
                (4_000, 0),
                (100_000, 960_000),
                (12_000, 0),
                (300_000, 288_000),
                (8_000, 0),
                (200_000, 1),
            ] {
                report.insert(format!("pool::{}_{round}::n{operations}", pool.bench), Counts { instructions, ..Counts::default() });
            }
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
    let mut exact: Vec<&str> =
        figures.all.iter().filter(|figure| figure.method == Method::Exact).map(|figure| &*figure.id).collect();
    exact.sort_unstable();
    let pools = POOLS.into_iter().filter(|pool| pool.exact).chain([NOTHING]);
    let measured: Measurements = pools.flat_map(|pool| instructions(pool, &counts)).collect();
    assert!(measured.keys().eq(exact));
}

#[test]
fn values_come_from_the_right_times_and_counts() {
    let (times, counts) = sources();
    let all = measurements(&times, &counts, 2.0);
    for (id, value) in [
        ("seq-pool.new.10k.1t", 10.0),
        ("id-pool.rnd.1m.4t", 30.0),
        ("bit.xfer.100k.2t", 60.0),
        ("ratio.mix.1m.2t", 3.0),
        ("cache.retries", 45.0),
        ("cache.new.instructions", 10.0),
        ("lean.mix.instructions", 1.0),
        ("id-pool.rnd_1k.instructions", 10.0),
        (PROCESSORS, 2.0),
    ] {
        assert_eq!(all[id], Ok(value), "{id}");
    }
    assert!(all["id-pool.rnd.instructions"].as_ref().is_err_and(|reason| reason.contains("hours")));
}

#[test]
fn a_cell_is_the_median_of_its_runs_and_the_mean_of_its_threads() {
    let mut times = Times::default();
    for each in ["1 3", "10 20", "7 7"] {
        times.add(POOLS[0], "10k.2t", 2, &format!("new 2 ended {each}\n")).unwrap();
    }
    assert_eq!(measurements(&times, &Err(String::new()), 2.0)["seq-pool.new.10k.2t"], Ok(7.0));
    assert_eq!(times.retries["seq-pool"], 6);
}

#[test]
fn what_the_program_should_not_print_is_an_error() {
    for printed in ["new 0 ended 1\n", "old 0 ended 1 2\n", "new x ended 1 2\n", "new 0 died 1 2\n", "new 0 ended 1 x\n", "\n"] {
        let error = Times::default().add(POOLS[0], "10k.2t", 2, printed);
        assert!(error.is_err_and(|error| error.to_string().contains("not understood")), "{printed}");
    }
}

#[test]
fn a_stopped_round_reproduces_a_stopped_one_and_an_ended_one_does_not() {
    let figures = figures();
    let (times, counts) = sources();
    let all = measurements(&times, &counts, 2.0);
    let figure = figure(&figures, "id-pool.rnd.1m.1t");
    let verdict = |ms: f64| judge(figure, &Ok(ms), &all).verdict;
    assert_eq!(verdict(10_000.2), Some(Verdict::Reproduced));
    assert_eq!(verdict(9_000.0), Some(Verdict::InDirection));
    assert_eq!(verdict(1.0), Some(Verdict::NotReproduced));
}
