//! One full pass: what it is given, what it knows so far, and its phases in order.

use super::chart::PassChart;
use super::judge::{PassEvidence, WriteEnd, judge, wrap};
use super::samples::{self, OriginalHashes, SAMPLE, SampleChecker};
use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop};
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Listener;
use cardscope_engine::ranges::ByteRanges;
use cardscope_engine::target::TargetError;
use cardscope_model::verify::{AddressDisproof, Verdict, Verification};
use cardscope_probing::ledger::{BadBytes, BadRanges};
use cardscope_probing::reading::{ExpectedStamps, RetryBudget};
use cardscope_probing::resume::SENTINELS;
use cardscope_probing::sector::SECTOR;

/// The write of the pass itself; sentinels come before, confirmations after.
pub(super) const GENERATION: u32 = 1;

/// As many sentinels are written as can be read in this share of a budget.
const SENTINELS_SHARE: f64 = 0.1;

/// Confidence in an answer of which a part was not asked for.
const CUT_SHORT: f64 = 0.8;

/// Bytes that the writing leaves over, so that the short questions can be asked of a card that lost something.
const FOR_QUESTIONS: u64 = 64 << 10;

/// Limits below this are too small to leave anything over.
const LEAST: u64 = 1 << 20;

/// How a full pass is to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassSettings {
    /// Tells this pass's stamps from those of any other.
    pub salt: u64,
    /// Everything is written before anything is read.
    pub two_passes: bool,
    /// Bytes from 0 that an interrupted pass of this salt has written.
    pub resumed_at: u64,
    /// Seconds of the card's clock in which all must be over.
    pub budget_s: Option<f64>,
    /// Bytes that may be written.
    pub max_write: Option<u64>,
}

/// What a full pass found out.
#[derive(Debug, Clone)]
pub struct PassFindings {
    /// The answer, what it rests on, and the map.
    pub body: Verification,
    /// Bad bytes by kind.
    pub bad: BadBytes,
    /// Bytes from 0 that were written, by this pass or the one that it went on from.
    pub written_to: u64,
    /// Bytes from 0 that were read back.
    pub read_to: u64,
    /// Remarks that belong into the document, in whole sentences.
    pub remarks: Vec<String>,
    /// What ended it before its end.
    pub stop: Option<ProbeStop>,
}

pub(super) struct FullPass<'a, 't> {
    pub(super) card: &'a mut IoDriver<'t>,
    pub(super) events: &'a mut dyn Listener,
    pub(super) settings: PassSettings,
    pub(super) ledger: BadRanges,
    pub(super) chart: PassChart,
    pub(super) seen: PassEvidence,
    /// The write whose stamps are expected.
    pub(super) generation: u32,
    pub(super) originals: OriginalHashes,
    pub(super) disproofs: Vec<AddressDisproof>,
    pub(super) hidden: u64,
    pub(super) remarks: Vec<String>,
    pub(super) began: f64,
    /// MB/s of the first read.
    pub(super) reads_at: Option<f64>,
    /// Looks at the samples while all is written.
    pub(super) watchman: SampleChecker,
    /// The lowest address at which a sample was lost, and whether that was reported.
    pub(super) lowest_lost: Option<u64>,
    pub(super) loss_reported: bool,
    /// What did not read as written before all of it was read.
    pub(super) misread: ByteRanges,
    /// The limits left a question open.
    pub(super) cut_short: bool,
    /// What is left of it for what fails.
    pub(super) patience: RetryBudget,
    /// How often the card was opened again for the sake of bad sectors.
    pub(super) reopenings: u32,
    /// Something new stayed beyond what was written while something older was lost: no pool has run out.
    pub(super) takes_new: bool,
    /// A cache may answer for some of what is taken for good.
    pub(super) good_unknown: bool,
}

impl<'a, 't> FullPass<'a, 't> {
    pub(super) fn new(
        card: &'a mut IoDriver<'t>,
        settings: PassSettings,
        events: &'a mut dyn Listener,
    ) -> Self {
        let bytes = card.bytes();
        let began = card.seconds();
        FullPass {
            card,
            events,
            settings,
            ledger: BadRanges::default(),
            chart: PassChart::new(bytes),
            seen: PassEvidence {
                card_bytes: bytes,
                written: settings.resumed_at,
                taken_to: settings.resumed_at,
                ..PassEvidence::default()
            },
            generation: GENERATION,
            originals: OriginalHashes::default(),
            disproofs: Vec::new(),
            hidden: 0,
            remarks: Vec::new(),
            began,
            reads_at: None,
            watchman: SampleChecker::new(
                bytes,
                ExpectedStamps { salt: settings.salt, generation: GENERATION },
            ),
            lowest_lost: None,
            loss_reported: false,
            misread: ByteRanges::default(),
            cut_short: false,
            patience: RetryBudget::of_a_pass(settings.budget_s),
            reopenings: 0,
            takes_new: false,
            good_unknown: false,
        }
    }

    pub(super) fn run(&mut self, written: &mut dyn FnMut(u64)) -> Result<(), ProbeStop> {
        let mut places = samples::sentinels(self.seen.card_bytes, self.settings.salt);
        let room = (self.room() / 4 / SAMPLE).min(self.sentinels_in_time(&places)?);
        places.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        if self.settings.resumed_at == 0 {
            self.originals = OriginalHashes::read(self.card, &places)?;
            self.write_stamps(places.iter().copied(), SENTINELS)?;
        }
        self.write_all(&places, written)?;
        self.card.reopen()?;
        match self.seen.certain {
            Some(WriteEnd::EndsAt(end)) => self.look_beyond(end, &places)?,
            Some(WriteEnd::Wraps) => self.look_at_the_tops()?,
            _ => {}
        }
        self.read_all(self.seen.written)?;
        self.ask_again(&places)
    }

    /// How many sentinels a budget buys, as the first of them shows.
    fn sentinels_in_time(&mut self, places: &[CardExtent]) -> Result<u64, ProbeStop> {
        let Some(budget) = self.settings.budget_s else { return Ok(u64::MAX) };
        let began = self.card.seconds();
        self.card.read(places.iter().take(1).copied(), IoContent::Buffer, |_, _, _| Ok(()))?;
        let took = self.card.seconds() - began;
        Ok((budget * SENTINELS_SHARE / took.max(1e-9)) as u64)
    }

    /// The stamps of one write of this pass.
    pub(super) fn stamps(&self, generation: u32) -> ExpectedStamps {
        ExpectedStamps { salt: self.settings.salt, generation }
    }

    /// The stamps that are expected.
    pub(super) fn stamped(&self) -> ExpectedStamps {
        self.stamps(self.generation)
    }

    /// Writes stamps to extents and has the card store them; what fails shows when they are read.
    pub(super) fn write_stamps(
        &mut self,
        extents: impl IntoIterator<Item = CardExtent>,
        generation: u32,
    ) -> Result<(), ProbeStop> {
        let (content, taken_to) = (self.stamps(generation).content(), &mut self.seen.taken_to);
        self.card.write(extents, content, |extent, _, io_error| {
            if io_error.is_none() {
                *taken_to = extent.end().max(*taken_to);
            }
        })?;
        self.card.flush()
    }

    /// When nothing new begins, in seconds of the card's clock.
    pub(super) fn until(&self) -> Option<f64> {
        self.settings.budget_s.map(|budget| self.began + budget)
    }

    /// Whether so many seconds are left.
    pub(super) fn has_time(&mut self, seconds: f64) -> bool {
        self.until().is_none_or(|until| self.card.seconds() + seconds < until)
    }

    /// Bytes that `--max-write` and `--budget` leave to be written and read again, in whole sectors. A question that
    /// there is no room for is not asked, and the answer says so.
    pub(super) fn room(&mut self) -> u64 {
        let written = self.card.tally().written;
        let left = self.settings.max_write.map_or(u64::MAX, |most| most.saturating_sub(written));
        let sector = u64::from(self.card.sector());
        left.min(self.room_in_time()) / sector * sector
    }

    /// Bytes that there is time for, as far as it is known how long they take to be written and read again.
    fn room_in_time(&mut self) -> u64 {
        let Some(until) = self.until() else { return u64::MAX };
        let seconds = |mb_s: Option<f64>| mb_s.map_or(0.0, |mb_s| 1.0 / (mb_s * 1e6));
        let left = until - self.card.seconds();
        match seconds(self.chart.write.mb_s()) + seconds(self.reads_at) {
            _ if left <= 0.0 => 0,
            each if each > 0.0 => (left / each) as u64,
            _ => u64::MAX,
        }
    }

    /// Bytes that may still be written in order.
    pub(super) fn room_in_order(&self) -> u64 {
        let Some(most) = self.settings.max_write else { return u64::MAX };
        let left_over = if most >= LEAST { FOR_QUESTIONS } else { 0 };
        most.saturating_sub(self.card.tally().written).saturating_sub(left_over)
    }

    /// The time is over in the middle of something.
    pub(super) fn is_over(&mut self) {
        self.cut_short = true;
        self.remarks.push("--budget ended the test early; some checks were not run".to_owned());
    }

    /// A question that was not asked in whole stands in the document.
    pub(super) fn asked(&mut self, what: &str, whole: bool) {
        if !whole {
            self.cut_short = true;
            self.remarks.push(format!("not tested because of --max-write or --budget: {what}"));
        }
    }

    /// In which period addresses repeat, and what is lost for that reason.
    pub(super) fn find_wrap(&mut self) {
        self.seen.wrap = wrap(&self.ledger, &self.seen);
        self.ledger.others_are_losses(self.seen.wrap);
    }

    /// What was not asked weakens the answer: all of the questions where losses were seen before the pass was stopped.
    /// And what another card answered, or one that changed, says nothing of this one.
    fn weaken(&self, judged: &mut Verification, stop: Option<&ProbeStop>) {
        let unasked = stop.is_some() && self.ledger.bad.all() > 0;
        if self.cut_short || unasked {
            judged.confidence = judged.confidence.min(CUT_SHORT);
        }
        if self.good_unknown || unasked {
            judged.good_bytes = None;
        }
        if is_of_another(stop) {
            // Inconclusive, without any confidence.
            *judged = Verification::default();
        }
    }

    /// Bytes that did not read as written at first, and did when all was read.
    fn came_back(&self) -> u64 {
        let read = self.misread.iter().filter(|(_, end)| *end <= self.seen.read_to);
        read.map(|(start, end)| self.ledger.good_bytes(start, end)).sum()
    }

    /// The document's part, however it ended.
    pub(super) fn finish(mut self, stop: Option<ProbeStop>) -> PassFindings {
        self.ledger.bad.passing_sectors += self.came_back() / SECTOR as u64;
        self.seen.wavers = self.ledger.bad.passing_sectors;
        if self.seen.wrap.is_none() && self.seen.read_to > 0 {
            self.find_wrap();
        }
        let mut judged = judge(&self.ledger, &self.seen);
        self.weaken(&mut judged, stop.as_ref());
        let proven_bytes = match judged.verdict {
            Verdict::Overcommitted | Verdict::Wraparound | Verdict::Chain => judged.good_bytes.unwrap_or(0),
            _ => self.ledger.good(),
        };
        // One that was stopped before it asked a third time has seen them twice; another card has no disproofs.
        if self.disproofs.is_empty() {
            self.disproofs = self.listed();
        }
        if is_of_another(stop.as_ref()) {
            self.disproofs.clear();
        }
        let body = Verification {
            proven_bytes,
            cache_bytes: (self.hidden > 0).then_some(self.hidden),
            disproofs: self.disproofs,
            map: Some(self.chart.finish()),
            ..judged
        };
        PassFindings {
            body,
            bad: self.ledger.bad,
            written_to: self.seen.written,
            read_to: self.seen.read_to,
            remarks: self.remarks,
            stop,
        }
    }
}

/// What was seen last may be of another card.
fn is_of_another(stop: Option<&ProbeStop>) -> bool {
    matches!(stop, Some(ProbeStop::Swapped(_) | ProbeStop::Target(TargetError::Changed { .. })))
}
