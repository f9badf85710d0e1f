//! Content of a card and its lies: kinds of false capacity (docs/reference/flash.md#fake-cards, and f3's hidden
//! emulator, which wraps at powers of two only), and faults that do not depend on capacity: flipped bits, bad units,
//! failing commands, a card that vanishes. None of it is timing.

use super::value_checks::{SECTOR, ValueCheck, check_not_zero, check_whole_sectors, ensure};
use cardscope_model::units::parse_size;
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FakeKind {
    #[default]
    None,
    /// Writes beyond the real bytes are lost, unless a cache holds them.
    Limbo,
    /// Addresses wrap at `wrap_bytes`.
    Wraparound,
    /// Addresses wrap at `wrap_bytes`, and those beyond the real bytes are lost.
    Chain,
    /// The address line worth `wrap_bytes` is dead: a block and its twin that far apart share one place.
    AddressLine,
    /// A share of the units, all over the card, is lost.
    Damaged,
    /// Any address works until `real_bytes` are in use.
    Overcommitted,
    /// Writes are accepted and dropped; the old data stays.
    ReadOnly,
}

/// Data that a read of a lost block returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostRead {
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
    /// Older data of that place, or the data of another block.
    Stale,
    /// Random bytes that differ at each read.
    Noise,
    /// Random bytes that stay the same.
    Garbage,
    /// Block that was written last, at any address.
    Last,
    Error,
}

/// Choice of the block that a full cache of a fake evicts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Direct-mapped: the block whose number has the same remainder by the cache's size.
    #[default]
    Direct,
    Lru,
    Fifo,
}

/// Behaviour of an overcommitted card at a write to a new block when its real bytes are in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolFull {
    /// Drops the write.
    #[default]
    Vanish,
    /// Keeps the data, and is slow at writing from then on.
    Slow,
    /// Stops answering.
    Dies,
}

with_defaults! {
    /// False capacity. Units of 4 MiB and a hundredfold slowdown are those of public reports (AltraMayor/f3 #222,
    /// #176).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct FakeCapacity {
        pub kind: FakeKind = FakeKind::None,
        /// Bytes that exist; 0 for a card that stores nothing.
        pub real_bytes: Option<u64> = None,
        /// Period of the addresses, a multiple of 512; for an address line its worth, a power of two.
        pub wrap_bytes: Option<u64> = None,
        pub damaged_unit_bytes: u64 = 4 << 20,
        /// Share of the units that are lost; the seed chooses them.
        pub damaged_share: f64 = 0.0,
        pub pool_full: PoolFull = PoolFull::Vanish,
        /// Factor on the time of writes after a pool that turns slow is full.
        pub slow_factor: f64 = 100.0,
        /// Size of the cache that hides losses.
        pub cache_bytes: Option<u64> = None,
        pub cache_kind: CacheKind = CacheKind::Direct,
        /// True if the cache holds lost blocks only; false if every write passes through it, so that real blocks evict
        /// lost ones.
        pub cache_strict: bool = true,
        /// False if a reset empties the cache.
        pub cache_survives: bool = true,
        pub lost: LostRead = LostRead::Zeros,
    }
}

/// Block of a fake's cache, in bytes.
const CACHE_BLOCK: u64 = 4096;

/// The truth is derived unit by unit, so more units would make a card slow to open.
const MAX_UNITS: u64 = 1 << 24;

impl FakeCapacity {
    pub(super) fn check(&self, announced: u64) -> ValueCheck {
        for (key, value, unit) in [
            ("fake.real_bytes", self.real_bytes, SECTOR),
            ("fake.wrap_bytes", self.wrap_bytes, SECTOR),
            ("fake.cache_bytes", self.cache_bytes, CACHE_BLOCK),
        ] {
            let value = value.unwrap_or(0);
            ensure!(value % unit == 0, "{key} = {value} must be a multiple of {unit}");
            ensure!(value <= announced, "{key} = {value} is more than the card announces ({announced})");
        }
        self.check_cache()?;
        self.check_missing_sizes()?;
        let (real, wrap) = (self.real_bytes.unwrap_or(0), self.wrap_bytes.unwrap_or(0));
        match self.kind {
            FakeKind::None | FakeKind::ReadOnly | FakeKind::Limbo => {}
            FakeKind::Wraparound => check_not_zero("fake.wrap_bytes", wrap)?,
            FakeKind::Overcommitted => check_not_zero("fake.real_bytes", real)?,
            FakeKind::Chain => {
                check_not_zero("fake.real_bytes", real)?;
                check_not_zero("fake.wrap_bytes", wrap)?;
                ensure!(
                    real < wrap,
                    "fake.real_bytes = {real} must be less than fake.wrap_bytes = {wrap} for a chain; \
                     else it is a wraparound"
                );
            }
            FakeKind::AddressLine => ensure!(
                wrap.is_power_of_two() && (SECTOR..announced).contains(&wrap),
                "fake.wrap_bytes = {wrap} must be a power of two from {SECTOR} on and less than the card announces \
                 for an address line"
            ),
            FakeKind::Damaged => {
                check_unit_size("fake.damaged_unit_bytes", self.damaged_unit_bytes, announced)?;
                ensure!(self.damaged_share != 0.0, "this kind of fake needs fake.damaged_share above 0");
            }
        }
        Ok(())
    }

    fn check_cache(&self) -> ValueCheck {
        let caches = [FakeKind::None, FakeKind::Limbo, FakeKind::Chain, FakeKind::Damaged];
        let Some(bytes) = self.cache_bytes else { return Ok(()) };
        ensure!(bytes > 0, "fake.cache_bytes must not be 0; leave it out for no cache");
        ensure!(
            caches.contains(&self.kind),
            "fake.cache_bytes = {bytes}: only limbo, chain and damaged cards have a cache"
        );
        Ok(())
    }

    fn check_missing_sizes(&self) -> ValueCheck {
        let needs_real = matches!(self.kind, FakeKind::Limbo | FakeKind::Chain | FakeKind::Overcommitted);
        let needs_wrap = matches!(self.kind, FakeKind::Wraparound | FakeKind::Chain | FakeKind::AddressLine);
        let real = (needs_real && self.real_bytes.is_none()).then_some("fake.real_bytes (fake_bytes=…)");
        let wrap = (needs_wrap && self.wrap_bytes.is_none()).then_some("fake.wrap_bytes (wrap_bytes=…)");
        let missing: Vec<_> = real.into_iter().chain(wrap).collect();
        ensure!(missing.is_empty(), "this kind of fake needs {}", missing.join(" and "));
        Ok(())
    }
}

fn check_unit_size(key: &str, bytes: u64, announced: u64) -> ValueCheck {
    check_whole_sectors(key, bytes)?;
    let few = announced / bytes <= MAX_UNITS;
    ensure!(few, "{key} = {bytes} cuts this card into more than {MAX_UNITS} units; take larger ones");
    Ok(())
}

with_defaults! {
    /// Faults. The seed chooses the places that they hit.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct CardFaults {
        /// Bytes written before the faults begin, except for vanishing; 0 for a card that had them from the start.
        pub begin_after_bytes: u64 = 0,
        pub unit_bytes: u64 = 4 << 20,
        /// Share of the units that lose their data; reads return `fake.lost`.
        pub lost_share: f64 = 0.0,
        /// Share of the units in which every command fails.
        pub failing_share: f64 = 0.0,
        /// Probability for each written sector to have one wrong bit at every read.
        pub flip_p: f64 = 0.0,
        /// Probability for each sector read to have one wrong bit in that read only.
        pub read_flip_p: f64 = 0.0,
        /// Probability that a read fails by chance, so that the next one may succeed.
        pub read_error_p: f64 = 0.0,
        pub write_error_p: f64 = 0.0,
        /// Attempts at one place that fail after a failure by chance, that one included.
        pub error_tries: u64 = 1,
        /// Ranges in which commands fail from the start, separated by commas: `START+LEN`, with `:read` or `:write` for
        /// one kind of command.
        pub error_ranges: ErrorRanges = ErrorRanges::default(),
        /// I/Os between stalls, in which the card answers nothing; 0 for none.
        pub stall_every_ios: u64 = 0,
        pub stall_s: f64 = 0.0,
        /// Bytes written after which the card vanishes.
        pub vanish_after_bytes: Option<u64> = None,
        pub vanish_after_ios: Option<u64> = None,
        /// Seconds of card time after which it vanishes.
        pub vanish_after_s: Option<f64> = None,
        /// True if the card loses its power during the write that reaches this number of bytes or I/Os: half of the
        /// write is stored, and pages near it in the erase block are garbled.
        pub vanish_tears: bool = false,
    }
}

impl CardFaults {
    pub fn is_faultless(&self) -> bool {
        let CardFaults { begin_after_bytes, unit_bytes, .. } = *self;
        *self == CardFaults { begin_after_bytes, unit_bytes, ..CardFaults::default() }
    }

    /// Only the faults that decide the content; the others concern single commands.
    pub(crate) fn content_faults(&self) -> CardFaults {
        let CardFaults { begin_after_bytes, unit_bytes, lost_share, flip_p, .. } = *self;
        CardFaults { begin_after_bytes, unit_bytes, lost_share, flip_p, ..CardFaults::default() }
    }

    pub(super) fn check(&self, announced: u64) -> ValueCheck {
        check_unit_size("faults.unit_bytes", self.unit_bytes, announced)?;
        let CardFaults { error_tries: tries, stall_every_ios: every, stall_s, .. } = *self;
        check_not_zero("faults.error_tries", tries)?;
        ensure!(
            (every > 0) == (stall_s > 0.0),
            "faults.stall_every_ios = {every} and faults.stall_s = {stall_s} need each other"
        );
        let cut = self.vanish_after_bytes.or(self.vanish_after_ios);
        ensure!(
            !self.vanish_tears || cut.is_some(),
            "faults.vanish_tears needs faults.vanish_after_bytes or faults.vanish_after_ios"
        );
        check_whole_sectors("faults.vanish_after_bytes", self.vanish_after_bytes.unwrap_or(SECTOR))
    }
}

/// Ranges of a card in which commands fail, as text: `50MB+100kB, 0+512:write`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ErrorRanges(Vec<ErrorRange>);

/// Bytes `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ErrorRange {
    start: u64,
    end: u64,
    reads: bool,
    writes: bool,
}

impl ErrorRanges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if a command fails that touches `len` bytes from `offset`.
    pub(crate) fn fails_command(&self, write: bool, offset: u64, len: u64) -> bool {
        let strikes = |r: &ErrorRange| if write { r.writes } else { r.reads };
        self.0.iter().any(|r| strikes(r) && offset < r.end && r.start < offset + len)
    }

    /// Returns whether any command fails at `at`, and for how many bytes, at most `len`, that answer holds.
    pub(crate) fn failing_run(&self, at: u64, len: u64) -> (bool, u64) {
        let edges = self.0.iter().flat_map(|r| [r.start, r.end]);
        let next = edges.filter(|edge| *edge > at).min().unwrap_or(u64::MAX);
        (self.0.iter().any(|r| (r.start..r.end).contains(&at)), (next - at).min(len))
    }
}

fn parse_range(text: &str) -> Result<ErrorRange, String> {
    let wrong = || format!("{text:?} must be START+LEN, START+LEN:read or START+LEN:write");
    let (range, on) = text.split_once(':').unwrap_or((text, ""));
    let (start, len) = range.split_once('+').ok_or_else(wrong)?;
    let (reads, writes) = match on {
        "" => (true, true),
        "read" => (true, false),
        "write" => (false, true),
        _ => return Err(wrong()),
    };
    let size = |text: &str| parse_size(text).map_err(|e| e.to_string());
    let (start, len) = (size(start)?, size(len)?);
    let end = start.checked_add(len).filter(|end| *end > start).ok_or_else(wrong)?;
    Ok(ErrorRange { start, end, reads, writes })
}

impl TryFrom<String> for ErrorRanges {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let ranges = text.split(',').map(str::trim).filter(|range| !range.is_empty());
        ranges.map(parse_range).collect::<Result<_, _>>().map(ErrorRanges)
    }
}

impl fmt::Display for ErrorRanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, ErrorRange { start, end, reads, writes }) in self.0.iter().enumerate() {
            let separator = if n > 0 { ", " } else { "" };
            let on = match (reads, writes) {
                (true, true) => "",
                (true, false) => ":read",
                _ => ":write",
            };
            write!(f, "{separator}{start}+{}{on}", end - start)?;
        }
        Ok(())
    }
}

impl From<ErrorRanges> for String {
    fn from(ranges: ErrorRanges) -> String {
        ranges.to_string()
    }
}

/// Use of the card before the test.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartContent {
    #[default]
    Factory,
    /// Written once completely.
    Filled,
    /// Written in a share of its allocation units.
    Used,
}

/// Data read from a range that was never written, or was discarded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenRead {
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
}

with_defaults! {
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct StartState {
        pub start: StartContent = StartContent::Factory,
        /// Share of the allocation units of a used card that hold data; the seed chooses them.
        pub used_share: f64 = 0.5,
        pub unwritten: UnwrittenRead = UnwrittenRead::Zeros,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(text: &str) -> Result<ErrorRanges, String> {
        text.to_owned().try_into()
    }

    #[test]
    fn ranges_round_trip_as_text() {
        let two = ranges("50MB+100kB, 1MiB+512:write").unwrap();
        assert_eq!(two.to_string(), "50000000+100000, 1048576+512:write");
        assert_eq!(ranges(&two.to_string()).unwrap(), two);
        assert!(ranges("").unwrap().is_empty());
        for bad in ["50MB", "1+0", "1+512:erase", "x+512", "18446744073709551615+2"] {
            assert!(ranges(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn commands_fail_in_ranges_of_their_kind() {
        let two = ranges("4096+512, 8192+4096:write").unwrap();
        assert!(two.fails_command(false, 0, 4608) && two.fails_command(true, 4096, 512));
        assert!(!two.fails_command(false, 4608, 8192) && two.fails_command(true, 4608, 8192));
        assert!(!two.fails_command(true, 0, 4096));
        assert_eq!(two.failing_run(0, 1 << 20), (false, 4096));
        assert_eq!(two.failing_run(4096, 1 << 20), (true, 512));
        assert_eq!(two.failing_run(12288, 4096), (false, 4096));
    }
}
