//! Table of all routes, and the OpenAPI document built from their annotations and from the error answers that groups of
//! routes share. `docs/openapi.json` is a snapshot of it.

use super::{analysis, cards, devices, events, host, imports, recipes, sessions, simulated, tasks};
use crate::api::{ApiProblem, TaskSample};
use crate::state::ServerState;
use std::sync::Arc;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, RefOr, Required, Response, ResponseBuilder};
use utoipa::{OpenApi as _, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

#[derive(utoipa::OpenApi)]
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
        .routes(routes!(tasks::verbs))
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

const COMMON_ERRORS: &[(&str, &str)] = &[
    ("401", "The token is missing or wrong"),
    ("403", "The Host or the Origin is not ours"),
    ("503", "The archive or a device cannot be read or written"),
];

const PATH_ERRORS: &[(&str, &str)] = &[("404", "There is none of that name")];

const QUERY_ERRORS: &[(&str, &str)] = &[("422", "A value is not understood")];

const BODY_ERRORS: &[(&str, &str)] = &[
    ("400", "The body is not JSON, or did not come whole"),
    ("413", "The body is too large"),
    ("415", "The body is not called application/json"),
    ("422", "A value is not understood"),
];

const FILE_ERRORS: &[(&str, &str)] = &[
    ("400", "The file did not come whole"),
    ("413", "The file is too large"),
    ("507", "The file cannot be stored"),
];

/// Returns the OpenAPI document of the API.
pub fn openapi() -> OpenApi {
    let (_, mut document) = router().split_for_parts();
    document.info.version = env!("CARGO_PKG_VERSION").to_owned();
    let token = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::with_description(
        "Cardscope-Token",
        "Printed by `cardscope serve`",
    )));
    document.components.get_or_insert_default().add_security_scheme("token", token);
    document.paths.paths.values_mut().flat_map(operations).for_each(complete_operation);
    document
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = &mut Operation> {
    [&mut item.get, &mut item.post, &mut item.patch, &mut item.put, &mut item.delete].into_iter().flatten()
}

/// Adds shared errors and a unique operation id, since modules have functions of equal names.
fn complete_operation(operation: &mut Operation) {
    let tag = operation.tags.iter().flatten().next().cloned().unwrap_or_default();
    let name = operation.operation_id.take().unwrap_or_default();
    operation.operation_id = Some(if tag == name { name } else { format!("{tag}_{name}") });
    let is_in = |one: &RefOr<Parameter>, place: &ParameterIn| matches!(one, RefOr::T(one) if one.parameter_in == *place);
    let has = |place: ParameterIn| operation.parameters.iter().flatten().any(|one| is_in(one, &place));
    let takes = |media_type: &str| matches!(&operation.request_body, Some(RefOr::T(body)) if body.content.contains_key(media_type));
    let has_file = takes("application/octet-stream");
    let groups = [
        (true, COMMON_ERRORS),
        (has(ParameterIn::Path), PATH_ERRORS),
        (has(ParameterIn::Query), QUERY_ERRORS),
        (takes("application/json"), BODY_ERRORS),
        (has_file, FILE_ERRORS),
    ];
    if let (true, Some(RefOr::T(body))) = (has_file, &mut operation.request_body) {
        // An uploaded file may be empty.
        body.required = Some(Required::False);
    }
    let responses = &mut operation.responses.responses;
    for (status, reason) in groups.into_iter().filter(|(applies, _)| *applies).flat_map(|(_, errors)| errors)
    {
        responses.entry((*status).to_owned()).or_insert_with(|| problem_response(reason).into());
    }
}

fn problem_response(reason: &str) -> Response {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name(ApiProblem::name()))).build();
    ResponseBuilder::new().description(reason).content("application/json", body).build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use std::collections::BTreeSet;

    /// Compares with the snapshot; `UPDATE_DOCS=1 cargo test -p cardscope-server` writes it.
    #[test]
    fn published_openapi_is_up_to_date() {
        let text = openapi().to_pretty_json().expect("it is JSON") + "\n";
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(path, &text).expect("docs/openapi.json can be written");
        }
        let published = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            published == text,
            "docs/openapi.json is out of date: run UPDATE_DOCS=1 cargo test -p cardscope-server"
        );
    }

    fn described_operations() -> Vec<(String, String, Value)> {
        let document = serde_json::to_value(openapi()).expect("it is JSON");
        let paths = document["paths"].as_object().expect("it has paths").clone();
        let of = |(path, item): (String, Value)| {
            let item = item.as_object().expect("a path has methods").clone();
            item.into_iter().map(move |(method, said)| (path.clone(), method, said))
        };
        paths.into_iter().flat_map(of).collect()
    }

    #[test]
    fn operations_have_unique_ids_and_documented_errors() {
        let mut names = BTreeSet::new();
        for (path, method, said) in described_operations() {
            let name = said["operationId"].as_str().unwrap_or_default().to_owned();
            assert!(names.insert(name.clone()), "{method} {path}: {name} is the name of another one, too");
            assert!(said["summary"].as_str().is_some_and(|text| !text.is_empty()), "{method} {path}");
            let responses = said["responses"].as_object().expect("it has responses");
            let fine = responses.keys().filter(|status| status.starts_with('2')).count();
            assert_eq!(fine, 1, "{method} {path}");
            for status in ["401", "403", "503"] {
                assert!(responses.contains_key(status), "{method} {path}: {status}");
            }
            assert!(!path.contains('{') || responses.contains_key("404"), "{method} {path}");
            for (status, response) in responses.iter().filter(|(status, _)| status.as_str() >= "300") {
                let body = &response["content"]["application/json"]["schema"]["$ref"];
                assert_eq!(body, "#/components/schemas/ApiProblem", "{method} {path}: {status}");
            }
        }
    }

    #[test]
    fn schema_references_resolve() {
        let document = serde_json::to_value(openapi()).expect("it is JSON");
        let mut values = vec![&document];
        while let Some(value) = values.pop() {
            match value {
                Value::Object(fields) => {
                    if let Some(to) = fields.get("$ref").and_then(Value::as_str) {
                        assert!(document.pointer(to.trim_start_matches('#')).is_some(), "{to}");
                    }
                    values.extend(fields.values());
                }
                Value::Array(items) => values.extend(items),
                _ => {}
            }
        }
    }
}
