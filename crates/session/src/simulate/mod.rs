//! `sim`: simulated cards as people see them.

mod serving;

pub use serving::{Served, Serving, serve};

use crate::error::Failure;
use cardscope_simulator::{TargetSpec, archetypes, describe, random, summary, target_spec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// A line of the list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Card {
    /// Its name behind `sim:`.
    pub name: String,
    /// What it stands for.
    pub title: String,
    /// Bytes that it announces.
    pub announced_bytes: u64,
    #[serde(skip)]
    line: String,
}

/// A card explained.
#[derive(Debug, Clone)]
pub struct Shown {
    /// In words.
    pub text: String,
    /// The truth, and every parameter of the archetype.
    pub document: Value,
}

/// All simulated cards.
///
/// # Errors
/// If a built-in card is broken.
pub fn list() -> Result<Vec<Card>, Failure> {
    let cards = archetypes().map_err(Failure::io)?;
    let line = |a: &cardscope_simulator::Archetype| Card {
        name: a.name.clone(),
        title: a.title.clone(),
        announced_bytes: a.announced_bytes,
        line: summary(a),
    };
    Ok(cards.iter().map(line).collect())
}

/// The list as text.
pub fn list_text(cards: &[Card]) -> String {
    cards.iter().map(|c| format!("{}\n", c.line)).collect()
}

/// Explains a card, overrides applied.
///
/// # Errors
/// If there is none of that name, or an override does not fit it.
pub fn show(name: &str) -> Result<Shown, Failure> {
    let spec = spec(name)?;
    let card = &spec.archetype;
    let document = json!({ "name": card.name, "seed": spec.seed, "truth": card.truth, "archetype": card });
    Ok(Shown { text: describe(&spec.archetype), document })
}

/// Explains the random card of a seed; `document` holds its file too.
///
/// # Errors
/// If it cannot be, which its test rules out.
pub fn random(seed: u64) -> Result<Shown, Failure> {
    let mut shown = show(&format!("{}{seed}", random::PREFIX))?;
    shown.document["toml"] = random::card(seed).to_toml().into();
    Ok(shown)
}

/// A card by `NAME…` or `sim:NAME…`.
fn spec(name: &str) -> Result<TargetSpec, Failure> {
    let full = match name.starts_with(target_spec::PREFIX) {
        true => name.to_owned(),
        false => format!("{}{name}", target_spec::PREFIX),
    };
    target_spec::parse(&full).map_err(Failure::refused)
}
