//! Times of a write, by the family of the mapping.

use super::check::Verdict;
use super::{HybridWrite, LogWrite, PageWrite};
use serde::{Deserialize, Serialize};

/// Times of a write, by the family of the mapping.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "engine", rename_all = "kebab-case")]
pub enum Write {
    /// Blocks mapped whole, a few of them open at a time.
    Hybrid(HybridWrite),
    /// Random writes go to a log, whose reclaiming costs a merge for each allocation unit in it.
    Log(LogWrite),
    /// Pages mapped one by one.
    Page(PageWrite),
}

impl Write {
    pub(super) fn check(&self) -> Verdict {
        match self {
            Write::Hybrid(hybrid) => hybrid.check(),
            Write::Log(log) => log.check(),
            Write::Page(page) => page.check(),
        }
    }
}
