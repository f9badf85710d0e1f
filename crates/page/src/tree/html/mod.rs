//! HTML renderer: one self-contained file without network access, for phones and print, light and dark. All content is
//! readable without scripts; a small script adds sorting, filtering, values under the pointer and saving of charts.
//!
//! Untrusted text (names, notes, conditions) is escaped by `markup`. The content security policy in the head allows only
//! this script and no connections.

mod bars;
mod figure;

use super::{AnswerReason, NewsTone, Page, PageBlock, PageFact, PageSection};
use crate::markup::{
    PAGE_START, details_html, escape_html, fact_list, list_html, prose_html, remark_list, table_html,
};
use crate::svg;
use cardscope_model::answer::Answer;
use std::fmt::Write;

const PAGE_STYLE: &str = include_str!("page.css");
const PAGE_SCRIPT: &str = include_str!("page.js");

/// Starts the script, which is a module because the browser app imports it too.
const SCRIPT_START: &str = "enhance(document);\n";

/// SHA-256 of script and start in base64, for the content security policy. A test compares it with the script.
const SCRIPT_HASH: &str = "z5FOz8m2dadl2XSu3/YTzs0fUh0esyMtmbZTAKcH9n0=";

/// Longest value, in characters, that is printed large.
const MAX_LARGE_VALUE: usize = 30;

/// Context of a block.
#[derive(Debug, Clone, Copy)]
struct BlockPlace<'a> {
    /// Heading above the block.
    head: &'a str,
    /// Level of the next heading.
    level: u8,
    /// True in a folded section, where charts are small and side by side.
    folded: bool,
}

/// Returns the page as a complete HTML document.
pub fn render_document(page: &Page) -> String {
    let title = if page.title.is_empty() { &*page.answer } else { &page.title };
    // The style sheet prints only the marked sections, if there are any.
    let sheet = if page.sections.iter().any(|part| part.printed) { " class=\"sheet\"" } else { "" };
    let (header, main, footer) = page_parts(page);
    format!(
        "{PAGE_START}<html lang=\"en\">\n{}<body{sheet}>\n<header class=\"{}\">\n{header}</header>\n\
         <main>\n{main}</main>\n<footer>{footer}</footer>\n<script type=\"module\">{PAGE_SCRIPT}{SCRIPT_START}</script>\n</body>\n</html>\n",
        document_head(&escape_html(title)),
        tone_class(page.tone),
    )
}

/// Returns the page as an `<article>` for a host page with its own style, script and policy, such as the browser app.
pub fn render_fragment(page: &Page) -> String {
    let (header, main, footer) = page_parts(page);
    format!(
        "<article class=\"page\">\n<header class=\"{}\">\n{header}</header>\n<div class=\"parts\">\n{main}</div>\n\
         <footer>{footer}</footer>\n</article>\n",
        tone_class(page.tone),
    )
}

/// Content of header, main part and footer.
fn page_parts(page: &Page) -> (String, String, String) {
    let (shut, open): (Vec<&PageSection>, Vec<&PageSection>) =
        page.sections.iter().partition(|part| part.folded);
    let all =
        |parts: Vec<&PageSection>| parts.into_iter().map(|part| section_html(part, 2)).collect::<String>();
    let details = all(shut);
    let details = match details.is_empty() {
        true => details,
        false => format!("<section class=\"details\">\n<h2>Details</h2>\n{details}</section>\n"),
    };
    let answer = answer_html(&page.answer);
    let (of, reasons, figures) =
        (subject_html(page), reasons_html(&page.reasons), figures_html(&page.figures));
    let header = format!("{of}<h1>{answer}</h1>\n{reasons}{figures}");
    (header, format!("{}{}{details}", all(open), next_steps_html(page)), footer_html(page))
}

fn document_head(title: &str) -> String {
    format!(
        "<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title} – Cardscope</title>\n<style>\n{}{PAGE_STYLE}</style>\n</head>\n",
        svg::palette::page_style()
    )
}

fn tone_class(tone: NewsTone) -> &'static str {
    match tone {
        NewsTone::Good => "good",
        NewsTone::Plain => "plain",
        NewsTone::Warning => "open",
        NewsTone::Bad => "bad",
    }
}

/// Title and date above the answer.
fn subject_html(page: &Page) -> String {
    let date =
        page.date.as_ref().map(|date| format!(" <span>{}</span>", escape_html(date))).unwrap_or_default();
    match page.title.is_empty() {
        true => String::new(),
        false => format!("<p class=\"of\">{}{date}</p>\n", escape_html(&page.title)),
    }
}

/// Answer with its verdict emphasized. The punctuation after the verdict is kept for screen readers.
fn answer_html(answer: &Answer) -> String {
    let rest = answer.text_after_verdict();
    let mark = usize::from(rest.starts_with([':', ',']));
    match answer.verdict().filter(|_| mark > 0) {
        Some(verdict) => format!(
            "<span class=\"verdict\">{verdict}</span><span class=\"unseen\">{}</span>{}",
            &rest[..mark],
            prose_html(&rest[mark..])
        ),
        None => prose_html(answer),
    }
}

fn reasons_html(reasons: &[AnswerReason]) -> String {
    let line = |reason: &AnswerReason| {
        format!("<li class=\"{}\">{}</li>\n", tone_class(reason.tone), prose_html(&reason.text))
    };
    let lines: String = reasons.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("<ul class=\"reasons\">\n{lines}</ul>\n") }
}

fn figures_html(figures: &[PageFact]) -> String {
    let tile = |(name, value): &PageFact| {
        let long = if value.chars().count() > MAX_LARGE_VALUE { " class=\"long\"" } else { "" };
        format!("<div{long}><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), prose_html(value))
    };
    let tiles: String = figures.iter().map(tile).collect();
    if tiles.is_empty() { tiles } else { format!("<dl class=\"figures\">\n{tiles}</dl>\n") }
}

fn next_steps_html(page: &Page) -> String {
    let mut out = String::new();
    for step in &page.next {
        let command = step
            .command
            .iter()
            .map(|c| format!("<pre tabindex=\"0\">{}</pre>", escape_html(c)))
            .collect::<String>();
        let _ = writeln!(out, "<li>{}{command}</li>", prose_html(&step.what));
    }
    match out.is_empty() {
        true => out,
        false => format!("<section class=\"next\">\n<h2>Next</h2>\n<ul>\n{out}</ul>\n</section>\n"),
    }
}

/// Version, date and how the test ended.
fn footer_html(page: &Page) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let end: Vec<String> = page.end.iter().map(|line| escape_html(line)).collect();
    let made = match &page.date {
        _ if page.signed => String::new(),
        Some(date) => format!("Tested on {} with Cardscope {version}. ", escape_html(date)),
        None => format!("Made by Cardscope {version}. "),
    };
    made + &end.join(" ")
}

/// A section with an attribute by which the app finds it.
fn section_html(section: &PageSection, level: u8) -> String {
    let place = BlockPlace { head: &section.head, level: level + 1, folded: section.folded };
    let body = blocks_html(&section.blocks, place);
    let print = if section.printed { " print" } else { "" };
    let id = part_attribute(&section.head);
    match (section.folded, section.head.is_empty()) {
        (true, _) => details_html(&section.head, &format!(" class=\"part{print}\"{id}"), &body),
        (false, true) => format!("<section class=\"part{print}\">\n{body}</section>\n"),
        (false, false) => format!(
            "<section class=\"part{print}\"{id}>\n<h{level}>{}</h{level}>\n{body}</section>\n",
            escape_html(&section.head)
        ),
    }
}

/// Attribute made of the letters and digits of a heading: `data-part="iops-of-the-4-kib-tests"`.
fn part_attribute(head: &str) -> String {
    let words = head.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-");
    if name.is_empty() { name } else { format!(" data-part=\"{name}\"") }
}

/// Consecutive charts of a folded section are placed side by side.
fn blocks_html(blocks: &[PageBlock], place: BlockPlace<'_>) -> String {
    let small = |block: &PageBlock| {
        place.folded && matches!(block, PageBlock::Chart(chart) if !figure::is_bar_chart(chart))
    };
    let parts = blocks.chunk_by(|one, other| small(one) && small(other));
    let part = |part: &[PageBlock]| {
        let all: String = part.iter().map(|one| block_html(one, place)).collect();
        match part.first().is_some_and(small) && !all.is_empty() {
            true => format!("<div class=\"pictures\">\n{all}</div>\n"),
            false => all,
        }
    };
    parts.map(part).collect()
}

fn block_html(block: &PageBlock, place: BlockPlace<'_>) -> String {
    match block {
        PageBlock::Facts(all) => fact_list(place.head, all),
        PageBlock::Table(table) => table_html(table),
        PageBlock::Words(words) => format!("<p>{}</p>\n", prose_html(words)),
        PageBlock::Verbatim(text) => format!("<pre tabindex=\"0\">{}</pre>\n", escape_html(text)),
        PageBlock::Lines(lines) => list_html(lines.iter().map(|line| prose_html(line))),
        PageBlock::Commands(lines) => {
            format!("<pre tabindex=\"0\">{}</pre>\n", escape_html(&lines.join("\n")))
        }
        PageBlock::Remarks(all) => remark_list(all),
        PageBlock::Section(part) => section_html(part, place.level.min(6)),
        PageBlock::Picture(picture) => figure::picture_html(picture),
        PageBlock::Chart(chart) => figure::chart_html(chart, place.folded, place.head),
    }
}

#[cfg(test)]
mod tests;
