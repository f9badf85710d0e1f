//! The steps of the quick probe, in order: a run at the end that grows, markers all over the card, a search for aliases;
//! then what the losses look like.

use super::alias::{self, Hit};
use super::boundary::{self, Boundary, Search, observe};
use super::ground::{Claim, Ground, State, UNIT};
use super::growth::{ALIAS_RUN, BATCH, MARKERS, Shown};
use super::pattern::{self, step};
use super::places::spread;
use super::tail::{self, Flood, Tail, any_lost, zip};
use super::{Options, Outcome};
use crate::card::{Answer, Card, Piece};
use crate::keeper::Keeper;
use crate::trouble::Stop;
use crate::watch::Watch;
use cardscope_engine::content::Content;
use cardscope_model::verify::{Share, Verdict};

/// What was on the card at some places before anything was written.
pub(super) struct Before {
    pub(super) piece: Piece,
    pub(super) bytes: Vec<u8>,
}

/// A probe under way.
pub(super) struct Quick<'g, 't> {
    pub(super) ground: Ground<'g, 't>,
    pub(super) options: Options,
    pub(super) places: Vec<u64>,
    pub(super) before: Vec<Before>,
    pub(super) tail: Tail,
    pub(super) markers: Vec<Claim>,
    /// Seconds that one marker costs.
    pub(super) marker_s: f64,
    /// Bytes of the stretches.
    pub(super) written_besides: u64,
    /// What must be written before a loss shows.
    pub(super) flood: Flood,
    pub(super) cut_short: bool,
}

impl<'g, 't> Quick<'g, 't> {
    pub(super) fn new(
        card: &'g mut Card<'t>,
        keeper: Option<&'g mut dyn Keeper>,
        options: &Options,
        watch: &'g mut dyn Watch,
    ) -> Result<Self, Stop> {
        let mut ground = Ground::new(card, keeper, watch, options);
        let all = ground.card.bytes();
        // The first MiB holds the partition table: it is touched only where the boundary may lie there.
        let (from, to) = ((1 << 20).min(all / 8), all - (1 << 20).min(all / 8));
        let places = spread(from, to, MARKERS, &mut ground.random);
        let before = Vec::new();
        let (tail, markers) = (Tail::default(), Vec::new());
        Ok(Quick {
            ground,
            options: *options,
            places,
            before,
            tail,
            markers,
            marker_s: 0.0,
            written_besides: 0,
            flood: Flood::default(),
            cut_short: false,
        })
    }

    pub(super) fn run(&mut self) -> Result<Outcome, Stop> {
        self.look_before()?;
        let shown = self.grow()?;
        if self.markers.is_empty() {
            self.set_markers()?;
        }
        match shown {
            Shown::Nothing => self.nothing_lost(),
            Shown::Aliases(period) => {
                let seen = self.check_markers()?;
                self.folded(period, seen)
            }
            Shown::NewLost(seen) => self.newest_lost(&seen),
            Shown::MarkersLost(seen) => self.scattered(seen),
            Shown::OldLost { after, seen } => {
                // A loss on the first single block needs no flood.
                if after > u64::from(UNIT) {
                    // The markers helped to fill the cache: the flood must do it alone.
                    self.tail.grow(&mut self.ground, after + (2 << 20))?;
                    self.flood = self.tail.flood();
                }
                self.oldest_lost(seen)
            }
        }
    }

    /// The period that hits share, where a trial shows that the card's addresses fold with it; a cache that gives the
    /// content of a place for any address makes hits too.
    pub(super) fn folding(&mut self, hits: &[Hit]) -> Result<Option<u64>, Stop> {
        let Some(period) = alias::period(hits) else { return Ok(None) };
        Ok(alias::folds(&mut self.ground, period, &self.flood)?.then_some(period))
    }

    fn nothing_lost(&mut self) -> Result<Outcome, Stop> {
        self.ground.watch.phase("looking at all of it again", None, None);
        let mut seen = self.check_markers()?;
        if let Some(period) = self.folding(&alias::among(&seen))? {
            return self.folded(period, seen);
        }
        seen.extend(self.read_back()?);
        seen.extend(self.stretches()?);
        let lost: Vec<Claim> = seen.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).collect();
        if lost.is_empty() {
            self.waver_again()?;
            return Ok(self.genuine(&seen));
        }
        if self.cut_short {
            return Ok(self.cut());
        }
        self.flood = self.tail.flood().and(&std::mem::take(&mut self.flood));
        self.damaged(seen, &lost)
    }

    fn newest_lost(&mut self, lost: &[(Claim, State)]) -> Result<Outcome, Stop> {
        let mut seen = self.check_markers()?;
        seen.extend_from_slice(lost);
        // Old places written anew against places that were never written: a pool that is full takes only the first.
        let old: Vec<Piece> =
            seen.iter().filter(|(_, s)| s.kept()).take(2 * BATCH).map(|(c, _)| c.piece).collect();
        let tail = self.tail.start(self.ground.card.bytes());
        let new: Vec<Piece> = spread(0, tail, 2 * BATCH as u32, &mut self.ground.random)
            .into_iter()
            .map(|place| self.ground.unit(place))
            .filter(|piece| !self.markers.iter().any(|c| c.piece == *piece))
            .collect();
        let old = observe(&mut self.ground, &old, &self.flood)?;
        let new = observe(&mut self.ground, &new, &self.flood)?;
        let full =
            !old.is_empty() && !any_lost(&old) && !new.is_empty() && new.iter().all(|(_, s)| !s.kept());
        if full {
            seen.extend(new);
            return Ok(self.overcommitted(&seen));
        }
        let lost: Vec<Claim> = lost.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).collect();
        self.damaged(seen, &lost)
    }

    fn oldest_lost(&mut self, old: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
        self.ground.watch.phase("where the card ends", None, None);
        if self.tail.bytes() <= 4 << 20 {
            // The markers came after most of the run: too little pushed them out yet.
            self.flood.pour(&mut self.ground)?;
        }
        let mut seen = self.check_markers()?;
        let mut hits = alias::among(&seen);
        hits.extend(alias::among(&old));
        if let Some(period) = self.folding(&hits)? {
            return self.folded(period, seen);
        }
        if step(&seen).misfits > 0 {
            let again: Vec<Piece> = seen.iter().map(|(c, _)| c.piece).collect();
            seen = observe(&mut self.ground, &again, &self.flood)?;
        }
        let marks = step(&seen);
        seen.extend(old);
        if marks.misfits > 0 {
            return self.scattered(seen);
        }
        let all = self.ground.card.bytes();
        let high = marks.lost.unwrap_or(self.tail.start(all).max(tail::down(all - u64::from(UNIT))));
        let search = self.search_in(marks.kept.unwrap_or(0), high);
        self.search(search, seen)
    }

    fn search_in(&self, low: u64, high: u64) -> Search {
        Search { low, high, flood: self.flood.clone(), marker_s: self.marker_s }
    }

    fn search(&mut self, search: Search, mut seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
        match boundary::find(&mut self.ground, search)? {
            Boundary::At(0, last) => {
                seen.extend(last);
                self.keeps_nothing(&seen)
            }
            Boundary::At(end, last) => {
                seen.extend(last);
                self.confirm(end, seen)
            }
            Boundary::NoStep(round) => {
                seen.extend(round);
                self.scattered(seen)
            }
            Boundary::Limit(low, _) => {
                self.cut_short = true;
                Ok(self.limbo(None, low, &seen))
            }
        }
    }

    /// Fresh markers on both sides of a boundary must behave as it says; then, does the part above lead back to the
    /// part below?
    fn confirm(&mut self, end: u64, mut seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
        let all = self.ground.card.bytes();
        let most = if self.marker_s > boundary::DEAR { 2 } else { 16 };
        let above_end = self.flood.start(all);
        // What the flood overwrites tells nothing about the part below.
        let mut places: Vec<u64> = spread(0, end.min(above_end), most, &mut self.ground.random);
        places.extend(spread(
            end + u64::from(UNIT),
            above_end.max(end + 2 * u64::from(UNIT)),
            most,
            &mut self.ground.random,
        ));
        places.sort_unstable();
        let run = self.low_run(end);
        let markers = places.iter().map(|p| self.ground.unit(*p));
        let pieces: Vec<Piece> =
            markers.filter(|p| p.offset >= end || (p.end() <= end && p.offset >= run)).collect();
        let (fresh, period) = self.leads_back(run, &pieces)?;
        let below_lost = fresh.iter().any(|(c, s)| c.piece.offset < end && !s.kept());
        let above_kept = fresh.iter().any(|(c, s)| c.piece.offset >= end && s.kept());
        seen.extend(fresh);
        if let Some(period) = period {
            return Ok(self.chain(end, period, &seen));
        }
        if below_lost || above_kept {
            return self.scattered(seen);
        }
        Ok(self.limbo(Some(end), end, &seen))
    }

    /// Bytes of a run at the start of the card that is searched for elsewhere, on a card that is kept up to `end`.
    fn low_run(&self, end: u64) -> u64 {
        let all = self.ground.card.bytes();
        tail::down(end.min((all / 2048).clamp(16 << 20, ALIAS_RUN)))
    }

    /// Writes markers, and a run of `run` bytes at the start of the card: what becomes of the markers, and the period
    /// in which later addresses lead back to the run, if they do.
    #[allow(clippy::type_complexity, reason = "two answers to one flood")]
    fn leads_back(
        &mut self,
        run: u64,
        markers: &[Piece],
    ) -> Result<(Vec<(Claim, State)>, Option<u64>), Stop> {
        let claims = self.ground.stamp(markers)?;
        if run > 0 {
            tail::write_run(&mut self.ground, 0, run)?;
        }
        self.flood.pour(&mut self.ground)?;
        let states = self.ground.check(&claims)?;
        let seen = zip(&claims, states);
        if run < 2 * u64::from(UNIT) {
            return Ok((seen, None));
        }
        let all = self.ground.card.bytes();
        let hits = alias::scan(&mut self.ground, 0, run, all)?;
        Ok((seen, self.folding(&hits)?))
    }

    /// Kept places above lost ones: a chain, or damage.
    fn scattered(&mut self, seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
        let run = self.low_run(self.ground.card.bytes());
        if let (_, Some(period)) = self.leads_back(run, &[])? {
            return self.folded(period, seen);
        }
        let lost: Vec<Claim> = seen.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).collect();
        self.damaged(seen, &lost)
    }

    /// Addresses repeat with this period. What lies inside one of them?
    pub(super) fn folded(&mut self, period: u64, mut seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
        let most = if self.marker_s > boundary::DEAR { 6 } else { 64 };
        let pieces: Vec<Piece> = spread(0, period, most, &mut self.ground.random)
            .into_iter()
            .map(|p| self.ground.unit(p))
            .filter(|p| p.end() <= period)
            .collect();
        let inside = observe(&mut self.ground, &pieces, &self.flood)?;
        let marks = step(&inside);
        seen.extend(inside.iter().filter(|(_, s)| !s.kept()).copied());
        if marks.misfits > 0 {
            let lost: Vec<Claim> = inside.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).collect();
            return self.damaged(seen, &lost);
        }
        let Some(high) = marks.lost else { return Ok(self.wraparound(period, &seen, inside.len())) };
        let search = self.search_in(marks.kept.unwrap_or(0), high);
        match boundary::find(&mut self.ground, search)? {
            Boundary::At(0, last) => {
                seen.extend(last);
                self.keeps_nothing(&seen)
            }
            Boundary::At(end, last) => {
                seen.extend(last);
                Ok(self.chain(end, period, &seen))
            }
            Boundary::NoStep(round) => {
                let lost: Vec<Claim> = round.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).collect();
                seen.extend(round);
                self.damaged(seen, &lost)
            }
            Boundary::Limit(low, _) => {
                self.cut_short = true;
                Ok(self.limbo(None, low, &seen))
            }
        }
    }

    /// Writes what was lost once more: a place that keeps it now is not bad, the answers differ.
    fn damaged(&mut self, mut seen: Vec<(Claim, State)>, lost: &[Claim]) -> Result<Outcome, Stop> {
        // A stretch of which one sector is bad is not lost whole: looked at block by block.
        let long: Vec<Claim> = lost.iter().filter(|c| c.piece.len > UNIT).take(2 * BATCH).copied().collect();
        let blocks: Vec<Claim> = long.iter().flat_map(|c| c.blocks()).collect();
        let states = self.ground.check(&blocks)?;
        let blocks = zip(&blocks, states);
        seen.retain(|(claim, _)| !long.contains(claim));
        let bad = blocks.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c);
        let lost: Vec<Claim> = lost.iter().filter(|c| !long.contains(c)).copied().chain(bad).collect();
        seen.extend(blocks);
        let pieces: Vec<Piece> = lost.iter().take(64).map(|c| c.piece).collect();
        let again = observe(&mut self.ground, &pieces, &self.flood)?;
        let still = again.iter().any(|(_, s)| !s.kept());
        seen.extend(again);
        Ok(self.losses(&seen, still))
    }

    /// Not one block was kept: worn out to read-only, or dead?
    fn keeps_nothing(&mut self, seen: &[(Claim, State)]) -> Result<Outcome, Stop> {
        let stamped = |piece: &Piece| self.markers.iter().any(|c| c.piece.offset == piece.offset);
        let pieces: Vec<Piece> = self.before.iter().map(|b| b.piece).filter(stamped).collect();
        let (mut same, mut telling) = (0, 0);
        let before = &self.before;
        self.ground.card.read(pieces.iter().copied(), Content::Buffer, |piece, _, answer| {
            if let (Answer::Differs { bytes, .. }, Some(old)) =
                (answer, before.iter().find(|b| b.piece == piece))
            {
                same += usize::from(bytes == old.bytes);
                telling += usize::from(old.bytes.iter().any(|b| *b != old.bytes[0]));
            }
            Ok(())
        })?;
        let refused = self.ground.failed_writes > 0 && seen.iter().all(|(c, _)| !c.written);
        let stays = !pieces.is_empty() && same == pieces.len() && telling > 0;
        let verdict = if refused || stays { Verdict::ReadOnly } else { Verdict::Dead };
        Ok(self.keeps_none(verdict, seen))
    }

    /// Bytes that the claims seen as kept cover, no matter how often.
    pub(super) fn proven(&self, seen: &[(Claim, State)]) -> u64 {
        let mut ranges = crate::ranges::Ranges::default();
        for (claim, _) in seen.iter().filter(|(_, s)| s.kept()) {
            ranges.add(claim.piece.offset, claim.piece.end());
        }
        ranges.bytes()
    }

    /// Bytes that were stamped beside the run.
    pub(super) fn marker_bytes(&self) -> u64 {
        self.markers.iter().map(|c| u64::from(c.piece.len)).sum::<u64>() + self.written_besides
    }

    pub(super) fn tail_bytes(&self) -> u64 {
        self.tail.bytes()
    }

    /// What the markers exclude; on a card that the run covers for the most part, what the looks at the run exclude.
    pub(super) fn excluded(&self, seen: &[(Claim, State)]) -> Share {
        let few = 2 * self.tail.bytes() > self.ground.card.bytes();
        let counts = |claim: &Claim| few || self.markers.iter().any(|m| m.piece == claim.piece);
        let looked: Vec<State> = seen.iter().filter(|(c, _)| counts(c)).map(|(_, s)| *s).collect();
        let (samples, bad) = (looked.len() as u64, looked.iter().filter(|s| !s.kept()).count() as u64);
        Share { samples, bad, excluded_above: pattern::excluded_above(samples, bad) }
    }
}
