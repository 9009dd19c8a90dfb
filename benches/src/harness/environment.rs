//! The workspace and the tools that the counts depend on.

use std::{
    env,
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use serde::Deserialize;

/// A program that is not there, or does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The program's name.
    pub program: String,
    /// What happened when it was asked for its version.
    pub reason: String,
    /// How to get it.
    pub hint: String,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is missing ({}): {}", self.program, self.reason, self.hint)
    }
}

impl std::error::Error for Missing {}

/// The compiler that builds the benches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rustc {
    /// What `rustc -V` prints: version, revision, date.
    pub version: String,
    /// The host's target triple.
    pub host: String,
}

/// The version that `valgrind --version` prints, such as `valgrind-3.19.0`.
///
/// # Errors
/// [`Missing`], with the package's name, if there is no valgrind that runs.
pub fn valgrind_version() -> Result<String, Missing> {
    let hint = "install the package `valgrind` (Debian, Ubuntu: `apt-get install valgrind`)";
    first_output("valgrind", Command::new("valgrind").arg("--version"), hint).map(|version| version.trim().to_owned())
}

/// What `rustc -V` prints for the workspace's toolchain: version, revision, date.
///
/// # Errors
/// [`Missing`] if rustc does not run.
pub fn rustc_version() -> Result<String, Missing> {
    rustc().map(|rustc| rustc.version)
}

/// Version and host of the workspace's rustc.
///
/// # Errors
/// [`Missing`] if rustc does not run, or says something else.
pub fn rustc() -> Result<Rustc, Missing> {
    let hint = "install the toolchain that rust-toolchain.toml names";
    let mut command = Command::new(rustc_program());
    if let Ok(root) = workspace_root() {
        command.current_dir(root);
    }
    let text = first_output("rustc", command.arg("-vV"), hint)?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    match (text.lines().next(), host) {
        (Some(version), Some(host)) => Ok(Rustc { version: version.to_owned(), host: host.to_owned() }),
        _ => Err(Missing { program: "rustc".into(), reason: "`rustc -vV` names no host".into(), hint: hint.into() }),
    }
}

/// The rustc whose version the baseline holds; cargo is told to use the same.
pub(super) fn rustc_program() -> OsString {
    env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())
}

/// The cargo that runs this program, or the one in the path.
pub(super) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The folder that holds the workspace's Cargo.toml.
///
/// # Errors
/// [`Missing`] if cargo does not run, or not inside the workspace.
pub fn workspace_root() -> Result<&'static Path, Missing> {
    metadata().map(|metadata| metadata.workspace_root.as_path())
}

/// The folder that cargo builds into, wherever a variable or a configuration file put it.
///
/// # Errors
/// As [`workspace_root`].
pub fn target_dir() -> Result<&'static Path, Missing> {
    metadata().map(|metadata| metadata.target_directory.as_path())
}

/// The folder of this package.
///
/// # Errors
/// As [`workspace_root`].
pub fn benches_dir() -> Result<PathBuf, Missing> {
    workspace_root().map(|root| root.join("benches"))
}

/// The names of all bench files, sorted: those of the structures and of the papers.
///
/// # Errors
/// As [`workspace_root`], or if the folder of the bench files cannot be read.
pub fn bench_files() -> Result<Vec<String>, Missing> {
    let folder = benches_dir()?.join("icount");
    let entries = folder.read_dir().map_err(|error| Missing {
        program: "benches/icount".into(),
        reason: error.to_string(),
        hint: "run this in a complete checkout".into(),
    })?;
    let mut names: Vec<String> =
        entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".rs").map(str::to_owned)).collect();
    names.sort();
    Ok(names)
}

#[derive(Deserialize)]
struct Metadata {
    workspace_root: PathBuf,
    target_directory: PathBuf,
}

fn metadata() -> Result<&'static Metadata, Missing> {
    static METADATA: OnceLock<Result<Metadata, Missing>> = OnceLock::new();
    METADATA.get_or_init(read_metadata).as_ref().map_err(Clone::clone)
}

fn read_metadata() -> Result<Metadata, Missing> {
    let hint = "run this inside the workspace, with cargo";
    let mut command = cargo();
    // Set by `cargo run` and `cargo test`: then any current folder will do.
    if let Some(package) = env::var_os("CARGO_MANIFEST_DIR") {
        command.current_dir(package);
    }
    let text = first_output("cargo metadata", command.args(["metadata", "--no-deps", "--format-version=1"]), hint)?;
    serde_json::from_str(&text).map_err(|error| Missing {
        program: "cargo metadata".into(),
        reason: error.to_string(),
        hint: hint.into(),
    })
}

/// What the command prints.
fn first_output(program: &str, command: &mut Command, hint: &str) -> Result<String, Missing> {
    let missing = |reason: String| Missing { program: program.into(), reason, hint: hint.into() };
    let output = command.stdin(Stdio::null()).output().map_err(|error| missing(error.to_string()))?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        return Err(missing(text.lines().next().unwrap_or("it failed without a message").to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
