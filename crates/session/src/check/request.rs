//! What a visit is asked to do.

use crate::frame::Common;
use std::time::Duration;

/// A visit as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for; without a budget the visit takes three minutes.
    pub common: Common,
    /// True where nothing may be written.
    pub read_only: bool,
    /// True where what is on the card may go, which makes time for more.
    pub erase: bool,
    /// What is printed on the card.
    pub label: Option<String>,
}

/// What a visit takes where nothing else is asked for.
const BUDGET: Duration = Duration::from_secs(180);

impl Request {
    /// Time for all of it.
    pub(super) fn budget(&self) -> Duration {
        self.common.budget.unwrap_or(BUDGET)
    }
}
