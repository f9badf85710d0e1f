//! Counters of a card: shown while it is served, and used by its SMART log and its wear.

use super::timing::CardCommand;
use serde::{Deserialize, Serialize};

/// Internal work of the mapping engine, beyond storing the data.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappingWork {
    /// Blocks merged, or collected as garbage.
    pub merges: u64,
    /// Bytes copied by merges.
    pub copied_bytes: u64,
    pub erased_units: u64,
}

/// Commands by kind; part of the saved state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandTally {
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub written_bytes: u64,
    pub flushes: u64,
    pub discards: u64,
    pub discarded_bytes: u64,
    /// Writes that the controller's memory joined with others.
    pub joined_writes: u64,
    /// Reads of ranges that were never written; counted only on cards where such reads differ.
    pub unmapped_reads: u64,
    /// Reads that first had to fetch a part of the mapping table.
    pub map_misses: u64,
}

impl CommandTally {
    #[inline]
    pub(super) fn count_command(&mut self, command: &CardCommand) {
        if command.write {
            self.writes += 1;
            self.written_bytes += command.len;
        } else {
            self.reads += 1;
            self.read_bytes += command.len;
        }
    }

    pub(crate) fn command_count(&self) -> u64 {
        self.reads + self.writes + self.flushes + self.discards
    }
}

/// All counters since the card left the factory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LifetimeCounters {
    #[serde(flatten)]
    pub tally: CommandTally,
    #[serde(flatten)]
    pub work: MappingWork,
    /// Mean erasures of a block, if wear is modelled.
    pub erase_cycles: Option<f64>,
    /// Share of the endurance used up, if wear is modelled; may exceed 100.
    pub percent_used: Option<f64>,
    /// Blocks at rest that were moved.
    pub moved_blocks: u64,
    /// Blocks that were rewritten after too many reads.
    pub disturbed_blocks: u64,
    pub failed_blocks: u64,
    /// Spare blocks left, if wear is modelled.
    pub spare_blocks: Option<u64>,
}
