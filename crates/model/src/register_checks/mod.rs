//! Contradictions in a card's registers, as findings: hints with a reason, never a verdict.
//!
//! Clean registers prove nothing, since some cards allow rewriting them, and odd ones may come from a careless maker:
//! only reading the whole capacity proves anything. The signs and their strength come from thousands of uploaded
//! registers (sbc-bench), retail cards and "On MicroSD Problems"; each finding has its counter-evidence.

mod cid;
mod csd;
mod finding_kinds;
mod status;

use crate::finding::Finding;
use crate::identity::Identity;

/// Returns the findings. `today` (year and month) decides whether a date is in the future.
pub fn judge_registers(identity: &Identity, today: (u16, u8)) -> Vec<Finding> {
    let mut findings = Vec::new();
    cid::judge_cid(identity, today, &mut findings);
    csd::judge_capacity(identity, &mut findings);
    csd::judge_csd_and_scr(identity, &mut findings);
    status::judge_status(identity, &mut findings);
    cid::add_quirk_notes(identity, &mut findings);
    status::judge_link(identity, &mut findings);
    findings
}

impl Identity {
    /// Adds the findings as of today, year and month.
    pub fn judged(mut self, today: (u16, u8)) -> Self {
        self.findings = judge_registers(&self, today);
        self
    }
}

#[cfg(test)]
mod tests;
