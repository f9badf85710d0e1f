//! Job files: work and demands, validated, and the figures of a card that they use.

use crate::builtin_files;
use crate::builtin_names::{BuiltinFiles, FileError};
use crate::toml_error::message_with_line;
use serde::{Deserialize, Serialize};

/// Amounts of I/O, and the time that a person accepts for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobWork {
    pub what: String,
    #[serde(default)]
    pub read_mb: f64,
    /// Sequential writes in MB, few enough for a cache.
    #[serde(default)]
    pub write_mb: f64,
    /// Sequential writes in MB, more than a cache holds.
    #[serde(default)]
    pub sustained_write_mb: f64,
    #[serde(default)]
    pub random_reads: f64,
    #[serde(default)]
    pub random_writes: f64,
    /// Writes of 4 KiB that are synced one by one, e.g. log lines, locks, commits.
    #[serde(default)]
    pub synced_writes: f64,
    /// Limit of the other side in MB/s, e.g. a download or a source disk. It caps sequential figures.
    pub other_side_mb_s: Option<f64>,
    /// Time that scores 100 points.
    pub good_s: f64,
    /// Time that scores 0 points.
    pub poor_s: f64,
    /// Smallest difference in seconds that a person notices.
    pub notice_s: f64,
    pub weight: f64,
    /// Source of amounts and weight: a report, a specification, or `ours`.
    pub from: String,
}

/// Writes of a card per synced block: the block, the journal's description of the change, and its commit (jbd2, the
/// journal of ext4: kernel documentation, filesystems/ext4/journal).
pub(super) const WRITES_PER_SYNC: f64 = 3.0;

impl JobWork {
    pub fn needed_amounts(&self) -> [(Figure, f64); 5] {
        [
            (Figure::ReadMbS, self.read_mb),
            (Figure::WriteMbS, self.write_mb),
            (Figure::SustainedWriteMbS, self.sustained_write_mb),
            (Figure::RandomReadIops, self.random_reads),
            (Figure::RandomWriteIops, self.random_writes + WRITES_PER_SYNC * self.synced_writes),
        ]
    }
}

/// Condition that a card must meet to be fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobDemand {
    pub figure: Figure,
    pub least: Option<f64>,
    pub most: Option<f64>,
    pub why: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    pub name: String,
    pub title: String,
    pub source: String,
    pub work: Vec<JobWork>,
    #[serde(default)]
    pub demand: Vec<JobDemand>,
}

/// Built-in jobs: the files of `jobs/`.
pub static JOBS: BuiltinFiles = BuiltinFiles {
    kind: "job",
    files: builtin_files!("jobs"),
    also: "; `cardscope jobs` lists them all, or name a file of your own, FILE.toml",
};

pub fn find_job(name: &str) -> Result<Job, FileError> {
    parse_job(JOBS.find_text(name)?)
}

pub fn parse_job(text: &str) -> Result<Job, FileError> {
    let job: Job = toml::from_str(text)
        .map_err(|e| FileError::Syntax("job", message_with_line(text, &e), Box::new(e)))?;
    match find_fault(&job) {
        None => Ok(job),
        Some(why) => Err(FileError::Invalid("job", job.name, why)),
    }
}

fn find_fault(job: &Job) -> Option<String> {
    if job.name.is_empty() || job.work.is_empty() {
        return Some("it needs a name and at least one [[work]]".to_owned());
    }
    let positive = |v: f64| v.is_finite() && v > 0.0;
    for work in &job.work {
        let (what, amounts) = (&work.what, work.needed_amounts());
        if amounts.iter().any(|(_, a)| !a.is_finite() || *a < 0.0) || amounts.iter().all(|(_, a)| *a == 0.0) {
            return Some(format!("work {what:?} needs amounts above 0"));
        }
        if ![work.weight, work.good_s, work.poor_s].into_iter().all(positive) || work.poor_s <= work.good_s {
            return Some(format!("work {what:?} needs a weight above 0, and poor_s above good_s above 0"));
        }
        if !positive(work.notice_s) || !work.other_side_mb_s.is_none_or(positive) || work.from.is_empty() {
            return Some(format!(
                "work {what:?} needs notice_s above 0, from where its weight is, and other_side_mb_s above 0 if any"
            ));
        }
    }
    let bare = |d: &&JobDemand| d.least.is_none() == d.most.is_none();
    job.demand.iter().find(bare).map(|d| format!("the demand on {:?} needs `least` or `most`", d.figure))
}

/// Defines the figures of a card: name, field, words, unit and meaning.
macro_rules! figures {
    ($($name:ident, $field:ident, $words:literal, $unit:literal, $meaning:literal;)*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Figure {
            $(#[doc = $meaning] $name,)*
        }

        /// Measured figures of a card; None if not measured.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
        pub struct Figures {
            $(#[doc = $meaning] pub $field: Option<f64>,)*
        }

        impl Figure {
            /// All figures, in the order of [`Figures`].
            pub const ALL: [Figure; 7] = [$(Figure::$name),*];

            pub fn name_and_unit(self) -> (&'static str, &'static str) {
                match self {
                    $(Figure::$name => ($words, $unit),)*
                }
            }
        }

        impl Figures {
            fn field(&mut self, figure: Figure) -> &mut Option<f64> {
                match figure {
                    $(Figure::$name => &mut self.$field,)*
                }
            }
        }
    };
}

figures! {
    ReadMbS, read_mb_s, "sequential read", "MB/s", "Sequential read in MB/s.";
    WriteMbS, write_mb_s, "sequential write", "MB/s", "Sequential write in MB/s, into the cache.";
    SustainedWriteMbS, sustained_write_mb_s, "sustained write", "MB/s",
        "Sustained sequential write in MB/s, past the cache.";
    RandomReadIops, random_read_iops, "random reads of 4 KiB", "a second",
        "Random reads of 4 KiB a second, one at a time.";
    RandomWriteIops, random_write_iops, "random writes of 4 KiB", "a second",
        "Random writes of 4 KiB a second, one at a time.";
    LongestWriteS, longest_write_s, "longest write", "s", "Longest single write in seconds.";
    CapacityGb, capacity_gb, "capacity", "GB", "Capacity in GB (10^9 bytes).";
}

impl Figure {
    /// True for sequential speeds, which the other side may limit.
    pub fn is_sequential(self) -> bool {
        matches!(self, Figure::ReadMbS | Figure::WriteMbS | Figure::SustainedWriteMbS)
    }
}

impl Figures {
    pub fn set(&mut self, figure: Figure, value: f64) {
        *self.field(figure) = Some(value);
    }

    /// Returns a figure if it is finite and above 0.
    pub fn get(mut self, figure: Figure) -> Option<f64> {
        self.field(figure).filter(|v| v.is_finite() && *v > 0.0)
    }
}
