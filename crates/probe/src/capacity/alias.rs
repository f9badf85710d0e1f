//! Addresses that lead to one place. Our stamps say where they belong, so one of them at a foreign address is proof,
//! whatever the period: no power of two is assumed.

use super::ground::{Claim, Ground, State, UNIT};
use super::tail::{Flood, down, zip};
use crate::card::{Answer, Piece};
use crate::sector::{SECTOR, SectorFound};
use crate::trouble::Stop;
use cardscope_engine::content::{Content, read_stamp_header};
use std::ops::Range;

/// A stamp that was found where it does not belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hit {
    /// Where it was found.
    pub(super) at: u64,
    /// Where it was written.
    pub(super) address: u64,
}

impl Hit {
    fn distance(self) -> u64 {
        self.at.abs_diff(self.address)
    }
}

/// Hits among claims that were looked at.
pub(super) fn among(seen: &[(Claim, State)]) -> Vec<Hit> {
    let hit = |(_, state): &(Claim, State)| match state {
        State::Lost { found: SectorFound::Elsewhere { address }, at } => {
            Some(Hit { at: *at, address: *address })
        }
        _ => None,
    };
    seen.iter().filter_map(hit).collect()
}

/// Reads in flight while stamps are looked for: cards with a command queue answer several times as many.
const LOOKS_AT_ONCE: u32 = 32;

/// Looks for the stamps of a run of `len` bytes at `run` in the rest of the card up to `end`: one block in each stretch
/// of that length, so that no copy of the run can lie between two looks.
///
/// Only the half that is farther away is looked at: of any period up to half of the card a multiple lies there, and of
/// any longer one the only copy does. Where a multiple is all that shows, the halves of it are looked at.
pub(super) fn scan(ground: &mut Ground<'_, '_>, run: u64, len: u64, end: u64) -> Result<Vec<Hit>, Stop> {
    let stride = down(len - u64::from(UNIT)).max(u64::from(UNIT));
    let half = end / 2 + len;
    let (from, to) = if run == 0 { (down(end.saturating_sub(half)), end) } else { (0, half.min(end)) };
    let looks = (from..to)
        .step_by(stride as usize)
        .filter(|at| *at + u64::from(UNIT) <= run || *at >= run + len)
        .map(|offset| Piece { offset, len: (end - offset).min(u64::from(UNIT)) as u32 });
    let (block, depth) = (ground.card.block(), ground.card.depth());
    ground.card.shape(UNIT, LOOKS_AT_ONCE)?;
    let hits = stamps_of(ground, looks, run..run + len);
    ground.card.shape(block, depth)?;
    let mut hits = hits?;
    while let (Some(first), Some(period)) = (hits.first().copied(), period(&hits)) {
        let sector = u64::from(ground.card.sector());
        let at = if run == 0 { first.address + period / 2 } else { first.address.saturating_sub(period / 2) };
        let there = Piece { offset: at, len: ground.card.sector() };
        if !period.is_multiple_of(2 * sector) || !at.is_multiple_of(sector) || there.end() > end {
            break;
        }
        let halved = stamps_of(ground, [there], run..run + len)?;
        let shows = |hit: &Hit| hit.address == first.address;
        match halved.into_iter().find(shows) {
            Some(hit) => hits.push(hit),
            None => break,
        }
    }
    Ok(hits)
}

/// Stamps of a range that stand elsewhere, among some places.
fn stamps_of(
    ground: &mut Ground<'_, '_>,
    places: impl IntoIterator<Item = Piece>,
    range: Range<u64>,
) -> Result<Vec<Hit>, Stop> {
    let (salt, mut hits) = (ground.salt, Vec::new());
    ground.card.read(places, Content::Buffer, |piece, _, answer| {
        if let Answer::Differs { bytes, .. } = answer
            && let Some(stamp) = read_stamp_header(&bytes[..SECTOR.min(bytes.len())])
            && stamp.salt == salt
            && stamp.address != piece.offset
            && range.contains(&stamp.address)
        {
            hits.push(Hit { at: piece.offset, address: stamp.address });
        }
        Ok(())
    })?;
    Ok(hits)
}

/// The period that explains all distances: their greatest common divisor.
pub(super) fn period(hits: &[Hit]) -> Option<u64> {
    hits.iter().map(|hit| hit.distance()).filter(|d| *d > 0).reduce(gcd)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Tries a period at the very beginning of the card: does a stamp written whole periods further on show there? A
/// cache that gives the content of another address never does so for places that really exist.
pub(super) fn folds(ground: &mut Ground<'_, '_>, period: u64, flood: &Flood) -> Result<bool, Stop> {
    let all = ground.card.bytes();
    if period == 0 || period >= all {
        return Ok(false);
    }
    let low = ground.unit(0);
    let far = (all - u64::from(UNIT)) / period * period;
    // The place may be one and the same: both originals are saved before either is overwritten.
    ground.save(&[low])?;
    let written = ground.stamp(&[Piece { offset: far, len: low.len }])?;
    flood.pour(ground)?;
    let generation = written.first().map_or(0, |claim| claim.generation);
    let claim = Claim { piece: low, generation, written: true };
    let states = ground.check(&[claim])?;
    Ok(among(&zip(&[claim], states)).iter().any(|hit| hit.address == far))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_is_what_all_distances_share() {
        let hit = |at, address| Hit { at, address };
        assert_eq!(
            period(&[hit(0, 625_000_448 * 512 * 3), hit(625_000_448 * 512, 0)]),
            Some(625_000_448 * 512)
        );
        assert_eq!(period(&[hit(5, 5)]), None);
        assert_eq!(period(&[]), None);
    }
}
