//! Commands and their costs: a wait before the data, which overlaps between queued commands, and a transfer, which does
//! not. Times are nanoseconds as f64: exact to a fraction of one for a hundred days. Also the counters of commands and
//! of the work that they cause.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy)]
pub(crate) struct CardCommand {
    pub(crate) write: bool,
    pub(crate) offset: u64,
    /// At least 1.
    pub(crate) len: u64,
    /// Commands in flight, this one included.
    pub(crate) in_flight: u32,
}

/// Cost of a command in ns, before noise.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CommandCost {
    /// Wait before the data; overlaps between queued commands.
    pub(crate) access: f64,
    /// Transfer; commands follow each other.
    pub(crate) service: f64,
    /// Least time between the ends of two commands.
    pub(crate) serial: f64,
}

impl CommandCost {
    /// Cost that overlaps with nothing.
    #[inline]
    pub(crate) fn serial(service: f64) -> CommandCost {
        CommandCost { access: 0.0, service, serial: 0.0 }
    }

    #[inline]
    pub(crate) fn plus(self, other: CommandCost) -> CommandCost {
        CommandCost {
            access: self.access + other.access,
            service: self.service + other.service,
            serial: later_of(self.serial, other.serial),
        }
    }

    #[inline]
    pub(crate) fn scaled(self, by: f64) -> CommandCost {
        CommandCost { access: self.access * by, service: self.service * by, serial: self.serial * by }
    }
}

/// Length for which the base of a [`RampTiming`] holds.
const BASE_BYTES: u64 = 4096;

/// Wait that grows with the length of the command from 4 KiB to `ramp_bytes`, then a transfer at a fixed speed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RampTiming {
    base: f64,
    ramp_bytes: u64,
    slope: f64,
    per_byte: f64,
    serial: f64,
}

/// Parameters of a [`RampTiming`], in the units of the archetype's file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RampParameters {
    pub(crate) base_s: f64,
    /// None for `base_s`.
    pub(crate) large_s: Option<f64>,
    pub(crate) ramp_bytes: u64,
    pub(crate) serial_s: f64,
    pub(crate) mb_s: f64,
}

impl RampTiming {
    pub(crate) fn new(line: RampParameters) -> Self {
        let ramp = line.ramp_bytes.saturating_sub(BASE_BYTES).max(1);
        RampTiming {
            base: seconds_to_ns(line.base_s),
            ramp_bytes: line.ramp_bytes,
            slope: seconds_to_ns(line.large_s.map_or(0.0, |large_s| large_s - line.base_s)) / ramp as f64,
            per_byte: ns_per_byte(line.mb_s),
            serial: seconds_to_ns(line.serial_s),
        }
    }

    #[inline]
    pub(crate) fn cost(&self, len: u64) -> CommandCost {
        let ramp = self.slope * bytes_f64(len.min(self.ramp_bytes).saturating_sub(BASE_BYTES));
        CommandCost { access: self.base + ramp, service: self.transfer_ns(len), serial: self.serial }
    }

    #[inline]
    pub(crate) fn transfer_ns(&self, len: u64) -> f64 {
        self.per_byte * bytes_f64(len)
    }
}

/// Bytes as f64. A processor converts signed numbers several times as fast.
#[inline]
pub(crate) fn bytes_f64(bytes: u64) -> f64 {
    bytes as i64 as f64
}

/// Later of two times. `f64::max` also checks for NaN, four times for each I/O; no time is NaN.
#[inline]
pub(crate) fn later_of(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

#[inline]
pub(crate) fn seconds_to_ns(seconds: f64) -> f64 {
    seconds * 1e9
}

pub(crate) fn ns_per_byte(mb_s: f64) -> f64 {
    1e3 / mb_s
}

/// Unit of the flash, with a fast division where its size is a power of two.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlashUnit {
    pub(crate) bytes: u64,
    shift: Option<u32>,
}

impl FlashUnit {
    pub(crate) fn new(bytes: u64) -> Self {
        FlashUnit { bytes, shift: bytes.is_power_of_two().then(|| bytes.trailing_zeros()) }
    }

    #[inline]
    pub(crate) fn unit_number(self, offset: u64) -> u64 {
        match self.shift {
            Some(shift) => offset >> shift,
            None => offset / self.bytes,
        }
    }

    pub(crate) fn unit_range(self, offset: u64) -> std::ops::Range<u64> {
        let start = self.unit_number(offset) * self.bytes;
        start..start + self.bytes
    }

    #[inline]
    pub(crate) fn crosses_boundary(self, offset: u64, len: u64) -> bool {
        self.unit_number(offset) != self.unit_number(offset + len - 1)
    }
}

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
    pub(crate) fn count_command(&mut self, command: &CardCommand) {
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
