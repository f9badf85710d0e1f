//! `recipes`: lists the built-in recipes and explains any recipe.

use cardscope_engine::input_file;
pub use cardscope_model::recipe::RecipeError;
use cardscope_model::recipe::{self, ExplainedRecipe, RECIPES};
use cardscope_session::error::{Failure, Result};
use clap::Args;
use std::path::Path;

/// List the benchmark recipes, or explain one
///
/// A recipe is a published method as a TOML file: which tests run, how long, how often, and how their
/// result is computed.
#[derive(Debug, Clone, Default, Args)]
pub struct RecipesRequest {
    /// The recipe to explain: a name, or the path of a TOML file
    pub name: Option<String>,
}

/// All built-in recipes. Fails only if one of them is broken.
pub fn list_recipes() -> Result<Vec<ExplainedRecipe>> {
    let all = RECIPES.parse_all(|text| recipe::parse(text, None)).map_err(Failure::io)?;
    Ok(all.iter().map(recipe::Recipe::explain_recipe).collect())
}

/// Explains a recipe by its name or the path of its file.
pub fn explain_named(name: &str) -> Result<ExplainedRecipe> {
    let recipe = recipe::parse(&recipe_text(name)?, None);
    Ok(recipe.map_err(|e| Failure::refused_for(format!("recipe {name:?}: {e}"), e))?.explain_recipe())
}

/// Text of a built-in recipe.
pub fn builtin_text(name: &str) -> Result<&'static str> {
    RECIPES.find_text(name).map_err(Failure::refused)
}

pub fn explain_text(text: &str) -> Result<ExplainedRecipe, RecipeError> {
    Ok(recipe::parse(text, None)?.explain_recipe())
}

/// Text of a recipe, by path if the name ends in `.toml` or has a slash, otherwise of a built-in one.
pub(crate) fn recipe_text(name: &str) -> Result<String> {
    if name.ends_with(".toml") || name.contains('/') {
        let text = input_file::read_text(Path::new(name), input_file::MAX_TEXT_BYTES);
        return text
            .map_err(|e| Failure::refused_for(format!("the recipe file {name} cannot be read: {e}"), e));
    }
    builtin_text(name).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_builtin_recipe_has_tests_and_a_duration() {
        let all = list_recipes().unwrap();
        assert_eq!(all.len(), RECIPES.names().count());
        for recipe in &all {
            assert!(!recipe.tests.is_empty() && recipe.estimate.seconds > 0.0, "{}", recipe.name);
            assert_eq!(explain_named(&recipe.name).unwrap(), *recipe);
        }
        let quick = explain_named("quick").unwrap();
        assert_eq!((quick.tests.len(), quick.estimate.seconds, quick.writes), (8, 46.0, true));
    }

    #[test]
    fn mistyped_recipe_name_gets_a_suggestion() {
        let refused = explain_named("kdiskmrak").unwrap_err();
        assert_eq!(refused.exit_status(), 2);
        let text = refused.to_string();
        assert!(
            text.contains("did you mean \"kdiskmark\"?") && text.contains("`cardscope recipes` lists"),
            "{text}"
        );
    }

    #[test]
    fn recipe_file_is_explained_by_path() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        std::fs::write(
            &file,
            RECIPES.find_text("short").unwrap().replace("name = \"short\"", "name = \"mine\""),
        )
        .unwrap();
        let path = file.to_str().unwrap();
        assert_eq!(explain_named(path).unwrap().name, "mine");
        std::fs::write(&file, "name = 1").unwrap();
        assert!(explain_named(path).unwrap_err().to_string().contains(path));
    }
}
