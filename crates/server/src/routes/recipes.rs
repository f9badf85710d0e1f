//! Routes of recipes.

use crate::api::{RecipeCheck, RecipeLine, RecipeList, RecipeResource, RecipeText};
use crate::extract::{ItemId, JsonBody};
use crate::refusal::{RequestRefusal, Result};
use crate::rendering;
use crate::state::{SharedState, run_blocking};
use axum::Json;
use cardscope_bench::page::recipes::recipe_page;
use cardscope_bench::recipes;
use cardscope_model::recipe::ExplainedRecipe;

/// Lists the recipes that come with the program.
#[utoipa::path(get, path = "/api/recipes", tag = "recipes", responses((status = 200, body = RecipeList)))]
pub(super) async fn list(server: SharedState) -> Result<Json<RecipeList>> {
    run_blocking(server, |_| {
        let line = |recipe: ExplainedRecipe| RecipeLine {
            tests: recipe.tests.len(),
            seconds: recipe.estimate.seconds,
            name: recipe.name,
            title: recipe.title,
            source: recipe.source,
            writes: recipe.writes,
            area_bytes: recipe.area_bytes,
        };
        Ok(Json(RecipeList { recipes: recipes::list_recipes()?.into_iter().map(line).collect() }))
    })
    .await
}

/// Returns a recipe with its source.
#[utoipa::path(get, path = "/api/recipes/{name}", tag = "recipes", params(("name" = String, Path)), responses((status = 200, body = RecipeResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn get(server: SharedState, ItemId(name): ItemId) -> Result<Json<RecipeResource>> {
    run_blocking(server, move |_| {
        let text = recipes::builtin_text(&name);
        let text = text.map_err(|_| RequestRefusal::not_found("recipe of that name"))?;
        let recipe = recipes::explain_text(text).map_err(RequestRefusal::invalid)?;
        let html = rendering::render_document(&recipe, recipe_page).html;
        Ok(Json(RecipeResource { name: recipe.name, title: recipe.title, text: text.to_owned(), html }))
    })
    .await
}

/// Checks a recipe, and explains it or reports its error.
#[utoipa::path(post, path = "/api/recipes/check", tag = "recipes", request_body = RecipeText, responses((status = 200, body = RecipeCheck)))]
pub(super) async fn check(
    server: SharedState,
    JsonBody(RecipeText { text }): JsonBody<RecipeText>,
) -> Result<Json<RecipeCheck>> {
    run_blocking(server, move |_| Ok(Json(check_text(&text)))).await
}

fn check_text(text: &str) -> RecipeCheck {
    match recipes::explain_text(text) {
        Ok(recipe) => {
            let made = rendering::render_document(&recipe, recipe_page);
            let (answer, html) = (Some(made.answer), Some(made.html));
            RecipeCheck { ok: true, writes: recipe.writes, answer, html, ..RecipeCheck::default() }
        }
        Err(why) => {
            let error = why.to_string();
            let (line, column) = error_position(&error);
            RecipeCheck { error: Some(error), line, column, ..RecipeCheck::default() }
        }
    }
}

/// Line and column in an error message: `line 4, column 9`.
fn error_position(error: &str) -> (Option<usize>, Option<usize>) {
    let number = |word: &str| {
        let behind = &error[error.find(word)? + word.len()..];
        behind.trim_start().split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
    };
    (number("line"), number("column"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_position_is_parsed() {
        let wrong = recipes::explain_text("name = \"mine\"\ntitle = 3\n").unwrap_err().to_string();
        assert_eq!(error_position(&wrong).0, Some(2), "{wrong}");
        assert_eq!(error_position("no place"), (None, None));
    }
}
