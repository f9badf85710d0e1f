//! Detects addresses that lead to the same place. Stamps contain their address, so one at another address is proof
//! for any period, not only for powers of two.

use super::stamper::{CheckedClaim, ClaimState, StampClaim, Stamper, UNIT, align_down, block_at};
use crate::probe::Result;
use cardscope_engine::content::{IoContent, read_stamp_header};
use cardscope_engine::io_driver::{CardExtent, ProbeStop, ReadAnswer};
use cardscope_model::verify::SectorFound;
use cardscope_probing::bad_ranges::common_divisor;
use cardscope_probing::sector::SECTOR;
use cardscope_probing::write_scope::SAVE_UNIT;
use std::collections::BTreeSet;
use std::ops::Range;

/// Stamp at an address to which it was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MisplacedStamp {
    /// Address where it was read.
    pub(super) read_at: u64,
    /// Address to which it was written.
    pub(super) written_at: u64,
}

impl MisplacedStamp {
    fn distance(self) -> u64 {
        self.read_at.abs_diff(self.written_at)
    }

    /// Same displacement at addresses `away` bytes higher and lower.
    fn shifted(self, away: u64) -> impl Iterator<Item = MisplacedStamp> {
        let MisplacedStamp { read_at, written_at } = self;
        let shifts = [u64::checked_add, u64::checked_sub].into_iter();
        shifts.filter_map(move |by: fn(u64, u64) -> Option<u64>| {
            Some(MisplacedStamp { read_at: by(read_at, away)?, written_at: by(written_at, away)? })
        })
    }
}

type SearchHits = Result<Vec<MisplacedStamp>>;
pub(super) fn misplaced_among(seen: &[CheckedClaim]) -> Vec<MisplacedStamp> {
    let hit = |(_, state): &(StampClaim, ClaimState)| match state {
        ClaimState::Lost { found: SectorFound::Elsewhere { address }, at } => {
            Some(MisplacedStamp { read_at: *at, written_at: *address })
        }
        _ => None,
    };
    seen.iter().filter_map(hit).collect()
}

/// Reads in flight during a search; cards with a command queue process several in parallel.
const SEARCH_DEPTH: u32 = 32;

/// Reads between two checks of the user's limits.
const READS_PER_GROUP: usize = 4096;

const MAX_CHECKED_STAMPS: usize = 32;

/// Most distances that are tested one by one if they have different causes.
const MAX_TESTED_DISTANCES: usize = 12;

/// Factors by which a distance may exceed the period if only some copies showed.
const MULTIPLES: [u64; 9] = [2, 3, 5, 7, 11, 13, 17, 19, 23];

/// Relation between addresses that lead to the same place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressFold {
    /// Addresses repeat after this many bytes.
    Period(u64),
    /// The address line with this value is not connected.
    Line(u64),
}

impl AddressFold {
    /// First address that leads to a lower place.
    pub(super) fn bytes(self) -> u64 {
        match self {
            AddressFold::Period(bytes) | AddressFold::Line(bytes) => bytes,
        }
    }
}

/// Searches the card up to `end` for stamps of the run of `len` bytes at `run`: one block per range of that length,
/// so that no copy of the run fits between two reads.
///
/// Only the far half is searched. It contains a multiple of every period up to half of the card, and the only copy
/// for longer ones. If only a multiple shows, its divisors are tested afterwards.
pub(super) fn search_copies(io: &mut Stamper, run: u64, len: u64, end: u64) -> Result<Vec<MisplacedStamp>> {
    let stride = align_down(len - UNIT).max(UNIT);
    let half = end / 2 + len;
    let (from, to) = if run == 0 { (align_down(end.saturating_sub(half)), end) } else { (0, half.min(end)) };
    // With a period of nearly the whole card the copy is short and lies at the end.
    let last = (run == 0).then(|| align_down(end.saturating_sub(UNIT)));
    let looks = (from..to)
        .step_by(stride as usize)
        .chain(last)
        .filter(|at| *at + UNIT <= run || *at >= run + len)
        .map(|offset| block_at(offset, end));
    let range = run..run + len;
    with_deep_queue(io, |io| {
        let hits = read_groups(io, looks, range.clone())?;
        confirm_hits(io, &hits, &range, end)
    })
}

/// Searches stamps at their addresses with one bit inverted. With an unconnected address line the copy need not be
/// in the far half.
pub(super) fn search_inverted_bits(io: &mut Stamper, claims: &[StampClaim]) -> Result<Vec<MisplacedStamp>> {
    let all = io.context.card_bytes();
    let lines = (SAVE_UNIT.trailing_zeros()..all.ilog2() + 1).map(|line| 1u64 << line);
    let blocks = claims.iter().map(|c| CardExtent { len: c.extent.len.min(SAVE_UNIT), ..c.extent });
    let twin = |block: CardExtent, line| CardExtent { offset: block.offset ^ line, ..block };
    let looks = blocks.flat_map(|block| lines.clone().map(move |line| twin(block, line)));
    let looks: Vec<CardExtent> = looks.filter(|extent| extent.end() <= all).collect();
    let hits = with_deep_queue(io, |io| hits_among(io, looks, 0..all))?;
    Ok(hits.into_iter().filter(|hit| (hit.read_at ^ hit.written_at).is_power_of_two()).collect())
}

/// True if stamps appear before the first repetition where the fold does not lead: a cache shows its content in
/// missing places. Most reads are near the end, where losses are most likely.
pub(super) fn has_cache_echoes(io: &mut Stamper, fold: AddressFold) -> Result<bool> {
    let (end, all) = (fold.bytes(), io.context.card_bytes());
    let place = |n: u64| align_down((end as f64 * (1.0 - (n as f64 / ECHO_POSITIONS as f64).powi(2))) as u64);
    let looks = (1..ECHO_POSITIONS).map(place).map(|offset| CardExtent { offset, len: SAVE_UNIT });
    let looks: Vec<CardExtent> = looks.filter(|extent| extent.end() <= end).collect();
    let hits = with_deep_queue(io, |io| hits_among(io, looks, 0..all))?;
    Ok(hits.iter().any(|hit| match fold {
        AddressFold::Period(bytes) => hit.read_at % bytes != hit.written_at % bytes,
        AddressFold::Line(bytes) => hit.read_at & !bytes != hit.written_at & !bytes,
    }))
}

/// Number of positions; 19 of them are in the last hundredth.
const ECHO_POSITIONS: u64 = 192;

/// Runs a search with many reads in flight, and restores the I/O shape.
fn with_deep_queue(io: &mut Stamper, search: impl FnOnce(&mut Stamper) -> SearchHits) -> SearchHits {
    let (block, depth) = (io.context.block(), io.context.depth());
    io.context.set_queue(SAVE_UNIT, SEARCH_DEPTH)?;
    let hits = search(io);
    let back = io.context.set_queue(block, depth);
    // An error of the search takes precedence over one of restoring the shape.
    let hits = hits?;
    back.map(|()| hits)
}

/// Misplaced stamps that neighbouring blocks confirm, at the longest distance that has any: half a run away the
/// copy of the run continues. Lost blocks that show data of others are misplaced too, and caches produce some in
/// sequence.
fn confirm_hits(io: &mut Stamper, hits: &[MisplacedStamp], range: &Range<u64>, end: u64) -> SearchHits {
    let len = range.end - range.start;
    let inside = |hit: &MisplacedStamp| hit.read_at + UNIT <= end && range.contains(&hit.written_at);
    let step = hits.len().div_ceil(MAX_CHECKED_STAMPS).max(1);
    let few: Vec<MisplacedStamp> = hits.iter().step_by(step).copied().collect();
    for away in [align_down(len / 2), align_down(len / 16), UNIT] {
        let beside = |hit: &MisplacedStamp| hit.shifted(away).filter(inside);
        let mut agreed = |hits: &[MisplacedStamp]| -> SearchHits {
            let looks = hits.iter().flat_map(beside);
            let looks = looks.map(|hit| CardExtent { offset: hit.read_at, len: SAVE_UNIT });
            let seen = BTreeSet::from_iter(read_groups(io, looks, range.clone())?);
            Ok(hits.iter().filter(|hit| beside(hit).any(|there| seen.contains(&there))).copied().collect())
        };
        // A small period gives thousands of stamps, so some are tested first; if most come from lost blocks, all
        // are tested.
        let mut found = agreed(&few)?;
        if 2 * found.len() < few.len() {
            found = agreed(hits)?;
        }
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

/// Reads many positions, in groups between checks of the limits.
fn read_groups(io: &mut Stamper, mut all: impl Iterator<Item = CardExtent>, range: Range<u64>) -> SearchHits {
    let mut hits = Vec::new();
    loop {
        let some: Vec<CardExtent> = all.by_ref().take(READS_PER_GROUP).collect();
        if some.is_empty() {
            return Ok(hits);
        }
        if !io.may_write(0) {
            return Err(ProbeStop::Limit);
        }
        hits.extend(hits_among(io, some, range.clone())?);
    }
}

/// Stamps of a range among some positions, apart from those at their own address.
fn hits_among(io: &mut Stamper, list: impl IntoIterator<Item = CardExtent>, range: Range<u64>) -> SearchHits {
    let (salt, mut hits) = (io.context.salt, Vec::new());
    io.context.read_and_compare(list, IoContent::Buffer, |extent, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer
            && let Some(stamp) = read_stamp_header(&bytes[..SECTOR.min(bytes.len())])
            && stamp.salt == salt
            && stamp.address != extent.offset
            && range.contains(&stamp.address)
        {
            hits.push(MisplacedStamp { read_at: extent.offset, written_at: stamp.address });
        }
        Ok(())
    })?;
    Ok(hits)
}

/// Fold that explains the misplaced stamps and that new writes confirm. A cache that answers any address with its
/// content is no fold.
pub(super) fn confirm_fold(io: &mut Stamper, hits: &[MisplacedStamp]) -> Result<Option<AddressFold>> {
    let distances: BTreeSet<u64> = hits.iter().map(|hit| hit.distance()).collect();
    let Some(mut bytes) = common_divisor(distances.iter().copied()) else { return Ok(None) };
    if !leads_to_start(io, bytes)? {
        let mut real = Vec::new();
        for distance in distances.iter().step_by(distances.len().div_ceil(MAX_TESTED_DISTANCES)) {
            if leads_to_start(io, *distance)? {
                real.push(*distance);
            }
        }
        match common_divisor(real) {
            Some(shared) => bytes = shared,
            None => return Ok(None),
        }
    }
    while let Some(part) = find_divisor(io, bytes)? {
        bytes = part;
    }
    let farthest = io.context.card_bytes().saturating_sub(2 * UNIT) / bytes * bytes;
    if farthest == bytes || leads_to_start(io, farthest)? {
        return Ok(Some(AddressFold::Period(bytes)));
    }
    Ok(bytes.is_power_of_two().then_some(AddressFold::Line(bytes)))
}

/// Divisor of a distance that leads to the start as well: if only some copies showed, the distance is a multiple.
fn find_divisor(io: &mut Stamper, bytes: u64) -> Result<Option<u64>> {
    let (all, sector) = (io.context.card_bytes(), u64::from(io.context.sector()));
    for part in MULTIPLES.into_iter().filter(|n| bytes.is_multiple_of(n * sector)).map(|n| bytes / n) {
        // An address that leads to the start shows the stamp last written there.
        let shows = !hits_among(io, [CardExtent { offset: part, len: SAVE_UNIT }], 0..all)?.is_empty();
        if shows && leads_to_start(io, part)? {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

/// True if a stamp written to an address appears at 0. That place exists, so no cache answers for it; a card that
/// shows its last write shows the block after it instead.
fn leads_to_start(io: &mut Stamper, far: u64) -> Result<bool> {
    let unit = UNIT;
    if far < 2 * unit || far + 2 * unit > io.context.card_bytes() {
        return Ok(false);
    }
    let low = io.block_of(0);
    // Both originals are saved before either is overwritten, as the places may be the same.
    let both = [low, io.block_of(unit)];
    io.context.save(&both)?;
    let written = io.write_stamps(&[CardExtent { offset: far, len: SAVE_UNIT }])?;
    io.write_stamps(&[CardExtent { offset: far + unit, len: SAVE_UNIT }])?;
    let generation = written.first().map_or(0, |claim| claim.generation);
    let claim = StampClaim { extent: low, generation, written: true };
    Ok(misplaced_among(&io.check_claims(&[claim])?).iter().any(|hit| hit.written_at == far))
}
