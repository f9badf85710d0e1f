//! Conditions of a measurement: state of card and rig, each with its origin.

use crate::supply::SupplyState;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Keys of a condition and their meanings. One list, so that sessions are comparable.
pub const WORDS: &[(&str, &str)] = &[
    ("state", "card state: fresh, overwritten, used or trimmed"),
    ("full_percent", "fill level of the card"),
    ("written_before", "data written just before"),
    ("firmware", "firmware of the card"),
    ("reader", "reader or adapter"),
    ("usb_host", "USB host controller"),
    ("board", "board or computer"),
    ("board_clock", "clock of the board, e.g. an overclocked SD bus"),
    ("cpu_governor", "processor frequency governor"),
    ("kernel", "kernel of the host"),
    ("supply", "power supply, under-voltage"),
    ("bus_mode", "bus mode: SDR104, PCIe 3.0 x1, USB 3 …"),
    ("cooling", "cooling: active, passive …"),
    ("cooling_of", "part that is cooled: card, reader, host controller, SoC"),
    ("file_system", "file system under the test"),
    ("room_c", "room temperature in °C"),
    ("host_source_mb_s", "data source speed of the original tool, in MB/s"),
    ("tool", "tool that measured"),
    ("note", "anything else"),
];

/// Returns the key in [`WORDS`] that a user's key means; `clock` is the board's.
pub fn find_word(text: &str) -> Option<&'static str> {
    // Users write `clock`, but the processor has a clock too, so the key names the board.
    let meant = if text == "clock" { "board_clock" } else { text };
    WORDS.iter().map(|(word, _)| *word).find(|word| *word == meant)
}

/// Returns a key as it appears in sentences, e.g. `bus mode`.
pub fn word_in_sentence(word: &str) -> String {
    match word {
        "cooling_of" => "cooled part".to_owned(),
        "full_percent" => "fill level".to_owned(),
        "room_c" => "room temperature".to_owned(),
        "host_source_mb_s" => "data source speed".to_owned(),
        other => other.replace('_', " "),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConditionOrigin {
    Read,
    /// Stated by the user (`--condition`).
    Stated,
    /// Set in the name of a simulated card.
    Simulated,
}

/// Keys and values of a condition. In JSON a flat object.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Condition {
    values: BTreeMap<String, String>,
    #[serde(skip)]
    origins: BTreeMap<String, ConditionOrigin>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConditionError {
    #[error("--condition {0:?} is not KEY=VALUE; write e.g. cooling=passive")]
    NotKeyValue(String),
    /// Key that is not in [`WORDS`].
    #[error("--condition: unknown key {0:?}; the keys are: {known}", known = WORDS.iter().map(|w| w.0).collect::<Vec<_>>().join(", "))]
    UnknownWord(String),
}

impl Condition {
    pub fn set(&mut self, word: &str, value: impl Into<String>, origin: ConditionOrigin) {
        self.values.insert(word.to_owned(), value.into());
        self.origins.insert(word.to_owned(), origin);
    }

    pub fn get(&self, word: &str) -> Option<&str> {
        self.values.get(word).map(String::as_str)
    }

    pub fn supply(&self) -> Option<SupplyState> {
        SupplyState::parse(self.get("supply")?)
    }

    /// Returns the origin of a value, or None for stored conditions, which have no origins.
    pub fn origin(&self, word: &str) -> Option<ConditionOrigin> {
        self.origins.get(word).copied()
    }

    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.values.iter().map(|(k, v)| (k.as_str(), v.as_str()))
    }

    pub fn overlay(&mut self, other: &Condition) {
        self.values.extend(other.values.clone());
        self.origins.extend(other.origins.clone());
    }

    /// Parses one `KEY=VALUE` of the user.
    pub fn set_stated(&mut self, text: &str) -> Result<(), ConditionError> {
        let (key, value) =
            text.split_once('=').ok_or_else(|| ConditionError::NotKeyValue(text.to_owned()))?;
        let word = find_word(key).ok_or_else(|| ConditionError::UnknownWord(key.to_owned()))?;
        self.set(word, value, ConditionOrigin::Stated);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn condition_words_read_as_text() {
        assert_eq!(
            ["cooling_of", "bus_mode", "size"].map(word_in_sentence),
            ["cooled part", "bus mode", "size"]
        );
        assert!(WORDS.iter().all(|(word, _)| !word_in_sentence(word).contains('_')));
    }

    #[test]
    fn a_stated_condition_is_kept_with_its_origin() {
        let mut c = Condition::default();
        c.set_stated("cooling=passive").unwrap();
        assert_eq!((c.get("cooling"), c.origin("cooling")), (Some("passive"), Some(ConditionOrigin::Stated)));
        c.set_stated("clock=100 MHz").unwrap();
        assert_eq!(c.get("board_clock"), Some("100 MHz"));
    }

    #[test]
    fn unknown_condition_key_is_refused_with_list() {
        let error = Condition::default().set_stated("coolling=passive").unwrap_err().to_string();
        assert!(error.contains("cooling,"), "{error}");
        assert_eq!(Condition::default().set_stated("x"), Err(ConditionError::NotKeyValue("x".into())));
    }
}
