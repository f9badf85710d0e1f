//! Helpers of several routes.

use crate::refusal::RequestRefusal;
use crate::state::ServerState;
use axum::http::header::{CONTENT_LENGTH, HeaderMap};
use std::sync::Arc;

/// Runs blocking work on a thread of the pool.
pub(super) async fn run_blocking<T: Send + 'static>(
    server: &Arc<ServerState>,
    work: impl FnOnce(&ServerState) -> Result<T, RequestRefusal> + Send + 'static,
) -> Result<T, RequestRefusal> {
    let server = Arc::clone(server);
    let done = tokio::task::spawn_blocking(move || work(&server)).await;
    done.unwrap_or_else(|e| {
        let why = format!("Cardscope failed at this: {e}; please report it");
        Err(RequestRefusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, why))
    })
}

/// Content-Length of a request.
pub(super) fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

/// All values of a repeatable query parameter.
pub(super) fn query_values(query: Option<&str>, key: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.filter(|(name, _)| name == key).map(|(_, value)| value.into_owned()).collect()
}
