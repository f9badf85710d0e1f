//! Steps of the quick probe in order: growing run, markers, search for repeating addresses, then the analysis of
//! losses.

use super::alias::{self, AddressFold};
use super::boundary::{self, CapacityBoundary, SearchMethod, SearchStart, observe_evicted};
use super::growing_run::{self, CacheFlood};
use super::markers::{best_step, excluded_above};
use super::quick_verdict::swallows_writes;
use super::stamper::{
    CheckedClaim, CheckedClaims, ClaimState, StampClaim, UNIT, align_down, any_lost, lost_claims,
};
use super::{GrowthEvidence, MARKER_BATCH, QuickProbe, READING_BACK, alias_run_bytes};
use crate::probe::Result;
use cardscope_engine::content::IoContent;
use cardscope_engine::io_driver::{CardExtent, ProbeStop, ReadAnswer, split_extents};
use cardscope_model::verify::{ExcludedShare, Verdict, Verification};
use cardscope_probing::write_scope::SAVE_UNIT;
use std::collections::BTreeSet;

impl QuickProbe<'_, '_> {
    pub(super) fn run_probe(&mut self) -> Result<Verification> {
        self.save_initial_content()?;
        let shown = self.grow_run()?;
        self.io.context.begin_stage(READING_BACK);
        if self.markers.is_empty() {
            self.write_markers()?;
        }
        match shown {
            GrowthEvidence::NoLoss => self.check_without_losses(),
            GrowthEvidence::Aliases(fold) => {
                let seen = self.check_markers()?;
                self.test_fold(fold, seen)
            }
            GrowthEvidence::NewLost(seen) => self.judge_newest_lost(&seen),
            GrowthEvidence::MarkersLost(seen) => self.judge_scattered(seen),
            GrowthEvidence::OldLost { after, seen } => {
                self.end_is_lost = true;
                // A single lost block needs no eviction.
                if after > UNIT {
                    // Without the markers, which helped to fill the cache, the run must be longer.
                    self.run.grow_to(&mut self.io, after + (2 << 20))?;
                    self.flood = self.run.flood();
                }
                self.judge_oldest_lost(seen)
            }
        }
    }

    fn check_without_losses(&mut self) -> Result<Verification> {
        let mut seen = self.check_markers()?;
        let mut hits = alias::misplaced_among(&seen);
        hits.extend(self.search_marker_twins(&seen)?);
        if let Some(fold) = alias::confirm_fold(&mut self.io, &hits)? {
            return self.test_fold(fold, seen);
        }
        let back = self.reread_run();
        seen.extend(self.empty_if_cut_short(back)?);
        // Earlier losses count even if the blocks are kept now.
        let again = self.io.check_losses();
        seen.extend(self.empty_if_cut_short(again)?);
        let ranges = self.check_ranges();
        seen.extend(self.empty_if_cut_short(ranges)?);
        let lost = lost_claims(&seen);
        if lost.is_empty() {
            return Ok(self.genuine_outcome(&seen));
        }
        if let Some(fold) = alias::confirm_fold(&mut self.io, &alias::misplaced_among(&seen))? {
            return self.test_fold(fold, seen);
        }
        if let Some(end) = self.failing_tail(&lost)? {
            return Ok(self.limbo_outcome(Some(end), end, &seen));
        }
        if self.cut_short {
            return Ok(self.cut_short_outcome());
        }
        self.flood = self.run.flood().append(&std::mem::take(&mut self.flood));
        self.judge_damaged(seen, &lost)
    }

    /// Treats a check that the limits ended as empty, unless losses were found before.
    fn empty_if_cut_short(&mut self, look: Result<CheckedClaims>) -> Result<CheckedClaims> {
        match look {
            Err(ProbeStop::Limit) if self.io.losses.is_empty() => {
                self.cut_short = true;
                Ok(Vec::new())
            }
            look => look,
        }
    }

    fn judge_newest_lost(&mut self, newest: &[CheckedClaim]) -> Result<Verification> {
        let mut seen = self.check_markers()?;
        seen.extend_from_slice(newest);
        // Rewrites old places and writes new ones: a pool that is used up only accepts the old ones.
        let kept = seen.iter().filter(|(_, s)| s.is_kept()).map(|(c, _)| c.extent);
        let old: Vec<CardExtent> = kept.take(2 * MARKER_BATCH).collect();
        let mut new = self.spread_blocks(0, self.run.start(), 2 * MARKER_BATCH as u32);
        new.retain(|extent| !self.markers.iter().any(|c| c.extent == *extent));
        let (old, new) = (self.observe(&old)?, self.observe(&new)?);
        let takes_old = !old.is_empty() && !any_lost(&old);
        let full = takes_old && !new.is_empty() && new.iter().all(|(_, s)| !s.is_kept());
        if let Some(fold) = self.find_fold(&seen)? {
            return self.test_fold(fold, seen);
        }
        if full {
            seen.extend(new);
            return Ok(self.overcommitted_outcome(&seen));
        }
        self.judge_damaged(seen, &lost_claims(newest))
    }

    fn judge_oldest_lost(&mut self, old: CheckedClaims) -> Result<Verification> {
        self.io.context.begin_phase("finding where the card ends");
        if self.run.bytes() <= 4 << 20 {
            // The markers were written after most of the run, so too little has evicted them.
            self.flood.write_all(&mut self.io)?;
        }
        let mut seen = self.check_markers()?;
        let mut hits = alias::misplaced_among(&seen);
        hits.extend(alias::misplaced_among(&old));
        if let Some(fold) = alias::confirm_fold(&mut self.io, &hits)? {
            return self.test_fold(fold, seen);
        }
        if !kept_above_lost(&seen).is_empty() {
            return self.judge_scattered(seen);
        }
        seen.extend(old);
        self.find_end(seen)
    }

    /// Searches the end of the card after its last blocks were lost.
    fn find_end(&mut self, seen: CheckedClaims) -> Result<Verification> {
        let all = self.io.context.card_bytes();
        // The run has overwritten the markers in its range.
        let start = self.run.start();
        let markers: Vec<_> = seen.iter().filter(|(c, _)| c.extent.end() <= start).copied().collect();
        let marks = best_step(&markers);
        let high = marks.lost.unwrap_or(start.max(align_down(all - UNIT)));
        let (low, method) = (marks.kept.unwrap_or(0), SearchMethod::AfterEviction(self.flood.clone()));
        let search = SearchStart { low, high, end: all, method, marker_s: self.marker_s };
        let found = boundary::find_boundary(&mut self.io, search)?;
        self.judge_boundary(found, seen, Self::confirm_end, Self::judge_scattered)
    }

    /// Evicts more while kept places above lost ones turn out to be cached, and returns the state of all places
    /// once they form a clean step. A set-associative cache loses some blocks long before it is full, so the first
    /// loss does not reveal its size.
    fn evict_until_clean_step(&mut self, seen: &[CheckedClaim]) -> Result<Option<CheckedClaims>> {
        let most = self.options.run_bytes(self.io.context.card_bytes());
        let mut patience = if self.flood.bytes() == 0 { 1 } else { 2 };
        let mut seen = seen.to_vec();
        while patience > 0 && self.end_is_lost && self.run.bytes() < most {
            let size = if self.flood.bytes() == 0 { 2 << 20 } else { (4 * self.flood.bytes()).max(64 << 20) };
            let size = size.max(self.run.bytes()).min(most);
            let next = self.run.extents_to_grow(&self.io, size);
            if !self.io.may_write(2 * size) || !self.io.may_stamp(&next, 0.0) {
                self.cut_short = true;
                break;
            }
            self.run.grow_to(&mut self.io, size)?;
            self.flood = self.run.flood();
            let start = self.run.start();
            let places = seen.iter().map(|(c, _)| c.extent);
            let places = places.filter(|p| p.end() <= start && p.len <= SAVE_UNIT);
            let places = Vec::from_iter(BTreeSet::from_iter(places));
            let before = kept_above_lost(&seen);
            seen = self.observe(&places)?;
            if kept_above_lost(&seen).is_empty() {
                return Ok(Some(seen));
            }
            let gone = |extent: &CardExtent| seen.iter().any(|(c, s)| c.extent == *extent && !s.is_kept());
            patience = if before.iter().any(gone) { 2 } else { patience - 1 };
        }
        Ok(None)
    }

    /// Handles the result of a boundary search: `at` for a clean end, `scattered` for none.
    pub(super) fn judge_boundary(
        &mut self,
        found: CapacityBoundary,
        mut seen: CheckedClaims,
        at: impl FnOnce(&mut Self, u64, CheckedClaims) -> Result<Verification>,
        scattered: impl FnOnce(&mut Self, CheckedClaims) -> Result<Verification>,
    ) -> Result<Verification> {
        match found {
            CapacityBoundary::FoundAt(0, last) => {
                seen.extend(last);
                self.judge_nothing_kept(&seen)
            }
            CapacityBoundary::FoundAt(end, last) => {
                seen.extend(last);
                at(self, end, seen)
            }
            CapacityBoundary::NoStep(round) => {
                seen.extend(round);
                scattered(self, seen)
            }
            CapacityBoundary::LimitReached(low) => {
                self.cut_short = true;
                Ok(Self::with_unknown_kind(self.limbo_outcome(None, low, &seen)))
            }
        }
    }

    /// Verifies a boundary with new markers on both sides, then tests whether addresses above it lead to the part
    /// below.
    fn confirm_end(&mut self, end: u64, mut seen: CheckedClaims) -> Result<Verification> {
        let all = self.io.context.card_bytes();
        let end = if swallows_writes(&seen) { end } else { self.first_failing_sector(end)? };
        let most = if self.marker_s > boundary::DEAR_MARKER_S { 2 } else { 16 };
        let above_end = self.flood.start(all);
        // Addresses that the eviction overwrites say nothing about the part below.
        let mut extents = self.spread_blocks(0, end.min(above_end), most);
        extents.extend(self.spread_blocks(end + UNIT, above_end.max(end + 2 * UNIT), most));
        extents.sort_unstable_by_key(|p| p.offset);
        let run = self.low_run_bytes(end);
        extents.retain(|p| p.offset >= end || (p.end() <= end && p.offset >= run));
        let extents = self.reshape_above(end, &extents, above_end);
        let (fresh, fold) = self.search_fold(run, &extents)?;
        let below_lost = fresh.iter().any(|(c, s)| c.extent.offset < end && !s.is_kept());
        let above_kept = fresh.iter().any(|(c, s)| c.extent.offset >= end && s.is_kept());
        seen.extend(fresh);
        match fold {
            Some(fold) if below_lost || fold.bytes() <= end => return self.test_fold(fold, seen),
            Some(fold) => return Ok(self.chain_outcome(end, fold.bytes(), &seen)),
            None => {}
        }
        if below_lost || above_kept {
            return self.judge_scattered(seen);
        }
        Ok(self.limbo_outcome(Some(end), end, &seen))
    }

    /// Changes size and alignment of every second marker above `end`: a reader that loses one kind of request need
    /// not lose another, and a loss of only one kind accuses no card.
    fn reshape_above(&self, end: u64, markers: &[CardExtent], limit: u64) -> Vec<CardExtent> {
        let sector = u64::from(self.io.context.sector());
        let reshape = |(nth, marker): (usize, &CardExtent)| {
            let other = CardExtent { offset: marker.offset + sector, len: 3 * SAVE_UNIT };
            if marker.offset >= end && nth % 2 == 0 && other.end() <= limit { other } else { *marker }
        };
        markers.iter().enumerate().map(reshape).collect()
    }

    /// End of the card if only its last bytes fail, as with a reader that reports too many sectors.
    fn failing_tail(&mut self, lost: &[StampClaim]) -> Result<Option<u64>> {
        let (all, first) = (self.io.context.card_bytes(), lost.iter().map(|c| c.extent.offset).min());
        let Some(first) = first.filter(|first| all - first <= boundary::LAST_RANGE) else { return Ok(None) };
        if lost.iter().any(|claim| claim.written) {
            return Ok(None);
        }
        self.first_failing_sector(first).map(Some)
    }

    /// First sector from about `end` on that fails by itself, since a longer I/O fails as a whole. Returns `end` if
    /// none fails.
    fn first_failing_sector(&mut self, end: u64) -> Result<u64> {
        let sector = u64::from(self.io.context.sector());
        let limit = (end + 2 * boundary::LAST_RANGE).min(self.io.context.card_bytes());
        let (mut low, mut high) = (align_down(end), limit);
        while low < high {
            let middle = low + (high - low) / 2 / sector * sector;
            let mut fails = false;
            let place = CardExtent { offset: middle, len: sector as u32 };
            self.io.context.read_and_compare([place], IoContent::Buffer, |_, _, answer| {
                fails = matches!(answer, ReadAnswer::Failed(_));
                Ok(())
            })?;
            if fails { high = middle } else { low = middle + sector }
        }
        Ok(if low < limit { low } else { end })
    }

    /// Bytes of a run at the start of the card whose copies are searched, on a card that is kept up to `end`.
    fn low_run_bytes(&self, end: u64) -> u64 {
        let all = self.io.context.card_bytes();
        align_down(end.min(alias_run_bytes(all)))
    }

    /// Writes markers and a run at the start of the card. Returns the state of the markers, and the fold by which
    /// later addresses lead to the run.
    fn search_fold(&mut self, run: u64, list: &[CardExtent]) -> Result<(CheckedClaims, Option<AddressFold>)> {
        let claims = self.io.write_stamps(list)?;
        self.write_low_run(run)?;
        self.flood.write_all(&mut self.io)?;
        let seen = self.io.check_claims(&claims)?;
        if run < 2 * UNIT {
            return Ok((seen, None));
        }
        let all = self.io.context.card_bytes();
        let hits = alias::search_copies(&mut self.io, 0, run, all)?;
        Ok((seen, alias::confirm_fold(&mut self.io, &hits)?))
    }

    /// Writes a run at the start of the card, as a whole if the time seems to suffice. One slow early write makes
    /// all seem slow, so growing pieces correct the estimate.
    fn write_low_run(&mut self, run: u64) -> Result<()> {
        // The byte limit, unlike the time limit, is checked before anything is written.
        if !self.io.context.may_write(run) {
            return Err(ProbeStop::Limit);
        }
        let block = self.io.context.block();
        let mut start = 0;
        while start < run {
            let rest: Vec<CardExtent> = split_extents(start, run, block).collect();
            let piece = (2 * start).max(u64::from(block)).min(run);
            let end = if self.io.may_stamp(&rest, 0.0) { run } else { piece };
            growing_run::write_run(&mut self.io, start, end)?;
            start = end;
        }
        Ok(())
    }

    /// Searches a fold: later addresses that lead to a run at the start, misplaced stamps, or stamps at addresses
    /// with one bit inverted.
    fn find_fold(&mut self, seen: &[CheckedClaim]) -> Result<Option<AddressFold>> {
        let run = self.low_run_bytes(self.io.context.card_bytes());
        if let (_, Some(fold)) = self.search_fold(run, &[])? {
            return Ok(Some(fold));
        }
        let mut hits = alias::misplaced_among(seen);
        hits.extend(self.search_marker_twins(seen)?);
        alias::confirm_fold(&mut self.io, &hits)
    }

    /// Explains kept places above lost ones: a fold, a larger cache, or damage.
    fn judge_scattered(&mut self, seen: CheckedClaims) -> Result<Verification> {
        if let Some(fold) = self.find_fold(&seen)? {
            return self.test_fold(fold, seen);
        }
        if let Some(settled) = self.evict_until_clean_step(&seen)? {
            return self.find_end(settled);
        }
        let lost = lost_claims(&seen);
        self.judge_damaged(seen, &lost)
    }

    /// Rewrites lost places. A place that is kept now is not bad, but the card is unstable.
    pub(super) fn judge_damaged(&mut self, seen: CheckedClaims, lost: &[StampClaim]) -> Result<Verification> {
        let mut seen = seen;
        // A long range with one bad sector is not lost as a whole, so its blocks are checked.
        let long = lost.iter().filter(|c| c.extent.len > SAVE_UNIT).take(2 * MARKER_BATCH);
        let long: Vec<StampClaim> = long.copied().collect();
        let blocks: Vec<StampClaim> = long.iter().flat_map(|c| c.blocks()).collect();
        let blocks = self.io.check_claims(&blocks)?;
        seen.retain(|(claim, _)| !long.contains(claim));
        let whole = lost.iter().filter(|c| !long.contains(c)).copied();
        let extents: Vec<CardExtent> = whole.chain(lost_claims(&blocks)).take(64).map(|c| c.extent).collect();
        seen.extend(blocks);
        let mut again = self.observe(&extents)?;
        if !any_lost(&again) {
            // A cache may hold these few blocks, so everything that evicted them before is written again.
            let markers: Vec<CardExtent> = self.markers.iter().map(|c| c.extent).collect();
            let flood = self.flood.clone().append(&self.run.flood());
            let flood = flood.append(&CacheFlood::over_extents(&markers));
            again = observe_evicted(&mut self.io, &extents, &flood)?;
        }
        let still = any_lost(&again);
        seen.extend(again);
        let outcome = self.scattered_outcome(&seen, still);
        Ok(if self.cut_short { Self::with_unknown_kind(outcome) } else { outcome })
    }

    /// Distinguishes a read-only card from a dead one if no block was kept.
    pub(super) fn judge_nothing_kept(&mut self, seen: &[CheckedClaim]) -> Result<Verification> {
        let stamped = |extent: &CardExtent| self.markers.iter().any(|c| c.extent.offset == extent.offset);
        let before = &self.initial_content;
        let extents: Vec<CardExtent> = before.iter().map(|b| b.extent).filter(stamped).collect();
        let (mut same, mut telling) = (0, 0);
        let places = extents.iter().copied();
        self.io.context.read_and_compare(places, IoContent::Buffer, |extent, _, answer| {
            let old = before.iter().find(|b| b.extent == extent);
            if let (ReadAnswer::Differs { bytes, .. }, Some(old)) = (answer, old) {
                same += usize::from(bytes == old.bytes);
                telling += usize::from(old.bytes.iter().any(|b| *b != old.bytes[0]));
            }
            Ok(())
        })?;
        let refused = self.io.failed_writes > 0 && seen.iter().all(|(c, _)| !c.written);
        let stays = !extents.is_empty() && same == extents.len() && telling > 0;
        let verdict = if refused || stays { Verdict::ReadOnly } else { Verdict::Dead };
        Ok(Verification { usable_bytes: Some(0), good_bytes: Some(0), ..self.verification(verdict, seen) })
    }

    /// Bytes that the kept claims cover, each counted once.
    pub(super) fn proven_bytes(&self, seen: &[CheckedClaim]) -> u64 {
        let mut ranges = cardscope_engine::byte_ranges::ByteRanges::default();
        for (claim, _) in seen.iter().filter(|(_, s)| s.is_kept()) {
            ranges.add(claim.extent.offset, claim.extent.end());
        }
        ranges.bytes()
    }

    /// Share of bad blocks that the markers exclude, or the reads of the run if it covers most of the card.
    pub(super) fn excluded_share(&self, seen: &[CheckedClaim]) -> ExcludedShare {
        let few = 2 * self.run.bytes() > self.io.context.card_bytes();
        let counts = |claim: &StampClaim| few || self.markers.iter().any(|m| m.extent == claim.extent);
        let looked: Vec<ClaimState> = seen.iter().filter(|(c, _)| counts(c)).map(|(_, s)| *s).collect();
        let (samples, bad) = (looked.len() as u64, looked.iter().filter(|s| !s.is_kept()).count() as u64);
        ExcludedShare { samples, bad, excluded_above: excluded_above(samples, bad) }
    }
}

fn kept_above_lost(seen: &[CheckedClaim]) -> Vec<CardExtent> {
    let first = seen.iter().filter(|(_, s)| !s.is_kept()).map(|(c, _)| c.extent.offset).min();
    let above = |c: &StampClaim| first.is_some_and(|first| c.extent.offset > first);
    seen.iter().filter(|(c, s)| s.is_kept() && above(c)).map(|(c, _)| c.extent).collect()
}
