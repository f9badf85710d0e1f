//! Body of the document of `verify`. Bytes, and seconds of the target's clock.

use super::{CapacityCause, FilesReport, SURE_CONFIDENCE, SectorFound, SpeedMap, StatedSizes, Verdict};
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestMethod {
    /// Samples and one long run, seconds to minutes.
    #[default]
    Quick,
    Full,
    /// Files in the free space of a file system.
    Files,
}

/// Address with data that disproves the capacity.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddressDisproof {
    pub address: u64,
    pub expected: String,
    #[serde(flatten)]
    pub found: SectorFound,
    /// Number of observations, in reads after separate openings or writes.
    pub seen: u32,
}

/// Bound on the share of bad blocks from a sampled test.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExcludedShare {
    pub samples: u64,
    pub bad: u64,
    /// Bad share (0 to 1) that the test would have detected with 95 % confidence.
    pub excluded_above: f64,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    pub method: TestMethod,
    pub verdict: Verdict,
    /// Announced capacity; for files the free space.
    pub announced_bytes: u64,
    /// Length of the prefix that can be trusted; None if unknown.
    #[serialize_always]
    pub usable_bytes: Option<u64>,
    /// Estimated working bytes anywhere on the card; None if unknown.
    #[serialize_always]
    pub good_bytes: Option<u64>,
    /// Distinct bytes that the card kept at one time. A test that writes W bytes cannot expose a card that really
    /// holds more than W.
    pub proven_bytes: u64,
    #[serde(flatten)]
    pub moved: IoTotals,
    /// 0 to 1.
    pub confidence: f64,
    pub reason: Option<String>,
    pub share: Option<ExcludedShare>,
    /// Period of repeating addresses. Of a dead address line, the distance between the two addresses that share a
    /// block.
    pub wrap_bytes: Option<u64>,
    /// True if `wrap_bytes` is a dead address line and not a period.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub dead_address_line: bool,
    /// Size of the cache that hid losses, as far as determined.
    pub cache_bytes: Option<u64>,
    /// Largest cache that the test would have detected.
    pub excluded_cache_bytes: Option<u64>,
    /// True if everything from `usable_bytes` on failed with an error, so that no write there succeeded.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub fails_beyond: bool,
    pub cause: Option<CapacityCause>,
    pub stated: Option<StatedSizes>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub disproofs: Vec<AddressDisproof>,
    pub files: Option<FilesReport>,
    pub map: Option<SpeedMap>,
}

pub type VerifyReport = Report<Verification>;

impl Verification {
    /// Returns the weight among several tests of a card: full tests and fakes outweigh a quick test without findings,
    /// and any conclusion outweighs none. Among equal ones the newest counts.
    pub fn evidence_rank(&self) -> u8 {
        match self.verdict {
            Verdict::Inconclusive => 0,
            Verdict::Genuine if self.method != TestMethod::Full => 1,
            _ => 2,
        }
    }
}

impl Verification {
    pub fn capacity_cause(&self, stated: &StatedSizes) -> Option<CapacityCause> {
        // Files do not reveal their addresses on the card.
        let by_address = self.method != TestMethod::Files;
        stated.detect_lost_flash().or_else(|| match self.verdict {
            Verdict::Genuine | Verdict::Inconclusive => stated.detect_cut(),
            Verdict::Damaged | Verdict::ReaderSuspect if by_address && self.fails_beyond => {
                stated.detect_failing_end(self.usable_bytes?)
            }
            Verdict::ReaderSuspect if by_address => {
                self.max_usable_bytes().map(|limit_bytes| CapacityCause::AddressLimit { limit_bytes })
            }
            // Writes that succeed and are lost indicate a fake, unless the card holds all that its sources promise.
            Verdict::Limbo if by_address => stated.detect_excess(self.usable_bytes?),
            _ => None,
        })
    }

    /// Returns the card's capacity without sectors that the reader invents, or None for files, whose position is
    /// unknown.
    pub fn card_bytes(&self) -> Option<u64> {
        match self.method {
            TestMethod::Files => None,
            _ if self.fails_beyond && self.cause.is_some() => self.usable_bytes,
            _ => Some(self.announced_bytes),
        }
    }

    /// Replaces the verdict if failed I/Os are stronger evidence. Returns true if it changed.
    pub fn weigh_errors(&mut self) -> bool {
        let unread = |disproof: &AddressDisproof| disproof.found == SectorFound::Error;
        let unread = !self.disproofs.is_empty() && self.disproofs.iter().all(unread);
        let (before, pattern) = (self.verdict, self.moved.error_pattern(self.card_bytes()));
        (self.verdict, self.confidence) = before.with_errors(self.confidence, pattern, unread);
        if self.verdict == before {
            return false;
        }
        // The end of the card is still valid, and may have a cause.
        if !self.fails_beyond {
            (self.usable_bytes, self.good_bytes) = (None, None);
        }
        true
    }

    /// Returns the most bytes from 0 on that may be usable: the known ones, else those before the first repetition.
    pub fn max_usable_bytes(&self) -> Option<u64> {
        self.usable_bytes.or(self.wrap_bytes)
    }
}

impl ReportBody for Verification {
    /// A card that passed the test but lost restored data is damaged.
    fn record_lost_bytes(&mut self, lost: u64) {
        if self.verdict == Verdict::Genuine && lost > 0 {
            (self.verdict, self.usable_bytes, self.confidence) = (Verdict::Damaged, None, 0.99);
            self.good_bytes = Some(self.announced_bytes - lost);
        }
    }

    fn mark_reader_suspect(&mut self) {
        (self.verdict, self.confidence) = (Verdict::ReaderSuspect, SURE_CONFIDENCE);
        (self.usable_bytes, self.good_bytes, self.share) = (None, None, None);
    }

    fn withdraw_verdict(&mut self, why: &str) -> bool {
        let clean = self.verdict == Verdict::Genuine;
        if clean {
            (self.verdict, self.confidence) = (Verdict::Inconclusive, 0.0);
            (self.usable_bytes, self.good_bytes) = (None, None);
            self.reason = Some(why.to_owned());
        }
        clean
    }

    fn exit_status(&self) -> ExitStatus {
        self.verdict.exit_status(self.confidence)
    }

    fn io_totals(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, FindingWeight};

    #[test]
    fn withdraw_removes_clean_verdicts_only() {
        for (verdict, left) in [(Verdict::Genuine, Verdict::Inconclusive), (Verdict::Limbo, Verdict::Limbo)] {
            let mut report = VerifyReport::default();
            (report.body.verdict, report.body.confidence) = (verdict, 0.99);
            (report.body.usable_bytes, report.body.proven_bytes) = (Some(4096), 4096);
            let finding = |claim: &str| Finding::new(claim, FindingWeight::Note, 0.99, "All of it is there.");
            report.header.findings = ["capacity", "bound", "cache"].map(finding).to_vec();
            report.withdraw_verdict("an error ended the test");
            assert_eq!((report.body.verdict, report.body.proven_bytes), (left, 4096));
            let clean = verdict == Verdict::Genuine;
            assert_eq!(report.body.usable_bytes.is_none(), clean);
            assert_eq!(report.header.findings.len(), if clean { 1 } else { 3 });
        }
    }

    #[test]
    fn disproof_round_trips_with_both_addresses() {
        for found in [
            SectorFound::Elsewhere { address: 512 },
            SectorFound::Foreign { address: 512, salt: 7 },
            SectorFound::Constant { byte: 0xff },
        ] {
            let proof = AddressDisproof { address: 4096, expected: "stamp".into(), found, seen: 2 };
            let json = serde_json::to_string(&proof).unwrap();
            assert_eq!(serde_json::from_str::<AddressDisproof>(&json).unwrap(), proof, "{json}");
        }
    }
}
