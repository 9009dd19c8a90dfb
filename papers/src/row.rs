//! One row a figure: what the table, the page and the JSON show.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize, Serializer};

use crate::{
    figures::{Figure, Figures, Method},
    verdict::{Measured, Measurements, Verdict, judge},
};

/// One figure with its verdict, and the machine that it holds for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The paper's name on the command line.
    pub paper: String,
    /// The figure's id.
    pub figure: String,
    /// The unit of both values.
    pub unit: String,
    /// The documented value; null for a value that stands beside the documented ones.
    #[serde(serialize_with = "whole_as_integer")]
    pub documented: Option<f64>,
    /// The measured value; null where it could not be measured.
    #[serde(serialize_with = "whole_as_integer")]
    pub measured: Option<f64>,
    /// Measured divided by documented; null where one is missing or the documented value is zero.
    #[serde(serialize_with = "whole_as_integer")]
    pub ratio: Option<f64>,
    /// The share of the documented value that still counts as reproduced; null where only a direction can be.
    #[serde(serialize_with = "whole_as_integer")]
    pub tolerance: Option<f64>,
    /// The verdict; null where nothing is documented.
    pub verdict: Option<Verdict>,
    /// Why.
    pub reason: String,
    /// Where it was measured.
    pub machine: Machine,
}

/// What the measured values depend on; null where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// The processor's name.
    pub cpu: Option<String>,
    /// The compiler of everything measured.
    pub rustc: Option<String>,
    /// The valgrind that counted.
    pub valgrind: Option<String>,
    /// The revision of this repository.
    pub revision: Option<String>,
}

impl Row {
    /// Joins a figure with what was measured of it.
    pub fn new(paper: &str, figure: &Figure, all: &Measurements, machine: &Machine) -> Result<Self> {
        let measured = measured_of(figure, all)?;
        let judgement = judge(figure, &measured, all);
        Ok(Self {
            paper: paper.to_owned(),
            figure: figure.id.clone(),
            unit: figure.unit.clone(),
            documented: figure.documented,
            measured: measured.ok(),
            ratio: judgement.ratio,
            tolerance: figure.tolerance,
            verdict: judgement.verdict,
            reason: judgement.reason,
            machine: machine.clone(),
        })
    }

    /// What was measured, as [`judge`] wants it: the reason of a row without a value is why there is none.
    pub fn as_measured(&self) -> Measured {
        self.measured.ok_or_else(|| self.reason.clone())
    }
}

/// A row for each figure, in the order of the file. Fails if a figure is not measured, or something measured is no figure.
pub fn rows(paper: &str, figures: &Figures, all: &Measurements, machine: &Machine) -> Result<Vec<Row>> {
    if let Some(id) = all.keys().find(|id| figures.all.iter().all(|figure| figure.id != **id)) {
        bail!("{paper}: `{id}` is measured, but figures.toml has no such figure");
    }
    figures.all.iter().map(|figure| Row::new(paper, figure, all, machine)).collect()
}

fn measured_of(figure: &Figure, all: &Measurements) -> Result<Measured> {
    match (figure.method, figure.model) {
        (Method::Model, Some(value)) => Ok(Ok(value)),
        _ => all.get(&figure.id).cloned().with_context(|| format!("nothing measures the figure `{}` of figures.toml", figure.id)),
    }
}

/// The rows as JSON.
pub fn to_json(rows: &[Row]) -> Result<String> {
    Ok(serde_json::to_string_pretty(rows)? + "\n")
}

/// Reads what [`to_json`] wrote.
pub fn read(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).context("cannot read result.json")?;
    serde_json::from_str(&text).context("result.json")
}

fn whole_as_integer<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
    // Every whole number up to 2^53 is itself as a float.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match *value {
        Some(value) if value.fract() == 0.0 && value.abs() <= EXACT => serializer.serialize_i64(value as i64),
        Some(value) => serializer.serialize_f64(value),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub const FIGURES: &str = r#"
title = "T"
[source]
project = "P"
subject = "S"
conditions = "C"
iterations = 1
[[figure]]
id = "old"
documented = 1000
unit = "instructions"
method = "exact"
tolerance = 0.01
[[figure]]
id = "new"
documented = 0
unit = "s"
method = "timed"
tolerance = 0.25
direction = { at_most = 0.1, of = "old" }
note = "A <note> | of \"ours\" & theirs."
[[figure]]
id = "cycles"
documented = 3.5
unit = "cycles"
method = "model"
tolerance = 0.2
model = 3.1
[[figure]]
id = "beside"
unit = "instructions"
method = "exact"
"#;

    pub fn machine() -> Machine {
        Machine { cpu: Some("A & B".into()), rustc: Some("rustc 1".into()), valgrind: Some("valgrind-3".into()), revision: None }
    }

    pub fn measured() -> Measurements {
        [("old", 1005.0), ("new", 0.125), ("beside", 1.0 / 3.0)].map(|(id, value)| (id.to_owned(), Ok(value))).into()
    }

    /// Four rows of one paper, none without a value.
    pub fn sample() -> (Figures, Vec<Row>) {
        let figures = Figures::parse(FIGURES).unwrap();
        let rows = rows("sample", &figures, &measured(), &machine()).unwrap();
        (figures, rows)
    }

    #[test]
    fn the_json_has_one_object_a_figure() {
        let (_, rows) = sample();
        let text = to_json(&rows).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let objects = value.as_array().unwrap();
        assert_eq!(objects.len(), 4);
        let keys = ["paper", "figure", "unit", "documented", "measured", "ratio", "tolerance", "verdict", "reason", "machine"];
        for object in objects {
            assert!(object.as_object().unwrap().keys().eq(keys), "{object}");
            assert!(object["machine"].as_object().unwrap().keys().eq(["cpu", "rustc", "valgrind", "revision"]));
        }
        assert_eq!(objects[0]["documented"].to_string(), "1000", "whole numbers are integers");
        assert_eq!(objects[0]["ratio"].to_string(), "1.005");
        assert_eq!(objects[0]["verdict"], "reproduced");
        assert!(objects[1]["ratio"].is_null(), "nothing is a multiple of zero");
        assert_eq!(objects[1]["verdict"], "reproduced in direction");
        assert_eq!(objects[2]["measured"], 3.1);
        assert!(objects[3]["documented"].is_null() && objects[3]["verdict"].is_null());
        assert!(objects[3]["machine"]["revision"].is_null());
    }

    #[test]
    fn rows_come_back_as_they_were_written() {
        let (_, rows) = sample();
        assert_eq!(serde_json::from_str::<Vec<Row>>(&to_json(&rows).unwrap()).unwrap(), rows);
    }

    #[test]
    fn a_figure_without_value_is_null_and_not_testable() {
        let (figures, _) = sample();
        let mut all = measured();
        all.insert("old".into(), Err("no valgrind".into()));
        let rows = rows("sample", &figures, &all, &machine()).unwrap();
        assert_eq!((rows[0].measured, rows[0].ratio, rows[0].verdict), (None, None, Some(Verdict::NotTestable)));
        assert_eq!(rows[0].reason, "no valgrind");
    }

    #[test]
    fn figures_and_measurements_are_the_same_set() {
        let (figures, _) = sample();
        let mut all = measured();
        all.insert("extra".into(), Ok(1.0));
        assert!(rows("sample", &figures, &all, &machine()).unwrap_err().to_string().contains("`extra`"));
        all.remove("extra");
        all.remove("old");
        assert!(rows("sample", &figures, &all, &machine()).unwrap_err().to_string().contains("`old`"));
    }
}
