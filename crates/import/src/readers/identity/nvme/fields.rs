//! Fields that nvme-cli prints, by name, from text or JSON.
//!
//! Names are in lower case, with `_` for blanks. JSON and older versions have other names, which are kept;
//! [`super::structure`] lists them.

use crate::readers::{json, parse_hex};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};

/// All fields of a log; the first value of a name counts.
#[derive(Debug, Default)]
pub(super) struct LogFields {
    values: HashMap<String, String>,
    features: BTreeMap<u8, u32>,
    /// Lines of a power state, joined, by its number.
    states: BTreeMap<u8, String>,
}

impl LogFields {
    /// Parses text. Lines of `-H` that explain bits (`[0:0] : …`) are skipped.
    pub(super) fn parse_text(text: &str) -> Self {
        let mut fields = LogFields::default();
        let mut state = None;
        for line in text.lines().map(str::trim).filter(|line| !line.starts_with('[')) {
            if let Some((feature, value)) = parse_feature(line) {
                fields.features.entry(feature).or_insert(value);
            } else if let Some((number, rest)) = parse_power_state(line) {
                state = (!fields.states.contains_key(&number)).then_some(number);
                state.into_iter().for_each(|n| fields.states.entry(n).or_default().push_str(rest));
            } else if let Some(number) = state.filter(|_| line.starts_with("rwt:")) {
                *fields.states.entry(number).or_default() += &format!(" {line}");
            } else if let Some((name, value)) = line.split_once(':') {
                let name = name.split_whitespace().collect::<Vec<_>>().join("_").to_lowercase();
                fields.values.entry(name).or_insert_with(|| value.trim().to_owned());
            }
        }
        fields
    }

    /// Parses `-o json`, one answer or several in a row; `None` for any other text.
    pub(super) fn parse_json(text: &str) -> Option<Self> {
        let mut fields = LogFields::default();
        let mut rest = Some(text.trim()).filter(|text| text.starts_with('{'))?;
        while !rest.is_empty() {
            let (object, length) = json::parse_first(rest, rest.len(), json::KEEP_ALL).ok()?;
            fields.add_object(object.as_object()?);
            rest = rest[length..].trim_start();
        }
        Some(fields)
    }

    fn add_object(&mut self, object: &Map<String, Value>) {
        for (name, value) in object {
            if let (Some(states), "psds") = (value.as_array(), name.as_str()) {
                self.states = (0..=31).zip(states.iter().map(power_state_to_text)).collect();
            } else if let Some(text) = json_to_text(name, value) {
                self.values.entry(name.to_lowercase()).or_insert(text);
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(String::as_str)
    }

    pub(super) fn feature(&self, number: u8) -> Option<u32> {
        self.features.get(&number).copied()
    }

    /// All features, such as `0x04`, with their values.
    pub(super) fn features(&self) -> Map<String, Value> {
        self.features.iter().map(|(number, value)| (format!("0x{number:02x}"), json!(value))).collect()
    }

    /// Power states, each as one line of `name:value`.
    pub(super) fn states(&self) -> impl Iterator<Item = (u8, &str)> {
        self.states.iter().map(|(number, line)| (*number, line.as_str()))
    }

    /// True if the log has fields of Identify Controller.
    pub(super) fn has_controller(&self) -> bool {
        ["vid", "mn", "fr"].iter().all(|name| self.values.contains_key(*name))
    }

    /// True if the log has counters of the SMART log.
    pub(super) fn has_smart(&self) -> bool {
        ["data_units_read", "host_read_commands"].iter().any(|name| self.values.contains_key(*name))
    }
}

/// `get-feature:0x04 (Temperature Threshold), Current value:0x00000164`
fn parse_feature(line: &str) -> Option<(u8, u32)> {
    let (number, rest) = line.strip_prefix("get-feature:")?.split_once(' ')?;
    let (_, value) = rest.rsplit_once("value:")?;
    Some((u8::try_from(parse_hex(number)?).ok()?, u32::try_from(parse_hex(value)?).ok()?))
}

/// `ps      0 : mp:1.80W operational enlat:0 …`
fn parse_power_state(line: &str) -> Option<(u8, &str)> {
    let (number, rest) = line.strip_prefix("ps ")?.split_once(':')?;
    Some((number.trim().parse().ok().filter(|n| *n < 32)?, rest.trim()))
}

/// Formats a number or text of the JSON as nvme-cli's text has it.
fn json_to_text(name: &str, value: &Value) -> Option<String> {
    match (name, value.as_u64()) {
        ("ieee", Some(n)) => Some(format!("{n:06x}")),
        ("ver" | "cntlid", Some(n)) => Some(format!("{n:#x}")),
        // JSON has kelvin.
        (name, Some(n)) if name.starts_with("temperature") => Some(format!("({n} K)")),
        (_, Some(n)) => Some(n.to_string()),
        _ => value.as_str().map(str::to_owned).or_else(|| value.as_number().map(ToString::to_string)),
    }
}

/// Formats a power state of the JSON as nvme-cli's text has it. Power is in steps of 10 mW, or of 0.1 mW if a flag is set;
/// older versions print the flags as one number.
fn power_state_to_text(state: &Value) -> String {
    let number = |name: &str| state.get(name).and_then(Value::as_u64).unwrap_or(0);
    let flags = number("flags");
    let fine = flags & 1 == 1 || number("max_power_scale") == 1;
    let idle = flags & 2 == 2 || number("non-operational_state") == 1;
    let scaled = |name: &str, scale: u64| match scale {
        1 => format!("{}W", number(name) as f64 / 10_000.0),
        2 => format!("{}W", number(name) as f64 / 100.0),
        _ => "-".to_owned(),
    };
    let most = scaled("max_power", if fine { 1 } else { 2 });
    let kind = if idle { "non-operational" } else { "operational" };
    let idle = scaled("idle_power", number("idle_scale") & 3);
    let active = scaled("active_power", number("active_scale") & 3);
    let [enlat, exlat] = ["entry_lat", "exit_lat"].map(number);
    let [rrt, rrl, rwt, rwl] = ["read_tput", "read_lat", "write_tput", "write_lat"].map(number);
    format!(
        "mp:{most} {kind} enlat:{enlat} exlat:{exlat} rrt:{rrt} rrl:{rrl} rwt:{rwt} rwl:{rwl} idle_power:{idle} \
         active_power:{active}"
    )
}
