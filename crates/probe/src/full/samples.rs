//! Samples that are read again while the rest of the card is being written: a fake shows in what was written long ago
//! (its cache has forgotten it, or other addresses have overwritten it), and a card that was swapped shows in all of it
//! at once.

use super::ledger::Seen;
use super::reading::{Stamped, read_judged};
use crate::sector::SectorFound;
use cardscope_engine::card::{Card, Extent, Stop};
use cardscope_model::random::{Random, mix};

/// Bytes of a sample: the unit in which fakes' caches and pools count.
pub(crate) const SAMPLE: u64 = 4096;

/// Samples in each stretch that is looked at.
const IN_A_STRETCH: u64 = 4;

/// Older stretches that are looked at besides, at random.
const RANDOM_STRETCHES: u64 = 8;

/// So many good samples, all of which are gone at once, are another card.
const FEWEST_FOR_A_SWAP: usize = 8;

/// How a card is cut into stretches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretches {
    pub(crate) card: u64,
    pub(crate) bytes: u64,
}

impl Stretches {
    /// A 32nd of the card, 1 to 256 MiB: often enough that a fake shows soon, seldom enough that looking costs little.
    pub(crate) fn of(card: u64) -> Self {
        Stretches { card, bytes: card.div_ceil(32).next_multiple_of(1 << 20).clamp(1 << 20, 256 << 20) }
    }

    pub(crate) fn range(self, index: u64) -> (u64, u64) {
        (index * self.bytes, ((index + 1) * self.bytes).min(self.card))
    }

    /// The sample places of a stretch, the same ones each time.
    fn places(self, index: u64, salt: u64) -> impl Iterator<Item = Extent> {
        let (from, to) = self.range(index);
        let mut random = Random::new(mix(salt ^ index));
        (0..IN_A_STRETCH).map(move |_| place(from, to, &mut random))
    }
}

/// A random sample place in a range.
pub(crate) fn place(from: u64, to: u64, random: &mut Random) -> Extent {
    let offset = from + random.below((to - from).div_ceil(SAMPLE)) * SAMPLE;
    Extent { offset, len: SAMPLE.min(to - offset) as u32 }
}

/// One sample that was read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Sample {
    pub(crate) extent: Extent,
    /// The worst of its sectors.
    pub(crate) found: SectorFound,
}

impl Sample {
    pub(crate) fn good(&self) -> bool {
        self.found == SectorFound::Expected
    }

    /// Nothing of this run stands there.
    pub(crate) fn gone(&self) -> bool {
        matches!(
            self.found,
            SectorFound::Foreign { .. }
                | SectorFound::Constant { .. }
                | SectorFound::Other
                | SectorFound::Stale { .. }
        )
    }
}

/// Reads sample places.
pub(crate) fn read(
    card: &mut Card<'_>,
    places: impl IntoIterator<Item = Extent>,
    stamped: Stamped,
) -> Result<Vec<Sample>, Stop> {
    let mut samples = Vec::new();
    read_judged(card, places, stamped, |extent, _, seen| {
        samples.push(Sample { extent, found: worst(seen) })
    })?;
    Ok(samples)
}

fn worst(seen: &[Seen]) -> SectorFound {
    let bad = seen.iter().find(|s| s.found != SectorFound::Expected);
    bad.map_or(SectorFound::Expected, |s| s.found)
}

/// Looks at what was written before, stretch after stretch.
#[derive(Debug, Clone)]
pub(crate) struct Watchman {
    stretches: Stretches,
    stamped: Stamped,
    random: Random,
    /// All samples of older stretches were good when they were last looked at, and there were enough of them.
    all_was_well: bool,
}

impl Watchman {
    pub(crate) fn new(stretches: Stretches, stamped: Stamped) -> Self {
        Watchman { stretches, stamped, random: Random::new(stamped.salt), all_was_well: false }
    }

    /// Looks after stretch `last` was written; gives the bad samples.
    pub(crate) fn look(&mut self, card: &mut Card<'_>, last: u64) -> Result<Vec<Sample>, Stop> {
        let (places, salt) = (self.places(last), self.stamped.salt);
        let list = places.iter().flat_map(|index| self.stretches.places(*index, salt));
        let samples = read(card, list, self.stamped)?;
        let boundary = self.stretches.range(last).0;
        let old: Vec<&Sample> = samples.iter().filter(|s| s.extent.offset < boundary).collect();
        let enough = old.len() >= FEWEST_FOR_A_SWAP;
        if enough && self.all_was_well && old.iter().all(|s| s.gone()) {
            let what = "everything written before is gone at once".to_owned();
            return Err(Stop::Swapped(what));
        }
        self.all_was_well = enough && old.iter().all(|s| s.good());
        Ok(samples.into_iter().filter(|s| !s.good()).collect())
    }

    /// This stretch, those 1, 2, 4 … before it, the first ones, and some at random.
    fn places(&mut self, last: u64) -> Vec<u64> {
        let lags = (0..40).map(|k| 1u64 << k).take_while(|lag| *lag <= last).map(|lag| last - lag);
        let mut places: Vec<u64> = lags.chain([last, 0, 1.min(last)]).collect();
        places.extend((0..RANDOM_STRETCHES).map(|_| self.random.below(last + 1)));
        places.sort_unstable();
        places.dedup();
        places
    }
}
