//! Routes of sessions.

use super::common::run_blocking;
use crate::api::{ListWindow, RenderedPage, SessionLine, SessionResource, SessionWindow};
use crate::refusal::RequestRefusal;
use crate::rendering;
use crate::state::ServerState;
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use cardscope_archive as archive;
use cardscope_model::{json, untrusted_text};
use cardscope_page::tree::{Page, html};
use cardscope_session::frame::Failure;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Default and maximum number of sessions in an answer.
const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 1000;

/// Lists sessions, newest first.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(ListWindow), responses((status = 200, body = SessionWindow)))]
pub(super) async fn list(
    State(server): State<Arc<ServerState>>,
    window: Result<Query<ListWindow>, QueryRejection>,
) -> Result<Json<SessionWindow>, RequestRefusal> {
    let Query(ListWindow { offset, limit }) = window?;
    run_blocking(&server, move |server| {
        let (offset, limit) = (offset.unwrap_or_default(), limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT));
        let (lines, total) =
            archive::newest_sessions(server.archive.as_deref(), offset, limit, &server.answers)?;
        Ok(Json(SessionWindow { total, sessions: lines.into_iter().map(SessionLine::from).collect() }))
    })
    .await
}

/// Returns a session with its page and its document.
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions", params(("id" = String, Path)), responses((status = 200, body = SessionResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn get(
    State(server): State<Arc<ServerState>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<SessionResource>, RequestRefusal> {
    let Path(id) = id?;
    run_blocking(&server, move |server| {
        let (kind, document, page) = load_page(server, &id)?;
        Ok(Json(SessionResource {
            session: id,
            kind,
            page: serde_json::to_value(&page).unwrap_or_default(),
            made: RenderedPage {
                html: html::render_fragment(&page),
                answer: page.answer.to_string(),
                tone: page.tone,
                document,
            },
        }))
    })
    .await
}

/// Format of a download.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DownloadFormat {
    Html,
    Json,
}

#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct DownloadQuery {
    /// `html` or `json`.
    #[param(inline)]
    format: DownloadFormat,
}

/// Downloads a session as a file.
#[utoipa::path(get, path = "/api/sessions/{id}/file", tag = "sessions", params(("id" = String, Path), DownloadQuery), responses((status = 200, content((String = "text/html"), (serde_json::Value = "application/json"))), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn file(
    State(server): State<Arc<ServerState>>,
    id: Result<Path<String>, PathRejection>,
    saved: Result<Query<DownloadQuery>, QueryRejection>,
) -> Result<Response, RequestRefusal> {
    let Path(id) = id?;
    let Query(DownloadQuery { format }) = saved?;
    run_blocking(&server, move |server| {
        let (kind, document, page) = load_page(server, &id)?;
        let (ending, media_type, text) = match format {
            DownloadFormat::Html => ("html", "text/html; charset=utf-8", html::render_document(&page)),
            DownloadFormat::Json => {
                let text = json::to_answered_json(&page.answer, &document);
                (
                    "json",
                    "application/json",
                    text.map_err(|e| {
                        RequestRefusal::unprocessable(format!("it cannot be written as JSON: {e}"))
                    })?,
                )
            }
        };
        let name =
            format!("attachment; filename=\"cardscope-{kind}-{}.{ending}\"", id.get(..8).unwrap_or_default());
        Ok(([(CONTENT_TYPE, media_type.to_owned()), (CONTENT_DISPOSITION, name)], text).into_response())
    })
    .await
}

/// Returns verb, document and page of a session.
fn load_page(server: &ServerState, id: &str) -> Result<(String, Value, Page), RequestRefusal> {
    let whole = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if !whole {
        return Err(RequestRefusal::not_found("session of that id"));
    }
    let shown = archive::load_by_id(server.archive.as_deref(), id).map_err(|why| match why {
        Failure::Refused(_) => RequestRefusal::not_found("session of that id"),
        why => why.into(),
    })?;
    let (kind, document) = shown.into_document();
    let within: Value = untrusted_text::escape_document(&document).unwrap_or_else(|| document.clone());
    let page = rendering::page_of_document(&kind, &within);
    let page = page
        .unwrap_or_else(|| Page::from_answer(format!("A session of {kind}; its document has the details.")));
    Ok((kind, document, page))
}
