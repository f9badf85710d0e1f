//! Stamps of an earlier pass: whose they are, and how far it came. The card itself tells, so that nothing else is
//! needed to go on, or to look at a later date whether everything is still there.
//!
//! A salt is half chance, half a fingerprint of the card that it was drawn for: stamps that were copied to another card
//! are not taken for its own.

use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer};
use cardscope_engine::content::{IoContent, SectorStamp, read_stamp_header};
use cardscope_model::random::mix;
use std::collections::BTreeMap;

/// The write of sentinels and markers.
pub const SENTINELS: u32 = 0;

const HALF: u64 = 0xffff_ffff;

/// Bytes that may have been in flight when a pass was interrupted, with room to spare: that far it goes back.
const IN_FLIGHT: u64 = 16 << 20;

/// What is read at a place.
const SAMPLE: u64 = 4096;

/// Places all over the card, and close together at its start.
const SPREAD: u64 = 256;
const AT_THE_START: u64 = 16;

/// A salt of this seed for this card. `fingerprint` stands for the card's identity and size.
pub fn salt(seed: u64, fingerprint: u64) -> u64 {
    (mix(seed) & !HALF) | (mix(fingerprint) & HALF)
}

/// Whether a salt was drawn for the card of this fingerprint.
pub fn drawn_for(salt: u64, fingerprint: u64) -> bool {
    salt & HALF == mix(fingerprint) & HALF
}

/// An earlier pass as its stamps tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PreviousPass {
    /// Its salt.
    pub salt: u64,
    /// The write that most of its stamps name.
    pub generation: u32,
    /// Bytes from 0 that it had written, at least.
    pub reached: u64,
}

/// Looks for the stamps of an earlier pass; `None` where there are none. Writes nothing.
///
/// # Errors
/// If the card is gone or the user stopped it.
pub fn find(card: &mut IoDriver<'_>) -> Result<Option<PreviousPass>, ProbeStop> {
    let bytes = card.bytes();
    let start = (0..AT_THE_START).map(|n| n * SAMPLE).take_while(|offset| offset + SAMPLE <= bytes);
    let first = stamps(card, start)?;
    let step = (bytes / SPREAD / SAMPLE * SAMPLE).max(SAMPLE);
    let all = stamps(card, (0..bytes).step_by(step as usize))?;
    let Some((salt, generation)) = most_common(&first).or_else(|| most_common(&all)) else { return Ok(None) };
    let ours = || first.iter().chain(&all).filter(|(_, s)| s.salt == salt && s.generation == generation);
    // Sentinels stand all over the card: a pass that left nothing else had not begun to write in order.
    if generation == SENTINELS {
        return Ok(Some(PreviousPass { salt, generation, reached: 0 }));
    }
    let furthest = ours().map(|(_, stamp)| stamp.address).max().unwrap_or_default().min(bytes);
    let reached = boundary(card, furthest, salt, generation)?;
    let reached = if reached >= bytes { bytes } else { reached.saturating_sub(IN_FLIGHT) };
    Ok(Some(PreviousPass { salt, generation, reached }))
}

/// Salt and write of most stamps; sentinels, whose write comes before all others, only where there is nothing else.
fn most_common(found: &[(u64, SectorStamp)]) -> Option<(u64, u32)> {
    let mut counts: BTreeMap<(u64, u32), usize> = BTreeMap::new();
    for (_, stamp) in found {
        *counts.entry((stamp.salt, stamp.generation)).or_default() += 1;
    }
    let sentinel = |generation: u32| generation == SENTINELS;
    counts
        .into_iter()
        .max_by_key(|((_, generation), count)| (!sentinel(*generation), *count))
        .map(|(key, _)| key)
}

/// Between an address that was written and the end of the card: how far stamps stand where they belong.
fn boundary(card: &mut IoDriver<'_>, from: u64, salt: u64, generation: u32) -> Result<u64, ProbeStop> {
    let sector = u64::from(card.sector());
    let (mut low, mut high) = (from, card.bytes());
    while high - low > sector {
        let middle = low + (high - low) / 2 / sector * sector;
        // A hole does not end the search: what stands a little further on was written later.
        let near = [0, SAMPLE, 5 * SAMPLE].map(|ahead| middle + ahead);
        let found = stamps(card, near.into_iter())?;
        let there =
            found.iter().any(|(at, s)| s.salt == salt && s.generation == generation && s.address == *at);
        if there { low = middle } else { high = middle }
    }
    Ok(high)
}

/// The stamps of the first sector at some places.
fn stamps(
    card: &mut IoDriver<'_>,
    places: impl Iterator<Item = u64>,
) -> Result<Vec<(u64, SectorStamp)>, ProbeStop> {
    let sector = card.sector();
    let end = card.bytes();
    let list = places
        .filter(|offset| offset + u64::from(sector) <= end)
        .map(|offset| CardExtent { offset, len: sector });
    let mut found = Vec::new();
    card.read(list, IoContent::Buffer, |extent, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer {
            found.extend(read_stamp_header(bytes).map(|stamp| (extent.offset, stamp)));
        }
        Ok(())
    })?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_engine::interrupt::InterruptFlag;
    use cardscope_simulator::SimTarget;

    const MIB: u64 = 1 << 20;

    fn stamped(name: &str, written: u64) -> Option<PreviousPass> {
        let mut target = SimTarget::named(name).unwrap();
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), MIB as u32, 8).unwrap();
        let content = IoContent::Stamp { salt: 99, generation: 1 };
        card.write(cardscope_engine::card::extents(0, written, MIB as u32), content, |_, _, _| ()).unwrap();
        find(&mut card).unwrap()
    }

    #[test]
    fn stamps_alone_tell_how_far_a_pass_came() {
        let card = "sim:constant?announced_bytes=256MiB";
        assert_eq!(stamped(card, 0), None);
        let previous = stamped(card, 100 * MIB).unwrap();
        assert_eq!((previous.salt, previous.generation), (99, 1));
        assert_eq!(previous.reached, 84 * MIB);
        assert_eq!(stamped(card, 256 * MIB).unwrap().reached, 256 * MIB);
    }

    #[test]
    fn also_on_a_card_whose_addresses_wrap() {
        let card = "sim:constant?announced_bytes=256MiB&fake=wraparound&wrap_bytes=70MiB";
        assert_eq!(stamped(card, 160 * MIB).unwrap().reached, 144 * MIB);
        assert_eq!(stamped(card, 50 * MIB).unwrap().reached, 34 * MIB);
    }

    #[test]
    fn a_salt_knows_the_card_it_was_drawn_for() {
        assert!(drawn_for(salt(5, 1234), 1234) && !drawn_for(salt(5, 1234), 1235));
        assert_ne!(salt(5, 1234), salt(6, 1234));
    }
}
