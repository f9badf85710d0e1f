//! Stamps of the quick probe: saves the original data, writes stamps, and reads them in random order. No loss
//! counts after a single read.
//!
//! A block that cannot be read, and so not saved, is not overwritten; it counts as lost.

use crate::probe::Result;
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::target::IoDirection;
use cardscope_model::verify::SectorFound;
use cardscope_probing::context::{ProbeContext, ProbeLimits};
use cardscope_probing::sector::{SECTOR, judge_sector};
use cardscope_probing::write_scope::WriteScope;
use std::collections::BTreeMap;

pub(super) use cardscope_probing::write_scope::SAVE_UNIT;

pub(super) const UNIT: u64 = SAVE_UNIT as u64;

/// Most losses that are recorded for a test that ends early.
const MAX_LOSSES: usize = 64;

/// Stamp that the card should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StampClaim {
    pub(super) extent: CardExtent,
    pub(super) generation: u32,
    /// False if nothing was written: the block could not be saved, or the write failed twice.
    pub(super) written: bool,
}

impl StampClaim {
    pub(super) fn blocks(self) -> impl Iterator<Item = StampClaim> {
        self.split_into(SAVE_UNIT)
    }

    pub(super) fn split_into(self, size: u32) -> impl Iterator<Item = StampClaim> {
        let parts = split_extents(self.extent.offset, self.extent.end(), size);
        parts.map(move |extent| StampClaim { extent, ..self })
    }
}

pub(super) type CheckedClaim = (StampClaim, ClaimState);

pub(super) type CheckedClaims = Vec<CheckedClaim>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClaimState {
    Kept,
    /// First wrong sector, with its content.
    Lost {
        found: SectorFound,
        at: u64,
    },
}

impl ClaimState {
    pub(super) fn is_kept(self) -> bool {
        self == ClaimState::Kept
    }

    fn has_failed(&self) -> bool {
        matches!(self, ClaimState::Lost { found: SectorFound::Error, .. })
    }
}

pub(super) struct Stamper<'g, 't> {
    pub(super) context: ProbeContext<'g, 't>,
    /// Number of writes that failed twice.
    pub(super) failed_writes: u64,
    /// Losses that two reads found, except in places that the test itself overwrote.
    pub(super) losses: CheckedClaims,
    /// All stamped extents with their generation, oldest first.
    stamped: Vec<(CardExtent, u32)>,
    /// Blocks that gave two different answers.
    pub(super) changed_answers: u64,
}

impl<'g, 't> Stamper<'g, 't> {
    pub(super) fn new(
        card: &'g mut IoDriver<'t>,
        journal: Option<&'g mut dyn JournalWriter>,
        events: &'g mut dyn Listener,
        limits: &ProbeLimits,
    ) -> Self {
        let context = ProbeContext::new(card, WriteScope::new(journal), limits, events);
        Stamper { context, failed_writes: 0, losses: Vec::new(), stamped: Vec::new(), changed_answers: 0 }
    }

    /// True if the limits allow `bytes` more to be written.
    pub(super) fn may_write(&mut self, bytes: u64) -> bool {
        let ios = bytes.div_ceil(u64::from(self.context.block()));
        let takes = self.context.costs().estimate(IoDirection::Write, ios, bytes);
        self.context.may_write(bytes) && self.has_time(&[], takes)
    }

    /// True if these extents can be saved, written and restored in time, with `besides` seconds left for other I/O.
    pub(super) fn may_stamp(&mut self, wanted: &[CardExtent], besides: f64) -> bool {
        let bytes = wanted.iter().map(|p| u64::from(p.len)).sum();
        self.context.may_write(bytes) && self.has_time(wanted, besides)
    }

    fn has_time(&mut self, wanted: &[CardExtent], besides: f64) -> bool {
        self.context.seconds_left_after(wanted) > besides
    }

    pub(super) fn block_of(&self, address: u64) -> CardExtent {
        let all = self.context.card_bytes();
        block_at(align_down(address.min(all - 1)), all)
    }

    /// Saves and stamps extents in order. Returns [`ProbeStop::Limit`] if that exceeds the limits, and claims that state
    /// which writes failed. Extents that cannot be saved as a whole are split into blocks.
    pub(super) fn write_stamps(&mut self, wanted: &[CardExtent]) -> Result<Vec<StampClaim>> {
        if !self.may_stamp(wanted, 0.0) {
            return Err(ProbeStop::Limit);
        }
        self.context.save(wanted)?;
        let is_saved = |extent: &CardExtent| !self.context.is_unsavable(*extent);
        let unit = |extent: &CardExtent| if is_saved(extent) { extent.len } else { SAVE_UNIT };
        let parts = wanted.iter().flat_map(|p| split_extents(p.offset, p.end(), unit(p)));
        let parts: Vec<(CardExtent, bool)> = parts.map(|part| (part, is_saved(&part))).collect();
        let writes = parts.iter().filter(|(_, saved)| *saved).map(|(part, _)| *part);
        let (generation, failed) = self.context.write_stamps(writes.clone().collect())?;
        self.stamped.extend(writes.map(|extent| (extent, generation)));
        self.failed_writes += failed.len() as u64;
        let claim = |(extent, saved): (CardExtent, bool)| {
            let written = saved && !failed.contains(&extent);
            StampClaim { extent, generation, written }
        };
        Ok(parts.into_iter().map(claim).collect())
    }

    /// Reads claims in random order. Lost ones are read again after reopening the card, and count only if they are
    /// lost both times.
    pub(super) fn check_claims(&mut self, claims: &[StampClaim]) -> Result<CheckedClaims> {
        let mut states = self.read_claims(claims)?;
        let lost: Vec<usize> = (0..claims.len()).filter(|i| !states[*i].is_kept()).collect();
        if lost.is_empty() {
            return Ok(with_states(claims, states));
        }
        self.context.reopen()?;
        let again: Vec<StampClaim> = lost.iter().map(|i| claims[*i]).collect();
        for (index, state) in lost.into_iter().zip(self.read_claims(&again)?) {
            // I/O errors are weighed together with all others, not as changing answers.
            let answered = ![state, states[index]].iter().any(ClaimState::has_failed);
            self.changed_answers += u64::from(answered && state != states[index]);
            // Flips at different places come from the reading: no sector was wrong twice.
            states[index] = if have_flips_moved(states[index], state) { ClaimState::Kept } else { state };
            let is_told = states[index].is_kept() || self.losses.len() == MAX_LOSSES;
            if !is_told && !self.is_overwritten(&claims[index]) {
                self.losses.push((claims[index], states[index]));
            }
        }
        Ok(with_states(claims, states))
    }

    /// Reads everything again that was lost and not rewritten since.
    pub(super) fn check_losses(&mut self) -> Result<CheckedClaims> {
        let mut claims = lost_claims(&self.losses);
        claims.retain(|claim| !self.is_overwritten(claim));
        // Each place is read once, however often it was lost.
        claims.sort_by_key(|claim| (claim.extent.offset, std::cmp::Reverse(claim.extent.len)));
        claims.dedup_by_key(|claim| claim.extent.offset);
        self.check_claims(&claims)
    }

    fn is_overwritten(&self, claim: &StampClaim) -> bool {
        let later = self.stamped.iter().rev().take_while(|(_, generation)| *generation > claim.generation);
        let mut extents = later.map(|(extent, _)| extent);
        extents.any(|e| e.offset < claim.extent.end() && claim.extent.offset < e.end())
    }

    /// Reads claims through the second address of their places, `away` bytes higher.
    pub(super) fn check_second_address(&mut self, claims: &[StampClaim], away: u64) -> Result<CheckedClaims> {
        let (mut states, salt) = (unread_states(claims), self.context.salt);
        // Losses are read twice, since one read is no proof.
        for _ in 0..2 {
            let open = claims.iter().enumerate().filter(|(index, _)| !states[*index].is_kept());
            let twins = open.map(|(index, claim)| (claim.extent.offset + away, index));
            let places: BTreeMap<u64, usize> = twins.collect();
            let twin = |(at, index): (&u64, &usize)| CardExtent { offset: *at, ..claims[*index].extent };
            let twins = places.iter().map(twin);
            self.context.read_and_compare(twins, IoContent::Buffer, |extent, _, answer| {
                if let ReadAnswer::Differs { bytes, .. } = answer
                    && let Some(index) = places.get(&extent.offset)
                {
                    states[*index] = state_at_second_address(claims[*index], bytes, salt);
                }
                Ok(())
            })?;
        }
        Ok(with_states(claims, states))
    }

    fn read_claims(&mut self, claims: &[StampClaim]) -> Result<Vec<ClaimState>> {
        self.context.apply_restore_deadline();
        let (mut states, salt) = (unread_states(claims), self.context.salt);
        let mut generations: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (index, claim) in claims.iter().enumerate().filter(|(_, c)| c.written) {
            generations.entry(claim.generation).or_default().push(index);
        }
        for (generation, mut order) in generations {
            self.context.random.shuffle(&mut order);
            let place = |index: &usize| (claims[*index].extent.offset, *index);
            let places: BTreeMap<u64, usize> = order.iter().map(place).collect();
            let content = IoContent::Stamp { salt, generation };
            let reads = order.iter().map(|index| claims[*index].extent);
            self.context.read_and_compare(reads, content, |extent, _, answer| {
                if let Some(index) = places.get(&extent.offset) {
                    states[*index] = state_of(extent, answer, salt, generation);
                }
                Ok(())
            })?;
        }
        Ok(states)
    }
}

fn unread_states(claims: &[StampClaim]) -> Vec<ClaimState> {
    claims.iter().map(|c| ClaimState::Lost { found: SectorFound::Error, at: c.extent.offset }).collect()
}

fn with_states(claims: &[StampClaim], states: Vec<ClaimState>) -> CheckedClaims {
    claims.iter().copied().zip(states).collect()
}

pub(super) fn lost_claims(seen: &[CheckedClaim]) -> Vec<StampClaim> {
    seen.iter().filter(|(_, state)| !state.is_kept()).map(|(claim, _)| *claim).collect()
}

pub(super) fn any_lost(seen: &[CheckedClaim]) -> bool {
    seen.iter().any(|(_, state)| !state.is_kept())
}

/// Block at `offset`, shortened at `end`.
pub(super) fn block_at(offset: u64, end: u64) -> CardExtent {
    CardExtent { offset, len: (end - offset).min(UNIT) as u32 }
}

/// Rounds down to a whole block.
pub(super) fn align_down(address: u64) -> u64 {
    address / UNIT * UNIT
}

/// True if both reads found flips, but in different sectors.
fn have_flips_moved(first: ClaimState, second: ClaimState) -> bool {
    let flipped_at = |state| match state {
        ClaimState::Lost { found: SectorFound::Flipped { .. }, at } => Some(at),
        _ => None,
    };
    flipped_at(first).zip(flipped_at(second)).is_some_and(|(one, other)| one != other)
}

fn state_of(extent: CardExtent, answer: ReadAnswer<'_>, salt: u64, generation: u32) -> ClaimState {
    match answer {
        ReadAnswer::Same => ClaimState::Kept,
        ReadAnswer::Failed(_) => ClaimState::Lost { found: SectorFound::Error, at: extent.offset },
        ReadAnswer::Differs { bytes, first } => {
            let from = first / SECTOR * SECTOR;
            let at = extent.offset + from as u64;
            let sector = &bytes[from..(from + SECTOR).min(bytes.len())];
            ClaimState::Lost { found: judge_sector(sector, at, salt, generation), at }
        }
    }
}

/// State of a claim whose place was read through another address.
fn state_at_second_address(claim: StampClaim, bytes: &[u8], salt: u64) -> ClaimState {
    let sectors = bytes.chunks(SECTOR).zip((claim.extent.offset..).step_by(SECTOR));
    let found = |(sector, at): (&[u8], u64)| (judge_sector(sector, at, salt, claim.generation), at);
    match sectors.map(found).find(|(found, _)| *found != SectorFound::Expected) {
        Some((found, at)) => ClaimState::Lost { found, at },
        None => ClaimState::Kept,
    }
}
