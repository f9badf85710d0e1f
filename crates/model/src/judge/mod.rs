//! Contradictions in what a card says of itself, as findings: hints with their reason, never a verdict.
//!
//! A clean register proves nothing, since some cards let theirs be rewritten, and an odd one may be a careless
//! maker's: only reading back the whole capacity proves anything. Signs and their strength come from thousands of
//! uploaded registers (sbc-bench), retail cards and "On MicroSD Problems"; the counter-evidence stands in each
//! finding.

mod capacity;
mod cid;
mod csd;
mod hint;
mod link;
mod name;
mod quirk;
mod status;

use crate::finding::Finding;
use crate::identity::Identity;

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

impl Identity {
    /// The identity with its findings as of today, year and month.
    #[must_use]
    pub fn judged(mut self, today: (u16, u8)) -> Self {
        self.findings = judge(&self, today);
        self
    }
}

#[cfg(test)]
mod tests;
