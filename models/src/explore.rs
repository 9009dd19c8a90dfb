//! Runs a model in one of three ways; which one is decided when it is built.
//!
//! | way | built with | sees |
//! |---|---|---|
//! | `loom` | `--cfg jeton_loom` | old values, orderings, data races; skips interleavings of a load before a compare-and-swap of the same word |
//! | `rmw` | `--cfg jeton_loom --cfg jeton_rmw_load` | all interleavings, since loads and stores are read-modify-writes; no old values |
//! | `shuttle` | `--cfg jeton_shuttle` | all interleavings of two threads if there are fewer than 50,000, many of more; no orderings at all |
//!
//! Neither sees load buffering, and loom takes `SeqCst` accesses for `AcqRel` (its fences are right).
//!
//! A model is an ordinary test whose body is a call of `explore`. A number of executions that is too small says that the checker
//! has not looked, so each model names the least number for each way. For `cargo models`, which reads them, each model prints one line.
#[cfg(any(jeton_loom, jeton_shuttle))]
mod run;

#[cfg(jeton_loom)]
pub use loom::{sync::Arc, thread};
#[cfg(any(jeton_loom, jeton_shuttle))]
pub use run::{Model, Seeded, explore, explore_bounded, find};
#[cfg(jeton_shuttle)]
pub use shuttle::{sync::Arc, thread};

/// A way to explore a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Way {
    /// loom as it is.
    Loom,
    /// loom with loads as read-modify-writes.
    Rmw,
    /// shuttle.
    Shuttle,
}

impl Way {
    /// All three.
    pub const ALL: [Self; 3] = [Self::Loom, Self::Rmw, Self::Shuttle];

    /// The way's name in tables, and the end of its target folder's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loom => "loom",
            Self::Rmw => "rmw",
            Self::Shuttle => "shuttle",
        }
    }

    /// The compiler's flags that choose it.
    pub const fn flags(self) -> &'static str {
        match self {
            Self::Loom => "--cfg jeton_loom --cfg crossbeam_loom",
            Self::Rmw => "--cfg jeton_loom --cfg jeton_rmw_load --cfg crossbeam_loom",
            Self::Shuttle => "--cfg jeton_shuttle",
        }
    }

    /// The way that this build was made for, if any.
    pub const fn of_this_build() -> Option<Self> {
        if cfg!(jeton_rmw_load) {
            Some(Self::Rmw)
        } else if cfg!(jeton_loom) {
            Some(Self::Loom)
        } else if cfg!(jeton_shuttle) {
            Some(Self::Shuttle)
        } else {
            None
        }
    }
}

/// Names a word of the running model in its trace; nothing in a normal build.
pub fn name<W>(word: &W, name: &str) {
    #[cfg(any(jeton_loom, jeton_shuttle))]
    jeton_core::sync::model::name(word, name);
    _ = (word, name);
}

/// Adds a line to the trace of the running model; nothing in a normal build.
pub fn note(what: &str) {
    #[cfg(any(jeton_loom, jeton_shuttle))]
    jeton_core::sync::model::note(what);
    _ = what;
}

pub mod report;
