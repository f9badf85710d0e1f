//! The API, one module for each thing that it is about; the OpenAPI document is made of what stands above each route.

mod analysis;
mod cards;
mod devices;
mod events;
mod host;
mod imports;
mod recipes;
mod sessions;
mod simulated;
mod tasks;

use crate::Server;
use crate::api::{Problem, TaskMoment};
use crate::problem::Refusal;
use axum::extract::DefaultBodyLimit;
use axum::routing::get;
use axum::{Json, Router};
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa::openapi::OpenApi as Document;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
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

/// The OpenAPI document.
pub fn openapi() -> Document {
    let (_, mut document) = router().split_for_parts();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    let token = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
        "Cardscope-Token",
        "Printed by `cardscope serve`",
    )));
    document.components.get_or_insert_default().add_security_scheme("token", token);
    document
}

pub(crate) fn all() -> Router<Arc<Server>> {
    let (router, _) = router().split_for_parts();
    router
        .route("/api/openapi.json", get(async || Json(openapi())))
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
