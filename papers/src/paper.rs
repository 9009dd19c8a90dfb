//! The papers. To add one: a folder with figures.toml and README.md, a module that measures, and an entry in [`ALL`].

use std::path::PathBuf;

use anyhow::{Result, bail};
use jeton_benches::harness;

use crate::{bufbuilder, kudu, mongo, ovs, progress::Progress, tarantool, verdict::Measurements};

/// All papers, in the order of the table.
pub const ALL: &[Paper] = &[
    Paper { name: "kudu", folder: "01-kudu", about: kudu::ABOUT, measure: kudu::measure, measure_exact: kudu::measure_exact },
    Paper { name: "ovs", folder: "02-ovs", about: ovs::ABOUT, measure: ovs::measure, measure_exact: ovs::measure_exact },
    Paper { name: "mongo", folder: "03-mongo", about: mongo::ABOUT, measure: mongo::measure, measure_exact: mongo::measure_exact },
    Paper {
        name: "bufbuilder",
        folder: "04-bufbuilder",
        about: bufbuilder::ABOUT,
        measure: bufbuilder::measure,
        measure_exact: bufbuilder::measure_exact,
    },
    Paper {
        name: "tarantool",
        folder: "05-tarantool",
        about: tarantool::ABOUT,
        measure: tarantool::measure,
        measure_exact: tarantool::measure_exact,
    },
];

/// One paper.
#[derive(Debug)]
pub struct Paper {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its folder in `papers/`.
    pub folder: &'static str,
    /// One line about it.
    pub about: &'static str,
    /// Measures every figure.
    pub measure: fn(&Progress) -> Result<Measurements>,
    /// Measures the figures with the method `exact` only.
    pub measure_exact: fn(&Progress) -> Result<Measurements>,
}

impl Paper {
    /// A file of its folder.
    pub fn file(&self, name: &str) -> Result<PathBuf> {
        Ok(harness::workspace_root()?.join("papers").join(self.folder).join(name))
    }
}

/// The papers of these names, each once; all of them if there is no name.
pub fn select(names: &[String]) -> Result<Vec<&'static Paper>> {
    if let Some(unknown) = names.iter().find(|name| ALL.iter().all(|paper| paper.name != **name)) {
        let known: Vec<&str> = ALL.iter().map(|paper| paper.name).collect();
        bail!("there is no paper `{}`; there are: {}", unknown.escape_debug(), known.join(", "));
    }
    Ok(ALL.iter().filter(|paper| names.is_empty() || names.iter().any(|name| name == paper.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_select() {
        assert_eq!(select(&[]).unwrap().len(), ALL.len());
        assert_eq!(select(&["kudu".into(), "kudu".into()]).unwrap().len(), 1);
        let message = select(&["kudo".into()]).unwrap_err().to_string();
        assert!(message.contains("`kudo`") && message.contains("kudu"), "{message}");
    }

    #[test]
    fn every_paper_has_its_files() {
        for paper in ALL {
            for name in ["figures.toml", "README.md", "result.json"] {
                assert!(paper.file(name).unwrap().is_file(), "{}/{name}", paper.folder);
            }
        }
    }
}
