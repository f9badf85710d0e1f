//! What was measured, session by session.

use super::common::blocking;
use crate::api::{Made, Session, SessionLine, Sessions, Window};
use crate::problem::Refusal;
use crate::records;
use crate::state::Server;
use axum::Json;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, State};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use cardscope_archive as archive;
use cardscope_model::{json, outside};
use cardscope_page::tree::{Page, html};
use cardscope_session::frame::Failure;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// Sessions that are given at once.
const USUAL: usize = 50;
const MOST: usize = 1000;

/// A window of the sessions, newest first.
#[utoipa::path(get, path = "/api/sessions", tag = "sessions", params(Window), responses((status = 200, body = Sessions)))]
pub(super) async fn list(
    State(server): State<Arc<Server>>,
    window: Result<Query<Window>, QueryRejection>,
) -> Result<Json<Sessions>, Refusal> {
    let Query(Window { offset, limit }) = window?;
    blocking(&server, move |server| {
        let (offset, limit) = (offset.unwrap_or_default(), limit.unwrap_or(USUAL).min(MOST));
        let (lines, total) = archive::newest(server.archive.as_deref(), offset, limit, &server.answers)?;
        Ok(Json(Sessions { total, sessions: lines.into_iter().map(SessionLine::from).collect() }))
    })
    .await
}

/// A session with its page and its document.
#[utoipa::path(get, path = "/api/sessions/{id}", tag = "sessions", params(("id" = String, Path)), responses((status = 200, body = Session), (status = 404, body = crate::api::Problem)))]
pub(super) async fn get(
    State(server): State<Arc<Server>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<Session>, Refusal> {
    let Path(id) = id?;
    blocking(&server, move |server| {
        let (kind, document, page) = found(server, &id)?;
        Ok(Json(Session {
            session: id,
            kind,
            page: serde_json::to_value(&page).unwrap_or_default(),
            made: Made {
                html: html::fragment(&page),
                answer: page.answer.to_string(),
                tone: page.tone,
                document,
            },
        }))
    })
    .await
}

/// As what a session is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Saved {
    /// A page that needs nothing else.
    Html,
    /// The document.
    Json,
}

/// The form of a file.
#[derive(Debug, Clone, Copy, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SavedAs {
    /// `html` or `json`.
    #[param(inline)]
    format: Saved,
}

/// A session as a file to save.
#[utoipa::path(get, path = "/api/sessions/{id}/file", tag = "sessions", params(("id" = String, Path), SavedAs), responses((status = 200, content((String = "text/html"), (serde_json::Value = "application/json"))), (status = 404, body = crate::api::Problem)))]
pub(super) async fn file(
    State(server): State<Arc<Server>>,
    id: Result<Path<String>, PathRejection>,
    saved: Result<Query<SavedAs>, QueryRejection>,
) -> Result<Response, Refusal> {
    let Path(id) = id?;
    let Query(SavedAs { format }) = saved?;
    blocking(&server, move |server| {
        let (kind, document, page) = found(server, &id)?;
        let (ending, media_type, text) = match format {
            Saved::Html => ("html", "text/html; charset=utf-8", html::document(&page)),
            Saved::Json => {
                let text = json::answered(&page.answer, &document);
                (
                    "json",
                    "application/json",
                    text.map_err(|e| Refusal::odd(format!("it cannot be written as JSON: {e}")))?,
                )
            }
        };
        let name =
            format!("attachment; filename=\"cardscope-{kind}-{}.{ending}\"", id.get(..8).unwrap_or_default());
        Ok(([(CONTENT_TYPE, media_type.to_owned()), (CONTENT_DISPOSITION, name)], text).into_response())
    })
    .await
}

/// The verb, the document and the page of a session.
fn found(server: &Server, id: &str) -> Result<(String, Value, Page), Refusal> {
    let whole = id.len() == 36 && id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if !whole {
        return Err(Refusal::not_found("session of that id"));
    }
    let shown = archive::show(server.archive.as_deref(), id).map_err(|why| match why {
        Failure::Refused(_) => Refusal::not_found("session of that id"),
        why => why.into(),
    })?;
    let (kind, document) = shown.into_document();
    let within: Value = outside::within_lines(&document).unwrap_or_else(|| document.clone());
    let page = records::page(&kind, &within);
    let page =
        page.unwrap_or_else(|| Page::plain(format!("A session of {kind}; its document has the details.")));
    Ok((kind, document, page))
}
