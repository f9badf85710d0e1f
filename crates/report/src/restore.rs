//! `restore` as text.

use crate::figure::count;
use crate::page::{Block, Page, fact};
use cardscope_model::report::Document;
use cardscope_model::restore::{RecognisedBy, RestoreRange, RestoreReport, RestoreSource, WaitingJournal};
use cardscope_model::units::{BinarySize, Size};

/// Ranges that are named one by one.
const MOST_NAMED: usize = 20;

/// What was restored, as people read it.
pub fn text(report: &RestoreReport) -> String {
    let what = match report.source {
        RestoreSource::Journal => "journal",
        RestoreSource::Backup => "backup",
    };
    let mut page = Page::new(&report.target, answer(report));
    let saved = format!("{} of {}, {}", report.file, report.saved_at, BinarySize(report.saved_bytes));
    let by = report.recognised_by.map(|by| fact("known as the card by", by_word(by)));
    page.add("", [Block::Facts([fact(what, saved)].into_iter().chain(by).collect())]);
    page.add("", [ranges("the card did not keep", &report.lost)]);
    page.add("", [ranges("was written since and is left as it is", &report.left)]);
    page.add("", [ranges("could not be restored", &report.unreadable)]);
    let removed = report.removed.then(|| format!("the {what} was removed"));
    page.add(
        "",
        report.notes.iter().cloned().chain(removed).map(|note| Block::Lines(vec![format!("- {note}")])),
    );
    page.add("", report.error.iter().map(|error| Block::Words(format!("Ended early: {error}"))));
    page.text()
}

fn answer(report: &RestoreReport) -> String {
    match (report.bytes_restored, report.compared, report.is_bad()) {
        (_, false, _) | (0, true, true) => "not restored".to_owned(),
        (0, true, false) => "nothing to restore".to_owned(),
        (bytes, true, false) => format!("restored, {bytes} bytes put back and compared"),
        (bytes, true, true) => format!("restored in part, {bytes} bytes put back and compared"),
    }
}

fn by_word(by: RecognisedBy) -> &'static str {
    match by {
        RecognisedBy::Identity => "what it says of itself",
        RecognisedBy::Content => "what stands on it",
        RecognisedBy::Consent => "what you said",
        RecognisedBy::SizeOnly => "its size only",
    }
}

fn ranges(what: &str, ranges: &[RestoreRange]) -> Block {
    let mut lines = Vec::new();
    if !ranges.is_empty() {
        let bytes: u64 = ranges.iter().map(|range| range.len).sum();
        lines.push(format!("{what}: {bytes} bytes in {} ranges", ranges.len()));
    }
    lines.extend(ranges.iter().take(MOST_NAMED).map(|range| {
        let why = range.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("  {} bytes at byte {}{why}", range.len, range.offset)
    }));
    if ranges.len() > MOST_NAMED {
        lines.push(format!("  and {} more", ranges.len() - MOST_NAMED));
    }
    Block::Lines(lines)
}

/// The journals that wait, as people read them.
pub fn list(journals: &[WaitingJournal]) -> String {
    if journals.is_empty() {
        return "No journal waits: whatever tests overwrote was put back.".to_owned();
    }
    let mut page = Page::new("", count(journals.len() as u64, "journal"));
    for journal in journals {
        let held = journal.process.map(|id| format!(" (process {id})")).unwrap_or_default();
        let state = match journal.state.as_str() {
            "waits" => "waits to be put back".to_owned(),
            "running" => format!("in use by a running test{held}"),
            other => other.to_owned(),
        };
        // Of a journal that cannot be read nothing more is known.
        let known = (!journal.target.is_empty()).then(|| {
            let card = journal.card.iter().map(|card| fact("card", card));
            let size = fact("size", Size(journal.announced_bytes));
            let saved = fact("saved", Size(journal.saved_bytes));
            card.chain([size, fact("began (UTC)", &journal.began), saved]).collect::<Vec<_>>()
        });
        let facts = [fact("state", state), fact("journal", &journal.file)];
        let facts = facts.into_iter().chain(known.into_iter().flatten()).collect();
        let command = Block::Commands(journal.command.iter().cloned().collect());
        page.add(&journal.target, [Block::Facts(facts), command]);
    }
    page.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_listed_with_what_to_type_or_with_who_uses_it() {
        let waiting = WaitingJournal {
            file: "/state/journal-1".into(),
            target: "/dev/sdb".into(),
            announced_bytes: 64_000_000_000,
            began: "2026-01-02T03:04:05Z".into(),
            saved_bytes: 69_100_000,
            state: "waits".into(),
            command: Some("cardscope restore /state/journal-1".into()),
            ..WaitingJournal::default()
        };
        let running = WaitingJournal {
            target: "/dev/sdc".into(),
            state: "running".into(),
            process: Some(4711),
            command: None,
            ..waiting.clone()
        };
        let unknown = WaitingJournal {
            file: "/state/journal-2".into(),
            state: "the journal cannot be read".into(),
            ..WaitingJournal::default()
        };
        let text = list(&[waiting, running, unknown]);
        for line in [
            "3 journals",
            "/dev/sdb",
            "  state                   waits to be put back",
            "  saved                   69.1 MB",
            "    cardscope restore /state/journal-1",
            "/dev/sdc",
            "  state                   in use by a running test (process 4711)",
            "  state                   the journal cannot be read",
        ] {
            assert!(text.lines().any(|l| l == line), "{line:?} in\n{text}");
        }
        assert_eq!(text.matches("cardscope restore").count(), 1);
        assert_eq!(text.matches("  size ").count(), 2, "nothing is known of the third");
    }
}
