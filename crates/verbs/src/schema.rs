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
    let only =
        only.map(|(name, help)| ((*name).to_owned(), json!({ "type": "string", "description": help })));
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

fn option(option: &OptionDescription) -> Value {
    let mut schema = match option.kind {
        OptionKind::Flag => json!({ "type": "boolean" }),
        OptionKind::Integer => json!({ "type": "integer", "minimum": 0 }),
        OptionKind::Number => json!({ "type": "number" }),
        OptionKind::Size | OptionKind::Time => json!({ "type": ["integer", "string"], "minimum": 0 }),
        OptionKind::Text => json!({ "type": "string" }),
    };
    if !option.values.is_empty() {
        schema["enum"] = option.values.iter().map(|allowed| Value::from(allowed.value.as_str())).collect();
    }
    if option.repeatable {
        schema = json!({ "type": "array", "items": schema });
    }
    schema["description"] = Value::from(option.help.as_str());
    schema
}
