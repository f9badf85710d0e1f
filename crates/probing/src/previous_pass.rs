//! Detection of an earlier pass by its stamps alone, to resume it or to verify it later. Half of a salt is random, the
//! other half a fingerprint of the card, so that stamps copied from another card do not count.

use cardscope_engine::content::{SectorStamp, read_stamp_header};
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeResult};
use cardscope_model::random::mix_bits;
use std::collections::BTreeMap;

/// Generation of sentinels and markers.
pub const SENTINEL_GENERATION: u32 = 0;

const LOW_HALF: u64 = 0xffff_ffff;

/// Generously more than can be in flight when a pass is interrupted: it resumes that far back.
const MAX_IN_FLIGHT: u64 = 16 << 20;

const SAMPLE_BYTES: u64 = 4096;

const SPREAD_SAMPLES: u64 = 256;
const START_SAMPLES: u64 = 16;

/// Combines a seed with a fingerprint of the card's identity and size.
pub fn salt_for_card(seed: u64, fingerprint: u64) -> u64 {
    (mix_bits(seed) & !LOW_HALF) | (mix_bits(fingerprint) & LOW_HALF)
}

/// True if the salt was made for the card of this fingerprint.
pub fn is_salt_of(salt: u64, fingerprint: u64) -> bool {
    salt & LOW_HALF == mix_bits(fingerprint) & LOW_HALF
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviousPass {
    pub salt: u64,
    /// Most frequent generation.
    pub generation: u32,
    /// Bytes from 0 that were certainly written.
    pub reached: u64,
}

/// Address and the stamp that lies there.
type PlacedStamp = (u64, SectorStamp);

/// Searches for stamps of an earlier pass; `None` if there are none.
pub fn find_previous_pass(card: &mut IoDriver<'_>) -> ProbeResult<Option<PreviousPass>> {
    let bytes = card.bytes();
    let start = (0..START_SAMPLES).map(|n| n * SAMPLE_BYTES);
    let first = read_stamps(card, start.take_while(|offset| offset + SAMPLE_BYTES <= bytes))?;
    let step = (bytes / SPREAD_SAMPLES / SAMPLE_BYTES * SAMPLE_BYTES).max(SAMPLE_BYTES);
    let all = read_stamps(card, (0..bytes).step_by(step as usize))?;
    let Some((salt, generation)) = most_common_stamp(&first).or_else(|| most_common_stamp(&all)) else {
        return Ok(None);
    };
    let ours = || first.iter().chain(&all).filter(|(_, s)| s.salt == salt && s.generation == generation);
    // Sentinels lie all over the card: a pass that wrote nothing else had not yet begun to write in order.
    if generation == SENTINEL_GENERATION {
        return Ok(Some(PreviousPass { salt, generation, reached: 0 }));
    }
    let furthest = ours().map(|(_, stamp)| stamp.address).max().unwrap_or_default().min(bytes);
    let reached = find_stamp_end(card, furthest, salt, generation)?;
    let reached = if reached >= bytes { bytes } else { reached.saturating_sub(MAX_IN_FLIGHT) };
    Ok(Some(PreviousPass { salt, generation, reached }))
}

/// Sentinels are written before all else, so they count only where there are no other stamps.
fn most_common_stamp(found: &[PlacedStamp]) -> Option<(u64, u32)> {
    let mut counts: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    for (_, stamp) in found {
        *counts.entry((stamp.salt, stamp.generation)).or_default() += 1;
    }
    let rank = |entry: &((u64, u32), usize)| (entry.0.1 != SENTINEL_GENERATION, entry.1);
    counts.into_iter().max_by_key(rank).map(|(key, _)| key)
}

/// Searches the end of the stamps that lie at their own address, between `from` and the end of the card.
fn find_stamp_end(card: &mut IoDriver<'_>, from: u64, salt: u64, generation: u32) -> ProbeResult<u64> {
    let sector = u64::from(card.sector());
    let (mut low, mut high) = (from, card.bytes());
    while high - low > sector {
        let middle = low + (high - low) / 2 / sector * sector;
        // A hole does not end the search: stamps a little further on were written later.
        let near = [0, SAMPLE_BYTES, 5 * SAMPLE_BYTES].map(|ahead| middle + ahead);
        let found = read_stamps(card, near.into_iter())?;
        let there = found
            .iter()
            .any(|(address, stamp)| *stamp == SectorStamp { address: *address, salt, generation });
        if there { low = middle } else { high = middle }
    }
    Ok(high)
}

fn read_stamps(card: &mut IoDriver<'_>, at: impl Iterator<Item = u64>) -> ProbeResult<Vec<PlacedStamp>> {
    let (len, end) = (card.sector(), card.bytes());
    let extents = at.map(|offset| CardExtent { offset, len }).filter(|extent| extent.end() <= end);
    let mut stamps = Vec::new();
    card.read_bytes(extents, |extent, bytes| {
        stamps.extend(read_stamp_header(bytes).map(|stamp| (extent.offset, stamp)));
    })?;
    Ok(stamps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::content::IoContent;
    use cardscope_engine::interrupt::InterruptFlag;
    use cardscope_simulator::SimTarget;

    const MIB: u64 = 1 << 20;

    fn stamped(name: &str, written: u64) -> Option<PreviousPass> {
        let mut target = SimTarget::open_named(name).unwrap();
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), MIB as u32, 8).unwrap();
        let content = IoContent::Stamp { salt: 99, generation: 1 };
        card.write(cardscope_engine::io_driver::split_extents(0, written, MIB as u32), content, |_, _, _| ())
            .unwrap();
        find_previous_pass(&mut card).unwrap()
    }

    #[test]
    fn previous_pass_end_is_found_from_stamps() {
        let card = "sim:constant?announced_bytes=256MiB";
        assert_eq!(stamped(card, 0), None);
        let previous = stamped(card, 100 * MIB).unwrap();
        assert_eq!((previous.salt, previous.generation), (99, 1));
        assert_eq!(previous.reached, 84 * MIB);
        assert_eq!(stamped(card, 256 * MIB).unwrap().reached, 256 * MIB);
    }

    #[test]
    fn previous_pass_end_is_found_on_wrapping_card() {
        let card = "sim:constant?announced_bytes=256MiB&fake=wraparound&wrap_bytes=70MiB";
        assert_eq!(stamped(card, 160 * MIB).unwrap().reached, 144 * MIB);
        assert_eq!(stamped(card, 50 * MIB).unwrap().reached, 34 * MIB);
    }

    #[test]
    fn salt_matches_only_its_card() {
        assert!(is_salt_of(salt_for_card(5, 1234), 1234) && !is_salt_of(salt_for_card(5, 1234), 1235));
        assert_ne!(salt_for_card(5, 1234), salt_for_card(6, 1234));
    }
}
