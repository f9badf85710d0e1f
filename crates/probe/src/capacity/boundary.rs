//! Where does the real part of a card end? Markers in the open range, pushed out of any cache by a run at the end, then
//! one stretch over the last few MiB, which tells the sector.

use super::ground::{Claim, Ground, State, UNIT};
use super::tail::{Flood, down, write_run};
use crate::card::Piece;
use crate::sector::SECTOR;
use crate::trouble::Stop;

/// A range of this size is written whole: on most cards one allocation unit.
const LAST: u64 = 4 << 20;

/// Where a marker costs longer than this, in seconds, they are set one by one; elsewhere many at a time.
pub(super) const DEAR: f64 = 0.05;

/// What a search ended with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Boundary {
    /// Everything below is kept, everything above lost, with the claims that show it.
    At(u64, Vec<(Claim, State)>),
    /// Kept places lie above lost ones.
    NoStep(Vec<(Claim, State)>),
    /// The limits that the user set were reached in this range.
    Limit(u64, u64),
}

/// What is known when a search begins.
#[derive(Debug, Clone)]
pub(super) struct Search {
    /// A place that is kept, or 0.
    pub(super) low: u64,
    /// A place that is lost.
    pub(super) high: u64,
    /// What must be written at the end of the card before a loss shows.
    pub(super) flood: Flood,
    /// Seconds that one marker costs.
    pub(super) marker_s: f64,
}

/// Stamps places, pushes them out and looks.
pub(super) fn observe(
    ground: &mut Ground<'_, '_>,
    places: &[Piece],
    flood: &Flood,
) -> Result<Vec<(Claim, State)>, Stop> {
    let claims = ground.stamp(places)?;
    flood.pour(ground)?;
    let states = ground.check(&claims)?;
    Ok(claims.into_iter().zip(states).collect())
}

/// Finds the boundary.
pub(super) fn find(ground: &mut Ground<'_, '_>, mut search: Search) -> Result<Boundary, Stop> {
    let region = search.flood.start(ground.card.bytes());
    if search.flood.bytes() > 0 && search.high >= region {
        search.high = region;
        if let Some(found) = inside_the_region(ground, region)? {
            return Ok(found);
        }
    }
    while search.high - search.low > LAST {
        let places = places(&search, ground);
        if !ground.may_write(search.flood.bytes() + places.len() as u64 * u64::from(UNIT)) {
            return Ok(Boundary::Limit(search.low, search.high));
        }
        let seen = observe(ground, &places, &search.flood)?;
        let kept = seen.iter().take_while(|(_, state)| state.kept()).count();
        if seen[kept..].iter().any(|(_, state)| state.kept()) {
            return Ok(Boundary::NoStep(seen));
        }
        if let Some((claim, _)) = kept.checked_sub(1).and_then(|last| seen.get(last)) {
            search.low = claim.piece.offset;
        }
        if let Some((claim, _)) = seen.get(kept) {
            search.high = claim.piece.offset;
        }
    }
    last_stretch(ground, &search)
}

/// Where the next markers go. Pushing out costs the same for one marker and for many, so with a cache two rounds must
/// do; without one, and where each marker costs a merge, halving needs the fewest.
fn places(search: &Search, ground: &Ground<'_, '_>) -> Vec<Piece> {
    let width = search.high - search.low;
    let count = match (search.flood.bytes(), search.marker_s > DEAR) {
        (0, true) => 1,
        (0, false) => 15,
        _ => ((width / LAST) as f64).sqrt().ceil() as u64,
    };
    let place =
        |i: u64| ground.unit(search.low + (u128::from(width) * u128::from(i) / u128::from(count + 1)) as u64);
    let mut places: Vec<Piece> = (1..=count).map(place).collect();
    places.retain(|p| p.offset > search.low && p.offset < search.high);
    places.dedup();
    places
}

/// The real part may end inside the range at the end that is written to push others out. Written in order, and twice
/// so that no older order is left in a cache, what is lost of it begins exactly there. `None` where it ends below.
fn inside_the_region(ground: &mut Ground<'_, '_>, region: u64) -> Result<Option<Boundary>, Stop> {
    let all = ground.card.bytes();
    write_run(ground, region, all)?;
    let claims = grid(&write_run(ground, region, all)?);
    let mut states = ground.check(&claims)?;
    if states.iter().all(|s| s.kept()) && region >= all - region {
        // A cache that every write passes through lets go of its oldest only when others come.
        write_run(ground, region - (all - region), region)?;
        states = ground.check(&claims)?;
    }
    let Some(lost) = states.iter().position(|s| !s.kept()) else { return Ok(None) };
    let Some(kept) = lost.checked_sub(1) else { return Ok(None) };
    let (from, to) = (claims[kept], claims[lost]);
    let between = Claim {
        piece: Piece { offset: from.piece.offset, len: (to.piece.end() - from.piece.offset) as u32 },
        ..from
    };
    let claims: Vec<Claim> = between.blocks().collect();
    let states = ground.check(&claims)?;
    Ok(Some(from_stretch(claims.into_iter().zip(states).collect())))
}

/// One block in each five-hundredth of a run.
fn grid(claims: &[Claim]) -> Vec<Claim> {
    let blocks: Vec<Claim> = claims.iter().flat_map(|claim| claim.blocks()).collect();
    let step = (blocks.len() / 512).max(1);
    blocks.into_iter().step_by(step).collect()
}

/// Writes what is left between a kept and a lost place.
fn last_stretch(ground: &mut Ground<'_, '_>, search: &Search) -> Result<Boundary, Stop> {
    let (start, end) = (down(search.low), (search.high + u64::from(UNIT)).min(ground.card.bytes()));
    let written = write_run(ground, start, end)?;
    search.flood.pour(ground)?;
    let claims: Vec<Claim> = written.into_iter().flat_map(Claim::blocks).collect();
    let states = ground.check(&claims)?;
    Ok(from_stretch(claims.into_iter().zip(states).collect()))
}

/// The sector at which a stretch of blocks begins to be lost.
fn from_stretch(seen: Vec<(Claim, State)>) -> Boundary {
    let kept = seen.iter().take_while(|(_, state)| state.kept()).count();
    if seen[kept..].iter().any(|(_, state)| state.kept()) {
        return Boundary::NoStep(seen);
    }
    let end = seen.last().map_or(0, |(claim, _)| claim.piece.end());
    let at = match seen.get(kept) {
        Some((_, State::Lost { at, .. })) => *at / SECTOR as u64 * SECTOR as u64,
        _ => end,
    };
    Boundary::At(at, seen)
}
