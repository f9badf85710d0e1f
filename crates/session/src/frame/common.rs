//! What every use of a verb on a card is asked for. Each verb has one request, in which every option is described once: the
//! command line fills it by these descriptions, a server by its fields.

use crate::arguments::{duration, size};
use crate::error::{Failure, Result};
use cardscope_model::card_map::advice::quoted;
use cardscope_model::condition::Condition;
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What every verb on a card is asked for.
#[derive(Debug, Clone, Default, Args)]
pub struct Common {
    /// Device, directory, file, or sim:NAME[?key=value&…]
    pub target: String,
    /// What is true of card and rig, e.g. reader=internal (repeatable)
    #[arg(long = "condition", value_name = "KEY=VALUE")]
    pub conditions: Vec<String>,
    /// Seed of places, orders and data; the same seed repeats a run
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Archive to keep the results in: a file, or postgres://... [default: in the XDG data folder]
    #[arg(long, value_name = "FILE|URL", env = "CARDSCOPE_ARCHIVE", hide_env_values = true)]
    pub archive: Option<PathBuf>,
    /// Consent to lose what is on TARGET, where something may be lost; must equal TARGET as typed
    #[arg(long, value_name = "TARGET")]
    pub yes_destroy: Option<String>,
}

/// What a verb may spend.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct Limits {
    /// End after this time, putting back included, e.g. 90s, 3m, 1h; what was left out is named
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Write no more than this, putting back not counted, e.g. 4G [default: 256M in a directory on the disk that holds
    /// the running system]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub max_write: Option<u64>,
}

/// A condition as the user states it, `KEY=VALUE` each.
///
/// # Errors
/// A refusal: a word that is none, or a value that it cannot have.
pub(crate) fn stated(conditions: &[String]) -> Result<Condition> {
    let mut stated = Condition::default();
    conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
    Ok(stated)
}

impl Common {
    /// What the user states of card and rig.
    ///
    /// # Errors
    /// A refusal: a word that is none, or a value that it cannot have.
    pub fn stated(&self) -> Result<Condition> {
        stated(&self.conditions)
    }

    /// The options that ask for the same, with so many bytes that may be written, as a shell takes them, each behind a
    /// space.
    pub(crate) fn options(&self, max_write: Option<u64>) -> String {
        let conditions = self.conditions.iter().map(|stated| format!(" --condition {}", quoted(stated)));
        let seed = self.seed.map(|seed| format!(" --seed {seed}"));
        let most = max_write.map(|bytes| format!(" --max-write {bytes}"));
        let archive = self.archive.as_deref().map(cardscope_store::shown);
        let archive = archive.map(|path| format!(" --archive {}", quoted(&path.to_string_lossy())));
        conditions.chain(seed).chain(most).chain(archive).collect()
    }

    /// True where the target is a directory, in which only files of the verb's own are written.
    pub fn names_directory(&self) -> bool {
        Path::new(&self.target).is_dir()
    }
}
