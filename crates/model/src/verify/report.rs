//! Body of the document of `verify`, with its speed map and its files. Bytes, and seconds of the target's clock.
//!
//! Files have the h2w pattern; their sectors are classified as in h2testw and f3read
//! (docs/reference/tools.md#f3-and-h2testw-files).

use super::{CapacityCause, SURE_CONFIDENCE, SectorFound, StatedSizes, Verdict};
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
            self.good_bytes = Some(self.announced_bytes.saturating_sub(lost));
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

/// Granularity of cells: allocation units of 4 MiB and more are multiples of it
/// (docs/reference/sd.md#allocation-units).
const CELL_UNIT: u64 = 4 << 20;

const SMALL_CELL_UNIT: u64 = 1 << 20;

/// Most cells of a map; more would not be legible.
const MAX_CELLS: u64 = 1000;

/// Returns the bytes of a cell of a speed map, which give 500 to 1000 cells: a multiple of 4 MiB, or of 1 MiB on cards below 4 GB.
pub fn cell_bytes(card_bytes: u64) -> u64 {
    let unit = if card_bytes >= MAX_CELLS * CELL_UNIT { CELL_UNIT } else { SMALL_CELL_UNIT };
    card_bytes.div_ceil(MAX_CELLS).next_multiple_of(unit).max(unit)
}

/// Part of the card. Values that were not measured are None.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct MapCell {
    pub start: u64,
    pub bytes: u64,
    pub write_mb_s: Option<f64>,
    pub read_mb_s: Option<f64>,
    pub write_slowest_mb_s: Option<f64>,
    pub read_slowest_mb_s: Option<f64>,
    pub bad_bytes: u64,
    pub errors: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SlowestSecond {
    pub mb_s: f64,
    /// Byte address reached at its end.
    pub address: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MapSpeed {
    pub min_mb_s: f64,
    pub mean_mb_s: f64,
    pub max_mb_s: f64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub slowest_second: Option<SlowestSecond>,
}

#[serde_with::skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SpeedMap {
    pub cell_bytes: u64,
    pub cells: Vec<MapCell>,
    pub write: Option<MapSpeed>,
    pub read: Option<MapSpeed>,
}

/// Sectors of 512 bytes by content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorCounts {
    pub ok: u64,
    /// Correct sector with 1 to 7 wrong bits ("slightly changed").
    pub changed: u64,
    /// Sector of another position in the pattern.
    pub overwritten: u64,
    pub corrupted: u64,
    /// Part of `overwritten` whose data belongs elsewhere in the same files: memory with several addresses, h2testw's
    /// "aliased memory".
    pub aliased: u64,
    pub unreadable: u64,
}

impl SectorCounts {
    pub fn lost_sectors(&self) -> u64 {
        // `aliased` is a part of `overwritten`, so it is not added.
        self.changed + self.overwritten + self.corrupted + self.unreadable
    }

    pub fn total_sectors(&self) -> u64 {
        self.ok + self.lost_sectors()
    }

    pub fn add_counts(&mut self, other: &SectorCounts) {
        self.ok += other.ok;
        self.changed += other.changed;
        self.overwritten += other.overwritten;
        self.corrupted += other.corrupted;
        self.aliased += other.aliased;
        self.unreadable += other.unreadable;
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransferPace {
    pub bytes: u64,
    /// Duration by the target's clock, including the final flush.
    pub seconds: f64,
    pub mb_s: f64,
    /// Speed of the slowest whole second; None below two seconds.
    pub slowest_second_mb_s: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstError {
    /// Offset in the whole data, which is also the expected first word of the sector.
    pub offset: u64,
    pub file: String,
    pub offset_in_file: u64,
    pub expected: u64,
    /// Actual first word; None if unreadable.
    pub found: Option<u64>,
}

/// Result of a file `N.h2w`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileResult {
    pub name: String,
    /// N of the name. The content starts at (N − 1) · 2^30 of the whole data.
    pub number: u64,
    pub bytes: u64,
    pub read_bytes: u64,
    pub sectors: SectorCounts,
    pub write: Option<TransferPace>,
    pub read: Option<TransferPace>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remark: Option<String>,
}

/// Part of the document about `verify --files`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesReport {
    pub directory: String,
    pub file_system: String,
    pub mounted_at: Option<String>,
    /// Size of the file system, including used space.
    pub file_system_bytes: u64,
    /// Testable bytes: free space, and test files that existed already.
    pub free_bytes: u64,
    pub tested_bytes: u64,
    pub written: bool,
    /// True if the files were not removed.
    pub kept: bool,
    pub sectors: SectorCounts,
    pub first_error: Option<FirstError>,
    pub write: Option<TransferPace>,
    pub read: Option<TransferPace>,
    pub files: Vec<FileResult>,
    /// Missing numbers below the highest, as ranges (first, last).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<(u64, u64)>,
    /// Files with such a name but other content, with reasons.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub foreign: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Finding, FindingWeight};

    #[test]
    fn more_lost_than_announced_bytes_leave_none_good() {
        let mut body =
            Verification { verdict: Verdict::Genuine, announced_bytes: 100, ..Verification::default() };
        body.record_lost_bytes(101);
        assert_eq!((body.verdict, body.good_bytes), (Verdict::Damaged, Some(0)));
    }

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

    #[test]
    fn cells_are_whole_allocation_units_and_at_most_a_thousand() {
        for card in [1u64 << 20, 64 << 20, 3_999_000_000, 16_012_804_096, 63_864_569_856, 1_024_000_000_000] {
            let cell = cell_bytes(card);
            let count = card.div_ceil(cell);
            assert!(count <= 1000, "{count} cells on {card}");
            let in_units = cell.is_multiple_of(4 << 20) && count >= 450;
            assert!(card < 4_194_304_000 || in_units, "{cell} on {card}");
            assert!(cell.is_multiple_of(1 << 20), "{cell} on {card}");
        }
        assert_eq!(cell_bytes(16_012_804_096), 16 << 20);
    }
}
