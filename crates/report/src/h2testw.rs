//! The summary of `verify --files` in the words of h2testw.

use cardscope_model::verify::VerifyReport;

/// The summary.
#[must_use]
pub fn text(report: &VerifyReport) -> String {
    super::verify::text(report)
}
