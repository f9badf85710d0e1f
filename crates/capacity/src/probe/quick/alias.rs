//! Addresses that lead to one place. Our stamps say where they belong, so one of them at a foreign address is proof,
//! whatever the period: no power of two is assumed.

use super::stamper::{ClaimState, StampClaim, Stamper, block_at, down};
use cardscope_engine::card::{CardExtent, ProbeStop, ReadAnswer};
use cardscope_engine::content::{IoContent, read_stamp_header};
use cardscope_model::verify::SectorFound;
use cardscope_probing::common_distance::common;
use cardscope_probing::sector::SECTOR;
use cardscope_probing::write_scope::UNIT;
use std::collections::BTreeSet;
use std::ops::Range;

/// A stamp that was found where it does not belong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MisplacedStamp {
    /// Where it was found.
    pub(super) at: u64,
    /// Where it was written.
    pub(super) address: u64,
}

impl MisplacedStamp {
    fn distance(self) -> u64 {
        self.at.abs_diff(self.address)
    }

    /// What stands so much further on, if the same goes for it.
    fn above(self, away: u64) -> Option<MisplacedStamp> {
        Some(MisplacedStamp { at: self.at.checked_add(away)?, address: self.address.checked_add(away)? })
    }

    fn below(self, away: u64) -> Option<MisplacedStamp> {
        Some(MisplacedStamp { at: self.at.checked_sub(away)?, address: self.address.checked_sub(away)? })
    }
}

/// Hits among claims that were looked at.
pub(super) fn among(seen: &[(StampClaim, ClaimState)]) -> Vec<MisplacedStamp> {
    let hit = |(_, state): &(StampClaim, ClaimState)| match state {
        ClaimState::Lost { found: SectorFound::Elsewhere { address }, at } => {
            Some(MisplacedStamp { at: *at, address: *address })
        }
        _ => None,
    };
    seen.iter().filter_map(hit).collect()
}

/// Reads in flight while stamps are looked for: cards with a command queue answer several times as many.
const LOOKS_AT_ONCE: u32 = 32;

/// So many looks, then a look at the limits that the user set.
const LOOKS_IN_A_ROW: usize = 4096;

/// So many hits are looked at more closely.
const MOST_HITS: usize = 32;

/// So many distances are tried one by one, where not all have one cause.
const MOST_TRIALS: usize = 12;

/// What a distance may be a multiple of the period by, where only one copy or one in so many showed.
const MULTIPLES: [u64; 9] = [2, 3, 5, 7, 11, 13, 17, 19, 23];

/// In what way addresses lead to one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressFold {
    /// They begin again after so many bytes.
    Period(u64),
    /// The address line worth so many bytes is not wired.
    Line(u64),
}

impl AddressFold {
    /// Bytes up to the first address that leads to a place before it.
    pub(super) fn bytes(self) -> u64 {
        match self {
            AddressFold::Period(bytes) | AddressFold::Line(bytes) => bytes,
        }
    }
}

/// Looks for the stamps of a run of `len` bytes at `run` in the rest of the card up to `end`: one block in each range
/// of that length, so that no copy of the run can lie between two looks.
///
/// Only the half that is farther away is looked at: of any period up to half of the card a multiple lies there, and of
/// any longer one the only copy does. Where a multiple is all that shows, its parts are looked at.
pub(super) fn scan(
    stamper: &mut Stamper<'_, '_>,
    run: u64,
    len: u64,
    end: u64,
) -> Result<Vec<MisplacedStamp>, ProbeStop> {
    let stride = down(len - u64::from(UNIT)).max(u64::from(UNIT));
    let half = end / 2 + len;
    let (from, to) = if run == 0 { (down(end.saturating_sub(half)), end) } else { (0, half.min(end)) };
    // Of a period that is nearly the whole card the copy is short, and ends where the card does.
    let last = (run == 0).then(|| down(end.saturating_sub(u64::from(UNIT))));
    let looks = (from..to)
        .step_by(stride as usize)
        .chain(last)
        .filter(|at| *at + u64::from(UNIT) <= run || *at >= run + len)
        .map(|offset| block_at(offset, end));
    let range = run..run + len;
    many_at_once(stamper, |stamper| {
        let hits = look_at(stamper, looks, range.clone())?;
        beside_each_other(stamper, &hits, &range, end)
    })
}

/// Looks for the stamps of some blocks at their addresses with each single bit turned: of an address line that is not
/// wired no copy need lie in the far half.
pub(super) fn turned(
    stamper: &mut Stamper<'_, '_>,
    claims: &[StampClaim],
) -> Result<Vec<MisplacedStamp>, ProbeStop> {
    let all = stamper.context.card_bytes();
    let lines = (UNIT.trailing_zeros()..all.ilog2() + 1).map(|line| 1u64 << line);
    let twin = |claim: &StampClaim, line: u64| CardExtent {
        offset: claim.extent.offset ^ line,
        len: claim.extent.len.min(UNIT),
    };
    let looks = claims.iter().flat_map(|claim| lines.clone().map(move |line| twin(claim, line)));
    let looks: Vec<CardExtent> = looks.filter(|extent| extent.end() <= all).collect();
    let hits = many_at_once(stamper, |stamper| stamps_of(stamper, looks, 0..all))?;
    Ok(hits.into_iter().filter(|hit| (hit.at ^ hit.address).is_power_of_two()).collect())
}

/// Whether stamps stand in front of the first repetition where the folding does not lead: a cache shows what it holds in
/// places that are not there. Most looks are near the end, where something is lost if anything is.
pub(super) fn echoes(stamper: &mut Stamper<'_, '_>, fold: AddressFold) -> Result<bool, ProbeStop> {
    let (end, all) = (fold.bytes(), stamper.context.card_bytes());
    let place = |n: u64| down((end as f64 * (1.0 - (n as f64 / ECHOES as f64).powi(2))) as u64);
    let looks = (1..ECHOES).map(place).map(|offset| CardExtent { offset, len: UNIT });
    let looks: Vec<CardExtent> = looks.filter(|extent| extent.end() <= end).collect();
    let hits = many_at_once(stamper, |stamper| stamps_of(stamper, looks, 0..all))?;
    Ok(hits.iter().any(|hit| match fold {
        AddressFold::Period(bytes) => hit.at % bytes != hit.address % bytes,
        AddressFold::Line(bytes) => hit.at & !bytes != hit.address & !bytes,
    }))
}

/// Places where stamps are looked for; 19 of them lie in the last hundredth.
const ECHOES: u64 = 192;

/// Reads with many in flight.
fn many_at_once(
    stamper: &mut Stamper<'_, '_>,
    look: impl FnOnce(&mut Stamper<'_, '_>) -> Result<Vec<MisplacedStamp>, ProbeStop>,
) -> Result<Vec<MisplacedStamp>, ProbeStop> {
    let (block, depth) = (stamper.context.block(), stamper.context.depth());
    stamper.context.shape(UNIT, LOOKS_AT_ONCE)?;
    let hits = look(stamper);
    let back = stamper.context.shape(block, depth);
    // What ended the looks says more than that the card cannot be shaped after it.
    let hits = hits?;
    back.map(|()| hits)
}

/// The hits that the longest ranges agree with: half a run away the run goes on, too. A card that shows the data of
/// just any block where one is lost makes hits as well, and a cache that shows what its slot holds makes some in a row.
fn beside_each_other(
    stamper: &mut Stamper<'_, '_>,
    hits: &[MisplacedStamp],
    range: &Range<u64>,
    end: u64,
) -> Result<Vec<MisplacedStamp>, ProbeStop> {
    let len = range.end - range.start;
    let inside = |hit: &MisplacedStamp| hit.at + u64::from(UNIT) <= end && range.contains(&hit.address);
    let few: Vec<MisplacedStamp> =
        hits.iter().step_by(hits.len().div_ceil(MOST_HITS).max(1)).copied().collect();
    for away in [down(len / 2), down(len / 16), u64::from(UNIT)] {
        let beside =
            |hit: &MisplacedStamp| [hit.above(away), hit.below(away)].into_iter().flatten().filter(inside);
        let mut agreed = |hits: &[MisplacedStamp]| -> Result<Vec<MisplacedStamp>, ProbeStop> {
            let looks = hits.iter().flat_map(beside).map(|hit| CardExtent { offset: hit.at, len: UNIT });
            let seen = BTreeSet::from_iter(look_at(stamper, looks, range.clone())?);
            Ok(hits.iter().filter(|hit| beside(hit).any(|there| seen.contains(&there))).copied().collect())
        };
        // A small period makes thousands of hits, of which a few will do. Where most come from lost blocks, each counts.
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

/// Many places, as long as the limits let it go on.
fn look_at(
    stamper: &mut Stamper<'_, '_>,
    mut places: impl Iterator<Item = CardExtent>,
    range: Range<u64>,
) -> Result<Vec<MisplacedStamp>, ProbeStop> {
    let mut hits = Vec::new();
    loop {
        let some: Vec<CardExtent> = places.by_ref().take(LOOKS_IN_A_ROW).collect();
        if some.is_empty() {
            return Ok(hits);
        }
        if !stamper.may_write(0) {
            return Err(ProbeStop::Limit);
        }
        hits.extend(stamps_of(stamper, some, range.clone())?);
    }
}

/// Stamps of a range that stand elsewhere, among some places.
fn stamps_of(
    stamper: &mut Stamper<'_, '_>,
    places: impl IntoIterator<Item = CardExtent>,
    range: Range<u64>,
) -> Result<Vec<MisplacedStamp>, ProbeStop> {
    let (salt, mut hits) = (stamper.context.salt, Vec::new());
    stamper.context.look(places, IoContent::Buffer, |extent, _, answer| {
        if let ReadAnswer::Differs { bytes, .. } = answer
            && let Some(stamp) = read_stamp_header(&bytes[..SECTOR.min(bytes.len())])
            && stamp.salt == salt
            && stamp.address != extent.offset
            && range.contains(&stamp.address)
        {
            hits.push(MisplacedStamp { at: extent.offset, address: stamp.address });
        }
        Ok(())
    })?;
    Ok(hits)
}

/// The fold that hits come from, as far as writing shows it; a cache that gives the content of a place for any address
/// makes hits too.
pub(super) fn fold(
    stamper: &mut Stamper<'_, '_>,
    hits: &[MisplacedStamp],
) -> Result<Option<AddressFold>, ProbeStop> {
    let distances: BTreeSet<u64> = hits.iter().map(|hit| hit.distance()).collect();
    let Some(mut bytes) = common(distances.iter().copied()) else { return Ok(None) };
    if !leads_to_start(stamper, bytes)? {
        let mut real = Vec::new();
        for distance in distances.iter().step_by(distances.len().div_ceil(MOST_TRIALS)) {
            if leads_to_start(stamper, *distance)? {
                real.push(*distance);
            }
        }
        match common(real) {
            Some(shared) => bytes = shared,
            None => return Ok(None),
        }
    }
    while let Some(part) = part_of(stamper, bytes)? {
        bytes = part;
    }
    let farthest = stamper.context.card_bytes().saturating_sub(2 * u64::from(UNIT)) / bytes * bytes;
    if farthest == bytes || leads_to_start(stamper, farthest)? {
        return Ok(Some(AddressFold::Period(bytes)));
    }
    Ok(bytes.is_power_of_two().then_some(AddressFold::Line(bytes)))
}

/// A part of a distance that leads to the start as well: where one copy in so many showed, it is a multiple.
fn part_of(stamper: &mut Stamper<'_, '_>, bytes: u64) -> Result<Option<u64>, ProbeStop> {
    let (all, sector) = (stamper.context.card_bytes(), u64::from(stamper.context.sector()));
    for part in MULTIPLES.into_iter().filter(|n| bytes.is_multiple_of(n * sector)).map(|n| bytes / n) {
        // What was written last to the start is a foreign stamp at any address that leads there.
        let shows = !stamps_of(stamper, [CardExtent { offset: part, len: UNIT }], 0..all)?.is_empty();
        if shows && leads_to_start(stamper, part)? {
            return Ok(Some(part));
        }
    }
    Ok(None)
}

/// Whether a stamp written to an address shows at 0. The place there really exists, so no cache answers for it, and a card
/// that shows what was written last shows the block behind it.
fn leads_to_start(stamper: &mut Stamper<'_, '_>, far: u64) -> Result<bool, ProbeStop> {
    let unit = u64::from(UNIT);
    if far < 2 * unit || far + 2 * unit > stamper.context.card_bytes() {
        return Ok(false);
    }
    let low = stamper.unit(0);
    // The place may be one and the same: both originals are saved before either is overwritten.
    let both = [low, stamper.unit(unit)];
    stamper.context.save(&both)?;
    let written = stamper.stamp(&[CardExtent { offset: far, len: UNIT }])?;
    stamper.stamp(&[CardExtent { offset: far + unit, len: UNIT }])?;
    let generation = written.first().map_or(0, |claim| claim.generation);
    let claim = StampClaim { extent: low, generation, written: true };
    Ok(among(&stamper.check(&[claim])?).iter().any(|hit| hit.address == far))
}
