//! Where does the real part of a card end? Markers in the open range, pushed out of any cache by a run at the end, then
//! one range over the last few MiB, which tells the sector.

use super::stamper::{CheckedClaims, ClaimState, StampClaim, Stamper, block_at, down};
use super::tail::{CacheFlood, write_run};
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_probing::sector::SECTOR;
use cardscope_probing::write_scope::UNIT;
use std::ops::Range;

/// A range of this size is written whole: on most cards one allocation unit.
pub(super) const LAST: u64 = 4 << 20;

/// Where a marker costs longer than this, in seconds, they are set one by one; elsewhere many at a time.
pub(super) const DEAR: f64 = 0.05;

/// What a search ended with.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CapacityBoundary {
    /// Everything below is kept, everything above lost, with the claims that show it.
    At(u64, CheckedClaims),
    /// Kept places lie above lost ones.
    NoStep(CheckedClaims),
    /// The limits that the user set were reached with everything below kept.
    Limit(u64),
}

/// What is known when a search begins.
#[derive(Debug, Clone)]
pub(super) struct SearchStart {
    /// A place that is kept, or 0.
    pub(super) low: u64,
    /// A place that is lost.
    pub(super) high: u64,
    /// Where the part of the card ends that is looked at; what must be written for a loss to show ends there.
    pub(super) end: u64,
    /// What must be done before a loss shows.
    pub(super) method: SearchMethod,
    /// Seconds that one marker costs.
    pub(super) marker_s: f64,
}

/// How it is found out whether a place is kept.
#[derive(Debug, Clone)]
pub(super) enum SearchMethod {
    /// This pushes everything else out of a cache first.
    Pushed(CacheFlood),
    /// By the second address of each place, so many bytes further on: no cache knows a block by that.
    Twice(u64),
}

impl SearchMethod {
    fn flood(&self) -> Option<&CacheFlood> {
        match self {
            SearchMethod::Pushed(flood) if flood.bytes() > 0 => Some(flood),
            _ => None,
        }
    }

    /// What is written for each look beside the places.
    fn bytes(&self) -> u64 {
        self.flood().map_or(0, CacheFlood::bytes)
    }

    /// Stamps places and looks at them.
    pub(super) fn observe(
        &self,
        stamper: &mut Stamper<'_, '_>,
        places: &[CardExtent],
    ) -> Result<CheckedClaims, ProbeStop> {
        let claims = stamper.stamp(places)?;
        self.look(stamper, claims)
    }

    /// Looks at what was written just now.
    fn look(
        &self,
        stamper: &mut Stamper<'_, '_>,
        claims: Vec<StampClaim>,
    ) -> Result<CheckedClaims, ProbeStop> {
        match self {
            SearchMethod::Pushed(flood) => {
                push_out(stamper, &claims, flood)?;
                stamper.check(&claims)
            }
            SearchMethod::Twice(away) => {
                block_behind(stamper, &claims, *away)?;
                stamper.check_at(&claims, *away)
            }
        }
    }
}

/// Stamps places, pushes them out and looks.
pub(super) fn observe(
    stamper: &mut Stamper<'_, '_>,
    places: &[CardExtent],
    flood: &CacheFlood,
) -> Result<CheckedClaims, ProbeStop> {
    SearchMethod::Pushed(flood.clone()).observe(stamper, places)
}

/// Writes what pushes claims out of a cache, one block where none showed. The card is opened anew as well: of a cache that
/// is emptied by that the first loss did not tell the size.
fn push_out(
    stamper: &mut Stamper<'_, '_>,
    claims: &[StampClaim],
    flood: &CacheFlood,
) -> Result<(), ProbeStop> {
    if flood.bytes() == 0 {
        return block_behind(stamper, claims, stamper.context.card_bytes());
    }
    flood.pour(stamper)?;
    stamper.context.reopen()
}

/// Writes a block beside claims, below `end`: some cards show what was written last in the place of what is lost.
fn block_behind(stamper: &mut Stamper<'_, '_>, claims: &[StampClaim], end: u64) -> Result<(), ProbeStop> {
    let (Some(first), Some(last)) = (claims.first(), claims.last()) else { return Ok(()) };
    let free = |extent: &CardExtent| {
        let beside = |c: &StampClaim| c.extent.end() <= extent.offset || extent.end() <= c.extent.offset;
        extent.end() <= end && claims.iter().all(beside)
    };
    let beside = [Some(last.extent.end()), first.extent.offset.checked_sub(u64::from(UNIT))];
    let block = beside.into_iter().flatten().map(|at| CardExtent { offset: at, len: UNIT }).find(free);
    block.map_or(Ok(()), |block| stamper.stamp(&[block]).map(drop))
}

/// Finds the boundary.
pub(super) fn find(
    stamper: &mut Stamper<'_, '_>,
    mut search: SearchStart,
) -> Result<CapacityBoundary, ProbeStop> {
    if let Some(region) =
        search.method.flood().map(|flood| flood.start(search.end)).filter(|r| search.high >= *r)
    {
        search.high = region;
        if let Some(found) = inside_the_region(stamper, region..search.end)? {
            return Ok(found);
        }
    }
    while search.high.saturating_sub(search.low) > LAST {
        let places = places(&search, stamper);
        let bytes = search.method.bytes() + places.len() as u64 * u64::from(UNIT);
        if !stamper.may_write(bytes) || !stamper.may_stamp(&places, 0.0) {
            return Ok(CapacityBoundary::Limit(search.low));
        }
        let seen = search.method.observe(stamper, &places)?;
        let kept = seen.iter().take_while(|(_, state)| state.kept()).count();
        if seen[kept..].iter().any(|(_, state)| state.kept()) {
            return Ok(CapacityBoundary::NoStep(seen));
        }
        if let Some((claim, _)) = kept.checked_sub(1).and_then(|last| seen.get(last)) {
            search.low = claim.extent.offset;
        }
        if let Some((claim, _)) = seen.get(kept) {
            search.high = claim.extent.offset;
        }
    }
    last_range(stamper, &search)
}

/// Where the next markers go. Pushing out costs the same for one marker and for many, so with a cache two rounds must
/// do; without one, and where each marker costs a merge, halving needs the fewest.
fn places(search: &SearchStart, stamper: &Stamper<'_, '_>) -> Vec<CardExtent> {
    let width = search.high - search.low;
    let count = match (search.method.bytes(), search.marker_s > DEAR) {
        (0, true) => 1,
        (0, false) => 15,
        _ => ((width / LAST) as f64).sqrt().ceil() as u64,
    };
    let place = |i: u64| {
        stamper.unit(search.low + (u128::from(width) * u128::from(i) / u128::from(count + 1)) as u64)
    };
    let mut places: Vec<CardExtent> = (1..=count).map(place).collect();
    places.retain(|p| p.offset > search.low && p.offset < search.high);
    places.dedup();
    places
}

/// Parts that the range at the end is divided into; of each a block is looked at.
const PARTS: u64 = 512;

/// The real part may end inside the range at the end that is written to push others out. Written in order, and twice so
/// that no older order is left in most caches, what is lost of it begins exactly there. `None` where it ends below.
///
/// A cache that throws out what came first keeps its old order all the same, and what it holds of the lost blocks may
/// look like the real part: what is missing is written again, until such a cache has let go of everything once.
fn inside_the_region(
    stamper: &mut Stamper<'_, '_>,
    region: Range<u64>,
) -> Result<Option<CapacityBoundary>, ProbeStop> {
    let Range { start, end } = region;
    let bytes = end - start;
    write_run(stamper, start, end)?;
    let size = bytes.div_ceil(PARTS).next_multiple_of(u64::from(UNIT)) as u32;
    let mut parts: Vec<StampClaim> =
        write_run(stamper, start, end)?.iter().flat_map(|run| run.cut(size)).collect();
    let (mut lowest, mut found, mut again, mut below) = (end, None, 0, false);
    loop {
        let looks: Vec<StampClaim> = parts.iter().map(|part| some_block(stamper, part)).collect();
        let seen = stamper.check(&looks)?;
        let lost: Vec<usize> = (0..parts.len()).filter(|n| !seen[*n].1.kept()).collect();
        match lost.first() {
            Some(0) => return Ok(None),
            Some(n) if parts[*n].extent.offset <= lowest => {
                let blocks: Vec<StampClaim> =
                    parts[n - 1..=*n].iter().flat_map(|part| part.blocks()).collect();
                let seen = stamper.check(&blocks)?;
                if let Some(at) = first_lost(&seen).filter(|at| *at < lowest) {
                    (lowest, found) = (at, Some(CapacityBoundary::At(at, seen)));
                }
            }
            // A cache that every write passes through lets go of its oldest only when others come.
            None if !below && start >= bytes => {
                below = true;
                write_run(stamper, start - bytes, start)?;
                continue;
            }
            _ => {}
        }
        if lost.is_empty() || again >= bytes {
            return Ok(found);
        }
        let mut any_written = false;
        for n in lost {
            let extent = parts[n].extent;
            again += u64::from(extent.len);
            parts[n] = stamper.stamp(&[extent])?.first().copied().unwrap_or(parts[n]);
            any_written |= parts[n].written;
        }
        // What cannot be saved is never written, and so stays lost however often it is looked at.
        if !any_written {
            return Ok(found);
        }
    }
}

/// Any block of an extent.
fn some_block(stamper: &mut Stamper<'_, '_>, claim: &StampClaim) -> StampClaim {
    let offset = claim.extent.offset
        + u64::from(UNIT) * stamper.context.random.below(u64::from(claim.extent.len.div_ceil(UNIT)));
    StampClaim { extent: block_at(offset, claim.extent.end()), ..*claim }
}

/// Writes what is left between a kept and a lost place.
fn last_range(stamper: &mut Stamper<'_, '_>, search: &SearchStart) -> Result<CapacityBoundary, ProbeStop> {
    let (start, end) = (down(search.low), (search.high + u64::from(UNIT)).min(search.end));
    let written = write_run(stamper, start, end)?;
    Ok(from_range(search.method.look(stamper, written.into_iter().flat_map(StampClaim::blocks).collect())?))
}

/// The boundary that a range of blocks shows, up to its end.
fn from_range(seen: CheckedClaims) -> CapacityBoundary {
    if seen.iter().skip_while(|(_, state)| state.kept()).any(|(_, state)| state.kept()) {
        return CapacityBoundary::NoStep(seen);
    }
    let end = seen.last().map_or(0, |(claim, _)| claim.extent.end());
    CapacityBoundary::At(first_lost(&seen).unwrap_or(end), seen)
}

/// The sector at which blocks begin to be lost.
fn first_lost(seen: &[(StampClaim, ClaimState)]) -> Option<u64> {
    seen.iter().find_map(|(_, state)| match state {
        ClaimState::Lost { at, .. } => Some(*at / SECTOR as u64 * SECTOR as u64),
        _ => None,
    })
}
