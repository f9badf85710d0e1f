//! `restore` as text.

use crate::table::Table;
use cardscope_model::restore::{RecognisedBy, RestoreRange, RestoreReport, RestoreSource, WaitingJournal};
use cardscope_model::units::{BinarySize, Capacity};
use std::fmt::Write;

/// So many places are named one by one.
const MOST_NAMED: usize = 20;

/// What was restored, as people read it.
#[must_use]
pub fn text(report: &RestoreReport) -> String {
    let mut out = String::new();
    let what = match report.source {
        RestoreSource::Journal => "journal",
        RestoreSource::Backup => "backup",
    };
    let _ = writeln!(out, "{}: {}", report.target, summary(report));
    let _ =
        writeln!(out, "{what}: {} of {}, {}", report.file, report.saved_at, BinarySize(report.saved_bytes));
    if let Some(by) = report.recognised_by {
        let _ = writeln!(out, "known as the card by: {}", by_word(by));
    }
    ranges(&mut out, "the card did not keep", &report.lost);
    ranges(&mut out, "was written since and is left as it is", &report.left);
    ranges(&mut out, "could not be restored", &report.unreadable);
    for note in &report.notes {
        let _ = writeln!(out, "- {note}");
    }
    if report.removed {
        let _ = writeln!(out, "- the {what} was removed");
    }
    if let Some(error) = &report.error {
        let _ = writeln!(out, "ended early: {error}");
    }
    out
}

fn summary(report: &RestoreReport) -> String {
    match (report.bytes_restored, report.compared, report.is_bad()) {
        (_, false, _) => "not restored".to_owned(),
        (0, true, true) => "not restored".to_owned(),
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

fn ranges(out: &mut String, what: &str, ranges: &[RestoreRange]) {
    if ranges.is_empty() {
        return;
    }
    let bytes: u64 = ranges.iter().map(|range| range.len).sum();
    let _ = writeln!(out, "{what}: {bytes} bytes in {} places", ranges.len());
    for range in ranges.iter().take(MOST_NAMED) {
        let why = range.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        let _ = writeln!(out, "  {} bytes at byte {}{why}", range.len, range.offset);
    }
    if ranges.len() > MOST_NAMED {
        let _ = writeln!(out, "  and {} more", ranges.len() - MOST_NAMED);
    }
}

/// The journals that wait, as people read them.
#[must_use]
pub fn list(journals: &[WaitingJournal]) -> String {
    if journals.is_empty() {
        return "No journal waits: whatever tests overwrote was put back.".to_owned();
    }
    let mut table = Table::new(["journal", "began (UTC)", "target", "card", "size", "saved", "state"]);
    for journal in journals {
        table.row([
            journal.file.clone(),
            journal.began.clone(),
            journal.target.clone(),
            journal.card.clone().unwrap_or_default(),
            Capacity(journal.announced_bytes).to_string(),
            BinarySize(journal.saved_bytes).to_string(),
            journal.state.clone(),
        ]);
    }
    table.to_string()
}
