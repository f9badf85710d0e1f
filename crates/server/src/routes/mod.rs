//! The API, one module for each thing that it is about; the OpenAPI document is made of what stands above each route.

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

use crate::Server;
use crate::api::{Problem, TaskMoment};
use crate::problem::Refusal;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Json, Router};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Largest body of a request but for files, in bytes.
const LARGEST_BODY: usize = 1 << 20;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cardscope",
        description = "Tests of memory cards: ordered, watched, listed and published. Sizes are bytes, times seconds, speeds MB/s (10^6 bytes a second), temperatures °C."
    ),
    components(schemas(TaskMoment, Problem)),
    security(("token" = []))
)]
struct Head;

fn router() -> OpenApiRouter<Arc<Server>> {
    OpenApiRouter::with_openapi(Head::openapi())
        .routes(routes!(host::host))
        .routes(routes!(host::admit))
        .routes(routes!(host::journals))
        .routes(routes!(host::doctor))
        .routes(routes!(devices::list))
        .routes(routes!(devices::unmount))
        .routes(routes!(tasks::list, tasks::order))
        .routes(routes!(tasks::get, tasks::forget))
        .routes(routes!(tasks::stop))
        .routes(routes!(events::events))
        .routes(routes!(cards::list))
        .routes(routes!(cards::get, cards::change))
        .routes(routes!(cards::attach))
        .routes(routes!(cards::attachment))
        .routes(routes!(sessions::list))
        .routes(routes!(sessions::get))
        .routes(routes!(sessions::file))
        .routes(routes!(analysis::compare))
        .routes(routes!(analysis::report))
        .routes(routes!(analysis::jobs))
        .routes(routes!(analysis::rank))
        .routes(routes!(imports::upload))
        .routes(routes!(imports::remove))
        .routes(routes!(imports::import))
        .routes(routes!(recipes::list))
        .routes(routes!(recipes::get))
        .routes(routes!(recipes::check))
        .routes(routes!(simulated::list))
        .routes(routes!(simulated::get))
}

pub(crate) fn all() -> Router<Arc<Server>> {
    let (router, _) = router().split_for_parts();
    router
        .route("/api/openapi.json", get(async || Json(openapi())))
        .method_not_allowed_fallback(async || Refusal::wrong_method())
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
}

/// Does what blocks on a thread of its own.
async fn blocking<T: Send + 'static>(
    server: &Arc<Server>,
    work: impl FnOnce(&Server) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let server = Arc::clone(server);
    let done = tokio::task::spawn_blocking(move || work(&server)).await;
    done.unwrap_or_else(|e| {
        let why = format!("Cardscope failed at this: {e}; please report it");
        Err(Refusal::new(axum::http::StatusCode::INTERNAL_SERVER_ERROR, why))
    })
}

/// The values of a key in a query, which may come several times.
fn values(query: Option<&str>, key: &str) -> Vec<String> {
    let pairs = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    pairs.filter(|(name, _)| name == key).map(|(_, value)| value.into_owned()).collect()
}
