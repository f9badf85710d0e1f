//! The steps of the quick probe, in order: a run at the end that grows, markers all over the card, a search for aliases;
//! then what the losses look like.

use super::alias::{self, Hit};
use super::boundary::{self, Boundary, Search, observe};
use super::ground::{Claim, Ground, State, UNIT};
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

/// Markers at most; with none lost, more than 1.2 % of bad places are excluded.
const MARKERS: u32 = 256;

/// Seconds that markers may take: on a card that merges an allocation unit for each, eight of them.
const MARKER_SECONDS: f64 = 5.0;

/// The same where each of them must be put back too.
const MARKER_SECONDS_KEPT: f64 = 2.0;

/// Markers are saved and written so many at a time, so that it is known soon what they cost.
const BATCH: usize = 4;

/// Stretches that are written all over a card on which nothing was lost, and their bytes: 48 MiB in all.
const STRETCHES: u32 = 48;
const STRETCH: u64 = 1 << 20;

/// The run is searched for elsewhere when it has this length: long enough that 1 TB takes 16 000 looks.
const ALIAS_RUN: u64 = 64 << 20;

/// What was on the card at some places before anything was written.
struct Before {
    piece: Piece,
    bytes: Vec<u8>,
}

/// More than half are lost. Markers that share a place of a cache with some of the run's blocks push out a few of them,
/// which says nothing about its size; what few losses mean is seen when all is looked at.
fn mostly_lost(seen: &[(Claim, State)]) -> bool {
    let lost = seen.iter().filter(|(_, s)| !s.kept()).count();
    2 * lost > seen.len()
}

/// A probe under way.
pub(super) struct Quick<'g, 't> {
    pub(super) ground: Ground<'g, 't>,
    options: Options,
    places: Vec<u64>,
    before: Vec<Before>,
    tail: Tail,
    markers: Vec<Claim>,
    /// Seconds that one marker costs.
    marker_s: f64,
    /// Bytes of the stretches.
    written_besides: u64,
    /// What must be written before a loss shows.
    pub(super) flood: Flood,
    pub(super) cut_short: bool,
}

/// What showed while the run grew.
enum Shown {
    /// Nothing wrong.
    Nothing,
    /// The oldest blocks are lost, after so many bytes.
    OldLost { after: u64, seen: Vec<(Claim, State)> },
    /// The newest blocks are lost while older ones are kept.
    NewLost(Vec<(Claim, State)>),
    /// Markers are lost at once, while the end of the card is kept.
    MarkersLost(Vec<(Claim, State)>),
    /// Stamps of the run stand at foreign addresses, in this period.
    Aliases(u64),
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

    pub(super) fn run(mut self) -> Result<Outcome, Stop> {
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

    /// Keeps a copy of what stands at some places, to tell a card that drops writes from one that loses them.
    fn look_before(&mut self) -> Result<(), Stop> {
        let pieces: Vec<Piece> = self.places.iter().take(4 * BATCH).map(|p| self.ground.unit(*p)).collect();
        let before = &mut self.before;
        self.ground.card.read(pieces, Content::Buffer, |piece, _, answer| {
            if let Answer::Differs { bytes, .. } = answer {
                before.push(Before { piece, bytes: bytes.to_vec() });
            }
            Ok(())
        })
    }

    fn grow(&mut self) -> Result<Shown, Stop> {
        let all = self.ground.card.bytes();
        let most = self.options.run_bytes(all);
        let begun = self.ground.card.seconds();
        self.ground.watch.phase("a run at the end of the card", Some(most), None);
        let mut searched = false;
        for size in tail::steps(most) {
            if !self.ground.may_write(size - self.tail.bytes().min(size)) {
                self.cut_short = true;
                break;
            }
            self.tail.grow(&mut self.ground, size)?;
            let seconds = self.ground.card.seconds() - begun;
            self.ground.watch.progress(size, seconds);
            let look = self.tail.look(&mut self.ground)?;
            if mostly_lost(&look.old) {
                return Ok(Shown::OldLost { after: size, seen: look.old });
            }
            if mostly_lost(&look.new) {
                return Ok(Shown::NewLost(look.new));
            }
            if size >= 1 << 20 && self.markers.is_empty() {
                self.set_markers()?;
                let seen = self.lost_at_once()?;
                if any_lost(&seen) {
                    return Ok(Shown::MarkersLost(seen));
                }
            }
            if size >= ALIAS_RUN && !searched {
                searched = true;
                if let Some(period) = self.search_aliases()? {
                    return Ok(Shown::Aliases(period));
                }
            }
        }
        if searched {
            return Ok(Shown::Nothing);
        }
        Ok(self.search_aliases()?.map_or(Shown::Nothing, Shown::Aliases))
    }

    /// The period in which the run's stamps stand elsewhere, if the card's addresses really fold.
    fn search_aliases(&mut self) -> Result<Option<u64>, Stop> {
        let all = self.ground.card.bytes();
        let start = self.tail.start(all);
        if all - start < 2 * u64::from(UNIT) {
            return Ok(None);
        }
        let hits = alias::scan(&mut self.ground, start, all - start, start)?;
        self.folding(&hits)
    }

    /// The period that hits share, where a trial shows that the card's addresses fold with it; a cache that gives the
    /// content of a place for any address makes hits too.
    fn folding(&mut self, hits: &[Hit]) -> Result<Option<u64>, Stop> {
        let Some(period) = alias::period(hits) else { return Ok(None) };
        Ok(alias::folds(&mut self.ground, period, &self.flood)?.then_some(period))
    }

    /// Writes markers as long as they are cheap.
    fn set_markers(&mut self) -> Result<(), Stop> {
        let limit = if self.ground.keeps_data() { MARKER_SECONDS_KEPT } else { MARKER_SECONDS };
        let begun = self.ground.card.seconds();
        let tail = self.tail.start(self.ground.card.bytes());
        let markers = self.places.iter().map(|p| self.ground.unit(*p));
        let pieces: Vec<Piece> = markers.filter(|piece| piece.end() <= tail).collect();
        for batch in pieces.chunks(BATCH) {
            let spent = self.ground.card.seconds() - begun;
            // The next batch will take as long as the ones before.
            let next = spent / self.markers.len().max(1) as f64 * BATCH as f64;
            if spent + next > limit && !self.markers.is_empty() {
                break;
            }
            if !self.ground.may_write(BATCH as u64 * u64::from(UNIT)) {
                self.cut_short = true;
                break;
            }
            let claims = self.ground.stamp(batch)?;
            self.markers.extend(claims);
        }
        let spent = self.ground.card.seconds() - begun;
        self.marker_s = spent / self.markers.len().max(1) as f64;
        Ok(())
    }

    /// Every other marker, at once: holes need no flood. The others stay unread, since a cache may keep for ever what is
    /// asked for. Markers may have pushed each other out of a small cache: a lost one is written and read again alone.
    fn lost_at_once(&mut self) -> Result<Vec<(Claim, State)>, Stop> {
        let half: Vec<Claim> = self.markers.iter().step_by(2).copied().collect();
        let states = self.ground.check(&half)?;
        let mut seen = zip(&half, states);
        if any_lost(&seen) {
            let alone: Vec<Claim> =
                seen.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).take(2 * BATCH).collect();
            for claim in alone {
                if !any_lost(&observe(&mut self.ground, &[claim.piece], &Flood::default())?) {
                    return Ok(Vec::new());
                }
            }
        }
        seen.retain(|(claim, _)| self.markers.contains(claim));
        Ok(seen)
    }

    /// The markers that the run has not overwritten, and what became of them.
    fn check_markers(&mut self) -> Result<Vec<(Claim, State)>, Stop> {
        let start = self.tail.start(self.ground.card.bytes());
        self.markers.retain(|claim| claim.piece.end() <= start);
        let states = self.ground.check(&self.markers)?;
        Ok(zip(&self.markers, states))
    }

    fn nothing_lost(mut self) -> Result<Outcome, Stop> {
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
        self.flood = self.tail.flood().and(&std::mem::take(&mut self.flood));
        self.damaged(seen, &lost)
    }

    /// Half of the run again, in stretches; where the original is put back all of it will be read anyway.
    fn read_back(&mut self) -> Result<Vec<(Claim, State)>, Stop> {
        let block = self.ground.card.block();
        let all = self.tail.claims(block);
        let stride = if self.ground.keeps_data() { 64 } else { 2 };
        let some: Vec<Claim> = all.chunks(2).step_by(stride).flatten().copied().collect();
        let states = self.ground.check(&some)?;
        Ok(zip(&some, states))
    }

    /// Stretches all over the card, where they are cheap: a small cache that holds nothing but lost blocks hides a hole
    /// from markers, not from these.
    fn stretches(&mut self) -> Result<Vec<(Claim, State)>, Stop> {
        let end = self.tail.start(self.ground.card.bytes());
        let room = end / u64::from(STRETCHES) >= 2 * STRETCH;
        if self.marker_s > boundary::DEAR || !room || !self.ground.may_write(u64::from(STRETCHES) * STRETCH) {
            return Ok(Vec::new());
        }
        let starts = spread(STRETCH, end - STRETCH, STRETCHES, &mut self.ground.random);
        let pieces: Vec<Piece> =
            starts.into_iter().map(|at| Piece { offset: tail::down(at), len: STRETCH as u32 }).collect();
        let claims = self.ground.stamp(&pieces)?;
        self.written_besides += claims.iter().map(|c| u64::from(c.piece.len)).sum::<u64>();
        let states = self.ground.check(&claims)?;
        self.flood = Flood::of(&pieces);
        Ok(zip(&claims, states))
    }

    /// One look that differed from the next may be the reader's: looks at more of the run, to see whether it happens
    /// again.
    fn waver_again(&mut self) -> Result<(), Stop> {
        if self.ground.wavered.len() == 1 {
            let block = self.ground.card.block();
            let claims: Vec<Claim> = self.tail.claims(block).into_iter().take(64).collect();
            self.ground.check(&claims)?;
        }
        Ok(())
    }

    fn newest_lost(mut self, lost: &[(Claim, State)]) -> Result<Outcome, Stop> {
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

    fn oldest_lost(mut self, old: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
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

    fn search(mut self, search: Search, mut seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
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
    fn confirm(mut self, end: u64, mut seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
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
    fn scattered(mut self, seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
        let run = self.low_run(self.ground.card.bytes());
        if let (_, Some(period)) = self.leads_back(run, &[])? {
            return self.folded(period, seen);
        }
        let lost: Vec<Claim> = seen.iter().filter(|(_, s)| !s.kept()).map(|(c, _)| *c).collect();
        self.damaged(seen, &lost)
    }

    /// Addresses repeat with this period. What lies inside one of them?
    fn folded(mut self, period: u64, mut seen: Vec<(Claim, State)>) -> Result<Outcome, Stop> {
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
    fn damaged(mut self, mut seen: Vec<(Claim, State)>, lost: &[Claim]) -> Result<Outcome, Stop> {
        let pieces: Vec<Piece> = lost.iter().take(64).map(|c| c.piece).collect();
        let again = observe(&mut self.ground, &pieces, &self.flood)?;
        let still = again.iter().any(|(_, s)| !s.kept());
        seen.extend(again);
        Ok(self.losses(&seen, still))
    }

    /// Not one block was kept: worn out to read-only, or dead?
    fn keeps_nothing(self, seen: &[(Claim, State)]) -> Result<Outcome, Stop> {
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
        let mut ranges = super::ranges::Ranges::default();
        seen.iter().filter(|(_, s)| s.kept()).for_each(|(c, _)| ranges.add(c.piece));
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
