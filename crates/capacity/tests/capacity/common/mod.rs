//! Quick probes of simulated cards.

use cardscope_capacity::probe::quick::{QuickOptions, QuickOutcome, probe_card};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, IoTally};
use cardscope_engine::target::{Target, TargetRegion};
use cardscope_model::verify::{ErrorPattern, IoCounts, Verification};
use cardscope_probing::context::ProbeLimits;
use cardscope_probing::io_size::{PROBE_BLOCK, PROBE_DEPTH};
use cardscope_simulator::SimTarget;

/// Outcome and cost of a probe, with the card's true properties.
#[derive(Debug)]
pub(crate) struct ProbedCard {
    pub(crate) name: String,
    pub(crate) outcome: Verification,
    pub(crate) cut_short: bool,
    pub(crate) tally: IoTally,
    pub(crate) counts: IoCounts,
    pub(crate) seconds: f64,
    pub(crate) verdict: String,
    pub(crate) usable: u64,
    pub(crate) good: u64,
    pub(crate) announced: u64,
}

/// Options of a probe of the whole card without limits.
pub(crate) fn options(thorough: bool, seed: u64) -> QuickOptions {
    let region = TargetRegion { start: 0, len: u64::MAX };
    QuickOptions { thorough, limits: ProbeLimits { seed, region, max_write: None, budget: None } }
}

/// Probes a simulated card in virtual time without saving its data.
pub(crate) fn probe_erasing(name: &str, options: &QuickOptions) -> ProbedCard {
    let mut target = SimTarget::open_named(name).unwrap_or_else(|e| panic!("{name}: {e}"));
    let verdict = serde_json::to_value(target.truth().verdict).unwrap().as_str().unwrap().to_owned();
    let (usable, good) = (target.truth().usable_bytes, target.truth().good_bytes);
    let announced = target.info().bytes;
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), PROBE_BLOCK, PROBE_DEPTH).unwrap();
    let QuickOutcome { body: mut outcome, cut_short, .. } =
        probe_card(&mut card, None, options, &mut Silent).unwrap();
    let (tally, counts, seconds) = (card.tally(), card.counts(), card.seconds());
    // As in the verb after the restoration.
    let pattern = ErrorPattern::from_errors(counts, card.io_errors(), Some(announced));
    let before = outcome.verdict;
    outcome.verdict = before.with_errors(1.0, pattern, false).0;
    if outcome.verdict != before {
        outcome.usable_bytes = None;
    }
    ProbedCard {
        name: name.to_owned(),
        outcome,
        cut_short,
        tally,
        counts,
        seconds,
        verdict,
        usable,
        good,
        announced,
    }
}

impl ProbedCard {
    /// Description of a wrong answer. `None` if the verdict is right, and the usable bytes are within 1 MiB where
    /// they can be determined.
    pub(crate) fn mistake(&self) -> Option<String> {
        let outcome = &self.outcome;
        let unknown = ["damaged", "unstable", "overcommitted"].contains(&self.verdict.as_str());
        let usable = match outcome.usable_bytes {
            Some(bytes) => bytes.abs_diff(self.usable) <= 1 << 20,
            None => unknown,
        };
        (outcome.verdict.word() != self.verdict || !usable).then(|| self.summary())
    }

    /// Reported and true properties in one line.
    pub(crate) fn summary(&self) -> String {
        let outcome = &self.outcome;
        format!(
            "{}: {} with {:?} usable, {:.3} sure, true is {} with {}; wrap {:?}, cache {:?}, {} MB written, {:.1} s",
            self.name,
            outcome.verdict,
            outcome.usable_bytes,
            outcome.confidence,
            self.verdict,
            self.usable,
            outcome.wrap_bytes,
            outcome.cache_bytes,
            self.tally.written / 1_000_000,
            self.seconds
        )
    }
}
