//! `figures.toml`: the documented figures of a paper, and what counts as reproducing each.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::matrix::Matrix;

/// The documented figures of one paper.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figures {
    /// The paper's title.
    pub title: String,
    /// Where the figures come from.
    pub source: Source,
    /// The figures, in the order of the table.
    #[serde(rename = "figure")]
    pub all: Vec<Figure>,
    /// Tables of values of ours, whose cells are figures too.
    #[serde(default, rename = "matrix")]
    pub matrices: Vec<Matrix>,
}

/// Where the figures come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The project that published them.
    pub project: String,
    /// What was measured.
    pub subject: String,
    /// How it was measured.
    pub conditions: String,
    /// How many calls one run does; absent where runs differ.
    pub iterations: Option<u64>,
}

/// One figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its name, unique in the paper.
    pub id: String,
    /// The documented value; absent for a value of ours that stands beside the documented ones.
    pub documented: Option<f64>,
    /// The documented value of each thread; the documented value is their mean, cut to a whole number. Empty where threads are not
    /// documented by themselves.
    #[serde(default)]
    pub per_thread: Vec<f64>,
    /// The unit of both values.
    pub unit: String,
    /// How ours comes about.
    pub method: Method,
    /// How far from the documented value still counts as reproduced, as a share of it.
    ///
    /// Absent where ours is another quantity that only stands in for the documented one: equal numbers would be chance.
    pub tolerance: Option<f64>,
    /// Up to how much the documented value was cut off when it was printed: what was measured lies between it and it plus this.
    #[serde(default)]
    pub resolution: f64,
    /// The documented run was stopped at this value, which is only a lower bound: ours reproduces it by coming as far.
    pub lower_bound: Option<f64>,
    /// What holds when only the direction is reproduced.
    pub direction: Option<Direction>,
    /// The value, for [`Method::Model`].
    pub model: Option<f64>,
    /// What a reader must know, whatever the verdict.
    #[serde(default)]
    pub note: String,
}

/// How a value comes about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Counted by callgrind in the measured function alone: the same in every run.
    Exact,
    /// Counted by callgrind in the whole process; differs a little with environment and C library.
    WholeProcess,
    /// Counted by callgrind, with what the C library's memory allocation does: differs a little with the library.
    Counted,
    /// Callgrind's formula for cycles.
    Estimated,
    /// Computed from published latencies; nothing is run.
    Model,
    /// Counted by a simulated branch predictor.
    Simulated,
    /// A time.
    Timed,
    /// Counted by the operating system.
    Os,
}

impl Method {
    /// The label that begins each reason.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact count",
            Self::WholeProcess => "counted in the whole process",
            Self::Counted => "counted, the C library's allocation included",
            Self::Estimated => "callgrind's estimate",
            Self::Model => "model, not measured",
            Self::Simulated => "simulated predictor",
            Self::Timed => "timed, never gated",
            Self::Os => "counted by the system",
        }
    }
}

/// A rule for the direction of a figure: within both bounds.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Direction {
    /// Ours is at least this many times the measured value of `of`, or at least this.
    pub at_least: Option<f64>,
    /// Ours is at most this many times the measured value of `of`, or at most this.
    pub at_most: Option<f64>,
    /// The other figure.
    pub of: Option<String>,
}

impl Figures {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).context("cannot read figures.toml")?;
        Self::parse(&text).context("figures.toml")
    }

    /// Parses the file's text.
    pub fn parse(text: &str) -> Result<Self> {
        let mut figures: Self = toml::from_str(text).map_err(|error| anyhow::anyhow!("{}", one_line(&error, text)))?;
        for matrix in &figures.matrices {
            matrix.add_to(&mut figures.all);
        }
        figures.validate()?;
        Ok(figures)
    }

    fn validate(&self) -> Result<()> {
        let mut ids = BTreeSet::new();
        for figure in &self.all {
            ensure!(!figure.id.is_empty(), "a figure has an empty id");
            ensure!(ids.insert(figure.id.as_str()), "`{}` is there twice", figure.id);
        }
        for figure in &self.all {
            figure.validate(&ids).with_context(|| format!("`{}`", figure.id))?;
        }
        Ok(())
    }
}

impl Figure {
    /// A value of ours that nobody documented.
    pub const fn beside(id: String, unit: String, method: Method) -> Self {
        Self {
            id,
            documented: None,
            per_thread: Vec::new(),
            unit,
            method,
            tolerance: None,
            resolution: 0.0,
            lower_bound: None,
            direction: None,
            model: None,
            note: String::new(),
        }
    }

    fn validate(&self, ids: &BTreeSet<&str>) -> Result<()> {
        let sensible = |value: Option<f64>| value.is_none_or(|value| value.is_finite() && value >= 0.0);
        ensure!(sensible(self.documented), "the documented value is negative or no number");
        ensure!(sensible(self.tolerance), "the tolerance is negative or no number");
        ensure!(
            self.documented.is_some() || (self.tolerance.is_none() && self.direction.is_none()),
            "a tolerance or direction, but no documented value"
        );
        ensure!(
            self.per_thread.is_empty() || self.documented == Some((sum(&self.per_thread) / self.per_thread.len() as f64).floor()),
            "the documented value is not the mean of its threads, cut to a whole number"
        );
        ensure!(self.resolution == 0.0 || (self.resolution > 0.0 && self.tolerance.is_some()), "a resolution without a tolerance");
        ensure!(
            self.lower_bound.is_none_or(|bound| self.documented.is_some_and(|documented| documented >= bound)),
            "the documented value is below its lower bound"
        );
        ensure!(
            (self.method == Method::Model) == self.model.is_some(),
            "a value for `model` goes with the method \"model\", and only with it"
        );
        if let Some(rule) = &self.direction {
            ensure!(rule.at_least.is_some() || rule.at_most.is_some(), "a direction without `at_least` and `at_most`");
            ensure!(sensible(rule.at_least) && sensible(rule.at_most), "a bound is negative or no number");
            if let Some(of) = &rule.of
                && (!ids.contains(of.as_str()) || *of == self.id)
            {
                bail!("the direction refers to `{of}`, which is no other figure");
            }
        }
        Ok(())
    }
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

/// The parser's message with the line's number, without the picture it draws.
fn one_line(error: &toml::de::Error, text: &str) -> String {
    let line = error.span().and_then(|span| text.get(..span.start)).map(|before| before.matches('\n').count() + 1);
    match line {
        Some(line) => format!("line {line}: {}", error.message().replace('\n', " ")),
        None => error.message().replace('\n', " "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "title = \"T\"\n[source]\nproject = \"P\"\nsubject = \"S\"\nconditions = \"C\"\niterations = 1\n";

    fn fault(figures: &str) -> String {
        format!("{:#}", Figures::parse(&format!("{HEAD}{figures}")).unwrap_err())
    }

    #[test]
    fn integers_and_fractions_are_values() {
        let text = "[[figure]]\nid = \"a\"\ndocumented = 2_805_308_074\nunit = \"u\"\nmethod = \"exact\"\ntolerance = 0.005\n";
        let figures = Figures::parse(&format!("{HEAD}{text}")).unwrap();
        assert_eq!(figures.all[0].documented, Some(2_805_308_074.0));
        assert_eq!(figures.all[0].method, Method::Exact);
    }

    #[test]
    fn malformed_files_are_refused_in_one_line() {
        let figure = |rest: &str| format!("[[figure]]\nid = \"a\"\nunit = \"u\"\n{rest}\n");
        let good = figure("method = \"exact\"");
        for (text, what) in [
            (format!("{good}{good}"), "twice"),
            (figure("method = \"guess\""), "line 10: unknown variant"),
            (figure("method = \"exact\"\nverdict = \"reproduced\""), "unknown field"),
            (figure("method = \"exact\"\ntolerance = 0.1"), "no documented value"),
            (figure("method = \"exact\"\ndocumented = -1"), "negative"),
            (figure("method = \"exact\"\ndocumented = nan"), "no number"),
            (figure("method = \"exact\"\ndocumented = 1\ntolerance = -0.1"), "tolerance is negative"),
            (figure("method = \"exact\"\ndocumented = 1\ndirection = {}"), "without"),
            (figure("method = \"exact\"\ndocumented = 1\ndirection = { at_most = 1, of = \"b\" }"), "`b`"),
            (figure("method = \"exact\"\ndocumented = 1\ndirection = { at_most = 1, of = \"a\" }"), "no other figure"),
            (figure("method = \"model\"\ndocumented = 1"), "model"),
            (figure("method = \"exact\"\ndocumented = 1\nmodel = 3"), "model"),
            (figure("method = \"timed\"\ndocumented = 40\nper_thread = [40, 39]"), "mean"),
            (figure("method = \"timed\"\ndocumented = 40\nresolution = 1"), "resolution"),
            (figure("method = \"timed\"\ndocumented = 40\nlower_bound = 41"), "lower bound"),
        ] {
            let message = fault(&text);
            assert!(message.contains(what), "{text}\n{message}");
            assert!(!message.contains('\n'), "{message}");
        }
    }
}
