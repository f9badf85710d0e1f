//! Routes of cards.

use super::common::{content_length, run_blocking};
use crate::api::{
    CardChange, CardFact, CardQuery, CardResource, CardWindow, FileName, NewEvent, SessionLine,
};
use crate::json_body::JsonBody;
use crate::refusal::RequestRefusal;
use crate::rendering;
use crate::state::ServerState;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{Path, Query, RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use cardscope_archive as archive;
use cardscope_archive::{CardEdit, CardPage};
use cardscope_compare::page::publication;
use cardscope_compare::verb::compare::{CompareRequest as Compared, MeasurementChoice};
use cardscope_compare::verb::publish;
use cardscope_identity::page as identity;
use cardscope_model::identity::Identity;
use cardscope_model::units::TemperatureUnit;
use cardscope_page::tree::html;
use cardscope_session::options::ArchiveAt;
use std::sync::Arc;

/// Limit of an attachment in bytes.
const MAX_ATTACHMENT_BYTES: usize = 20 << 20;

/// Lists cards that match the query.
#[utoipa::path(get, path = "/api/cards", tag = "cards", params(CardQuery), responses((status = 200, body = CardWindow)))]
pub(super) async fn list(
    State(server): State<Arc<ServerState>>,
    RawQuery(raw): RawQuery,
    query: Result<Query<CardQuery>, QueryRejection>,
) -> Result<Response, RequestRefusal> {
    let Query(query) = query?;
    let question = raw.unwrap_or_default();
    // Most queries repeat and are answered from the cache, without a thread of the pool.
    let answer = match server.card_index.current().and_then(|cards| cards.cached_answer(&question)) {
        Some(answer) => answer,
        None => {
            let given = run_blocking(&server, move |server| {
                let cards = server.card_index.load(server.archive.as_deref())?;
                Ok(cards.answer_query(&question, &query))
            });
            given.await?
        }
    };
    Ok(([(CONTENT_TYPE, "application/json")], answer).into_response())
}

/// Returns a card with its details.
#[utoipa::path(get, path = "/api/cards/{id}", tag = "cards", params(("id" = String, Path)), responses((status = 200, body = CardResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn get(
    State(server): State<Arc<ServerState>>,
    id: Result<Path<String>, PathRejection>,
) -> Result<Json<CardResource>, RequestRefusal> {
    let Path(id) = id?;
    run_blocking(&server, move |server| card_resource(server, &id).map(Json)).await
}

/// Changes facts and marks of a card, or adds an event.
#[utoipa::path(patch, path = "/api/cards/{id}", tag = "cards", params(("id" = String, Path)), request_body = CardChange, responses((status = 200, body = CardResource), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn change(
    State(server): State<Arc<ServerState>>,
    id: Result<Path<String>, PathRejection>,
    JsonBody(change): JsonBody<CardChange>,
) -> Result<Json<CardResource>, RequestRefusal> {
    let Path(id) = id?;
    run_blocking(&server, move |server| {
        let edit = to_edit(require_editable(server, &id)?, change)?;
        archive::edit_card(server.archive.as_deref(), &edit, &server.answers)?;
        refresh_cards(server)?;
        card_resource(server, &id).map(Json)
    })
    .await
}

/// Attaches a photograph, a screenshot or a receipt to a card.
#[utoipa::path(post, path = "/api/cards/{id}/attachments", tag = "cards", params(("id" = String, Path), FileName), request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 200, body = CardResource), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem), (status = 413, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn attach(
    State(server): State<Arc<ServerState>>,
    id: Result<Path<String>, PathRejection>,
    name: Result<Query<FileName>, QueryRejection>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CardResource>, RequestRefusal> {
    let Path(id) = id?;
    let Query(FileName { name }) = name?;
    let too_large = || {
        let why = format!("{name:?} is larger than {} MiB", MAX_ATTACHMENT_BYTES >> 20);
        RequestRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    // Refused before the whole body is received.
    if content_length(&headers).is_some_and(|bytes| bytes > MAX_ATTACHMENT_BYTES as u64) {
        return Err(too_large());
    }
    let bytes = axum::body::to_bytes(body, MAX_ATTACHMENT_BYTES).await;
    let bytes: Bytes = bytes.map_err(|_| too_large())?;
    run_blocking(&server, move |server| {
        require_editable(server, &id)?;
        archive::attach_file(server.archive.as_deref(), &id, &name, &bytes)?;
        refresh_cards(server)?;
        card_resource(server, &id).map(Json)
    })
    .await
}

/// Returns an attachment of a card.
#[utoipa::path(get, path = "/api/cards/{id}/attachments/{hash}", tag = "cards", params(("id" = String, Path), ("hash" = String, Path)), responses((status = 200, content((Vec<u8> = "application/octet-stream"), (Vec<u8> = "image/png"), (Vec<u8> = "image/jpeg"), (Vec<u8> = "image/gif"), (Vec<u8> = "image/webp"))), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn attachment(
    State(server): State<Arc<ServerState>>,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Response, RequestRefusal> {
    let Path((id, hash)) = path?;
    run_blocking(&server, move |server| {
        let cards = server.card_index.load(server.archive.as_deref())?;
        cards.find_card(&id).ok_or_else(unknown_card)?;
        let found = archive::attached_file(server.archive.as_deref(), &id, &hash)?;
        let (file, bytes) = found.ok_or_else(|| RequestRefusal::not_found("such file on this card"))?;
        // Only pictures are served with their own type: another attachment could contain a script.
        let pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        let media_type = pictures
            .into_iter()
            .find(|known| *known == file.media_type)
            .unwrap_or("application/octet-stream");
        let headers: [(HeaderName, &str); 2] =
            [(CONTENT_TYPE, media_type), (CACHE_CONTROL, "private, max-age=31536000, immutable")];
        Ok((headers, bytes).into_response())
    })
    .await
}

/// Refreshes the index after an own change, so that the client's next list has it, and notifies all clients.
pub(super) fn refresh_cards(server: &ServerState) -> Result<(), RequestRefusal> {
    server.card_index.refresh(server.archive.as_deref())?;
    server.events.publish("archive", &serde_json::json!({}));
    Ok(())
}

/// Returns the ids if all cards exist.
pub(super) fn require_known(server: &ServerState, ids: Vec<String>) -> Result<Vec<String>, RequestRefusal> {
    let cards = server.card_index.load(server.archive.as_deref())?;
    match ids.iter().find(|id| cards.find_card(id).is_none()) {
        Some(id) => Err(RequestRefusal::unprocessable(format!("there is no card {id:?}"))),
        None => Ok(ids),
    }
}

/// Keeps ids of cards with results; a run may have ended before its first result.
pub(super) fn with_results(server: &ServerState, ids: Vec<String>) -> Result<Vec<String>, RequestRefusal> {
    let cards = server.card_index.load(server.archive.as_deref())?;
    Ok(ids.into_iter().filter(|id| cards.find_card(id).is_some_and(|card| !card.speeds.is_empty())).collect())
}

/// Returns the id if the card can be changed, which only cards of the archive can.
fn require_editable<'a>(server: &ServerState, id: &'a str) -> Result<&'a str, RequestRefusal> {
    let cards = server.card_index.load(server.archive.as_deref())?;
    match cards.find_card(id) {
        Some(card) if card.published => Err(RequestRefusal::conflict(
            "this card comes with the program and cannot be changed; import its logs to have your own",
        )),
        Some(_) => Ok(id),
        None => Err(unknown_card()),
    }
}

fn unknown_card() -> RequestRefusal {
    RequestRefusal::not_found("card of that id")
}

fn to_edit(id: &str, change: CardChange) -> Result<CardEdit, RequestRefusal> {
    let mut edit = CardEdit {
        card: id.to_owned(),
        facts: change.set.iter().map(|(word, value)| format!("{word}={value}")).collect(),
        marks: change.marks,
        ..CardEdit::default()
    };
    if let Some(NewEvent { kind, date, price, about }) = change.event {
        edit.state_event(&kind, date.as_deref(), price.as_deref()).map_err(RequestRefusal::unprocessable)?;
        edit.about = about.filter(|about| !about.trim().is_empty());
    }
    Ok(edit)
}

fn card_resource(server: &ServerState, id: &str) -> Result<CardResource, RequestRefusal> {
    let archive = server.archive.as_deref();
    let cards = server.card_index.load(archive)?;
    let row = cards.find_card(id).cloned().ok_or_else(unknown_card)?;
    let shown = archive::card_by_id(archive, id, &server.answers)?;
    let identity = archive::newest_identity(archive, id)?.map(|said| {
        rendering::render_quoted(&said, |said: &Identity| identity::page(said, TemperatureUnit::Celsius))
    });
    // A card without results has nothing to publish; its sessions show everything.
    let html = if row.speeds.is_empty() { String::new() } else { measurements_html(server, id)? };
    Ok(CardResource {
        facts: shown.as_ref().map(card_facts).unwrap_or_default(),
        events: shown.as_ref().map(|shown| shown.events.clone()).unwrap_or_default(),
        attachments: shown.as_ref().map(|shown| shown.attachments.clone()).unwrap_or_default(),
        sessions: shown
            .map(|shown| shown.session_lines.into_iter().rev().map(SessionLine::from).collect())
            .unwrap_or_default(),
        card: row,
        html,
        identity_html: identity.as_ref().map(html::render_fragment),
    })
}

fn measurements_html(server: &ServerState, id: &str) -> Result<String, RequestRefusal> {
    let choice = MeasurementChoice {
        archive: ArchiveAt { archive: server.archive.clone() },
        ..MeasurementChoice::default()
    };
    let compared = Compared { cards: vec![id.to_owned()], choice, ..Compared::default() };
    let publication = publish::gather_publication(&publish::PublishRequest {
        compared,
        ..publish::PublishRequest::default()
    })?;
    Ok(html::render_fragment(&rendering::render_quoted(&publication, publication::page::publication_page)))
}

fn card_facts(shown: &CardPage) -> Vec<CardFact> {
    let mut known = shown.card.facts.clone();
    archive::text_facts(&mut known)
        .into_iter()
        .map(|(word, value)| CardFact { word: word.to_owned(), value: value.clone() })
        .collect()
}
