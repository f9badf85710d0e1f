//! Options of `check`.

use cardscope_model::mark_result::TestForm;
use cardscope_session::frame::{CommonOptions, SpendLimits};
use clap::Args;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Test a card as a whole: real or fake, how fast, what it suits
///
/// Preserves the data on the card: each block is saved to a journal on another disk before it is overwritten,
/// then restored and checked. Ends with one page.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(
    mut_arg("budget", |budget| budget.default_value("3m").default_value_if("marks", "true", None)),
    mut_arg("max_write", |most| most.conflicts_with("read_only"))
)]
pub struct CheckRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    /// Limits; without a budget the visit takes three minutes, but for marks in the conditions of the
    /// specification.
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: SpendLimits,
    /// Write nothing; skip every test that needs writes, the capacity test included
    #[arg(long)]
    pub read_only: bool,
    /// Overwrite the card without saving its data, which leaves time for more tests. All data on it is lost
    /// (asks first)
    #[arg(long, conflicts_with = "read_only")]
    pub erase: bool,
    /// Test capacity and marks only; with --erase in the conditions of the specification, which fills the card and takes
    /// at least 20 minutes more (no time limit unless --budget is given)
    #[arg(long, conflicts_with = "read_only")]
    pub marks: bool,
    /// Text printed on the card, to be checked, e.g. "256GB U3 A2 V30 'up to 160 MB/s'"
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}

/// Default budget.
pub(super) const DEFAULT_BUDGET: Duration = Duration::from_secs(180);

impl CheckRequest {
    pub(super) fn budget(&self) -> Duration {
        self.limits.budget.unwrap_or(DEFAULT_BUDGET)
    }

    /// Form of the marks test, from short to the specification's.
    pub(super) fn marks_form(&self) -> TestForm {
        match (self.erase, self.marks) {
            (false, _) => TestForm::Short,
            (true, false) => TestForm::Volumes,
            (true, true) => TestForm::Specification,
        }
    }

    /// True if the marks have no time limit.
    pub(super) fn has_no_time_limit(&self) -> bool {
        self.marks_form() == TestForm::Specification && self.limits.budget.is_none()
    }
}
