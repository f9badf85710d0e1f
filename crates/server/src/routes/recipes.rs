//! Routes of recipes.

use super::common::run_blocking;
use crate::api::{RecipeCheck, RecipeLine, RecipeList, RecipeResource, RecipeText};
use crate::json_body::JsonBody;
use crate::refusal::RequestRefusal;
use crate::rendering;
use crate::state::ServerState;
use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use cardscope_bench::page::recipes::recipe_page;
use cardscope_bench::recipes;
use std::sync::Arc;

/// Lists the recipes that come with the program.
#[utoipa::path(get, path = "/api/recipes", tag = "recipes", responses((status = 200, body = RecipeList)))]
pub(super) async fn list(State(server): State<Arc<ServerState>>) -> Result<Json<RecipeList>, RequestRefusal> {
    run_blocking(&server, |_| {
        let line = |recipe: cardscope_model::recipe::ExplainedRecipe| RecipeLine {
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
pub(super) async fn get(
    State(server): State<Arc<ServerState>>,
    name: Result<Path<String>, PathRejection>,
) -> Result<Json<RecipeResource>, RequestRefusal> {
    let Path(name) = name?;
    run_blocking(&server, move |_| {
        let text =
            recipes::builtin_text(&name).map_err(|_| RequestRefusal::not_found("recipe of that name"))?;
        let recipe =
            recipes::explain_text(text).map_err(|why| RequestRefusal::unprocessable(why.to_string()))?;
        let html = rendering::render_document(&recipe, recipe_page).html;
        Ok(Json(RecipeResource { name: recipe.name, title: recipe.title, text: text.to_owned(), html }))
    })
    .await
}

/// Checks a recipe, and explains it or reports its error.
#[utoipa::path(post, path = "/api/recipes/check", tag = "recipes", request_body = RecipeText, responses((status = 200, body = RecipeCheck)))]
pub(super) async fn check(
    State(server): State<Arc<ServerState>>,
    JsonBody(RecipeText { text }): JsonBody<RecipeText>,
) -> Result<Json<RecipeCheck>, RequestRefusal> {
    run_blocking(&server, move |_| {
        Ok(Json(match recipes::explain_text(&text) {
            Ok(recipe) => {
                let made = rendering::render_document(&recipe, recipe_page);
                RecipeCheck {
                    ok: true,
                    writes: recipe.writes,
                    answer: Some(made.answer),
                    html: Some(made.html),
                    ..RecipeCheck::default()
                }
            }
            Err(why) => {
                let error = why.to_string();
                let (line, column) = error_position(&error);
                RecipeCheck { error: Some(error), line, column, ..RecipeCheck::default() }
            }
        }))
    })
    .await
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
