//! The verdict on a figure, computed from its tolerance, its direction rule and what was measured.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use crate::{
    figures::{Direction, Figure},
    number,
};

/// A measured value, or why there is none on this machine.
pub type Measured = Result<f64, String>;

/// The measured value of each figure, by its id.
pub type Measurements = BTreeMap<String, Measured>;

/// What became of a documented figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Verdict {
    /// Within the tolerance.
    #[serde(rename = "reproduced")]
    Reproduced,
    /// Outside the tolerance, but the direction rule holds.
    #[serde(rename = "reproduced in direction")]
    InDirection,
    /// Neither.
    #[serde(rename = "not reproduced")]
    NotReproduced,
    /// There is no value.
    #[serde(rename = "not testable here")]
    NotTestable,
}

impl Verdict {
    /// All of them, the best first.
    pub const ALL: [Self; 4] = [Self::Reproduced, Self::InDirection, Self::NotReproduced, Self::NotTestable];
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reproduced => "reproduced",
            Self::InDirection => "reproduced in direction",
            Self::NotReproduced => "not reproduced",
            Self::NotTestable => "not testable here",
        })
    }
}

/// The judgement of one figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Measured divided by documented; `None` if either is missing or the documented value is zero.
    pub ratio: Option<f64>,
    /// `None` if nothing is documented.
    pub verdict: Option<Verdict>,
    /// Why.
    pub reason: String,
}

/// Judges the figure by what was measured of it and of the figure that its direction rule refers to.
pub fn judge(figure: &Figure, measured: &Measured, all: &Measurements) -> Judgement {
    let value = match measured {
        Ok(value) => *value,
        // Without a documented value there is nothing to test, here or elsewhere.
        Err(reason) => {
            let verdict = figure.documented.map(|_| Verdict::NotTestable);
            return Judgement { ratio: None, verdict, reason: reason.clone() };
        }
    };
    let label = figure.method.label();
    let Some(documented) = figure.documented else {
        return Judgement {
            ratio: None,
            verdict: None,
            reason: sentences(&format!("{label}: documented by nobody"), &figure.note),
        };
    };
    let ratio = (documented != 0.0).then(|| value / documented);
    let (distance, allowed) = (distance(value, documented, ratio), allowed(figure));
    let (verdict, why) = if within(value, documented, figure) {
        (Verdict::Reproduced, format!("{distance} ({allowed})"))
    } else {
        match &figure.direction {
            None => (Verdict::NotReproduced, format!("{distance} ({allowed})")),
            Some(rule) => {
                let (holds, text) = follow(rule, value, all);
                let (verdict, word) = if holds { (Verdict::InDirection, "holds") } else { (Verdict::NotReproduced, "fails") };
                (verdict, format!("{distance} ({allowed}), the rule \"{text}\" {word}"))
            }
        }
    };
    let mut first = format!("{label}: {why}");
    for note in threads(figure, all) {
        first = format!("{first}; {note}");
    }
    Judgement { ratio, verdict: Some(verdict), reason: sentences(&first, &figure.note) }
}

/// What is within: a lower bound is reached; anything else is at most `tolerance` away, as a share of the documented value, which
/// itself may have been cut by the resolution. Of a zero that was not cut, nothing else is near.
fn within(value: f64, documented: f64, figure: &Figure) -> bool {
    // A value on the border belongs to the inside, although the border itself is rounded.
    const ROUNDING: f64 = 1e-9;
    let inside = |tolerance: f64| {
        let (least, most) = (documented, documented + figure.resolution);
        value >= least - (tolerance + ROUNDING) * least && value <= most + (tolerance + ROUNDING) * most
    };
    figure.lower_bound.map_or_else(|| figure.tolerance.is_some_and(inside), |bound| value >= bound)
}

fn allowed(figure: &Figure) -> String {
    let tolerance = match (figure.lower_bound, figure.tolerance) {
        (Some(bound), _) => return format!("stopped: {} or more is the same", number::show(bound)),
        (None, None) => return "another quantity than the documented one".to_owned(),
        (None, Some(0.0)) => "none allowed".to_owned(),
        (None, Some(tolerance)) => format!("{} allowed", number::percent(tolerance)),
    };
    match figure.resolution {
        0.0 => tolerance,
        cut => format!("{tolerance}, and the documented value is cut by up to {}", number::show(cut)),
    }
}

/// The number of processors of the machine, a figure by which others are judged.
pub const PROCESSORS: &str = "machine.processors";

/// What a reader must know of the threads that a figure comes from.
fn threads(figure: &Figure, all: &Measurements) -> Vec<String> {
    let threads = figure.per_thread.len();
    let mut notes = Vec::new();
    if threads > 1 {
        let each: Vec<String> = figure.per_thread.iter().map(|value| number::show(*value)).collect();
        notes.push(format!("documented by thread: {}", each.join(", ")));
    }
    if let Some(Ok(processors)) = all.get(PROCESSORS)
        && threads as f64 > *processors
    {
        notes.push(format!("{threads} threads on {processors} processors here"));
    }
    notes
}

/// Whether the rule holds, and the rule in words.
fn follow(rule: &Direction, value: f64, all: &Measurements) -> (bool, String) {
    let unit = match &rule.of {
        None => Some(1.0),
        Some(id) => all.get(id).and_then(|measured| measured.as_ref().ok()).copied(),
    };
    let mut words = Vec::new();
    let mut holds = unit.is_some();
    for (bound, name, order) in [(rule.at_least, "at least", 1.0), (rule.at_most, "at most", -1.0)] {
        let Some(bound) = bound else { continue };
        holds &= unit.is_some_and(|unit| order * value >= order * bound * unit);
        words.push(format!("{name} {}", number::show(bound)));
    }
    let words = words.join(" and ");
    let text = match &rule.of {
        None => words,
        Some(id) if unit.is_some() => format!("{words} × {id}"),
        Some(id) => format!("{words} × {id}, which has no value here"),
    };
    (holds, text)
}

fn distance(value: f64, documented: f64, ratio: Option<f64>) -> String {
    match ratio {
        _ if value == documented => "equal".to_owned(),
        Some(_) if value == 0.0 => format!("0 instead of {}", number::show(documented)),
        None => format!("{} instead of 0", number::show(value)),
        Some(ratio) if (0.5..2.0).contains(&ratio) => {
            format!("{} {}", number::percent((ratio - 1.0).abs()), if ratio < 1.0 { "below" } else { "above" })
        }
        Some(ratio) => format!("{} times the documented value", number::significant(ratio, 3)),
    }
}

fn sentences(first: &str, note: &str) -> String {
    if note.is_empty() { first.to_owned() } else { format!("{first}. {note}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Method;

    fn figure(documented: f64, tolerance: f64) -> Figure {
        let beside = Figure::beside("f".into(), "u".into(), Method::Exact);
        Figure { documented: Some(documented), tolerance: Some(tolerance), ..beside }
    }

    fn verdict(figure: &Figure, value: f64) -> Option<Verdict> {
        judge(figure, &Ok(value), &BTreeMap::from([("g".into(), Ok(10.0)), ("none".into(), Err("no valgrind".into()))])).verdict
    }

    #[test]
    fn the_border_belongs_to_the_tolerance() {
        for (documented, tolerance) in [(100.0, 0.1), (1.0, 0.1), (3.0, 0.005), (2_805_308_074.0, 0.005), (0.790_023_494, 0.25)] {
            let figure = figure(documented, tolerance);
            for side in [-1.0, 1.0] {
                assert_eq!(verdict(&figure, documented * (1.0 + side * tolerance)), Some(Verdict::Reproduced));
                assert_eq!(verdict(&figure, documented * (1.0 + side * (tolerance + 1e-6))), Some(Verdict::NotReproduced));
            }
        }
    }

    #[test]
    fn a_documented_zero_has_no_ratio_and_only_zero_reproduces_it() {
        let mut figure = figure(0.0, 0.5);
        let judged = judge(&figure, &Ok(0.0), &Measurements::new());
        assert_eq!((judged.ratio, judged.verdict), (None, Some(Verdict::Reproduced)));
        let judged = judge(&figure, &Ok(2.0), &Measurements::new());
        assert_eq!((judged.ratio, judged.verdict), (None, Some(Verdict::NotReproduced)));
        assert!(judged.reason.contains("2 instead of 0"), "{}", judged.reason);
        figure.direction = Some(Direction { at_least: None, at_most: Some(1.0), of: Some("g".into()) });
        assert_eq!(verdict(&figure, 10.0), Some(Verdict::InDirection));
        assert_eq!(verdict(&figure, 10.1), Some(Verdict::NotReproduced));
    }

    #[test]
    fn a_documented_value_that_was_cut_reaches_up_to_the_next() {
        let mut figure = figure(0.0, 0.5);
        figure.resolution = 1.0;
        for (value, expected) in [(0.0, Verdict::Reproduced), (1.5, Verdict::Reproduced), (1.51, Verdict::NotReproduced)] {
            assert_eq!(verdict(&figure, value), Some(expected), "{value}");
        }
        figure.documented = Some(10.0);
        for (value, expected) in [(4.9, Verdict::NotReproduced), (5.0, Verdict::Reproduced), (16.5, Verdict::Reproduced)] {
            assert_eq!(verdict(&figure, value), Some(expected), "{value}");
        }
    }

    #[test]
    fn a_lower_bound_reproduces_a_lower_bound() {
        let mut figure = figure(10_042.0, 0.5);
        figure.lower_bound = Some(10_000.0);
        assert_eq!(verdict(&figure, 10_000.5), Some(Verdict::Reproduced));
        assert_eq!(verdict(&figure, 1e9), Some(Verdict::Reproduced));
        assert_eq!(verdict(&figure, 9_999.0), Some(Verdict::NotReproduced), "it ended");
    }

    #[test]
    fn more_threads_than_processors_are_told() {
        let mut figure = figure(39.0, 0.5);
        figure.per_thread = vec![40.0, 39.0, 40.0, 40.0];
        let reason = |processors: f64| judge(&figure, &Ok(39.0), &BTreeMap::from([(PROCESSORS.to_owned(), Ok(processors))])).reason;
        assert!(reason(2.0).contains("documented by thread: 40, 39, 40, 40; 4 threads on 2 processors"), "{}", reason(2.0));
        assert!(!reason(4.0).contains("processors"), "{}", reason(4.0));
    }

    #[test]
    fn the_direction_counts_only_outside_the_tolerance() {
        let mut figure = figure(100.0, 0.1);
        figure.direction = Some(Direction { at_least: Some(20.0), at_most: Some(30.0), of: Some("g".into()) });
        assert_eq!(verdict(&figure, 100.0), Some(Verdict::Reproduced));
        for (value, expected) in [
            (199.0, Verdict::NotReproduced),
            (200.0, Verdict::InDirection),
            (300.0, Verdict::InDirection),
            (301.0, Verdict::NotReproduced),
        ] {
            assert_eq!(verdict(&figure, value), Some(expected), "{value}");
        }
        figure.direction = Some(Direction { at_least: Some(150.0), at_most: None, of: None });
        assert_eq!(verdict(&figure, 150.0), Some(Verdict::InDirection));
    }

    #[test]
    fn a_rule_on_a_figure_without_value_does_not_hold() {
        let mut figure = figure(100.0, 0.1);
        figure.direction = Some(Direction { at_least: Some(0.0), at_most: None, of: Some("none".into()) });
        assert_eq!(verdict(&figure, 200.0), Some(Verdict::NotReproduced));
    }

    #[test]
    fn without_tolerance_only_the_direction_can_be_reproduced() {
        let mut figure = figure(100.0, 0.1);
        figure.tolerance = None;
        assert_eq!(verdict(&figure, 100.0), Some(Verdict::NotReproduced));
        figure.direction = Some(Direction { at_least: Some(5.0), at_most: None, of: Some("g".into()) });
        assert_eq!(verdict(&figure, 100.0), Some(Verdict::InDirection));
    }

    #[test]
    fn nothing_measured_is_not_testable_and_nothing_documented_has_no_verdict() {
        let mut figure = figure(100.0, 0.1);
        let judged = judge(&figure, &Err("no valgrind".into()), &Measurements::new());
        assert_eq!(judged, Judgement { ratio: None, verdict: Some(Verdict::NotTestable), reason: "no valgrind".into() });
        (figure.documented, figure.tolerance) = (None, None);
        let judged = judge(&figure, &Ok(7.0), &Measurements::new());
        assert_eq!((judged.ratio, judged.verdict), (None, None));
        assert_eq!(judge(&figure, &Err("no valgrind".into()), &Measurements::new()).verdict, None);
    }
}
