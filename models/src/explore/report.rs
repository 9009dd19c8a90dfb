//! The lines that models print and the commands read.

/// Begins the line of a finished model; libtest may have written the test's name before it.
const MODEL: &str = "@model ";
/// Begins the line of a step in the trace of a failed execution.
const STEP: &str = "@step ";

/// How a model ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All executions keep the model's assertions.
    Passed,
    /// One does not.
    Failed,
    /// A seeded bug was found, as it must be.
    Found,
    /// A seeded bug was not found by a checker that must find it.
    Missed,
    /// A seeded bug was not found by a checker that need not find it.
    Unseen,
}

impl Outcome {
    const ALL: [(Self, &str); 5] = [
        (Self::Passed, "passed"),
        (Self::Failed, "failed"),
        (Self::Found, "found"),
        (Self::Missed, "missed"),
        (Self::Unseen, "unseen"),
    ];

    /// The word for it.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(outcome, _)| *outcome == self).map_or("", |(_, word)| word)
    }
}

/// What a model has to say at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The test's name.
    pub model: String,
    /// Executions explored.
    pub executions: usize,
    /// The least number there must be; 0 for a seeded bug.
    pub least: usize,
    /// Time taken.
    pub milliseconds: u128,
    /// How it ended.
    pub outcome: Outcome,
    /// Under `JETON_WEAKEN`: whether the weakened operation was ever executed.
    pub reached: bool,
    /// Why it failed, in one line; empty if it did not.
    pub message: String,
}

impl Report {
    /// As a line.
    pub fn line(&self) -> String {
        let Self { model, executions, least, milliseconds, reached, outcome, message } = self;
        format!("{MODEL}{model} {executions} {least} {milliseconds} {} {reached} {}", outcome.word(), one_line(message))
    }

    /// From a line, if it is one.
    pub fn read(line: &str) -> Option<Self> {
        let (_, line) = line.split_once(MODEL)?;
        let mut words = line.splitn(7, ' ');
        let mut word = || words.next();
        let model = word()?.to_owned();
        let (executions, least, milliseconds) = (word()?.parse().ok()?, word()?.parse().ok()?, word()?.parse().ok()?);
        let outcome = word()?;
        let outcome = Outcome::ALL.iter().find(|(_, known)| *known == outcome)?.0;
        let reached = word()?.parse().ok()?;
        Some(Self { model, executions, least, milliseconds, outcome, reached, message: word().unwrap_or_default().to_owned() })
    }
}

/// One step of the failing execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread that took it.
    pub thread: usize,
    /// What it did.
    pub what: String,
    /// The words after it.
    pub state: String,
}

impl Step {
    /// As a line.
    pub fn line(&self) -> String {
        format!("{STEP}{}\t{}\t{}", self.thread, self.what, self.state)
    }

    /// From a line, if it is one.
    pub fn read(line: &str) -> Option<Self> {
        let (_, line) = line.split_once(STEP)?;
        let mut fields = line.splitn(3, '\t');
        let mut field = || fields.next();
        Some(Self { thread: field()?.parse().ok()?, what: field()?.to_owned(), state: field()?.to_owned() })
    }
}

/// Why an exploration has failed, if it has: its own failure, or that the checker has hardly looked.
pub fn judge(executions: usize, least: usize, failure: Option<String>) -> Option<String> {
    failure.or_else(|| (executions < least).then(|| format!("only {executions} executions, at least {least} must be explored")))
}

/// The message on one line, with single spaces.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(all(test, not(any(jeton_loom, jeton_shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_report_survives_the_way_through_a_line() {
        let report = Report {
            model: "a_model".into(),
            executions: 12,
            least: 10,
            milliseconds: 3,
            outcome: Outcome::Missed,
            reached: true,
            message: "left: 1 right: 2".into(),
        };
        assert_eq!(Report::read(&report.line()).as_ref(), Some(&report));
        assert_eq!(Report::read(&format!("test a_model ... {}", report.line())), Some(report.clone()));
        let two_lines = Report { message: "left: 1\n  right: 2".into(), ..report.clone() };
        assert_eq!(Report::read(&two_lines.line()), Some(report.clone()));
        let silent = Report { message: String::new(), ..report };
        assert_eq!(Report::read(&silent.line()), Some(silent));
        assert_eq!(Report::read("test a_model ... ok"), None);
        assert_eq!(Report::read("@model a_model twelve 10 3 passed true "), None);
        assert_eq!(Report::read("@model a_model 12 10 3 perhaps true "), None);
    }

    #[test]
    fn too_few_executions_are_a_failure() {
        assert_eq!(judge(100, 100, None), None);
        assert_eq!(judge(99, 100, None), Some("only 99 executions, at least 100 must be explored".into()));
        assert_eq!(judge(1, 100, Some("an ID twice".into())), Some("an ID twice".into()));
    }

    #[test]
    fn a_step_survives_the_way_through_a_line() {
        let step = Step { thread: 1, what: "top.load".into(), state: "top=0x1 next=0x2".into() };
        assert_eq!(Step::read(&step.line()).as_ref(), Some(&step));
        assert_eq!(Step::read("@step one\tx\ty"), None);
        assert_eq!(Step::read("top.load"), None);
    }
}
