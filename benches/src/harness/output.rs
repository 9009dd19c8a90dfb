//! Reads the JSON of iai-callgrind: one line a bench.

use serde_json::Value;

use super::{Allocations, CacheMisses, Counts, Report};

/// The version of iai-callgrind's output that this module understands.
const SCHEMA: &str = "6";

/// The counts in the output of a bench file.
///
/// # Errors
/// What is missing, and where.
pub(super) fn parse(output: &str) -> Result<Report, String> {
    let mut report = Report::new();
    for line in output.lines().filter(|line| line.starts_with('{')) {
        let bench: Value = serde_json::from_str(line).map_err(|error| format!("no JSON: {error}"))?;
        let (name, counts) = parse_bench(&bench)?;
        if report.contains_key(&name) {
            return Err(format!("two benches are named `{name}`"));
        }
        report.insert(name, counts);
    }
    Ok(report)
}

fn parse_bench(bench: &Value) -> Result<(String, Counts), String> {
    let text = |field: &str| bench[field].as_str().ok_or_else(|| format!("a bench has no `{field}`"));
    if text("version")? != SCHEMA {
        return Err(format!("its version is {}, not {SCHEMA}", bench["version"]));
    }
    let file = text("module_path")?.split("::").next().unwrap_or_default();
    let name = format!("{file}::{}::{}", text("function_name")?, text("id")?);
    let counts = parse_counts(bench).map_err(|reason| format!("{name}: {reason}"))?;
    Ok((name, counts))
}

fn parse_counts(bench: &Value) -> Result<Counts, String> {
    let tool = |tool: &str| {
        let mut profiles = bench["profiles"].as_array().into_iter().flatten();
        profiles.find_map(|profile| profile["summaries"]["total"]["summary"].get(tool))
    };
    let callgrind = tool("Callgrind").ok_or("no counts of callgrind")?;
    let sum = |events: &[&str]| events.iter().map(|event| count(callgrind, event)).sum::<Result<u64, String>>();
    let allocations = match tool("Dhat") {
        Some(dhat) => Some(Allocations { blocks: count(dhat, "TotalBlocks")?, bytes: count(dhat, "TotalBytes")? }),
        None => None,
    };
    Ok(Counts {
        instructions: count(callgrind, "Ir")?,
        conditional_branches: count(callgrind, "Bc")?,
        indirect_branches: count(callgrind, "Bi")?,
        data_reads: count(callgrind, "Dr")?,
        data_writes: count(callgrind, "Dw")?,
        estimated_cycles: count(callgrind, "EstimatedCycles")?,
        mispredicted_conditional: count(callgrind, "Bcm")?,
        mispredicted_indirect: count(callgrind, "Bim")?,
        cache_misses: CacheMisses { first_level: sum(&["I1mr", "D1mr", "D1mw"])?, last_level: sum(&["ILmr", "DLmr", "DLmw"])? },
        allocations,
    })
}

/// `Left` where the runner knows no earlier run, `Both` (new, old) where it does.
fn count(summary: &Value, event: &str) -> Result<u64, String> {
    let metrics = &summary[event]["metrics"];
    let new = metrics.get("Left").unwrap_or(&metrics["Both"][0]);
    new["Int"].as_u64().ok_or_else(|| format!("no count of {event}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two benches of real output, of which the first knew an earlier run; most of what is not read is cut off.
    const OUTPUT: &str = include_str!("fixtures/output.jsonl");

    #[test]
    fn every_count_is_read() {
        let report = parse(OUTPUT).expect("the output is complete");
        assert_eq!(report.keys().collect::<Vec<_>>(), ["counter::owner_nonzero::over_reserved", "kudu::old_branch_free::n1000"]);
        let owner = report["counter::owner_nonzero::over_reserved"];
        let expected = Counts {
            instructions: 44,
            conditional_branches: 3,
            indirect_branches: 0,
            data_reads: 8,
            data_writes: 9,
            estimated_cycles: 163,
            mispredicted_conditional: 1,
            mispredicted_indirect: 0,
            cache_misses: CacheMisses { first_level: 3, last_level: 3 },
            allocations: Some(Allocations { blocks: 0, bytes: 0 }),
        };
        assert_eq!(owner, expected);
        let kudu = report["kudu::old_branch_free::n1000"];
        assert_eq!((kudu.instructions, kudu.allocations), (3513, None), "DHAT is off there");
    }

    #[test]
    fn other_lines_are_passed_over() {
        assert_eq!(parse("running 0 tests\n\n"), Ok(Report::new()));
    }

    #[test]
    fn what_is_not_understood_is_an_error() {
        let twice = format!("{OUTPUT}{OUTPUT}");
        for (output, reason) in [
            (OUTPUT.replace(r#""version":"6""#, r#""version":"7""#), "its version is \"7\", not 6"),
            (OUTPUT.replace(r#""Bc""#, r#""Other""#), "counter::owner_nonzero::over_reserved: no count of Bc"),
            (OUTPUT.replace(r#""Callgrind""#, r#""Other""#), "counter::owner_nonzero::over_reserved: no counts of callgrind"),
            (OUTPUT.replace(r#""id""#, r#""other""#), "a bench has no `id`"),
            (twice, "two benches are named `counter::owner_nonzero::over_reserved`"),
        ] {
            assert_eq!(parse(&output), Err(reason.to_owned()));
        }
        assert!(parse("{not JSON").is_err());
    }
}
