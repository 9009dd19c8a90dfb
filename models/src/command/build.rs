//! Builds the models for one way, each way in its own target folder, and says which there are.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::{explore::Way, pages::workspace};

/// What a test file is about, by its name's first part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `loom_*`, `lin_*`: right code.
    Model,
    /// `steps_*`: mostly wrong code.
    Steps,
}

/// A test file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct File {
    pub(super) name: String,
    pub(super) kind: Kind,
    /// What it is about: the structure, and perhaps a part of it.
    about: String,
}

impl File {
    pub(super) fn of(name: &str) -> Option<Self> {
        let kinds = [("loom_", Kind::Model), ("lin_", Kind::Model), ("steps_", Kind::Steps)];
        let (about, kind) = kinds.iter().find_map(|(prefix, kind)| Some((name.strip_prefix(prefix)?, *kind)))?;
        Some(Self { name: name.to_owned(), kind, about: about.to_owned() })
    }

    /// `counter` names `loom_counter` and `loom_counter_striped`.
    pub(super) fn is_about(&self, structure: &str) -> bool {
        self.about.strip_prefix(structure).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }
}

/// The test files that hold models.
pub(super) fn files() -> Result<Vec<File>> {
    let folder = workspace().join("models/tests");
    let entries = fs::read_dir(&folder).context("models/tests cannot be read")?;
    let name = |entry: fs::DirEntry| Some(entry.file_name().to_str()?.strip_suffix(".rs")?.to_owned());
    let mut files: Vec<File> = entries.filter_map(|entry| File::of(&name(entry.ok()?)?)).collect();
    files.sort_by(|one, other| one.name.cmp(&other.name));
    ensure!(!files.is_empty(), "models/tests holds no models");
    Ok(files)
}

/// A test file, built, and its tests.
#[derive(Clone, Debug)]
pub(super) struct Binary {
    pub(super) file: File,
    pub(super) program: PathBuf,
    pub(super) tests: Vec<Test>,
}

/// A test of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    pub(super) name: String,
    /// Whether it is one of the long ones.
    pub(super) long: bool,
}

fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Builds `files` for `way`.
pub(super) fn build(way: Way, files: &[File]) -> Result<Vec<Binary>> {
    let mut command = cargo();
    command
        .current_dir(workspace())
        .args(["test", "--quiet", "--no-run", "--message-format=json-render-diagnostics", "--package=jeton-models"])
        .args(["--profile=model", "--no-default-features", "--features=model", "--target-dir"])
        .arg(target_dir()?.join(format!("models-{}", way.name())))
        .args(files.iter().map(|file| format!("--test={}", file.name)))
        .env("RUSTFLAGS", way.flags())
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .stdin(Stdio::null());
    let output = command.output().context("cargo does not run")?;
    if !output.status.success() {
        bail!("the models do not build for {}:\n{}", way.name(), String::from_utf8_lossy(&output.stderr));
    }
    let programs = programs(&String::from_utf8_lossy(&output.stdout));
    let binary = |file: &File| {
        let program = programs.iter().find(|(name, _)| *name == file.name);
        let (_, program) = program.with_context(|| format!("cargo built no program for {}", file.name))?;
        Ok(Binary { file: file.clone(), program: program.clone(), tests: tests(program)? })
    };
    files.iter().map(binary).collect()
}

/// Test files and their programs, from cargo's messages.
fn programs(messages: &str) -> Vec<(String, PathBuf)> {
    let program = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let program = message.get("executable")?.as_str()?;
        Some((message.get("target")?.get("name")?.as_str()?.to_owned(), program.into()))
    };
    messages.lines().filter_map(program).collect()
}

/// The tests of a program, as libtest lists them.
fn tests(program: &Path) -> Result<Vec<Test>> {
    let list = |arguments: &[&str]| -> Result<Vec<String>> {
        let output = Command::new(program).args(["--list", "--format=terse"]).args(arguments).stdin(Stdio::null()).output()?;
        ensure!(output.status.success(), "{} cannot list its tests", program.display());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(text.lines().filter_map(|line| Some(line.strip_suffix(": test")?.to_owned())).collect())
    };
    let long = list(&["--ignored"])?;
    Ok(list(&[])?.into_iter().map(|name| Test { long: long.contains(&name), name }).collect())
}

/// The folder that cargo builds into.
fn target_dir() -> Result<PathBuf> {
    let output = cargo()
        .current_dir(workspace())
        .args(["metadata", "--no-deps", "--format-version=1"])
        .stdin(Stdio::null())
        .output()
        .context("cargo metadata does not run")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo metadata")?;
    metadata["target_directory"].as_str().map(PathBuf::from).context("cargo metadata names no target folder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_about_a_structure() {
        let file = File::of("loom_counter_striped").expect("a model");
        assert!(file.is_about("counter") && file.is_about("counter_striped"));
        assert!(!file.is_about("count") && !file.is_about("striped") && !file.is_about("counter_stripe"));
        assert_eq!(File::of("steps_free_list").map(|file| file.kind), Some(Kind::Steps));
        assert_eq!(File::of("prop_counter"), None);
    }

    #[test]
    fn cargos_messages_name_the_programs() {
        let messages = "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"a\"},\"executable\":null}\n\
            {\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"b\"},\"executable\":\"/x/b-1\"}\nnothing\n";
        assert_eq!(programs(messages), [("b".to_owned(), PathBuf::from("/x/b-1"))]);
    }

    #[test]
    fn the_models_are_there() {
        let files = files().expect("the folder");
        assert!(files.iter().any(|file| file.is_about("counter")) && files.iter().any(|file| file.kind == Kind::Steps));
    }
}
