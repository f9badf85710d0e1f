//! Content of a card and its lies: kinds of false capacity (docs/reference/flash.md#fake-cards, and f3's hidden
//! emulator, which wraps at powers of two only), and faults that do not depend on capacity: flipped bits, bad units,
//! failing commands, a card that vanishes. None of it is timing.

use super::ErrorRanges;
use super::check::{SECTOR, ValueCheck, check_not_zero, check_whole_sectors, ensure};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

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
        self.check_sizes(announced)?;
        self.check_cache()?;
        let real = ("fake.real_bytes (fake_bytes=…)", self.real_bytes);
        let wrap = ("fake.wrap_bytes (wrap_bytes=…)", self.wrap_bytes);
        match self.kind {
            FakeKind::None | FakeKind::ReadOnly => Ok(()),
            FakeKind::Limbo => required_sizes([real]).map(drop),
            FakeKind::Wraparound => {
                required_sizes([wrap]).and_then(|[wrap]| check_not_zero("fake.wrap_bytes", wrap))
            }
            FakeKind::Chain => required_sizes([real, wrap]).and_then(|[real, wrap]| check_chain(real, wrap)),
            FakeKind::AddressLine => {
                required_sizes([wrap]).and_then(|[wrap]| check_address_line(wrap, announced))
            }
            FakeKind::Damaged => {
                check_unit_size("fake.damaged_unit_bytes", self.damaged_unit_bytes, announced)?;
                ensure(self.damaged_share != 0.0, || {
                    "this kind of fake needs fake.damaged_share above 0".to_owned()
                })
            }
            FakeKind::Overcommitted => {
                required_sizes([real]).and_then(|[real]| check_not_zero("fake.real_bytes", real))
            }
        }
    }

    fn check_sizes(&self, announced: u64) -> ValueCheck {
        for (key, value, unit) in [
            ("fake.real_bytes", self.real_bytes, SECTOR),
            ("fake.wrap_bytes", self.wrap_bytes, SECTOR),
            ("fake.cache_bytes", self.cache_bytes, CACHE_BLOCK),
        ] {
            let Some(value) = value else { continue };
            ensure(value % unit == 0, || format!("{key} = {value} must be a multiple of {unit}"))?;
            ensure(value <= announced, || {
                format!("{key} = {value} is more than the card announces ({announced})")
            })?;
        }
        Ok(())
    }

    fn check_cache(&self) -> ValueCheck {
        let loses = matches!(self.kind, FakeKind::Limbo | FakeKind::Chain | FakeKind::Damaged);
        match self.cache_bytes {
            Some(0) => Err("fake.cache_bytes must not be 0; leave it out for no cache".to_owned()),
            Some(bytes) if !loses && self.kind != FakeKind::None => {
                Err(format!("fake.cache_bytes = {bytes}: only limbo, chain and damaged cards have a cache"))
            }
            _ => Ok(()),
        }
    }
}

/// Returns the sizes that a kind of fake needs; the error names all that are missing.
fn required_sizes<const N: usize>(sizes: [(&str, Option<u64>); N]) -> Result<[u64; N], String> {
    let missing = sizes.iter().filter(|(_, size)| size.is_none()).map(|(key, _)| *key).collect::<Vec<_>>();
    ensure(missing.is_empty(), || format!("this kind of fake needs {}", missing.join(" and ")))?;
    Ok(sizes.map(|(_, size)| size.unwrap_or_default()))
}

fn check_chain(real: u64, wrap: u64) -> ValueCheck {
    check_not_zero("fake.real_bytes", real)?;
    check_not_zero("fake.wrap_bytes", wrap)?;
    ensure(real < wrap, || {
        format!(
            "fake.real_bytes = {real} must be less than fake.wrap_bytes = {wrap} for a chain; else it is a wraparound"
        )
    })
}

fn check_address_line(worth: u64, announced: u64) -> ValueCheck {
    ensure(worth.is_power_of_two() && (SECTOR..announced).contains(&worth), || {
        format!(
            "fake.wrap_bytes = {worth} must be a power of two from {SECTOR} on and less than the card announces for an address line"
        )
    })
}

fn check_unit_size(key: &str, bytes: u64, announced: u64) -> ValueCheck {
    check_whole_sectors(key, bytes)?;
    ensure(announced / bytes <= MAX_UNITS, || {
        format!("{key} = {bytes} cuts this card into more than {MAX_UNITS} units; take larger ones")
    })
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
        ensure(tries > 0, || "faults.error_tries must not be 0".to_owned())?;
        ensure((every > 0) == (stall_s > 0.0), || {
            format!("faults.stall_every_ios = {every} and faults.stall_s = {stall_s} need each other")
        })?;
        let cut = self.vanish_after_bytes.or(self.vanish_after_ios);
        ensure(!self.vanish_tears || cut.is_some(), || {
            "faults.vanish_tears needs faults.vanish_after_bytes or faults.vanish_after_ios".to_owned()
        })?;
        check_whole_sectors("faults.vanish_after_bytes", self.vanish_after_bytes.unwrap_or(SECTOR))
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
