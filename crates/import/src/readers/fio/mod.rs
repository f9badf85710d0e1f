//! Logs of fio, as JSON and as text: jobs, and their results.
//!
//! Jobs of one name in one group are summed up to one result, as fio's own `group_reporting` does. A job that reads and
//! writes is a mix, and its two parts are results, too; if it only reads back what it wrote (`verify=`), the reading is a
//! separate step. Jobs of several names in one group ran at the same time (only `stonewall` and `new_group` begin another
//! group), so they shared the card. fio counts in KiB, and prints bytes only since version 3.

mod assemble;
pub(crate) mod json;
mod options;
pub(crate) mod text;

use cardscope_model::result::ToolPrints;
use cardscope_model::run::LatencyPercentiles;
use options::JobOptions;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Directions of a job. `mixed` is the sum of both, printed with `unified_rw_reporting`.
const DIRECTIONS: [&str; 3] = ["read", "write", "mixed"];

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
    /// Sum of two directions. Its latency is the mean over the I/Os of both.
    fn merge_direction(self, other: JobDirection) -> JobDirection {
        let (bytes_s, iops) = (self.bytes_s + other.bytes_s, self.iops + other.iops);
        let printed = match self.printed.unit == other.printed.unit {
            true => ToolPrints { value: self.printed.value + other.printed.value, unit: self.printed.unit },
            false => ToolPrints { value: bytes_s / 1024.0, unit: "KiB/s".to_owned() },
        };
        let latency_us = match (self.latency_us, other.latency_us) {
            (Some(mine), Some(theirs)) if iops > 0.0 => Some((mine * self.iops + theirs * other.iops) / iops),
            (mine, theirs) => mine.or(theirs),
        };
        let max_latency_us = self.max_latency_us.into_iter().chain(other.max_latency_us).reduce(f64::max);
        // Percentiles of two distributions cannot be combined.
        let percentiles_us = LatencyPercentiles::default();
        JobDirection { bytes_s, iops, printed, latency_us, max_latency_us, percentiles_us }
    }

    /// Bytes of one I/O; 0 if the IOPS are unknown.
    fn block_bytes(&self) -> u64 {
        if self.iops > 0.0 { (self.bytes_s / self.iops).round() as u64 } else { 0 }
    }
}

/// A job, or the sum of several jobs of one name and group.
#[derive(Debug, Clone)]
struct FioJob {
    name: String,
    group: u64,
    options: JobOptions,
    /// Jobs in the sum, including those that fio summed up.
    count: u32,
    error: i64,
    /// Same order as [`DIRECTIONS`].
    directions: [Option<JobDirection>; 3],
    /// True if the job also discarded blocks, which is not a direction.
    discards: bool,
    /// Process id or time of the start. Of two reports with the same one, the first is an interim report.
    start_key: Option<String>,
}

impl FioJob {
    fn merge_job(mut self, other: FioJob) -> FioJob {
        self.count = self.count.saturating_add(other.count);
        self.error = if self.error == 0 { other.error } else { self.error };
        for (mine, theirs) in self.directions.iter_mut().zip(other.directions) {
            *mine = mine.take().into_iter().chain(theirs).reduce(JobDirection::merge_direction);
        }
        self.discards |= other.discards;
        self
    }
}

/// Sums up jobs of one name in one group.
fn sum_by_group(jobs: Vec<FioJob>) -> Vec<FioJob> {
    let named = group_by_key(jobs.into_iter().map(|job| ((job.name.clone(), job.group), job)));
    named.into_iter().filter_map(|(_, jobs)| jobs.into_iter().reduce(FioJob::merge_job)).collect()
}

/// Groups values by key, in the order in which the keys appear.
fn group_by_key<K: Clone + Eq + Hash, T>(all: impl Iterator<Item = (K, T)>) -> Vec<(K, Vec<T>)> {
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

/// Report of one start of fio.
#[derive(Debug, Default)]
struct FioDocument {
    version: Option<String>,
    date: Option<String>,
    jobs: Vec<FioJob>,
    disks: Vec<String>,
    /// Name of the computer, if several report to one client.
    host: Option<String>,
}

impl FioDocument {
    /// True if another report is a later one on the same jobs, as `--status-interval` makes them.
    fn is_continued_by(&self, later: &FioDocument) -> bool {
        let known = |job: &FioJob| Some((job.name.clone(), job.group, job.start_key.clone()?));
        let theirs: HashSet<_> = later.jobs.iter().filter_map(known).collect();
        let goes_on = |job: &FioJob| known(job).is_some_and(|job| theirs.contains(&job));
        self.host == later.host && !self.jobs.is_empty() && self.jobs.iter().all(goes_on)
    }
}
