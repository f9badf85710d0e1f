//! Contradictions in what a card says of itself, as findings: hints with their reason, never a verdict.
//!
//! A clean register proves nothing, since some cards let theirs be rewritten, and an odd one may be a careless
//! maker's: only reading back the whole capacity proves anything. Signs and their strength come from thousands of
//! uploaded registers (sbc-bench), retail cards and "On MicroSD Problems"; the counter-evidence stands in each
//! finding.

mod capacity;
mod cid;
mod csd;
mod link;
mod name;
mod quirk;
mod status;

use crate::finding::{Finding, Weight};
use crate::identity::Identity;

/// No honest card is known with it.
const STRONG: f64 = 0.8;
/// Some honest cards have it.
const MEDIUM: f64 = 0.5;
/// Many honest cards have it.
const WEAK: f64 = 0.2;

/// Where a doubt about the capacity is settled.
const SETTLE: &str =
    "registers prove nothing either way: run `cardscope verify` to see how much the card really holds";

/// Looks for contradictions. `today` is the year and month by which a date lies in the future.
#[must_use]
pub fn judge(identity: &Identity, today: (u16, u8)) -> Vec<Finding> {
    let mut findings = Vec::new();
    cid::judge(identity, today, &mut findings);
    capacity::judge(identity, &mut findings);
    csd::judge(identity, &mut findings);
    status::judge(identity, &mut findings);
    quirk::judge(identity, &mut findings);
    link::judge(identity, &mut findings);
    findings
}

/// A hint of a given strength that the capacity test settles.
fn hint(claim: &str, strength: f64, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, Weight::Hint, strength, verdict).advise(SETTLE)
}

/// Something worth knowing, certain in itself.
fn note(claim: &str, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, Weight::Note, 1.0, verdict)
}

#[cfg(test)]
mod tests;
