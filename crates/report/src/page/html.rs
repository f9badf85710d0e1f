//! A result page as one HTML file: no network, readable on a phone, printable, light and dark.

use super::{Block, Fact, Page, Picture, Section, Tone};
use crate::markup::{HEAD, escaped, facts, folded, grid, prose, remarks};
use crate::svg::{self, Medium};
use std::fmt::Write;

const STYLE: &str = include_str!("page.css");

/// The page of a document.
pub fn document(page: &Page) -> String {
    let title = if page.title.is_empty() { escaped(&page.answer) } else { escaped(&page.title) };
    let (shut, open): (Vec<&Section>, Vec<&Section>) = page.sections.iter().partition(|part| part.folded);
    let parts: String = open.into_iter().map(|part| section(part, 2)).collect();
    let details: String =
        shut.into_iter().map(|part| folded(&part.head, false, &body(&part.blocks, 2))).collect();
    format!(
        "{HEAD}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} – Cardscope</title>\n<style>\n{}{STYLE}</style>\n</head>\n<body>\n\
         <header class=\"{}\">\n<p class=\"of\">{}</p>\n<h1>{}</h1>\n{}{}</header>\n<main>\n{parts}{}{details}</main>\n\
         <footer>{}Made by Cardscope {}</footer>\n</body>\n</html>\n",
        svg::palette::page(),
        class(page.tone),
        escaped(&page.title),
        prose(&page.answer),
        reasons(page),
        figures(&page.figures),
        next(page),
        page.end.iter().map(|line| format!("{} ", escaped(line))).collect::<String>(),
        env!("CARGO_PKG_VERSION"),
    )
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Good => "good",
        Tone::Plain => "plain",
        Tone::Warning => "open",
        Tone::Bad => "bad",
    }
}

fn reasons(page: &Page) -> String {
    let line = |reason: &super::Reason| {
        format!("<li class=\"{}\">{}</li>\n", class(reason.tone), prose(&reason.text))
    };
    let lines: String = page.reasons.iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("<ul class=\"reasons\">\n{lines}</ul>\n") }
}

fn figures(figures: &[Fact]) -> String {
    let tile =
        |(name, value): &Fact| format!("<div><dt>{}</dt><dd>{}</dd></div>\n", escaped(name), prose(value));
    let tiles: String = figures.iter().map(tile).collect();
    if tiles.is_empty() { tiles } else { format!("<dl class=\"figures\">\n{tiles}</dl>\n") }
}

fn next(page: &Page) -> String {
    let mut out = String::new();
    for step in &page.next {
        let _ = writeln!(out, "<p>{}</p>", prose(&step.what));
        out += &step.command.iter().map(|c| format!("<pre>{}</pre>\n", escaped(c))).collect::<String>();
    }
    if out.is_empty() { out } else { format!("<section>\n<h2>Next</h2>\n{out}</section>\n") }
}

fn section(section: &Section, level: u8) -> String {
    let body = body(&section.blocks, level);
    match (section.folded, section.head.is_empty()) {
        (true, _) => folded(&section.head, false, &body),
        (false, true) => format!("<section>\n{body}</section>\n"),
        (false, false) => {
            format!("<section>\n<h{level}>{}</h{level}>\n{body}</section>\n", escaped(&section.head))
        }
    }
}

fn body(blocks: &[Block], level: u8) -> String {
    blocks.iter().map(|part| block(part, level)).collect()
}

fn block(block: &Block, level: u8) -> String {
    match block {
        Block::Facts(all) => facts(all.iter().map(|(name, value)| (name, value))),
        Block::Table(table) => grid(table),
        Block::Words(words) => format!("<p>{}</p>\n", prose(words)),
        Block::Verbatim(text) => format!("<pre>{}</pre>\n", escaped(text)),
        Block::Lines(lines) => {
            let lines: String = lines.iter().map(|line| format!("<li>{}</li>\n", prose(line))).collect();
            format!("<ul>\n{lines}</ul>\n")
        }
        Block::Commands(lines) => format!("<pre>{}</pre>\n", escaped(&lines.join("\n"))),
        Block::Remarks(all) => remarks(all),
        Block::Section(part) => section(part, level + 1),
        Block::Picture(picture) => photograph(picture),
        Block::Chart(chart) => match svg::of(chart, Medium::Page) {
            drawn if drawn.is_empty() => drawn,
            drawn => format!("<figure><figcaption>{}</figcaption>{drawn}</figure>\n", escaped(&chart.title)),
        },
    }
}

fn photograph(picture: &Picture) -> String {
    let _ = picture;
    String::new()
}
