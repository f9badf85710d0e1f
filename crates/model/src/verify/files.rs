//! Part of the document of `verify --files`: files of the h2w pattern, their sectors classified as in h2testw and
//! f3read (docs/reference/tools.md#f3-and-h2testw-files), and speeds.

use serde::{Deserialize, Serialize};

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
