//! Descriptions of the verbs for forms: effect on the card and options, from clap's description.

use crate::list::Verb;
use crate::request::Effect;
use clap::Arg;
use clap::builder::StyledStr;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::any::TypeId;

/// A device file: a simulated card has no data to lose.
const DEVICE: &str = "/dev/sda";

/// A verb that can be ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct VerbDescription {
    /// The name in orders: `check`, `verify` …
    pub name: String,
    pub title: String,
    /// A sentence, without a full stop.
    pub about: String,
    /// Effect on a card without any option.
    pub effect: Effect,
    pub options: Vec<OptionDescription>,
}

/// An option of a verb.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OptionDescription {
    /// The name in orders: `read_only`, `budget` …
    pub name: String,
    pub kind: OptionKind,
    /// The value takes several of these, as an array.
    pub repeatable: bool,
    /// The value as the command line calls it: `SIZE`, `TEST` …
    pub placeholder: Option<String>,
    pub help: String,
    /// Default value in the form of the command line.
    pub default: Option<String>,
    /// All values that are allowed; empty where any is.
    pub values: Vec<AllowedValue>,
    /// Effect of the verb on a card with this flag alone.
    pub effect: Option<Effect>,
    /// Options that cannot be given with this one.
    pub conflicts: Vec<String>,
}

/// A value that an option may have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct AllowedValue {
    pub value: String,
    pub help: Option<String>,
}

/// The type of an option's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OptionKind {
    /// `true` or `false`.
    Flag,
    /// A whole number, 0 or more.
    Integer,
    Number,
    /// A number of bytes, or a text such as `1G`.
    Size,
    /// A number from 0 to 1, or a text such as `10%`.
    Share,
    /// A number of whole seconds, or a text such as `3m`.
    Time,
    /// The name of a recipe; `GET /api/recipes` lists them.
    Recipe,
    Text,
}

impl VerbDescription {
    /// `None` where a server does not run it.
    pub fn new(verb: &'static Verb) -> Option<Self> {
        let command = verb.command()?;
        let offered = verb.defaults();
        let effect = |options| verb.request(DEVICE, options).ok().map(|request| request.effect);
        let arguments = command.get_arguments().filter(|arg| !arg.is_positional());
        let options = arguments.filter(|arg| offered.contains_key(arg.get_id().as_str())).map(|arg| {
            let name = arg.get_id().to_string();
            let given = Map::from_iter([(name.clone(), Value::Bool(true))]);
            let conflicts =
                command.get_arg_conflicts_with(arg).into_iter().map(|arg| arg.get_id().to_string());
            OptionDescription {
                conflicts: conflicts.filter(|other| offered.contains_key(other)).collect(),
                effect: (kind(arg) == OptionKind::Flag).then(|| effect(given)).flatten(),
                ..OptionDescription::new(name, arg)
            }
        });
        Some(VerbDescription {
            name: verb.name.to_owned(),
            title: verb.title.to_owned(),
            about: text(command.get_about()),
            effect: effect(Map::new())?,
            options: options.collect(),
        })
    }

    /// All verbs that a server runs.
    pub fn all() -> Vec<Self> {
        Verb::tasks().filter_map(VerbDescription::new).collect()
    }
}

impl OptionDescription {
    fn new(name: String, arg: &Arg) -> Self {
        let default: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let flag = kind(arg) == OptionKind::Flag;
        let values = arg.get_possible_values().into_iter().filter(|_| !flag).map(|value| AllowedValue {
            value: value.get_name().to_owned(),
            help: value.get_help().map(ToString::to_string),
        });
        OptionDescription {
            name,
            kind: kind(arg),
            repeatable: matches!(arg.get_action(), clap::ArgAction::Append),
            placeholder: arg.get_value_names().filter(|_| !flag).map(|names| names.join(" ")),
            help: text(arg.get_help()),
            default: (!flag && !default.is_empty()).then(|| default.join(",")),
            values: values.collect(),
            effect: None,
            conflicts: Vec::new(),
        }
    }
}

/// The type, by the parser and by the name of the value.
fn kind(arg: &Arg) -> OptionKind {
    let has_type = |id: TypeId| arg.get_value_parser().type_id() == id;
    let placeholder = arg.get_value_names().and_then(|names| names.first()).map_or("", |name| name.as_str());
    match placeholder {
        _ if has_type(TypeId::of::<bool>()) => OptionKind::Flag,
        "SIZE" => OptionKind::Size,
        "TIME" => OptionKind::Time,
        "SHARE" => OptionKind::Share,
        "RECIPE" => OptionKind::Recipe,
        _ if has_type(TypeId::of::<u32>()) || has_type(TypeId::of::<u64>()) => OptionKind::Integer,
        _ if has_type(TypeId::of::<f64>()) => OptionKind::Number,
        _ => OptionKind::Text,
    }
}

fn text(text: Option<&StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verb(name: &str) -> VerbDescription {
        VerbDescription::all().into_iter().find(|verb| verb.name == name).unwrap()
    }

    fn option(verb: &VerbDescription, name: &str) -> OptionDescription {
        verb.options.iter().find(|option| option.name == name).unwrap().clone()
    }

    #[test]
    fn verbs_are_described_by_the_command_line() {
        let names: Vec<String> = VerbDescription::all().into_iter().map(|verb| verb.name).collect();
        assert_eq!(names, ["check", "verify", "bench", "map", "sustain", "format", "endure", "restore"]);
        let check = verb("check");
        assert_eq!((check.title.as_str(), check.effect), ("Check", Effect::Preserves));
        assert!(check.about.starts_with("Test a card as a whole"), "{}", check.about);
        let budget = option(&check, "budget");
        assert_eq!((budget.kind, budget.default.as_deref()), (OptionKind::Time, Some("3m")));
        assert!(budget.help.starts_with("Time limit"), "{}", budget.help);
        let erase = option(&check, "erase");
        assert_eq!((erase.kind, erase.effect), (OptionKind::Flag, Some(Effect::Loses)));
        assert_eq!(erase.conflicts, ["read_only"]);
        assert_eq!(option(&check, "read_only").effect, Some(Effect::Reads));
        let sustain = verb("sustain");
        let values: Vec<String> =
            option(&sustain, "pattern").values.into_iter().map(|allowed| allowed.value).collect();
        assert_eq!((sustain.effect, values), (Effect::Reads, vec!["seq".to_owned(), "rnd".to_owned()]));
        assert!(option(&verb("bench"), "only").repeatable);
        assert_eq!(option(&verb("bench"), "size").kind, OptionKind::Size);
        assert_eq!(option(&verb("bench"), "runs").kind, OptionKind::Integer);
    }

    #[test]
    fn every_field_of_a_request_is_an_option() {
        for verb in Verb::tasks() {
            let described = VerbDescription::new(verb).unwrap().options;
            let known = |field: &str| {
                described.iter().any(|option| option.name == field)
                    || ["target", "recipe_text", "journal"].contains(&field)
            };
            let fields = verb.defaults();
            assert!(!fields.is_empty(), "{verb:?}");
            assert_eq!(fields.keys().find(|field| !known(field)), None, "{verb:?}");
        }
    }

    #[test]
    fn no_path_command_or_consent_is_offered() {
        let withheld = [
            "target",
            "archive",
            "backup",
            "object",
            "yes_destroy",
            "thermometers",
            "baseline",
            "file",
            "files",
            "text",
        ];
        for verb in VerbDescription::all() {
            let offered = verb.options.iter().find(|option| withheld.contains(&option.name.as_str()));
            assert_eq!(offered, None, "{}", verb.name);
        }
    }
}
