//! Where a simulated card's content comes from, lies and goes: the words of its name that are about files and memory,
//! not about the card.

use crate::target_spec::{SpecError, wrong};
use cardscope_model::units::parse_size;
use std::path::PathBuf;

/// Values of `state` that are no file's name.
const STARTS: [&str; 3] = ["factory", "filled", "used"];

/// Memory for bytes given as such, where no other is asked for.
const MEMORY: u64 = 256 << 20;

/// Where a simulated card's content comes from, lies and goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Storage {
    /// A saved state to start from (`state=FILE`).
    pub load: Option<PathBuf>,
    /// Where the state is saved when the card is closed (`save=FILE`).
    pub save: Option<PathBuf>,
    /// Bytes of written data that are kept in memory; what is more goes to a file (`memory=256MiB`).
    pub memory_bytes: u64,
}

impl Default for Storage {
    fn default() -> Self {
        Storage { load: None, save: None, memory_bytes: MEMORY }
    }
}

impl Storage {
    /// Takes a word that is about files or memory, and says whether it was one.
    pub(crate) fn take(&mut self, key: &str, value: &str) -> Result<bool, SpecError> {
        let path = || match value {
            "" => Err(wrong(key, value, "must name a file")),
            name => Ok(Some(PathBuf::from(name))),
        };
        match key {
            "state" if !STARTS.contains(&value) => self.load = path()?,
            "save" => self.save = path()?,
            "memory" => {
                self.memory_bytes = parse_size(value).map_err(|e| wrong(key, value, &e.to_string()))?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}
