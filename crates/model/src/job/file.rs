//! A job as it stands in its file, checked when it is read, and the figures of a card that it asks for.

use crate::builtin_files;
use crate::named::{BuiltinFiles, FileError};
use crate::toml_error::located;
use serde::{Deserialize, Serialize};

/// A piece of work: amounts of I/O, and how long a person likes to wait for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobWork {
    /// What it is, as said to people: `load 10 GB`.
    pub what: String,
    /// Read in sequence, in MB.
    #[serde(default)]
    pub read_mb: f64,
    /// Written in sequence, in MB, little enough for a cache.
    #[serde(default)]
    pub write_mb: f64,
    /// Written in sequence, in MB, more than a cache takes.
    #[serde(default)]
    pub sustained_write_mb: f64,
    /// Random reads of 4 KiB, one after the other.
    #[serde(default)]
    pub random_reads: f64,
    /// Random writes of 4 KiB, one after the other.
    #[serde(default)]
    pub random_writes: f64,
    /// Single writes of 4 KiB that are each synced: a line of a log, a lock, a commit.
    #[serde(default)]
    pub synced_writes: f64,
    /// What the other side gives or takes at most, in MB/s: the line of a download, the disk that is copied from. No card
    /// is faster than that in sequence.
    pub other_side_mb_s: Option<f64>,
    /// In this time it earns 100 points.
    pub good_s: f64,
    /// In this time it earns none.
    pub poor_s: f64,
    /// Seconds that a person notices: cards that differ by less do not differ in this work.
    pub notice_s: f64,
    /// How much it counts among the works of its job.
    pub weight: f64,
    /// Where amounts and weight are from: a seed, a specification, or `ours`.
    pub from: String,
}

/// Writes that the card waits for where a program syncs one block: the block, then the journal's description of the change,
/// then its commit (jbd2, the journal of ext4: kernel documentation, filesystems/ext4/journal).
pub(super) const WRITES_A_SYNC: f64 = 3.0;

impl JobWork {
    /// The figures it needs, each with the amount of it.
    pub fn amounts(&self) -> [(Figure, f64); 5] {
        [
            (Figure::ReadMbS, self.read_mb),
            (Figure::WriteMbS, self.write_mb),
            (Figure::SustainedWriteMbS, self.sustained_write_mb),
            (Figure::RandomReadIops, self.random_reads),
            (Figure::RandomWriteIops, self.random_writes + WRITES_A_SYNC * self.synced_writes),
        ]
    }
}

/// What a card must reach, however well it does otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobDemand {
    /// Of which figure.
    pub figure: Figure,
    /// It must not be below.
    pub least: Option<f64>,
    /// It must not be above.
    pub most: Option<f64>,
    /// Why, in a few words.
    pub why: String,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Job {
    /// Its name on the command line.
    pub name: String,
    /// What it is, as said to people.
    pub title: String,
    /// Where its amounts come from.
    pub source: String,
    /// The works.
    pub work: Vec<JobWork>,
    /// The demands.
    #[serde(default)]
    pub demand: Vec<JobDemand>,
}

/// The jobs that come with the program: the files of `jobs/`.
pub static JOBS: BuiltinFiles = BuiltinFiles {
    kind: "job",
    files: builtin_files!("jobs"),
    also: "; `cardscope jobs` lists them all, or name a file of your own, FILE.toml",
};

/// The job of a name.
///
/// # Errors
/// If there is none of that name.
pub fn find(name: &str) -> Result<Job, FileError> {
    parse(JOBS.find(name)?)
}

/// Reads a job.
///
/// # Errors
/// If the text is no job, or one of its numbers means nothing; the message names it.
pub fn parse(text: &str) -> Result<Job, FileError> {
    let job: Job =
        toml::from_str(text).map_err(|e| FileError::Syntax("job", located(text, &e), Box::new(e)))?;
    match odd(&job) {
        None => Ok(job),
        Some(why) => Err(FileError::Odd("job", job.name, why)),
    }
}

fn odd(job: &Job) -> Option<String> {
    if job.name.is_empty() || job.work.is_empty() {
        return Some("it needs a name and at least one [[work]]".to_owned());
    }
    for work in &job.work {
        let amounts = work.amounts();
        if amounts.iter().any(|(_, a)| !a.is_finite() || *a < 0.0) || amounts.iter().all(|(_, a)| *a == 0.0) {
            return Some(format!("work {:?} needs amounts above 0", work.what));
        }
        let positive = |v: f64| v.is_finite() && v > 0.0;
        if !positive(work.weight)
            || !positive(work.good_s)
            || !positive(work.poor_s)
            || work.poor_s <= work.good_s
        {
            return Some(format!(
                "work {:?} needs a weight above 0, and poor_s above good_s above 0",
                work.what
            ));
        }
        if !positive(work.notice_s) || !work.other_side_mb_s.is_none_or(positive) || work.from.is_empty() {
            return Some(format!(
                "work {:?} needs notice_s above 0, from where its weight is, and other_side_mb_s above 0 if any",
                work.what
            ));
        }
    }
    let bare = |d: &&JobDemand| d.least.is_none() == d.most.is_none();
    job.demand.iter().find(bare).map(|d| format!("the demand on {:?} needs `least` or `most`", d.figure))
}

/// The figures of a card, one a row: its name, the field that holds it, its words, its unit and what it is.
macro_rules! figures {
    ($($name:ident, $field:ident, $words:literal, $unit:literal, $meaning:literal;)*) => {
        /// One figure by its name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Figure {
            $(#[doc = $meaning] $name,)*
        }

        /// What was measured of a card; what was not is absent.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
        pub struct Figures {
            $(#[doc = $meaning] pub $field: Option<f64>,)*
        }

        impl Figure {
            /// All of them, in the order of [`Figures`].
            pub const ALL: [Figure; 7] = [$(Figure::$name),*];

            /// Its name and unit in words.
            pub fn words(self) -> (&'static str, &'static str) {
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
    /// True for speeds in sequence, which whatever is at the other end may limit.
    pub fn is_sequential(self) -> bool {
        matches!(self, Figure::ReadMbS | Figure::WriteMbS | Figure::SustainedWriteMbS)
    }
}

impl Figures {
    /// Replaces a figure.
    pub fn set(&mut self, figure: Figure, value: f64) {
        *self.field(figure) = Some(value);
    }

    /// A figure that is a number one can divide by.
    pub fn get(mut self, figure: Figure) -> Option<f64> {
        self.field(figure).filter(|v| v.is_finite() && *v > 0.0)
    }
}
