//! What is not the same besides the card.

use super::columns::Column;
use cardscope_model::comparison::{Differs, Entry};
use cardscope_model::setting::Setting;

/// Everything in which the columns differ, by column.
pub(super) fn differs(columns: &[Column]) -> Vec<Differs> {
    let mut found: Vec<Differs> = Setting::words()
        .map(|word| Differs {
            what: shown(word).to_owned(),
            values: columns.iter().map(|c| mixed(&c.entry, word)).collect(),
        })
        .collect();
    found.push(count("runs", columns, |e| e.runs));
    found.push(count("pieces", columns, |e| e.specimens));
    found.retain(|d| d.values.windows(2).any(|pair| pair[0] != pair[1]));
    found
}

/// A word as it is listed: the size of a test is not that of a card.
pub(super) fn shown(word: &str) -> &str {
    if word == "size" { "test size" } else { word }
}

/// Runs and pieces are left out where something is blamed, since the statistics count them, and so is the word by which the
/// cards were divided, since it was asked for.
pub(super) fn is_blamed(differs: &Differs, by: Option<&str>) -> bool {
    !["runs", "pieces", "note"].contains(&differs.what.as_str())
        && by.is_none_or(|by| differs.what != shown(by))
}

fn count(what: &str, columns: &[Column], of: fn(&Entry) -> u32) -> Differs {
    Differs {
        what: what.to_owned(),
        values: columns.iter().map(|c| Some(of(&c.entry).to_string())).collect(),
    }
}

/// The values of a word in a column; several where it mixes them, `None` where nobody knows any.
fn mixed(entry: &Entry, word: &str) -> Option<String> {
    let mut values: Vec<Option<String>> = Vec::new();
    for setting in &entry.settings {
        let value = setting.value(word);
        if !values.contains(&value) {
            values.push(value);
        }
    }
    if values.iter().all(Option::is_none) {
        return None;
    }
    let words: Vec<String> = values.into_iter().map(|v| v.unwrap_or_else(|| "unknown".to_owned())).collect();
    Some(words.join(" / "))
}

/// What differs between two columns besides the card, in words.
pub(super) fn between(differs: &[Differs], first: usize, second: usize, by: Option<&str>) -> Vec<String> {
    let said = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    differs
        .iter()
        .filter(|d| is_blamed(d, by) && d.values[first] != d.values[second])
        .map(|d| format!("{}: {} against {}", d.what, said(&d.values[first]), said(&d.values[second])))
        .collect()
}
