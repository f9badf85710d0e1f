//! What every use of a verb on a card is asked for.

use crate::error::Failure;
use cardscope_model::card_map::advice::quoted;
use cardscope_model::condition::Condition;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What every use of a verb on a card is asked for; made once, by the command line or by a server.
#[derive(Debug, Clone, Default)]
pub struct Common {
    /// Device, directory, file or `sim:NAME`.
    pub target: String,
    /// What is true of card and rig, `KEY=VALUE` each.
    pub conditions: Vec<String>,
    /// Seed of places, orders and data; `None` draws one.
    pub seed: Option<u64>,
    /// The archive's file or address; `None` is the user's own.
    pub archive: Option<PathBuf>,
    /// Time in which all must be over, putting back included.
    pub budget: Option<Duration>,
    /// Bytes that may be written, putting back not counted.
    pub max_write: Option<u64>,
}

impl Common {
    /// What the user states of card and rig.
    ///
    /// # Errors
    /// A refusal: a word that is none, or a value that it cannot have.
    pub fn stated(&self) -> Result<Condition, Failure> {
        let mut stated = Condition::default();
        self.conditions.iter().try_for_each(|text| stated.state(text)).map_err(Failure::refused)?;
        Ok(stated)
    }

    /// The options that ask for the same, as a shell takes them, each behind a space; the budget left out.
    pub fn options(&self) -> String {
        let conditions = self.conditions.iter().map(|stated| format!(" --condition {}", quoted(stated)));
        let seed = self.seed.map(|seed| format!(" --seed {seed}"));
        let most = self.max_write.map(|bytes| format!(" --max-write {bytes}"));
        let archive = self.archive.as_deref().map(cardscope_store::shown);
        let archive = archive.map(|place| format!(" --archive {}", quoted(&place.to_string_lossy())));
        conditions.chain(seed).chain(most).chain(archive).collect()
    }

    /// True where the target is a directory, in which only files of the verb's own are written.
    pub fn names_directory(&self) -> bool {
        Path::new(&self.target).is_dir()
    }
}
