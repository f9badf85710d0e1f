//! What the user names: cards, and the settings under which they were measured.

use crate::error::Failure;
use crate::shelf::{Shelf, the_one};
use cardscope_model::comparison::Setting;
use cardscope_model::condition::WORDS;
use cardscope_model::units::{BinarySize, parse_size};
use cardscope_store::StoredCard;
use std::path::Path;

/// A word that a setting must have, and its value: `cooling=active`, `recipe=cdm_fio`, `size=1GiB`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    word: String,
    value: String,
}

/// Words of a setting that are none of the condition.
pub(crate) const OWN_WORDS: [&str; 2] = ["recipe", "size"];

impl Wanted {
    /// Reads `WORD=VALUE`.
    ///
    /// # Errors
    /// If it has no `=`, the word is not known, or a size is none.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (word, value) =
            text.split_once('=').ok_or(format!("{text:?} is not WORD=VALUE; write e.g. cooling=active"))?;
        is_word(word)?;
        if word == "size" {
            parse_size(value).map_err(|e| e.to_string())?;
        }
        Ok(Wanted { word: word.to_owned(), value: value.to_owned() })
    }

    /// Whether a setting has it. Values are compared without regard to case.
    pub(crate) fn is_met_by(&self, setting: &Setting) -> bool {
        match self.word.as_str() {
            "size" => parse_size(&self.value).ok() == setting.size_bytes,
            word => value_of(setting, word).is_some_and(|v| v.eq_ignore_ascii_case(&self.value)),
        }
    }
}

/// Whether a word can tell settings apart.
pub(crate) fn is_word(word: &str) -> Result<(), String> {
    let known = || OWN_WORDS.into_iter().chain(WORDS.iter().map(|(w, _)| *w));
    match known().any(|w| w == word) {
        true => Ok(()),
        false => Err(format!("no word {word:?}; the words are {}", known().collect::<Vec<_>>().join(", "))),
    }
}

/// The value of a word in a setting, as people read it; `None` where nobody knows.
pub(crate) fn value_of(setting: &Setting, word: &str) -> Option<String> {
    match word {
        "recipe" => Some(setting.recipe.clone()).filter(|r| !r.is_empty()),
        "size" => setting.size_bytes.map(|bytes| BinarySize(bytes).to_string()),
        word => setting.condition.get(word).map(str::to_owned),
    }
}

/// Cards as the user names them, with what their settings must have: `ADATA@cooling=active,size=1GiB`. The name of a
/// file means the cards whose logs are in it.
pub(crate) fn cards(shelf: &mut Shelf, text: &str) -> Result<Vec<(StoredCard, Vec<Wanted>)>, Failure> {
    if !Path::new(text).is_file() {
        return Ok(vec![card(shelf, text)?]);
    }
    Ok(shelf.take_file(Path::new(text))?.into_iter().map(|card| (card, Vec::new())).collect())
}

fn card(shelf: &mut Shelf, text: &str) -> Result<(StoredCard, Vec<Wanted>), Failure> {
    let (name, wanted) = text.split_once('@').unwrap_or((text, ""));
    let wanted = wanted.split(',').filter(|w| !w.is_empty()).map(Wanted::parse);
    let wanted = wanted.collect::<Result<Vec<_>, _>>().map_err(Failure::refused)?;
    Ok((the_one(shelf.find(name)?, name)?, wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::{Condition, Origin};

    fn setting() -> Setting {
        let mut condition = Condition::default();
        condition.set("cooling", "active", Origin::Stated);
        Setting { recipe: "cdm_fio".into(), size_bytes: Some(1 << 30), condition }
    }

    #[test]
    fn a_setting_is_chosen_by_its_words() {
        for (wanted, met) in [
            ("cooling=Active", true),
            ("cooling=passive", false),
            ("recipe=cdm_fio", true),
            ("size=1GiB", true),
            ("size=1024M", true),
            ("size=1GB", false),
            ("board=Pi", false),
        ] {
            assert_eq!(Wanted::parse(wanted).unwrap().is_met_by(&setting()), met, "{wanted}");
        }
    }

    #[test]
    fn a_word_nobody_knows_is_refused_with_the_list() {
        assert!(Wanted::parse("coolling=active").unwrap_err().contains("cooling, "));
        assert!(Wanted::parse("cooling").unwrap_err().contains("WORD=VALUE"));
        assert!(Wanted::parse("size=big").unwrap_err().contains("is not a size"));
    }
}
