//! Samples, sentinels and markers: stamped positions that are read instead of the whole card.
//!
//! Samples are read again while the rest of the card is written. A fake loses old data, when its cache drops it or
//! other addresses overwrite it; on a swapped card all of it is gone at once. Sentinels are written before
//! everything else. They distinguish a missing address range, where nothing stays, from a pool of blocks, which
//! keeps the first data written. The original content of their places shows on a card that ignores writes. Markers
//! are written last and show in low addresses if addresses repeat.

use crate::probe::Result;
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer};
use cardscope_model::random::{SeededRandom, mix_bits};
use cardscope_model::verify::SectorFound;
use cardscope_probing::bad_ranges::BadKind;
use cardscope_probing::reading::{ExpectedStamps, read_judged};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Bytes of a sample, the unit of caches and pools in fakes.
pub(crate) const SAMPLE_BYTES: u64 = 4096;

const SAMPLES_PER_RANGE: u64 = 4;

const RANDOM_RANGES: u64 = 8;

/// Fewest good samples whose sudden loss means a swapped card.
const MIN_SAMPLES_FOR_SWAP: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RangePlan {
    pub(crate) card: u64,
    pub(crate) bytes: u64,
}

impl RangePlan {
    /// A 32nd of the card, within 1 to 256 MiB: small enough to detect a fake early, large enough for cheap checks.
    pub(crate) fn for_card(card: u64) -> Self {
        RangePlan { card, bytes: card.div_ceil(32).next_multiple_of(1 << 20).clamp(1 << 20, 256 << 20) }
    }

    pub(crate) fn range(self, index: u64) -> (u64, u64) {
        (index * self.bytes, ((index + 1) * self.bytes).min(self.card))
    }

    /// Sample positions of a range, equal at each call.
    fn sample_places(self, index: u64, salt: u64) -> impl Iterator<Item = CardExtent> {
        let (from, to) = self.range(index);
        let mut random = SeededRandom::new(mix_bits(salt ^ index));
        (0..SAMPLES_PER_RANGE).map(move |_| random_place(from, to, &mut random))
    }
}

pub(crate) fn random_place(from: u64, to: u64, random: &mut SeededRandom) -> CardExtent {
    let offset = from + random.below((to - from).div_ceil(SAMPLE_BYTES)) * SAMPLE_BYTES;
    CardExtent { offset, len: SAMPLE_BYTES.min(to - offset) as u32 }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ReadSample {
    pub(crate) extent: CardExtent,
    /// First bad result of its sectors.
    pub(crate) found: SectorFound,
}

impl ReadSample {
    pub(crate) fn is_good(&self) -> bool {
        self.found == SectorFound::Expected
    }

    /// True if no stamp of this run is there.
    pub(crate) fn is_gone(&self) -> bool {
        BadKind::from_result(self.found) == Some(BadKind::Lost)
    }
}

pub(crate) fn read_samples(
    card: &mut IoDriver<'_>,
    places: impl IntoIterator<Item = CardExtent>,
    stamped: ExpectedStamps,
) -> Result<Vec<ReadSample>> {
    let mut samples = Vec::new();
    read_judged(card, places, stamped, |extent, _, seen| {
        let bad = seen.iter().find(|s| s.result != SectorFound::Expected);
        let found = bad.map_or(SectorFound::Expected, |s| s.result);
        samples.push(ReadSample { extent, found });
    })?;
    Ok(samples)
}

/// Reads samples of earlier ranges after each written one.
#[derive(Debug, Clone)]
pub(crate) struct SampleChecker {
    pub(crate) cut: RangePlan,
    stamped: ExpectedStamps,
    random: SeededRandom,
    /// Last range after which samples were read.
    pub(crate) last: Option<u64>,
    /// True if enough samples of older ranges were read last time, and all were good.
    were_all_good: bool,
}

impl SampleChecker {
    pub(crate) fn new(card_bytes: u64, stamped: ExpectedStamps) -> Self {
        let (cut, random) = (RangePlan::for_card(card_bytes), SeededRandom::new(stamped.salt));
        SampleChecker { cut, stamped, random, last: None, were_all_good: false }
    }

    /// Reads samples after range `last` was written, and returns the bad ones. Fails if the card was swapped.
    pub(crate) fn check_samples(&mut self, card: &mut IoDriver<'_>, last: u64) -> Result<Vec<ReadSample>> {
        let (places, salt) = (self.ranges_to_check(last), self.stamped.salt);
        let list = places.iter().flat_map(|index| self.cut.sample_places(*index, salt));
        let samples = read_samples(card, list, self.stamped)?;
        let boundary = self.cut.range(last).0;
        let old: Vec<&ReadSample> = samples.iter().filter(|s| s.extent.offset < boundary).collect();
        let enough = old.len() >= MIN_SAMPLES_FOR_SWAP;
        if enough && self.were_all_good && old.iter().all(|s| s.is_gone()) {
            return Err(ProbeStop::Swapped("all data written before is gone at once".to_owned()));
        }
        self.last = Some(last);
        self.were_all_good = enough && old.iter().all(|s| s.is_good());
        Ok(samples.into_iter().filter(|s| !s.is_good()).collect())
    }

    /// This range, those 1, 2, 4 … before it, the first ones, and random ones.
    fn ranges_to_check(&mut self, last: u64) -> Vec<u64> {
        let lags = (0..40).map(|k| 1u64 << k).take_while(|lag| *lag <= last).map(|lag| last - lag);
        let mut places: Vec<u64> = lags.chain([last, 0, 1.min(last)]).collect();
        places.extend((0..RANDOM_RANGES).map(|_| self.random.below(last + 1)));
        places.sort_unstable();
        places.dedup();
        places
    }
}

const MAX_SENTINELS: u64 = 64;

/// Least bytes per sentinel, so that a small card does not consist of sentinels.
const MIN_BYTES_PER_SENTINEL: u64 = 4 * SAMPLE_BYTES;

/// Positions of the sentinels, one in each 64th of the card, derived from salt and size.
pub(crate) fn sentinel_places(card_bytes: u64, salt: u64) -> Vec<CardExtent> {
    let count = MAX_SENTINELS.min(card_bytes / MIN_BYTES_PER_SENTINEL).max(1);
    let part = card_bytes.div_ceil(count).next_multiple_of(SAMPLE_BYTES);
    let mut random = SeededRandom::new(mix_bits(salt ^ 0x7365_6e74));
    let parts = (0..count).map(|n| (n * part, ((n + 1) * part).min(card_bytes)));
    let parts = parts.filter(|(from, to)| from < to);
    parts.map(|(from, to)| random_place(from, to, &mut random)).collect()
}

/// Most markers, apart from those at powers of two.
const MAX_MARKERS: u64 = 4096;

/// Positions of markers beyond `from`, at least one of which appears in `[0, end)` if addresses repeat.
pub(crate) fn marker_places(from: u64, card_bytes: u64, end: u64) -> Vec<CardExtent> {
    let room = card_bytes.saturating_sub(from);
    let step = (end / 8).max(room / MAX_MARKERS).next_multiple_of(SAMPLE_BYTES).max(SAMPLE_BYTES);
    let even = (from.next_multiple_of(SAMPLE_BYTES)..card_bytes).step_by(step as usize);
    let powers = (20..63).map(|k| 1u64 << k).filter(|p| *p >= from && *p < card_bytes);
    let mut list: Vec<u64> = even.chain(powers).collect();
    list.sort_unstable();
    list.dedup();
    let place = |offset| CardExtent { offset, len: SAMPLE_BYTES.min(card_bytes - offset) as u32 };
    list.into_iter().map(place).collect()
}

/// Hashes of the original content at positions that held more than one repeated byte.
#[derive(Debug, Clone, Default)]
pub(crate) struct OriginalHashes(Vec<(CardExtent, u64)>);

impl OriginalHashes {
    /// Reads the sentinels' positions before anything is written.
    pub(crate) fn read(card: &mut IoDriver<'_>, places: &[CardExtent]) -> Result<Self> {
        let mut list = Vec::new();
        card.read(places.iter().copied(), IoContent::Buffer, |extent, _, answer| {
            if let ReadAnswer::Differs { bytes, .. } = answer
                && bytes.iter().any(|byte| Some(byte) != bytes.first())
            {
                list.push((extent, hash_bytes(bytes)));
            }
            Ok(())
        })?;
        Ok(OriginalHashes(list))
    }

    /// True if all original content is unchanged; false if there was none to compare.
    pub(crate) fn are_unchanged(&self, card: &mut IoDriver<'_>) -> Result<bool> {
        let mut same = 0;
        for (place, before) in &self.0 {
            card.read([*place], IoContent::Buffer, |_, _, answer| {
                if let ReadAnswer::Differs { bytes, .. } = answer {
                    same += usize::from(hash_bytes(bytes) == *before);
                }
                Ok(())
            })?;
        }
        Ok(!self.0.is_empty() && same == self.0.len())
    }
}

fn hash_bytes(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
