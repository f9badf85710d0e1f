//! A few places all over the card that are written before everything else. They tell a card that has lost an address
//! range (nothing ever stays there) from one that has run out of blocks (the first ones to come stay), and, written
//! once more at the end, they show in the low addresses of a card whose addresses wrap.

use super::reading::Stamped;
use super::samples::{SAMPLE, Sample, place, read};
use cardscope_engine::card::{Card, Extent, Stop};
use cardscope_model::random::{Random, mix};

/// Their write comes before all others.
pub(crate) const GENERATION: u32 = 0;

const COUNT: u64 = 64;

/// A small card has fewer, so that not all of it is sentinels.
const LEAST_PART: u64 = 4 * SAMPLE;

/// The places, one in each 64th of the card; they follow from salt and size.
pub(crate) fn places(card_bytes: u64, salt: u64) -> Vec<Extent> {
    let count = COUNT.min(card_bytes / LEAST_PART).max(1);
    let part = card_bytes.div_ceil(count).next_multiple_of(SAMPLE);
    let mut random = Random::new(mix(salt ^ 0x7365_6e74));
    (0..count)
        .map(|n| (n * part, ((n + 1) * part).min(card_bytes)))
        .filter(|(from, to)| from < to)
        .map(|(from, to)| place(from, to, &mut random))
        .collect()
}

/// Writes them.
pub(crate) fn write(card: &mut Card<'_>, places: &[Extent], salt: u64) -> Result<(), Stop> {
    let stamped = Stamped { salt, generation: GENERATION };
    card.write(places.iter().copied(), stamped.content(), |_, _, _| ())?;
    card.flush()
}

/// Those that lie at or beyond `from`, read again.
pub(crate) fn beyond(
    card: &mut Card<'_>,
    places: &[Extent],
    from: u64,
    salt: u64,
) -> Result<Vec<Sample>, Stop> {
    let list = places.iter().copied().filter(|p| p.offset >= from);
    read(card, list, Stamped { salt, generation: GENERATION })
}

/// Markers beyond `from`: evenly spread, and behind each power of two.
const MOST_MARKERS: u64 = 4096;

/// Where markers go so that at least one of them lands in `[0, kept)` if addresses wrap beyond `from`.
pub(crate) fn markers(from: u64, card_bytes: u64, kept: u64) -> Vec<Extent> {
    let room = card_bytes.saturating_sub(from);
    let step = (kept / 8).max(room / MOST_MARKERS).next_multiple_of(SAMPLE).max(SAMPLE);
    let even = (from.next_multiple_of(SAMPLE)..card_bytes).step_by(step as usize);
    let powers = (20..63).map(|k| 1u64 << k).filter(|p| *p >= from && *p < card_bytes);
    let mut list: Vec<u64> = even.chain(powers).collect();
    list.sort_unstable();
    list.dedup();
    list.into_iter().map(|offset| Extent { offset, len: SAMPLE.min(card_bytes - offset) as u32 }).collect()
}
