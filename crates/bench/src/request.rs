//! What a benchmark session is asked to do, checked before anything is opened.

use crate::recipes;
use cardscope_model::condition::Condition;
use cardscope_model::recipe::{self, Recipe, RecipeError};
use cardscope_session::arguments::size;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::{Common, Limits};
use clap::Args;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Measure a card with a published recipe
#[derive(Debug, Clone, Default, Args)]
pub struct Request {
    /// What every verb is asked for.
    #[command(flatten)]
    pub common: Common,
    /// Nothing new begins after the budget.
    #[command(flatten)]
    pub limits: Limits,
    /// Recipe: quick, kdiskmark, cdm8-default, another of `cardscope recipes`, or the path of a TOML file
    #[arg(long, default_value = "quick")]
    pub recipe: String,
    /// Number of runs of the whole recipe, 1000 at most
    #[arg(long, value_name = "N")]
    pub runs: Option<u32>,
    /// Only these tests, e.g. "RND4K Q32T1 read" (repeatable)
    #[arg(long, value_name = "TEST")]
    pub only: Vec<String>,
    /// Size of the test area, e.g. 1G
    #[arg(long, value_name = "SIZE", value_parser = size)]
    pub size: Option<u64>,
    /// Save an image of the card to FILE first, and restore it afterwards
    #[arg(long, value_name = "FILE")]
    pub backup: Option<PathBuf>,
    /// The recipe's text, once it was read.
    #[arg(skip)]
    pub text: OnceLock<String>,
}

impl Request {
    /// The recipe that is asked for, cut to the tests that are wanted.
    pub(super) fn recipe(&self) -> Result<Recipe> {
        self.recipe_over(self.size)
    }

    /// The same over an area of so many bytes, where that is given.
    pub(super) fn recipe_over(&self, area: Option<u64>) -> Result<Recipe> {
        let text = self.recipe_text()?;
        let mut recipe = recipe::parse(text, area).map_err(|e| self.named(e))?;
        if !self.only.is_empty() {
            let wanted: Vec<&str> = self.only.iter().map(String::as_str).collect();
            recipe.keep_only(&wanted).map_err(|e| self.named(e))?;
        }
        Ok(recipe)
    }

    /// A refusal that says which recipe it is about.
    fn named(&self, error: RecipeError) -> Failure {
        match error {
            RecipeError::Syntax(_) | RecipeError::Test { .. } => {
                Failure::refused_for(format!("recipe {:?}: {error}", self.recipe), error)
            }
            names_it => Failure::refused(names_it),
        }
    }

    /// The recipe's text as it stood in its file when it was first asked for: what is archived is what ran.
    pub(super) fn recipe_text(&self) -> Result<&str> {
        if self.text.get().is_none() {
            let _ = self.text.set(recipes::text(&self.recipe)?);
        }
        Ok(self.text.get().map_or("", String::as_str))
    }
}

/// Refuses a card that is not in the state that the recipe's method demands.
pub(super) fn check_state(recipe: &Recipe, condition: &Condition) -> Result<()> {
    let Some(wanted) = &recipe.requires_state else { return Ok(()) };
    match condition.get("state") {
        Some(state) if state == wanted => Ok(()),
        Some(state) => Err(Failure::refused(format!(
            "recipe {} needs a card in state {wanted}, and this one is {state}",
            recipe.name
        ))),
        None => Err(Failure::refused(format!(
            "recipe {} needs a card in state {wanted}; prepare it and add --condition state={wanted}",
            recipe.name
        ))),
    }
}
