//! iai-callgrind-runner: the program that starts valgrind, always at the version of the library.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use serde::Deserialize;

use super::{Failure, MeasureError, environment, measure::TemporaryFolder};

const RUNNER: &str = "iai-callgrind-runner";

/// The version that Cargo.lock pins for iai-callgrind.
///
/// # Errors
/// [`MeasureError::Install`] if there is no such lock file or entry.
pub fn required_version() -> Result<String, MeasureError> {
    let path = environment::workspace_root()?.join("Cargo.lock");
    let text = fs::read_to_string(path).map_err(|error| failure(format!("Cargo.lock: {error}")))?;
    pinned_version(&text).map_err(failure)
}

fn pinned_version(lock: &str) -> Result<String, String> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<Package>,
    }
    #[derive(Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let lock: Lock = toml::from_str(lock).map_err(|error| format!("Cargo.lock: {}", error.message()))?;
    let package = lock.package.into_iter().find(|package| package.name == "iai-callgrind");
    package.map(|package| package.version).ok_or_else(|| "Cargo.lock names no iai-callgrind".to_owned())
}

/// Installs the runner into the target folder unless it is there, works, and has the right version.
pub(super) fn install_if_needed(progress: &mut dyn FnMut(&str)) -> Result<PathBuf, MeasureError> {
    let version = required_version()?;
    let tools = environment::target_dir()?.join("tools");
    let program = tools.join("bin").join(RUNNER).with_extension(env::consts::EXE_EXTENSION);
    if installed_version(&program).as_deref() != Some(&version) {
        progress(&format!("installing {RUNNER} {version} into the target folder (once, takes a minute or two)"));
        install(&version, &tools, &program)?;
    }
    Ok(program)
}

/// Without arguments the runner fails, and its message ends with its version. That also shows that it can be run at all.
fn installed_version(program: &Path) -> Option<String> {
    let output = Command::new(program).env_remove("IAI_CALLGRIND_LOG").stdin(Stdio::null()).output().ok()?;
    version_in(&String::from_utf8_lossy(&output.stderr)).map(str::to_owned)
}

fn version_in(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("version of iai-callgrind-runner is ")?;
    rest.split_whitespace().next()?.strip_suffix('.')
}

fn install(version: &str, tools: &Path, program: &Path) -> Result<(), MeasureError> {
    // Built and installed beside its place, then moved there in one step: whoever installs at the same time does no harm.
    let root = TemporaryFolder(tools.join(format!("install-{}", std::process::id())));
    let output = environment::cargo()
        .current_dir(environment::workspace_root()?)
        // Unoptimized: it builds in little more than half the time, and its own speed does not matter beside valgrind's.
        .args(["install", RUNNER, "--debug", "--locked", "--force", "--version", &format!("={version}"), "--root"])
        .arg(&root.0)
        .env("CARGO_TARGET_DIR", root.0.join("build"))
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env_remove("CARGO_BUILD_TARGET")
        .stdin(Stdio::null())
        .output()
        .map_err(failure)?;
    if !output.status.success() {
        return Err(MeasureError::Install(Failure::of_command(String::from_utf8_lossy(&output.stderr).into_owned())));
    }
    fs::create_dir_all(tools.join("bin")).map_err(failure)?;
    let built = root.0.join("bin").join(RUNNER).with_extension(env::consts::EXE_EXTENSION);
    fs::rename(built, program).map_err(failure)?;
    match installed_version(program) {
        Some(installed) if installed == version => Ok(()),
        other => Err(failure(format!("it says it is version {other:?}, not {version}"))),
    }
}

fn failure(reason: impl std::fmt::Display) -> MeasureError {
    MeasureError::Install(Failure::without_output(reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_stands_in_the_lock_file() {
        let lock = "version = 4\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n[[package]]\nname = \"iai-callgrind\"\nversion = \"2.3.4\"\n";
        assert_eq!(pinned_version(lock), Ok("2.3.4".to_owned()));
        assert!(pinned_version("version = 4\npackage = []\n").is_err());
        assert!(pinned_version("<<<<").is_err());
    }

    #[test]
    fn the_version_stands_in_the_message_of_the_runner() {
        let message = "Failed to initialize.\n\nDetected version of iai-callgrind-runner is 0.16.1. This error can be caused by";
        assert_eq!(version_in(message), Some("0.16.1"));
        assert_eq!(version_in("something else"), None);
    }

    #[test]
    fn what_is_no_runner_has_no_version() {
        assert_eq!(installed_version(Path::new("no-such-program")), None);
    }
}
