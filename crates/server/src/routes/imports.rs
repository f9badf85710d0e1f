//! Routes for uploads and imports.

use super::cards;
use super::common::{content_length, run_blocking};
use crate::api::{FileName, ImportOrder, ImportedFile, ImportedLogs, UploadedFile};
use crate::json_body::JsonBody;
use crate::refusal::RequestRefusal;
use crate::rendering;
use crate::state::ServerState;
use axum::Json;
use axum::body::Body;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::HeaderMap;
use axum::http::StatusCode;
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_import::page::import_page;
use cardscope_import::verb as import;
use cardscope_import::verb::ImportRequest;
use cardscope_model::import_report::{FileLine, ImportReport};
use cardscope_session::options::ArchiveAt;
use std::path::PathBuf;
use std::sync::Arc;

/// Uploads a file; it is parsed by the import.
#[utoipa::path(post, path = "/api/uploads", tag = "imports", params(FileName), request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 201, body = UploadedFile), (status = 409, body = crate::api::ApiProblem), (status = 413, body = crate::api::ApiProblem)))]
pub(super) async fn upload(
    State(server): State<Arc<ServerState>>,
    name: Result<Query<FileName>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<UploadedFile>), RequestRefusal> {
    let Query(FileName { name }) = name?;
    let announced = content_length(&headers);
    let upload = server.uploads.receive(&name, announced, body).await?;
    Ok((StatusCode::CREATED, Json(upload)))
}

/// Removes an uploaded file.
#[utoipa::path(delete, path = "/api/uploads/{id}", tag = "imports", params(("id" = String, Path)), responses((status = 204), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn remove(
    State(server): State<Arc<ServerState>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<StatusCode, RequestRefusal> {
    let Path(id) = id?;
    match server.uploads.remove(&id) {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(RequestRefusal::not_found("file of that id")),
    }
}

/// Imports or previews uploaded files.
#[utoipa::path(post, path = "/api/imports", tag = "imports", request_body = ImportOrder, responses((status = 200, body = ImportedLogs), (status = 404, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn import(
    State(server): State<Arc<ServerState>>,
    JsonBody(order): JsonBody<ImportOrder>,
) -> Result<Json<ImportedLogs>, RequestRefusal> {
    run_blocking(&server, move |server| import_uploads(server, &order).map(Json)).await
}

fn import_uploads(server: &ServerState, order: &ImportOrder) -> Result<ImportedLogs, RequestRefusal> {
    if order.uploads.is_empty() {
        return Err(RequestRefusal::unprocessable("nothing to import: send a file first"));
    }
    let path =
        |id: &String| server.uploads.path(id).ok_or_else(|| RequestRefusal::not_found("file of that id"));
    let files = order.uploads.iter().map(path).collect::<Result<Vec<PathBuf>, _>>()?;
    let said = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    let request = ImportRequest {
        files,
        dry_run: !order.keep,
        brand: said(&order.brand),
        card: said(&order.card),
        capacity: said(&order.capacity),
        marks: order.marks.clone(),
        archive: ArchiveAt { archive: server.archive.clone() },
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
