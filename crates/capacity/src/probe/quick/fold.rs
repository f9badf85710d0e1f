//! Addresses that lead to one place more than once: what of the part in front of the first repetition is there?
//!
//! That part is looked at like a card of its own: a run grows from its end downwards, so that a cache which hides what
//! is lost of it must overflow. What shows at two addresses is no cache's doing, since a cache knows its blocks by their
//! addresses; so on a card where all of it does, the run may be short.

use super::alias::{self, AddressFold};
use super::boundary::{self, CapacityBoundary, SearchMethod, SearchStart};
use super::growth::{QuickProbe, mostly_lost};
use super::markers::{spread, step};
use super::options::QuickOutcome;
use super::stamper::{CheckedClaims, StampClaim, any_lost, down, lost};
use super::tail::{self, CacheFlood, GrowingRun};
use cardscope_engine::card::{CardExtent, ProbeStop};
use cardscope_probing::write_scope::UNIT;

/// Bytes that a fake without a cache may cost in all.
const MOST_WITHOUT_CACHE: u64 = 120 << 20;

/// Seconds after which a run grows no more where no cache was seen, so that a slow card keeps nobody waiting: one of 13 MB/s lets it overflow
/// caches of 60 MB.
const RUN_SECONDS: f64 = 5.0;

/// How far a run inside the part goes while nothing is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LosslessReach {
    /// What a fake without a cache may cost: all that is looked at shows at two addresses.
    Short,
    /// As far as on the whole card, but only for some seconds: a cache is possible.
    Timed,
    /// As far as on the whole card: a cache is there.
    Whole,
}

/// What a run inside the part showed.
struct InnerRun {
    /// Its bytes.
    bytes: u64,
    /// What must be written before a loss shows, where one did.
    flood: Option<CacheFlood>,
}

impl QuickProbe<'_, '_> {
    /// Addresses fold. What lies in front of the first repetition?
    pub(super) fn folded(
        &mut self,
        fold: AddressFold,
        mut seen: CheckedClaims,
    ) -> Result<QuickOutcome, ProbeStop> {
        let end = fold.bytes();
        let twice = down(end.min(self.stamper.context.card_bytes() - end));
        self.stamper.context.phase("reading one period of the addresses");
        let method = SearchMethod::Twice(end);
        let extents = self.inside(twice);
        let shown = method.observe(&mut self.stamper, &extents)?;
        // One copy in many is what showed so far, where the part repeats in itself.
        let claims: Vec<StampClaim> = shown.iter().map(|(claim, _)| *claim).collect();
        let hits = alias::among(&self.stamper.check(&claims)?);
        if let Some(inner) = alias::fold(&mut self.stamper, &hits)?.filter(|f| f.bytes() < end) {
            return self.folded(inner, seen);
        }
        if any_lost(&shown) {
            seen.extend(shown.iter().filter(|(_, s)| !s.kept()).copied());
            let found = self.end_inside(shown, twice, twice, method)?;
            // A small cache behind the folding keeps some of what is lost.
            if matches!(found, CapacityBoundary::NoStep(_))
                && let Some(flood) = self.run_inside(end, LosslessReach::Timed, 0)?.flood
            {
                return self.pushed_inside(fold, flood, seen);
            }
            return self.found_inside(fold, found, seen);
        }
        let proven = down(end) == twice;
        let reach =
            if proven && !self.options.thorough { LosslessReach::Short } else { LosslessReach::Timed };
        let mut run = self.run_inside(end, reach, 0)?;
        // A cache behind the folding shows what it holds at both addresses, and so proves nothing until it overflows.
        let echoes = run.flood.is_none() && alias::echoes(&mut self.stamper, fold)?;
        if echoes {
            run = self.run_inside(end, LosslessReach::Whole, 0)?;
        }
        if let Some(flood) = run.flood {
            return self.pushed_inside(fold, flood, seen);
        }
        let found = self.wraparound(fold, &seen, shown.len(), (proven && !echoes, run.bytes));
        Ok(if echoes {
            Self::unsettled(QuickOutcome { usable_bytes: None, good_bytes: None, ..found })
        } else {
            found
        })
    }

    /// The end of the part in front of the first repetition is lost once a run there has pushed it out.
    fn pushed_inside(
        &mut self,
        fold: AddressFold,
        flood: CacheFlood,
        mut seen: CheckedClaims,
    ) -> Result<QuickOutcome, ProbeStop> {
        let end = fold.bytes();
        let extents = self.inside(flood.start(end));
        let (bytes, high) = (flood.bytes(), flood.start(end));
        self.flood = flood.clone();
        let method = SearchMethod::Pushed(flood);
        let inside = method.observe(&mut self.stamper, &extents)?;
        seen.extend(inside.iter().filter(|(_, s)| !s.kept()).copied());
        let found = self.end_inside(inside, high, end, method)?;
        if matches!(found, CapacityBoundary::NoStep(_)) && bytes > 0 {
            // The first loss does not tell how much a cache holds.
            let run = self.run_inside(end, LosslessReach::Whole, 4 * bytes)?;
            if let Some(flood) = run.flood.filter(|flood| flood.bytes() > bytes) {
                return self.pushed_inside(fold, flood, seen);
            }
        }
        self.found_inside(fold, found, seen)
    }

    /// Where what is there ends, below `high` in the part up to `end`, by what places all over it showed.
    fn end_inside(
        &mut self,
        shown: CheckedClaims,
        high: u64,
        end: u64,
        method: SearchMethod,
    ) -> Result<CapacityBoundary, ProbeStop> {
        let marks = step(&shown);
        if marks.misfits > 0 {
            return Ok(CapacityBoundary::NoStep(shown));
        }
        let (low, high) = (marks.kept.unwrap_or(0), marks.lost.unwrap_or(high));
        boundary::find(&mut self.stamper, SearchStart { low, high, end, method, marker_s: self.marker_s })
    }

    /// What the search for the end of what is there came to.
    fn found_inside(
        &mut self,
        fold: AddressFold,
        found: CapacityBoundary,
        seen: CheckedClaims,
    ) -> Result<QuickOutcome, ProbeStop> {
        let at = |quick: &mut Self, real, seen: CheckedClaims| Ok(quick.chain(real, fold.bytes(), &seen));
        self.bounded_by(found, seen, at, |quick, seen| {
            let lost = lost(&seen);
            quick.damaged(seen, &lost)
        })
    }

    /// Places all over the part up to `end`, and its last block.
    fn inside(&mut self, end: u64) -> Vec<CardExtent> {
        let most = if self.marker_s > boundary::DEAR { 3 } else { 64 };
        let last = down(end.saturating_sub(u64::from(UNIT)));
        let mut places = spread(0, last, most, &mut self.stamper.context.random);
        places.push(last);
        let mut extents: Vec<CardExtent> =
            places.into_iter().map(|p| self.stamper.unit(p)).filter(|p| p.end() <= end).collect();
        extents.sort_unstable_by_key(|p| p.offset);
        extents.dedup();
        extents
    }

    /// A run that grows from `end` downwards until something is lost, to `least` bytes anyhow.
    fn run_inside(&mut self, end: u64, reach: LosslessReach, least: u64) -> Result<InnerRun, ProbeStop> {
        let wanted = self.options.run_bytes(end);
        let most = match reach {
            LosslessReach::Short => {
                wanted.min(MOST_WITHOUT_CACHE.saturating_sub(self.stamper.context.written()))
            }
            LosslessReach::Timed | LosslessReach::Whole => wanted,
        };
        let begun = self.stamper.context.seconds();
        let (mut run, mut lost) = (GrowingRun::before(end), false);
        for size in tail::steps(most) {
            let seconds = self.stamper.context.seconds() - begun;
            if seconds > RUN_SECONDS && reach != LosslessReach::Whole {
                break;
            }
            let next = run.next(&self.stamper, size);
            if !self.stamper.may_stamp(&next, 0.0) {
                self.cut_short |= reach != LosslessReach::Short;
                break;
            }
            run.grow(&mut self.stamper, size)?;
            self.stamper.context.events.progress(size);
            let look = run.look(&mut self.stamper)?;
            lost |= mostly_lost(&look.old);
            if lost && size >= least.min(most) {
                if size > u64::from(UNIT) {
                    run.grow(&mut self.stamper, size + (2 << 20))?;
                }
                let flood = if size > u64::from(UNIT) { run.flood() } else { CacheFlood::default() };
                return Ok(InnerRun { bytes: run.bytes(), flood: Some(flood) });
            }
        }
        Ok(InnerRun { bytes: run.bytes(), flood: lost.then(|| run.flood()) })
    }
}
