//! Scores of the jobs from the card's figures.

use super::check_run::CheckRun;
use cardscope_compare::judge::ranking::{AfterCache, speed_after_cache};
use cardscope_model::check::CheckReport;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::job::{self, Figures};
use cardscope_model::result::TestResult;
use cardscope_model::shell::shell_quote;

impl CheckRun<'_, '_> {
    /// Scores the jobs, but not of a fake or defective card, which suits none.
    pub(super) fn judge_jobs(&mut self) {
        if self.report.body.verdict.is_bad() || self.report.body.bench.is_empty() {
            return;
        }
        let (figures, assumed) = job_figures(self.report);
        if assumed && figures.sustained_write_mb_s.is_some() {
            self.report.header.findings.push(
                Finding::new(
                    "sustained-assumed",
                    FindingWeight::Note,
                    0.6,
                    "The test did not reach the end of the write cache; long writes may be slower.",
                )
                .with_advice(format!(
                    "Run `cardscope sustain {}` to find the speed after the cache.",
                    shell_quote(&self.report.header.target)
                )),
            );
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
    let writes: Vec<&TestResult> =
        ["SEQ1M Q1T1 write", "RND4K Q1T1 write"].into_iter().filter_map(result).collect();
    let longest = writes.iter().map(|r| r.latency_us.max / 1e6).reduce(f64::max);
    let write_mb_s = best(speed("SEQ1M Q8T1 write"), speed("SEQ1M Q1T1 write"));
    let (sustained_write_mb_s, assumed) = sustained_write(report, write_mb_s);
    let figures = Figures {
        read_mb_s: best(speed("SEQ1M Q8T1 read"), speed("SEQ1M Q1T1 read")),
        write_mb_s,
        sustained_write_mb_s,
        random_read_iops: result("RND4K Q1T1 read").map(|r| r.iops),
        random_write_iops: result("RND4K Q1T1 write").map(|r| r.iops),
        longest_write_s: longest,
        capacity_gb: Some(announced_capacity(report) as f64 / 1e9),
    };
    (figures, assumed)
}

/// Announced capacity, or the free space of a directory.
fn announced_capacity(report: &CheckReport) -> u64 {
    report.body.identity.as_ref().and_then(|i| i.capacity_bytes).unwrap_or(report.body.announced_bytes)
}

fn sustained_write(report: &CheckReport, write_mb_s: Option<f64>) -> (Option<f64>, bool) {
    match speed_after_cache(
        report.body.sustain.as_ref(),
        report.body.map.as_ref().map(|map| &map.body.measured),
    ) {
        AfterCache::Measured(mb_s) => (Some(mb_s), false),
        AfterCache::NoCache => (write_mb_s, false),
        AfterCache::Unknown => (write_mb_s, true),
    }
}
