//! Simulated cards as data: one TOML file a card under `cards/`, built into the binary by [`CARDS`].

mod describe;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod truth;

use crate::random;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input;
use cardscope_model::builtin_files;
use cardscope_model::named::{BuiltinFiles, UnknownName};
use cardscope_model::toml_error::located;
pub use describe::describe;
pub use schema::*;

/// The simulated cards that come with the program: the files of `cards/`.
pub static CARDS: BuiltinFiles = BuiltinFiles {
    kind: "simulated card",
    files: builtin_files!("cards"),
    also: "; `cardscope sim list` lists them all, or name sim:random-7 (any number) or a file of your own, sim:./FILE.toml",
};

/// Why an archetype cannot be used: its name or file first, then what is wrong.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArchetypeError {
    /// Nobody knows the name.
    #[error(transparent)]
    Unknown(#[from] UnknownName),
    /// The file is no archetype.
    #[error("simulated card {0}: the file cannot be read: {1}")]
    Shape(String, #[source] ErrorCause),
    /// The file cannot be had, as the system says.
    #[error("simulated card {0}: {1}")]
    File(String, #[source] ErrorCause),
    /// A value cannot be: key, value and what it must be.
    #[error("simulated card {0}: {1}")]
    Value(String, String),
}

/// All simulated cards.
///
/// # Errors
/// If a built-in file is broken, which its test rules out.
pub fn archetypes() -> Result<Vec<Archetype>, ArchetypeError> {
    CARDS.names().map(Archetype::load).collect()
}

impl Archetype {
    /// A built-in card by its name, a random one as `random-SEED`, or one's own by the path of its `.toml` file.
    ///
    /// # Errors
    /// If there is none of that name, or the file is no archetype.
    pub fn load(name: &str) -> Result<Archetype, ArchetypeError> {
        if let Some(seed) = name.strip_prefix(random::PREFIX).and_then(|seed| seed.parse().ok()) {
            return Ok(random::card(seed));
        }
        if name.ends_with(".toml") {
            let text = input::text(name.as_ref(), input::MOST_TEXT)
                .map_err(|e| ArchetypeError::File(name.to_owned(), e.into()))?;
            return Archetype::from_toml(name, &text);
        }
        Archetype::from_toml(name, CARDS.find(name)?)
    }

    /// Reads and checks a card's file; `name` is what errors call it.
    ///
    /// # Errors
    /// If the text is no archetype, or a value in it cannot be.
    pub fn from_toml(name: &str, text: &str) -> Result<Archetype, ArchetypeError> {
        let shape = |e| ArchetypeError::Shape(name.to_owned(), ErrorCause::worded(located(text, &e), e));
        let card: Archetype = toml::from_str(text).map_err(shape)?;
        card.check()?;
        Ok(card)
    }

    /// The card as a file that [`Archetype::from_toml`] reads.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Checks the values, after a file was read or a key overridden.
    ///
    /// # Errors
    /// If a value cannot be.
    pub fn check(&self) -> Result<(), ArchetypeError> {
        self.check_values().map_err(|reason| ArchetypeError::Value(self.name.clone(), reason))
    }
}
