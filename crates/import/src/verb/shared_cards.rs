//! Finds the card of logs that do not name one. A log takes the card of files whose names differ only in the tool, or the
//! single card of its folder if its own name has no word of a card. Cards that differ in any fact are never joined.

use super::file_name_hints;
use cardscope_model::card::CardFacts;
use cardscope_model::import_report::JoinedFiles;
use cardscope_model::log::CardLog;
use cardscope_store::is_named;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A parsed file on its way from a reader to the archive.
pub(super) struct ParsedFile {
    pub(super) file: String,
    /// Folder of the file, and of the pictures that its figures were typed from.
    pub(super) folder: Option<PathBuf>,
    pub(super) bytes: Vec<u8>,
    pub(super) logs: Vec<CardLog>,
    /// Index in the batch of the first file with the same nameless card, and that card's title.
    pub(super) shared: Option<(usize, String)>,
}

/// Words in file names that describe a log, not its card.
const TOOL_WORDS: &str = "id ctrl ns smart log get feature features nvme lspci pcie fio cdm kdiskmark crystaldiskmark info cid csd \
    scr ssr ocr ios mmc sysfs registers f3 f3write f3read f3probe h2testw flashbench hdparm dd iozone ioping bonnie bench \
    benchmark benchmarks result results output read write seq rand random run runs";

/// Files of one card, by name, or by folder if the name has no word of a card.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum FileGroup {
    ByName(String),
    ByFolder(String),
}

/// Gives each log without a card the card of its group, and returns the groups that were joined. In a group of equal names
/// in which no log names a card, all logs share a nameless card.
pub(super) fn assign_shared_cards(batch: &mut [ParsedFile]) -> Vec<JoinedFiles> {
    let calls: Vec<String> = batch.iter().map(|file| card_words(Path::new(&file.file))).collect();
    let mut groups: BTreeMap<FileGroup, Vec<usize>> = BTreeMap::new();
    for (at, (file, called)) in batch.iter().zip(&calls).enumerate() {
        groups.entry(file_group(file, called)).or_default().push(at);
    }
    let mut joined = Vec::new();
    for (group, members) in groups {
        // A folder's card must be the only one in the folder, so files that have other groups count, too.
        let is_among = |at: &usize| match &group {
            FileGroup::ByName(_) => members.contains(at),
            FileGroup::ByFolder(folder) => parent_folder(&batch[*at]) == *folder,
        };
        let among = (0..batch.len()).filter(is_among);
        let facts = among.flat_map(|at| &batch[at].logs).map(|log| &log.card);
        let named: Vec<&CardFacts> = facts.filter(|card| is_named(card)).collect();
        // A log that names no card must be the only one of its file.
        let is_nameless = |at: &usize| matches!(&batch[*at].logs[..], [log] if !is_named(&log.card));
        let nameless = members.iter().copied().filter(is_nameless);
        let nameless: Vec<usize> = nameless.collect();
        joined.extend(match (combine_cards(&named), &group) {
            (Some(card), _) => assign_card(batch, &nameless, &card),
            (None, FileGroup::ByName(_)) if named.is_empty() => share_nameless_card(batch, &nameless, &calls),
            _ => None,
        });
    }
    joined
}

fn file_group(file: &ParsedFile, called: &str) -> FileGroup {
    match called.is_empty() {
        true => FileGroup::ByFolder(parent_folder(file)),
        false => FileGroup::ByName(called.to_lowercase()),
    }
}

fn parent_folder(file: &ParsedFile) -> String {
    Path::new(&file.file).parent().map(|folder| folder.display().to_string()).unwrap_or_default()
}

/// Words of a file name that describe the card, without cooling and tool: `acme SD71` of `acme-SD71-smart-log.log`. Empty
/// if only numbers remain, since these count runs.
fn card_words(file: &Path) -> String {
    let title = file_name_hints::title_from_name(file).unwrap_or_default();
    let is_kind = |word: &&str| TOOL_WORDS.split_whitespace().any(|kind| kind.eq_ignore_ascii_case(word));
    let words = title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.skip_while(is_kind).collect();
    let behind = words.iter().rev().take_while(|word| is_kind(word)).count();
    let words = &words[..words.len() - behind];
    match words.iter().all(|word| word.bytes().all(|b| b.is_ascii_digit())) {
        true => String::new(),
        false => words.join(" "),
    }
}

/// Facts of all cards combined; `None` if there are no cards, or two differ.
fn combine_cards(named: &[&CardFacts]) -> Option<CardFacts> {
    let (first, others) = named.split_first()?;
    others.iter().try_fold((*first).clone(), |mut all, card| {
        (!all.differs_from(card)).then(|| {
            all.fill_missing_from(card);
            all
        })
    })
}

fn assign_card(batch: &mut [ParsedFile], nameless: &[usize], card: &CardFacts) -> Option<JoinedFiles> {
    let mut files = Vec::new();
    for at in nameless {
        let ParsedFile { file, logs, .. } = &mut batch[*at];
        if let Some(log) = logs.first_mut().filter(|log| !log.card.differs_from(card)) {
            log.card.fill_missing_from(card);
            log.doubts.push(format!("card taken from the files beside it: {}", card.title()));
            files.push(file.clone());
        }
    }
    (!files.is_empty()).then(|| JoinedFiles { card: card.title(), files })
}

/// Lets several files share a card without a name.
fn share_nameless_card(all: &mut [ParsedFile], nameless: &[usize], calls: &[String]) -> Option<JoinedFiles> {
    let cards: Vec<&CardFacts> = nameless.iter().map(|at| &all[*at].logs[0].card).collect();
    if nameless.len() < 2 || combine_cards(&cards).is_none() {
        return None;
    }
    let card = calls[nameless[0]].clone();
    let mut files = Vec::new();
    for at in nameless {
        let file = &mut all[*at];
        file.shared = Some((nameless[0], card.clone()));
        file.logs[0].doubts.push(format!("one card with the files that are called alike: {card}"));
        files.push(file.file.clone());
    }
    Some(JoinedFiles { card, files })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, card: CardFacts) -> ParsedFile {
        let log = CardLog { card, ..CardLog::new("fio-json") };
        ParsedFile { file: name.into(), folder: None, bytes: name.into(), logs: vec![log], shared: None }
    }

    fn acme() -> CardFacts {
        CardFacts { model: Some("SD71".into()), firmware: Some("1.0".into()), ..CardFacts::default() }
    }

    fn joined(mut batch: Vec<ParsedFile>) -> Vec<(String, Vec<String>)> {
        let joined = assign_shared_cards(&mut batch);
        joined.into_iter().map(|joined| (joined.card, joined.files)).collect()
    }

    #[test]
    fn logs_named_alike_take_the_card_of_one_of_them() {
        let none = CardFacts::default;
        let found = joined(vec![
            file("cdm_fio/acme-SD71-active-cooling.log", none()),
            file("nvme/acme-SD71-id-ctrl.log", acme()),
            file("nvme/acme-SD71-smart-log.log", none()),
            file("nvme/other-X1-smart-log.log", none()),
        ]);
        let files = ["cdm_fio/acme-SD71-active-cooling.log", "nvme/acme-SD71-smart-log.log"];
        assert_eq!(found, [("SD71".to_owned(), files.map(str::to_owned).to_vec())]);
    }

    #[test]
    fn files_without_card_words_take_the_only_card_of_the_folder() {
        let none = CardFacts::default;
        let found = |second: CardFacts| {
            joined(vec![
                file("a/id-ctrl.txt", acme()),
                file("a/fio-1.json", none()),
                file("a/swift-64gb.json", none()),
                file("a/more.txt", second),
                file("b/smart-log.txt", none()),
            ])
        };
        assert_eq!(found(acme()), [("SD71".to_owned(), vec!["a/fio-1.json".to_owned()])]);
        let other = CardFacts { firmware: Some("2.0".into()), ..acme() };
        assert_eq!(found(other), [], "two cards in a folder");
    }

    #[test]
    fn cards_that_differ_in_a_fact_are_not_joined() {
        let other_size = CardFacts { capacity_bytes: Some(32_000_000_000), ..CardFacts::default() };
        let card = CardFacts { capacity_bytes: Some(64_000_000_000), ..acme() };
        assert_eq!(joined(vec![file("acme id-ctrl.log", card), file("acme fio.log", other_size)]), []);
    }

    #[test]
    fn files_named_alike_share_a_nameless_card() {
        let mut batch = vec![
            file("swift-smart-log.log", CardFacts::default()),
            file("swift-passive-cooling.log", CardFacts::default()),
            file("passive-cooling.log", CardFacts::default()),
        ];
        assert_eq!(assign_shared_cards(&mut batch).len(), 1);
        let places: Vec<_> = batch.iter().map(|file| file.shared.clone()).collect();
        assert!(places[0].is_some() && places[0] == places[1] && places[2].is_none(), "{places:?}");
    }

    #[test]
    fn card_words_omit_tool_cooling_and_run_number() {
        for (file, name) in [
            ("adata-SD71-get-feature.log", "adata SD71"),
            ("lspci-adata-SD71.log", "adata SD71"),
            ("Swift 64GB no fan.txt", "Swift 64GB"),
            ("fio-3.json", ""),
            ("smart-log.txt", ""),
        ] {
            assert_eq!(card_words(Path::new(file)), name, "{file}");
        }
    }
}
