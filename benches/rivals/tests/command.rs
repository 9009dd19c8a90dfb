//! The command from outside: exit status, lists, files.
use std::process::{Command, Output};

fn rivals(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rivals")).args(arguments).output().expect("the program starts")
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

#[test]
fn help_and_list_say_what_there_is() {
    let help = rivals(&["--help"]);
    assert_eq!(help.status.code(), Some(0));
    assert!(text(&help.stdout).contains("Exit status:"));
    let list = rivals(&["list"]);
    assert_eq!(list.status.code(), Some(0));
    assert!(text(&list.stdout).contains("counter ids") && text(&list.stdout).contains("fast-counter"));
}

#[test]
fn what_cannot_be_measured_is_exit_status_2() {
    let wrong: [&[&str]; 5] = [&["nothing"], &["--unknown"], &["--windows", "1"], &["--cpus", "0"], &["--cpus", "1023,1022"]];
    for arguments in wrong {
        let output = rivals(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn no_time_is_busy_and_no_failure() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("rows.json");
    let output = rivals(&["counter", "--seconds", "0", "--json", &file.to_string_lossy()]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("busy") && text(&output.stdout).contains("not measured"));
    let rows: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let rows = rows.as_array().expect("an array");
    assert!(rows.iter().all(|row| row["status"] != "measured" && row["ns"].is_null()));
    assert!(rows.iter().any(|row| row["status"] == "busy"));
    Ok(())
}
