//! Markdown renderer, for forges, wikis and blogs.

use super::table::Table;
use super::{NewsTone, Page, PageBlock, PageFact, PageSection};
use cardscope_model::untrusted_text;
use std::fmt::Write;

/// Longest column head, in characters.
const MAX_HEAD: usize = 40;

pub fn render_markdown(page: &Page) -> String {
    let mut out = match page.title.is_empty() {
        true => format!("# {}\n", escape_text(&page.answer)),
        false => format!("# {}\n\n**{}**\n", escape_text(&page.title), escape_text(&page.answer)),
    };
    let reasons = page.reasons.iter().map(|reason| match reason.tone {
        NewsTone::Bad => format!("**{}**", escape_text(&reason.text)),
        _ => escape_text(&reason.text),
    });
    out += &list_markdown(reasons);
    out += &block_markdown(&PageBlock::Facts(page.figures.clone()), 2);
    out += &page.sections.iter().map(|part| render_section(part, 2)).collect::<String>();
    if !page.next.is_empty() {
        out += "\n## Next\n";
    }
    for step in &page.next {
        let _ = write!(out, "\n{}\n", escape_text(&step.what));
        out += &block_markdown(&PageBlock::Commands(step.command.iter().cloned().collect()), 2);
    }
    if !page.end.is_empty() {
        let end: Vec<String> = page.end.iter().map(|line| escape_text(line)).collect();
        let _ = write!(out, "\n{}\n", end.join("  \n"));
    }
    out
}

/// A section below a heading of the given level, or its blocks alone if it has no head.
pub fn render_section(section: &PageSection, level: usize) -> String {
    let body: String = section.blocks.iter().map(|part| block_markdown(part, level)).collect();
    if body.is_empty() || section.head.is_empty() {
        return body;
    }
    format!("\n{} {}\n{body}", "#".repeat(level.min(6)), escape_text(&section.head))
}

/// Names and values as a list.
pub fn render_facts(facts: &[PageFact]) -> String {
    let fact = |(name, value): &PageFact| format!("**{}**: {}", escape_text(name), escape_text(value));
    list_markdown(facts.iter().map(fact))
}

fn list_markdown(lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("- {line}\n")).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

fn block_markdown(block: &PageBlock, level: usize) -> String {
    if block.is_empty() {
        return String::new();
    }
    match block {
        PageBlock::Table(table) => table_markdown(table),
        PageBlock::Words(words) => format!("\n{}\n", escape_text(words)),
        PageBlock::Lines(lines) => list_markdown(lines.iter().map(|line| escape_text(line))),
        PageBlock::Facts(all) => render_facts(all),
        PageBlock::Remarks(remarks) => list_markdown(remarks.iter().map(|remark| {
            let word = remark.weight_word().map(|word| format!("**{word}**: ")).unwrap_or_default();
            format!("{word}{}", escape_text(&remark.full_text()))
        })),
        PageBlock::Commands(lines) => {
            let lines = lines.iter().map(|line| untrusted_text::escape_line(line));
            fenced_block(&lines.collect::<Vec<_>>().join("\n"))
        }
        PageBlock::Verbatim(text) => fenced_block(untrusted_text::escape_page(text).trim_end()),
        PageBlock::Section(part) => render_section(part, level + 1),
        PageBlock::Chart(_) | PageBlock::Picture(_) => String::new(),
    }
}

/// Fenced text. The fence is longer than any run of backticks in the text, so the text cannot close it.
fn fenced_block(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}\n{text}\n{fence}\n")
}

/// Escapes a text for Markdown, embedded HTML and Hugo's shortcodes. Text between backticks stays code.
pub fn escape_text(text: &str) -> String {
    let text = untrusted_text::escape_line(text);
    let parts: Vec<&str> = text.split('`').collect();
    let closed = !parts.len().is_multiple_of(2);
    let part = |(number, part): (usize, &&str)| match closed && !number.is_multiple_of(2) {
        // Hugo expands shortcodes even inside code.
        true if part.contains("{{") || part.is_empty() => escape_marks(&format!("`{part}`")),
        true => format!("`{part}`"),
        false if closed || number == 0 => escape_marks(part),
        false => escape_marks(&format!("`{part}")),
    };
    parts.iter().enumerate().map(part).collect()
}

fn escape_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '$' | '{' | '}' => out.extend(['\\', c]),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            c => out.push(c),
        }
    }
    out
}

/// A table with numbers aligned to the right.
fn table_markdown(table: &Table) -> String {
    // A pipe ends a cell even inside code. Pipes that are escaped already must not be escaped twice.
    let cell = |cell: &str| escape_text(cell).replace('|', "\\|").replace("\\\\|", "\\|");
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let heads = table.columns().iter().map(|column| cell(&shorten_head(&column.head)));
    let rules = table.columns().iter().map(|column| if column.words { "---" } else { "---:" }.to_owned());
    let rows = table.rows().iter().map(|row| line(row.iter().map(|text| cell(text)).collect()));
    format!("\n{}{}{}", line(heads.collect()), line(rules.collect()), rows.collect::<String>())
}

fn shorten_head(head: &str) -> String {
    match head.chars().count() > MAX_HEAD {
        true => format!("{}…", head.chars().take(MAX_HEAD - 1).collect::<String>().trim_end()),
        false => head.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_longer_than_backticks_in_the_text() {
        let commands = |line: &str| block_markdown(&PageBlock::Commands(vec![line.to_owned()]), 2);
        assert_eq!(commands("check x"), "\n```\ncheck x\n```\n");
        let hostile = commands("check '````\n# x'");
        assert!(hostile.starts_with("\n`````\n") && hostile.lines().count() == 4, "{hostile}");
    }

    #[test]
    fn code_is_kept_and_markdown_is_escaped() {
        assert_eq!(escape_text("run `a_b --c`, *now*"), "run `a_b --c`, \\*now\\*");
        assert_eq!(escape_text("one ` alone_"), "one \\` alone\\_");
        assert_eq!(escape_text("`{{<x>}}`"), "\\`\\{\\{&lt;x&gt;\\}\\}\\`");
    }
}
