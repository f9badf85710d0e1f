//! The shape of an archetype's file: every parameter with its unit and what it stands for, and the check that its
//! values can be. Symbols in brackets are those of the equations that the engines' modules name; what a value rests
//! on stands in each card's file.
//!
//! Unknown keys are refused, so that a typing error never silently leaves a default in place.

mod check;
mod content;
mod error_ranges;
mod flash;
mod identity;
mod times;
mod wear;

pub use content::*;
pub use error_ranges::*;
pub use flash::*;
pub use identity::*;
pub use times::*;
pub use wear::*;

use check::{SECTOR, ValueCheck, capacity, ensure, numbers};
use serde::{Deserialize, Serialize};

/// The seed where none is given.
pub(crate) const DEFAULT_SEED: u64 = 1;

/// A simulated card, with its rig and its truth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archetype {
    /// The name behind `sim:`.
    pub name: String,
    /// One line for people.
    pub title: String,
    /// The published report that its figures are taken from, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Bytes that the card announces.
    pub announced_bytes: u64,
    /// Units of the flash.
    #[serde(default)]
    pub flash: FlashUnits,
    /// Scatter of the times.
    #[serde(default)]
    pub noise: CostNoise,
    /// The controller in front of the flash.
    #[serde(default)]
    pub front: CommandPath,
    /// Commands in flight.
    #[serde(default)]
    pub queue: CommandQueue,
    /// Times of reads; absent only where `constant` is given.
    pub read: Option<ReadTimes>,
    /// Times of writes and the mapping engine; absent only where `constant` is given.
    pub write: Option<WriteTimes>,
    /// A card of constant speed, to calibrate against.
    pub constant: Option<ConstantCard>,
    /// A region at the start that is treated specially.
    pub fat_region: Option<FatRegion>,
    /// Flash used with one bit a cell as a cache.
    pub cache: Option<PslcCache>,
    /// Wear; absent for a card that never wears out and never moves a block.
    pub wear: Option<WearParameters>,
    /// Heat; absent where nothing is known of it.
    pub thermal: Option<ThermalNode>,
    /// What is false about the capacity.
    #[serde(default)]
    pub fake: FakeCapacity,
    /// What else goes wrong with it.
    #[serde(default)]
    pub faults: CardFaults,
    /// What stands on it when it is put in.
    #[serde(default)]
    pub state: StartState,
    /// Reader, bus and host between the card and whoever measures.
    #[serde(default)]
    pub rig: TestRig,
    /// What the card says of itself.
    #[serde(default)]
    pub identity: CardIdentity,
    /// What a probe should find.
    pub truth: CardTruth,
}

impl Archetype {
    /// Capacity that the host sees: the card's, unless the reader announces another.
    pub fn shown_bytes(&self) -> u64 {
        self.rig.shown_bytes.unwrap_or(self.announced_bytes) + self.rig.extra_sectors * SECTOR
    }

    /// Where the addresses end that the reader can reach on the card.
    pub(crate) fn reachable_bytes(&self) -> u64 {
        self.rig.end_bytes.unwrap_or(u64::MAX).min(self.announced_bytes)
    }

    /// True for a reader that misreads the card or its capacity.
    pub(crate) fn reader_is_bad(&self) -> bool {
        let address_limit = self.rig.address_limit_bytes.unwrap_or(u64::MAX);
        self.rig.misreads()
            || self.shown_bytes() != self.announced_bytes
            || self.reachable_bytes().min(address_limit) < self.announced_bytes
    }

    /// Holds a card against what the model needs: a sentence that names the key, its value and what it must be.
    pub(super) fn check_values(&self) -> ValueCheck {
        // Its directory and its NBD export are called by it.
        let name = &self.name;
        let of_a_file = (1..=255).contains(&name.len()) && !name.contains('/') && !name.starts_with('.');
        ensure(of_a_file && !name.chars().any(char::is_control), || {
            format!("name = {name:?} must be a word without a slash that begins with no dot")
        })?;
        capacity("announced_bytes", self.announced_bytes)?;
        self.sources_of_time()?;
        self.check_numbers()?;
        self.flash.check()?;
        self.front.check()?;
        self.queue.check()?;
        self.read.as_ref().map_or(Ok(()), ReadTimes::check)?;
        self.write.as_ref().map_or(Ok(()), WriteTimes::check)?;
        self.fat_region.as_ref().map_or(Ok(()), |r| r.check(self.announced_bytes))?;
        self.cache.as_ref().map_or(Ok(()), |c| c.check(self.announced_bytes))?;
        self.wear.as_ref().map_or(Ok(()), WearParameters::check)?;
        self.thermal.as_ref().map_or(Ok(()), ThermalNode::check)?;
        self.fake.check(self.announced_bytes)?;
        self.faults.check(self.announced_bytes)?;
        self.rig.check()
    }

    /// The identity is the card's own word, and the truth follows from the rest.
    fn check_numbers(&self) -> ValueCheck {
        let mut tables = toml::Table::try_from(self).map_err(|e| e.to_string())?;
        tables.retain(|key, _| key != "identity" && key != "truth");
        numbers("", &tables.into())
    }

    fn sources_of_time(&self) -> ValueCheck {
        let constant = self.constant.is_some();
        ensure(constant != self.read.is_some() && constant != self.write.is_some(), || {
            "a card needs either [constant], or [read] and [write]".to_owned()
        })
    }
}
