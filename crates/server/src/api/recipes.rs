//! Recipes: listed, shown, checked.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Recipes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeList {
    /// The recipes, by name.
    pub recipes: Vec<RecipeLine>,
}

/// A recipe in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeLine {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Where the method is known from.
    pub source: String,
    /// Whether it writes.
    pub writes: bool,
    /// Number of its tests.
    pub tests: usize,
    /// Seconds that a run takes at most, on a card of usual speed.
    pub seconds: f64,
    /// Bytes of its test area.
    pub area_bytes: u64,
}

/// A recipe.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeResource {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// Its file.
    pub text: String,
    /// Its explanation as a fragment of HTML.
    pub html: String,
}

/// A recipe's text, to be checked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// The text, in TOML.
    pub text: String,
}

/// What is wrong with a recipe, or what it does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecipeCheck {
    /// Whether it can be run.
    pub ok: bool,
    /// What is wrong.
    pub error: Option<String>,
    /// The line that is to blame, from 1.
    pub line: Option<usize>,
    /// The column, from 1.
    pub column: Option<usize>,
    /// What it does, in a line.
    pub answer: Option<String>,
    /// Its explanation as a fragment of HTML.
    pub html: Option<String>,
    /// Whether it writes.
    pub writes: bool,
}
