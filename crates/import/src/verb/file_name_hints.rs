//! Facts from a file's name where its text lacks them: the cooling, and a title for the card.
//!
//! The title does not become the card's name, since `fio.json` may well be the log of two cards.

use cardscope_model::condition::ConditionOrigin;
use cardscope_model::log::CardLog;
use std::path::Path;

/// Words in file names, and the cooling they mean. The first match wins, so that "no fan" does not match "fan".
const COOLING_WORDS: [(&[&str], &str); 9] = [
    (&["without", "active", "cooling"], "passive"),
    (&["no", "active", "cooling"], "passive"),
    (&["without", "fan"], "passive"),
    (&["no", "fan"], "passive"),
    (&["nofan"], "passive"),
    (&["without", "cooling"], "passive"),
    (&["passive", "cooling"], "passive"),
    (&["active", "cooling"], "active"),
    (&["with", "fan"], "active"),
];

/// Words that negate the next one.
const NEGATIONS: [&str; 3] = ["without", "no", "not"];

/// Sets the cooling from the file name if the log has runs and does not state it, and notes the source as a doubt.
pub(crate) fn add_cooling(log: &mut CardLog, file: &Path) {
    let Some((_, how)) = file_stem(file).and_then(find_cooling) else { return };
    if !log.runs.is_empty() && log.condition.get("cooling").is_none() {
        log.condition.set("cooling", how, ConditionOrigin::Stated);
        log.doubts.push(format!("cooling taken from the file name: {how}"));
    }
}

/// Title for a card without a name: the part of the file name before the cooling.
pub(crate) fn title_from_name(file: &Path) -> Option<String> {
    let stem = file_stem(file)?;
    let end = find_cooling(stem).map_or(stem.len(), |(at, _)| at);
    let title = stem[..end].trim_matches(|c: char| !c.is_alphanumeric()).replace(['-', '_'], " ");
    Some(title).filter(|title| !title.is_empty())
}

fn file_stem(file: &Path) -> Option<&str> {
    file.file_stem()?.to_str()
}

/// Byte at which the cooling begins in a file name, and its value.
fn find_cooling(stem: &str) -> Option<(usize, &'static str)> {
    let words = words_with_offsets(stem);
    COOLING_WORDS.iter().find_map(|(wanted, how)| {
        let at = (0..words.len()).find(|at| {
            let negated = *at > 0 && NEGATIONS.contains(&words[at - 1].1.as_str());
            let found = words[*at..].iter().map(|(_, word)| word.as_str()).take(wanted.len());
            !negated && found.eq(wanted.iter().copied())
        })?;
        Some((words[at].0, *how))
    })
}

/// Words of a file name in lower case, each with the byte at which it begins.
fn words_with_offsets(stem: &str) -> Vec<(usize, String)> {
    let mut next = 0;
    let word = |part: &str| {
        let at = next;
        next += part.len();
        let word = part.trim_end_matches(|c: char| !c.is_alphanumeric());
        (!word.is_empty()).then(|| (at, word.to_ascii_lowercase()))
    };
    stem.split_inclusive(|c: char| !c.is_alphanumeric()).filter_map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::run::Run;
    use proptest::prelude::*;

    fn completed(file: &str) -> (Option<String>, Option<String>) {
        let mut log = CardLog::new("cdm_fio");
        log.runs.push(Run::default());
        add_cooling(&mut log, Path::new(file));
        assert!(log.card.is_empty(), "a file's name names no card");
        (title_from_name(Path::new(file)), log.condition.get("cooling").map(str::to_owned))
    }

    #[test]
    fn file_name_gives_title_and_cooling() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(completed("x/acme-A1-active-cooling.log"), (some("acme A1"), some("active")));
        assert_eq!(completed("Acme Ultra 64GB.txt"), (some("Acme Ultra 64GB"), None));
        assert_eq!(completed("kärtchen_ohne-no fan.txt"), (some("kärtchen ohne"), some("passive")));
        assert_eq!(completed("Ultra_1.5TB.v2-With.Fan.log"), (some("Ultra 1.5TB.v2"), some("active")));
        assert_eq!(completed("---.log"), (None, None));
    }

    #[test]
    fn cooling_needs_whole_words_and_respects_negation() {
        for (file, cooling) in [
            ("x-without-active-cooling.log", Some("passive")),
            ("x-no-active-cooling.log", Some("passive")),
            ("x-without-passive-cooling.log", None),
            ("x-without-fan.log", Some("passive")),
            ("x-not-with-fan.log", None),
            ("uno-fancy.log", None),
            ("x-inactive-cooling.log", None),
            ("x-active-coolingpad.log", None),
        ] {
            assert_eq!(completed(file).1.as_deref(), cooling, "{file}");
        }
    }

    #[test]
    fn cooling_in_the_log_is_kept() {
        let mut log = CardLog::new("cdm_fio");
        log.runs.push(Run::default());
        log.condition.set("cooling", "passive", ConditionOrigin::Read);
        add_cooling(&mut log, Path::new("other-active-cooling.log"));
        assert_eq!(log.condition.get("cooling"), Some("passive"));
        assert!(log.doubts.is_empty());
    }

    proptest! {
        #[test]
        fn any_file_name_is_parsed_without_panic(name in "\\PC{0,20}(no fan|-active_cooling|)\\PC{0,8}") {
            let _ = completed(&name);
        }
    }
}
