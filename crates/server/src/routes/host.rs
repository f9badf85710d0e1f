//! Routes about the host computer and authentication.

use crate::api::{ClientNonce, HostInfo, Journal, JournalList, RenderedPage, TokenProof};
use crate::extract::QueryOf;
use crate::refusal::{RequestRefusal, Result};
use crate::state::{SharedState, run_blocking};
use crate::{auth, rendering, token};
use axum::Json;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderName, StatusCode};
use cardscope_archive as archive;
use cardscope_host::page::doctor::page;
use cardscope_host::verb::doctor::{self, DoctorRequest};
use cardscope_model::restore::WaitingJournal;
use cardscope_restore::verb as restore;
use cardscope_session::options::MachineOptions;
use std::path::Path;

const NONCE_DIGITS: std::ops::RangeInclusive<usize> = 32..=128;

/// Describes the computer that runs the server.
#[utoipa::path(get, path = "/api/host", tag = "host", responses((status = 200, body = HostInfo)))]
pub(super) async fn host(server: SharedState) -> Result<Json<HostInfo>> {
    run_blocking(server, |server| {
        let (archive, archive_problem) = archive::location_and_problem(server.archive.as_deref());
        Ok(Json(HostInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            hostname: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            archive,
            archive_problem,
            root: rustix::process::geteuid().is_root(),
        }))
    })
    .await
}

/// Sets the cookie that reads pictures, downloads and the event stream.
#[utoipa::path(post, path = "/api/session", tag = "host", responses((status = 204)))]
pub(super) async fn admit(server: SharedState) -> Result<(StatusCode, [(HeaderName, String); 1])> {
    run_blocking(server, |server| {
        // The browser has the token now, so the file that contains it is removed.
        token::remove_redirect_page(server.address, &server.token);
        Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, auth::cookie_header(server))]))
    })
    .await
}

/// Proves that the server knows the token: HMAC-SHA-256 of the nonce under the token, both as text. Needs no token.
#[utoipa::path(get, path = "/api/proof", tag = "host", params(ClientNonce), security(()), responses((status = 200, body = TokenProof), (status = 422, body = crate::api::ApiProblem)))]
pub(super) async fn proof(
    server: SharedState,
    QueryOf(ClientNonce { nonce }): QueryOf<ClientNonce>,
) -> Result<Json<TokenProof>> {
    match NONCE_DIGITS.contains(&nonce.len()) && nonce.bytes().all(|b| b.is_ascii_hexdigit()) {
        true => Ok(Json(TokenProof { proof: server.token.nonce_proof(&nonce) })),
        false => Err(RequestRefusal::unprocessable("the nonce must have 32 to 128 hex digits")),
    }
}

/// Lists saved data that has not been restored.
#[utoipa::path(get, path = "/api/journals", tag = "host", responses((status = 200, body = JournalList)))]
pub(super) async fn journals(server: SharedState) -> Result<Json<JournalList>> {
    run_blocking(server, |_| {
        let journal = |waiting: WaitingJournal| Journal { name: journal_name(&waiting.file), waiting };
        Ok(Json(JournalList { journals: restore::pending_journals()?.into_iter().map(journal).collect() }))
    })
    .await
}

/// Checks if this computer is fit to measure.
#[utoipa::path(get, path = "/api/doctor", tag = "host", responses((status = 200, body = RenderedPage)))]
pub(super) async fn doctor(server: SharedState) -> Result<Json<RenderedPage>> {
    run_blocking(server, |server| {
        let (archive, machine) = (server.archive_option(), MachineOptions::default());
        let report = doctor::check_machine(&DoctorRequest { target: None, archive, machine })?;
        Ok(Json(rendering::render_document(&report, page)))
    })
    .await
}

/// File name of a journal, without its folder.
pub(super) fn journal_name(file: &str) -> String {
    Path::new(file).file_name().unwrap_or_default().to_string_lossy().into_owned()
}
