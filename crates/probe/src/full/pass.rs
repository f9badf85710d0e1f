//! One full pass, phase after phase.

use super::chart::Chart;
use super::confirm;
use super::findings::{BadBytes, Findings, Settings};
use super::judge::{Judgement, Seen, judge, wrap};
use super::ledger::Ledger;
use super::originals::Originals;
use super::patience::Patience;
use super::reading::{Reader, STRETCH, Stamped, read_judged};
use super::samples::{SAMPLE, Stretches, Watchman};
use super::sentinels;
use super::suspicion::{Certain, Suspicion};
use cardscope_engine::card::{Card, Extent, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::event::Listener;
use cardscope_engine::target::TargetError;
use cardscope_model::units::Capacity;
use cardscope_model::verify::{Disproof, Verdict};
use std::cell::Cell;

/// The write of the pass itself; sentinels come before, confirmations after.
pub(super) const GENERATION: u32 = 1;

/// Bytes that are read back at once to know how fast the card reads, for plan and budget.
const FIRST_READ: u64 = 16 << 20;

/// As many sentinels are written as can be read in this share of a budget.
const SENTINELS_SHARE: f64 = 0.1;

/// Share of a budget that writing may take before it is known how fast the card reads.
const UNKNOWN_READS_SHARE: f64 = 0.4;

/// Confidence in an answer of which a part was not asked for.
const CUT_SHORT: f64 = 0.8;

pub(super) struct Pass<'a, 't> {
    pub(super) card: &'a mut Card<'t>,
    pub(super) watch: &'a mut dyn Listener,
    pub(super) settings: Settings,
    pub(super) ledger: Ledger,
    pub(super) chart: Chart,
    pub(super) seen: Seen,
    /// The write whose stamps are expected.
    pub(super) generation: u32,
    pub(super) originals: Originals,
    pub(super) disproofs: Vec<Disproof>,
    pub(super) hidden: u64,
    pub(super) remarks: Vec<String>,
    pub(super) began: f64,
    /// MB/s of the first read.
    pub(super) reads_at: Option<f64>,
    /// Who looked at the samples while all was written, and the last stretch after which it did.
    pub(super) watchman: Option<(Watchman, u64)>,
    /// The limits left a question open.
    pub(super) cut_short: bool,
    /// What is left of it for what fails.
    pub(super) patience: Patience,
    /// Something new stayed beyond what was written while something older was lost: no pool has run out.
    pub(super) takes_new: bool,
    /// A cache may answer for some of what is taken for good.
    pub(super) good_unknown: bool,
}

impl<'a, 't> Pass<'a, 't> {
    pub(super) fn new(card: &'a mut Card<'t>, settings: Settings, watch: &'a mut dyn Listener) -> Self {
        let bytes = card.bytes();
        let began = card.seconds();
        Pass {
            card,
            watch,
            settings,
            ledger: Ledger::default(),
            chart: Chart::new(bytes),
            seen: Seen { card_bytes: bytes, written: settings.resumed_at, ..Seen::default() },
            generation: GENERATION,
            originals: Originals::default(),
            disproofs: Vec::new(),
            hidden: 0,
            remarks: Vec::new(),
            began,
            reads_at: None,
            watchman: None,
            cut_short: false,
            patience: Patience::of_a_pass(settings.budget_s),
            takes_new: false,
            good_unknown: false,
        }
    }

    pub(super) fn run(&mut self, written: &mut dyn FnMut(u64)) -> Result<(), Stop> {
        let mut places = sentinels::places(self.seen.card_bytes, self.settings.salt);
        let room = (self.remaining().room(self.card) / 4 / SAMPLE).min(self.sentinels_in_time(&places)?);
        places.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        if self.settings.resumed_at == 0 {
            self.originals = Originals::read(self.card, &places)?;
            sentinels::write(self.card, &places, self.settings.salt)?;
        }
        self.write_all(&places, written)?;
        self.card.reopen()?;
        match self.seen.certain {
            Some(Certain::EndsAt(end)) => self.look_beyond(end, &places)?,
            Some(Certain::Wraps) => self.look_at_the_tops()?,
            _ => {}
        }
        self.read_all(self.seen.written)?;
        self.ask_again(&places)
    }

    /// How many sentinels a budget buys, as the first of them shows.
    fn sentinels_in_time(&mut self, places: &[Extent]) -> Result<u64, Stop> {
        let Some(budget) = self.settings.budget_s else { return Ok(u64::MAX) };
        let began = self.card.seconds();
        self.card.read(places.iter().take(1).copied(), Content::Buffer, |_, _, _| Ok(()))?;
        let took = self.card.seconds() - began;
        Ok((budget * SENTINELS_SHARE / took.max(1e-9)) as u64)
    }

    /// The time is over in the middle of something.
    pub(super) fn is_over(&mut self) {
        self.cut_short = true;
        self.remarks.push("stopped early by --budget; some checks were not run".to_owned());
    }

    pub(super) fn stamped(&self) -> Stamped {
        Stamped { salt: self.settings.salt, generation: self.generation }
    }

    fn elapsed(&mut self) -> f64 {
        self.card.seconds() - self.began
    }

    /// Writes stretch after stretch until the end, a certainty, or the limits.
    fn write_all(&mut self, places: &[Extent], written: &mut dyn FnMut(u64)) -> Result<(), Stop> {
        let stretches = Stretches::of(self.seen.card_bytes);
        let mut watchman = Watchman::new(stretches, self.stamped());
        let mut suspicion = Suspicion::default();
        let first = self.settings.resumed_at / stretches.bytes;
        let count = self.seen.card_bytes.div_ceil(stretches.bytes);
        self.watch.phase("writing every block", Some(self.seen.card_bytes), None);
        let phase = self.card.seconds();
        for index in first..count {
            let (from, to) = stretches.range(index);
            let from = from.max(self.settings.resumed_at);
            let to = self.allowed(from, to);
            if from < to {
                let to = self.write_stretch(from, to, phase)?;
                self.seen.written = to;
                written(to);
            }
            if self.seen.written < stretches.range(index).1 || self.seen.certain.is_some() {
                break;
            }
            if index == first {
                self.plan(from, to)?;
            }
            if !self.settings.two_passes {
                let bad = watchman.look(self.card, index)?;
                self.watchman = Some((watchman.clone(), index));
                let (card, end) = (&mut *self.card, self.seen.written);
                let certain = suspicion.judge(card, &bad, end, stretches, watchman_stamps(self.settings))?;
                self.seen.certain = match certain {
                    Some(Certain::EndsAt(_)) if !self.surely_ends(places)? => None,
                    other => other,
                };
                if let Some(address) = suspicion.news() {
                    self.watch.note(&format!(
                        "what was written is not there any more at {}; writing goes on until it is certain what that means",
                        Capacity(address)
                    ));
                }
            }
            if self.seen.certain.is_some() {
                break;
            }
        }
        self.tell_why_it_ends();
        Ok(())
    }

    fn tell_why_it_ends(&mut self) {
        let written = Capacity(self.seen.written);
        let text = match self.seen.certain {
            Some(Certain::Wraps) => format!(
                "certain by now: after {written} the first addresses hold what was written to later ones; nothing more is \
                 written, what is there is read in whole"
            ),
            Some(Certain::EndsAt(end)) => format!(
                "certain by now: after {written} nothing beyond {} stays; nothing more is written in order, what is there \
                 is read in whole",
                Capacity(end)
            ),
            Some(Certain::Refuses) => {
                format!("the card refuses every write after {written}; it is read in whole")
            }
            None if self.seen.written < self.seen.card_bytes => {
                format!("the limit ends the writing after {written}; that much is read back")
            }
            None => return,
        };
        self.watch.note(&text);
        self.remarks.push(text);
    }

    /// How much of a stretch the limits allow.
    fn allowed(&mut self, from: u64, to: u64) -> u64 {
        let sector = u64::from(self.card.sector());
        let left = self.remaining().in_order(self.card) / sector * sector;
        let to = from.saturating_add(left).min(to);
        let needed = self.elapsed() + self.reading_time(from);
        match self.settings.budget_s {
            Some(budget) if needed >= budget => from,
            _ => to,
        }
    }

    /// Seconds that reading so many bytes back will take, with a tenth to spare.
    fn reading_time(&self, bytes: u64) -> f64 {
        self.reads_at.map_or(0.0, |mb_s| bytes as f64 / 1e6 / mb_s * 1.1)
    }

    /// Writes a stretch, or what of it the budget has time for; gives its end.
    fn write_stretch(&mut self, from: u64, to: u64, phase: f64) -> Result<u64, Stop> {
        let over = Cell::new(false);
        // As long as it is not known how fast the card reads, half of the time is for that.
        let share = if self.reads_at.is_some() { 1.0 } else { UNKNOWN_READS_SHARE };
        let until = self.settings.budget_s.map(|budget| self.began + budget * share);
        let (chart, watch) = (&mut self.chart, &mut *self.watch);
        chart.write.resume(self.card.now());
        let content = Stamped { salt: self.settings.salt, generation: GENERATION }.content();
        let mut failed: Vec<Extent> = Vec::new();
        let mut reached = from;
        let block = self.card.block();
        let list = extents(from, to, block).take_while(|_| !over.get());
        self.card.write(list, content, |extent, at, io_error| {
            over.set(until.is_some_and(|until| at as f64 / 1e9 >= until));
            match io_error {
                None => chart.write.ended(extent.offset, u64::from(extent.len), at),
                Some(_) => {
                    chart.error(extent.offset);
                    failed.push(extent);
                }
            }
            reached = reached.max(extent.end());
            watch.progress(reached, at as f64 / 1e9 - phase);
        })?;
        let all = failed.len() as u64 >= (to - from).div_ceil(u64::from(block)) && failed.len() > 1;
        if !self.write_stubborn(&failed)? && all {
            self.seen.certain = Some(Certain::Refuses);
        }
        self.card.flush()?;
        Ok(reached)
    }

    /// Reads the first MiBs back and says what is to come.
    fn plan(&mut self, from: u64, to: u64) -> Result<(), Stop> {
        let end = to.min(from + FIRST_READ);
        let (began, block) = (self.card.seconds(), self.card.block());
        let stamped = self.stamped();
        read_judged(self.card, extents(from, end, block), stamped, |_, _, _| ())?;
        let took = self.card.seconds() - began;
        let reads = (end - from) as f64 / 1e6 / took.max(1e-9);
        self.reads_at = Some(reads);
        let Some(writes) = self.chart.write.mb_s() else { return Ok(()) };
        let left = self.settings.max_write.unwrap_or(u64::MAX).min(self.seen.card_bytes - to);
        let seconds = left as f64 / 1e6 / writes + (to + left) as f64 / 1e6 / reads;
        self.watch.note(&format!(
            "plan: {} to write at {writes:.1} MB/s and {} to read at {reads:.1} MB/s, about {}",
            Capacity(left),
            Capacity(to + left),
            duration(seconds)
        ));
        Ok(())
    }

    /// Reads `[0, end)`.
    pub(super) fn read_all(&mut self, end: u64) -> Result<(), Stop> {
        self.watch.phase("reading every block", Some(end), None);
        let phase = self.card.seconds();
        let stamped = self.stamped();
        let (began, budget) = (self.began, self.settings.budget_s);
        let patience = &mut self.patience;
        let mut reader =
            Reader::new(self.card, self.watch, stamped, &mut self.ledger, &mut self.chart, patience);
        let mut at = 0;
        while at < end {
            if budget.is_some_and(|budget| reader.card.seconds() - began >= budget) {
                let text = format!("the budget ends the reading after {}", Capacity(at));
                reader.watch.note(&text);
                self.remarks.push(text);
                break;
            }
            let to = (at + STRETCH).min(end);
            reader.stretch(at, to, at, phase)?;
            at = to;
            self.seen.read_to = at;
        }
        Ok(())
    }

    /// Reads `[0, end)` and asks nothing that would need a write.
    pub(super) fn look_only(&mut self, end: u64) -> Result<(), Stop> {
        self.read_all(end)?;
        self.seen.wrap = wrap(&self.ledger, &self.seen);
        self.ledger.others_are_losses(self.seen.wrap);
        (self.disproofs, _) = confirm::third_time(self.card, &self.ledger, self.settings.salt, None)?;
        Ok(())
    }

    /// What was not asked weakens the answer; and what another card answered, or one that changed, says nothing of
    /// this one.
    fn weaken(&self, judged: &mut Judgement, stop: Option<&Stop>) {
        if self.cut_short {
            judged.confidence = judged.confidence.min(CUT_SHORT);
        }
        if self.good_unknown {
            judged.good = None;
        }
        if matches!(stop, Some(Stop::Swapped(_) | Stop::Target(TargetError::Changed { .. }))) {
            *judged = Judgement {
                verdict: Verdict::Inconclusive,
                usable: None,
                good: None,
                wrap: None,
                confidence: 0.0,
            };
        }
    }

    /// The document's part, however it ended.
    pub(super) fn finish(mut self, stop: Option<Stop>) -> Findings {
        let flushes_and_errors = self.card.io_error_count();
        self.seen.wavers = flushes_and_errors + self.ledger.passing;
        if self.seen.wrap.is_none() && self.seen.read_to > 0 {
            self.seen.wrap = wrap(&self.ledger, &self.seen);
            self.ledger.others_are_losses(self.seen.wrap);
        }
        let mut judged = judge(&self.ledger, &self.seen);
        self.weaken(&mut judged, stop.as_ref());
        let proven = match judged.verdict {
            Verdict::Overcommitted | Verdict::Wraparound | Verdict::Chain => judged.good.unwrap_or(0),
            _ => self.ledger.good(),
        };
        Findings {
            verdict: judged.verdict,
            usable_bytes: judged.usable,
            good_bytes: judged.good,
            proven_bytes: proven,
            wrap_bytes: judged.wrap,
            cache_bytes: (self.hidden > 0).then_some(self.hidden),
            confidence: judged.confidence,
            disproofs: self.disproofs,
            bad: BadBytes {
                lost: self.ledger.lost,
                alias: self.ledger.alias,
                flipped: self.ledger.flipped,
                failed: self.ledger.failed,
                foreign: self.ledger.foreign,
                passing_sectors: self.ledger.passing,
            },
            map: self.chart.finish(),
            written_to: self.seen.written,
            read_to: self.seen.read_to,
            remarks: self.remarks,
            stop,
        }
    }
}

fn watchman_stamps(settings: Settings) -> Stamped {
    Stamped { salt: settings.salt, generation: GENERATION }
}

/// A time in words, for the plan.
fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 90.0 => format!("{:.0} min", s / 60.0),
        s => format!("{s:.0} s"),
    }
}
