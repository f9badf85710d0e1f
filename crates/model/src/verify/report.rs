//! The document of `verify`. Sizes in bytes, times in seconds of the target's clock.

use super::{CapacityCause, FilesReport, SURE, SectorFound, SpeedMap, StatedSizes, Verdict};
use crate::report::{ExitStatus, IoTotals, Report, ReportBody};
use serde::{Deserialize, Serialize};

/// How the card was looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestMethod {
    /// Samples and one long run, seconds to minutes.
    #[default]
    Quick,
    /// Every block.
    Full,
    /// Files in the free space of a file system.
    Files,
}

/// An address that disproves the card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AddressDisproof {
    /// Byte address.
    pub address: u64,
    /// What was written there: `stamp of address 4096, write 2`.
    pub expected: String,
    /// What stood there.
    #[serde(flatten)]
    pub found: SectorFound,
    /// How often that was seen, in reads after separate openings or writes.
    pub seen: u32,
}

/// A share that a sampled test can exclude.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ExcludedShare {
    /// Independent places that were looked at.
    pub samples: u64,
    /// How many of them were bad.
    pub bad: u64,
    /// A bad share above this (0 to 1) would have been seen with 95 %.
    pub excluded_above: f64,
}

/// What `verify` found out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// How it was looked at.
    pub method: TestMethod,
    /// The answer.
    pub verdict: Verdict,
    /// What the card, or for files its free space, announces.
    pub announced_bytes: u64,
    /// The prefix from 0 that can be trusted; `None` if unknown.
    pub usable_bytes: Option<u64>,
    /// Estimate of all that works, wherever it lies; `None` if unknown.
    pub good_bytes: Option<u64>,
    /// Distinct bytes that the card was seen to keep at one time: no test that writes W bytes can expose a card that
    /// really holds more than W.
    pub proven_bytes: u64,
    /// Bytes moved, and the time it took.
    #[serde(flatten)]
    pub moved: IoTotals,
    /// 0 to 1.
    pub confidence: f64,
    /// Why there is no conclusion, as the end of a sentence; `None` where there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reason: Option<String>,
    /// What a sampled test excludes.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub share: Option<ExcludedShare>,
    /// Period in which addresses repeat, where they do; of a dead address line the distance of the two addresses that
    /// share a place.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub wrap_bytes: Option<u64>,
    /// True where `wrap_bytes` is an address line that is not wired, not a period.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub dead_address_line: bool,
    /// Size of the cache that hid losses, as far as it showed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cache_bytes: Option<u64>,
    /// Caches up to this size would have shown.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub excluded_cache_bytes: Option<u64>,
    /// True where everything from `usable_bytes` on failed with an error: no write there was answered with success.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub fails_beyond: bool,
    /// Cause of a wrong capacity without a forgery.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cause: Option<CapacityCause>,
    /// Capacities by source, where they are doubted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stated: Option<StatedSizes>,
    /// Addresses that disprove the card, with what was expected and found.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub disproofs: Vec<AddressDisproof>,
    /// The files, where it was looked at by files.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub files: Option<FilesReport>,
    /// Speed, slowest second and bad bytes over the address axis, where every block was looked at.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub map: Option<SpeedMap>,
}

/// The document of `verify`.
pub type VerifyReport = Report<Verification>;

impl Verification {
    /// How much it says of the card, beside other tests: a full test and a fake that was found more than a quick test that
    /// found nothing, and any of them more than one without a conclusion. Of equal ones the newest counts.
    pub fn sureness(&self) -> u8 {
        match self.verdict {
            Verdict::Inconclusive => 0,
            Verdict::Genuine if self.method != TestMethod::Full => 1,
            _ => 2,
        }
    }
}

impl Verification {
    /// The cause that explains this result, if one does.
    pub fn capacity_cause(&self, stated: &StatedSizes) -> Option<CapacityCause> {
        // Files do not show the addresses of the card.
        let by_address = self.method != TestMethod::Files;
        stated.lost_flash().or_else(|| match self.verdict {
            Verdict::Genuine | Verdict::Inconclusive => stated.cut(),
            Verdict::Damaged | Verdict::ReaderSuspect if by_address && self.fails_beyond => {
                stated.failing_end(self.usable_bytes?)
            }
            Verdict::ReaderSuspect if by_address => {
                self.at_most_usable().map(|limit_bytes| CapacityCause::AddressLimit { limit_bytes })
            }
            // Losses that were answered with success are a fake's, unless the card holds all that it ever promised.
            Verdict::Limbo if by_address => stated.excess(self.usable_bytes?),
            _ => None,
        })
    }

    /// Bytes of the card as far as its reader does not invent them. Of files the places on the card are unknown.
    pub fn card_bytes(&self) -> Option<u64> {
        match self.method {
            TestMethod::Files => None,
            _ if self.fails_beyond && self.cause.is_some() => self.usable_bytes,
            _ => Some(self.announced_bytes),
        }
    }

    /// Changes the verdict where I/Os that failed say more than what the card kept; true where it did.
    pub fn weigh_errors(&mut self) -> bool {
        let unread = |disproof: &AddressDisproof| disproof.found == SectorFound::Error;
        let unread = !self.disproofs.is_empty() && self.disproofs.iter().all(unread);
        let (before, pattern) = (self.verdict, self.moved.error_pattern(self.card_bytes()));
        (self.verdict, self.confidence) = before.with_errors(self.confidence, pattern, unread);
        if self.verdict == before {
            return false;
        }
        // Where it ends is known all the same, and may have a cause.
        if !self.fails_beyond {
            (self.usable_bytes, self.good_bytes) = (None, None);
        }
        true
    }

    /// Bytes from 0 on that may be there: what is known to be, else what lies in front of the first repetition.
    pub fn at_most_usable(&self) -> Option<u64> {
        self.usable_bytes.or(self.wrap_bytes)
    }
}

impl ReportBody for Verification {
    /// A card that passed its test and did not keep what was restored after it is damaged.
    fn restored_without(&mut self, lost: u64) {
        if self.verdict == Verdict::Genuine && lost > 0 {
            (self.verdict, self.usable_bytes, self.confidence) = (Verdict::Damaged, None, 0.99);
            self.good_bytes = Some(self.announced_bytes - lost);
        }
    }

    fn reader_is_suspect(&mut self) {
        (self.verdict, self.confidence) = (Verdict::ReaderSuspect, SURE);
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

    fn moved(&mut self) -> Option<&mut IoTotals> {
        Some(&mut self.moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, FindingWeight};

    #[test]
    fn a_clean_verdict_is_taken_back_with_its_findings_and_an_accusation_stays() {
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
    fn a_proof_keeps_both_addresses_as_json() {
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
