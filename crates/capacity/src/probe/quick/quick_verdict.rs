//! Verdict of the quick probe, with confidence, detection limit and disproofs.

use super::alias::AddressFold;
use super::stamper::{CheckedClaim, ClaimState, lost_claims};
use super::{MIN_RUN, QUICK_RUN, QuickOutcome, QuickProbe};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::units::{BinarySize, DecimalSize, GIB};
use cardscope_model::verify::{
    AddressDisproof, READS_DIFFER_CONFIDENCE, SURE_CONFIDENCE, SectorFound, Verdict, Verification,
};

const MAX_DISPROOFS: usize = 16;

/// Largest memory on record that a dead card may show instead of flash: addresses with a power of two up to this as
/// period.
const MAX_MEMORY_PERIOD: u64 = 512 << 20;

/// Confidence in a passed test after a shortened run: the weighted share of the caches in public reports (none, 1,
/// 3, 31, 128 and 256 MB; most fakes have none or a small one) that it overflowed.
fn shortened_run_confidence(run: u64) -> f64 {
    const WEIGHED: [(u64, f64); 5] =
        [(QUICK_RUN - (2 << 20), 0.999), (300 << 20, 0.95), (150 << 20, 0.9), (64 << 20, 0.8), (0, 0.5)];
    WEIGHED.iter().find(|(least, _)| run >= *least).map_or(0.5, |(_, sure)| *sure)
}

/// Highest confidence in the kind of fake after an incomplete search.
const UNKNOWN_KIND_CONFIDENCE: f64 = 0.6;

impl QuickProbe<'_, '_> {
    pub(super) fn verification(&self, verdict: Verdict, seen: &[CheckedClaim]) -> Verification {
        Verification {
            verdict,
            proven_bytes: self.proven_bytes(seen),
            confidence: confidence_of(lost_claims(seen).len()),
            disproofs: list_disproofs(seen),
            ..Verification::default()
        }
    }

    /// Outcome of a test that the limits ended too early, with the losses that were read twice.
    pub(super) fn cut_short_outcome(&mut self) -> Verification {
        self.cut_short = true;
        let seen = self.io.losses.clone();
        Verification { confidence: 0.5, ..self.verification(Verdict::Inconclusive, &seen) }
    }

    pub(super) fn genuine_outcome(&self, seen: &[CheckedClaim]) -> Verification {
        // Blocks that were lost and are kept after a rewrite still disprove a good card.
        if !self.io.losses.is_empty() {
            return self.scattered_outcome(&[seen, &self.io.losses].concat(), false);
        }
        let all = self.io.context.card_bytes();
        let (share, changed) = (self.excluded_share(seen), self.io.changed_answers);
        let mut outcome = self.verification(Verdict::Genuine, seen);
        // The run of a genuine card is proven by reads of its oldest and newest blocks.
        let run = self.run.bytes();
        let markers: u64 = self.markers.iter().map(|c| u64::from(c.extent.len)).sum();
        outcome.proven_bytes = run.max(outcome.proven_bytes) + markers + self.range_bytes;
        outcome.excluded_cache_bytes = Some(run);
        outcome.confidence = 0.95_f64.max(1.0 - share.excluded_above);
        let short = self.cut_short && 2 * run < all;
        if short {
            outcome.confidence = outcome.confidence.min(shortened_run_confidence(run));
        }
        outcome.share = Some(share);
        if changed > 0 {
            outcome.verdict = Verdict::Unstable;
            outcome.confidence = confidence_of(changed as usize).max(READS_DIFFER_CONFIDENCE);
        } else if short && run < MIN_RUN || 2 * run < all && share.samples < 4 {
            outcome.verdict = Verdict::Inconclusive;
            outcome.confidence = 0.5;
        } else {
            (outcome.usable_bytes, outcome.good_bytes) = (Some(all), Some(all));
        }
        outcome
    }

    pub(super) fn limbo_outcome(&self, end: Option<u64>, least: u64, seen: &[CheckedClaim]) -> Verification {
        let fails_beyond = !swallows_writes(seen);
        let verdict = if fails_beyond { Verdict::Damaged } else { Verdict::Limbo.ending_at(end) };
        Verification {
            usable_bytes: end,
            good_bytes: end.or(Some(least)),
            cache_bytes: Some(self.flood.bytes()).filter(|bytes| *bytes > 0),
            fails_beyond,
            ..self.verification(verdict, seen)
        }
    }

    pub(super) fn chain_outcome(&self, usable: u64, period: u64, seen: &[CheckedClaim]) -> Verification {
        Verification {
            verdict: Verdict::Chain,
            fails_beyond: false,
            wrap_bytes: Some(period),
            ..self.limbo_outcome(Some(usable), usable, seen)
        }
    }

    /// Outcome if all `inside` markers before the first repetition are kept. `proven` is true if each shows at two
    /// addresses; `run` is the size of the largest cache that cannot hide a loss there.
    pub(super) fn wraparound_outcome(
        &self,
        fold: AddressFold,
        seen: &[CheckedClaim],
        inside: usize,
        (proven, run): (bool, u64),
    ) -> Verification {
        let (all, bytes) = (self.io.context.card_bytes(), fold.bytes());
        let short = bytes.is_power_of_two() && bytes <= MAX_MEMORY_PERIOD && all / bytes >= 16;
        let memory = short && fold == AddressFold::Period(bytes);
        let usable = if memory { 0 } else { bytes };
        let verdict = if memory { Verdict::Dead } else { Verdict::Wraparound.ending_at(Some(bytes)) };
        let is_line = matches!(fold, AddressFold::Line(_));
        let lines = all / (2 * bytes) * bytes + (all % (2 * bytes)).min(bytes);
        let good = if is_line && !memory { lines } else { usable };
        let sure = if proven || 2 * run >= bytes { 0.99 } else { shortened_run_confidence(run) };
        let known = memory || sure >= SURE_CONFIDENCE || !self.cut_short;
        Verification {
            verdict,
            usable_bytes: known.then_some(usable),
            good_bytes: known.then_some(good),
            wrap_bytes: Some(bytes),
            dead_address_line: is_line && verdict == Verdict::Wraparound,
            excluded_cache_bytes: Some(run),
            confidence: confidence_of(inside).min(sure),
            ..self.verification(Verdict::Wraparound, seen)
        }
    }

    pub(super) fn overcommitted_outcome(&self, seen: &[CheckedClaim]) -> Verification {
        let outcome = self.verification(Verdict::Overcommitted, seen);
        Verification { good_bytes: Some(outcome.proven_bytes.max(self.run.bytes() / 2)), ..outcome }
    }

    /// Lowers the confidence if losses are certain but the kind of fake is not.
    pub(super) fn with_unknown_kind(outcome: Verification) -> Verification {
        Verification { confidence: outcome.confidence.min(UNKNOWN_KIND_CONFIDENCE), ..outcome }
    }

    /// Scattered losses; `still` is true if they were lost again after a rewrite.
    pub(super) fn scattered_outcome(&self, seen: &[CheckedClaim], still: bool) -> Verification {
        let share = self.excluded_share(seen);
        let all = self.io.context.card_bytes() as f64;
        // Without a lost marker the run is the only basis for the estimate.
        let run = (lost_claims(seen).len() as u64, seen.len() as u64);
        let (bad, samples) = if share.bad == 0 { run } else { (share.bad, share.samples) };
        let good = (all * (1.0 - bad as f64 / samples.max(1) as f64)) as u64;
        let outcome = self.verification(if still { Verdict::Damaged } else { Verdict::Unstable }, seen);
        Verification { good_bytes: Some(good), share: Some(share), ..outcome }
    }
}

/// True if a write that succeeded was lost, as on a fake. Writes that fail with an error mean damage or an
/// unsuitable reader.
pub(super) fn swallows_writes(seen: &[CheckedClaim]) -> bool {
    seen.iter().any(|(claim, state)| claim.written && !state.is_kept())
}

/// Confidence from independent observations: each halves the doubt, up to 99.9 %.
fn confidence_of(observations: usize) -> f64 {
    (1.0 - 0.5_f64.powi(observations.min(10) as i32)).clamp(0.5, 0.999)
}

/// Addresses that disprove the capacity, with the number of times each was lost.
fn list_disproofs(seen: &[CheckedClaim]) -> Vec<AddressDisproof> {
    let mut listed: Vec<AddressDisproof> = Vec::new();
    for (claim, state) in seen {
        let ClaimState::Lost { found, at } = state else { continue };
        if let Some(known) = listed.iter_mut().find(|d| d.address == *at) {
            known.seen += 1;
        } else if listed.len() < MAX_DISPROOFS {
            let expected = format!("stamp of address {at}, write {}", claim.generation);
            // Each loss was read twice, with the card reopened before the second read.
            listed.push(AddressDisproof { address: *at, expected, found: *found, seen: 2 });
        }
    }
    listed
}

impl QuickOutcome {
    pub fn findings(&self, announced: u64) -> Vec<Finding> {
        let outcome = &self.body;
        let longest = DecimalSize(self.overflown_bytes);
        let mut findings = vec![self.capacity_finding(announced)];
        if outcome.verdict == Verdict::Genuine {
            findings.push(self.bound_finding(announced));
        }
        if outcome.verdict == Verdict::Wraparound && outcome.confidence < SURE_CONFIDENCE {
            let cache = BinarySize(self.overflown_bytes >> 20 << 20);
            let verdict = format!("A cache larger than {cache} could still hide missing capacity.");
            let finding = Finding::new("cache-not-excluded", FindingWeight::Note, 1.0, verdict);
            findings.push(finding.because("longest run", longest).with_advice(ONLY_PROOF));
        }
        if self.changed_answers > 0 && outcome.verdict != Verdict::Unstable {
            let verdict = "Blocks gave different answers when read twice.";
            let finding =
                Finding::new("answers-differ", FindingWeight::Hint, READS_DIFFER_CONFIDENCE, verdict)
                    .because("blocks", self.changed_answers)
                    .with_advice("Test the card in another reader.");
            findings.push(finding);
        }
        // I/O errors have their own finding.
        let lost_any = outcome.disproofs.iter().any(|disproof| disproof.found != SectorFound::Error);
        if self.cut_short && outcome.verdict == Verdict::Inconclusive && lost_any {
            let verdict = "The card lost blocks, but the limits ended the test before it found out where and \
                       why.";
            let finding = Finding::new("losses-seen", FindingWeight::Bad, 0.99, verdict)
                .because("addresses listed", outcome.disproofs.len())
                .with_advice("Run the test again without --budget and --max-write.");
            findings.push(finding);
        }
        if self.cut_short {
            let verdict = "--budget or --max-write ended the test early.";
            let finding = Finding::new("cut-short", FindingWeight::Note, 1.0, verdict);
            findings.push(finding.because("longest run", longest));
        }
        findings
    }

    fn capacity_finding(&self, announced: u64) -> Finding {
        let outcome = &self.body;
        let usable = outcome.usable_bytes.map_or("unknown".to_owned(), |n| DecimalSize(n).to_string());
        let weight = if outcome.verdict.is_bad() { FindingWeight::Bad } else { FindingWeight::Note };
        let unstable = outcome.verdict == Verdict::Unstable && self.changed_answers > 0;
        let finding =
            Finding::new("capacity", weight, outcome.confidence, capacity_sentence(outcome, announced))
                .because("announced", DecimalSize(announced))
                .because("usable", usable)
                .because_some("addresses that prove it", Some(outcome.disproofs.len()).filter(|n| *n > 0))
                .because_some("blocks that gave different answers", unstable.then_some(self.changed_answers));
        let advice = match outcome.verdict {
            Verdict::Genuine => return finding,
            fake if fake.lacks_capacity() && outcome.confidence < SURE_CONFIDENCE => {
                "Run `cardscope verify --full` to be sure before you return it."
            }
            Verdict::Limbo | Verdict::Wraparound | Verdict::Chain | Verdict::Overcommitted => "Return it.",
            Verdict::Damaged => "Do not keep data on it.",
            Verdict::Dead => "Discard it.",
            Verdict::ReadOnly => "Copy your data from it.",
            Verdict::Unstable => "Try another reader, then discard the card.",
            Verdict::ReaderSuspect => "Try another reader.",
            Verdict::Inconclusive => "Run the test again with more time.",
        };
        finding.with_advice(advice)
    }

    fn bound_finding(&self, announced: u64) -> Finding {
        let outcome = &self.body;
        let share = outcome.share.map_or(1.0, |s| s.excluded_above);
        let (written, bad) = (DecimalSize(outcome.proven_bytes), share * 100.0);
        let cache = BinarySize(self.overflown_bytes.min(announced) >> 20 << 20);
        let text = format!(
            "The test wrote {written} and would detect ≥ {bad:.1} % bad blocks and a cache of up to {cache} (95 % \
             confidence)."
        );
        Finding::new("bound", FindingWeight::Note, 0.95, text)
            .because("samples", outcome.share.map_or(0, |s| s.samples))
            .because("verified", written)
            .with_advice(ONLY_PROOF)
    }
}

/// Advice for faults that no quick test detects.
const ONLY_PROOF: &str = "Run `cardscope verify --full` before you trust important data to the card.";

fn capacity_sentence(outcome: &Verification, announced: u64) -> String {
    let cache = outcome.cache_bytes.map(|bytes| BinarySize(bytes >> 20 << 20));
    let cache = cache.map(|size| format!(", hidden by a cache of less than {size}")).unwrap_or_default();
    let usable = outcome.usable_bytes.map_or("an unknown part".to_owned(), |b| DecimalSize(b).to_string());
    let holds = format!("The card holds {usable} of {}", DecimalSize(announced));
    let wrap = outcome.wrap_bytes.map_or(String::new(), |b| DecimalSize(b).to_string());
    match outcome.verdict {
        Verdict::Genuine => "The card shows no missing capacity.".to_owned(),
        Verdict::Limbo => format!("{holds}: writes beyond are lost{cache}."),
        Verdict::Wraparound if outcome.dead_address_line => {
            format!("{holds}: an address line is dead (period {wrap}).")
        }
        Verdict::Wraparound => format!("{holds}: addresses repeat every {wrap}."),
        Verdict::Chain => format!("{holds}: addresses repeat every {wrap}, part of which is lost{cache}."),
        Verdict::Damaged if outcome.fails_beyond => {
            format!("Every read or write beyond {usable} fails with an error.")
        }
        Verdict::Damaged => "The card loses data in scattered blocks.".to_owned(),
        Verdict::Dead => "The card keeps no data.".to_owned(),
        Verdict::Overcommitted => {
            let (good, all) = (DecimalSize(outcome.good_bytes.unwrap_or(0)), DecimalSize(announced));
            format!("The card holds about {good} of {all}: new data is lost once that is in use.")
        }
        Verdict::ReadOnly => "The card accepts no writes: it is worn out or locked.".to_owned(),
        Verdict::Unstable => "The card gives different answers to the same question.".to_owned(),
        Verdict::ReaderSuspect => {
            let end = outcome.usable_bytes.or(outcome.wrap_bytes).unwrap_or_default();
            format!("The card fails exactly at {}, the address limit of some readers.", format_limit(end))
        }
        Verdict::Inconclusive => {
            let (tested, all) = (DecimalSize(outcome.proven_bytes), DecimalSize(announced));
            format!("The test covered {tested} of {all}, too little for a verdict.")
        }
    }
}

/// Text of an address limit, in binary units if it is whole GiB.
fn format_limit(bytes: u64) -> String {
    if bytes.is_multiple_of(GIB) { BinarySize(bytes).to_string() } else { DecimalSize(bytes).to_string() }
}
