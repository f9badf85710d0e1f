//! Routes of tests. Data loss is confirmed as at a terminal: the client repeats the device's name.

use super::{devices, host};
use crate::api::{TaskList, TaskResource, Verbs};
use crate::extract::{ItemId, JsonBody};
use crate::refusal::{RequestRefusal, Result};
use crate::state::{ServerState, SharedState, run_blocking};
use crate::tasks::ReadyTask;
use crate::tasks::request::TaskRequest;
use crate::uploads::TemporaryText;
use axum::Json;
use axum::http::StatusCode;
use cardscope_identity::verb as identify;
use cardscope_model::units::DecimalSize;
use cardscope_restore::verb as restore;
use cardscope_session::simulated_cards;
use cardscope_verbs::description::VerbDescription;
use cardscope_verbs::request::Effect;
use serde_json::Value;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// Limit of an argument in bytes; the kernel accepts more.
const MAX_ARGUMENT_BYTES: usize = 4096;

/// Verbs that can be ordered, with what they do to a card and their options.
#[utoipa::path(get, path = "/api/verbs", tag = "verbs", operation_id = "list", responses((status = 200, body = Verbs)))]
pub(super) async fn verbs() -> Json<Verbs> {
    Json(Verbs { verbs: VerbDescription::all() })
}

/// Lists running, waiting and ended tests, newest first.
#[utoipa::path(get, path = "/api/tasks", tag = "tasks", responses((status = 200, body = TaskList)))]
pub(super) async fn list(server: SharedState) -> Json<TaskList> {
    Json(TaskList { tasks: server.tasks.list() })
}

/// Starts a test, or queues it if another one runs on the device.
#[utoipa::path(post, path = "/api/tasks", tag = "tasks", request_body = TaskRequest, responses((status = 201, body = TaskResource), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn order(
    server: SharedState,
    JsonBody(request): JsonBody<TaskRequest>,
) -> Result<(StatusCode, Json<TaskResource>)> {
    run_blocking(server, move |server| {
        let ready = validate_request(server, request)?;
        let task = server.tasks.enqueue(ready).map_err(|why| RequestRefusal::conflict(why.to_string()))?;
        Ok((StatusCode::CREATED, Json(task)))
    })
    .await
}

/// Returns a test with its speed and temperature over time.
#[utoipa::path(get, path = "/api/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = TaskResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn get(server: SharedState, ItemId(id): ItemId) -> Result<Json<TaskResource>> {
    server.tasks.get(&id).map(Json).ok_or_else(unknown_task)
}

/// Stops a test; the card's data are restored first.
#[utoipa::path(post, path = "/api/tasks/{id}/stop", tag = "tasks", params(("id" = String, Path)), responses((status = 200, body = TaskResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn stop(server: SharedState, ItemId(id): ItemId) -> Result<Json<TaskResource>> {
    // Signals first: writing the file of tasks may be slow.
    let task = server.tasks.stop(&id).ok_or_else(unknown_task)?;
    save_tasks(server).await?;
    Ok(Json(task))
}

/// Removes an ended test from the list; its results stay in the archive.
#[utoipa::path(delete, path = "/api/tasks/{id}", tag = "tasks", params(("id" = String, Path)), responses((status = 204), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem)))]
pub(super) async fn forget(server: SharedState, ItemId(id): ItemId) -> Result<StatusCode> {
    if server.tasks.remove(&id) {
        save_tasks(server).await?;
        return Ok(StatusCode::NO_CONTENT);
    }
    match server.tasks.get(&id) {
        Some(_) => Err(RequestRefusal::conflict("this test has not ended; stop it first")),
        None => Err(unknown_task()),
    }
}

async fn save_tasks(server: SharedState) -> Result<()> {
    run_blocking(server, |server| {
        server.tasks.save_unfinished();
        Ok(())
    })
    .await
}

fn unknown_task() -> RequestRefusal {
    RequestRefusal::not_found("test of that id")
}

/// Validates a request. Only targets from the list of devices, and simulated cards, are accepted.
fn validate_request(server: &ServerState, mut request: TaskRequest) -> Result<ReadyTask> {
    let simulated = request.is_simulated();
    let title = match simulated {
        true => simulated_cards::explain_for_client(&request.target)?.title,
        false => device_title(server, &request)?,
    };
    let recipe = recipe_file(server, &mut request)?;
    let mut arguments: Vec<OsString> = Vec::new();
    if request.verb.effect == Effect::Restores {
        let name = request.verb.options.get("journal").and_then(Value::as_str).unwrap_or_default();
        arguments.push(journal_file(name)?.into());
    }
    arguments.extend(request.verb.arguments().into_iter().map(OsString::from));
    if let Some(object) = request.object.as_ref().filter(|_| !simulated) {
        arguments.push(format!("--object={object}").into());
    }
    let target = &request.target;
    let loses_data = !simulated && request.verb.effect.loses_data();
    if loses_data && request.confirm.as_ref() != Some(target) {
        return Err(RequestRefusal::needs_consent(format!(
            "this overwrites {title}, and all data on it are lost; type {target} to agree"
        )));
    }
    if loses_data {
        arguments.push(format!("--yes-destroy={target}").into());
    }
    // The target comes last, so that it cannot be taken for an option's value.
    arguments.push(target.into());
    if arguments.iter().any(|arg| arg.len() > MAX_ARGUMENT_BYTES || arg.as_bytes().contains(&0)) {
        return Err(RequestRefusal::unprocessable(format!(
            "a text of the order is longer than {MAX_ARGUMENT_BYTES} bytes or holds a NUL"
        )));
    }
    Ok(ReadyTask { request, title, arguments, loses_data, _recipe: recipe })
}

/// Stores a recipe that was sent, and names its file in its place.
fn recipe_file(server: &ServerState, request: &mut TaskRequest) -> Result<Option<Arc<TemporaryText>>> {
    let Some(Value::String(text)) = request.verb.options.remove("recipe_text") else { return Ok(None) };
    let unstored = |e| RequestRefusal::unprocessable(format!("the recipe cannot be stored: {e}"));
    let file = server.uploads.write_text("recipe.toml", &text).map_err(unstored)?;
    request.verb.options.insert("recipe".to_owned(), file.path().display().to_string().into());
    Ok(Some(Arc::new(file)))
}

fn device_title(server: &ServerState, request: &TaskRequest) -> Result<String> {
    let target = &request.target;
    let Some(device) = devices::list_devices(server)?.into_iter().find(|device| device.path == *target)
    else {
        let why = format!("{target:?} is not in the list of devices; plug it in, or name a simulated card");
        return Err(RequestRefusal::unprocessable(why));
    };
    match (&request.object, &device.object) {
        (None, _) => return Err(devices::missing_object(target)),
        (Some(agreed), Some(present)) if agreed == present => {}
        _ => return Err(RequestRefusal::conflict(identify::changed_card_refusal(target).to_string())),
    }
    // If one of this server's tests runs there, this one waits, and the verb itself checks what is in the way by then.
    let waits = server.tasks.task_on_target(target).is_some();
    if let (false, false, Some(reason)) = (device.safe, waits, &device.reason) {
        return Err(RequestRefusal::conflict(reason.clone()));
    }
    let size = device.bytes.map(|bytes| DecimalSize(bytes).to_string());
    Ok([device.model, size].into_iter().flatten().collect::<Vec<_>>().join(", "))
}

/// File of a journal with unrestored data.
fn journal_file(name: &str) -> Result<String> {
    let mut waiting = restore::pending_journals()?.into_iter();
    let journal = waiting.find(|journal| host::journal_name(&journal.file) == name);
    journal.map(|journal| journal.file).ok_or_else(|| RequestRefusal::not_found("journal of that name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::tests::server;
    use cardscope_bench::recipes;
    use proptest::prelude::*;
    use serde_json::json;

    const VERBS: [&str; 9] =
        ["check", "verify", "bench", "map", "sustain", "endure", "format", "restore", "serve"];

    const OPTIONS: [&str; 34] = [
        "budget_s",
        "label",
        "read_only",
        "erase",
        "marks",
        "full",
        "thorough",
        "recipe",
        "recipe_text",
        "runs",
        "only",
        "size_bytes",
        "write",
        "random",
        "minutes",
        "cooling",
        "journal",
        "archive",
        "backup",
        "budget",
        "size",
        "max_write",
        "seed",
        "conditions",
        "duration",
        "region",
        "yes_destroy",
        "object",
        "thermometers",
        "baseline",
        "file",
        "files",
        "target",
        "",
    ];

    /// Texts that would do harm as a path or an option.
    const HOSTILE: [&str; 22] = [
        "sim:constant",
        "sim:constant?seed=3",
        "sim:./x.toml",
        "sim:/etc/passwd",
        "sim:../x",
        "sim:random-1",
        "sim:constant?state=/etc/passwd",
        "sim:constant?save=/tmp/x",
        "sim:constant?seed=1\0",
        "sim:",
        "/dev/sda",
        "/etc/passwd",
        "../x.toml",
        "./x",
        "x.toml",
        "--archive=/tmp/x",
        "-y",
        "quick",
        "",
        "a\nb",
        "name = \"mine\"\n",
        "\u{202e}",
    ];

    fn text() -> impl Strategy<Value = String> {
        prop_oneof![4 => prop::sample::select(&HOSTILE[..]).prop_map(str::to_owned), 1 => any::<String>()]
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            text().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            any::<u32>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            prop::collection::vec(text(), 0..3).prop_map(Value::from),
            Just(Value::Null),
        ]
    }

    fn order() -> impl Strategy<Value = Value> {
        let verb = prop::sample::select(&VERBS[..]);
        let key = prop::sample::select(&OPTIONS[..]);
        let options = prop::collection::btree_map(key, value(), 0..3);
        (verb, text(), options, prop::option::of(text()), any::<bool>()).prop_map(
            |(verb, target, options, confirm, agreed)| {
                let confirm = if agreed { Some(target.clone()) } else { confirm };
                json!({ "verb": verb, "target": target, "options": options, "confirm": confirm })
            },
        )
    }

    /// Asserts that an argument is an offered option or a target from the program's own list.
    fn is_no_path(server: &ServerState, argument: &str, target: &str) {
        let Some(option) = argument.strip_prefix("--") else {
            assert_eq!(argument, target);
            assert!(target.starts_with("sim:") && !target.contains(['/', '\0']), "{target:?}");
            assert!(!target.contains("state=") && !target.contains("save="), "{target:?}");
            return;
        };
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name {
            "recipe" if recipes::builtin_text(value).is_ok() => {}
            "recipe" => assert!(server.uploads.holds(value), "{value:?}"),
            "budget" | "label" | "read-only" | "erase" | "marks" | "full" | "thorough" | "runs" | "size"
            | "only" | "write" | "pattern" | "duration" | "cooling" | "max-write" | "seed" | "condition"
            | "region" => {}
            other => panic!("--{other} is not offered"),
        }
    }

    #[test]
    fn requests_never_pass_client_paths_to_verb() {
        let server = server(None);
        proptest!(|(sent in order())| {
            if let Ok(order) = serde_json::from_value::<TaskRequest>(sent) {
                match validate_request(&server, order) {
                    Err(refusal) => prop_assert!(refusal.status.is_client_error(), "{refusal:?}"),
                    Ok(ready) => ready
                        .arguments
                        .iter()
                        .for_each(|argument| is_no_path(&server, &argument.to_string_lossy(), &ready.request.target)),
                }
            }
        });
    }

    #[test]
    fn uploaded_recipe_file_is_removed_with_its_task() {
        let server = server(None);
        let text = "name = \"mine\"\ntitle = \"t\"\nversion = 1\nsource = \"s\"\n[area]\nsize = \"1MiB\"\n\
                    [[test]]\ntest = \"SEQ1M Q1T1 read\"\npasses = 1\n";
        let order = |target: &str| {
            let order = json!({ "verb": "bench", "target": target, "options": { "recipe_text": text } });
            validate_request(&server, serde_json::from_value(order).unwrap())
        };
        let started = order("sim:constant").unwrap();
        let file = started.arguments[0].to_str().unwrap().strip_prefix("--recipe=").unwrap().to_owned();
        assert!(std::path::Path::new(&file).exists());
        drop(started);
        assert!(!std::path::Path::new(&file).exists());
    }
}
