//! Stalls of minutes: single I/Os so long that programs seem to hang, as on a card that collects garbage during writes
//! (docs/reference/reports.md#lexar-review).

use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::result::RunResult;
use cardscope_model::units::{MINUTE_S, WaitTime};

/// Finding about the longest I/O if it took a minute or more. `when` completes the sentence.
pub fn long_stall_finding(longest_s: f64, when: &str) -> Option<Finding> {
    let finding = |verdict| Finding::new("stalled-for-minutes", FindingWeight::Hint, 0.99, verdict);
    (longest_s.is_finite() && longest_s >= MINUTE_S).then(|| {
        finding(format!("The card stalled for {} {when}.", WaitTime(longest_s)))
            .because("longest I/O", WaitTime(longest_s))
            .with_advice("Do not run a system from this card: programs hang for as long as it stalls.")
    })
}

/// The same for all tests of a session. The mean latency of queued commands is subtracted, since each waits for those
/// before it.
pub fn long_stall_in_runs(runs: &[RunResult]) -> Option<Finding> {
    let results = runs.iter().flat_map(|run| &run.results);
    let stalls = results.map(|result| {
        let is_queued = result.test.queue * result.test.threads > 1;
        let queued_us = if is_queued { result.latency_us.mean } else { 0.0 };
        ((result.latency_us.max - queued_us) / 1e6, &result.test, result.op)
    });
    let (longest_s, test, op) = stalls.max_by(|a, b| a.0.total_cmp(&b.0))?;
    long_stall_finding(longest_s, &format!("in {test} {op}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::result::TestResult;

    #[test]
    fn only_stalls_of_a_minute_are_reported() {
        let said = |seconds| long_stall_finding(seconds, "in a write").map(|finding| finding.verdict);
        assert_eq!(said(144.0).as_deref(), Some("The card stalled for 2.40 min in a write."));
        assert_eq!([said(59.0), said(f64::NAN), said(f64::INFINITY)], [None, None, None]);
    }

    /// Result with this mean and longest I/O.
    fn result(name: &str, mean_s: f64, longest_s: f64) -> TestResult {
        let mut result = TestResult::from_speed(name.parse().unwrap(), 1.0);
        (result.latency_us.mean, result.latency_us.max) = (mean_s * 1e6, longest_s * 1e6);
        result
    }

    fn said(results: Vec<TestResult>) -> Option<String> {
        long_stall_in_runs(&[RunResult { results, ..RunResult::default() }]).map(|finding| finding.verdict)
    }

    #[test]
    fn finding_names_the_test_with_the_longest_stall() {
        let stalled = result("RND4K Q1T1 write", 0.1, 90.0);
        let named = said(vec![stalled, result("SEQ1M Q8T1 read", 0.1, 0.2)]);
        assert_eq!(named.as_deref(), Some("The card stalled for 1.50 min in RND4K Q1T1 write."));
        assert_eq!(long_stall_in_runs(&[]), None);
    }

    #[test]
    fn queue_waits_are_no_stalls() {
        assert_eq!(said(vec![result("RND4K Q32T16 write", 70.0, 95.0)]), None);
        assert!(said(vec![result("RND4K Q32T16 write", 5.0, 95.0)]).is_some());
    }
}
