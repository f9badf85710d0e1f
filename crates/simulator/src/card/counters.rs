//! What a card has done so far: shown while it is served, and what `info` and wear rest on.

use super::timing::CardCommand;
use serde::{Deserialize, Serialize};

/// What the mapping engine did inside the card, beyond storing what it was given.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MappingWork {
    /// Blocks merged, or collected as garbage.
    pub merges: u64,
    /// Bytes copied by that.
    pub copied_bytes: u64,
    /// Allocation units erased.
    pub erased_units: u64,
}

/// Commands by kind; part of a card's saved state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandTally {
    /// Read commands.
    pub reads: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Write commands.
    pub writes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Flush commands.
    pub flushes: u64,
    /// Discard commands.
    pub discards: u64,
    /// Bytes discarded.
    pub discarded_bytes: u64,
    /// Writes that the controller's memory took and joined with others.
    pub joined_writes: u64,
    /// Reads of places where nothing was ever written; counted only where such reads differ.
    pub unmapped_reads: u64,
    /// Reads that had to fetch a part of the mapping table first.
    pub map_misses: u64,
}

impl CommandTally {
    #[inline]
    pub(super) fn count(&mut self, command: &CardCommand) {
        if command.write {
            self.writes += 1;
            self.written_bytes += command.len;
        } else {
            self.reads += 1;
            self.read_bytes += command.len;
        }
    }

    /// Commands of any kind.
    pub(crate) fn commands(&self) -> u64 {
        self.reads + self.writes + self.flushes + self.discards
    }
}

/// Everything that is counted, since the card left the factory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LifetimeCounters {
    /// What it was asked for.
    #[serde(flatten)]
    pub tally: CommandTally,
    /// What it did for that.
    #[serde(flatten)]
    pub work: MappingWork,
    /// Mean erasures of a block, where wear is modelled.
    pub erase_cycles: Option<f64>,
    /// Share of the endurance used up, in percent.
    pub percent_used: Option<f64>,
    /// Blocks at rest that were moved.
    pub moved_blocks: u64,
    /// Blocks that were rewritten because they were read too often.
    pub disturbed_blocks: u64,
    /// Blocks that failed.
    pub failed_blocks: u64,
    /// Spare blocks that are left.
    pub spare_blocks: Option<u64>,
}
