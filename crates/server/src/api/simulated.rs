//! Simulated cards, and what can be changed of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Simulated cards.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCards {
    /// The cards, by name.
    pub cards: Vec<SimulatedLine>,
}

/// A simulated card in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedLine {
    /// Its name as a target: `sim:lexar-16g-c10`.
    pub target: String,
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub title: String,
    /// Bytes that it announces.
    pub bytes: u64,
}

/// A simulated card with what can be changed of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCard {
    /// Its name as a target, with what was changed.
    pub target: String,
    /// Its name.
    pub name: String,
    /// What it stands for.
    pub title: String,
    /// What it is like, a paragraph each.
    pub paragraphs: Vec<String>,
    /// What is true of it, which a test has to find out.
    #[schema(value_type = Object)]
    pub truth: Value,
    /// What can be changed.
    pub knobs: Vec<CardKnob>,
}

/// Something that can be changed of a simulated card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardKnob {
    /// The key of its override: `page_bytes`.
    pub key: String,
    /// What it is.
    pub label: String,
    /// Its value now, as the override takes it; empty where the card has none.
    pub value: String,
    /// Values to choose from.
    pub choices: Vec<String>,
}
