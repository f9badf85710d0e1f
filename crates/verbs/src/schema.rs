//! The schema of a verb with its options, for the OpenAPI document of the server.

use crate::description::{OptionDescription, OptionKind, VerbDescription};
use crate::list::Verb;
use crate::request::VerbRequest;
use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Options that only an API client has.
const API_ONLY: [(&str, &str); 2] = [
    ("recipe_text", "A recipe of one's own, in TOML, in place of a name"),
    ("journal", "The journal's name, as the list of journals has it"),
];

impl PartialSchema for VerbRequest {
    fn schema() -> RefOr<Schema> {
        let verbs: Vec<Value> = VerbDescription::all().iter().map(verb).collect();
        let schema = json!({ "oneOf": verbs, "description": "A verb with its options." });
        RefOr::T(serde_json::from_value(schema).unwrap_or_default())
    }
}

impl ToSchema for VerbRequest {}

fn verb(verb: &VerbDescription) -> Value {
    let offered = Verb::find(&verb.name).map(Verb::defaults).unwrap_or_default();
    let only = API_ONLY.iter().filter(|(name, _)| offered.contains_key(*name));
    let only = only
        .map(|(name, help)| ((*name).to_owned(), json!({ "type": ["string", "null"], "description": help })));
    let described = verb.options.iter().map(|one| (one.name.clone(), option(one)));
    let properties: Map<String, Value> = described.chain(only).collect();
    json!({
        "type": "object",
        "description": verb.about,
        "required": ["verb"],
        "properties": {
            "verb": { "type": "string", "enum": [verb.name] },
            "options": { "type": "object", "properties": properties, "additionalProperties": false },
        },
    })
}

/// An option; `null` stands for its default.
fn option(option: &OptionDescription) -> Value {
    let types = match option.kind {
        OptionKind::Flag => vec!["boolean", "null"],
        OptionKind::Integer => vec!["integer", "null"],
        OptionKind::Number => vec!["number", "null"],
        OptionKind::Share => vec!["number", "string", "null"],
        OptionKind::Size | OptionKind::Time => vec!["integer", "string", "null"],
        OptionKind::Text if option.repeatable => vec!["string"],
        OptionKind::Recipe | OptionKind::Text => vec!["string", "null"],
    };
    let mut schema = json!({ "type": types });
    if types.contains(&"integer") {
        schema["minimum"] = Value::from(0);
    }
    if !option.values.is_empty() {
        let values = option.values.iter().map(|allowed| Value::from(allowed.value.as_str()));
        schema["enum"] = values.chain([Value::Null]).collect();
    }
    if option.repeatable {
        schema = json!({ "type": ["array", "null"], "items": schema });
    }
    schema["description"] = Value::from(option.help.as_str());
    schema
}
