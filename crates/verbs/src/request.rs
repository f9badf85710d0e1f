//! Options of a verb that an API client gives, in JSON: read into the verb's own struct, and from there into arguments of the
//! command line, by clap's description of the struct. An option that serde skips in the struct cannot be given.

use cardscope_session::frame::CardNeeds;
use clap::{Arg, Args, Command};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Effect of a verb on the data on the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// Writes nothing.
    Reads,
    /// Saves what it overwrites, and restores it.
    Preserves,
    /// Writes back what an interrupted test saved.
    Restores,
    /// Loses data on the card.
    Loses,
    /// Loses data, and in the end the card.
    WearsOut,
}

impl Effect {
    /// True if data on the card is lost, which needs consent.
    pub fn loses_data(self) -> bool {
        matches!(self, Effect::Loses | Effect::WearsOut)
    }
}

impl From<CardNeeds> for Effect {
    fn from(needs: CardNeeds) -> Self {
        match needs {
            CardNeeds::Read => Effect::Reads,
            CardNeeds::WriteAndRestore => Effect::Preserves,
            CardNeeds::Overwrite(_) => Effect::Loses,
        }
    }
}

/// A verb with the options that were given.
#[derive(Debug, Clone)]
pub struct VerbRequest {
    pub name: &'static str,
    /// Effect with these options; a benchmark's depends on its recipe.
    pub effect: Effect,
    /// The options that were given, as the verb's struct has them.
    pub options: Map<String, Value>,
    command: Command,
}

/// Reason why options are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OptionError {
    /// There is no verb of that name, or a server does not run it.
    #[error("unknown verb {0:?}; GET /api/verbs lists them")]
    UnknownVerb(String),
    /// The verb has no such option, or an API client may not give it.
    #[error("{verb} has no option {option:?}; GET /api/verbs lists them")]
    UnknownOption {
        /// The verb.
        verb: &'static str,
        /// The option.
        option: String,
    },
    /// A value has another type, or cannot be understood.
    #[error("invalid options of {verb}: {reason}")]
    Invalid {
        /// The verb.
        verb: &'static str,
        reason: String,
    },
}

impl VerbRequest {
    /// Arguments of the command line. A value stands in one argument with its name, so that none begins another option.
    pub fn arguments(&self) -> Vec<String> {
        self.command.get_arguments().flat_map(|arg| self.argument(arg)).collect()
    }

    fn argument(&self, arg: &Arg) -> Vec<String> {
        let (Some(name), Some(value)) = (arg.get_long(), self.options.get(arg.get_id().as_str())) else {
            return Vec::new();
        };
        match value {
            Value::Bool(given) if !arg.get_action().takes_values() => {
                given.then(|| format!("--{name}")).into_iter().collect()
            }
            Value::Bool(on) => vec![format!("--{name}={}", if *on { "on" } else { "off" })],
            Value::Array(values) => values.iter().map(|value| format!("--{name}={}", plain(value))).collect(),
            value => vec![format!("--{name}={}", plain(value))],
        }
    }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads options into the verb's struct; what is left out has the default of the command line, and so has `null`.
///
/// # Errors
/// An option is unknown, or its value is.
pub(crate) fn read<R: Args + Serialize + DeserializeOwned>(
    verb: &'static str,
    target: &str,
    given: Map<String, Value>,
    effect: impl FnOnce(&R) -> Effect,
) -> Result<VerbRequest, OptionError> {
    let invalid = |reason: String| OptionError::Invalid { verb, reason };
    let command = R::augment_args(Command::new(verb));
    let mut all = defaults::<R>(verb, target).map_err(invalid)?;
    let mut names = Vec::new();
    for (name, value) in given.into_iter().filter(|(_, value)| !value.is_null()) {
        let positional = command.get_positionals().any(|arg| *arg.get_id() == name);
        match all.get_mut(&name).filter(|_| !positional) {
            Some(default) => *default = value,
            None => return Err(OptionError::UnknownOption { verb, option: name }),
        }
        names.push(name);
    }
    let request = R::deserialize(Value::Object(all)).map_err(|e| invalid(e.to_string()))?;
    let mut options = fields(&request);
    options.retain(|name, _| names.contains(name));
    Ok(VerbRequest { name: verb, effect: effect(&request), options, command })
}

/// Options that an API client may give, with the values that they have otherwise.
pub(crate) fn defaults<R: Args + Serialize>(
    verb: &'static str,
    target: &str,
) -> Result<Map<String, Value>, String> {
    let matches =
        R::augment_args(Command::new(verb)).no_binary_name(true).try_get_matches_from(["--", target]);
    let request = matches.and_then(|matches| R::from_arg_matches(&matches));
    request.map(|request| fields(&request)).map_err(|e| e.to_string())
}

fn fields<R: Serialize>(request: &R) -> Map<String, Value> {
    match serde_json::to_value(request) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}
