//! Routes for uploads and imports.

use super::cards;
use crate::api::{FileName, ImportOrder, ImportedFile, ImportedLogs, UploadedFile};
use crate::extract::{ItemId, JsonBody, QueryOf, content_length};
use crate::refusal::{RequestRefusal, Result};
use crate::rendering;
use crate::state::{ServerState, SharedState, run_blocking};
use axum::Json;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_import::page::import_page;
use cardscope_import::verb::{self as import, ImportRequest};
use cardscope_model::import_report::{FileLine, ImportReport};

/// Uploads a file; it is parsed by the import.
#[utoipa::path(post, path = "/api/uploads", tag = "imports", params(FileName), request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 201, body = UploadedFile), (status = 409, body = crate::api::ApiProblem), (status = 413, body = crate::api::ApiProblem)))]
pub(super) async fn upload(
    server: SharedState,
    QueryOf(FileName { name }): QueryOf<FileName>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<UploadedFile>)> {
    let upload = server.uploads.receive(&name, content_length(&headers), body).await?;
    Ok((StatusCode::CREATED, Json(upload)))
}

/// Removes an uploaded file.
#[utoipa::path(delete, path = "/api/uploads/{id}", tag = "imports", params(("id" = String, Path)), responses((status = 204), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn remove(server: SharedState, ItemId(id): ItemId) -> Result<StatusCode> {
    match server.uploads.remove(&id) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(unknown_file()),
    }
}

fn unknown_file() -> RequestRefusal {
    RequestRefusal::not_found("file of that id")
}

/// Imports or previews uploaded files.
#[utoipa::path(post, path = "/api/imports", tag = "imports", request_body = ImportOrder, responses((status = 200, body = ImportedLogs), (status = 404, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn import(
    server: SharedState,
    JsonBody(order): JsonBody<ImportOrder>,
) -> Result<Json<ImportedLogs>> {
    run_blocking(server, move |server| import_uploads(server, &order).map(Json)).await
}

fn import_uploads(server: &ServerState, order: &ImportOrder) -> Result<ImportedLogs> {
    if order.uploads.is_empty() {
        return Err(RequestRefusal::unprocessable("nothing to import: send a file first"));
    }
    let path = |id: &String| server.uploads.path(id).ok_or_else(unknown_file);
    let files = order.uploads.iter().map(path).collect::<Result<_>>()?;
    let given = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let request = ImportRequest {
        files,
        dry_run: !order.keep,
        brand: given(&order.brand),
        card: given(&order.card),
        capacity: given(&order.capacity),
        marks: order.marks.clone(),
        archive: server.archive_option(),
        detailed: true,
        ..ImportRequest::default()
    };
    let outcome = import::run_import(&request, &InterruptFlag::default(), &mut Silent)?;
    if let Some(failure) = outcome.failure {
        return Err(failure.into());
    }
    if order.keep {
        cards::refresh_cards(server)?;
        for id in &order.uploads {
            server.uploads.remove(id);
        }
    }
    let report = with_original_names(outcome.report, order);
    let made = rendering::render_document(&report, import_page);
    Ok(ImportedLogs {
        answer: made.answer,
        tone: made.tone,
        files: report.files.iter().map(imported_file).collect(),
        html: made.html,
    })
}

/// Replaces the paths of uploads in the document by their original names.
fn with_original_names(mut report: ImportReport, order: &ImportOrder) -> ImportReport {
    for line in &mut report.files {
        let sent = order.uploads.iter().find_map(|id| line.file.split_once(&format!("/{id}/")));
        if let Some((_, name)) = sent {
            line.file = name.to_owned();
        }
    }
    report
}

fn imported_file(line: &FileLine) -> ImportedFile {
    let log = line.log.as_ref();
    ImportedFile {
        file: line.file.clone(),
        format: log.map(|log| log.format.to_string()),
        card: log.map(|log| log.card.title()).filter(|title| title != "unnamed card"),
        runs: log.map_or(0, |log| log.runs.len()),
        results: log.map_or(0, |log| log.runs.iter().map(|run| run.results.len()).sum()),
        error: line.error.clone(),
        sessions: line.sessions.clone(),
    }
}
