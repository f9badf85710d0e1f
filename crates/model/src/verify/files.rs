//! What `verify --files` adds to the document: the files of the h2w pattern one by one, their sectors sorted as h2testw
//! and f3read sort them (docs/reference/tools.md#f3-and-h2testw-files), and the speeds.

use serde::{Deserialize, Serialize};

/// Sectors of 512 bytes by what stood in them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectorCounts {
    /// As written.
    pub ok: u64,
    /// The right sector with 1 to 7 wrong bits: "slightly changed".
    pub changed: u64,
    /// The whole sector of another place of the pattern.
    pub overwritten: u64,
    /// Anything else.
    pub corrupted: u64,
    /// Those of `overwritten` whose content belongs to another place of these same files: one piece of memory that
    /// answers for several addresses, h2testw's "aliased memory".
    pub aliased: u64,
    /// Could not be read, twice.
    pub unreadable: u64,
}

impl SectorCounts {
    /// Sectors whose data is lost.
    pub fn lost(&self) -> u64 {
        self.changed + self.overwritten + self.corrupted + self.unreadable
    }

    /// All sectors that were looked at.
    pub fn all(&self) -> u64 {
        self.ok + self.lost()
    }

    /// Adds those of another file or piece.
    pub fn add(&mut self, other: &SectorCounts) {
        self.ok += other.ok;
        self.changed += other.changed;
        self.overwritten += other.overwritten;
        self.corrupted += other.corrupted;
        self.aliased += other.aliased;
        self.unreadable += other.unreadable;
    }
}

/// How fast bytes went one way.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransferPace {
    /// Bytes moved.
    pub bytes: u64,
    /// Seconds of the target's clock, storing what was accepted included.
    pub seconds: f64,
    /// 10^6 bytes a second over all of it.
    pub mb_s: f64,
    /// The same in the slowest whole second; `None` where it took less than two.
    pub slowest_second_mb_s: Option<f64>,
}

/// The first sector that was not as written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FirstError {
    /// Byte offset in the whole data; also what the sector's first word should be.
    pub offset: u64,
    /// The file that it stands in.
    pub file: String,
    /// Byte offset in that file.
    pub offset_in_file: u64,
    /// The first word that should stand there.
    pub expected: u64,
    /// The first word that stood there; `None` where it could not be read.
    pub found: Option<u64>,
}

/// One file `N.h2w`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileResult {
    /// Its name.
    pub name: String,
    /// The N of it; its content begins at (N − 1) · 2^30 of the whole data.
    pub number: u64,
    /// Bytes long.
    pub bytes: u64,
    /// Of those, bytes that were read back.
    pub read_bytes: u64,
    /// What was read.
    pub sectors: SectorCounts,
    /// Writing it, where this run did.
    pub write: Option<TransferPace>,
    /// Reading it.
    pub read: Option<TransferPace>,
    /// What is odd about it: shorter than it should be, another file's content, not readable.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub remark: Option<String>,
}

/// What `verify --files` did and found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FilesReport {
    /// The directory.
    pub directory: String,
    /// The file system that it lies on.
    pub file_system: String,
    /// Where that is mounted, if the list of mounts tells.
    pub mounted_at: Option<String>,
    /// Bytes of the file system, used ones included.
    pub file_system_bytes: u64,
    /// Bytes that could be tested: free ones, and those of files that were there already.
    pub free_bytes: u64,
    /// Bytes of the files that were read back.
    pub tested_bytes: u64,
    /// True where this run wrote the files.
    pub written: bool,
    /// True where the files are still there.
    pub kept: bool,
    /// All sectors.
    pub sectors: SectorCounts,
    /// The first one that was not as written.
    pub first_error: Option<FirstError>,
    /// Writing, over all files.
    pub write: Option<TransferPace>,
    /// Reading, over all files.
    pub read: Option<TransferPace>,
    /// The files in order of their numbers.
    pub files: Vec<FileResult>,
    /// Numbers below the highest of which there is no file, as ranges from, to.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub missing: Vec<(u64, u64)>,
    /// Files with such a name that are none of the pattern, each with the reason.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub foreign: Vec<String>,
}
