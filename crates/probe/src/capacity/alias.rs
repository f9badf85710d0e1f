//! Addresses that lead to one place. Our stamps say where they belong, so one of them at a foreign address is proof,
//! whatever the period: no power of two is assumed.

use super::ground::{Claim, Ground, State, UNIT};
use super::tail::{Flood, down, zip};
use crate::card::Piece;
use crate::sector::{SECTOR, SectorFound};
use crate::trouble::Stop;
use cardscope_engine::content::{Content, read_stamp_header};

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

/// Looks for the stamps of a run of `len` bytes at `run` everywhere else: one block in each stretch of that length, so
/// that no copy of the run can lie between two looks.
pub(super) fn scan(ground: &mut Ground<'_, '_>, run: u64, len: u64, end: u64) -> Result<Vec<Hit>, Stop> {
    let stride = down(len - u64::from(UNIT)).max(u64::from(UNIT));
    let looks = (0..end)
        .step_by(stride as usize)
        .filter(|at| *at + u64::from(UNIT) <= run || *at >= run + len)
        .map(|offset| Piece { offset, len: (end - offset).min(u64::from(UNIT)) as u32 });
    let (salt, mut hits) = (ground.salt, Vec::new());
    ground.card.read(looks, Content::Buffer, |piece, _, answer| {
        if let crate::card::Answer::Differs { bytes, .. } = answer
            && let Some(stamp) = read_stamp_header(&bytes[..SECTOR.min(bytes.len())])
            && stamp.salt == salt
            && stamp.address != piece.offset
            && (run..run + len).contains(&stamp.address)
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
