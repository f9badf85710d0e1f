//! Logs of fio, as JSON and as text: jobs, and the results that they are.
//!
//! Jobs of one name in one group are one result, their sum, as fio's own `group_reporting` has it. A job that reads and
//! writes is a mix, with its two parts beside it; where it only reads back what it wrote (`verify=`), the reading is a step of
//! its own. Jobs of several names in one group ran at the same time (only `stonewall` and `new_group` begin another), so none
//! of them had the card for itself. fio counts in KiB, and tells bytes only since version 3.

mod assemble;
pub(crate) mod json;
mod options;
pub(crate) mod text;

use cardscope_model::result::ToolPrints;
use cardscope_model::run::LatencyPercentiles;
use options::JobOptions;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The directions of a job; `mixed` is both, where fio was told to report them as one (`unified_rw_reporting`).
const DIRECTIONS: [&str; 3] = ["read", "write", "mixed"];

/// One direction of a job.
#[derive(Debug, Clone, PartialEq)]
struct JobDirection {
    bytes_s: f64,
    iops: f64,
    printed: ToolPrints,
    latency_us: Option<f64>,
    max_latency_us: Option<f64>,
    percentiles_us: LatencyPercentiles,
}

impl JobDirection {
    /// Both together: what they moved adds up, their latency is the mean over their I/Os.
    fn and(self, other: JobDirection) -> JobDirection {
        let bytes_s = self.bytes_s + other.bytes_s;
        let printed = if self.printed.unit == other.printed.unit {
            ToolPrints { value: self.printed.value + other.printed.value, unit: self.printed.unit }
        } else {
            ToolPrints { value: bytes_s / 1024.0, unit: "KiB/s".to_owned() }
        };
        let latency_us = match (self.latency_us, other.latency_us) {
            (Some(mine), Some(theirs)) if self.iops + other.iops > 0.0 => {
                Some((mine * self.iops + theirs * other.iops) / (self.iops + other.iops))
            }
            (mine, theirs) => mine.or(theirs),
        };
        let max_latency_us = self.max_latency_us.into_iter().chain(other.max_latency_us).reduce(f64::max);
        // Percentiles of two do not add up.
        let percentiles_us = LatencyPercentiles::default();
        JobDirection {
            bytes_s,
            iops: self.iops + other.iops,
            printed,
            latency_us,
            max_latency_us,
            percentiles_us,
        }
    }

    /// Bytes of one I/O, 0 where nobody can tell.
    fn block(&self) -> u64 {
        if self.iops > 0.0 { (self.bytes_s / self.iops).round() as u64 } else { 0 }
    }
}

/// A sum of which either part may be missing.
fn sum(mine: Option<JobDirection>, theirs: Option<JobDirection>) -> Option<JobDirection> {
    mine.into_iter().chain(theirs).reduce(JobDirection::and)
}

/// A job, or several of one name and group that were added.
#[derive(Debug, Clone)]
struct FioJob {
    name: String,
    group: u64,
    options: JobOptions,
    /// Jobs that were added, or that fio itself says were.
    count: u32,
    error: i64,
    /// In the order of [`DIRECTIONS`].
    sides: [Option<JobDirection>; 3],
    /// It discarded blocks, too, which is neither.
    trims: bool,
    /// Process or time of start: two reports with the same are of one job, the first of them of its middle.
    begun: Option<String>,
}

impl FioJob {
    fn and(mut self, other: FioJob) -> FioJob {
        self.count = self.count.saturating_add(other.count);
        self.error = if self.error == 0 { other.error } else { self.error };
        for (mine, theirs) in self.sides.iter_mut().zip(other.sides) {
            *mine = sum(mine.take(), theirs);
        }
        self.trims |= other.trims;
        self
    }
}

/// Jobs of one name in one group are one.
fn grouped(jobs: Vec<FioJob>) -> Vec<FioJob> {
    let named = by_key(jobs.into_iter().map(|job| ((job.name.clone(), job.group), job)));
    named.into_iter().filter_map(|(_, jobs)| jobs.into_iter().reduce(FioJob::and)).collect()
}

/// What belongs to each key, in the order in which they come.
fn by_key<K: Clone + Eq + Hash, T>(all: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
    let mut indices: HashMap<K, usize> = HashMap::new();
    let mut keys: Vec<(K, Vec<T>)> = Vec::new();
    for (key, one) in all {
        let index = *indices.entry(key.clone()).or_insert(keys.len());
        match keys.get_mut(index) {
            Some((_, ones)) => ones.push(one),
            None => keys.push((key, vec![one])),
        }
    }
    keys
}

/// One start of fio.
#[derive(Debug, Default)]
struct FioDocument {
    version: Option<String>,
    date: Option<String>,
    jobs: Vec<FioJob>,
    disks: Vec<String>,
    /// The computer, where several of them report to a client.
    host: Option<String>,
}

impl FioDocument {
    /// Whether another report tells of the same jobs at a later time, as `--status-interval` makes them.
    fn is_continued_by(&self, later: &FioDocument) -> bool {
        let known = |job: &FioJob| Some((job.name.clone(), job.group, job.begun.clone()?));
        let theirs: HashSet<_> = later.jobs.iter().filter_map(known).collect();
        let goes_on = |job: &FioJob| known(job).is_some_and(|job| theirs.contains(&job));
        self.host == later.host && !self.jobs.is_empty() && self.jobs.iter().all(goes_on)
    }
}
