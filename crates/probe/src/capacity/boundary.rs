//! Where does the real part of a card end? Markers in the open range, pushed out of any cache by a run at the end, then
//! one stretch over the last few MiB, which tells the sector.

use super::ground::{Claim, Ground, State, UNIT};
use super::tail::{Flood, down, write_run};
use crate::card::Piece;
use crate::sector::SECTOR;
use crate::trouble::Stop;
use std::ops::Range;

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
    /// Where the part of the card ends that is looked at; what must be written for a loss to show ends there.
    pub(super) end: u64,
    /// What must be done before a loss shows.
    pub(super) way: Way,
    /// Seconds that one marker costs.
    pub(super) marker_s: f64,
}

/// How it is found out whether a place is kept.
#[derive(Debug, Clone)]
pub(super) enum Way {
    /// This pushes everything else out of a cache first.
    Pushed(Flood),
    /// By the second address of each place, so many bytes further on: no cache knows a block by that.
    Twice(u64),
}

impl Way {
    fn flood(&self) -> Option<&Flood> {
        match self {
            Way::Pushed(flood) if flood.bytes() > 0 => Some(flood),
            _ => None,
        }
    }

    /// What is written for each look beside the places.
    fn bytes(&self) -> u64 {
        self.flood().map_or(0, Flood::bytes)
    }

    /// Stamps places and looks at them.
    pub(super) fn observe(
        &self,
        ground: &mut Ground<'_, '_>,
        places: &[Piece],
    ) -> Result<Vec<(Claim, State)>, Stop> {
        let claims = ground.stamp(places)?;
        self.look(ground, claims)
    }

    /// Looks at what was written just now.
    fn look(&self, ground: &mut Ground<'_, '_>, claims: Vec<Claim>) -> Result<Vec<(Claim, State)>, Stop> {
        let states = match self {
            Way::Pushed(flood) => {
                push_out(ground, &claims, flood)?;
                ground.check(&claims)?
            }
            Way::Twice(away) => {
                block_behind(ground, &claims, *away)?;
                ground.check_at(&claims, *away)?
            }
        };
        Ok(claims.into_iter().zip(states).collect())
    }
}

/// Stamps places, pushes them out and looks.
pub(super) fn observe(
    ground: &mut Ground<'_, '_>,
    places: &[Piece],
    flood: &Flood,
) -> Result<Vec<(Claim, State)>, Stop> {
    let claims = ground.stamp(places)?;
    push_out(ground, &claims, flood)?;
    let states = ground.check(&claims)?;
    Ok(claims.into_iter().zip(states).collect())
}

/// Writes what pushes claims out of a cache, one block where none showed.
fn push_out(ground: &mut Ground<'_, '_>, claims: &[Claim], flood: &Flood) -> Result<(), Stop> {
    if flood.bytes() > 0 { flood.pour(ground) } else { block_behind(ground, claims, ground.card.bytes()) }
}

/// Writes a block beside claims, below `end`: some cards show what was written last in the place of what is lost.
fn block_behind(ground: &mut Ground<'_, '_>, claims: &[Claim], end: u64) -> Result<(), Stop> {
    let (Some(first), Some(last)) = (claims.first(), claims.last()) else { return Ok(()) };
    let free = |piece: &Piece| {
        let beside = |c: &Claim| c.piece.end() <= piece.offset || piece.end() <= c.piece.offset;
        piece.end() <= end && claims.iter().all(beside)
    };
    let beside = [Some(last.piece.end()), first.piece.offset.checked_sub(u64::from(UNIT))];
    let block = beside.into_iter().flatten().map(|at| Piece { offset: at, len: UNIT }).find(free);
    block.map_or(Ok(()), |block| ground.stamp(&[block]).map(drop))
}

/// Finds the boundary.
pub(super) fn find(ground: &mut Ground<'_, '_>, mut search: Search) -> Result<Boundary, Stop> {
    if let Some(region) =
        search.way.flood().map(|flood| flood.start(search.end)).filter(|r| search.high >= *r)
    {
        search.high = region;
        if let Some(found) = inside_the_region(ground, region..search.end)? {
            return Ok(found);
        }
    }
    while search.high.saturating_sub(search.low) > LAST {
        let places = places(&search, ground);
        let bytes = search.way.bytes() + places.len() as u64 * u64::from(UNIT);
        if !ground.may_write(bytes) || !ground.may_stamp(&places, 0.0) {
            return Ok(Boundary::Limit(search.low, search.high));
        }
        let seen = search.way.observe(ground, &places)?;
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
    let count = match (search.way.bytes(), search.marker_s > DEAR) {
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
fn inside_the_region(ground: &mut Ground<'_, '_>, region: Range<u64>) -> Result<Option<Boundary>, Stop> {
    let Range { start, end } = region;
    write_run(ground, start, end)?;
    let claims = grid(&write_run(ground, start, end)?);
    let mut states = ground.check(&claims)?;
    if states.iter().all(|s| s.kept()) && start >= end - start {
        // A cache that every write passes through lets go of its oldest only when others come.
        write_run(ground, start - (end - start), start)?;
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
    let (start, end) = (down(search.low), (search.high + u64::from(UNIT)).min(search.end));
    let written = write_run(ground, start, end)?;
    Ok(from_stretch(search.way.look(ground, written.into_iter().flat_map(Claim::blocks).collect())?))
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
