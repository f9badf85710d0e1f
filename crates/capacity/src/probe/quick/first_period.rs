//! Cards with repeating addresses: tests how much of the first period is real.
//!
//! The part before the first repetition is tested like a card: a run grows downwards from its end until any cache
//! that hides losses overflows. Data that shows at two addresses is not from a cache, which identifies blocks by
//! address; if all of it does, the run may be short.

use super::alias::{self, AddressFold};
use super::boundary::{self, CapacityBoundary, SearchMethod, SearchStart};
use super::growing_run::{self, CacheFlood, GrowingRun};
use super::markers::best_step;
use super::stamper::{CheckedClaims, StampClaim, UNIT, align_down, any_lost, lost_claims};
use super::{QuickProbe, mostly_lost};
use crate::probe::Result;
use cardscope_engine::io_driver::CardExtent;
use cardscope_model::verify::Verification;

/// Most bytes written in total to a fake without a cache.
const MAX_WITHOUT_CACHE: u64 = 120 << 20;

/// Seconds after which the run ends if no cache was detected. A card of 13 MB/s then overflows caches of 60 MB.
const MAX_RUN_S: f64 = 5.0;

/// Limit of a run inside the part while nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LosslessReach {
    /// Limit for fakes without a cache, as everything shows at two addresses.
    Short,
    /// Limit of the whole card, but only for some seconds: a cache is possible.
    Timed,
    /// Limit of the whole card: a cache was detected.
    Whole,
}

struct InnerRun {
    bytes: u64,
    /// Run that evicts a cache, if a loss showed.
    flood: Option<CacheFlood>,
}

impl QuickProbe<'_, '_> {
    /// Tests the part before the first repetition.
    pub(super) fn test_fold(&mut self, fold: AddressFold, mut seen: CheckedClaims) -> Result<Verification> {
        let end = fold.bytes();
        let twice = align_down(end.min(self.io.context.card_bytes() - end));
        self.io.context.begin_phase("reading one period of the addresses");
        let method = SearchMethod::SecondAddress(end);
        let extents = self.places_inside(twice);
        let shown = method.observe(&mut self.io, &extents)?;
        // The distance may be a multiple of the period so far, so the part is tested for repetitions itself.
        let claims: Vec<StampClaim> = shown.iter().map(|(claim, _)| *claim).collect();
        let hits = alias::misplaced_among(&self.io.check_claims(&claims)?);
        if let Some(inner) = alias::confirm_fold(&mut self.io, &hits)?.filter(|f| f.bytes() < end) {
            return self.test_fold(inner, seen);
        }
        if any_lost(&shown) {
            seen.extend(shown.iter().filter(|(_, s)| !s.is_kept()).copied());
            let found = self.find_end_inside(shown, twice, twice, method)?;
            // Kept places above lost ones may be in a small cache.
            if matches!(found, CapacityBoundary::NoStep(_))
                && let Some(flood) = self.grow_inside(end, LosslessReach::Timed, 0)?.flood
            {
                return self.test_evicted(fold, flood, seen);
            }
            return self.judge_end(end, found, seen);
        }
        let proven = align_down(end) == twice;
        let short = proven && !self.options.thorough;
        let reach = if short { LosslessReach::Short } else { LosslessReach::Timed };
        let mut run = self.grow_inside(end, reach, 0)?;
        // A cache that answers at both addresses proves nothing until it overflows.
        let echoes = run.flood.is_none() && alias::has_cache_echoes(&mut self.io, fold)?;
        if echoes {
            run = self.grow_inside(end, LosslessReach::Whole, 0)?;
        }
        if let Some(flood) = run.flood {
            return self.test_evicted(fold, flood, seen);
        }
        let found = self.wraparound_outcome(fold, &seen, shown.len(), (proven && !echoes, run.bytes));
        if !echoes {
            return Ok(found);
        }
        Ok(Self::with_unknown_kind(Verification { usable_bytes: None, good_bytes: None, ..found }))
    }

    /// Searches the end of the part after a run there evicted the cache.
    fn test_evicted(
        &mut self,
        fold: AddressFold,
        flood: CacheFlood,
        seen: CheckedClaims,
    ) -> Result<Verification> {
        let mut seen = seen;
        let end = fold.bytes();
        let extents = self.places_inside(flood.start(end));
        let (bytes, high) = (flood.bytes(), flood.start(end));
        self.flood = flood.clone();
        let method = SearchMethod::AfterEviction(flood);
        let inside = method.observe(&mut self.io, &extents)?;
        seen.extend(inside.iter().filter(|(_, s)| !s.is_kept()).copied());
        let found = self.find_end_inside(inside, high, end, method)?;
        if matches!(found, CapacityBoundary::NoStep(_)) && bytes > 0 {
            // The first loss does not reveal the size of the cache.
            let run = self.grow_inside(end, LosslessReach::Whole, 4 * bytes)?;
            if let Some(flood) = run.flood.filter(|flood| flood.bytes() > bytes) {
                return self.test_evicted(fold, flood, seen);
            }
        }
        self.judge_end(end, found, seen)
    }

    /// Searches the boundary below `high` in the part up to `end`, starting from the markers.
    fn find_end_inside(
        &mut self,
        shown: CheckedClaims,
        high: u64,
        end: u64,
        method: SearchMethod,
    ) -> Result<CapacityBoundary> {
        let marks = best_step(&shown);
        if marks.misfits > 0 {
            return Ok(CapacityBoundary::NoStep(shown));
        }
        let (low, high) = (marks.kept.unwrap_or(0), marks.lost.unwrap_or(high));
        boundary::find_boundary(&mut self.io, SearchStart { low, high, end, method, marker_s: self.marker_s })
    }

    fn judge_end(&mut self, period: u64, end: CapacityBoundary, seen: CheckedClaims) -> Result<Verification> {
        let chain = |quick: &mut Self, end, seen: CheckedClaims| Ok(quick.chain_outcome(end, period, &seen));
        self.judge_boundary(end, seen, chain, |quick, seen| {
            let lost = lost_claims(&seen);
            quick.judge_damaged(seen, &lost)
        })
    }

    /// Positions all over the part up to `end`, and its last block.
    fn places_inside(&mut self, end: u64) -> Vec<CardExtent> {
        let most = if self.marker_s > boundary::DEAR_MARKER_S { 3 } else { 64 };
        let last = align_down(end.saturating_sub(UNIT));
        let mut extents = self.spread_blocks(0, last, most);
        extents.push(self.io.block_of(last));
        extents.retain(|p| p.end() <= end);
        extents.sort_unstable_by_key(|p| p.offset);
        extents.dedup();
        extents
    }

    /// Grows a run downwards from `end` until data is lost, at least to `least` bytes.
    fn grow_inside(&mut self, end: u64, reach: LosslessReach, least: u64) -> Result<InnerRun> {
        let wanted = self.options.run_bytes(end);
        let left = MAX_WITHOUT_CACHE.saturating_sub(self.io.context.written());
        let most = if reach == LosslessReach::Short { wanted.min(left) } else { wanted };
        let begun = self.io.context.seconds();
        let (mut run, mut lost) = (GrowingRun::ending_at(end), false);
        for size in growing_run::run_lengths(most) {
            let seconds = self.io.context.seconds() - begun;
            if seconds > MAX_RUN_S && reach != LosslessReach::Whole {
                break;
            }
            let next = run.extents_to_grow(&self.io, size);
            if !self.io.may_stamp(&next, 0.0) {
                self.cut_short |= reach != LosslessReach::Short;
                break;
            }
            run.grow_to(&mut self.io, size)?;
            self.io.context.events.report_bytes(size);
            let look = run.read_blocks(&mut self.io)?;
            lost |= mostly_lost(&look.old);
            if lost && size >= least.min(most) {
                let mut flood = CacheFlood::default();
                if size > UNIT {
                    run.grow_to(&mut self.io, size + (2 << 20))?;
                    flood = run.flood();
                }
                return Ok(InnerRun { bytes: run.bytes(), flood: Some(flood) });
            }
        }
        Ok(InnerRun { bytes: run.bytes(), flood: lost.then(|| run.flood()) })
    }
}
