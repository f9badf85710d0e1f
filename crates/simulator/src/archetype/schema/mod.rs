//! Schema of an archetype's file: every parameter with its unit, and the checks of the values. Symbols in parentheses
//! appear in the equations of the engine modules. Each card's file names the sources of its values.
//!
//! Unknown keys are refused, so that a misspelled key never leaves a default in place.

mod content;
mod flash;
mod identity;
mod times;
mod value_checks;
mod wear;

pub use content::*;
pub use flash::*;
pub use identity::*;
pub use times::*;
pub use wear::*;

use serde::{Deserialize, Serialize};
use value_checks::{SECTOR, ValueCheck, check_capacity, check_numbers, check_whole_sectors, ensure};

/// Seed of a card whose name gives none.
pub(crate) const DEFAULT_SEED: u64 = 1;

/// Simulated card, with its rig and its truth.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Archetype {
    /// Name after `sim:`.
    pub name: String,
    /// Description in one line.
    pub title: String,
    /// Published report of its figures, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    pub announced_bytes: u64,
    #[serde(default)]
    pub flash: FlashUnits,
    #[serde(default)]
    pub noise: CostNoise,
    #[serde(default)]
    pub front: CommandPath,
    #[serde(default)]
    pub queue: CommandQueue,
    /// Times of reads; None only for a card of constant speed.
    pub read: Option<ReadTimes>,
    /// Times of writes and mapping engine; None only for a card of constant speed.
    pub write: Option<WriteTimes>,
    /// Constant speed, to calibrate against.
    pub constant: Option<ConstantCard>,
    pub fat_region: Option<FatRegion>,
    /// pSLC cache: cells used with one bit each.
    pub cache: Option<PslcCache>,
    /// Wear; None for a card that neither wears out nor moves blocks.
    pub wear: Option<WearParameters>,
    /// Heat; None if unknown.
    pub thermal: Option<ThermalNode>,
    /// False capacity.
    #[serde(default)]
    pub fake: FakeCapacity,
    #[serde(default)]
    pub faults: CardFaults,
    /// Content at the start.
    #[serde(default)]
    pub state: StartState,
    #[serde(default)]
    pub rig: TestRig,
    #[serde(default)]
    pub identity: CardIdentity,
    pub truth: CardTruth,
}

impl Archetype {
    /// Capacity that the host is given: the card's, unless the reader announces another one.
    pub fn shown_bytes(&self) -> u64 {
        self.rig.shown_bytes.unwrap_or(self.announced_bytes) + self.rig.extra_sectors * SECTOR
    }

    /// End of the card's addresses that the reader reaches.
    pub(crate) fn reachable_bytes(&self) -> u64 {
        self.rig.end_bytes.unwrap_or(u64::MAX).min(self.announced_bytes)
    }

    /// True for a reader that misreads the card or its capacity.
    pub(crate) fn reader_is_bad(&self) -> bool {
        let address_limit = self.rig.address_limit_bytes.unwrap_or(u64::MAX);
        self.rig.falsifies_reads()
            || self.shown_bytes() != self.announced_bytes
            || self.reachable_bytes().min(address_limit) < self.announced_bytes
    }

    /// Error: a sentence with the wrong key, its value and what it must be.
    pub(super) fn check_values(&self) -> ValueCheck {
        // The name is also that of the card's directory and of its NBD export.
        let name = &self.name;
        let of_a_file = (1..=255).contains(&name.len()) && !name.contains('/') && !name.starts_with('.');
        ensure!(
            of_a_file && !name.chars().any(char::is_control),
            "name = {name:?} must be a word without a slash that begins with no dot"
        );
        check_capacity("announced_bytes", self.announced_bytes)?;
        let constant = self.constant.is_some();
        ensure!(
            constant != self.read.is_some() && constant != self.write.is_some(),
            "a card needs either [constant], or [read] and [write]"
        );
        self.check_all_numbers()?;
        self.flash.check()?;
        self.check_limits()?;
        self.read.as_ref().map_or(Ok(()), ReadTimes::check)?;
        self.write.as_ref().map_or(Ok(()), WriteTimes::check)?;
        self.cache.as_ref().map_or(Ok(()), |c| c.check(self.announced_bytes))?;
        self.wear.as_ref().map_or(Ok(()), WearParameters::check)?;
        self.fake.check(self.announced_bytes)?;
        self.faults.check(self.announced_bytes)?;
        self.rig.check()
    }

    /// Checks the tables that have few limits.
    fn check_limits(&self) -> ValueCheck {
        let (ram, depth) = (self.front.ram_bytes, self.queue.depth);
        ensure!(
            ram.is_multiple_of(SECTOR) && ram <= 1 << 30,
            "front.ram_bytes = {ram} must be a multiple of 512, at most 1 GiB"
        );
        ensure!((1..=65536).contains(&depth), "queue.depth = {depth} must be 1 to 65536");
        if let Some(FatRegion { bytes, .. }) = self.fat_region {
            check_whole_sectors("fat_region.bytes", bytes)?;
            ensure!(bytes <= self.announced_bytes, "fat_region.bytes = {bytes} is more than the card has");
        }
        if let Some(ThermalNode { tmt1_c, tmt2_c, .. }) = self.thermal {
            ensure!(tmt1_c <= tmt2_c, "thermal.tmt1_c = {tmt1_c} is above thermal.tmt2_c = {tmt2_c}");
        }
        Ok(())
    }

    /// Identity and truth are left out: the identity is what the card claims, and the truth follows from the rest.
    fn check_all_numbers(&self) -> ValueCheck {
        let mut tables = toml::Table::try_from(self).map_err(|e| e.to_string())?;
        tables.retain(|key, _| key != "identity" && key != "truth");
        check_numbers("", &tables.into())
    }
}
