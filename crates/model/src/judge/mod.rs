//! Contradictions in what a card says of itself, as findings: hints with their reason, never a verdict.
//!
//! A clean register proves nothing, since some cards let theirs be rewritten, and an odd one may be a careless
//! maker's: only reading back the whole capacity proves anything. Signs and their strength come from thousands of
//! uploaded registers (sbc-bench), retail cards and "On MicroSD Problems"; the counter-evidence stands in each
//! finding.

mod cid;
mod csd;
mod sign;
mod status;

use crate::finding::Finding;
use crate::identity::Identity;

/// Looks for contradictions. `today` is the year and month by which a date lies in the future.
pub fn judge(identity: &Identity, today: (u16, u8)) -> Vec<Finding> {
    let mut findings = Vec::new();
    cid::judge(identity, today, &mut findings);
    csd::judge_capacity(identity, &mut findings);
    csd::judge(identity, &mut findings);
    status::judge(identity, &mut findings);
    cid::quirks(identity, &mut findings);
    status::judge_link(identity, &mut findings);
    findings
}

impl Identity {
    /// The identity with its findings as of today, year and month.
    pub fn judged(mut self, today: (u16, u8)) -> Self {
        self.findings = judge(&self, today);
        self
    }
}

#[cfg(test)]
mod tests;
