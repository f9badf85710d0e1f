//! What stands on a card and what is false about it. The kinds of false capacity are those of the model (F) and of f3's
//! hidden emulator, which folds powers of two only; faults go wrong whatever the capacity is: bits that flip, units that
//! go bad, commands that fail, the moment at which the card vanishes. None of it is timing.

use super::ErrorRanges;
use super::check::{SECTOR, ValueCheck, ensure, some_bytes, whole_sectors};
use cardscope_model::with_defaults;
use serde::{Deserialize, Serialize};

/// Kinds of false capacity.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FakeKind {
    /// The capacity is real.
    #[default]
    None,
    /// What lies beyond the real bytes is lost, but for a cache.
    Limbo,
    /// Addresses wrap at `wrap_bytes`.
    Wraparound,
    /// Addresses wrap at `wrap_bytes`, and what then lies beyond the real bytes is lost.
    Chain,
    /// The address line worth `wrap_bytes` is not wired: a block and its twin so many bytes further on share one
    /// place.
    AddressLine,
    /// A share of units all over the card is lost.
    Damaged,
    /// Any address works until `real_bytes` are in use.
    Overcommitted,
    /// Writes are accepted and dropped: what stood there stays.
    ReadOnly,
}

/// What a lost block reads as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LostRead {
    /// Zeros.
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
    /// Something older: what stood in the place before, or the data of another block.
    Stale,
    /// Random bytes, others at each read.
    Noise,
    /// Random bytes that stay the same.
    Garbage,
    /// The block that was written last, wherever that was.
    Last,
    /// The read fails.
    Error,
}

/// Which block gives way in a full cache of a fake.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// The one whose number leaves the same remainder by the cache's size.
    #[default]
    Direct,
    /// The one used longest ago.
    Lru,
    /// The one written first.
    Fifo,
}

/// What an overcommitted card does with a new block when its real bytes are in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PoolFull {
    /// Accepts and drops it.
    #[default]
    Vanish,
    /// Keeps it, and writes are slower from then on.
    Slow,
    /// Answers no more.
    Dies,
}

with_defaults! {
    /// False capacity (model, F). Units of 4 MiB and a hundredfold fall are those of public reports (AltraMayor/f3 #222,
    /// #176).
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct FakeCapacity {
        /// The kind.
        pub kind: FakeKind = FakeKind::None,
        /// Bytes that really are there; 0 for a card that keeps nothing.
        pub real_bytes: Option<u64> = None,
        /// Where addresses wrap; any multiple of 512. For an address line what it is worth, a power of two.
        pub wrap_bytes: Option<u64> = None,
        /// Size of the units that a damaged card loses.
        pub damaged_unit_bytes: u64 = 4 << 20,
        /// Share of them that are lost; which ones is the seed's choice.
        pub damaged_share: f64 = 0.0,
        /// What an overcommitted card does when it is full.
        pub pool_full: PoolFull = PoolFull::Vanish,
        /// Then a write takes so many times as long.
        pub slow_factor: f64 = 100.0,
        /// Bytes of the lost range that a cache keeps for a while.
        pub cache_bytes: Option<u64> = None,
        /// Which block gives way in it.
        pub cache_kind: CacheKind = CacheKind::Direct,
        /// True where it holds lost blocks only; false where every write passes through it and real ones push lost ones
        /// out.
        pub cache_strict: bool = true,
        /// False where it is empty after a reset.
        pub cache_survives: bool = true,
        /// What a lost block reads as.
        pub lost: LostRead = LostRead::Zeros,
    }
}

/// Blocks of this size are what caches of fakes hold, in bytes.
const CACHE_BLOCK: u64 = 4096;

/// The truth is worked out unit by unit: more of them would make a card slow to name.
const MOST_UNITS: u64 = 1 << 24;

impl FakeCapacity {
    pub(super) fn check(&self, announced: u64) -> ValueCheck {
        self.sizes(announced)?;
        self.cache()?;
        let real = ("fake.real_bytes (fake_bytes=…)", self.real_bytes);
        let wrap = ("fake.wrap_bytes (wrap_bytes=…)", self.wrap_bytes);
        match self.kind {
            FakeKind::None | FakeKind::ReadOnly => Ok(()),
            FakeKind::Limbo => given([real]).map(drop),
            FakeKind::Wraparound => given([wrap]).and_then(|[wrap]| some_bytes("fake.wrap_bytes", wrap)),
            FakeKind::Chain => given([real, wrap]).and_then(|[real, wrap]| chain(real, wrap)),
            FakeKind::AddressLine => given([wrap]).and_then(|[wrap]| line(wrap, announced)),
            FakeKind::Damaged => {
                chosen_units("fake.damaged_unit_bytes", self.damaged_unit_bytes, announced)?;
                ensure(self.damaged_share != 0.0, || {
                    "this kind of fake needs fake.damaged_share above 0".to_owned()
                })
            }
            FakeKind::Overcommitted => given([real]).and_then(|[real]| some_bytes("fake.real_bytes", real)),
        }
    }

    fn sizes(&self, announced: u64) -> ValueCheck {
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

    fn cache(&self) -> ValueCheck {
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

/// The sizes that a kind of fake needs; all that are missing are named at once.
fn given<const N: usize>(sizes: [(&str, Option<u64>); N]) -> Result<[u64; N], String> {
    let missing = sizes.iter().filter(|(_, size)| size.is_none()).map(|(key, _)| *key).collect::<Vec<_>>();
    ensure(missing.is_empty(), || format!("this kind of fake needs {}", missing.join(" and ")))?;
    Ok(sizes.map(|(_, size)| size.unwrap_or_default()))
}

fn chain(real: u64, wrap: u64) -> ValueCheck {
    some_bytes("fake.real_bytes", real)?;
    some_bytes("fake.wrap_bytes", wrap)?;
    ensure(real < wrap, || {
        format!(
            "fake.real_bytes = {real} must be less than fake.wrap_bytes = {wrap} for a chain; else it is a wraparound"
        )
    })
}

fn line(worth: u64, announced: u64) -> ValueCheck {
    ensure(worth.is_power_of_two() && (SECTOR..announced).contains(&worth), || {
        format!(
            "fake.wrap_bytes = {worth} must be a power of two from {SECTOR} on and less than the card announces for an address line"
        )
    })
}

/// Units of which a share is chosen by the seed.
fn chosen_units(key: &str, bytes: u64, announced: u64) -> ValueCheck {
    whole_sectors(key, bytes)?;
    ensure(announced / bytes <= MOST_UNITS, || {
        format!("{key} = {bytes} cuts this card into more than {MOST_UNITS} units; take larger ones")
    })
}

with_defaults! {
    /// Faults; which places they hit is the seed's choice.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct CardFaults {
        /// Bytes written to the card before any of the following begins, but for vanishing; 0 for a card that was born
        /// with them.
        pub begin_after_bytes: u64 = 0,
        /// Size of the units that go bad.
        pub unit_bytes: u64 = 4 << 20,
        /// Share of the units that lose what is in them; a lost block reads as `fake.lost` says.
        pub lost_share: f64 = 0.0,
        /// Share of the units of which each read and each write fails.
        pub failing_share: f64 = 0.0,
        /// Probability for each sector written that one of its bits is the wrong one, each time it is read.
        pub flip_p: f64 = 0.0,
        /// Probability for each sector read that one of its bits is wrong this time.
        pub read_flip_p: f64 = 0.0,
        /// Probability that a read fails; the next try may not.
        pub read_error_p: f64 = 0.0,
        /// Probability that a write fails.
        pub write_error_p: f64 = 0.0,
        /// Tries in one place that fail once one has failed by these probabilities: 1 where the next one is answered.
        pub error_tries: u64 = 1,
        /// Places whose reads, writes or both fail, from the start: `START+LEN`, with `:read` or `:write` behind it for one
        /// of them, and commas between several.
        pub error_ranges: ErrorRanges = ErrorRanges::default(),
        /// I/Os from one stall to the next, in which the card answers nothing; 0 for none.
        pub stall_every_ios: u64 = 0,
        /// Seconds that a stall lasts.
        pub stall_s: f64 = 0.0,
        /// The card answers no more after so many bytes written.
        pub vanish_after_bytes: Option<u64> = None,
        /// The same after so many reads and writes.
        pub vanish_after_ios: Option<u64> = None,
        /// The same after so many seconds of its clock.
        pub vanish_after_s: Option<f64> = None,
        /// True where the write with which so many bytes or I/Os are reached is torn by the loss of power: its first half
        /// is stored, and pages beside it in the erase block are garbled.
        pub vanish_tears: bool = false,
    }
}

impl CardFaults {
    /// True where the card has none.
    pub fn none(&self) -> bool {
        let CardFaults { begin_after_bytes, unit_bytes, .. } = *self;
        *self == CardFaults { begin_after_bytes, unit_bytes, ..CardFaults::default() }
    }

    /// Those that decide what stands on the card; the others are of single commands.
    pub(crate) fn of_content(&self) -> CardFaults {
        let CardFaults { begin_after_bytes, unit_bytes, lost_share, flip_p, .. } = *self;
        CardFaults { begin_after_bytes, unit_bytes, lost_share, flip_p, ..CardFaults::default() }
    }

    pub(super) fn check(&self, announced: u64) -> ValueCheck {
        chosen_units("faults.unit_bytes", self.unit_bytes, announced)?;
        let CardFaults { error_tries: tries, stall_every_ios: every, stall_s, .. } = *self;
        ensure(tries > 0, || "faults.error_tries must not be 0".to_owned())?;
        ensure((every > 0) == (stall_s > 0.0), || {
            format!("faults.stall_every_ios = {every} and faults.stall_s = {stall_s} need each other")
        })?;
        let cut = self.vanish_after_bytes.or(self.vanish_after_ios);
        ensure(!self.vanish_tears || cut.is_some(), || {
            "faults.vanish_tears needs faults.vanish_after_bytes or faults.vanish_after_ios".to_owned()
        })?;
        whole_sectors("faults.vanish_after_bytes", self.vanish_after_bytes.unwrap_or(SECTOR))
    }
}

/// What was done with a card before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StartContent {
    /// Nothing: it is as it left the factory.
    #[default]
    Factory,
    /// It was written once completely.
    Filled,
    /// A share of its allocation units was written, here and there.
    Used,
}

/// What reads where nothing was ever written, or was discarded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnwrittenRead {
    /// Zeros.
    #[default]
    Zeros,
    /// 0xFF, as erased flash.
    Ones,
}

with_defaults! {
    /// The state a card starts from.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    pub struct StartState {
        /// What was done with it before.
        pub start: StartContent = StartContent::Factory,
        /// Share of allocation units that a used card has data in; which ones is the seed's choice.
        pub used_share: f64 = 0.5,
        /// What reads where nothing was written.
        pub unwritten: UnwrittenRead = UnwrittenRead::Zeros,
    }
}
