//! A page in lines for a terminal: plain text in spans, each with what it is, which whoever prints them turns into
//! colours or not.

use super::layout::{filled, tables, width};
use super::table::Table;
use super::{Block, Fact, Page, Section, Step, Tone};
use crate::figure::wrapped;
use crate::plot;
use std::fmt::Write;

/// What a page is shown on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Screen {
    /// Columns of a line.
    pub columns: usize,
    /// Whether details are shown, too.
    pub details: bool,
}

/// What a span of a line is, for its colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Style {
    /// Text.
    #[default]
    Plain,
    /// A head, a command to type.
    Strong,
    /// What is in the background: names of columns, ids.
    Dim,
    /// News of a tone.
    News(Tone),
}

/// Part of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Span {
    /// The text; it may be a stranger's.
    pub text: String,
    /// What it is.
    pub style: Style,
}

/// A line.
pub type Line = Vec<Span>;

/// Blanks before what stands below a head.
const INDENT: usize = 2;

/// Columns of a name, unless one is longer.
const NAME: usize = 16;

/// The page in lines.
pub fn lines(page: &Page, screen: &Screen) -> Vec<Line> {
    let mut out = Lines { columns: screen.columns.max(40), lines: Vec::new() };
    out.wrapped("", &page.answer, Style::News(page.tone));
    for reason in &page.reasons {
        out.marked("  • ", Style::News(reason.tone), &reason.text, Style::Plain);
    }
    if !page.figures.is_empty() {
        out.blank();
        out.facts(&page.figures);
    }
    let (details, first): (Vec<&Section>, Vec<&Section>) = page.sections.iter().partition(|s| s.folded);
    first.into_iter().for_each(|section| out.section(section));
    out.steps(&page.next);
    if screen.details {
        details.iter().for_each(|section| out.section(section));
    }
    out.end(page, if screen.details { &[] } else { &details });
    out.lines
}

/// The page as text without colours.
pub fn text(page: &Page, screen: &Screen) -> String {
    let mut out = String::new();
    for line in lines(page, screen) {
        let line: String = line.into_iter().map(|span| span.text).collect();
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out
}

impl Page {
    /// The page as text without colours, as wide as a terminal of 80 columns, with all details.
    pub fn text(&self) -> String {
        text(self, &Screen { columns: 80, details: true })
    }
}

/// Lines that are being made.
struct Lines {
    columns: usize,
    lines: Vec<Line>,
}

impl Lines {
    fn blank(&mut self) {
        if self.lines.last().is_some_and(|line| !line.is_empty()) {
            self.lines.push(Vec::new());
        }
    }

    fn line(&mut self, text: &str, style: Style) {
        self.lines.push(vec![Span { text: text.to_owned(), style }]);
    }

    /// A text in as many lines as it takes, each with the same blanks before it.
    fn wrapped(&mut self, before: &str, text: &str, style: Style) {
        self.marked(before, Style::Plain, text, style);
    }

    /// A text in as many lines as it takes, behind a mark; its other lines begin below its first word.
    fn marked(&mut self, mark: &str, mark_style: Style, text: &str, style: Style) {
        let room = self.columns.saturating_sub(width(mark));
        for (number, line) in wrapped(text, room).into_iter().enumerate() {
            let mark = if number == 0 { mark.to_owned() } else { " ".repeat(width(mark)) };
            self.lines.push(vec![Span { text: mark, style: mark_style }, Span { text: line, style }]);
        }
    }

    fn section(&mut self, section: &Section) {
        let mut body = Lines { columns: self.columns, lines: Vec::new() };
        section.blocks.iter().for_each(|block| body.block(block));
        if body.lines.is_empty() {
            return;
        }
        self.blank();
        if !section.head.is_empty() {
            self.line(&section.head, Style::Strong);
        }
        self.lines.append(&mut body.lines);
    }

    fn block(&mut self, block: &Block) {
        let indent = " ".repeat(INDENT);
        match block {
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table),
            Block::Words(words) => self.wrapped(&indent, words, Style::Plain),
            Block::Lines(lines) => lines.iter().for_each(|line| self.wrapped(&indent, line, Style::Plain)),
            Block::Verbatim(text) => text.lines().for_each(|line| self.line(&spaced(line), Style::Plain)),
            Block::Commands(commands) => {
                commands.iter().for_each(|command| self.line(&format!("    {command}"), Style::Strong));
            }
            Block::Remarks(remarks) => {
                for remark in remarks {
                    let mark = remark.word().map_or_else(|| "  • ".to_owned(), |word| format!("  {word}: "));
                    let style = match remark.word() {
                        Some("bad") => Style::News(Tone::Bad),
                        Some("hint") => Style::News(Tone::Warning),
                        _ => Style::Dim,
                    };
                    self.marked(&mark, style, &remark.words(), Style::Plain);
                }
            }
            Block::Chart(chart) => {
                self.blank();
                plot::text(chart).lines().for_each(|line| self.line(line, Style::Plain));
            }
            Block::Picture(picture) => {
                self.wrapped(&indent, &format!("picture: {}", picture.caption), Style::Plain);
            }
            Block::Section(section) => self.section(section),
        }
    }

    fn facts(&mut self, facts: &[Fact]) {
        let name = facts.iter().map(|(name, _)| width(name)).fold(NAME, usize::max);
        // A long name takes a line, so that values keep half of the screen.
        let name = name.min(self.columns / 2 - INDENT);
        for (label, value) in facts {
            let indent = " ".repeat(INDENT);
            let beside = if width(label) > name { "" } else { label };
            if beside.is_empty() {
                self.wrapped(&indent, label, Style::Dim);
            }
            let mark = format!("{indent}{}  ", filled(beside, name, true));
            self.marked(&mark, Style::Dim, value, Style::Plain);
        }
    }

    fn table(&mut self, table: &Table) {
        let indent = " ".repeat(INDENT);
        for (number, laid) in tables(table, self.columns - INDENT).into_iter().enumerate() {
            if number > 0 {
                self.blank();
            }
            for (number, line) in laid.lines.iter().enumerate() {
                let style = if number < laid.heads { Style::Dim } else { Style::Plain };
                self.line(&format!("{indent}{line}"), style);
            }
            if !laid.left_out.is_empty() {
                let more = format!("(a wider terminal also shows: {})", laid.left_out.join("; "));
                self.wrapped(&indent, &more, Style::Dim);
            }
        }
    }

    fn steps(&mut self, steps: &[Step]) {
        if steps.is_empty() {
            return;
        }
        self.blank();
        self.line("Next", Style::Strong);
        for step in steps {
            self.wrapped("  ", &step.what, Style::Plain);
            step.command.iter().for_each(|command| self.line(&format!("    {command}"), Style::Strong));
        }
    }

    /// How it ended, and what there is more to see.
    fn end(&mut self, page: &Page, hidden: &[&Section]) {
        let heads: Vec<&str> =
            hidden.iter().map(|section| section.head.as_str()).filter(|h| !h.is_empty()).collect();
        let more = (!heads.is_empty()).then(|| format!("More with --details: {}.", heads.join("; ")));
        let known = page.end.iter().cloned();
        let all: Vec<String> = known.chain(more).collect();
        if !all.is_empty() && !self.lines.is_empty() {
            self.blank();
        }
        all.iter().for_each(|line| self.wrapped("", line, Style::Dim));
    }
}

/// A line with blanks up to the next stop of eight columns for its tabs, which what leaves the program would name
/// instead of showing.
fn spaced(line: &str) -> String {
    line.chars().fold(String::new(), |mut out, character| {
        match character {
            '\t' => out.extend(std::iter::repeat_n(' ', TAB - width(&out) % TAB)),
            other => out.push(other),
        }
        out
    })
}

/// Columns from one stop to the next.
const TAB: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::How;
    use crate::sample;
    use cardscope_model::job::{JOBS, Job};
    use cardscope_model::recipe::{ExplainedRecipe, RECIPES};
    use proptest::prelude::*;

    fn job(name: &str) -> Job {
        cardscope_model::job::find(name).unwrap()
    }

    fn recipe(name: &str) -> ExplainedRecipe {
        let text = RECIPES.find(name).unwrap();
        cardscope_model::recipe::parse(text, None).unwrap().explained()
    }

    /// A page of each kind of document.
    fn pages() -> Vec<Page> {
        let of_files = RECIPES.names().map(|name| crate::recipes::page(&recipe(name)));
        let of_files = of_files.chain(JOBS.names().map(|name| crate::jobs::page(&job(name))));
        let pages = vec![
            crate::recipes::list(&RECIPES.names().map(recipe).collect::<Vec<_>>()),
            crate::jobs::list(&JOBS.names().map(job).collect::<Vec<_>>()),
            crate::observe::page(&sample::watch()),
            crate::import::page(&sample::dry_run()),
            crate::comparison::page(&sample::comparison(2, 3, 4), How::default()),
            crate::comparison::page(&sample::comparison(20, 10, 12), How::default()),
            crate::ranking::page(&sample::ranking(12)),
            crate::card_map::page(&sample::map()),
            crate::sustain::page(&sample::long_run()),
        ];
        of_files.chain(pages).collect()
    }

    /// Whether an answer is one sentence of 80 columns, which begins with a capital, a number or a name.
    fn is_one_sentence(answer: &str) -> bool {
        let named = answer.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
        let begins = answer.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit()) || named;
        begins && width(answer) <= 80 && answer.ends_with(['.', '!', '?', '…'])
    }

    #[test]
    fn tables_of_other_tools_keep_their_columns() {
        let line = "align 4096\tpre 741µs\ton 1.08ms\tdiff 317µs";
        assert_eq!(spaced(line), "align 4096      pre 741µs       on 1.08ms       diff 317µs");
        assert_eq!(spaced("12345678\tx"), "12345678        x");
        assert_eq!(spaced("\tx"), "        x");
    }

    #[test]
    fn every_answer_is_one_sentence() {
        for page in pages() {
            assert!(is_one_sentence(&page.answer), "{:?}", page.answer);
        }
        assert!(!is_one_sentence("not a sentence.") && !is_one_sentence("No stop"));
    }

    /// What may be wider than a screen: charts, which have a width of their own, and what is typed or copied.
    fn keeps_its_width(page: &Page, line: &str) -> bool {
        fn within(blocks: &[Block], line: &str) -> bool {
            blocks.iter().any(|block| match block {
                Block::Commands(commands) => commands.iter().any(|command| line.trim() == command),
                Block::Verbatim(text) => text.lines().any(|other| spaced(other) == line),
                Block::Chart(chart) => plot::text(chart).lines().any(|other| other == line),
                Block::Section(section) => within(&section.blocks, line),
                _ => false,
            })
        }
        let typed = page.next.iter().filter_map(|step| step.command.as_ref());
        page.sections.iter().any(|section| within(&section.blocks, line))
            || typed.into_iter().any(|command| line.trim() == command)
    }

    #[test]
    fn the_first_line_is_the_answer_and_no_more_than_five_reasons_follow() {
        for page in pages() {
            let first = lines(&page, &Screen { columns: 80, details: false }).remove(0);
            let first: String = first.into_iter().map(|span| span.text).collect();
            assert_eq!(first, page.answer, "the answer takes one line of 80 columns");
            assert!(page.reasons.len() <= 5 && !page.answer.is_empty());
        }
    }

    #[test]
    fn details_show_where_they_are_asked_for_and_are_named_where_not() {
        let page = crate::sustain::page(&sample::long_run());
        let first = text(&page, &Screen { columns: 80, details: false });
        let all = text(&page, &Screen { columns: 80, details: true });
        assert!(first.contains("More with --details: ") && !all.contains("More with --details"), "{first}");
        assert!(all.lines().count() > first.lines().count());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn an_answer_is_one_sentence_whatever_a_file_is_called(title in "[A-Za-z(]{1,12}( [a-zA-Z0-9µ日:.]{1,12}){0,20}") {
            let mut recipe = recipe("quick");
            let mut job = job("pi-boot");
            recipe.title.clone_from(&title);
            job.title.clone_from(&title);
            for answer in [crate::recipes::page(&recipe).answer, crate::jobs::page(&job).answer] {
                prop_assert!(is_one_sentence(&answer), "{answer:?}");
            }
        }

        #[test]
        fn no_line_is_wider_than_the_screen(columns in 60usize..200, details: bool, name in "([a-z0-9/=日]{1,10} ){0,12}") {
            let name = name.trim_end().to_owned();
            let mut all = pages();
            let mut named = sample::comparison(3, 2, 2);
            named.entries[0].name = name.clone();
            all.push(crate::comparison::page(&named, How::default()));
            let mut page = Page::new(&name, Tone::Bad, format!("{name} {name}"));
            page.because(Tone::Bad, name.clone());
            page.figures = vec![super::super::fact(&name, &name)];
            page.step(name.clone(), Some(name.clone()));
            all.push(page);
            for page in all {
                for line in text(&page, &Screen { columns, details }).lines() {
                    prop_assert!(width(line) <= columns || keeps_its_width(&page, line), "{columns}: {line:?}");
                }
            }
        }
    }
}
