//! What can be ordered from a browser: verbs with the options that a form offers, each turned into the arguments of the
//! program. Only what stands here can be asked for, and none of it is a path.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

/// A test that is ordered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(try_from = "Sent")]
pub(crate) struct Order {
    /// What is done.
    #[serde(flatten)]
    pub(crate) what: What,
    /// Device file as the list of devices has it, or a simulated card: `sim:NAME?key=value&…`.
    pub(crate) target: String,
    /// Name of the very card in the device, as the list of devices has it; not for a simulated card.
    #[serde(default)]
    pub(crate) object: Option<String>,
    /// The device file typed back, where the card's data are lost.
    #[serde(default)]
    pub(crate) confirm: Option<String>,
}

/// An order as it comes: options may be left out.
#[derive(Deserialize)]
struct Sent {
    verb: String,
    target: String,
    #[serde(default)]
    options: serde_json::Map<String, Value>,
    object: Option<String>,
    confirm: Option<String>,
}

impl TryFrom<Sent> for Order {
    type Error = serde_json::Error;

    fn try_from(sent: Sent) -> Result<Self, Self::Error> {
        let what = serde_json::from_value(json!({ "verb": sent.verb, "options": sent.options }))?;
        Ok(Order { what, target: sent.target, object: sent.object, confirm: sent.confirm })
    }
}

/// A verb with its options.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "verb", content = "options", rename_all = "kebab-case")]
pub(crate) enum What {
    /// The whole visit.
    Check(Check),
    /// Is the capacity real?
    Verify(Verify),
    /// How fast is it?
    Bench(Bench),
    /// What is inside?
    Map(Map),
    /// Does its speed last?
    Sustain(Sustain),
    /// Wear until failure.
    Endure(Endure),
    /// The SD Association's layout.
    Format(Format),
    /// Put back what an interrupted test saved.
    Restore(Restore),
}

/// Options of `check`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Check {
    /// Time limit in seconds.
    pub(crate) budget_s: Option<u32>,
    /// Text printed on the card.
    pub(crate) label: Option<String>,
    /// Write nothing.
    pub(crate) read_only: bool,
    /// Overwrite without saving. All data on the card are lost.
    pub(crate) erase: bool,
    /// Capacity and marks only.
    pub(crate) marks: bool,
}

/// Options of `verify`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Verify {
    /// Overwrite and read back every block. All data on the card are lost.
    pub(crate) full: bool,
    /// Look behind larger caches.
    pub(crate) thorough: bool,
    /// Overwrite without saving. All data on the card are lost.
    pub(crate) erase: bool,
    /// Text printed on the card.
    pub(crate) label: Option<String>,
    /// Time limit in seconds.
    pub(crate) budget_s: Option<u32>,
}

/// Options of `bench`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Bench {
    /// A recipe by its name.
    pub(crate) recipe: Option<String>,
    /// A recipe of one's own, in TOML, in place of a name.
    pub(crate) recipe_text: Option<String>,
    /// Number of runs, 1000 at most.
    pub(crate) runs: Option<u32>,
    /// Only these tests.
    pub(crate) only: Vec<String>,
    /// Size of the test area in bytes.
    pub(crate) size_bytes: Option<u64>,
}

/// Options of `map`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Map {
    /// Time limit in seconds.
    pub(crate) budget_s: Option<u32>,
    /// Write nothing.
    pub(crate) read_only: bool,
    /// Overwrite without saving. All data on the card are lost.
    pub(crate) erase: bool,
}

/// Options of `sustain`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Sustain {
    /// Write rather than read. All data on the card are lost.
    pub(crate) write: bool,
    /// At random rather than in order.
    pub(crate) random: bool,
    /// Minutes that it takes.
    pub(crate) minutes: Option<u32>,
    /// `active`, `passive` …
    pub(crate) cooling: Option<String>,
}

/// Options of `endure`, which has none here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Endure {}

/// Options of `format`, which has none here.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Format {}

/// Options of `restore`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Restore {
    /// The journal's name, as the list of journals has it.
    pub(crate) journal: String,
}

impl What {
    /// The verb.
    pub(crate) fn verb(&self) -> &'static str {
        match self {
            What::Check(_) => "check",
            What::Verify(_) => "verify",
            What::Bench(_) => "bench",
            What::Map(_) => "map",
            What::Sustain(_) => "sustain",
            What::Endure(_) => "endure",
            What::Format(_) => "format",
            What::Restore(_) => "restore",
        }
    }

    /// Whether what is on a card is lost by it, `writes` being whether a benchmark's recipe does.
    pub(crate) fn loses_data(&self, writes: bool) -> bool {
        match self {
            What::Check(check) => check.erase,
            What::Verify(verify) => verify.full || verify.erase,
            What::Bench(_) => writes,
            What::Map(map) => map.erase,
            What::Sustain(sustain) => sustain.write,
            What::Endure(_) | What::Format(_) => true,
            What::Restore(_) => false,
        }
    }

    /// Whether what it overwrites is saved before and restored.
    pub(crate) fn restores(&self) -> bool {
        match self {
            What::Check(check) => !check.erase && !check.read_only,
            What::Verify(verify) => !verify.erase && !verify.full,
            What::Map(map) => !map.erase && !map.read_only,
            _ => false,
        }
    }

    /// The options as the command line takes them; a value stands in one argument with its name, so that none begins an option
    /// of its own.
    pub(crate) fn options(&self) -> Vec<String> {
        let mut options = Options::default();
        match self {
            What::Check(check) => {
                options.seconds("budget", check.budget_s);
                options.text("label", check.label.as_ref());
                options.flag("read-only", check.read_only);
                options.flag("erase", check.erase);
                options.flag("marks", check.marks);
            }
            What::Verify(verify) => {
                options.seconds("budget", verify.budget_s);
                options.text("label", verify.label.as_ref());
                options.flag("full", verify.full);
                options.flag("thorough", verify.thorough);
                options.flag("erase", verify.erase);
            }
            What::Bench(bench) => {
                options.text("runs", bench.runs);
                options.text("size", bench.size_bytes);
                bench.only.iter().for_each(|test| options.text("only", Some(test)));
            }
            What::Map(map) => {
                options.seconds("budget", map.budget_s);
                options.flag("read-only", map.read_only);
                options.flag("erase", map.erase);
            }
            What::Sustain(sustain) => {
                options.flag("write", sustain.write);
                options.flag("erase", sustain.write);
                options.flag("read", !sustain.write);
                options.text("pattern", sustain.random.then_some("rnd"));
                options.text("duration", sustain.minutes.map(|minutes| format!("{minutes}m")));
                options.text("cooling", sustain.cooling.as_ref());
            }
            What::Endure(_) | What::Format(_) | What::Restore(_) => {}
        }
        options.0
    }
}

/// Arguments as they are gathered.
#[derive(Debug, Default)]
struct Options(Vec<String>);

impl Options {
    fn flag(&mut self, name: &str, given: bool) {
        self.0.extend(given.then(|| format!("--{name}")));
    }

    fn text(&mut self, name: &str, value: Option<impl ToString>) {
        self.0.extend(value.map(|value| format!("--{name}={}", value.to_string())));
    }

    fn seconds(&mut self, name: &str, value: Option<u32>) {
        self.text(name, value.map(|seconds| format!("{seconds}s")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(text: &str) -> Result<Order, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn an_order_becomes_arguments_none_of_which_can_be_another_option() {
        let text = r#"{"verb":"check","target":"sim:x","options":{"budget_s":60,"label":"--archive=/etc/x","erase":true}}"#;
        let order = order(text).unwrap();
        assert_eq!(order.what.options(), ["--budget=60s", "--label=--archive=/etc/x", "--erase"]);
        assert!(order.what.loses_data(false));
    }

    #[test]
    fn what_is_not_offered_cannot_be_ordered() {
        for bad in [
            r#"{"verb":"check","target":"sim:x","options":{"archive":"/tmp/x"}}"#,
            r#"{"verb":"verify","target":"sim:x","options":{"backup":"/tmp/x"}}"#,
            r#"{"verb":"serve","target":"sim:x","options":{}}"#,
            r#"{"verb":"check","options":{}}"#,
        ] {
            assert!(order(bad).is_err(), "{bad}");
        }
    }
}
