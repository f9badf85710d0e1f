//! The computer: what it is, whether it is fit to measure, and what waits on it.

use super::common::blocking;
use crate::api::{Host, Journal, Journals, Made, Nonce, Proof};
use crate::problem::Refusal;
use crate::state::Server;
use crate::{door, open_page, records};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderName, StatusCode};
use cardscope_archive as archive;
use cardscope_host::page::doctor::page;
use cardscope_host::verb::doctor;
use cardscope_host::verb::doctor::Request;
use cardscope_model::restore::WaitingJournal;
use cardscope_restore::verb as restore;
use cardscope_session::options::{ArchiveAt, Machine};
use std::path::Path;
use std::sync::Arc;

/// Hex digits of a nonce.
const NONCE_DIGITS: std::ops::RangeInclusive<usize> = 32..=128;

/// What the server runs on.
#[utoipa::path(get, path = "/api/host", tag = "host", responses((status = 200, body = Host)))]
pub(super) async fn host(State(server): State<Arc<Server>>) -> Result<Json<Host>, Refusal> {
    blocking(&server, |server| {
        let (shown, problem) = archive::place(server.archive.as_deref());
        Ok(Json(Host {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            archive: shown,
            archive_problem: problem,
            root: rustix::process::geteuid().is_root(),
        }))
    })
    .await
}

/// Hands out the cookie that reads pictures, downloads and the stream of events.
#[utoipa::path(post, path = "/api/session", tag = "host", responses((status = 204)))]
pub(super) async fn admit(
    State(server): State<Arc<Server>>,
) -> Result<(StatusCode, [(HeaderName, String); 1]), Refusal> {
    blocking(&server, |server| {
        // The browser is in: the page that led it here is not needed any more.
        open_page::remove(server.address, server.token.text());
        Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, door::cookie_header(server))]))
    })
    .await
}

/// Shows that the server knows the token, without it: HMAC-SHA-256 of the nonce under the token, both as text. Needs no token.
#[utoipa::path(get, path = "/api/proof", tag = "host", params(Nonce), security(()), responses((status = 200, body = Proof), (status = 422, body = crate::api::Problem)))]
pub(super) async fn proof(
    State(server): State<Arc<Server>>,
    asked: Result<Query<Nonce>, QueryRejection>,
) -> Result<Json<Proof>, Refusal> {
    let Query(Nonce { nonce }) = asked?;
    let fits = NONCE_DIGITS.contains(&nonce.len()) && nonce.bytes().all(|b| b.is_ascii_hexdigit());
    match fits {
        true => Ok(Json(Proof { proof: server.token.proof(&nonce) })),
        false => Err(Refusal::odd("the nonce must have 32 to 128 hex digits")),
    }
}

/// Data of cards that wait to be restored.
#[utoipa::path(get, path = "/api/journals", tag = "host", responses((status = 200, body = Journals)))]
pub(super) async fn journals(State(server): State<Arc<Server>>) -> Result<Json<Journals>, Refusal> {
    blocking(&server, |_| {
        let journal = |waiting: WaitingJournal| Journal { name: name_of(&waiting.file), waiting };
        Ok(Json(Journals { journals: restore::waiting()?.into_iter().map(journal).collect() }))
    })
    .await
}

/// Is this computer fit to measure?
#[utoipa::path(get, path = "/api/doctor", tag = "host", responses((status = 200, body = Made)))]
pub(super) async fn doctor(State(server): State<Arc<Server>>) -> Result<Json<Made>, Refusal> {
    blocking(&server, |server| {
        let archive = ArchiveAt { archive: server.archive.clone() };
        let report = doctor::doctor(&Request { target: None, archive, machine: Machine::default() })?;
        Ok(Json(records::made(&report, page)))
    })
    .await
}

/// A journal's name without the way to it.
pub(super) fn name_of(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
