//! A result page as data, and the frame that the pages of all verbs share: the answer, the verb's own parts, then
//! findings, caveats, how it ended and its session. A terminal renders it here, an HTML file in `page_html`.

use crate::chart::Chart;
use crate::figure::{duration, test_of, wrapped};
use crate::plot;
use crate::table::Table;
use cardscope_model::caveat::Caveat;
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::report::{Header, Moved};
use cardscope_model::result::TestResult;
use cardscope_model::units::grouped;
use cardscope_model::verify::IoError;
use std::fmt::Write;

/// How good the news is, for the colour of an HTML page's head.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum News {
    Good,
    #[default]
    Open,
    Bad,
}

/// The page.
#[derive(Debug, Clone, Default)]
pub(crate) struct Page {
    /// What was tested.
    pub(crate) title: String,
    /// The answer, in a sentence.
    pub(crate) answer: String,
    pub(crate) news: News,
    pub(crate) parts: Vec<Part>,
}

/// A part; its head may be empty.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) head: String,
    pub(crate) body: Vec<Block>,
}

/// A name and its value.
pub(crate) type Fact = (String, String);

/// What stands in a part.
#[derive(Debug, Clone)]
pub(crate) enum Block {
    Facts(Vec<Fact>),
    Table(Table),
    /// A table with a column for each card, of which there may be many.
    Cards(Table),
    /// A sentence, broken into lines.
    Words(String),
    /// Lines that stay as they are.
    Lines(Vec<String>),
    /// A text in the layout of another tool, to the last blank.
    Verbatim(String),
    /// Commands ready to paste.
    Commands(Vec<String>),
    Findings(Vec<Finding>),
    Chart(Box<Chart>),
    /// Shown only where there is room: not on a terminal.
    Roomy(Box<Block>),
}

impl Block {
    fn is_empty(&self) -> bool {
        match self {
            Block::Facts(facts) => facts.is_empty(),
            Block::Table(table) | Block::Cards(table) => table.rows().is_empty(),
            Block::Words(text) | Block::Verbatim(text) => text.is_empty(),
            Block::Lines(lines) | Block::Commands(lines) => lines.is_empty(),
            Block::Findings(findings) => findings.is_empty(),
            Block::Chart(_) => false,
            Block::Roomy(block) => block.is_empty(),
        }
    }
}

pub(crate) fn fact(name: &str, value: impl ToString) -> Fact {
    (name.to_owned(), value.to_string())
}

/// The first of many as lines, and how many more there are.
pub(crate) fn listed<T>(all: &[T], most: usize, line: impl Fn(&T) -> String) -> Block {
    let more = all.len().saturating_sub(most);
    let more = (more > 0).then(|| format!("… and {more} more in the JSON document"));
    Block::Lines(all.iter().take(most).map(line).chain(more).collect())
}

/// What went to and from the card, how long that took, and whether the card's data is there again.
pub(crate) fn moved(moved: &Moved) -> String {
    let megabytes = |bytes: u64| format!("{:.1} MB", bytes as f64 / 1e6);
    let restored = match moved.bytes_restored {
        0 => String::new(),
        bytes => format!("restored {}, ", megabytes(bytes)),
    };
    format!(
        "wrote {}, {restored}read {} in {}; data {}.",
        megabytes(moved.bytes_written),
        megabytes(moved.bytes_read),
        duration(moved.seconds),
        if moved.data_kept { "preserved" } else { "not preserved" }
    )
}

/// I/Os that failed.
pub(crate) fn io_errors(io_errors: &[IoError]) -> Block {
    listed(io_errors, 8, |io_error| {
        let IoError { operation, offset, len, errno, reason, recovered } = io_error;
        let again = if *recovered { "the second try succeeded" } else { "twice" };
        format!("{operation} of {len} bytes at {}: {reason} (errno {errno}), {again}", grouped(*offset))
    })
}

/// What speaks against figures: all of them, and those of single tests.
pub(crate) fn caveats<'a>(of_all: &[Caveat], tests: impl Iterator<Item = &'a TestResult>) -> Vec<String> {
    let of_tests = tests.flat_map(|r| {
        let name = test_of(r.name(), r.step.as_deref());
        r.caveats.iter().map(move |c| format!("{name}: {c}"))
    });
    let mut lines: Vec<String> = of_all.iter().map(ToString::to_string).chain(of_tests).collect();
    lines.dedup();
    lines
}

impl Page {
    pub(crate) fn new(title: &str, answer: impl Into<String>) -> Self {
        Page { title: title.to_owned(), answer: answer.into(), ..Page::default() }
    }

    /// Adds a part; empty blocks, and a part of nothing else, leave no trace.
    pub(crate) fn add(&mut self, head: &str, body: impl IntoIterator<Item = Block>) {
        let body: Vec<Block> = body.into_iter().filter(|block| !block.is_empty()).collect();
        if !body.is_empty() {
            self.parts.push(Part { head: head.to_owned(), body });
        }
    }

    /// Adds a part of words and a block; nothing where the block is empty.
    pub(crate) fn add_if(&mut self, head: &str, words: Block, block: Block) {
        if !block.is_empty() {
            self.add(head, [words, block]);
        }
    }

    /// Findings and caveats, those of single tests included.
    pub(crate) fn add_findings<'a>(&mut self, header: &Header, tests: impl Iterator<Item = &'a TestResult>) {
        self.add("Findings", [Block::Findings(header.findings.clone())]);
        self.add("Caveats", caveats(&header.caveats, tests).into_iter().map(|line| Block::Words(line + ".")));
    }

    /// How it ended, and its session.
    pub(crate) fn add_end(&mut self, header: &Header) {
        let error = header.error.iter().map(|error| format!("Ended early: {error}"));
        let session = header.session.iter().map(|id| format!("Archived as session {id}."));
        self.add("", [Block::Lines(error.chain(session).collect())]);
    }

    /// The page of a document with this header as text: the frame below the verb's own parts.
    pub(crate) fn framed(mut self, header: &Header) -> String {
        self.add_findings(header, std::iter::empty());
        self.add_end(header);
        self.text()
    }

    /// The page for a terminal.
    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        let first = [self.title.as_str(), self.answer.as_str()].into_iter().filter(|part| !part.is_empty());
        let first = first.collect::<Vec<_>>().join(": ");
        if !first.is_empty() {
            let _ = writeln!(out, "{first}");
        }
        for Part { head, body } in &self.parts {
            let body: String = body.iter().map(text_of).collect();
            if body.is_empty() {
                continue;
            }
            out += if out.is_empty() { "" } else { "\n" };
            if !head.is_empty() {
                let _ = writeln!(out, "{head}");
            }
            out += &body;
        }
        out
    }
}

/// Characters of a line of tables that are divided, and of a card's name at the head of a column: its number tells it
/// from others.
const CARDS: usize = 108;
const HEAD: usize = 20;

/// Columns of a name, unless one is longer.
const NAME: usize = 24;

fn text_of(block: &Block) -> String {
    match block {
        Block::Facts(facts) => {
            let width = facts.iter().map(|(name, _)| name.chars().count() + 2).fold(NAME, usize::max);
            indented(facts.iter().map(|(name, value)| format!("{name:<width$}{value}")))
        }
        Block::Table(table) => indented(table.to_string().lines()),
        Block::Cards(table) => {
            let parts = table.clone().with_heads_of(HEAD).divided(CARDS);
            parts.iter().map(|part| indented(part.to_string().lines())).collect::<Vec<_>>().join("\n")
        }
        Block::Words(words) => indented(wrapped(words, WIDTH)),
        Block::Lines(lines) => indented(lines),
        Block::Verbatim(text) => text.clone(),
        Block::Commands(commands) => indented(commands.iter().map(|command| format!("  {command}"))),
        Block::Findings(findings) => indented(findings.iter().map(finding_line)),
        Block::Chart(chart) => plot::text(chart),
        Block::Roomy(_) => String::new(),
    }
}

fn indented(lines: impl IntoIterator<Item = impl std::fmt::Display>) -> String {
    lines.into_iter().map(|line| format!("  {line}").trim_end().to_owned() + "\n").collect()
}

/// Columns of a sentence.
const WIDTH: usize = 100;

/// A finding in a line, its weight first.
fn finding_line(finding: &Finding) -> String {
    let weight = match finding.weight {
        Weight::Note => "Note",
        Weight::Hint => "Hint",
        Weight::Bad => "BAD",
    };
    format!("{weight}: {}", sentence(finding))
}

/// What it says, the numbers it rests on, and what to do.
pub(crate) fn sentence(finding: &Finding) -> String {
    let verdict = &finding.verdict;
    let evidence: Vec<String> =
        finding.evidence.iter().map(|(what, value)| format!("{what} {value}")).collect();
    let evidence = if evidence.is_empty() { String::new() } else { format!(" ({})", evidence.join(", ")) };
    let advice = finding.advice.as_ref().map_or(String::new(), |advice| format!(" {advice}"));
    format!("{verdict}{evidence}{advice}")
}
