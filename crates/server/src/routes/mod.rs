//! Routes of the API, one module for each kind of resource. The OpenAPI document is built from their annotations.

mod analysis;
mod cards;
mod devices;
mod document;
mod events;
mod host;
mod imports;
mod recipes;
mod sessions;
mod simulated;
mod tasks;

pub use document::openapi;

use crate::refusal::RequestRefusal;
use crate::state::ServerState;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Json, Router};
use std::sync::Arc;

/// Limit of a JSON body in bytes.
const LARGEST_BODY: usize = 1 << 20;

pub(crate) fn all() -> Router<Arc<ServerState>> {
    let (router, _) = document::router().split_for_parts();
    router
        .route("/api/openapi.json", get(async || Json(openapi())))
        .method_not_allowed_fallback(async || RequestRefusal::wrong_method())
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
}
