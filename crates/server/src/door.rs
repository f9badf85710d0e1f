//! Authentication. The Host must be one of ours to the letter, so that no name that somebody points at this computer works
//! (DNS rebinding); the Origin, where a browser names one, must be the same; and the API wants the token in a header, or for
//! reading the secret of the cookie that a header once got. A page of others can send no header; and what listens on another
//! port of this computer, which gets cookies of all its ports, learns a secret that only reads.

use crate::connections::ClientConnection;
use crate::problem::RequestRefusal;
use crate::state::ServerState;
use axum::extract::{Request, State};
use axum::http::header::{COOKIE, HOST, HeaderMap, ORIGIN};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The header that has the token.
pub(crate) const TOKEN: HeaderName = HeaderName::from_static("cardscope-token");

/// Answers whoever asks: it shows that the server knows the token, and nothing else.
pub(crate) const PROOF: &str = "/api/proof";

/// Questions that do not fit into an address: nothing is changed by them.
const QUESTIONS: [&str; 2] = ["/api/rank", "/api/recipes/check"];

/// What a page of ours may do: load what we serve, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Lets in, or says why not; and says to the browser what the answer may do.
pub(crate) async fn guard(State(server): State<Arc<ServerState>>, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let mut response = match admit(&server, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if api && !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn admit(server: &ServerState, request: &Request) -> Result<(), RequestRefusal> {
    let headers = request.headers();
    let host = text(headers, &HOST).unwrap_or_default();
    if !server.hosts.has(host) {
        return Err(RequestRefusal::forbidden(
            "this server is not known by that name; open the address that `cardscope serve` printed, or allow the name with \
             --allow-host",
        ));
    }
    let foreign =
        |origin: &str| origin.strip_prefix("http://").is_none_or(|from| !from.eq_ignore_ascii_case(host));
    if text(headers, &ORIGIN).is_some_and(foreign) {
        return Err(RequestRefusal::forbidden("the request comes from a page of another site"));
    }
    if !request.uri().path().starts_with("/api/") || request.uri().path() == PROOF {
        return Ok(());
    }
    let question = request.method() == Method::POST && QUESTIONS.contains(&request.uri().path());
    let reads = question || matches!(*request.method(), Method::GET | Method::HEAD);
    let known = match text(headers, &TOKEN) {
        Some(token) => server.token.is(token),
        None => reads && cookie(server, headers).is_some_and(|secret| server.reading.is(secret)),
    };
    if !known {
        return Err(RequestRefusal::unknown_client());
    }
    if let Some(connection) = request.extensions().get::<ClientConnection>() {
        connection.admit();
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    // A header twice is two answers to one question.
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { Some("") } else { first.to_str().ok().or(Some("")) }
}

/// The cookie's name holds the port: cookies of one host are shared by its ports.
fn cookie_name(server: &ServerState) -> String {
    format!("cardscope-{}", server.address.port())
}

fn cookie<'a>(server: &ServerState, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(server);
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The cookie that reads what cannot have a header: pictures, downloads, the stream of events.
pub(crate) fn cookie_header(server: &ServerState) -> String {
    format!("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(server), server.reading.text())
}
