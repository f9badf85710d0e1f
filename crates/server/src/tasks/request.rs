//! Orders from a browser: any verb that a server runs, with the options of its command line that an API client may
//! give.

use cardscope_verbs::list::Verb;
use cardscope_verbs::request::{OptionError, VerbRequest};
use serde::Deserialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// A test that is ordered.
#[derive(Debug, Clone, Deserialize, ToSchema)]
#[serde(try_from = "SentRequest")]
pub(crate) struct TaskRequest {
    /// Verb and options; GET /api/verbs describes them.
    #[serde(flatten)]
    pub(crate) verb: VerbRequest,
    /// Device file as the list of devices has it, or a simulated card: `sim:NAME?key=value&…`.
    pub(crate) target: String,
    /// Name of the very card in the device, as the list of devices has it; not for a simulated card.
    #[serde(default)]
    pub(crate) object: Option<String>,
    /// The device file typed back, where the card's data are lost.
    #[serde(default)]
    pub(crate) confirm: Option<String>,
}

impl TaskRequest {
    pub(crate) fn is_simulated(&self) -> bool {
        self.target.starts_with("sim:")
    }
}

#[derive(Deserialize)]
struct SentRequest {
    verb: String,
    target: String,
    #[serde(default)]
    options: Map<String, Value>,
    object: Option<String>,
    confirm: Option<String>,
}

impl TryFrom<SentRequest> for TaskRequest {
    type Error = OptionError;

    fn try_from(sent: SentRequest) -> Result<Self, Self::Error> {
        let verb = Verb::find(&sent.verb).ok_or(OptionError::UnknownVerb(sent.verb))?;
        let verb = verb.request(&sent.target, renamed(sent.options))?;
        Ok(TaskRequest { verb, target: sent.target, object: sent.object, confirm: sent.confirm })
    }
}

/// Options as the command line names them. Earlier clients have other names for some, and write a whole card with `write`
/// alone.
fn renamed(options: Map<String, Value>) -> Map<String, Value> {
    let erases = options.get("write") == Some(&Value::Bool(true)) && !options.contains_key("region");
    let rename = |(name, value): (String, Value)| match (name.as_str(), &value) {
        ("budget_s", _) => ("budget".to_owned(), value),
        ("size_bytes", _) => ("size".to_owned(), value),
        ("minutes", Value::Number(minutes)) => {
            let seconds = minutes.as_u64().and_then(|minutes| minutes.checked_mul(60));
            ("duration".to_owned(), seconds.map_or(value, Value::from))
        }
        ("random", Value::Bool(random)) => {
            ("pattern".to_owned(), Value::from(if *random { "random" } else { "sequential" }))
        }
        _ => (name, value),
    };
    let mut options: Map<String, Value> = options.into_iter().map(rename).collect();
    if erases {
        options.entry("erase").or_insert(Value::Bool(true));
    }
    options
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_verbs::request::Effect;
    use serde_json::json;

    fn request(verb: &str, options: Value) -> Result<TaskRequest, serde_json::Error> {
        serde_json::from_value(json!({ "verb": verb, "target": "/dev/sdx", "options": options }))
    }

    fn arguments(verb: &str, options: Value) -> Vec<String> {
        request(verb, options).unwrap().verb.arguments()
    }

    #[test]
    fn an_order_becomes_arguments_none_of_which_can_be_another_option() {
        let options = json!({ "budget": 60, "label": "--archive=/etc/x", "erase": true });
        let request = request("check", options).unwrap();
        assert_eq!(request.verb.arguments(), ["--erase", "--label=--archive=/etc/x", "--budget=60"]);
        assert_eq!(request.verb.effect, Effect::Loses);
    }

    #[test]
    fn options_of_earlier_clients_are_understood() {
        assert_eq!(arguments("verify", json!({ "budget_s": 90, "full": true })), ["--budget=90", "--full"]);
        assert_eq!(
            arguments(
                "bench",
                json!({ "recipe": "quick", "size_bytes": 1 << 20, "runs": 2, "only": ["a", "b"] })
            ),
            ["--recipe=quick", "--runs=2", "--only=a", "--only=b", "--size=1048576"]
        );
        assert_eq!(
            arguments(
                "sustain",
                json!({ "write": true, "random": true, "minutes": 5, "cooling": "passive" })
            ),
            ["--write", "--pattern=random", "--duration=300", "--erase", "--cooling=passive"]
        );
        assert!(arguments("map", json!({ "read_only": false, "budget_s": null })).is_empty());
        assert_eq!(arguments("format", json!({ "size_adjustment": true })), ["--size-adjustment=on"]);
    }

    #[test]
    fn an_option_says_what_it_does_to_the_card() {
        let effect = |verb: &str, options: Value| request(verb, options).unwrap().verb.effect;
        for (verb, options, expected) in [
            ("check", json!({}), Effect::Preserves),
            ("check", json!({ "read_only": true }), Effect::Reads),
            ("verify", json!({ "full": true }), Effect::Loses),
            ("bench", json!({}), Effect::Loses),
            ("map", json!({ "region": "1G+1M" }), Effect::Loses),
            ("sustain", json!({}), Effect::Reads),
            ("sustain", json!({ "write": true }), Effect::Loses),
            ("endure", json!({}), Effect::WearsOut),
            ("format", json!({}), Effect::Loses),
            ("restore", json!({ "journal": "x" }), Effect::Restores),
        ] {
            assert_eq!(effect(verb, options.clone()), expected, "{verb} {options}");
        }
    }

    #[test]
    fn what_is_not_offered_cannot_be_ordered() {
        for (verb, options) in [
            ("check", json!({ "archive": "/tmp/x" })),
            ("check", json!({ "target": "/dev/sdb" })),
            ("check", json!({ "yes_destroy": "/dev/sdx" })),
            ("verify", json!({ "backup": "/tmp/x" })),
            ("verify", json!({ "files": true })),
            ("bench", json!({ "recipe": "/etc/passwd" })),
            ("bench", json!({ "recipe_text": "x" })),
            ("sustain", json!({ "thermometers": ["card=cmd:reboot"] })),
            ("sustain", json!({ "baseline": "/etc/passwd" })),
            ("restore", json!({ "file": "/etc/passwd" })),
            ("check", json!({ "budget_s": 1.5 })),
            ("check", json!({ "erase": "yes" })),
            ("observe", json!({})),
            ("serve", json!({})),
        ] {
            assert!(request(verb, options.clone()).is_err(), "{verb} {options}");
        }
        assert!(serde_json::from_str::<TaskRequest>(r#"{"verb":"check","options":{}}"#).is_err());
    }
}
