//! Full test: writes every block and reads it back, the only proof of a capacity
//! (docs/reference/flash.md#fake-cards).
//!
//! Ranges are written in order. Samples of older ranges are read after each, so that a fake shows early. Then
//! everything is read regardless of the samples, and bad sectors are tested again.

mod cache_eviction;
#[cfg(test)]
mod device_tests;
mod further_checks;
mod pass_verdict;
#[cfg(test)]
mod property_tests;
mod read_back;
mod samples;
mod speed_chart;
#[cfg(test)]
mod tests;
mod writing;

use crate::probe::Result;
use cardscope_engine::byte_ranges::ByteRanges;
use cardscope_engine::content::IoContent;
use cardscope_engine::event::Listener;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop};
use cardscope_engine::target::TargetError;
use cardscope_model::units::{DecimalSize, seconds_to_nanos};
use cardscope_model::verify::{AddressDisproof, Verdict, Verification};
use cardscope_probing::bad_ranges::BadRanges;
use cardscope_probing::previous_pass::SENTINEL_GENERATION;
use cardscope_probing::reading::{ExpectedStamps, RetryBudget};
use cardscope_probing::sector::SECTOR;
use pass_verdict::{PassEvidence, WriteEnd, judge_pass, wrap_period};
use samples::{OriginalHashes, SAMPLE_BYTES, SampleChecker};
use speed_chart::PassChart;

pub use cardscope_probing::bad_ranges::BadBytes;
pub use read_back::READING;
pub use writing::WRITING;

/// Writes and reads the whole card. `written` is called with the bytes that are safely on the card so far. The
/// reason of an early end is in [`PassFindings::stop`], with all findings until then.
pub fn verify_card(
    card: &mut IoDriver<'_>,
    settings: &PassSettings,
    written: &mut dyn FnMut(u64),
    events: &mut dyn Listener,
) -> PassFindings {
    let end = settings.budget_s.map(|budget| seconds_to_nanos(card.seconds() + budget));
    card.set_deadline(end);
    let mut pass = FullPass::new(card, *settings, events);
    let stop = match pass.run(written) {
        Err(ProbeStop::Limit) => {
            pass.record_time_limit();
            None
        }
        ended => ended.err(),
    };
    let findings = pass.finish(stop);
    card.set_deadline(None);
    findings
}

/// Reads data of an earlier pass again without writing. Other data may have been written by anyone since, so it
/// does not accuse the card.
pub fn recheck_card(
    card: &mut IoDriver<'_>,
    previous: &cardscope_probing::previous_pass::PreviousPass,
    budget_s: Option<f64>,
    events: &mut dyn Listener,
) -> PassFindings {
    let (salt, reached) = (previous.salt, previous.reached);
    let settings = PassSettings { salt, two_passes: true, resumed_at: reached, budget_s, max_write: None };
    let card_bytes = card.bytes();
    let mut pass = FullPass::new(card, settings, events);
    pass.evidence.recheck = true;
    pass.generation = previous.generation;
    let stop = pass.read_without_writing(reached).err();
    let mut findings = pass.finish(stop);
    if reached < card_bytes {
        let text = format!("the earlier pass ended at {}; nothing beyond was read", DecimalSize(reached));
        findings.remarks.push(text);
    }
    findings
}

/// Generation of the pass's own stamps; sentinels are written before, confirmations after.
const GENERATION: u32 = 1;

/// Share of the time budget for reading sentinels, which limits their number.
const SENTINELS_SHARE: f64 = 0.1;

/// Highest confidence if some checks were not run.
const CUT_SHORT_CONFIDENCE: f64 = 0.8;

/// Bytes of the write limit that are reserved for short checks after a loss.
const RESERVED_BYTES: u64 = 64 << 10;

const MIN_LIMIT_TO_RESERVE: u64 = 1 << 20;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassSettings {
    /// Distinguishes the stamps of this pass from those of others.
    pub salt: u64,
    /// Writes everything before reading anything.
    pub two_passes: bool,
    /// Bytes from 0 that an interrupted pass with this salt has written.
    pub resumed_at: u64,
    /// Time budget, in seconds on the card's clock.
    pub budget_s: Option<f64>,
    pub max_write: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct PassFindings {
    /// Verdict with its evidence and the speed map.
    pub body: Verification,
    pub bad: BadBytes,
    /// Bytes written from 0, including those of a resumed pass.
    pub written_to: u64,
    /// Bytes read back from 0.
    pub read_to: u64,
    /// Remarks for the document, in whole sentences.
    pub remarks: Vec<String>,
    /// Reason of an early end.
    pub stop: Option<ProbeStop>,
}

struct FullPass<'a, 't> {
    card: &'a mut IoDriver<'t>,
    events: &'a mut dyn Listener,
    settings: PassSettings,
    ledger: BadRanges,
    chart: PassChart,
    evidence: PassEvidence,
    /// Generation of the expected stamps.
    generation: u32,
    originals: OriginalHashes,
    disproofs: Vec<AddressDisproof>,
    hidden_by_cache: u64,
    remarks: Vec<String>,
    began: f64,
    /// MB/s of the first read.
    read_mb_s: Option<f64>,
    sample_checker: SampleChecker,
    /// Lowest address of a lost sample, and true once it was reported.
    lowest_lost: Option<u64>,
    loss_reported: bool,
    /// Sectors that were wrong before everything was read.
    misread: ByteRanges,
    /// True if limits prevented a check.
    cut_short: bool,
    /// Time left for failing reads.
    patience: RetryBudget,
    /// Number of times that the card was reopened because of bad sectors.
    reopenings: u32,
    /// True if new data beyond the written range was kept while older data was lost, so no pool is used up.
    keeps_new: bool,
    /// True if a cache may hold some of the data that counts as good.
    is_good_unknown: bool,
}

impl<'a, 't> FullPass<'a, 't> {
    fn new(card: &'a mut IoDriver<'t>, settings: PassSettings, events: &'a mut dyn Listener) -> Self {
        let (bytes, began, written) = (card.bytes(), card.seconds(), settings.resumed_at);
        let stamps = ExpectedStamps { salt: settings.salt, generation: GENERATION };
        FullPass {
            card,
            events,
            settings,
            ledger: BadRanges::default(),
            chart: PassChart::new(bytes),
            evidence: PassEvidence {
                card_bytes: bytes,
                written,
                accepted_to: written,
                ..PassEvidence::default()
            },
            generation: GENERATION,
            originals: OriginalHashes::default(),
            disproofs: Vec::new(),
            hidden_by_cache: 0,
            remarks: Vec::new(),
            began,
            read_mb_s: None,
            sample_checker: SampleChecker::new(bytes, stamps),
            lowest_lost: None,
            loss_reported: false,
            misread: ByteRanges::default(),
            cut_short: false,
            patience: RetryBudget::for_pass(settings.budget_s),
            reopenings: 0,
            keeps_new: false,
            is_good_unknown: false,
        }
    }

    fn run(&mut self, written: &mut dyn FnMut(u64)) -> Result<()> {
        let mut places = samples::sentinel_places(self.evidence.card_bytes, self.settings.salt);
        let room = (self.remaining_bytes() / 4 / SAMPLE_BYTES).min(self.affordable_sentinels(&places)?);
        places.truncate(usize::try_from(room).unwrap_or(usize::MAX));
        // A resumed pass has its sentinels on the card already.
        if self.settings.resumed_at == 0 {
            self.originals = OriginalHashes::read(self.card, &places)?;
            self.write_stamps(places.iter().copied(), SENTINEL_GENERATION)?;
        }
        self.write_all(&places, written)?;
        self.card.reopen()?;
        match self.evidence.write_end {
            Some(WriteEnd::EndsAt(end)) => self.check_beyond_end(end, &places)?,
            Some(WriteEnd::AddressesRepeat) => self.check_period_ends()?,
            _ => {}
        }
        self.read_all(self.evidence.written)?;
        self.run_further_checks(&places)
    }

    /// Number of sentinels within the time budget, estimated from the first read.
    fn affordable_sentinels(&mut self, places: &[CardExtent]) -> Result<u64> {
        let Some(budget) = self.settings.budget_s else { return Ok(u64::MAX) };
        let began = self.card.seconds();
        self.card.read(places.iter().take(1).copied(), IoContent::Buffer, |_, _, _| Ok(()))?;
        let took = self.card.seconds() - began;
        Ok((budget * SENTINELS_SHARE / took.max(1e-9)) as u64)
    }

    fn stamps_of(&self, generation: u32) -> ExpectedStamps {
        ExpectedStamps { salt: self.settings.salt, generation }
    }

    fn expected_stamps(&self) -> ExpectedStamps {
        self.stamps_of(self.generation)
    }

    /// Writes stamps and flushes. Failed writes show when the data is read.
    fn write_stamps(&mut self, extents: impl IntoIterator<Item = CardExtent>, generation: u32) -> Result<()> {
        let (content, taken_to) = (self.stamps_of(generation).content(), &mut self.evidence.accepted_to);
        self.card.write(extents, content, |extent, _, io_error| {
            if io_error.is_none() {
                *taken_to = extent.end().max(*taken_to);
            }
        })?;
        self.card.flush()
    }

    fn deadline_s(&self) -> Option<f64> {
        self.settings.budget_s.map(|budget| self.began + budget)
    }

    fn has_time(&mut self, seconds: f64) -> bool {
        self.deadline_s().is_none_or(|until| self.card.seconds() + seconds < until)
    }

    /// Bytes, in whole sectors, that `--max-write` and `--budget` allow to write and read again. A check without
    /// room is skipped, and the result says so.
    fn remaining_bytes(&mut self) -> u64 {
        let written = self.card.tally().written;
        let left = self.settings.max_write.map_or(u64::MAX, |most| most.saturating_sub(written));
        let sector = u64::from(self.card.sector());
        left.min(self.bytes_in_time()) / sector * sector
    }

    /// Bytes that can be written and read again in the remaining time, at the speeds measured so far.
    fn bytes_in_time(&mut self) -> u64 {
        let Some(until) = self.deadline_s() else { return u64::MAX };
        let seconds = |mb_s: Option<f64>| mb_s.map_or(0.0, |mb_s| 1.0 / (mb_s * 1e6));
        let left = until - self.card.seconds();
        match seconds(self.chart.write.mb_s()) + seconds(self.read_mb_s) {
            _ if left <= 0.0 => 0,
            each if each > 0.0 => (left / each) as u64,
            _ => u64::MAX,
        }
    }

    fn remaining_sequential_bytes(&self) -> u64 {
        let Some(most) = self.settings.max_write else { return u64::MAX };
        let left_over = if most >= MIN_LIMIT_TO_RESERVE { RESERVED_BYTES } else { 0 };
        most.saturating_sub(self.card.tally().written).saturating_sub(left_over)
    }

    fn record_time_limit(&mut self) {
        self.cut_short = true;
        self.remarks.push("--budget ended the test early; some checks were not run".to_owned());
    }

    fn record_check(&mut self, what: &str, whole: bool) {
        if !whole {
            self.cut_short = true;
            self.remarks.push(format!("not tested because of --max-write or --budget: {what}"));
        }
    }

    /// Determines the period of repeating addresses and reclassifies the losses that follow from it.
    fn find_wrap(&mut self) {
        self.evidence.wrap = wrap_period(&self.ledger, &self.evidence);
        self.ledger.reclassify_aliases(self.evidence.wrap);
    }

    /// Lowers the confidence for checks that were not run, which are all of them if the pass was stopped after
    /// losses. Data of another card leaves no verdict at all.
    fn lower_confidence(&self, judged: &mut Verification, stop: Option<&ProbeStop>) {
        let unasked = stop.is_some() && self.ledger.bad.total() > 0;
        if self.cut_short || unasked {
            judged.confidence = judged.confidence.min(CUT_SHORT_CONFIDENCE);
        }
        if self.is_good_unknown || unasked {
            judged.good_bytes = None;
        }
        if is_swapped(stop) {
            // Inconclusive, without any confidence.
            *judged = Verification::default();
        }
    }

    /// Bytes that were wrong at first and right when everything was read.
    fn recovered_bytes(&self) -> u64 {
        let read = self.misread.iter().filter(|(_, end)| *end <= self.evidence.read_to);
        read.map(|(start, end)| self.ledger.good_bytes(start, end)).sum()
    }

    /// Builds the results, however the pass ended.
    fn finish(mut self, stop: Option<ProbeStop>) -> PassFindings {
        self.ledger.bad.passing_sectors += self.recovered_bytes() / SECTOR as u64;
        self.evidence.passing_sectors = self.ledger.bad.passing_sectors;
        if self.evidence.wrap.is_none() && self.evidence.read_to > 0 {
            self.find_wrap();
        }
        let mut judged = judge_pass(&self.ledger, &self.evidence);
        self.lower_confidence(&mut judged, stop.as_ref());
        let proven_bytes = match judged.verdict {
            Verdict::Overcommitted | Verdict::Wraparound | Verdict::Chain => judged.good_bytes.unwrap_or(0),
            _ => self.ledger.total_good(),
        };
        // A stopped pass has read its losses twice, which is enough to list them; another card's data proves
        // nothing.
        if self.disproofs.is_empty() {
            self.disproofs = self.listed_disproofs();
        }
        if is_swapped(stop.as_ref()) {
            self.disproofs.clear();
        }
        let body = Verification {
            proven_bytes,
            cache_bytes: (self.hidden_by_cache > 0).then_some(self.hidden_by_cache),
            disproofs: self.disproofs,
            map: Some(self.chart.to_map()),
            ..judged
        };
        PassFindings {
            body,
            bad: self.ledger.bad,
            written_to: self.evidence.written,
            read_to: self.evidence.read_to,
            remarks: self.remarks,
            stop,
        }
    }
}

/// True if the last data may be of another card.
fn is_swapped(stop: Option<&ProbeStop>) -> bool {
    matches!(stop, Some(ProbeStop::Swapped(_) | ProbeStop::Target(TargetError::Changed { .. })))
}
