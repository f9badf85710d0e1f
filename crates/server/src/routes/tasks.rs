//! Tests: ordered, watched, stopped. What may be lost is asked about as at a terminal: by the device's name, typed back.

use super::{blocking, devices, host};
use crate::Server;
use crate::api::{Task, Tasks};
use crate::problem::Refusal;
use crate::tasks::Ready;
use crate::tasks::order::{Bench, Order, What};
use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use cardscope_model::units::Size;
use cardscope_session::recipes;
use cardscope_session::restore;
use cardscope_session::simulate;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// Tests that run, wait or have ended, newest first.
#[utoipa::path(get, path = "/api/tasks", tag = "tasks", responses((status = 200, body = Tasks)))]
pub(super) async fn list(State(server): State<Arc<Server>>) -> Json<Tasks> {
    Json(Tasks { tasks: server.tasks.list() })
}

/// Orders a test. It begins at once, or when the one before it on the same device has ended.
#[utoipa::path(post, path = "/api/tasks", tag = "tasks", request_body = Order, responses((status = 201, body = Task), (status = 409, body = crate::api::Problem), (status = 422, body = crate::api::Problem)))]
pub(super) async fn order(
    State(server): State<Arc<Server>>,
    order: Result<Json<Order>, JsonRejection>,
) -> Result<(StatusCode, Json<Task>), Refusal> {
    let Json(order) = order?;
    blocking(&server, move |server| {
        let ready = ready(server, order)?;
        let task = server.tasks.take(ready).map_err(|why| Refusal::conflict(why.to_string()))?;
        Ok((StatusCode::CREATED, Json(task)))
    })
    .await
}

/// A test with its speed and temperature over time.
#[utoipa::path(get, path = "/api/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = Task), (status = 404, body = crate::api::Problem)))]
pub(super) async fn get(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
) -> Result<Json<Task>, Refusal> {
    server.tasks.get(&id).map(Json).ok_or_else(no_task)
}

/// Asks a test to end; the card's data are restored first.
#[utoipa::path(post, path = "/api/tasks/{id}/stop", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = Task), (status = 404, body = crate::api::Problem)))]
pub(super) async fn stop(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
) -> Result<Json<Task>, Refusal> {
    server.tasks.stop(&id).map(Json).ok_or_else(no_task)
}

/// Takes a test that has ended off the list; its results stay in the archive.
#[utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses((status = 204), (status = 404, body = crate::api::Problem), (status = 409, body = crate::api::Problem)))]
pub(super) async fn forget(
    State(server): State<Arc<Server>>,
    Path(id): Path<String>,
) -> Result<StatusCode, Refusal> {
    if server.tasks.forget(&id) {
        return Ok(StatusCode::NO_CONTENT);
    }
    match server.tasks.get(&id) {
        Some(_) => Err(Refusal::conflict("this test has not ended; stop it first")),
        None => Err(no_task()),
    }
}

fn no_task() -> Refusal {
    Refusal::not_found("test of that id")
}

/// What an order comes to, or why it is refused: nothing is started that the list of devices does not offer.
fn ready(server: &Server, order: Order) -> Result<Ready, Refusal> {
    let simulated = order.target.starts_with("sim:");
    let title = if simulated { simulated_title(&order.target)? } else { device_title(server, &order)? };
    let mut arguments: Vec<OsString> = Vec::new();
    let (mut recipe, mut writes) = (None, false);
    match &order.what {
        What::Bench(bench) => {
            let (name, file, recipe_writes) = recipe_of(server, bench)?;
            arguments.push(format!("--recipe={name}").into());
            (recipe, writes) = (file, recipe_writes);
        }
        What::Restore(asked) => arguments.push(journal(&asked.journal)?.into()),
        _ => {}
    }
    arguments.extend(order.what.options().into_iter().map(OsString::from));
    let loses_data = !simulated && order.what.loses_data(writes);
    if loses_data && order.confirm.as_deref() != Some(order.target.as_str()) {
        return Err(Refusal::conflict(format!(
            "this overwrites {title}, and all data on it are lost; type {} to agree",
            order.target
        )));
    }
    if loses_data {
        arguments.push(format!("--yes-destroy={}", order.target).into());
    }
    // Behind the options, so that none can be taken for another one's value.
    arguments.push(order.target.clone().into());
    Ok(Ready { order, title, arguments, loses_data, recipe })
}

fn simulated_title(target: &str) -> Result<String, Refusal> {
    Ok(simulate::offered(target)?.title)
}

fn device_title(server: &Server, order: &Order) -> Result<String, Refusal> {
    let found = devices::entries(server)?.into_iter().find(|entry| entry.path == order.target);
    let Some(entry) = found else {
        let why =
            format!("{:?} is not in the list of devices; plug it in, or name a simulated card", order.target);
        return Err(Refusal::odd(why));
    };
    // What a test of our own has open is free when that has ended: this one waits for it.
    let ours = server.tasks.on(&entry.path).is_some();
    if let (false, false, Some(reason)) = (entry.safe, ours, &entry.reason) {
        return Err(Refusal::conflict(reason.clone()));
    }
    let size = entry.bytes.map(|bytes| Size(bytes).to_string());
    Ok([entry.model, size].into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// What a benchmark's recipe is called, its file where its text was sent, and whether it writes.
fn recipe_of(server: &Server, bench: &Bench) -> Result<(String, Option<PathBuf>, bool), Refusal> {
    let odd = |e: recipes::RecipeError| Refusal::odd(format!("the recipe cannot be run: {e}"));
    match (&bench.recipe_text, &bench.recipe) {
        (Some(text), _) => {
            let writes = recipes::explain(text).map_err(odd)?.writes;
            let file = server.uploads.text("recipe.toml", text);
            let file = file.map_err(|e| Refusal::odd(format!("the recipe cannot be stored: {e}")))?;
            Ok((file.display().to_string(), Some(file), writes))
        }
        (None, name) => {
            let name = name.clone().unwrap_or_else(|| "quick".to_owned());
            let writes = recipes::explain(recipes::builtin(&name)?).map_err(odd)?.writes;
            Ok((name, None, writes))
        }
    }
}

/// The file of a journal that waits.
fn journal(name: &str) -> Result<String, Refusal> {
    let waiting = restore::waiting()?;
    let found = waiting.into_iter().find(|journal| host::name_of(&journal.file) == name);
    found.map(|journal| journal.file).ok_or_else(|| Refusal::not_found("journal of that name"))
}
