//! Searches the end of the real capacity: markers in the open range, evicted from any cache by a run at the end of
//! the card, then one range over the last MiB, which gives the sector.

use super::growing_run::{CacheFlood, write_run};
use super::stamper::{
    CheckedClaim, CheckedClaims, ClaimState, StampClaim, Stamper, UNIT, align_down, block_at,
};
use crate::probe::Result;
use cardscope_engine::io_driver::CardExtent;
use cardscope_probing::sector::SECTOR;
use cardscope_probing::write_scope::SAVE_UNIT;
use std::ops::Range;

/// Bytes of the last range, which is written as a whole; one allocation unit on most cards.
pub(super) const LAST_RANGE: u64 = 4 << 20;

/// Seconds per marker above which markers are set one at a time.
pub(super) const DEAR_MARKER_S: f64 = 0.05;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CapacityBoundary {
    /// Everything below this address is kept, everything above is lost; with the claims that show it.
    FoundAt(u64, CheckedClaims),
    /// Some kept places lie above lost ones.
    NoStep(CheckedClaims),
    /// The limits ended the search; everything below this address is kept.
    LimitReached(u64),
}

/// State at the start of a search.
#[derive(Debug, Clone)]
pub(super) struct SearchStart {
    /// Address that is kept, or 0.
    pub(super) low: u64,
    /// Address that is lost.
    pub(super) high: u64,
    /// End of the part of the card under test, where the evicting run ends too.
    pub(super) end: u64,
    pub(super) method: SearchMethod,
    pub(super) marker_s: f64,
}

/// Method to test whether a place is kept.
#[derive(Debug, Clone)]
pub(super) enum SearchMethod {
    /// Other data is evicted from caches by this run first.
    AfterEviction(CacheFlood),
    /// Read through the place's second address, this many bytes higher, which no cache associates with the block.
    SecondAddress(u64),
}

impl SearchMethod {
    fn flood(&self) -> Option<&CacheFlood> {
        match self {
            SearchMethod::AfterEviction(flood) if flood.bytes() > 0 => Some(flood),
            _ => None,
        }
    }

    /// Bytes written per observation, besides the places.
    fn bytes(&self) -> u64 {
        self.flood().map_or(0, CacheFlood::bytes)
    }

    pub(super) fn observe(&self, io: &mut Stamper, places: &[CardExtent]) -> Result<CheckedClaims> {
        let claims = io.write_stamps(places)?;
        self.read_claims(io, claims)
    }

    fn read_claims(&self, io: &mut Stamper, claims: Vec<StampClaim>) -> Result<CheckedClaims> {
        match self {
            SearchMethod::AfterEviction(flood) => {
                evict_claims(io, &claims, flood)?;
                io.check_claims(&claims)
            }
            SearchMethod::SecondAddress(away) => {
                write_neighbour(io, &claims, *away)?;
                io.check_second_address(&claims, *away)
            }
        }
    }
}

pub(super) fn observe_evicted(
    io: &mut Stamper,
    list: &[CardExtent],
    flood: &CacheFlood,
) -> Result<CheckedClaims> {
    SearchMethod::AfterEviction(flood.clone()).observe(io, list)
}

/// Evicts claims from caches, or writes one block if no cache was detected. The card is reopened too: if that
/// empties a cache, the first loss did not reveal its size.
fn evict_claims(io: &mut Stamper, claims: &[StampClaim], flood: &CacheFlood) -> Result<()> {
    if flood.bytes() == 0 {
        return write_neighbour(io, claims, io.context.card_bytes());
    }
    flood.write_all(io)?;
    io.context.reopen()
}

/// Writes one block next to the claims, below `end`, since some cards show the last write in place of lost data.
fn write_neighbour(io: &mut Stamper, claims: &[StampClaim], end: u64) -> Result<()> {
    let (Some(first), Some(last)) = (claims.first(), claims.last()) else { return Ok(()) };
    let free = |extent: &CardExtent| {
        let beside = |c: &StampClaim| c.extent.end() <= extent.offset || extent.end() <= c.extent.offset;
        extent.end() <= end && claims.iter().all(beside)
    };
    let beside = [Some(last.extent.end()), first.extent.offset.checked_sub(UNIT)];
    let block = beside.into_iter().flatten().map(|at| CardExtent { offset: at, len: SAVE_UNIT }).find(free);
    block.map_or(Ok(()), |block| io.write_stamps(&[block]).map(drop))
}

pub(super) fn find_boundary(io: &mut Stamper, mut search: SearchStart) -> Result<CapacityBoundary> {
    let region = search.method.flood().map(|flood| flood.start(search.end));
    if let Some(region) = region.filter(|start| search.high >= *start) {
        search.high = region;
        if let Some(found) = search_region(io, region..search.end)? {
            return Ok(found);
        }
    }
    while search.high.saturating_sub(search.low) > LAST_RANGE {
        let places = next_markers(&search, io);
        let bytes = search.method.bytes() + places.len() as u64 * UNIT;
        if !io.may_write(bytes) || !io.may_stamp(&places, 0.0) {
            return Ok(CapacityBoundary::LimitReached(search.low));
        }
        let seen = search.method.observe(io, &places)?;
        let kept = seen.iter().take_while(|(_, state)| state.is_kept()).count();
        if seen[kept..].iter().any(|(_, state)| state.is_kept()) {
            return Ok(CapacityBoundary::NoStep(seen));
        }
        if let Some((claim, _)) = kept.checked_sub(1).and_then(|last| seen.get(last)) {
            search.low = claim.extent.offset;
        }
        if let Some((claim, _)) = seen.get(kept) {
            search.high = claim.extent.offset;
        }
    }
    write_last_range(io, &search)
}

/// Positions of the next markers. Eviction costs the same for any number of markers, so with a cache two rounds
/// must suffice; without one, and if each marker costs a merge, bisection needs the fewest.
fn next_markers(search: &SearchStart, io: &Stamper) -> Vec<CardExtent> {
    let width = search.high - search.low;
    let count = match (search.method.bytes(), search.marker_s > DEAR_MARKER_S) {
        (0, true) => 1,
        (0, false) => 15,
        _ => ((width / LAST_RANGE) as f64).sqrt().ceil() as u64,
    };
    let share = |i: u64| (u128::from(width) * u128::from(i) / u128::from(count + 1)) as u64;
    let place = |i: u64| io.block_of(search.low + share(i));
    let mut places: Vec<CardExtent> = (1..=count).map(place).collect();
    places.retain(|p| p.offset > search.low && p.offset < search.high);
    places.dedup();
    places
}

/// Parts of the region at the end; one block of each is read.
const REGION_PARTS: u64 = 512;

/// Tests whether the real capacity ends inside the evicting region at the end. The region is written in order,
/// twice so that most caches hold no older order, and its losses start exactly at the end. Returns `None` if the
/// card ends below.
///
/// A first-in, first-out cache keeps its old order, and the lost blocks in it look like real capacity. Missing
/// parts are therefore written again, until such a cache has dropped everything once.
fn search_region(io: &mut Stamper, region: Range<u64>) -> Result<Option<CapacityBoundary>> {
    let Range { start, end } = region;
    let bytes = end - start;
    write_run(io, start, end)?;
    let size = bytes.div_ceil(REGION_PARTS).next_multiple_of(UNIT) as u32;
    let run = write_run(io, start, end)?.into_iter();
    let mut parts: Vec<StampClaim> = run.flat_map(|claim| claim.split_into(size)).collect();
    let (mut lowest, mut found, mut again, mut below) = (end, None, 0, false);
    loop {
        let looks: Vec<StampClaim> = parts.iter().map(|part| random_block(io, part)).collect();
        let seen = io.check_claims(&looks)?;
        let lost: Vec<usize> = (0..parts.len()).filter(|n| !seen[*n].1.is_kept()).collect();
        match lost.first() {
            Some(0) => return Ok(None),
            Some(n) if parts[*n].extent.offset <= lowest => {
                let two = parts[n - 1..=*n].iter();
                let blocks: Vec<StampClaim> = two.flat_map(|part| part.blocks()).collect();
                let seen = io.check_claims(&blocks)?;
                if let Some(at) = first_lost(&seen).filter(|at| *at < lowest) {
                    (lowest, found) = (at, Some(CapacityBoundary::FoundAt(at, seen)));
                }
            }
            // A cache that all writes pass through drops its oldest data only for other data.
            None if !below && start >= bytes => {
                below = true;
                write_run(io, start - bytes, start)?;
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
            parts[n] = io.write_stamps(&[extent])?.first().copied().unwrap_or(parts[n]);
            any_written |= parts[n].written;
        }
        // Extents that cannot be saved are never written, so they would remain lost forever.
        if !any_written {
            return Ok(found);
        }
    }
}

fn random_block(io: &mut Stamper, claim: &StampClaim) -> StampClaim {
    let blocks = u64::from(claim.extent.len.div_ceil(SAVE_UNIT));
    let offset = claim.extent.offset + UNIT * io.context.random.below(blocks);
    StampClaim { extent: block_at(offset, claim.extent.end()), ..*claim }
}

fn write_last_range(io: &mut Stamper, search: &SearchStart) -> Result<CapacityBoundary> {
    let (start, end) = (align_down(search.low), (search.high + UNIT).min(search.end));
    let written = write_run(io, start, end)?;
    let blocks = written.into_iter().flat_map(StampClaim::blocks).collect();
    Ok(boundary_in_range(search.method.read_claims(io, blocks)?))
}

/// Boundary within a range of blocks, or its end if nothing is lost.
fn boundary_in_range(seen: CheckedClaims) -> CapacityBoundary {
    if seen.iter().skip_while(|(_, state)| state.is_kept()).any(|(_, state)| state.is_kept()) {
        return CapacityBoundary::NoStep(seen);
    }
    let end = seen.last().map_or(0, |(claim, _)| claim.extent.end());
    CapacityBoundary::FoundAt(first_lost(&seen).unwrap_or(end), seen)
}

fn first_lost(seen: &[CheckedClaim]) -> Option<u64> {
    seen.iter().find_map(|(_, state)| match state {
        ClaimState::Lost { at, .. } => Some(*at / SECTOR as u64 * SECTOR as u64),
        _ => None,
    })
}
