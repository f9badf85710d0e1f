//! f3write and f3read: test files of one GiB in the free space of a file system.

use crate::readers::{binary_size, strip_start};
use cardscope_model::verify::{SectorCounts, Verdict};
use serde::Serialize;
use serde_json::{Value, json};

/// Bytes of the sectors that f3read counts, whatever the card's sector size.
const SECTOR: u64 = 512;

/// Output of f3write.
#[derive(Debug, Default, Serialize)]
pub(super) struct F3Write {
    /// Free space in bytes, as exact as printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    free_before_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free_after_bytes: Option<u64>,
    /// Finished files in the log.
    files: u64,
    last_file: u64,
    /// Average speed as printed.
    #[serde(skip)]
    pub(super) speed: Option<String>,
    /// True if the log has the summary.
    complete: bool,
}

impl F3Write {
    /// Parses a line; returns false if it is not of this f3write.
    pub(super) fn parse_write_line(&mut self, line: &str) -> bool {
        if let Some(size) = line.strip_prefix("Free space:") {
            return self.set_free_space(size);
        }
        if let Some(speed) = line.strip_prefix("Average writing speed:").filter(|_| !self.complete) {
            (self.speed, self.complete) = (Some(speed.trim().to_owned()), true);
            return true;
        }
        let Some((number, rest)) = line.strip_prefix("Creating file ").and_then(parse_file_number) else {
            return line.starts_with("Removing old file ");
        };
        if rest.trim_start().starts_with("OK!") {
            self.files += 1;
            self.last_file = self.last_file.max(number);
        }
        true
    }

    fn set_free_space(&mut self, size: &str) -> bool {
        let free = [&mut self.free_before_bytes, &mut self.free_after_bytes];
        let next = free.into_iter().find(|bytes| bytes.is_none()).filter(|_| !self.complete);
        next.map(|bytes| *bytes = binary_size(size)).is_some()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files == 0 && self.free_before_bytes.is_none() && self.speed.is_none()
    }
}

/// Output of f3read.
#[derive(Debug, Default)]
pub(super) struct F3Read {
    sectors: SectorCounts,
    /// Number and sectors of each file in the log.
    files: Vec<(u64, SectorCounts)>,
    /// Good sectors in the summary.
    ok: Option<u64>,
    pub(super) speed: Option<String>,
}

impl F3Read {
    /// Parses a line; returns false if it is not of this f3read.
    pub(super) fn parse_read_line(&mut self, line: &str) -> bool {
        if let Some(rest) = line.strip_prefix("Validating file ") {
            if self.speed.is_some() {
                return false;
            }
            let file = parse_file_number(rest);
            self.files.extend(file.and_then(|(number, counts)| Some((number, parse_sector_counts(counts)?))));
            return true;
        }
        if let Some(speed) = line.strip_prefix("Average reading speed:").filter(|_| self.speed.is_none()) {
            self.speed = Some(speed.trim().to_owned());
            return true;
        }
        self.speed.is_none() && self.read_count(line)
    }

    fn read_count(&mut self, line: &str) -> bool {
        let Some((name, rest)) = line.split_once(':') else { return false };
        let count = parse_sectors(rest);
        match (name.trim(), count) {
            ("Data OK", Some(n)) => (self.ok, self.sectors.ok) = (Some(n), n),
            ("Corrupted", Some(n)) => self.sectors.corrupted = n,
            ("Slightly changed", Some(n)) => self.sectors.changed = n,
            ("Overwritten", Some(n)) => self.sectors.overwritten = n,
            ("Data LOST" | "Data OK" | "Corrupted" | "Slightly changed" | "Overwritten", _) => {}
            _ => return false,
        }
        true
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.ok.is_none() && self.speed.is_none()
    }

    /// All sectors: of the summary, else the sum over the files in the log.
    fn total_sectors(&self) -> SectorCounts {
        if self.ok.is_some() {
            return self.sectors;
        }
        let mut sum = SectorCounts::default();
        self.files.iter().for_each(|(_, counts)| sum.add_counts(counts));
        sum
    }

    pub(super) fn tested_bytes(&self) -> Option<u64> {
        Some(sector_bytes(self.total_sectors().total_sectors())).filter(|bytes| *bytes > 0)
    }

    /// Result in the form of `verify --files`.
    pub(super) fn to_document(&self) -> Value {
        let sectors = self.total_sectors();
        // f3read cannot distinguish a fake from a fault, so losses count as damage.
        let verdict = match (self.ok.is_some(), sectors.lost_sectors()) {
            (_, 1..) => Verdict::Damaged,
            (true, _) if sectors.ok > 0 => Verdict::Genuine,
            _ => Verdict::Inconclusive,
        };
        let bad = self.files.iter().filter(|(_, counts)| counts.lost_sectors() > 0);
        let bad = bad.map(|(number, counts)| json!({"number": number, "sectors": counts}));
        let bad: Vec<Value> = bad.collect();
        json!({
            "verdict": verdict,
            "tested_bytes": sector_bytes(sectors.total_sectors()),
            "good_bytes": sector_bytes(sectors.ok),
            "lost_bytes": sector_bytes(sectors.lost_sectors()),
            "sectors": sectors,
            "files": self.files.len(),
            "files_with_losses": bad,
            "complete": self.ok.is_some(),
        })
    }
}

fn sector_bytes(sectors: u64) -> u64 {
    sectors.saturating_mul(SECTOR)
}

/// True for lines that only f3write or f3read prints.
pub(super) fn is_own_line(line: &str) -> bool {
    let file = [("Creating file ", ()), ("Validating file ", ())];
    strip_start(line, &file).is_some_and(|(rest, ())| parse_file_number(rest).is_some())
        || ["Average writing speed:", "Average reading speed:"].iter().any(|start| line.starts_with(start))
}

fn parse_file_number(text: &str) -> Option<(u64, &str)> {
    let (name, rest) = text.split_once(" ...")?;
    Some((name.strip_suffix(".h2w")?.parse().ok()?, rest))
}

/// Parses `2097099/       53/      0/      0`: ok, corrupted, changed, overwritten.
fn parse_sector_counts(text: &str) -> Option<SectorCounts> {
    let counts = text.split(" - ").next()?.split('/').map(|n| n.trim().parse().ok());
    let counts: Vec<u64> = counts.collect::<Option<_>>()?;
    let [ok, corrupted, changed, overwritten] = counts[..] else { return None };
    // A larger number cannot be a count, and would make sums overflow.
    let possible = counts.iter().all(|n| *n <= u64::MAX >> 16);
    possible.then_some(SectorCounts { ok, corrupted, changed, overwritten, ..SectorCounts::default() })
}

fn parse_sectors(text: &str) -> Option<u64> {
    let (_, rest) = text.rsplit_once('(')?;
    rest.split_once(" sectors")?.0.trim().parse().ok().filter(|n| *n <= u64::MAX >> 16)
}
