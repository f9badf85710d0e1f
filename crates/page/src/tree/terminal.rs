//! Terminal renderer: a page as lines of styled spans, which the caller colours or prints as plain text.

use super::layout::{filled, tables, width};
use super::table::Table;
use super::{NewsTone, Page, PageBlock, PageFact, PageSection, PageStep};
use crate::figure::wrapped;
use crate::plot;
use std::fmt::Write;

/// Terminal properties that affect the layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScreenOptions {
    /// Width of a line.
    pub columns: usize,
    /// True if folded sections are printed as well.
    pub details: bool,
}

/// Meaning of a span, from which the caller chooses its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SpanStyle {
    /// Body text.
    #[default]
    Plain,
    /// Heading or command.
    Strong,
    /// Secondary text: column heads, ids.
    Dim,
    /// Good or bad news.
    News(NewsTone),
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LineSpan {
    /// Text that may be untrusted; the caller removes control characters.
    pub text: String,
    pub style: SpanStyle,
}

pub type StyledLine = Vec<LineSpan>;

/// Blanks before the content of a section.
const INDENT_COLUMNS: usize = 2;

/// Least width of the names of facts.
const MIN_NAME_COLUMNS: usize = 16;

pub fn lines(page: &Page, screen: &ScreenOptions) -> Vec<StyledLine> {
    let mut out = LineBuilder { columns: screen.columns.max(40), lines: Vec::new() };
    out.wrapped("", &page.answer, SpanStyle::News(page.tone));
    for reason in &page.reasons {
        out.push_marked("  • ", SpanStyle::News(reason.tone), &reason.text, SpanStyle::Plain);
    }
    if !page.figures.is_empty() {
        out.push_blank();
        out.facts(&page.figures);
    }
    let (details, first): (Vec<&PageSection>, Vec<&PageSection>) =
        page.sections.iter().partition(|s| s.folded);
    first.into_iter().for_each(|section| out.section(section));
    out.steps(&page.next);
    if screen.details {
        details.iter().for_each(|section| out.section(section));
    }
    out.push_end(page, if screen.details { &[] } else { &details });
    out.lines
}

pub fn text(page: &Page, screen: &ScreenOptions) -> String {
    let mut out = String::new();
    for line in lines(page, screen) {
        let line: String = line.into_iter().map(|span| span.text).collect();
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

impl Page {
    /// The page without colours, 80 columns wide, with all details.
    pub fn text(&self) -> String {
        text(self, &ScreenOptions { columns: 80, details: true })
    }
}

struct LineBuilder {
    columns: usize,
    lines: Vec<StyledLine>,
}

impl LineBuilder {
    fn push_blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(Vec::new());
        }
    }

    fn line(&mut self, text: &str, style: SpanStyle) {
        self.lines.push(vec![LineSpan { text: text.to_owned(), style }]);
    }

    /// Wraps a text, with `before` in front of its first line and blanks in front of the others.
    fn wrapped(&mut self, before: &str, text: &str, style: SpanStyle) {
        self.push_marked(before, SpanStyle::Plain, text, style);
    }

    /// The same with a style for the mark.
    fn push_marked(&mut self, mark: &str, mark_style: SpanStyle, text: &str, style: SpanStyle) {
        let room = self.columns.saturating_sub(width(mark));
        for (number, line) in wrapped(text, room).into_iter().enumerate() {
            let mark = if number == 0 { mark.to_owned() } else { " ".repeat(width(mark)) };
            self.lines.push(vec![LineSpan { text: mark, style: mark_style }, LineSpan { text: line, style }]);
        }
    }

    fn section(&mut self, section: &PageSection) {
        let mut body = LineBuilder { columns: self.columns, lines: Vec::new() };
        section.blocks.iter().for_each(|block| body.block(block));
        if body.lines.is_empty() {
            return;
        }
        self.push_blank();
        if !section.head.is_empty() {
            self.line(&section.head, SpanStyle::Strong);
        }
        self.lines.append(&mut body.lines);
    }

    fn block(&mut self, block: &PageBlock) {
        let indent = " ".repeat(INDENT_COLUMNS);
        match block {
            PageBlock::Facts(facts) => self.facts(facts),
            PageBlock::Table(table) => self.table(table),
            PageBlock::Words(words) => self.wrapped(&indent, words, SpanStyle::Plain),
            PageBlock::Lines(lines) => {
                lines.iter().for_each(|line| self.wrapped(&indent, line, SpanStyle::Plain))
            }
            PageBlock::Verbatim(text) => {
                text.lines().for_each(|line| self.line(&spaced(line), SpanStyle::Plain))
            }
            PageBlock::Commands(commands) => {
                commands.iter().for_each(|command| self.line(&format!("    {command}"), SpanStyle::Strong));
            }
            PageBlock::Remarks(remarks) => {
                for remark in remarks {
                    let mark = remark.word().map_or_else(|| "  • ".to_owned(), |word| format!("  {word}: "));
                    let style = match remark.word() {
                        Some("bad") => SpanStyle::News(NewsTone::Bad),
                        Some("hint") => SpanStyle::News(NewsTone::Warning),
                        _ => SpanStyle::Dim,
                    };
                    self.push_marked(&mark, style, &remark.words(), SpanStyle::Plain);
                }
            }
            PageBlock::Chart(chart) => {
                self.push_blank();
                plot::text(chart).lines().for_each(|line| self.line(line, SpanStyle::Plain));
            }
            PageBlock::Picture(picture) => {
                self.wrapped(&indent, &format!("picture: {}", picture.caption), SpanStyle::Plain);
            }
            PageBlock::Section(section) => self.section(section),
        }
    }

    fn facts(&mut self, facts: &[PageFact]) {
        let name = facts.iter().map(|(name, _)| width(name)).fold(MIN_NAME_COLUMNS, usize::max);
        // A name longer than this gets its own line, so that values keep half of the screen.
        let name = name.min(self.columns / 2 - INDENT_COLUMNS);
        for (label, value) in facts {
            let indent = " ".repeat(INDENT_COLUMNS);
            let beside = if width(label) > name { "" } else { label };
            if beside.is_empty() {
                self.wrapped(&indent, label, SpanStyle::Dim);
            }
            let mark = format!("{indent}{}  ", filled(beside, name, true));
            self.push_marked(&mark, SpanStyle::Dim, value, SpanStyle::Plain);
        }
    }

    fn table(&mut self, table: &Table) {
        let indent = " ".repeat(INDENT_COLUMNS);
        for (number, laid) in tables(table, self.columns - INDENT_COLUMNS).into_iter().enumerate() {
            if number > 0 {
                self.push_blank();
            }
            for (number, line) in laid.lines.iter().enumerate() {
                let style = if number < laid.heads { SpanStyle::Dim } else { SpanStyle::Plain };
                self.line(&format!("{indent}{line}"), style);
            }
            if !laid.left_out.is_empty() {
                let more = format!("(a wider terminal also shows: {})", laid.left_out.join("; "));
                self.wrapped(&indent, &more, SpanStyle::Dim);
            }
        }
    }

    fn steps(&mut self, steps: &[PageStep]) {
        if steps.is_empty() {
            return;
        }
        self.push_blank();
        self.line("Next", SpanStyle::Strong);
        for step in steps {
            self.wrapped("  ", &step.what, SpanStyle::Plain);
            step.command.iter().for_each(|command| self.line(&format!("    {command}"), SpanStyle::Strong));
        }
    }

    /// Adds the closing lines and the headings that `--details` would show.
    fn push_end(&mut self, page: &Page, hidden: &[&PageSection]) {
        let heads: Vec<&str> =
            hidden.iter().map(|section| section.head.as_str()).filter(|h| !h.is_empty()).collect();
        let more = (!heads.is_empty()).then(|| format!("More with --details: {}.", heads.join("; ")));
        let known = page.end.iter().cloned();
        let all: Vec<String> = known.chain(more).collect();
        if !all.is_empty() && !self.lines.is_empty() {
            self.push_blank();
        }
        all.iter().for_each(|line| self.wrapped("", line, SpanStyle::Dim));
    }
}

/// Expands tabs to stops of eight columns, because the program's output filter replaces control characters.
pub fn spaced(line: &str) -> String {
    line.chars().fold(String::new(), |mut out, character| {
        match character {
            '\t' => out.extend(std::iter::repeat_n(' ', TAB_COLUMNS - width(&out) % TAB_COLUMNS)),
            other => out.push(other),
        }
        out
    })
}

const TAB_COLUMNS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tabs_are_expanded_to_stops() {
        let line = "align 4096\tpre 741µs\ton 1.08ms\tdiff 317µs";
        assert_eq!(spaced(line), "align 4096      pre 741µs       on 1.08ms       diff 317µs");
        assert_eq!(spaced("12345678\tx"), "12345678        x");
        assert_eq!(spaced("\tx"), "        x");
    }
}
