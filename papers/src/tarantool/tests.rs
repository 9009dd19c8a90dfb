use super::*;
use crate::{figures::Figures, paper, row};

fn paper() -> &'static paper::Paper {
    paper::ALL.iter().find(|paper| paper.name == "tarantool").unwrap()
}

#[test]
fn what_is_printed_is_as_many_numbers_as_asked_for() {
    assert_eq!(numbers::<2>("1 2.5\n").unwrap(), [1.0, 2.5]);
    for wrong in ["", "1", "1 2 3", "1 x", "1 NaN"] {
        assert!(numbers::<2>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn every_figure_is_measured_and_nothing_else() {
    let figures = Figures::read(&paper().file("figures.toml").unwrap()).unwrap();
    let all = measurements(&Runs::new(), &Err("no valgrind".into()), 2.0);
    for figure in &figures.all {
        assert!(all.contains_key(&figure.id), "{} is not measured", figure.id);
    }
    for id in all.keys() {
        assert!(figures.all.iter().any(|figure| figure.id == *id), "{id} is no figure");
    }
}

#[test]
fn the_documented_quotients_follow_from_the_documented_times() {
    let figures = Figures::read(&paper().file("figures.toml").unwrap()).unwrap();
    let documented = |id: &str| figures.all.iter().find(|figure| figure.id == id).unwrap().documented.unwrap();
    for half in ["fill", "confirm"] {
        for (name, above, below) in COMPARED {
            let quotient = documented(&format!("{above}.tasks.{half}")) / documented(&format!("{below}.tasks.{half}"));
            assert!((documented(&format!("slower.{name}.{half}")) - quotient).abs() < 1e-4, "{name} {half}");
        }
    }
    assert_eq!(
        (documented("slower.blocking_by_polling.fill"), documented("slower.blocking_by_polling.confirm")),
        (1.02149, 1.01565)
    );
}

#[test]
fn a_spread_is_a_share_of_the_median() {
    assert_eq!(spread(vec![8.0, 10.0, 13.0]), 0.5);
}

/// What the structure must show, held to the saved result.
#[test]
fn the_saved_result_shows_what_it_must() {
    let rows = row::read(&paper().file("result.json").unwrap()).unwrap();
    let value = |id: &str| rows.iter().find(|row| row.figure == id).and_then(|row| row.measured).unwrap_or_else(|| panic!("{id}"));
    assert!(value("share.gate") <= 0.012, "the check's share of the instructions");
    assert!(value("gate.idle.650.cpu") <= 0.0001 && value("gate.idle.650.switches") == 0.0, "idle");
    assert_eq!(value("ours.herd"), 0.0, "needless wake-ups");
    assert_eq!((value("original.flips_seen"), value("ours.flips_seen")), (0.0, 100.0), "fast flips");
    assert!(value("ours.release") < value("original.release") / 10.0, "a blocked take");
}
