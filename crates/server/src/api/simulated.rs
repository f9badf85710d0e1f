//! Simulated cards and their properties.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCards {
    /// Sorted by name.
    pub cards: Vec<SimulatedLine>,
}

/// Simulated card in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedLine {
    /// Name as a target: `sim:lexar-16g-c10`.
    pub target: String,
    pub name: String,
    /// Real card that it models.
    pub title: String,
    /// Announced capacity in bytes.
    pub bytes: u64,
}

/// Simulated card with its editable properties.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SimulatedCard {
    /// Name as a target, with the overrides.
    pub target: String,
    pub name: String,
    pub title: String,
    /// Description, one paragraph each.
    pub paragraphs: Vec<String>,
    /// True properties, which a test has to find.
    #[schema(value_type = Object)]
    pub truth: Value,
    pub knobs: Vec<CardKnob>,
}

/// Editable property of a simulated card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CardKnob {
    /// Key of the override, such as `page_bytes`.
    pub key: String,
    pub label: String,
    /// Current value as the override takes it; empty if the card has none.
    pub value: String,
    /// Suggested values.
    pub choices: Vec<String>,
}
