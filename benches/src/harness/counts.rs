//! What one bench counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The counts of each bench, by `<file>::<function>::<id>`, such as `kudu::old_branch_free::n800m`.
pub type Report = BTreeMap<String, Counts>;

/// What callgrind, and DHAT where a bench has it on, counted in one bench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Instructions executed.
    pub instructions: u64,
    /// Conditional branches executed. Valgrind adds one that does not exist to each `lock xadd`.
    pub conditional_branches: u64,
    /// Indirect branches executed: returns, calls through pointers, jump tables.
    pub indirect_branches: u64,
    /// Data reads.
    pub data_reads: u64,
    /// Data writes.
    pub data_writes: u64,
    /// Callgrind's estimate: 1 for each access, 5 for one that needs the last cache, 35 for one that needs memory. No cycles of hardware.
    pub estimated_cycles: u64,
    /// Conditional branches that the simulated predictor got wrong. Differs a little with where the linker puts the code.
    pub mispredicted_conditional: u64,
    /// Indirect branches that the simulated predictor got wrong.
    pub mispredicted_indirect: u64,
    /// Misses of the simulated caches. They differ a little with where the linker puts the code.
    pub cache_misses: CacheMisses,
    /// Heap blocks and bytes, where the bench counts them.
    pub allocations: Option<Allocations>,
}

/// Misses of the simulated caches: 32 KiB each for instructions and data, 8 MiB behind them, on every host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheMisses {
    /// Of the first-level caches.
    pub first_level: u64,
    /// Of the last-level cache.
    pub last_level: u64,
}

/// Heap use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Allocations {
    /// Blocks allocated.
    pub blocks: u64,
    /// Bytes allocated.
    pub bytes: u64,
}

/// A count by name: what a target limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// [`Counts::instructions`].
    Instructions,
    /// [`Counts::conditional_branches`].
    ConditionalBranches,
    /// [`Counts::indirect_branches`].
    IndirectBranches,
    /// [`Counts::data_reads`].
    DataReads,
    /// [`Counts::data_writes`].
    DataWrites,
    /// [`Counts::estimated_cycles`].
    EstimatedCycles,
    /// [`Allocations::blocks`].
    AllocatedBlocks,
    /// [`Allocations::bytes`].
    AllocatedBytes,
}

impl Event {
    /// All of them, in the order of the tables.
    pub const ALL: [Self; 8] = [
        Self::Instructions,
        Self::ConditionalBranches,
        Self::IndirectBranches,
        Self::DataReads,
        Self::DataWrites,
        Self::EstimatedCycles,
        Self::AllocatedBlocks,
        Self::AllocatedBytes,
    ];

    /// The event in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Instructions => "instructions",
            Self::ConditionalBranches => "conditional branches",
            Self::IndirectBranches => "indirect branches",
            Self::DataReads => "data reads",
            Self::DataWrites => "data writes",
            Self::EstimatedCycles => "estimated cycles",
            Self::AllocatedBlocks => "allocated blocks",
            Self::AllocatedBytes => "allocated bytes",
        }
    }

    /// The count of this event; `None` if the bench does not count it.
    pub fn of(self, counts: &Counts) -> Option<u64> {
        Some(match self {
            Self::Instructions => counts.instructions,
            Self::ConditionalBranches => counts.conditional_branches,
            Self::IndirectBranches => counts.indirect_branches,
            Self::DataReads => counts.data_reads,
            Self::DataWrites => counts.data_writes,
            Self::EstimatedCycles => counts.estimated_cycles,
            Self::AllocatedBlocks => counts.allocations?.blocks,
            Self::AllocatedBytes => counts.allocations?.bytes,
        })
    }
}
