//! Score of a card for a job. A card that is faster in any figure never scores lower.

use super::{Figure, Figures, Job, JobDemand, JobWork};
use crate::units::{decimal_places, group_digits, without_zeros};
use serde::{Deserialize, Serialize};

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

/// Returns the score alone. Rankings call this a dozen times per card for their intervals.
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
