//! `verify` as text.

use cardscope_model::verify::VerifyReport;

/// The report as people read it.
#[must_use]
pub fn text(report: &VerifyReport) -> String {
    format!("{}: {}\n", report.target, report.verdict)
}
