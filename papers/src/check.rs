//! `cargo papers check`: whether figures.toml, result.json and the table of the README agree, and the exact counts are still those.

use std::collections::BTreeMap;

use anyhow::Result;
use jeton_benches::harness;

use crate::{
    figures::{Figures, Method},
    matrix::Matrix,
    paper::Paper,
    progress::Progress,
    readme,
    row::{self, Row},
    verdict::{Measurements, judge},
};

/// Checks one paper: prints what is in order, and returns what is not, a line each.
pub fn check(paper: &Paper) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let figures = keep(Figures::read(&paper.file("figures.toml")?), &mut faults);
    let rows = keep(row::read(&paper.file("result.json")?), &mut faults);
    let (Some(figures), Some(rows)) = (figures, rows) else {
        return Ok(faults);
    };
    report(paper, "figures.toml and result.json agree, every verdict follows", agreement(paper.name, &figures, &rows), &mut faults);
    let text = std::fs::read_to_string(paper.file("README.md")?);
    let text = keep(text.map_err(|error| anyhow::anyhow!("cannot read README.md: {error}")), &mut faults);
    report(
        paper,
        "the table in README.md is that of result.json",
        text.map_or_else(Vec::new, |text| table(&text, &rows, &figures.matrices)),
        &mut faults,
    );
    count_again(paper, &figures, &rows, &mut faults)?;
    Ok(faults)
}

fn count_again(paper: &Paper, figures: &Figures, rows: &[Row], faults: &mut Vec<String>) -> Result<()> {
    let refused = compiler(rows, &harness::rustc_version()?);
    if !refused.is_empty() {
        faults.extend(refused);
        return Ok(());
    }
    if let Err(missing) = harness::valgrind_version() {
        println!("{}: SKIP counting the exact figures again: {missing}", paper.name);
        return Ok(());
    }
    let fresh = (paper.measure_exact)(&Progress::new())?;
    report(paper, &format!("{} exact figures counted again are equal", fresh.len()), exact(figures, rows, &fresh), faults);
    Ok(())
}

fn report(paper: &Paper, right: &str, found: Vec<String>, faults: &mut Vec<String>) {
    if found.is_empty() {
        println!("{}: {right}", paper.name);
    }
    faults.extend(found);
}

fn keep<T>(result: Result<T>, faults: &mut Vec<String>) -> Option<T> {
    result.map_err(|error| faults.push(format!("{error:#}"))).ok()
}

/// Every figure has one row and back, with the same documented values, and the verdict that follows from what was measured.
fn agreement(paper: &str, figures: &Figures, rows: &[Row]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut by_id: BTreeMap<&str, &Row> = BTreeMap::new();
    for row in rows {
        let id = &row.figure;
        if by_id.insert(id, row).is_some() {
            faults.push(format!("result.json has two rows of `{id}`"));
        }
        if figures.all.iter().all(|figure| figure.id != *id) {
            faults.push(format!("result.json has a row `{id}`, which is no figure of figures.toml"));
        }
        if row.paper != paper {
            faults.push(format!("the row `{id}` of result.json belongs to the paper `{}`", row.paper));
        }
        if Some(&row.machine) != rows.first().map(|first| &first.machine) {
            faults.push(format!("the row `{id}` of result.json comes from another machine than the first row"));
        }
    }
    let all: Measurements = rows.iter().map(|row| (row.figure.clone(), row.as_measured())).collect();
    for figure in &figures.all {
        let id = &figure.id;
        let Some(row) = by_id.get(id.as_str()) else {
            faults.push(format!("the figure `{id}` has no row in result.json"));
            continue;
        };
        let mut differ = |what: &str, there: String, here: String| {
            if there != here {
                faults.push(format!("{what} of `{id}` is {there} in result.json, not {here}"));
            }
        };
        differ("the documented value", text(row.documented), text(figure.documented));
        differ("the unit", row.unit.clone(), figure.unit.clone());
        differ("the tolerance", text(row.tolerance), text(figure.tolerance));
        if figure.method == Method::Model {
            differ("the model's value", text(row.measured), text(figure.model));
        }
        let judgement = judge(figure, &row.as_measured(), &all);
        let verdict =
            |verdict: Option<crate::verdict::Verdict>| verdict.map_or("none".to_owned(), |verdict| format!("\"{verdict}\""));
        differ("the verdict", verdict(row.verdict), verdict(judgement.verdict));
        differ("the ratio", text(row.ratio), text(judgement.ratio));
        differ("the reason", format!("\"{}\"", row.reason), format!("\"{}\"", judgement.reason));
    }
    faults
}

/// The README shows the table that the rows give.
fn table(text: &str, rows: &[Row], matrices: &[Matrix]) -> Vec<String> {
    match readme::with_table(text, rows, matrices) {
        Ok(right) if right == text => Vec::new(),
        Ok(_) => vec!["the table in README.md is not that of result.json".to_owned()],
        Err(error) => vec![format!("{error:#}")],
    }
}

/// Exact counts hold for one compiler only.
fn compiler(rows: &[Row], rustc: &str) -> Vec<String> {
    match rows.first().and_then(|row| row.machine.rustc.as_deref()) {
        Some(saved) if saved == rustc => Vec::new(),
        saved => vec![format!(
            "result.json comes from {}, this is {rustc}: its exact counts are refused",
            saved.unwrap_or("an unknown compiler")
        )],
    }
}

/// The figures with exact counts, measured again, are equal to those saved.
fn exact(figures: &Figures, rows: &[Row], fresh: &Measurements) -> Vec<String> {
    let mut faults = Vec::new();
    for figure in figures.all.iter().filter(|figure| figure.method == Method::Exact) {
        let id = &figure.id;
        let saved = rows.iter().find(|row| row.figure == *id).and_then(|row| row.measured);
        match fresh.get(id) {
            Some(Ok(value)) if saved == Some(*value) => {}
            Some(Ok(value)) => faults.push(format!("`{id}` is exact: {} in result.json, {value} now", text(saved))),
            Some(Err(reason)) => faults.push(format!("`{id}` is exact, but could not be counted: {reason}")),
            None => faults.push(format!("`{id}` is exact in figures.toml, but nothing counts it")),
        }
    }
    faults
}

fn text(value: Option<f64>) -> String {
    value.map_or_else(|| "absent".to_owned(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        row::tests::{measured, sample},
        verdict::Verdict,
    };

    /// The only fault after a change of the rows.
    fn fault(change: impl FnOnce(&mut Vec<Row>)) -> String {
        let (figures, mut rows) = sample();
        change(&mut rows);
        let faults = agreement("sample", &figures, &rows);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.concat()
    }

    #[test]
    fn what_the_program_wrote_has_no_fault() {
        let (figures, rows) = sample();
        assert_eq!(agreement("sample", &figures, &rows), [""; 0]);
        assert_eq!(exact(&figures, &rows, &measured()), [""; 0]);
        assert_eq!(compiler(&rows, "rustc 1"), [""; 0]);
    }

    #[test]
    fn missing_extra_and_double_rows() {
        assert!(fault(|rows| drop(rows.pop())).contains("`beside` has no row"));
        assert!(
            fault(|rows| {
                let mut row = rows[0].clone();
                row.figure = "other".into();
                rows.push(row);
            })
            .contains("`other`, which is no figure")
        );
        assert!(fault(|rows| rows.push(rows[0].clone())).contains("two rows of `old`"));
        assert!(fault(|rows| rows[1].paper = "other".into()).contains("belongs to the paper `other`"));
        assert!(fault(|rows| rows[1].machine.cpu = None).contains("another machine"));
    }

    #[test]
    fn changed_documented_values_units_and_tolerances() {
        assert!(
            fault(|rows| rows[0].documented = Some(1001.0)).contains("documented value of `old` is 1001 in result.json, not 1000")
        );
        assert!(fault(|rows| rows[0].unit = "cycles".into()).contains("the unit"));
        assert!(fault(|rows| rows[0].tolerance = Some(0.5)).contains("the tolerance"));
    }

    #[test]
    fn forged_verdicts_ratios_and_reasons() {
        assert!(fault(|rows| rows[0].verdict = Some(Verdict::InDirection)).contains("not \"reproduced\""));
        assert!(fault(|rows| rows[0].verdict = None).contains("the verdict of `old` is none"));
        assert!(fault(|rows| rows[0].ratio = Some(1.0)).contains("the ratio"));
        assert!(fault(|rows| rows[0].reason = "trust me".into()).contains("the reason"));
        let forge = |rows: &mut Vec<Row>| (rows[3].verdict, rows[3].ratio) = (Some(Verdict::Reproduced), None);
        assert!(fault(forge).contains("the verdict of `beside`"));
    }

    #[test]
    fn a_changed_measured_value_or_model_shows() {
        let (figures, mut rows) = sample();
        rows[0].measured = Some(2000.0);
        let faults = agreement("sample", &figures, &rows).join("\n");
        assert!(faults.contains("the verdict of `old` is \"reproduced\" in result.json, not \"not reproduced\""), "{faults}");
        rows[2].measured = Some(3.5);
        assert!(agreement("sample", &figures, &rows).join("\n").contains("the model's value of `cycles` is 3.5"));
    }

    #[test]
    fn a_value_taken_out_is_not_testable() {
        let (figures, mut rows) = sample();
        rows[0].measured = None;
        let faults = agreement("sample", &figures, &rows).join("\n");
        assert!(faults.contains("the verdict of `old` is \"reproduced\" in result.json, not \"not testable here\""), "{faults}");
    }

    #[test]
    fn exact_counts_are_compared_for_equality() {
        let (figures, rows) = sample();
        let mut fresh = measured();
        fresh.insert("old".into(), Ok(1006.0));
        assert_eq!(exact(&figures, &rows, &fresh), ["`old` is exact: 1005 in result.json, 1006 now"]);
        fresh.insert("old".into(), Err("why".into()));
        assert_eq!(exact(&figures, &rows, &fresh), ["`old` is exact, but could not be counted: why"]);
        fresh.remove("old");
        assert_eq!(exact(&figures, &rows, &fresh), ["`old` is exact in figures.toml, but nothing counts it"]);
        fresh = measured();
        fresh.insert("new".into(), Ok(9.0));
        assert_eq!(exact(&figures, &rows, &fresh), [""; 0], "times are not compared");
    }

    #[test]
    fn another_compiler_is_refused() {
        let (_, rows) = sample();
        assert!(compiler(&rows, "rustc 2")[0].contains("comes from rustc 1, this is rustc 2"));
        assert_eq!(compiler(&[], "rustc 2").len(), 1);
    }

    #[test]
    fn the_table_of_the_readme_is_compared() {
        let (_, mut rows) = sample();
        let empty = format!("# T\n\n{}\n{}\n\nEnd.\n", readme::BEGIN, readme::END);
        let full = readme::with_table(&empty, &rows, &[]).unwrap();
        assert_eq!(table(&full, &rows, &[]), [""; 0]);
        assert_eq!(table(&empty, &rows, &[]).len(), 1);
        assert!(table("# T\n", &rows, &[])[0].contains("README.md"));
        rows[0].measured = Some(1006.0);
        assert_eq!(table(&full, &rows, &[]).len(), 1);
    }
}
