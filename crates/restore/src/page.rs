//! Pages of `restore`: the result, and the list of journals.

use cardscope_model::answer::Answer;
use cardscope_model::report::{ExitStatus, NewsTone, ReportDocument};
use cardscope_model::restore::{RecognisedBy, RestoreRange, RestoreReport, RestoreSource, WaitingJournal};
use cardscope_model::units::{BinarySize, DecimalSize, group_digits};
use cardscope_page::figure::pluralize;
use cardscope_page::tree::table::Table;
use cardscope_page::tree::{Page, PageBlock, fact, failed_counts_reason, may_have_changed};

const NOT_RESTORED: &str = "NOT RESTORED.";

/// Most ranges that are listed.
const MOST_NAMED: usize = 20;

pub fn page(report: &RestoreReport) -> Page {
    let what = match report.source {
        RestoreSource::Journal => "journal",
        RestoreSource::Backup => "backup",
    };
    let answer = answer_line(report);
    let good = report.exit_status() == ExitStatus::Good && report.error.is_none() && answer != NOT_RESTORED;
    let mut page = Page::new(&report.target, if good { NewsTone::Good } else { NewsTone::Bad }, answer);
    page.reasons.extend(failed_counts_reason(report.counts, &report.io_errors));
    let saved = format!("{} of {}, {}", report.file, report.saved_at, BinarySize(report.saved_bytes));
    let by = report.recognised_by.map(|by| fact("card recognised by", recognition_text(by)));
    page.add_section("", [PageBlock::Facts([fact(what, saved)].into_iter().chain(by).collect())]);
    page.add_section("", [range_block("lost by the card", &report.lost)]);
    page.add_section("", [range_block("written since, so left alone", &report.left)]);
    page.add_section("", [range_block("could not be restored", &report.unreadable)]);
    page.add_section("", [range_block("reads differently in requests of another size", &report.doubtful)]);
    page.add_section("", [range_block("test data whose originals are lost", &report.originals_lost)]);
    page.add_section("", [PageBlock::Lines(report.may_have_changed.iter().map(may_have_changed).collect())]);
    let removed = report.removed.then(|| format!("the {what} was removed"));
    page.add_section("", [PageBlock::Lines(report.notes.iter().cloned().chain(removed).collect())]);
    page.end.push(format!("Target: {}", report.target));
    page.end.extend(report.error.iter().map(|error| format!("Ended early: {error}")));
    page
}

/// First line of the page, by restored bytes, comparison and exit status.
fn answer_line(report: &RestoreReport) -> Answer {
    let done = report.removed && report.error.is_none();
    match (report.bytes_restored, report.compared, report.exit_status() == ExitStatus::Bad) {
        (0, false, false) if done => "Nothing to restore: the card holds its own data.".into(),
        (_, false, _) | (0, true, true) => NOT_RESTORED.into(),
        (0, true, false) => "Nothing to restore: the card holds what was saved.".into(),
        (bytes, true, false) => format!("Restored {} and compared them.", DecimalSize(bytes)).into(),
        (bytes, true, true) => {
            Answer::with_verdict("RESTORED IN PART", &format!(": {} of what was saved.", DecimalSize(bytes)))
        }
    }
}

fn recognition_text(by: RecognisedBy) -> &'static str {
    match by {
        RecognisedBy::Identity => "its registers",
        RecognisedBy::Content => "its content",
        RecognisedBy::Consent => "your word (--yes-destroy)",
        RecognisedBy::SizeOnly => "its size only",
    }
}

/// Summary of ranges, and up to [`MOST_NAMED`] of them in lines of their own.
fn range_block(what: &str, ranges: &[RestoreRange]) -> PageBlock {
    let mut lines = Vec::new();
    if !ranges.is_empty() {
        let bytes: u64 = ranges.iter().map(|range| range.len).sum();
        lines.push(format!("{what}: {} in {}", DecimalSize(bytes), pluralize(ranges.len() as u64, "range")));
    }
    lines.extend(ranges.iter().take(MOST_NAMED).map(|range| {
        let why = range.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        format!("{} bytes at byte {}{why}", group_digits(range.len), group_digits(range.offset))
    }));
    if ranges.len() > MOST_NAMED {
        lines.push(format!("and {} more", ranges.len() - MOST_NAMED));
    }
    PageBlock::Lines(lines)
}

/// List of journals that are to be restored.
pub fn list_page(journals: &[WaitingJournal]) -> Page {
    if journals.is_empty() {
        return Page::new("", NewsTone::Good, "No journal waits: all data that tests overwrote is restored.");
    }
    let waits = journals.iter().filter(|journal| journal.command.is_some()).count();
    let answer = match (waits, journals.len()) {
        (0, n) => format!("{}, none that can be restored now.", pluralize(n as u64, "journal")),
        (1, _) => "1 journal waits to be restored.".to_owned(),
        (n, _) => format!("{n} journals wait to be restored."),
    };
    let mut page = Page::new("", NewsTone::Warning, answer);
    // An unreadable journal has no facts but its file.
    let known = |journal: &WaitingJournal| !journal.target.is_empty();
    let size =
        |j: &WaitingJournal, bytes| if known(j) { DecimalSize(bytes).in_table() } else { String::new() };
    let table = Table::from_items(
        journals,
        &[
            ("target", &|j| if known(j) { j.target.clone() } else { j.file.clone() }),
            ("state", &state_text),
            ("size", &|j| size(j, j.announced_bytes)),
            ("saved", &|j| size(j, j.saved_bytes)),
            ("began (UTC)", &|j| j.began.clone()),
            ("card", &|j| j.card.clone().unwrap_or_default()),
        ],
    );
    let table = table.left_aligned(["card", "state", "began (UTC)"]).never_dropped(["state"]);
    page.add_section("", [PageBlock::Table(table)]);
    for WaitingJournal { target, command, .. } in journals.iter().filter(|journal| journal.command.is_some())
    {
        page.add_step(format!("Put back what a test overwrote on {target}:"), command.clone());
    }
    page
}

/// State of a journal for the table. Texts other than the two states are reasons why it is unreadable.
fn state_text(journal: &WaitingJournal) -> String {
    let held = journal.process.map(|id| format!(" (process {id})")).unwrap_or_default();
    match journal.state.as_str() {
        "waits" => "waits".to_owned(),
        "running" => format!("in use by a running test{held}"),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn journal_list_shows_restore_command_or_process() {
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
        insta::assert_snapshot!(list_page(&[waiting, running, unknown]).to_text(), @r#"
        1 journal waits to be restored.

          target            state                    size    saved  began (UTC)
          /dev/sdb          waits                 64.0 GB  69.1 MB  2026-01-02T03:04:05Z
          /dev/sdc          in use by a running   64.0 GB  69.1 MB  2026-01-02T03:04:05Z
                            test (process 4711)
          /state/journal-2  the journal cannot
                            be read

        Next
          Put back what a test overwrote on /dev/sdb:
            cardscope restore /state/journal-1
        "#);
    }
}
