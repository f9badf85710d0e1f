//! Jobs as data: amounts of work and demands, one file per job in `jobs/`. With a card's figures a job gives the
//! seconds that a person waits, and a score.

#[cfg(test)]
mod tests;

use crate::builtin_files;
use crate::builtin_names::{BuiltinFiles, FileError};
use crate::toml_error::message_with_line;
use crate::units::{decimal_places, group_digits, without_zeros};
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
const WRITES_PER_SYNC: f64 = 3.0;

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

/// Highest score of a card that misses a demand.
const MAX_SCORE_IF_MISSED: f64 = 20.0;

/// Share of the job's weight that must be computable for a score.
const MIN_WEIGHT_SHARE: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobFit {
    Unfit,
    Poor,
    Fair,
    Good,
    /// Too few figures.
    Unknown,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobScore {
    pub job: String,
    pub title: String,
    /// 0 to 100; None if less than half of the work, by weight, could be computed.
    pub score: Option<f64>,
    pub fit: JobFit,
    /// Works and their durations, e.g. `load 10 GB: 13.3 s`.
    pub meaning: Vec<String>,
    pub seconds: Vec<(String, f64)>,
    pub missed: Vec<String>,
    pub missing: Vec<String>,
}

pub fn score_job(job: &Job, figures: &Figures) -> JobScore {
    score_with_upper_bounds(job, figures, &[])
}

/// Scores a card of which some figures are upper bounds only, e.g. the speed into a cache. Such a figure can miss a
/// demand but not prove that it is met, and a card whose job depends on one is fair at most.
pub fn score_with_upper_bounds(job: &Job, figures: &Figures, at_best: &[Figure]) -> JobScore {
    let timed = |work: &JobWork| Some((work.what.clone(), work_seconds(work, figures)?));
    let seconds: Vec<(String, f64)> = job.work.iter().filter_map(timed).collect();
    let demanded = || job.demand.iter().map(|demand| demand.figure);
    let needed = || job.work.iter().flat_map(needed_figures).map(|(figure, _)| figure);
    let is_missing = |figure: &Figure| figures.get(*figure).is_none();
    let mut missing: Vec<Figure> = needed().chain(demanded()).filter(is_missing).collect();
    missing.sort_unstable();
    missing.dedup();
    let missed: Vec<String> = job.demand.iter().filter_map(|d| missed_demand(d, figures)).collect();
    let score = clamped_points(job, figures);
    let sure = !demanded().any(|figure| is_missing(&figure))
        && !needed().chain(demanded()).any(|figure| at_best.contains(&figure));
    JobScore {
        job: job.name.clone(),
        title: job.title.clone(),
        score,
        fit: judge_fit(score, &missed, sure),
        meaning: seconds.iter().map(|(what, time)| format!("{what}: {}", duration_text(*time))).collect(),
        seconds,
        missed,
        missing: missing.iter().map(|f| f.name_and_unit().0.to_owned()).collect(),
    }
}

/// Returns the score, 0 to 100, without the details of [`score_job`]; `None` if too few figures are known. Rankings
/// call this a dozen times per card for their intervals.
pub fn clamped_points(job: &Job, figures: &Figures) -> Option<f64> {
    weighted_points(job, figures, |points| points.clamp(0.0, 100.0))
}

/// Returns the score without limits at 0 and 100, to order cards that are both better than good.
pub fn unclamped_points(job: &Job, figures: &Figures) -> Option<f64> {
    weighted_points(job, figures, |points| points)
}

fn weighted_points(job: &Job, figures: &Figures, within: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for work in &job.work {
        if let Some(time) = work_seconds(work, figures) {
            sum += work.weight * within(work_points(work, time));
            weights += work.weight;
        }
    }
    let misses = |d: &JobDemand| figures.get(d.figure).is_some_and(|value| missed_limit(d, value).is_some());
    let most = if job.demand.iter().any(misses) { MAX_SCORE_IF_MISSED } else { f64::INFINITY };
    let all: f64 = job.work.iter().map(|work| work.weight).sum();
    (weights > 0.0 && weights >= MIN_WEIGHT_SHARE * all).then(|| (sum / weights).min(most))
}

fn needed_figures(work: &JobWork) -> impl Iterator<Item = (Figure, f64)> {
    work.needed_amounts().into_iter().filter(|(_, amount)| *amount > 0.0)
}

/// Returns the seconds of a work, or None if a figure is missing.
fn work_seconds(work: &JobWork, figures: &Figures) -> Option<f64> {
    needed_figures(work).map(|(figure, amount)| Some(amount / limited_figure(work, figure, figures)?)).sum()
}

/// Returns a figure, limited by the other side.
fn limited_figure(work: &JobWork, figure: Figure, figures: &Figures) -> Option<f64> {
    let value = figures.get(figure)?;
    match work.other_side_mb_s {
        Some(most) if figure.is_sequential() => Some(value.min(most)),
        _ => Some(value),
    }
}

/// Scores 100 at the good time and 0 at the poor one, linear in the logarithm, so that doubling costs the same
/// anywhere.
fn work_points(work: &JobWork, time: f64) -> f64 {
    100.0 * (work.poor_s / time).ln() / (work.poor_s / work.good_s).ln()
}

fn missed_demand(demand: &JobDemand, figures: &Figures) -> Option<String> {
    let value = figures.get(demand.figure)?;
    let (name, unit) = demand.figure.name_and_unit();
    let (word, limit) = missed_limit(demand, value)?;
    let (value, limit, why) = (three_digit_text(value), without_zeros(three_digit_text(limit)), &demand.why);
    Some(format!("{name}: {value} {unit} (needs {word} {limit} {unit}): {why}"))
}

/// Returns the limit that a value misses.
fn missed_limit(demand: &JobDemand, value: f64) -> Option<(&'static str, f64)> {
    match (demand.least, demand.most) {
        (Some(least), _) if value < least => Some(("at least", least)),
        (_, Some(most)) if value > most => Some(("at most", most)),
        _ => None,
    }
}

fn judge_fit(score: Option<f64>, missed: &[String], sure: bool) -> JobFit {
    match score {
        _ if !missed.is_empty() => JobFit::Unfit,
        None => JobFit::Unknown,
        // Unmeasured demands may still make the card unfit, so it is not good yet.
        Some(points) if points >= 33.0 && !sure => JobFit::Fair,
        Some(points) if points >= 66.0 => JobFit::Good,
        Some(points) if points >= 33.0 => JobFit::Fair,
        Some(_) => JobFit::Poor,
    }
}

/// Formats three significant digits; long numbers are grouped.
fn three_digit_text(value: f64) -> String {
    match value {
        long if (10_000.0..1e15).contains(&long) => group_digits(long.round() as u64),
        _ => format!("{value:.*}", decimal_places(value.abs())),
    }
}

fn duration_text(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 120.0 => format!("{:.0} min", s / 60.0),
        s => format!("{} s", three_digit_text(s)),
    }
}
