//! Options shared by all verbs on a card. Each verb has one request, in which every option is described once: the
//! command line fills it by these descriptions, an API client by its fields. A field that serde skips cannot be given by an
//! API client: paths, the archive, consent.

use crate::arguments::parse_duration;
use crate::option_json;
use crate::options::{ArchiveAt, ConditionOptions, GivenConsent, WriteLimit};
use cardscope_model::shell::shell_quote;
use cardscope_model::units::option_size;
use cardscope_simulator::target_spec;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Options shared by all verbs on a card.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct CommonOptions {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    pub target: String,
    #[command(flatten)]
    #[serde(flatten)]
    pub conditions: ConditionOptions,
    /// Seed for positions, order and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    #[serde(skip)]
    pub archive: ArchiveAt,
    /// Consent that is given before anybody is asked.
    #[command(flatten)]
    #[serde(skip)]
    pub consent: GivenConsent,
}

/// Limits of time and writes.
#[derive(Debug, Clone, Copy, Default, Args, Serialize, Deserialize)]
pub struct SpendLimits {
    /// Time limit, restoring included, e.g. 90s, 3m, 1h; tests that did not fit are listed
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    #[serde(with = "option_json")]
    pub budget: Option<Duration>,
    #[command(flatten)]
    #[serde(flatten)]
    pub writing: WriteLimit,
}

impl SpendLimits {
    pub fn max_write(&self) -> Option<u64> {
        self.writing.max_write
    }
}

impl CommonOptions {
    /// Options that repeat the run, each preceded by a space and quoted for a shell. `max_write` is the limit to name.
    pub fn repeat_options(&self, max_write: Option<u64>) -> String {
        let stated = &self.conditions.conditions;
        let conditions = stated.iter().map(|text| format!(" --condition {}", shell_quote(text)));
        let seed = self.seed.map(|seed| format!(" --seed {seed}"));
        let most = max_write.map(|bytes| format!(" --max-write {}", option_size(bytes)));
        let archive = self.archive.named_path().map(cardscope_store::redact_address);
        let archive = archive.map(|path| format!(" --archive {}", shell_quote(&path.to_string_lossy())));
        conditions.chain(seed).chain(most).chain(archive).collect()
    }

    /// True if the name is that of a simulated card. This needs no open target.
    pub fn is_simulated(&self) -> bool {
        target_spec::is_simulated(&self.target)
    }
}
