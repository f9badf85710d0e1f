//! Serves the embedded web app. Any path that is not a file gets its index page, since the app routes by path.

use crate::refusal::RequestRefusal;
use axum::body::Body;
use axum::http::header::{ACCEPT_ENCODING, ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use axum::http::{Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use flate2::read::GzDecoder;
use std::io::Read;

mod embedded {
    include!(concat!(env!("OUT_DIR"), "/app.rs"));
}
use embedded::FILES;

const INDEX: &str = "index.html";

const BUILT_WITHOUT: &str = "This Cardscope was built without its app for browsers; it serves the API only \
    (/api/openapi.json).\nBuild it again where Node 20 or later is installed.\n";

/// True if this binary was built with the app.
pub(crate) fn is_built_in() -> bool {
    !FILES.is_empty()
}

/// Answers with a file of the app, or with its index page.
pub(crate) async fn serve_app(method: Method, uri: Uri, headers: HeaderMap) -> Response {
    if uri.path().starts_with("/api/") {
        let unknown = "such address in the API; /api/openapi.json lists them";
        return RequestRefusal::not_found(unknown).into_response();
    }
    if !matches!(method, Method::GET | Method::HEAD) {
        return ([(ALLOW, "GET, HEAD")], RequestRefusal::wrong_method()).into_response();
    }
    let path = uri.path().trim_start_matches('/');
    let is_asset = path.starts_with("assets/");
    let file = |wanted: &str| FILES.iter().find(|(name, _)| *name == wanted);
    match file(path).or_else(|| file(INDEX).filter(|_| !is_asset)) {
        Some((name, bytes)) => file_response(name, bytes, &headers),
        None if is_asset => (StatusCode::NOT_FOUND, "there is no such file\n").into_response(),
        None => (StatusCode::NOT_FOUND, BUILT_WITHOUT).into_response(),
    }
}

fn file_response(name: &str, packed: &'static [u8], headers: &HeaderMap) -> Response {
    // Names of assets contain a hash of their content, so they never change.
    let keep = if name.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let accepted = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let response = Response::builder().header(CONTENT_TYPE, media_type(name)).header(CACHE_CONTROL, keep);
    let response = match accepted.split(',').any(|one| one.trim().split(';').next() == Some("gzip")) {
        true => response.header(CONTENT_ENCODING, "gzip").body(Body::from(packed)),
        false => {
            let mut bytes = Vec::new();
            match GzDecoder::new(packed).read_to_end(&mut bytes) {
                Ok(_) => response.body(Body::from(bytes)),
                Err(_) => response.status(StatusCode::INTERNAL_SERVER_ERROR).body(Body::empty()),
            }
        }
    };
    response.unwrap_or_else(|_| StatusCode::INTERNAL_SERVER_ERROR.into_response())
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next().unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "json" | "webmanifest" => "application/json",
        "woff2" => "font/woff2",
        _ => "application/octet-stream",
    }
}
