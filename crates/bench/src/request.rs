//! Options of `bench`, checked before anything is opened.

use crate::recipes;
use cardscope_model::condition::Condition;
use cardscope_model::recipe::{self, Recipe, RecipeError};
use cardscope_session::arguments::parse_size_argument;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{CommonOptions, SpendLimits};
use cardscope_session::option_json;
use clap::Args;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::path::PathBuf;
use std::sync::OnceLock;

/// Measure a card with a published recipe
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
pub struct BenchRequest {
    #[command(flatten)]
    #[serde(flatten)]
    pub common: CommonOptions,
    /// Nothing new begins after the budget.
    #[command(flatten)]
    #[serde(flatten)]
    pub limits: SpendLimits,
    /// Recipe: quick, kdiskmark, cdm8-default, another of `cardscope recipes`, or the path of a TOML file
    #[arg(long, default_value = "quick")]
    #[serde(deserialize_with = "builtin_recipe")]
    pub recipe: String,
    /// The recipe itself, in TOML, in place of a name; a server writes it to a file.
    #[arg(skip)]
    #[serde(deserialize_with = "valid_recipe")]
    pub recipe_text: Option<String>,
    /// Number of runs of the whole recipe, 1000 at most
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,
    /// Only these tests, e.g. "RND4K Q32T1 read" (repeatable)
    #[arg(long, value_name = "TEST")]
    pub only: Vec<String>,
    /// Size of the test area, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = parse_size_argument)]
    #[serde(with = "option_json")]
    pub size: Option<u64>,
    /// Save an image of the card to FILE first, and restore it afterwards
    #[arg(long, value_name = "FILE")]
    #[serde(skip)]
    pub backup: Option<PathBuf>,
    /// The recipe's text, once it was read.
    #[arg(skip)]
    #[serde(skip)]
    pub text: OnceLock<String>,
}

impl BenchRequest {
    /// Parses the recipe and keeps only the selected tests.
    pub(super) fn recipe(&self) -> Result<Recipe> {
        self.recipe_with_area(self.size)
    }

    /// Like [`recipe`](Self::recipe), over an area of this size if one is given.
    pub(super) fn recipe_with_area(&self, area: Option<u64>) -> Result<Recipe> {
        let text = self.recipe_text()?;
        let mut recipe = recipe::parse(text, area).map_err(|e| self.with_recipe_name(e))?;
        if !self.only.is_empty() {
            let wanted: Vec<&str> = self.only.iter().map(String::as_str).collect();
            recipe.keep_only(&wanted).map_err(|e| self.with_recipe_name(e))?;
        }
        Ok(recipe)
    }

    /// Refusal that names the recipe.
    fn with_recipe_name(&self, error: RecipeError) -> Failure {
        match error {
            RecipeError::Syntax(_) | RecipeError::Test { .. } => {
                Failure::refused_for(format!("recipe {:?}: {error}", self.recipe), error)
            }
            names_it => Failure::refused(names_it),
        }
    }

    /// Text of the recipe, read once: the archive gets the text that ran, even if the file changes meanwhile.
    pub(super) fn recipe_text(&self) -> Result<&str> {
        if self.text.get().is_none() {
            let given = self.recipe_text.clone();
            let _ = self.text.set(given.map_or_else(|| recipes::recipe_text(&self.recipe), Ok)?);
        }
        Ok(self.text.get().map_or("", String::as_str))
    }
}

/// A recipe that an API client names: no path.
fn builtin_recipe<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let name = String::deserialize(from)?;
    recipes::builtin_text(&name).map_err(D::Error::custom)?;
    Ok(name)
}

/// A recipe that an API client sends.
fn valid_recipe<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    let explained = text.as_deref().map(recipes::explain_text).transpose();
    explained.map_err(|e| D::Error::custom(format!("the recipe cannot be run: {e}")))?;
    Ok(text)
}

/// Refuses a card that is not in the state that the method demands.
pub(super) fn check_state(recipe: &Recipe, condition: &Condition) -> Result<()> {
    let Some(wanted) = &recipe.requires_state else { return Ok(()) };
    let rest = match condition.get("state") {
        Some(state) if state == wanted => return Ok(()),
        Some(state) => format!(", and this one is {state}"),
        None => format!("; prepare it and add --condition state={wanted}"),
    };
    Err(Failure::refused(format!("recipe {} needs a card in state {wanted}{rest}", recipe.name)))
}
