//! Routes of sessions.

use crate::api::{ListWindow, SessionLine, SessionResource, SessionWindow};
use crate::extract::{ItemId, QueryOf};
use crate::refusal::{RequestRefusal, Result};
use crate::rendering;
use crate::state::{ServerState, SharedState, run_blocking};
use axum::Json;
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use cardscope_archive as archive;
use cardscope_model::{json, untrusted_text};
use cardscope_page::tree::{Page, html};
use cardscope_session::frame::Failure;
use cardscope_verbs::list::page_of_document;
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

/// Default and maximum number of sessions in an answer.
const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 1000;

/// Lists sessions, newest first.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(ListWindow), responses((status = 200, body = SessionWindow)))]
pub(super) async fn list(
    server: SharedState,
    QueryOf(window): QueryOf<ListWindow>,
) -> Result<Json<SessionWindow>> {
    run_blocking(server, move |server| {
        let limit = window.limit.unwrap_or(DEFAULT_LIMIT).min(MAX_LIMIT);
        let (path, offset) = (server.archive.as_deref(), window.offset.unwrap_or_default());
        let (lines, total) = archive::newest_sessions(path, offset, limit, &server.answers)?;
        Ok(Json(SessionWindow { total, sessions: lines.into_iter().map(SessionLine::from).collect() }))
    })
    .await
}

/// Returns a session with its page and its document.
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions", params(("id" = String, Path)), responses((status = 200, body = SessionResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn get(server: SharedState, ItemId(id): ItemId) -> Result<Json<SessionResource>> {
    run_blocking(server, move |server| {
        let (kind, document, tree) = load_page(server, &id)?;
        let page = serde_json::to_value(&tree).unwrap_or_default();
        Ok(Json(SessionResource { session: id, kind, page, made: rendering::rendered_page(&tree, document) }))
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
    server: SharedState,
    ItemId(id): ItemId,
    QueryOf(DownloadQuery { format }): QueryOf<DownloadQuery>,
) -> Result<Response> {
    run_blocking(server, move |server| {
        let (kind, document, page) = load_page(server, &id)?;
        let unwritable = |e| RequestRefusal::unprocessable(format!("it cannot be written as JSON: {e}"));
        let (ending, media_type, text) = match format {
            DownloadFormat::Html => ("html", "text/html; charset=utf-8", html::render_document(&page)),
            DownloadFormat::Json => {
                let text = json::to_answered_json(&page.answer, &document).map_err(unwritable)?;
                ("json", "application/json", text)
            }
        };
        let short = id.get(..8).unwrap_or_default();
        let name = format!("attachment; filename=\"cardscope-{kind}-{short}.{ending}\"");
        Ok(([(CONTENT_TYPE, media_type.to_owned()), (CONTENT_DISPOSITION, name)], text).into_response())
    })
    .await
}

/// Returns verb, document and page of a session.
fn load_page(server: &ServerState, id: &str) -> Result<(String, Value, Page)> {
    let unknown = || RequestRefusal::not_found("session of that id");
    if id.len() != 36 || !id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-') {
        return Err(unknown());
    }
    let stored = archive::load_by_id(server.archive.as_deref(), id).map_err(|why| match why {
        Failure::Refused(_) => unknown(),
        why => why.into(),
    })?;
    let (kind, document) = stored.into_document();
    let escaped: Value = untrusted_text::escape_document(&document).unwrap_or_else(|| document.clone());
    let plain = || Page::from_answer(format!("A session of {kind}; its document has the details."));
    let page = page_of_document(&kind, &escaped).unwrap_or_else(plain);
    Ok((kind, document, page))
}
