//! What a visit is asked for.

use crate::frame::{Common, Limits};
use clap::Args;
use std::time::Duration;

/// Test a card as a whole: real or fake, how fast, what it suits
///
/// Preserves the data on the card: each block is saved to a journal on another disk before it is overwritten,
/// then restored and checked. Ends with one page.
#[derive(Debug, Clone, Default, Args)]
#[command(
    mut_arg("budget", |budget| budget.default_value("3m")),
    mut_arg("max_write", |most| most.conflicts_with("read_only"))
)]
pub struct Request {
    /// What every verb is asked for.
    #[command(flatten)]
    pub common: Common,
    /// What it may spend; without a budget the visit takes three minutes.
    #[command(flatten)]
    pub limits: Limits,
    /// Write nothing; skip every test that needs writes, the capacity test included
    #[arg(long)]
    pub read_only: bool,
    /// Overwrite the card without saving its data, which leaves time for more tests. All data on it is lost
    /// (asks first)
    #[arg(long, conflicts_with = "read_only")]
    pub erase: bool,
    /// Text printed on the card, to be checked, e.g. "256GB U3 A2 V30 'up to 160 MB/s'"
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
}

/// What a visit takes where nothing else is asked for.
const BUDGET: Duration = Duration::from_secs(180);

impl Request {
    /// Time for all of it.
    pub(super) fn budget(&self) -> Duration {
        self.limits.budget.unwrap_or(BUDGET)
    }
}
