//! What a file's name says where its text says nothing: people call their logs after the card, and add the cooling.

use cardscope_model::condition::Origin;
use cardscope_model::log::Log;
use std::path::Path;

/// Words in names, and what they say of the cooling.
const COOLING: [(&str, &str); 6] = [
    ("active-cooling", "active"),
    ("passive-cooling", "passive"),
    ("with-fan", "active"),
    ("without-fan", "passive"),
    ("no-fan", "passive"),
    ("nofan", "passive"),
];

/// Adds what the name of a file says to a log that does not say it itself, and notes that it did.
pub(crate) fn complete(log: &mut Log, file: &Path) {
    let Some(stem) = file.file_stem().and_then(|stem| stem.to_str()) else { return };
    if log.runs.is_empty() {
        return;
    }
    let words: String = stem
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '.' { c.to_ascii_lowercase() } else { '-' })
        .collect();
    let cooling = COOLING.iter().find(|(name, _)| words.contains(name));
    if let Some((_, how)) = cooling.filter(|_| log.condition.get("cooling").is_none()) {
        log.condition.set("cooling", *how, Origin::Stated);
        log.doubts.push(format!("its text names no cooling; {how} is what the file's name says"));
    }
    let unnamed = log.card.name.is_none() && log.card.model.is_none() && log.card.brand.is_none();
    if unnamed {
        let rest = cooling.map_or(stem.len(), |(name, _)| words.find(name).unwrap_or(stem.len()));
        // The words have as many characters as the stem, though not always as many bytes.
        let name: String = stem.chars().take(words[..rest.min(words.len())].chars().count()).collect();
        let name = name.trim_matches(|c: char| !c.is_alphanumeric()).replace(['-', '_'], " ");
        if !name.is_empty() {
            // No doubt of its own: most logs name no card, and a list of a thousand such notes hides the others.
            log.card.note = Some("called after its file".to_owned());
            log.card.name = Some(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::log::LogRun;

    fn completed(file: &str) -> (Option<String>, Option<String>) {
        let mut log = Log::new("cdm_fio");
        log.runs.push(LogRun::default());
        complete(&mut log, Path::new(file));
        (log.card.name, log.condition.get("cooling").map(str::to_owned))
    }

    #[test]
    fn a_log_is_called_after_its_card_and_the_cooling() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(completed("x/acme-A1-active-cooling.log"), (some("acme A1"), some("active")));
        assert_eq!(completed("Acme Ultra 64GB.txt"), (some("Acme Ultra 64GB"), None));
        assert_eq!(completed("kärtchen_ohne-no fan.txt"), (some("kärtchen ohne"), some("passive")));
        assert_eq!(completed("---.log"), (None, None));
    }

    #[test]
    fn what_the_text_says_is_left_alone() {
        let mut log = Log::new("cdm_fio");
        log.runs.push(LogRun::default());
        log.card.brand = Some("Acme".into());
        log.condition.set("cooling", "passive", Origin::Read);
        complete(&mut log, Path::new("other-active-cooling.log"));
        assert_eq!((log.card.name.as_deref(), log.condition.get("cooling")), (None, Some("passive")));
        assert!(log.doubts.is_empty());
    }
}
