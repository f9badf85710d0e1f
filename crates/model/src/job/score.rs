//! From a card's figures to seconds and a score. A card that is faster in anything never scores lower.

use super::{Figure, Figures, Job, JobDemand, JobWork};
use crate::units::{decimals, grouped};
use serde::{Deserialize, Serialize};

/// A card that misses a demand scores no more than this, however fast it is otherwise.
const MOST_IF_MISSED: f64 = 20.0;

/// Works that weigh less than this share of a job's all say too little about it.
const LEAST_WEIGHT: f64 = 0.5;

/// How good a card is for a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobFit {
    /// A demand is missed.
    Unfit,
    /// It does, slowly.
    Poor,
    /// It does.
    Fair,
    /// It does it well.
    Good,
    /// Too little was measured to say.
    Unknown,
}

/// What a job makes of a card.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobScore {
    /// The job's name.
    pub job: String,
    /// The job in words.
    pub title: String,
    /// 0 to 100; `None` where less than half of the work, by its weight, could be reckoned.
    pub score: Option<f64>,
    /// In a word.
    pub fit: JobFit,
    /// The works and the seconds they take: `load 10 GB: 13.3 s`.
    pub meaning: Vec<String>,
    /// The same as numbers: what, and seconds.
    pub seconds: Vec<(String, f64)>,
    /// Demands that are missed, with why they matter.
    pub missed: Vec<String>,
    /// Figures that were not measured.
    pub missing: Vec<String>,
}

/// Reckons what a job makes of a card.
pub fn score(job: &Job, figures: &Figures) -> JobScore {
    score_assuming(job, figures, &[])
}

/// The same where some figures are only known to be at best so good, as a speed into a cache is of what comes behind it: a
/// demand that they miss is missed, one that they meet is not known to be met, and a card that a job rests on such a figure
/// is fair at most.
pub fn score_assuming(job: &Job, figures: &Figures, at_best: &[Figure]) -> JobScore {
    let mut missing: Vec<Figure> = Vec::new();
    let mut seconds = Vec::new();
    for work in &job.work {
        match takes(work, figures) {
            Some(time) => seconds.push((work.what.clone(), time)),
            None => missing.extend(needed(work).map(|(f, _)| f).filter(|f| figures.get(*f).is_none())),
        }
    }
    let missed: Vec<String> = job.demand.iter().filter_map(|d| missed(d, figures)).collect();
    missing.extend(job.demand.iter().map(|d| d.figure).filter(|f| figures.get(*f).is_none()));
    missing.sort_unstable();
    missing.dedup();
    let score = points_alone(job, figures);
    let known = |figure: &Figure| figures.get(*figure).is_some() && !at_best.contains(figure);
    let sure = job.demand.iter().all(|demand| known(&demand.figure))
        && !job
            .work
            .iter()
            .flat_map(JobWork::amounts)
            .any(|(f, amount)| amount > 0.0 && at_best.contains(&f));
    JobScore {
        job: job.name.clone(),
        title: job.title.clone(),
        score,
        fit: fit(score, &missed, sure),
        meaning: seconds.iter().map(|(what, time)| format!("{what}: {}", said(*time))).collect(),
        seconds,
        missed,
        missing: missing.iter().map(|f| f.words().0.to_owned()).collect(),
    }
}

/// The score without a word about it: the interval of a ranking's scores asks for it a dozen times a card.
pub fn points_alone(job: &Job, figures: &Figures) -> Option<f64> {
    weighed(job, figures, |points| points.clamp(0.0, 100.0))
}

/// What cards are ordered by: the score without its ends, so that of two that are better than good the better one is first.
pub fn points_beyond(job: &Job, figures: &Figures) -> Option<f64> {
    weighed(job, figures, |points| points)
}

fn weighed(job: &Job, figures: &Figures, within: impl Fn(f64) -> f64) -> Option<f64> {
    let (mut sum, mut weights) = (0.0, 0.0);
    for work in &job.work {
        if let Some(time) = takes(work, figures) {
            sum += work.weight * within(points(work, time));
            weights += work.weight;
        }
    }
    let misses =
        |demand: &JobDemand| figures.get(demand.figure).is_some_and(|value| limit(demand, value).is_some());
    let most = if job.demand.iter().any(misses) { MOST_IF_MISSED } else { f64::INFINITY };
    let all: f64 = job.work.iter().map(|work| work.weight).sum();
    (weights > 0.0 && weights >= LEAST_WEIGHT * all).then(|| (sum / weights).min(most))
}

/// What a work needs of a card.
fn needed(work: &JobWork) -> impl Iterator<Item = (Figure, f64)> {
    work.amounts().into_iter().filter(|(_, amount)| *amount > 0.0)
}

/// Seconds of a work; `None` where a figure is missing for it.
fn takes(work: &JobWork, figures: &Figures) -> Option<f64> {
    needed(work).map(|(figure, amount)| Some(amount / reachable(work, figure, figures)?)).sum()
}

/// A figure as far as the other side lets it count.
fn reachable(work: &JobWork, figure: Figure, figures: &Figures) -> Option<f64> {
    let value = figures.get(figure)?;
    match work.other_side_mb_s {
        Some(most) if figure.is_sequential() => Some(value.min(most)),
        _ => Some(value),
    }
}

/// 100 at the good time, 0 at the poor one, evenly by ratio between and beyond: twice as long costs the same anywhere.
fn points(work: &JobWork, time: f64) -> f64 {
    100.0 * (work.poor_s / time).ln() / (work.poor_s / work.good_s).ln()
}

fn missed(demand: &JobDemand, figures: &Figures) -> Option<String> {
    let value = figures.get(demand.figure)?;
    let (name, unit) = demand.figure.words();
    let (word, limit) = limit(demand, value)?;
    Some(format!("{name}: {} {unit} (needs {word} {} {unit}): {}", digits(value), short(limit), demand.why))
}

/// The limit that a value misses.
fn limit(demand: &JobDemand, value: f64) -> Option<(&'static str, f64)> {
    match (demand.least, demand.most) {
        (Some(least), _) if value < least => Some(("at least", least)),
        (_, Some(most)) if value > most => Some(("at most", most)),
        _ => None,
    }
}

fn fit(score: Option<f64>, missed: &[String], sure: bool) -> JobFit {
    match score {
        _ if !missed.is_empty() => JobFit::Unfit,
        None => JobFit::Unknown,
        // What may yet turn out unfit is not called good.
        Some(points) if points >= 33.0 && !sure => JobFit::Fair,
        Some(points) if points >= 66.0 => JobFit::Good,
        Some(points) if points >= 33.0 => JobFit::Fair,
        Some(_) => JobFit::Poor,
    }
}

/// Three digits that mean something; long numbers in groups.
fn digits(value: f64) -> String {
    match value {
        long if (10_000.0..1e15).contains(&long) => grouped(long.round() as u64),
        _ => format!("{value:.*}", decimals(value.abs())),
    }
}

/// The same of a number that somebody chose, without zeros behind its point.
fn short(limit: f64) -> String {
    let digits = digits(limit);
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => digits,
    }
}

fn said(seconds: f64) -> String {
    match seconds {
        s if s >= 5400.0 => format!("{:.1} h", s / 3600.0),
        s if s >= 120.0 => format!("{:.0} min", s / 60.0),
        s => format!("{} s", digits(s)),
    }
}
