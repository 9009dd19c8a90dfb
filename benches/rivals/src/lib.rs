//! Wall-clock comparisons of jeton with its peers: `cargo rivals`.
//!
//! [`command`] takes the arguments; [`run`](mod@run) interleaves the contenders of a structure; [`window`] measures one of them for a
//! millisecond and says whether anything disturbed it; [`summary`] is the statistics, [`report`] the rows, ratios and targets, `table`
//! prints them. A structure is one module with its groups of contenders (such as [`counter`]) and one entry in [`STRUCTURES`].
pub mod append;
pub mod cancel;
pub mod command;
pub mod contender;
pub mod counter;
pub mod cpu;
pub mod gate;
pub mod machine;
pub mod pool;
pub mod report;
pub mod run;
pub mod summary;
mod table;
pub mod window;

use contender::Structure;

/// All structures that are compared.
pub const STRUCTURES: &[Structure] = &[counter::STRUCTURE, pool::STRUCTURE, cancel::STRUCTURE, append::STRUCTURE, gate::STRUCTURE];
