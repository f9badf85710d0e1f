//! Settings, rigs and recipes, which many runs share and which are stored once.

use crate::connection::{Connection, RowBatch, SqlResult, SqlValue, json_text};
use crate::hash;
use cardscope_model::condition::Condition;
use cardscope_model::setting::Setting;
use std::collections::BTreeMap;

/// Words of a condition about everything between card and figures, a subset of
/// [`cardscope_model::condition::WORDS`].
const RIG_WORDS: [&str; 8] =
    ["board", "board_clock", "bus_mode", "cpu_governor", "kernel", "reader", "supply", "usb_host"];

const INSERT_RECIPES: &str = "INSERT INTO recipe (hash, name, version, text)";
const INSERT_SETTINGS: &str = "INSERT INTO setting (hash, recipe, size_bytes, condition)";
const INSERT_RIGS: &str = "INSERT INTO rig (hash, host, reader, bus_mode, words)";

#[derive(Default)]
pub(crate) struct SharedSettings {
    settings: BTreeMap<String, [SqlValue; 3]>,
    rigs: BTreeMap<String, [SqlValue; 4]>,
    recipes: BTreeMap<String, [SqlValue; 3]>,
}

impl SharedSettings {
    /// Adds a setting and returns its hash.
    pub(crate) fn add_setting(&mut self, setting: &Setting) -> SqlResult<String> {
        let condition = json_text(&setting.condition)?;
        let size = setting.size_bytes.map(|bytes| bytes.to_string()).unwrap_or_default();
        let hash = hash::short_hash(&[&setting.recipe, &size, &condition]);
        let values = || [(&setting.recipe).into(), setting.size_bytes.into(), condition.into()];
        self.settings.entry(hash.clone()).or_insert_with(values);
        Ok(hash)
    }

    /// Adds a rig and returns its hash; `None` if the condition says nothing about it.
    pub(crate) fn add_rig(&mut self, condition: &Condition) -> SqlResult<Option<String>> {
        let words = rig_words(condition);
        if words.is_empty() {
            return Ok(None);
        }
        let text = json_text(&words)?;
        let hash = hash::short_hash(&[&text]);
        let word = |name: &str| SqlValue::Text(words.get(name).cloned());
        let values = [word("board"), word("reader"), word("bus_mode"), text.into()];
        self.rigs.entry(hash.clone()).or_insert(values);
        Ok(Some(hash))
    }

    /// Adds a recipe, or a tool with an empty text, and returns its hash.
    pub(crate) fn add_recipe(&mut self, name: &str, version: &str, text: &str) -> String {
        let hash = hash::hash_texts(&[name, version, text]);
        self.recipes.entry(hash.clone()).or_insert_with(|| [name, version, text].map(SqlValue::from));
        hash
    }

    /// Writes the missing ones.
    pub(crate) async fn write_missing(self, c: &mut Connection) -> SqlResult<()> {
        write_rows(c, INSERT_SETTINGS, self.settings).await?;
        write_rows(c, INSERT_RIGS, self.rigs).await?;
        write_rows(c, INSERT_RECIPES, self.recipes).await
    }
}

/// Writes rows by their hash.
async fn write_rows<const N: usize>(
    c: &mut Connection,
    head: &'static str,
    rows: BTreeMap<String, [SqlValue; N]>,
) -> SqlResult<()> {
    let mut batch = RowBatch::new(head, "ON CONFLICT (hash) DO NOTHING");
    rows.into_iter().for_each(|(hash, row)| batch.extend([hash.into()].into_iter().chain(row)));
    batch.write(c).await
}

/// The words of a condition that describe the rig.
pub(crate) fn rig_words(condition: &Condition) -> BTreeMap<String, String> {
    let of_rig = condition.iter().filter(|(word, _)| RIG_WORDS.contains(word));
    of_rig.map(|(word, value)| (word.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::{ConditionOrigin, WORDS as ALL};

    #[test]
    fn rig_words_are_condition_words() {
        assert!(RIG_WORDS.iter().all(|word| ALL.iter().any(|(known, _)| known == word)));
    }

    #[test]
    fn rig_is_independent_of_card() {
        let mut first = Condition::default();
        first.set("reader", "slot", ConditionOrigin::Read);
        let mut second = first.clone();
        second.set("cooling", "passive", ConditionOrigin::Stated);
        let mut shared = SharedSettings::default();
        let rig = shared.add_rig(&first).unwrap();
        assert!(rig.is_some() && rig == shared.add_rig(&second).unwrap());
        assert_eq!(shared.add_rig(&Condition::default()).unwrap(), None);
        let setting = |condition: &Condition| Setting {
            recipe: "quick".into(),
            size_bytes: Some(1 << 30),
            condition: condition.clone(),
        };
        assert_ne!(
            shared.add_setting(&setting(&first)).unwrap(),
            shared.add_setting(&setting(&second)).unwrap()
        );
    }
}
