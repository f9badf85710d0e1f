//! Simulated cards as data: one TOML file a card under `cards/`, built into the binary. Adding a card is a new
//! file there and its line in `FILES`.

mod describe;
mod describe_cache;
mod describe_capacity;
pub(crate) mod schema;
#[cfg(test)]
mod tests;
mod truth;

use crate::random;
use cardscope_engine::input;
use cardscope_model::toml_error::located;
pub use describe::{describe, summary};
pub use schema::*;

/// The files that are built in, by name.
const FILES: &[(&str, &str)] = &[
    ("a2-command-queue", include_str!("../../../../cards/a2-command-queue.toml")),
    ("a2-label-only", include_str!("../../../../cards/a2-label-only.toml")),
    ("adata-256g-express", include_str!("../../../../cards/adata-256g-express.toml")),
    ("constant", include_str!("../../../../cards/constant.toml")),
    ("evo-64g-u3", include_str!("../../../../cards/evo-64g-u3.toml")),
    ("evoplus-256g-a2", include_str!("../../../../cards/evoplus-256g-a2.toml")),
    ("evoplus-32g-u1-fakeq", include_str!("../../../../cards/evoplus-32g-u1-fakeq.toml")),
    ("lexar-16g-c10", include_str!("../../../../cards/lexar-16g-c10.toml")),
    ("lexar-1tb-express", include_str!("../../../../cards/lexar-1tb-express.toml")),
    ("lexar-pro-128g-a2", include_str!("../../../../cards/lexar-pro-128g-a2.toml")),
    ("noobs-8g-c6", include_str!("../../../../cards/noobs-8g-c6.toml")),
    ("oem-8g-bad4k", include_str!("../../../../cards/oem-8g-bad4k.toml")),
    ("pro-64g-u3", include_str!("../../../../cards/pro-64g-u3.toml")),
    ("proplus-128g-a2", include_str!("../../../../cards/proplus-128g-a2.toml")),
    ("samsung-32g-c10", include_str!("../../../../cards/samsung-32g-c10.toml")),
    ("samsung-evo-16g-u1", include_str!("../../../../cards/samsung-evo-16g-u1.toml")),
    ("samsung-pro-16g-u1", include_str!("../../../../cards/samsung-pro-16g-u1.toml")),
    ("samsung-proendurance-32g-u1", include_str!("../../../../cards/samsung-proendurance-32g-u1.toml")),
    ("samsung-proplus-32g-u3", include_str!("../../../../cards/samsung-proplus-32g-u3.toml")),
    ("sandian-1tb-52g", include_str!("../../../../cards/sandian-1tb-52g.toml")),
    ("sandisk-256g-express", include_str!("../../../../cards/sandisk-256g-express.toml")),
    ("sandisk-extreme-16g-u3", include_str!("../../../../cards/sandisk-extreme-16g-u3.toml")),
    ("sandisk-extremepro-32g-a1", include_str!("../../../../cards/sandisk-extremepro-32g-a1.toml")),
    ("sandisk-extremepro-8g-u1", include_str!("../../../../cards/sandisk-extremepro-8g-u1.toml")),
    ("sandisk-su04g", include_str!("../../../../cards/sandisk-su04g.toml")),
    ("sandisk-ultra-16g-u1", include_str!("../../../../cards/sandisk-ultra-16g-u1.toml")),
    ("sata-ssd-uasp", include_str!("../../../../cards/sata-ssd-uasp.toml")),
    ("sdnand-0.5g", include_str!("../../../../cards/sdnand-0.5g.toml")),
    ("sdsc-2g", include_str!("../../../../cards/sdsc-2g.toml")),
    ("sony-32g-u3", include_str!("../../../../cards/sony-32g-u3.toml")),
    ("toshiba-16g-c10", include_str!("../../../../cards/toshiba-16g-c10.toml")),
    ("ultra-64g-tlc24", include_str!("../../../../cards/ultra-64g-tlc24.toml")),
    ("usb-stick-tlc", include_str!("../../../../cards/usb-stick-tlc.toml")),
    ("wb3-full6", include_str!("../../../../cards/wb3-full6.toml")),
    ("wb6-hard3", include_str!("../../../../cards/wb6-hard3.toml")),
];

/// Why an archetype cannot be used: its name or file first, then what is wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArchetypeError {
    /// Nobody knows the name; these are known.
    #[error(
        "there is no simulated card {0:?}; there are: {1}, random-7 (any number), and your own files as ./FILE.toml"
    )]
    Unknown(String, String),
    /// The file is no archetype.
    #[error("simulated card {0}: the file cannot be read: {1}")]
    Shape(String, String),
    /// The file cannot be had, as the system says.
    #[error("simulated card {0}: {1}")]
    File(String, String),
    /// A value cannot be: key, value and what it must be.
    #[error("simulated card {0}: {1}")]
    Value(String, String),
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
                .map_err(|e| ArchetypeError::File(name.to_owned(), e.to_string()))?;
            return Archetype::from_toml(name, &text);
        }
        let Some((_, text)) = FILES.iter().find(|(known, _)| *known == name) else {
            return Err(ArchetypeError::Unknown(name.to_owned(), names().join(", ")));
        };
        Archetype::from_toml(name, text)
    }

    /// Reads and checks a card's file; `name` is what errors call it.
    ///
    /// # Errors
    /// If the text is no archetype, or a value in it cannot be.
    pub fn from_toml(name: &str, text: &str) -> Result<Archetype, ArchetypeError> {
        let card: Archetype =
            toml::from_str(text).map_err(|e| ArchetypeError::Shape(name.to_owned(), located(text, &e)))?;
        card.check()?;
        Ok(card)
    }

    /// The card as a file that [`Archetype::from_toml`] reads.
    #[must_use]
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
