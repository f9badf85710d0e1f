//! Simulated cards as data: one TOML file a card under `cards/`, built into the binary. Adding a card is a new
//! file there and its line in `FILES`.

mod describe;
mod identity;
mod schema;
#[cfg(test)]
mod tests;
mod truth;

pub use describe::{describe, summary};
pub use identity::{Identity, NvmeIdentity, SdRegisters};
pub use schema::{
    Archetype, Cache, Close, Constant, Cooling, EndOfLife, Fake, FakeKind, FatRegion, Flash, Front,
    HybridWrite, LogWrite, Lost, Noise, PageWrite, Queue, QueueCost, Read, Rig, Thermal, Wear, Write,
};
pub use truth::{OpenBlocks, Truth};

/// The files that are built in, by name.
const FILES: &[(&str, &str)] = &[
    ("constant", include_str!("../../../../cards/constant.toml")),
    ("lexar-16g-c10", include_str!("../../../../cards/lexar-16g-c10.toml")),
    ("lexar-1tb-express", include_str!("../../../../cards/lexar-1tb-express.toml")),
    ("sandian-1tb-52g", include_str!("../../../../cards/sandian-1tb-52g.toml")),
    ("sandisk-extremepro-32g-a1", include_str!("../../../../cards/sandisk-extremepro-32g-a1.toml")),
];

/// Why an archetype cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchetypeError {
    /// Nobody knows the name.
    #[error("there is no simulated card {name:?}; there are: {known}")]
    Unknown {
        /// As given.
        name: String,
        /// All names.
        known: String,
    },
    /// The file is no archetype.
    #[error("simulated card {name}: the file cannot be read: {reason}")]
    Shape {
        /// The card.
        name: String,
        /// What the reader of the file says.
        reason: String,
    },
    /// A value cannot be.
    #[error("simulated card {name}: {reason}")]
    Value {
        /// The card.
        name: String,
        /// Key, value and what it must be.
        reason: String,
    },
}

/// Names of all simulated cards, in alphabetical order.
#[must_use]
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// All simulated cards.
///
/// # Errors
/// If a built-in file is broken, which its test rules out.
pub fn archetypes() -> Result<Vec<Archetype>, ArchetypeError> {
    FILES.iter().map(|(name, _)| Archetype::load(name)).collect()
}

impl Archetype {
    /// A built-in card by its name.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn load(name: &str) -> Result<Archetype, ArchetypeError> {
        let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) else {
            return Err(ArchetypeError::Unknown { name: name.to_owned(), known: names().join(", ") });
        };
        Archetype::from_toml(name, text)
    }

    /// Reads and checks a card's file; `name` is what errors call it.
    ///
    /// # Errors
    /// If the text is no archetype, or a value in it cannot be.
    pub fn from_toml(name: &str, text: &str) -> Result<Archetype, ArchetypeError> {
        let card: Archetype = toml::from_str(text)
            .map_err(|e| ArchetypeError::Shape { name: name.to_owned(), reason: e.to_string() })?;
        card.check()?;
        Ok(card)
    }

    /// Checks the values, after a file was read or a key overridden.
    ///
    /// # Errors
    /// If a value cannot be.
    pub fn check(&self) -> Result<(), ArchetypeError> {
        self.check_values().map_err(|reason| ArchetypeError::Value { name: self.name.clone(), reason })
    }
}
