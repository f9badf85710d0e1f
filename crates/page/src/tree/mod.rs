//! Page tree: a result page as data with answer, reasons, figures, sections and next steps. Every verb builds one, and
//! `terminal`, `markdown` and `html` each render it completely. It is serialized as JSON for the app.

pub mod findings;
pub mod html;
mod layout;
pub use layout::display_width;
pub mod markdown;
pub mod table;
pub mod terminal;

use crate::chart::Chart;
use crate::figure::{duration, pluralize, to_sentence};
use cardscope_model::answer::Answer;
use cardscope_model::finding::FindingWeight;
use cardscope_model::publication::CardPicture;
pub use cardscope_model::report::NewsTone;
use cardscope_model::report::{ChangedBlocks, ExitStatus, IoTotals, ReportHeader};
use cardscope_model::result::TestResult;
use cardscope_model::suspect_reader::SuspectReader;
use cardscope_model::units::{DecimalSize, group_digits};
use cardscope_model::verify::{IoCounts, IoError, READER_ERRORS};
pub use findings::FindingRemark;
use serde::Serialize;
use table::Table;

/// A result page.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Page {
    /// Target or subject. Empty where the answer names it.
    pub title: String,
    /// Answer, in a line of at most 80 columns.
    pub answer: Answer,
    pub tone: NewsTone,
    /// Reasons for the answer, at most five.
    pub reasons: Vec<AnswerReason>,
    /// The few figures that matter most.
    pub figures: Vec<PageFact>,
    pub sections: Vec<PageSection>,
    /// Next steps for the user, without duplicates.
    pub next: Vec<PageStep>,
    /// Closing lines: target, error, session.
    pub end: Vec<String>,
    /// Time of the test: `2026-11-25 20:07 UTC`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// True if the closing lines already state the time and version, so that renderers do not add them.
    #[serde(skip)]
    pub signed: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerReason {
    pub tone: NewsTone,
    /// The reason in a line.
    pub text: String,
}

/// Next step for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PageStep {
    /// Description, as a sentence.
    pub what: String,
    /// Command to type.
    pub command: Option<String>,
}

/// Section of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PageSection {
    /// Heading. May be empty.
    pub head: String,
    /// True for a detail, which is hidden until the reader opens it.
    pub folded: bool,
    /// True if the section is printed. If no section is marked so, all open ones are printed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub printed: bool,
    pub blocks: Vec<PageBlock>,
}

pub type PageFact = (String, String);

/// Content of a section.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PageBlock {
    Facts(Vec<PageFact>),
    Table(Table),
    Words(String),
    /// Short lines, each separate.
    Lines(Vec<String>),
    /// Output in the layout of another tool, with its blanks.
    Verbatim(String),
    /// Commands ready to paste.
    Commands(Vec<String>),
    /// Findings and caveats, merged by kind.
    Remarks(Vec<FindingRemark>),
    Chart(Box<Chart>),
    /// Photograph or screenshot of a card.
    Picture(CardPicture),
    /// Subsection.
    Section(PageSection),
}

impl PageBlock {
    pub(crate) fn is_empty(&self) -> bool {
        match self {
            PageBlock::Facts(facts) => facts.is_empty(),
            PageBlock::Table(table) => table.rows().is_empty(),
            PageBlock::Words(text) | PageBlock::Verbatim(text) => text.is_empty(),
            PageBlock::Lines(lines) | PageBlock::Commands(lines) => lines.is_empty(),
            PageBlock::Remarks(remarks) => remarks.is_empty(),
            PageBlock::Section(section) => section.blocks.is_empty(),
            PageBlock::Chart(_) | PageBlock::Picture(_) => false,
        }
    }

    pub fn from_chart(chart: Chart) -> PageBlock {
        PageBlock::Chart(Box::new(chart))
    }
}

impl PageSection {
    /// Creates an open section without its empty blocks.
    pub fn new(head: &str, body: impl IntoIterator<Item = PageBlock>) -> Self {
        let blocks = body.into_iter().filter(|block| !block.is_empty()).collect();
        PageSection { head: head.to_owned(), folded: false, printed: false, blocks }
    }

    /// Makes it a detail.
    pub fn into_detail(self) -> Self {
        PageSection { folded: true, ..self }
    }
}

pub fn fact(name: &str, value: impl ToString) -> PageFact {
    (name.to_owned(), value.to_string())
}

/// The first `most` items as lines, and the number of further ones.
pub fn limited_list<T>(all: &[T], most: usize, line: impl Fn(&T) -> String) -> PageBlock {
    let more = all.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("… and {more} more in the JSON document"));
    PageBlock::Lines(all.iter().take(most).map(line).chain(more).collect())
}

/// Bytes read, written and restored, the time that took, and the state of the user's data.
pub fn io_summary(moved: &IoTotals) -> String {
    let IoTotals { bytes_written, bytes_restored, bytes_read, .. } = *moved;
    let all = [("wrote", bytes_written), ("restored", bytes_restored), ("read", bytes_read)];
    let happened = all.iter().filter(|(_, bytes)| *bytes > 0);
    let happened = happened.map(|(verb, bytes)| format!("{verb} {}", DecimalSize(*bytes)));
    let happened: Vec<String> = happened.collect();
    // A failed write may have changed data.
    let wrote = moved.bytes_written > 0 || moved.io_errors.iter().any(|error| error.operation == "write");
    let data = match (wrote, &moved.may_have_changed) {
        (_, Some(changed)) => format!("; {}", may_have_changed(changed)),
        (false, None) => String::new(),
        (true, None) if moved.data_kept => "; data preserved".to_owned(),
        (true, None) => "; data not preserved".to_owned(),
    };
    match happened.is_empty() {
        true => "read and wrote nothing".to_owned(),
        false => format!("{} in {}{data}", happened.join(", "), duration(moved.seconds)),
    }
}

/// Number of the blocks whose data may have changed, and the file that lists them.
pub fn may_have_changed(changed: &ChangedBlocks) -> String {
    let blocks = pluralize(changed.blocks, "block");
    let listed = changed.file.as_deref().map(|file| format!(", listed in {file}")).unwrap_or_default();
    format!("may have changed: {blocks}{listed}")
}

/// Verdicts of the findings of a claim.
pub fn claim_verdicts<'a>(header: &'a ReportHeader, claim: &'a str) -> impl Iterator<Item = String> + 'a {
    let all = header.findings.iter().filter(move |finding| finding.claim == claim);
    all.map(|finding| finding.verdict.clone())
}

/// Number of failed I/Os as a reason, or None if none failed.
pub fn failed_io_reason(moved: &IoTotals) -> Option<AnswerReason> {
    failed_counts_reason(moved.counts, &moved.io_errors)
}

/// Reason for failed I/Os, from their counts and a list of errors.
pub fn failed_counts_reason(counts: IoCounts, io_errors: &[IoError]) -> Option<AnswerReason> {
    let IoCounts { failed_once, failed_twice, .. } = counts;
    let first = io_errors.iter().find(|error| !error.recovered).or(io_errors.first());
    let place = |first: &IoError| match first.operation.as_str() {
        "flush" => " (a flush)".to_owned(),
        operation => format!(" (first {operation} at {})", DecimalSize(first.offset)),
    };
    let place = first.map(place).unwrap_or_default();
    let (tone, text) = match (failed_once, failed_twice) {
        (0, 0) => return None,
        (n, 0) => (NewsTone::Warning, format!("{} failed once, none twice{place}", pluralize(n, "I/O"))),
        (0, twice) => (NewsTone::Bad, format!("{} failed twice{place}", pluralize(twice, "I/O"))),
        (once, twice) => {
            let once = group_digits(once);
            (NewsTone::Bad, format!("{} failed twice{place}, {once} once", pluralize(twice, "I/O")))
        }
    };
    Some(AnswerReason { tone, text: text + "." })
}

/// List of failed I/Os.
pub fn io_error_list(io_errors: &[IoError]) -> PageBlock {
    limited_list(io_errors, 8, |io_error| {
        let IoError { operation, offset, len, errno, reason, recovered, in_parts } = io_error;
        let again = match (recovered, in_parts) {
            (true, _) => "the second try succeeded",
            (false, true) => "twice; in small requests it succeeded",
            (false, false) => "twice",
        };
        format!("{operation} of {len} bytes at {}: {reason} (errno {errno}), {again}", group_digits(*offset))
    })
}

/// Tone of a page whose answer is a figure: coloured only if the result is bad or not proven.
pub fn tone_of_figures(status: ExitStatus) -> NewsTone {
    match status {
        ExitStatus::Good => NewsTone::Plain,
        ExitStatus::NotProven => NewsTone::Warning,
        ExitStatus::Bad => NewsTone::Bad,
    }
}

impl Page {
    pub fn new(title: &str, tone: NewsTone, answer: impl Into<Answer>) -> Self {
        Page { title: title.to_owned(), tone, answer: answer.into(), ..Page::default() }
    }

    /// Creates a page without a title, because the answer names its subject.
    pub fn from_answer(answer: impl Into<Answer>) -> Self {
        Page::new("", NewsTone::Plain, answer)
    }

    /// Adds an open section, unless all its blocks are empty.
    pub fn add_section(&mut self, head: &str, body: impl IntoIterator<Item = PageBlock>) {
        self.push_section(PageSection::new(head, body));
    }

    /// Adds a folded section, unless all its blocks are empty.
    pub fn add_detail(&mut self, head: &str, body: impl IntoIterator<Item = PageBlock>) {
        self.push_section(PageSection::new(head, body).into_detail());
    }

    fn push_section(&mut self, section: PageSection) {
        if !section.blocks.is_empty() {
            self.sections.push(section);
        }
    }

    /// Adds a reason. If the page has five already, a bad one replaces the last that is not bad; others are dropped.
    pub fn add_reason(&mut self, tone: NewsTone, text: impl Into<String>) {
        let reason = AnswerReason { tone, text: text.into() };
        if self.reasons.len() < MAX_REASONS {
            self.reasons.push(reason);
        } else if tone == NewsTone::Bad
            && let Some(other) = self.reasons.iter_mut().rev().find(|other| other.tone != NewsTone::Bad)
        {
            *other = reason;
        }
    }

    /// Adds several reasons of one tone.
    pub fn add_reasons(&mut self, tone: NewsTone, texts: impl IntoIterator<Item = String>) {
        texts.into_iter().for_each(|text| self.add_reason(tone, text));
    }

    /// Adds a next step, unless the page has it already.
    pub fn add_step(&mut self, what: impl Into<String>, command: Option<String>) {
        let step = PageStep { what: what.into(), command };
        if !self.next.contains(&step) {
            self.next.push(step);
        }
    }

    /// Marks the sections with these heads as printed.
    pub fn mark_printed(&mut self, heads: &[&str]) {
        let named = self.sections.iter_mut().filter(|section| heads.contains(&section.head.as_str()));
        named.for_each(|section| section.printed = true);
    }

    /// Adds findings and caveats as details, and bad findings that the answer does not cover as reasons. A page with such
    /// findings is never shown as good or neutral.
    pub fn add_findings<'a>(&mut self, header: &ReportHeader, tests: impl Iterator<Item = &'a TestResult>) {
        if header.exit_status() != ExitStatus::Good && matches!(self.tone, NewsTone::Good | NewsTone::Plain) {
            self.tone = NewsTone::Warning;
        }
        let of_reader = header.findings.iter().filter(|finding| finding.claim == READER_ERRORS);
        of_reader.for_each(|finding| self.add_reason(NewsTone::Warning, finding.verdict.clone()));
        for finding in header.findings.iter().filter(|f| f.weight == FindingWeight::Bad) {
            let said = COVERED_BY_VERDICT.contains(&finding.claim.as_str())
                || finding.claim == "label-capacity"
                    && matches!(self.answer.verdict(), Some("FAKE" | "FAKE LABEL"))
                || self.reasons.iter().any(|reason| reason.text == finding.verdict);
            if !said {
                self.add_reason(NewsTone::Bad, finding.verdict.clone());
            }
        }
        self.add_detail("Findings", [PageBlock::Remarks(findings::merge_findings(&header.findings))]);
        self.add_detail("Caveats", [PageBlock::Remarks(findings::merge_caveats(&header.caveats, tests))]);
    }

    /// Reports a reader that returns different data for the same place. It becomes the answer if it ended the test or if a
    /// bad result was measured through it, since the card may not be the cause; otherwise the first reason.
    /// Keeps at most five reasons.
    fn blame_reader(&mut self, reader: &SuspectReader, is_complete: bool) {
        if reader.ended_test || is_complete && self.tone == NewsTone::Bad {
            self.tone = NewsTone::Warning;
            let answer = Answer::with_verdict("SUSPECT READER", ": reads of the same place differ.");
            self.answer = answer.with_advice("Try another reader.");
        }
        let text = to_sentence(&reader.to_string());
        self.reasons.insert(0, AnswerReason { tone: NewsTone::Warning, text });
        self.reasons.truncate(MAX_REASONS);
    }

    /// Adds next steps, target, end, time and session of a document.
    pub fn add_end(&mut self, header: &ReportHeader) {
        if let Some(reader) = &header.suspect_reader {
            self.blame_reader(reader, header.error.is_none());
        }
        // Steps of the verb are urgent (unrestored data), so they precede those that the page suggests.
        let suggested = std::mem::take(&mut self.next);
        for next in &header.next {
            let what = to_sentence(&next.what);
            // Advice without a command is already part of the answer.
            match &next.command {
                Some(_) => self.add_step(format!("{}:", what.trim_end_matches('.')), next.command.clone()),
                None if self.answer.advice() == Some(what.as_str()) => {}
                None => self.add_step(what, None),
            }
        }
        suggested.into_iter().for_each(|step| self.add_step(step.what, step.command));
        self.date = header.session.as_deref().and_then(session_start);
        self.end.push(format!("Target: {}", header.target));
        if let Some(error) = header.error.as_deref().map(|error| self.unsaid(error)) {
            // An error precedes the results measured before it. A user who interrupted the test needs no reason.
            if !error.starts_with("interrupted") {
                let text = to_sentence(error.split_once(". ").map_or(error, |(first, _)| first));
                self.reasons.insert(0, AnswerReason { tone: NewsTone::Bad, text });
            }
            self.end.push(format!("Ended early: {error}"));
        }
        self.end.extend(header.session.iter().map(|id| format!("Archived as session {id}.")));
    }

    /// An error message without the command that a next step already names.
    fn unsaid<'a>(&self, error: &'a str) -> &'a str {
        let place = |step: &PageStep| error.find(step.command.as_deref()?);
        let end = self.next.iter().find_map(place).and_then(|at| error[..at].rfind("; "));
        end.map_or(error, |end| &error[..end])
    }

    /// Adds the findings and the end of a document.
    pub fn with_frame(mut self, header: &ReportHeader) -> Page {
        self.add_findings(header, std::iter::empty());
        self.add_end(header);
        self
    }
}

/// Start of a session. Its id is a UUID of version 7, which begins with the milliseconds since 1970 (RFC 9562, 5.7).
fn session_start(session: &str) -> Option<String> {
    let digits: String = session.chars().filter(|c| *c != '-').collect();
    let version_7 = digits.get(12..13) == Some("7") && digits.len() == 32;
    let milliseconds = i64::from_str_radix(digits.get(..12).filter(|_| version_7)?, 16).ok()?;
    let time = jiff::Timestamp::from_millisecond(milliseconds).ok()?;
    Some(time.strftime("%Y-%m-%d %H:%M UTC").to_string())
}

/// Claims that the verdict of the answer or the result for the marks already covers.
pub(crate) const COVERED_BY_VERDICT: [&str; 2] = ["capacity", "mark-missed"];

const MAX_REASONS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicate_steps_and_empty_sections_are_dropped() {
        let mut page = Page::from_answer("Done.");
        (0..2).for_each(|_| page.add_step("Test it:", Some("cardscope check DEVICE".into())));
        page.add_section("Speed", [PageBlock::Table(Table::new(["test"])), PageBlock::Lines(Vec::new())]);
        (0..9).for_each(|n| page.add_reason(NewsTone::Plain, format!("{n}")));
        assert_eq!((page.next.len(), page.sections.len(), page.reasons.len()), (1, 0, MAX_REASONS));
        page.add_reason(NewsTone::Bad, "The card lost data.");
        assert_eq!(page.reasons.len(), MAX_REASONS);
        assert_eq!(page.reasons.last().map(|reason| reason.tone), Some(NewsTone::Bad), "bad news finds room");
    }

    #[test]
    fn error_is_the_first_reason_unless_interrupted() {
        let ended = |error: &str| {
            let mut page = Page::from_answer("NOT TESTED: it ended.");
            page.add_reason(NewsTone::Plain, "The card's data: as it was.");
            page.with_frame(&ReportHeader { error: Some(error.to_owned()), ..ReportHeader::default() })
        };
        let page = ended("the card no longer answers (I/O error). Insert it again");
        assert_eq!(page.reasons[0].text, "The card no longer answers (I/O error).");
        assert_eq!((page.reasons[0].tone, page.reasons.len()), (NewsTone::Bad, 2));
        assert!(page.end.iter().any(|line| line.ends_with("Insert it again")), "{page:?}");
        assert_eq!(ended("interrupted; the results so far are stored").reasons.len(), 1);
    }

    #[test]
    fn command_of_a_next_step_is_not_repeated_in_the_error() {
        let mut page = Page::from_answer("NOT TESTED: it ended.");
        let error = "the card is gone; the card's data is saved: run `cardscope restore '/a b'`";
        assert_eq!(page.unsaid(error), error);
        page.add_step("Restore the card's data:", Some("cardscope restore '/a b'".into()));
        assert_eq!(page.unsaid(error), "the card is gone");
    }

    #[test]
    fn io_summary_lists_only_what_happened() {
        let read =
            IoTotals { bytes_read: 203_000_000, seconds: 36.9, data_kept: true, ..IoTotals::default() };
        assert_eq!(io_summary(&read), "read 203 MB in 36.9 s");
        let wrote = IoTotals { bytes_written: 69_100_000, bytes_restored: 69_100_000, ..read };
        assert_eq!(
            io_summary(&wrote),
            "wrote 69.1 MB, restored 69.1 MB, read 203 MB in 36.9 s; data preserved"
        );
        let listed = Some("/state/changed-1".to_owned());
        let changed = ChangedBlocks { blocks: 3, bytes: 12_288, file: listed };
        let wrote = IoTotals { data_kept: false, may_have_changed: Some(changed), ..wrote };
        assert!(io_summary(&wrote).ends_with("; may have changed: 3 blocks, listed in /state/changed-1"));
        assert_eq!(io_summary(&IoTotals::default()), "read and wrote nothing");
    }

    #[test]
    fn session_start_is_read_from_uuid_version_7_only() {
        assert_eq!(
            session_start("017f22e2-79b0-7cc3-98c4-dc0c0c07398f").as_deref(),
            Some("2022-02-22 19:22 UTC")
        );
        for none in ["", "5c146b14-3c52-4afd-938a-375d0df1fbf6", "017f22e2"] {
            assert_eq!(session_start(none), None, "{none}");
        }
    }
}
