//! Table of all routes.

use super::{analysis, cards, devices, events, host, imports, recipes, sessions, simulated, tasks, verbs};
use crate::api::{ApiProblem, TaskSample};
use crate::state::ServerState;
use std::sync::Arc;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Cardscope",
        description = "Tests of memory cards: ordered, watched, listed and published. Sizes are bytes, times seconds, speeds MB/s (10^6 bytes a second), temperatures °C."
    ),
    components(schemas(TaskSample, ApiProblem)),
    security(("token" = []))
)]
struct RouteHead;

pub(super) fn router() -> OpenApiRouter<Arc<ServerState>> {
    OpenApiRouter::with_openapi(RouteHead::openapi())
        .routes(routes!(host::host))
        .routes(routes!(host::admit))
        .routes(routes!(host::proof))
        .routes(routes!(host::journals))
        .routes(routes!(host::doctor))
        .routes(routes!(devices::list))
        .routes(routes!(devices::unmount))
        .routes(routes!(verbs::list))
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
