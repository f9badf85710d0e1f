//! Scores of the jobs from the card's figures.

use super::check_run::CheckRun;
use cardscope_compare::judge::ranking::{AfterCache, speed_after_cache};
use cardscope_model::check::CheckReport;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::job::{self, Figures};
use cardscope_model::shell::shell_quote;

impl CheckRun<'_, '_> {
    /// Scores the jobs, but not of a fake or defective card, which suits none.
    pub(super) fn judge_jobs(&mut self) {
        if self.report.body.verdict.is_bad() || self.report.body.bench.is_empty() {
            return;
        }
        let (figures, assumed) = job_figures(self.report);
        if assumed && figures.sustained_write_mb_s.is_some() {
            let verdict = "The test did not reach the end of the write cache; long writes may be slower.";
            let target = shell_quote(&self.report.header.target);
            let advice = format!("Run `cardscope sustain {target}` to find the speed after the cache.");
            let finding = Finding::new("sustained-assumed", FindingWeight::Note, 0.6, verdict);
            self.report.header.findings.push(finding.with_advice(advice));
        }
        // Cannot fail: a test parses all built-in jobs.
        let jobs = job::JOBS.parse_all(job::parse_job).unwrap_or_default();
        self.report.body.jobs = jobs.iter().map(|job| job::score_job(job, &figures)).collect();
    }
}

/// Figures for the jobs, and true if the sustained write speed is only assumed from a short test.
pub(super) fn job_figures(report: &CheckReport) -> (Figures, bool) {
    // Results with failed I/Os are left out.
    let clean = report.body.bench.iter().filter(|result| !result.has_failed_ios());
    let result = |name: &str| clean.clone().find(|r| r.name().to_string() == name);
    let speed = |name: &str| result(name).map(|r| r.mb_s);
    let best = |one: Option<f64>, other: Option<f64>| one.into_iter().chain(other).reduce(f64::max);
    let writes = ["SEQ1M Q1T1 write", "RND4K Q1T1 write"].into_iter().filter_map(result);
    let longest = writes.map(|r| r.latency_us.max / 1e6).reduce(f64::max);
    let write_mb_s = best(speed("SEQ1M Q8T1 write"), speed("SEQ1M Q1T1 write"));
    let (sustained_write_mb_s, assumed) = sustained_write(report, write_mb_s);
    // The announced capacity, or the free space of a directory.
    let capacity = report.body.identity.as_ref().and_then(|identity| identity.capacity_bytes);
    let figures = Figures {
        read_mb_s: best(speed("SEQ1M Q8T1 read"), speed("SEQ1M Q1T1 read")),
        write_mb_s,
        sustained_write_mb_s,
        random_read_iops: result("RND4K Q1T1 read").map(|r| r.iops),
        random_write_iops: result("RND4K Q1T1 write").map(|r| r.iops),
        longest_write_s: longest,
        capacity_gb: Some(capacity.unwrap_or(report.body.announced_bytes) as f64 / 1e9),
    };
    (figures, assumed)
}

fn sustained_write(report: &CheckReport, write_mb_s: Option<f64>) -> (Option<f64>, bool) {
    let map = report.body.map.as_ref().map(|map| &map.body.measured);
    match speed_after_cache(report.body.sustain.as_ref(), map) {
        AfterCache::Measured(mb_s) => (Some(mb_s), false),
        AfterCache::NoCache => (write_mb_s, false),
        AfterCache::Unknown => (write_mb_s, true),
    }
}
