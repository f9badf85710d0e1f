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

/// So many looks, then a look at the limits that the user set.
const LOOKS_IN_A_ROW: usize = 4096;

/// What a distance may be a multiple of the period by, where only one copy or one in so many showed.
const MULTIPLES: [u64; 4] = [2, 3, 5, 7];

/// Looks for the stamps of a run of `len` bytes at `run` in the rest of the card up to `end`: one block in each stretch
/// of that length, so that no copy of the run can lie between two looks.
///
/// Only the half that is farther away is looked at: of any period up to half of the card a multiple lies there, and of
/// any longer one the only copy does. Where a multiple is all that shows, its parts are looked at.
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
    let hits = look_at(ground, looks, run..run + len);
    let back = ground.card.shape(block, depth);
    // What ended the looks says more than that the card cannot be shaped after it.
    let mut hits = hits?;
    back?;
    let Some(first) = hits.first().copied() else { return Ok(hits) };
    while let Some(hit) = nearer(ground, &hits, first, run..run + len, end)? {
        hits.push(hit);
    }
    Ok(hits)
}

/// A copy that stands a part of the period away that some hits have in common.
fn nearer(
    ground: &mut Ground<'_, '_>,
    hits: &[Hit],
    first: Hit,
    range: Range<u64>,
    end: u64,
) -> Result<Option<Hit>, Stop> {
    let Some(period) = period(hits) else { return Ok(None) };
    let sector = ground.card.sector();
    for multiple in MULTIPLES.into_iter().filter(|n| period.is_multiple_of(n * SECTOR as u64)) {
        let away = period / multiple;
        let at = if range.start == 0 { first.address + away } else { first.address.saturating_sub(away) };
        let there = Piece { offset: at, len: sector };
        if at.is_multiple_of(u64::from(sector)) && there.end() <= end {
            let shown = stamps_of(ground, [there], range.clone())?;
            if let Some(hit) = shown.into_iter().find(|hit| hit.address == first.address) {
                return Ok(Some(hit));
            }
        }
    }
    Ok(None)
}

/// Many places, as long as the limits let it go on.
fn look_at(
    ground: &mut Ground<'_, '_>,
    mut places: impl Iterator<Item = Piece>,
    range: Range<u64>,
) -> Result<Vec<Hit>, Stop> {
    let mut hits = Vec::new();
    loop {
        let some: Vec<Piece> = places.by_ref().take(LOOKS_IN_A_ROW).collect();
        if some.is_empty() {
            return Ok(hits);
        }
        if !ground.may_write(0) {
            return Err(Stop::Limit);
        }
        hits.extend(stamps_of(ground, some, range.clone())?);
    }
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
