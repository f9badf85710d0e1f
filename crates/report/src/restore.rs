//! `restore` as text.

use crate::page::{Block, Page, fact};
use crate::table::Table;
use cardscope_model::report::Document;
use cardscope_model::restore::{RecognisedBy, RestoreRange, RestoreReport, RestoreSource, WaitingJournal};
use cardscope_model::units::{BinarySize, Capacity};

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
    let table = Table::of(
        journals,
        &[
            ("journal", &|j| j.file.clone()),
            ("began (UTC)", &|j| j.began.clone()),
            ("target", &|j| j.target.clone()),
            ("card", &|j| j.card.clone().unwrap_or_default()),
            ("size", &|j| Capacity(j.announced_bytes).to_string()),
            ("saved", &|j| BinarySize(j.saved_bytes).to_string()),
            ("state", &|j| j.state.clone()),
        ],
    );
    table.to_string()
}
