//! Terminal renderer: a page as lines of styled spans, which the caller colours or prints as plain text.

use super::layout::{display_width, lay_out_table_parts, pad_text};
use super::table::Table;
use super::{NewsTone, Page, PageBlock, PageFact, PageSection, PageStep};
use crate::figure::wrap_text;
use crate::text_chart;
use cardscope_model::finding::FindingWeight;
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
    Message(NewsTone),
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

pub fn render_lines(page: &Page, screen: &ScreenOptions) -> Vec<StyledLine> {
    let mut out = LineBuilder { columns: screen.columns.max(40), lines: Vec::new() };
    out.push_wrapped("", &page.answer, SpanStyle::Message(page.tone));
    for reason in &page.reasons {
        out.push_marked("  • ", SpanStyle::Message(reason.tone), &reason.text, SpanStyle::Plain);
    }
    if !page.figures.is_empty() {
        out.push_blank();
        out.push_facts(&page.figures);
    }
    let (details, open): (Vec<&PageSection>, Vec<_>) = page.sections.iter().partition(|s| s.folded);
    open.into_iter().for_each(|section| out.push_section_lines(section));
    out.push_steps(&page.next);
    if screen.details {
        details.iter().for_each(|section| out.push_section_lines(section));
    }
    out.push_end(page, if screen.details { &[] } else { &details });
    out.lines
}

pub fn render_text(page: &Page, screen: &ScreenOptions) -> String {
    let mut out = String::new();
    for line in render_lines(page, screen) {
        let line: String = line.into_iter().map(|span| span.text).collect();
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

impl Page {
    /// The page without colours, 80 columns wide, with all details.
    pub fn to_text(&self) -> String {
        render_text(self, &ScreenOptions { columns: 80, details: true })
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

    fn push_line(&mut self, text: &str, style: SpanStyle) {
        self.lines.push(vec![LineSpan { text: text.to_owned(), style }]);
    }

    fn push_command(&mut self, command: &str) {
        self.push_line(&format!("    {command}"), SpanStyle::Strong);
    }

    /// Wraps a text, with `before` in front of its first line and blanks in front of the others.
    fn push_wrapped(&mut self, before: &str, text: &str, style: SpanStyle) {
        self.push_marked(before, SpanStyle::Plain, text, style);
    }

    /// Appends a marked line, with a style of its own for the mark.
    fn push_marked(&mut self, mark: &str, mark_style: SpanStyle, text: &str, style: SpanStyle) {
        let room = self.columns.saturating_sub(display_width(mark));
        for (number, line) in wrap_text(text, room).into_iter().enumerate() {
            let mark = if number == 0 { mark.to_owned() } else { " ".repeat(display_width(mark)) };
            self.lines.push(vec![LineSpan { text: mark, style: mark_style }, LineSpan { text: line, style }]);
        }
    }

    fn push_section_lines(&mut self, section: &PageSection) {
        let mut body = LineBuilder { columns: self.columns, lines: Vec::new() };
        section.blocks.iter().for_each(|block| body.push_block(block));
        if body.lines.is_empty() {
            return;
        }
        self.push_blank();
        if !section.head.is_empty() {
            self.push_line(&section.head, SpanStyle::Strong);
        }
        self.lines.append(&mut body.lines);
    }

    fn push_block(&mut self, block: &PageBlock) {
        let indent = " ".repeat(INDENT_COLUMNS);
        match block {
            PageBlock::Facts(facts) => self.push_facts(facts),
            PageBlock::Table(table) => self.push_table(table),
            PageBlock::Words(words) => self.push_wrapped(&indent, words, SpanStyle::Plain),
            PageBlock::Lines(all) => all.iter().for_each(|l| self.push_wrapped(&indent, l, SpanStyle::Plain)),
            PageBlock::Verbatim(text) => {
                text.lines().for_each(|line| self.push_line(&expand_tabs(line), SpanStyle::Plain))
            }
            PageBlock::Commands(commands) => commands.iter().for_each(|command| self.push_command(command)),
            PageBlock::Remarks(remarks) => {
                for remark in remarks {
                    let mark = remark.weight_word().map(|word| format!("  {word}: "));
                    let mark = mark.unwrap_or_else(|| "  • ".to_owned());
                    let style = match remark.weight {
                        Some(FindingWeight::Bad) => SpanStyle::Message(NewsTone::Bad),
                        Some(FindingWeight::Hint) => SpanStyle::Message(NewsTone::Warning),
                        _ => SpanStyle::Dim,
                    };
                    self.push_marked(&mark, style, &remark.full_text(), SpanStyle::Plain);
                }
            }
            PageBlock::Chart(chart) => {
                self.push_blank();
                let text = text_chart::render_text_chart(chart);
                text.lines().for_each(|line| self.push_line(line, SpanStyle::Plain));
            }
            PageBlock::Picture(picture) => {
                self.push_wrapped(&indent, &format!("picture: {}", picture.caption), SpanStyle::Plain);
            }
            PageBlock::Section(section) => self.push_section_lines(section),
        }
    }

    fn push_facts(&mut self, facts: &[PageFact]) {
        let name = facts.iter().map(|(name, _)| display_width(name)).fold(MIN_NAME_COLUMNS, usize::max);
        // A name longer than this gets its own line, so that values keep half of the screen.
        let name = name.min(self.columns / 2 - INDENT_COLUMNS);
        for (label, value) in facts {
            let indent = " ".repeat(INDENT_COLUMNS);
            let beside = if display_width(label) > name { "" } else { label };
            if beside.is_empty() {
                self.push_wrapped(&indent, label, SpanStyle::Dim);
            }
            let mark = format!("{indent}{}  ", pad_text(beside, name, true));
            self.push_marked(&mark, SpanStyle::Dim, value, SpanStyle::Plain);
        }
    }

    fn push_table(&mut self, table: &Table) {
        let indent = " ".repeat(INDENT_COLUMNS);
        for (number, laid) in
            lay_out_table_parts(table, self.columns - INDENT_COLUMNS).into_iter().enumerate()
        {
            if number > 0 {
                self.push_blank();
            }
            for (number, line) in laid.lines.iter().enumerate() {
                let style = if number < laid.heads { SpanStyle::Dim } else { SpanStyle::Plain };
                self.push_line(&format!("{indent}{line}"), style);
            }
            if !laid.dropped_heads.is_empty() {
                let more = format!("(a wider terminal also shows: {})", laid.dropped_heads.join("; "));
                self.push_wrapped(&indent, &more, SpanStyle::Dim);
            }
        }
    }

    fn push_steps(&mut self, steps: &[PageStep]) {
        if steps.is_empty() {
            return;
        }
        self.push_blank();
        self.push_line("Next", SpanStyle::Strong);
        for step in steps {
            self.push_wrapped("  ", &step.what, SpanStyle::Plain);
            step.command.iter().for_each(|command| self.push_command(command));
        }
    }

    /// Adds the closing lines and the headings that `--details` would show.
    fn push_end(&mut self, page: &Page, hidden: &[&PageSection]) {
        let heads = hidden.iter().map(|section| section.head.as_str()).filter(|head| !head.is_empty());
        let heads: Vec<&str> = heads.collect();
        let more = (!heads.is_empty()).then(|| format!("More with --details: {}.", heads.join("; ")));
        let all: Vec<String> = page.end.iter().cloned().chain(more).collect();
        if !all.is_empty() {
            self.push_blank();
        }
        all.iter().for_each(|line| self.push_wrapped("", line, SpanStyle::Dim));
    }
}

/// Expands tabs to stops of eight columns, because the program's output filter replaces control characters.
pub fn expand_tabs(line: &str) -> String {
    line.chars().fold(String::new(), |mut out, character| {
        match character {
            '\t' => out.extend(std::iter::repeat_n(' ', TAB_COLUMNS - display_width(&out) % TAB_COLUMNS)),
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
        assert_eq!(expand_tabs(line), "align 4096      pre 741µs       on 1.08ms       diff 317µs");
        assert_eq!(expand_tabs("12345678\tx"), "12345678        x");
        assert_eq!(expand_tabs("\tx"), "        x");
    }
}
