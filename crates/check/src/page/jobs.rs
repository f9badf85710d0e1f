//! Jobs that a card suits, on the page of `check`.

use cardscope_compare::page::ranking;
use cardscope_model::job::{JobFit, JobScore};
use cardscope_model::statistics::distinct_values;
use cardscope_page::figure::{answer_line, join_names, pluralize};
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{PageFact, fact};

/// Sentence on the best job with complete figures, and on jobs that the card does not suit.
pub(super) fn suitable_text(jobs: &[JobScore]) -> Option<String> {
    let is_bad = |job: &&JobScore| match job.fit {
        JobFit::Unfit => true,
        JobFit::Poor => job.missing.is_empty(),
        _ => false,
    };
    let bad: Vec<&str> = jobs.iter().filter(is_bad).map(|job| job.job.as_str()).collect();
    let whole = best_first(jobs).into_iter().filter(|job| job.missing.is_empty());
    let best = whole.filter_map(|job| Some((job, job.score?))).next();
    let missing = distinct_values(jobs.iter().flat_map(|job| job.missing.iter().cloned()));
    let missing = match missing.iter().all(|figure| figure.contains("write")) {
        true => "write tests did not run".to_owned(),
        false => format!("not measured: {}", missing.join(", ")),
    };
    Some(match (best, bad.as_slice()) {
        (Some((best, points)), []) => format!("Best for {} ({points:.0} of 100).", best.job),
        (Some((best, points)), bad) if !is_bad(&best) => {
            format!("Best for {} ({points:.0} of 100); not for {}.", best.job, join_names(bad))
        }
        (Some((best, points)), bad) if bad.len() == jobs.len() => {
            let all = pluralize(jobs.len() as u64, "job");
            format!("Suits none of {all}; the best is {} ({points:.0} of 100).", best.job)
        }
        _ if jobs.is_empty() => return None,
        (_, []) => answer_line(&format!("Jobs: not judged; {missing}")),
        (_, bad) => answer_line(&format!("Not for {}; other jobs not judged: {missing}", join_names(bad))),
    })
}

pub(super) fn best_first(jobs: &[JobScore]) -> Vec<&JobScore> {
    let mut jobs: Vec<&JobScore> = jobs.iter().collect();
    let points = |job: &JobScore| job.score.unwrap_or(-1.0);
    jobs.sort_by(|a, b| points(b).total_cmp(&points(a)));
    // An unfit card comes last, even with more points in other tasks of the job.
    jobs.sort_by_key(|job| job.fit == JobFit::Unfit);
    jobs
}

pub(super) fn job_table(jobs: &[JobScore]) -> Table {
    let why = |job: &&JobScore| match (job.missed.first(), job.missing.is_empty()) {
        (Some(missed), _) => missed.clone(),
        (None, false) => format!("not measured: {}", job.missing.join(", ")),
        (None, true) => job.meaning.first().cloned().unwrap_or_default(),
    };
    Table::from_items(
        &best_first(jobs),
        &[
            ("job", &|job| job.job.clone()),
            ("of 100", &|job| job.score.map(|score| format!("{score:.0}")).unwrap_or_default()),
            ("fit", &|job| ranking::fit_word(job.fit).to_owned()),
            ("why", &why),
        ],
    )
    .left_aligned(["fit", "why"])
}

/// Time that the tasks of each job take.
pub(super) fn job_details(jobs: &[JobScore]) -> Vec<PageFact> {
    best_first(jobs).into_iter().map(|job| fact(&job.job, job.meaning.join("; "))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(name: &str, points: f64, fit: JobFit, missing: &[&str]) -> JobScore {
        JobScore {
            job: name.to_owned(),
            title: String::new(),
            score: Some(points),
            fit,
            meaning: Vec::new(),
            seconds: Vec::new(),
            missed: Vec::new(),
            missing: missing.iter().map(|figure| (*figure).to_owned()).collect(),
        }
    }

    #[test]
    fn best_job_is_fully_measured_and_unfit_jobs_are_last() {
        let unsure = job("database", 83.0, JobFit::Fair, &["random writes"]);
        let (good, poor) =
            (job("pi-boot", 70.0, JobFit::Good, &[]), job("game-load", 9.0, JobFit::Poor, &[]));
        let unfit = job("camera-4k", 19.0, JobFit::Unfit, &[]);
        let said = |jobs: &[&JobScore]| suitable_text(&jobs.iter().copied().cloned().collect::<Vec<_>>());
        let said = |jobs: &[&JobScore]| said(jobs).unwrap_or_default();
        assert_eq!(said(&[&unsure, &good]), "Best for pi-boot (70 of 100).");
        assert_eq!(
            said(&[&good, &poor, &unfit]),
            "Best for pi-boot (70 of 100); not for game-load and camera-4k."
        );
        assert_eq!(said(&[&unsure]), "Jobs: not judged; write tests did not run.");
        assert_eq!(
            said(&[&unsure, &poor]),
            "Not for game-load; other jobs not judged: write tests did not run."
        );
        assert_eq!(said(&[&unfit, &poor]), "Suits none of 2 jobs; the best is game-load (9 of 100).");
        assert_eq!(said(&[]), "");
        let jobs = [unfit, poor];
        let order: Vec<&str> = best_first(&jobs).iter().map(|job| job.job.as_str()).collect();
        assert_eq!(order, ["game-load", "camera-4k"]);
    }
}
