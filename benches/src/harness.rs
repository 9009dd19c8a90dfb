//! Builds and runs the iai-callgrind benches, reads what they counted, and compares it with the baseline and the targets.
//!
//! `cargo icount` is [`command`]; `cargo papers` uses [`measure()`] and what describes the machine.
//!
//! [`environment`] finds the workspace and its tools, [`runner`] installs the one that iai-callgrind needs, [`measure()`] runs the
//! benches, `output` reads their JSON, [`baseline`] and [`targets`] judge the counts, `table` prints them, `cost` makes the cost pages.
pub mod baseline;
pub mod command;
mod cost;
mod counts;
pub mod environment;
mod measure;
mod output;
pub mod runner;
mod table;
pub mod targets;

pub use counts::{Allocations, CacheMisses, Counts, Event, Report};
pub use environment::{Missing, bench_files, rustc_version, target_dir, valgrind_version, workspace_root};
pub use measure::{Failure, MeasureError, measure};
