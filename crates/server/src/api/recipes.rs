//! Benchmark recipes.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeList {
    /// Sorted by name.
    pub recipes: Vec<RecipeLine>,
}

/// Recipe in a list.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeLine {
    pub name: String,
    pub title: String,
    /// Origin of the method.
    pub source: String,
    pub writes: bool,
    /// Number of tests.
    pub tests: usize,
    /// Estimated maximum duration of a run in seconds, on a card of usual speed.
    pub seconds: f64,
    /// Size of the test area in bytes.
    pub area_bytes: u64,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RecipeResource {
    pub name: String,
    pub title: String,
    /// TOML source.
    pub text: String,
    /// Explanation as an HTML fragment.
    pub html: String,
}

/// Recipe to check.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecipeText {
    /// TOML source.
    pub text: String,
}

/// Errors or explanation of a checked recipe.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RecipeCheck {
    /// True if it can be run.
    pub ok: bool,
    pub error: Option<String>,
    /// Line of the error, from 1.
    pub line: Option<usize>,
    /// Column of the error, from 1.
    pub column: Option<usize>,
    /// Summary in one line.
    pub answer: Option<String>,
    pub html: Option<String>,
    pub writes: bool,
}
