//! Routes about the host computer and authentication.

use super::common::run_blocking;
use crate::api::{ClientNonce, HostInfo, Journal, JournalList, RenderedPage, TokenProof};
use crate::refusal::RequestRefusal;
use crate::state::ServerState;
use crate::{auth, redirect_page, rendering};
use axum::Json;
use axum::extract::rejection::QueryRejection;
use axum::extract::{Query, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderName, StatusCode};
use cardscope_archive as archive;
use cardscope_host::page::doctor::page;
use cardscope_host::verb::doctor;
use cardscope_host::verb::doctor::DoctorRequest;
use cardscope_model::restore::WaitingJournal;
use cardscope_restore::verb as restore;
use cardscope_session::options::{ArchiveAt, MachineOptions};
use std::path::Path;
use std::sync::Arc;

const NONCE_DIGITS: std::ops::RangeInclusive<usize> = 32..=128;

/// Describes the computer that runs the server.
#[utoipa::path(get, path = "/api/host", tag = "host", responses((status = 200, body = HostInfo)))]
pub(super) async fn host(State(server): State<Arc<ServerState>>) -> Result<Json<HostInfo>, RequestRefusal> {
    run_blocking(&server, |server| {
        let (shown, problem) = archive::location_and_problem(server.archive.as_deref());
        Ok(Json(HostInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            archive: shown,
            archive_problem: problem,
            root: rustix::process::geteuid().is_root(),
        }))
    })
    .await
}

/// Sets the cookie that reads pictures, downloads and the event stream.
#[utoipa::path(post, path = "/api/session", tag = "host", responses((status = 204)))]
pub(super) async fn admit(
    State(server): State<Arc<ServerState>>,
) -> Result<(StatusCode, [(HeaderName, String); 1]), RequestRefusal> {
    run_blocking(&server, |server| {
        // The browser has the token now, so the file that contains it is removed.
        redirect_page::remove_page(server.address, server.token.text());
        Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, auth::cookie_header(server))]))
    })
    .await
}

/// Proves that the server knows the token: HMAC-SHA-256 of the nonce under the token, both as text. Needs no token.
#[utoipa::path(get, path = "/api/proof", tag = "host", params(ClientNonce), security(()), responses((status = 200, body = TokenProof), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn proof(
    State(server): State<Arc<ServerState>>,
    asked: Result<Query<ClientNonce>, QueryRejection>,
) -> Result<Json<TokenProof>, RequestRefusal> {
    let Query(ClientNonce { nonce }) = asked?;
    let fits = NONCE_DIGITS.contains(&nonce.len()) && nonce.bytes().all(|b| b.is_ascii_hexdigit());
    match fits {
        true => Ok(Json(TokenProof { proof: server.token.nonce_proof(&nonce) })),
        false => Err(RequestRefusal::unprocessable("the nonce must have 32 to 128 hex digits")),
    }
}

/// Lists saved data that has not been restored.
#[utoipa::path(get, path = "/api/journals", tag = "host", responses((status = 200, body = JournalList)))]
pub(super) async fn journals(
    State(server): State<Arc<ServerState>>,
) -> Result<Json<JournalList>, RequestRefusal> {
    run_blocking(&server, |_| {
        let journal = |waiting: WaitingJournal| Journal { name: journal_name(&waiting.file), waiting };
        Ok(Json(JournalList { journals: restore::pending_journals()?.into_iter().map(journal).collect() }))
    })
    .await
}

/// Checks if this computer is fit to measure.
#[utoipa::path(get, path = "/api/doctor", tag = "host", responses((status = 200, body = RenderedPage)))]
pub(super) async fn doctor(
    State(server): State<Arc<ServerState>>,
) -> Result<Json<RenderedPage>, RequestRefusal> {
    run_blocking(&server, |server| {
        let archive = ArchiveAt { archive: server.archive.clone() };
        let report = doctor::check_machine(&DoctorRequest {
            target: None,
            archive,
            machine: MachineOptions::default(),
        })?;
        Ok(Json(rendering::render_document(&report, page)))
    })
    .await
}

/// File name of a journal, without its folder.
pub(super) fn journal_name(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
