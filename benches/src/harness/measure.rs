//! Runs the bench files under valgrind.

use std::{
    env, fmt, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use super::{Missing, Report, environment, output, runner};

/// Why nothing could be measured.
#[derive(Debug)]
pub enum MeasureError {
    /// There is no valgrind: whatever needs it cannot be measured on this machine.
    ValgrindMissing(Missing),
    /// Another program is missing.
    ToolMissing(Missing),
    /// There is no bench file of that name.
    UnknownFile {
        /// The name.
        name: String,
        /// All there are.
        known: Vec<String>,
    },
    /// The runner that iai-callgrind needs could not be installed.
    Install(Failure),
    /// The benches do not build, or one of them failed.
    Build(Failure),
    /// The benches wrote something that is not understood.
    Parse(String),
    /// A bench file ran no bench.
    NothingRan(String),
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Why, in one line.
    pub reason: String,
    /// All that the command wrote to its standard error.
    pub output: String,
}

impl Failure {
    /// The first line that looks like an error stands for the whole.
    pub(super) fn of_command(output: String) -> Self {
        let is_error = |line: &&str| line.to_ascii_lowercase().contains("error") || line.contains("panicked");
        let reason = output.lines().find(is_error).or(output.lines().last()).unwrap_or("it failed without a message");
        Self { reason: reason.trim().to_owned(), output }
    }

    pub(super) fn without_output(reason: impl fmt::Display) -> Self {
        Self { reason: reason.to_string(), output: String::new() }
    }
}

impl MeasureError {
    /// All that a failed command wrote; empty if there is no more to know than the message.
    pub fn output(&self) -> &str {
        match self {
            Self::Install(failure) | Self::Build(failure) => &failure.output,
            _ => "",
        }
    }
}

impl fmt::Display for MeasureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ValgrindMissing(missing) | Self::ToolMissing(missing) => missing.fmt(f),
            Self::UnknownFile { name, known } => write!(f, "no bench file `{name}`: there are {}", known.join(", ")),
            Self::Install(failure) => write!(f, "iai-callgrind-runner cannot be installed: {}", failure.reason),
            Self::Build(failure) => write!(f, "the benches cannot be built or run: {}", failure.reason),
            Self::Parse(reason) => write!(f, "the benches' output is not understood: {reason}"),
            Self::NothingRan(file) => write!(f, "the bench file `{file}` ran no bench"),
        }
    }
}

impl std::error::Error for MeasureError {}

impl From<Missing> for MeasureError {
    fn from(missing: Missing) -> Self {
        Self::ToolMissing(missing)
    }
}

/// Builds and runs the bench files `files` under valgrind and returns their counts.
///
/// `progress` gets a line for each thing that begins.
///
/// # Errors
/// [`MeasureError`]; [`MeasureError::ValgrindMissing`] before anything is installed or built.
pub fn measure(files: &[&str], progress: &mut dyn FnMut(&str)) -> Result<Report, MeasureError> {
    check_names(files)?;
    environment::valgrind_version().map_err(MeasureError::ValgrindMissing)?;
    let runner = runner::install_if_needed(progress)?;
    let mut report = Report::new();
    for file in files {
        progress(&format!("building and counting {file}"));
        report.extend(run_file(file, &runner)?);
    }
    Ok(report)
}

/// # Errors
/// [`MeasureError::UnknownFile`] for the first name that is no bench file.
pub(super) fn check_names(files: &[&str]) -> Result<(), MeasureError> {
    let known = environment::bench_files()?;
    match files.iter().find(|&&file| !known.iter().any(|name| name == file)) {
        Some(&name) => Err(MeasureError::UnknownFile { name: name.to_owned(), known }),
        None => Ok(()),
    }
}

fn run_file(file: &str, runner: &Path) -> Result<Report, MeasureError> {
    let build_error = |error| MeasureError::Build(Failure::without_output(error));
    // A folder of its own: the runner neither finds earlier counts nor meets another run.
    let outcome = TemporaryFolder(environment::target_dir()?.join(format!("icount-{}", std::process::id())));
    let mut command = bench_command(file)?;
    command.env("IAI_CALLGRIND_RUNNER", runner).env("IAI_CALLGRIND_HOME", &outcome.0);
    let mut child = command.spawn().map_err(|error| build_error(error.to_string()))?;
    let errors = child.stderr.take().map(|mut pipe| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            // What could be read before a failure is all there is to show.
            let _ = pipe.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        })
    });
    let output = child.wait_with_output().map_err(|error| build_error(error.to_string()))?;
    let errors = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
    if !output.status.success() {
        return Err(MeasureError::Build(Failure::of_command(errors)));
    }
    let report = output::parse(&String::from_utf8_lossy(&output.stdout)).map_err(MeasureError::Parse)?;
    if report.is_empty() {
        return Err(MeasureError::NothingRan(file.to_owned()));
    }
    Ok(report)
}

/// The build that the counts are defined against: the workspace's own profile, whatever the user's environment and files say.
fn bench_command(file: &str) -> Result<Command, MeasureError> {
    let root = environment::workspace_root()?;
    let mut command = environment::cargo();
    command.current_dir(root).args(["bench", "--quiet", "--locked", "--package=jeton-benches"]);
    command.args(["--no-default-features", "--features=icount", "--bench", file]);
    // Naming the target overrides `build.target` of a user's file.
    command.arg(format!("--target={}", environment::rustc()?.host));
    for setting in profile(root)? {
        command.args(["--config", &setting]);
    }
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(changes_counts) {
            command.env_remove(name);
        }
    }
    // Both are set, not removed: only then do they override a user's files.
    command.env("RUSTFLAGS", "").env("RUSTC", environment::rustc_program());
    command.args(["--", "--output-format=json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

fn changes_counts(variable: &str) -> bool {
    matches!(
        variable,
        "CARGO_ENCODED_RUSTFLAGS" | "CARGO_BUILD_RUSTFLAGS" | "CARGO_BUILD_TARGET" | "CARGO_INCREMENTAL" | "VALGRIND_OPTS"
    ) || variable.starts_with("CARGO_PROFILE_")
        || variable.starts_with("IAI_CALLGRIND_")
}

/// `[profile.bench]` of the workspace as settings that override a user's files, with what it leaves to cargo's defaults.
fn profile(root: &Path) -> Result<Vec<String>, MeasureError> {
    let unreadable = |error: String| MeasureError::Build(Failure::without_output(format!("Cargo.toml: {error}")));
    let text = fs::read_to_string(root.join("Cargo.toml")).map_err(|error| unreadable(error.to_string()))?;
    let manifest: toml::Table = toml::from_str(&text).map_err(|error| unreadable(error.message().to_owned()))?;
    let bench = manifest.get("profile").and_then(|profile| profile.get("bench")).and_then(toml::Value::as_table);
    let bench = bench.ok_or_else(|| unreadable("no [profile.bench]".to_owned()))?;
    let defaults = [("debug-assertions", false), ("overflow-checks", false), ("incremental", false)];
    let defaults = defaults.into_iter().filter(|(name, _)| !bench.contains_key(*name));
    let settings = bench.iter().map(|(name, value)| format!("profile.bench.{name}={value}"));
    Ok(settings.chain(defaults.map(|(name, value)| format!("profile.bench.{name}={value}"))).collect())
}

/// Removed with all that is in it.
pub(super) struct TemporaryFolder(pub(super) PathBuf);

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // It lies in the target folder: what cannot be removed now goes with `cargo clean`.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_file_is_refused_with_the_known_ones() {
        let error = check_names(&["kudu", "nothing"]).expect_err("there is no such file");
        assert_eq!(
            error.to_string(),
            "no bench file `nothing`: there are append, bufbuilder, cancel, counter, gate, kudu, pool, queue"
        );
        assert!(check_names(&["counter", "kudu"]).is_ok());
    }

    #[test]
    fn the_workspace_profile_is_passed_on() -> Result<(), MeasureError> {
        let settings = profile(environment::workspace_root()?)?;
        for expected in ["opt-level=3", "codegen-units=1", "lto=false", "debug=\"line-tables-only\"", "overflow-checks=false"] {
            assert!(settings.contains(&format!("profile.bench.{expected}")), "{expected} is not in {settings:?}");
        }
        Ok(())
    }

    #[test]
    fn a_failure_shows_its_first_error() {
        let output = "warning: unused\nerror[E0001]: wrong\nerror: could not compile\n".to_owned();
        assert_eq!(Failure::of_command(output).reason, "error[E0001]: wrong");
        assert_eq!(Failure::of_command(String::new()).reason, "it failed without a message");
    }

    #[test]
    fn variables_that_change_the_counts_are_known() {
        assert!(changes_counts("CARGO_PROFILE_BENCH_LTO") && changes_counts("IAI_CALLGRIND_BASELINE"));
        assert!(!changes_counts("PATH") && !changes_counts("CARGO_HOME"));
    }
}
