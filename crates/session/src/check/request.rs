//! What a visit is asked for.

use crate::frame::{Common, Limits};
use clap::Args;
use std::time::Duration;

/// Test a card as a whole: real or fake, how fast, what it suits
///
/// Everything that is on the card is kept: what is overwritten is saved to a journal on another disk first, and put
/// back and checked afterwards. Ends with one page of verdict.
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
    /// Write nothing at all: what only writing can show is left out, the capacity among it
    #[arg(long)]
    pub read_only: bool,
    /// What is on the card may go: nothing is saved and put back, which makes time for more (asks for consent)
    #[arg(long, conflicts_with = "read_only")]
    pub erase: bool,
    /// What is printed on the card, e.g. "256GB U3 A2 V30 'up to 160 MB/s'"; the page says what is untrue of it
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
