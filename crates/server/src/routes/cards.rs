//! Routes of cards.

use crate::api::{
    CardChange, CardFact, CardQuery, CardResource, CardWindow, FileName, NewEvent, SessionLine,
};
use crate::extract::{ItemId, JsonBody, QueryOf, content_length};
use crate::refusal::{RequestRefusal, Result};
use crate::rendering;
use crate::state::{ServerState, SharedState, run_blocking};
use axum::Json;
use axum::body::Body;
use axum::extract::RawQuery;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use cardscope_archive::{self as archive, CardEdit, CardPage};
use cardscope_compare::page::publication;
use cardscope_compare::verb::compare::{CompareRequest, MeasurementChoice};
use cardscope_compare::verb::publish::{self, PublishRequest};
use cardscope_identity::page as identity;
use cardscope_model::identity::Identity;
use cardscope_model::publication::Publication;
use cardscope_model::units::TemperatureUnit;
use cardscope_page::tree::html;

/// Limit of an attachment in bytes.
const MAX_ATTACHMENT_BYTES: usize = 20 << 20;

/// Lists cards that match the query.
#[utoipa::path(get, path = "/api/cards", tag = "cards", params(CardQuery), responses((status = 200, body = CardWindow)))]
pub(super) async fn list(
    server: SharedState,
    RawQuery(raw): RawQuery,
    QueryOf(query): QueryOf<CardQuery>,
) -> Result<Response> {
    let question = raw.unwrap_or_default();
    // Most queries repeat and are answered from the cache, without a thread of the pool.
    let answer = match server.card_index.current().and_then(|cards| cards.cached_answer(&question)) {
        Some(answer) => answer,
        None => run_blocking(server, move |s| Ok(s.cards()?.answer_query(&question, &query))).await?,
    };
    Ok(([(CONTENT_TYPE, "application/json")], answer).into_response())
}

/// Returns a card with its details.
#[utoipa::path(get, path = "/api/cards/{id}", tag = "cards", params(("id" = String, Path)), responses((status = 200, body = CardResource), (status = 404, body = crate::api::ApiProblem)))]
pub(super) async fn get(server: SharedState, ItemId(id): ItemId) -> Result<Json<CardResource>> {
    run_blocking(server, move |server| card_resource(server, &id).map(Json)).await
}

/// Changes facts and marks of a card, or adds an event.
#[utoipa::path(patch, path = "/api/cards/{id}", tag = "cards", params(("id" = String, Path)), request_body = CardChange, responses((status = 200, body = CardResource), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn change(
    server: SharedState,
    ItemId(id): ItemId,
    JsonBody(change): JsonBody<CardChange>,
) -> Result<Json<CardResource>> {
    run_blocking(server, move |server| {
        require_editable(server, &id)?;
        archive::edit_card(server.archive.as_deref(), &to_edit(&id, change)?, &server.answers)?;
        refresh_cards(server)?;
        card_resource(server, &id).map(Json)
    })
    .await
}

/// Attaches a photograph, a screenshot or a receipt to a card.
#[utoipa::path(post, path = "/api/cards/{id}/attachments", tag = "cards", params(("id" = String, Path), FileName), request_body(content = Vec<u8>, content_type = "application/octet-stream"), responses((status = 200, body = CardResource), (status = 404, body = crate::api::ApiProblem), (status = 409, body = crate::api::ApiProblem), (status = 413, body = crate::api::ApiProblem), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn attach(
    server: SharedState,
    ItemId(id): ItemId,
    QueryOf(FileName { name }): QueryOf<FileName>,
    headers: HeaderMap,
    body: Body,
) -> Result<Json<CardResource>> {
    let too_large = || {
        let why = format!("{name:?} is larger than {} MiB", MAX_ATTACHMENT_BYTES >> 20);
        RequestRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
    };
    // Refused before the whole body is received.
    if content_length(&headers).is_some_and(|bytes| bytes > MAX_ATTACHMENT_BYTES as u64) {
        return Err(too_large());
    }
    let bytes = axum::body::to_bytes(body, MAX_ATTACHMENT_BYTES).await.map_err(|_| too_large())?;
    run_blocking(server, move |server| {
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
    server: SharedState,
    ItemId((id, hash)): ItemId<(String, String)>,
) -> Result<Response> {
    run_blocking(server, move |server| {
        server.cards()?.find_card(&id).ok_or_else(unknown_card)?;
        let found = archive::attached_file(server.archive.as_deref(), &id, &hash)?;
        let (file, bytes) = found.ok_or_else(|| RequestRefusal::not_found("such file on this card"))?;
        // Only pictures are served with their own type: another attachment could contain a script.
        let pictures = ["image/png", "image/jpeg", "image/gif", "image/webp"];
        let picture = pictures.into_iter().find(|known| *known == file.media_type);
        let media_type = picture.unwrap_or("application/octet-stream");
        let caching = "private, max-age=31536000, immutable";
        Ok(([(CONTENT_TYPE, media_type), (CACHE_CONTROL, caching)], bytes).into_response())
    })
    .await
}

/// Refreshes the index after an own change, so that the client's next list has it, and notifies all clients.
pub(super) fn refresh_cards(server: &ServerState) -> Result<()> {
    server.card_index.refresh(server.archive.as_deref())?;
    server.events.publish_change("archive");
    Ok(())
}

/// Returns the ids if all cards exist.
pub(super) fn require_known(server: &ServerState, ids: Vec<String>) -> Result<Vec<String>> {
    let cards = server.cards()?;
    match ids.iter().find(|id| cards.find_card(id).is_none()) {
        Some(id) => Err(RequestRefusal::unprocessable(format!("there is no card {id:?}"))),
        None => Ok(ids),
    }
}

/// Keeps ids of cards with results; a run may have ended before its first result.
pub(super) fn with_results(server: &ServerState, mut ids: Vec<String>) -> Result<Vec<String>> {
    let cards = server.cards()?;
    ids.retain(|id| cards.find_card(id).is_some_and(|card| !card.speeds.is_empty()));
    Ok(ids)
}

/// Fails unless the card can be changed, which only cards of the archive can.
fn require_editable(server: &ServerState, id: &str) -> Result<()> {
    match server.cards()?.find_card(id) {
        Some(card) if card.published => Err(RequestRefusal::conflict(
            "this card comes with the program and cannot be changed; import its logs to have your own",
        )),
        Some(_) => Ok(()),
        None => Err(unknown_card()),
    }
}

fn unknown_card() -> RequestRefusal {
    RequestRefusal::not_found("card of that id")
}

fn to_edit(id: &str, change: CardChange) -> Result<CardEdit> {
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

fn card_resource(server: &ServerState, id: &str) -> Result<CardResource> {
    let archive = server.archive.as_deref();
    let card = server.cards()?.find_card(id).cloned().ok_or_else(unknown_card)?;
    let identity_page = |identity: &Identity| identity::page(identity, TemperatureUnit::Celsius);
    let identity = archive::newest_identity(archive, id)?;
    let identity = identity.map(|identity| rendering::render_quoted(&identity, identity_page));
    // A card without results has nothing to publish; its sessions show everything.
    let html = if card.speeds.is_empty() { String::new() } else { measurements_html(server, id)? };
    let identity_html = identity.as_ref().map(html::render_fragment);
    let resource = CardResource { card, html, identity_html, ..CardResource::default() };
    Ok(match archive::card_by_id(archive, id, &server.answers)? {
        Some(page) => CardResource {
            facts: card_facts(&page),
            events: page.events,
            attachments: page.attachments,
            sessions: page.session_lines.into_iter().rev().map(SessionLine::from).collect(),
            ..resource
        },
        None => resource,
    })
}

fn measurements_html(server: &ServerState, id: &str) -> Result<String> {
    let publication = publication_of_cards(server, vec![id.to_owned()])?;
    Ok(html::render_fragment(&rendering::render_quoted(&publication, publication::page::publication_page)))
}

pub(super) fn publication_of_cards(server: &ServerState, cards: Vec<String>) -> Result<Publication> {
    let choice = MeasurementChoice { archive: server.archive_option(), ..MeasurementChoice::default() };
    let compared = CompareRequest { cards, choice, ..CompareRequest::default() };
    Ok(publish::gather_publication(&PublishRequest { compared, ..PublishRequest::default() })?)
}

fn card_facts(page: &CardPage) -> Vec<CardFact> {
    let mut facts = page.card.facts.clone();
    let fact =
        |(word, value): (&str, &mut Option<String>)| CardFact { word: word.to_owned(), value: value.clone() };
    archive::text_facts(&mut facts).into_iter().map(fact).collect()
}
