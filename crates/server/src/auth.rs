//! Authentication: checks Host and Origin (DNS rebinding, CSRF) and the token.
//!
//! The Host must be an exact name of this server, and the Origin of a browser must match it. The API demands the token in
//! a header, which a foreign page cannot send, or for reading the cookie that was set in exchange for it. Other programs
//! on this computer receive the cookie on their ports too, so its secret only reads.

use crate::connections::ClientConnection;
use crate::refusal::{RequestRefusal, Result};
use crate::state::{ServerState, SharedState};
use axum::extract::Request;
use axum::http::header::{COOKIE, HOST, HeaderMap, ORIGIN};
use axum::http::{HeaderName, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

pub(crate) const TOKEN_HEADER: HeaderName = HeaderName::from_static("cardscope-token");

/// Path without authentication: it proves that the server knows the token and reveals nothing else.
pub(crate) const PROOF_PATH: &str = "/api/proof";

/// POST requests that change nothing: their input is too large for a URL.
const READING_POSTS: [&str; 2] = ["/api/rank", "/api/recipes/check"];

/// Content security policy: pages load only files of this server.
const PAGE_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; \
    img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; \
    frame-ancestors 'none'";

/// Middleware: refuses unauthorized requests and sets the security headers.
pub(crate) async fn authenticate(server: SharedState, request: Request, next: Next) -> Response {
    let api = request.uri().path().starts_with("/api/");
    let mut response = match check_request(&server, &request) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, PAGE_POLICY),
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

fn check_request(server: &ServerState, request: &Request) -> Result<()> {
    let headers = request.headers();
    let host = single_header(headers, &HOST).unwrap_or_default();
    if !server.hosts.contains(host) {
        return Err(RequestRefusal::forbidden(
            "this server is not known by that name; open the address that `cardscope serve` printed, or allow the name with \
             --allow-host",
        ));
    }
    let is_own = |origin: &str| origin.strip_prefix("http://").is_some_and(|o| o.eq_ignore_ascii_case(host));
    if single_header(headers, &ORIGIN).is_some_and(|origin| !is_own(origin)) {
        return Err(RequestRefusal::forbidden("the request comes from a page of another site"));
    }
    let (path, method) = (request.uri().path(), request.method());
    if !path.starts_with("/api/") || path == PROOF_PATH {
        return Ok(());
    }
    let reads = matches!(*method, Method::GET | Method::HEAD)
        || *method == Method::POST && READING_POSTS.contains(&path);
    let is_authorized = match single_header(headers, &TOKEN_HEADER) {
        Some(token) => server.token.matches(token),
        None => reads && cookie_secret(server, headers).is_some_and(|s| server.read_token.matches(s)),
    };
    if !is_authorized {
        return Err(RequestRefusal::unknown_client());
    }
    if let Some(connection) = request.extensions().get::<ClientConnection>() {
        connection.mark_admitted();
    }
    Ok(())
}

fn single_header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    // A duplicated header is ambiguous and counts as invalid.
    let mut all = headers.get_all(name).iter();
    let first = all.next()?;
    if all.next().is_some() { Some("") } else { first.to_str().ok().or(Some("")) }
}

/// Cookies are shared by all ports of a host, so the name contains the port.
fn cookie_name(server: &ServerState) -> String {
    format!("cardscope-{}", server.address.port())
}

fn cookie_secret<'a>(server: &ServerState, headers: &'a HeaderMap) -> Option<&'a str> {
    let name = cookie_name(server);
    let pairs = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// Value of Set-Cookie with the read token, for requests that cannot send a header: pictures, downloads, the event
/// stream.
pub(crate) fn cookie_header(server: &ServerState) -> String {
    format!("{}={}; Path=/; HttpOnly; SameSite=Strict", cookie_name(server), server.read_token.text())
}
