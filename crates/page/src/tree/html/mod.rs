//! HTML renderer: one self-contained file without network access, for phones and print, light and dark. All content is
//! readable without scripts; a small script adds sorting, filtering, values under the pointer and saving of charts.
//!
//! Untrusted text (names, notes, conditions) is escaped by `markup`. The content security policy in the head allows only
//! this script and no connections.

mod bars;

use super::{AnswerReason, NewsTone, Page, PageBlock, PageFact, PageSection, PageStep};
use crate::chart::{Chart, ChartKind};
use crate::markup::{
    PAGE_START, details_html, enclose, escape_html, fact_list, list_html, prose_html, remark_list, table_html,
};
use crate::svg::{self, SvgMedium};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cardscope_model::answer::Answer;
use cardscope_model::publication::CardPicture;

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
    let sections = |folded: bool| {
        let parts = page.sections.iter().filter(|part| part.folded == folded);
        parts.map(|part| section_html(part, 2)).collect::<String>()
    };
    let (open, next) = (sections(false), next_steps_html(page));
    let details = enclose("<section class=\"details\">\n<h2>Details</h2>\n", sections(true), "</section>\n");
    let (of, answer) = (subject_html(page), answer_html(&page.answer));
    let (reasons, figures) = (reasons_html(&page.reasons), figures_html(&page.figures));
    let header = format!("{of}<h1>{answer}</h1>\n{reasons}{figures}");
    (header, format!("{open}{next}{details}"), footer_html(page))
}

fn document_head(title: &str) -> String {
    format!(
        "<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         img-src data:; script-src 'sha256-{SCRIPT_HASH}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title} – Cardscope</title>\n<style>\n{}{PAGE_STYLE}</style>\n</head>\n",
        svg::palette::themed_style(":root")
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
    let date = page.date.as_ref().map(|date| format!(" <span>{}</span>", escape_html(date)));
    let end = format!("{}</p>\n", date.unwrap_or_default());
    enclose("<p class=\"of\">", escape_html(&page.title), &end)
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
    enclose("<ul class=\"reasons\">\n", reasons.iter().map(line).collect(), "</ul>\n")
}

fn figures_html(figures: &[PageFact]) -> String {
    let tile = |(name, value): &PageFact| {
        let long = if value.chars().count() > MAX_LARGE_VALUE { " class=\"long\"" } else { "" };
        format!("<div{long}><dt>{}</dt><dd>{}</dd></div>\n", escape_html(name), prose_html(value))
    };
    enclose("<dl class=\"figures\">\n", figures.iter().map(tile).collect(), "</dl>\n")
}

fn next_steps_html(page: &Page) -> String {
    let step = |step: &PageStep| {
        let command = step.command.as_ref().map(|command| command_html(command)).unwrap_or_default();
        format!("<li>{}{command}</li>\n", prose_html(&step.what))
    };
    let steps = page.next.iter().map(step).collect();
    enclose("<section class=\"next\">\n<h2>Next</h2>\n<ul>\n", steps, "</ul>\n</section>\n")
}

fn command_html(text: &str) -> String {
    format!("<pre tabindex=\"0\">{}</pre>", escape_html(text))
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
        (true, _) => details_html(&section.head, &format!(" class=\"part{print}\"{id}"), body),
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
    enclose(" data-part=\"", words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-"), "\"")
}

/// Consecutive charts of a folded section are placed side by side.
fn blocks_html(blocks: &[PageBlock], place: BlockPlace<'_>) -> String {
    let small =
        |block: &PageBlock| place.folded && matches!(block, PageBlock::Chart(chart) if !is_bar_chart(chart));
    let parts = blocks.chunk_by(|one, other| small(one) && small(other));
    let part = |part: &[PageBlock]| {
        let all: String = part.iter().map(|one| block_html(one, place)).collect();
        match part.first().is_some_and(small) {
            true => enclose("<div class=\"pictures\">\n", all, "</div>\n"),
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
        PageBlock::Verbatim(text) => command_html(text) + "\n",
        PageBlock::Lines(lines) => list_html(lines.iter().map(|line| prose_html(line))),
        PageBlock::Commands(lines) => command_html(&lines.join("\n")) + "\n",
        PageBlock::Remarks(all) => remark_list(all),
        PageBlock::Section(part) => section_html(part, place.level.min(6)),
        PageBlock::Picture(picture) => picture_html(picture),
        PageBlock::Chart(chart) => chart_html(chart, place.folded, place.head),
    }
}

fn is_bar_chart(chart: &Chart) -> bool {
    matches!(chart.kind, ChartKind::Bars(_))
}

/// A chart in its frame, or an empty text. It is drawn twice, for wide windows and for phones, because scaled text would
/// be too small; folded sections use the narrow one. A title that repeats the heading is for screen readers only.
fn chart_html(chart: &Chart, small: bool, head: &str) -> String {
    let picture = |medium, class: &str| {
        svg::render_svg(chart, medium).replacen("class=\"chart\"", &format!("class=\"chart{class}\""), 1)
    };
    let drawn = match &chart.kind {
        ChartKind::Bars(bars) => bars::bars_html(bars),
        _ if small => picture(SvgMedium::Narrow, ""),
        _ => picture(SvgMedium::Wide, " wide-one") + &picture(SvgMedium::Narrow, " narrow"),
    };
    if drawn.is_empty() {
        return drawn;
    }
    let caption = prose_html(&chart.caption.joined_parts());
    let caption = enclose("<p class=\"caption\">", caption, "</p>\n");
    let numbers = chart.csv().map(|csv| format!(" data-csv=\"{}\"", escape_html(&csv))).unwrap_or_default();
    let kind = if is_bar_chart(chart) { "" } else { " picture" };
    let title = escape_html(&chart.title);
    let title = if chart.title == head { format!("<span class=\"unseen\">{title}</span>") } else { title };
    format!(
        "<figure class=\"drawn{kind}\"{numbers}>\n<figcaption>{title}</figcaption>\n{drawn}{caption}</figure>\n"
    )
}

/// Photograph or screenshot, embedded as base64.
fn picture_html(picture: &CardPicture) -> String {
    let caption = escape_html(&picture.caption);
    let image = format!("data:{};base64,{}", picture.media_type, STANDARD.encode(&picture.bytes));
    let image = format!("<img src=\"{image}\" alt=\"{caption}\">");
    format!("<figure class=\"photograph\">{image}<figcaption>{caption}</figcaption></figure>\n")
}

#[cfg(test)]
mod tests;
