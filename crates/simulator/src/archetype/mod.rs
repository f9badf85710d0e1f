//! Archetypes: simulated cards as data, one TOML file each in `cards/`, embedded in the binary as [`CARDS`].

mod describe;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod truth;

use crate::random;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input_file;
use cardscope_model::builtin_files;
use cardscope_model::builtin_names::{BuiltinFiles, UnknownName};
use cardscope_model::toml_error::message_with_line;
pub use describe::describe_card;
pub use schema::*;

/// Built-in simulated cards: the files of `cards/`.
pub static CARDS: BuiltinFiles = BuiltinFiles {
    kind: "simulated card",
    files: builtin_files!("cards"),
    also: "; `cardscope sim list` lists them all, or name sim:random-7 (any number) or a file of your own, sim:./FILE.toml",
};

/// Reason why an archetype cannot be used. The first field is its name or file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArchetypeError {
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    #[error("simulated card {0}: the file cannot be read: {1}")]
    Malformed(String, #[source] ErrorCause),
    #[error("simulated card {0}: {1}")]
    File(String, #[source] ErrorCause),
    /// Impossible value: its key, the value, and what it must be.
    #[error("simulated card {0}: {1}")]
    Value(String, String),
}

/// Loads all built-in cards. Fails only if a built-in file is broken, which a test rules out.
pub fn load_builtin() -> Result<Vec<Archetype>, ArchetypeError> {
    CARDS.names().map(Archetype::load).collect()
}

impl Archetype {
    /// Loads a built-in card by name, a random one as `random-SEED`, or a file by its path, which ends in `.toml`.
    pub fn load(name: &str) -> Result<Archetype, ArchetypeError> {
        if let Some(seed) = name.strip_prefix(random::RANDOM_PREFIX).and_then(|seed| seed.parse().ok()) {
            return Ok(random::random_card(seed));
        }
        if name.ends_with(".toml") {
            let text = input_file::read_text(name.as_ref(), input_file::MAX_TEXT_BYTES)
                .map_err(|e| ArchetypeError::File(name.to_owned(), e.into()))?;
            return Archetype::from_toml(name, &text);
        }
        Archetype::from_toml(name, CARDS.find_text(name)?)
    }

    /// Parses and checks a card's file; errors call it `name`.
    pub fn from_toml(name: &str, text: &str) -> Result<Archetype, ArchetypeError> {
        let card: Archetype = toml::from_str(text).map_err(|e| {
            let cause = ErrorCause::with_message(message_with_line(text, &e), e);
            ArchetypeError::Malformed(name.to_owned(), cause)
        })?;
        card.check()?;
        Ok(card)
    }

    /// Card as the text of a file that [`Archetype::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Checks all values, after a file was read or a key overridden.
    pub fn check(&self) -> Result<(), ArchetypeError> {
        self.check_values().map_err(|reason| ArchetypeError::Value(self.name.clone(), reason))
    }
}
