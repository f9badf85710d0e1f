//! The page as one HTML file: no network, no script, readable on a phone, printable, light and dark.

use super::page::{Body, News, Page, Part};
use crate::svg;
use crate::table::Table;
use cardscope_model::finding::{Finding, Weight};
use std::fmt::Write;

/// How every page begins: by this a page of ours is known again, and may be replaced by a newer one.
pub const HEAD: &str = "<!DOCTYPE html>\n<!-- Cardscope page -->\n";

const STYLE: &str = include_str!("page.css");

pub(super) fn document(page: &Page) -> String {
    let title = escaped(&page.title);
    let news = match page.news {
        News::Good => "good",
        News::Open => "open",
        News::Bad => "bad",
    };
    let parts: String = page.parts.iter().map(part).collect();
    format!(
        "{HEAD}<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} – Cardscope</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         <header class=\"{news}\">\n<h1>{title}</h1>\n<p>{}</p>\n</header>\n<main>\n{parts}</main>\n\
         <footer>Made by Cardscope {}</footer>\n</body>\n</html>\n",
        prose(&page.headline),
        env!("CARGO_PKG_VERSION"),
    )
}

fn part(part: &Part) -> String {
    let body: String = part.body.iter().map(body).collect();
    format!("<section>\n<h2>{}</h2>\n{body}</section>\n", escaped(&part.head))
}

fn body(body: &Body) -> String {
    match body {
        Body::Facts(facts) => {
            let rows: String = facts
                .iter()
                .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), prose(value)))
                .collect();
            format!("<dl>\n{rows}</dl>\n")
        }
        Body::Table(table) => grid(table),
        Body::Words(words) | Body::Aside(words) => format!("<p>{}</p>\n", prose(words)),
        Body::Commands(commands) => format!("<pre>{}</pre>\n", escaped(&commands.join("\n"))),
        Body::Findings(findings) => {
            format!("<ul>\n{}</ul>\n", findings.iter().map(finding).collect::<String>())
        }
        Body::Picture(picture) => format!("<figure>{}</figure>\n", svg::svg(picture)),
    }
}

fn grid(table: &Table) -> String {
    let cells = |cells: &[String], tag: &str| -> String {
        cells.iter().map(|c| format!("<{tag}>{}</{tag}>", escaped(c))).collect()
    };
    let mut out = format!("<div class=\"wide\"><table>\n<tr>{}</tr>\n", cells(table.head(), "th"));
    for row in table.rows() {
        let _ = writeln!(out, "<tr>{}</tr>", cells(row, "td"));
    }
    out.push_str("</table></div>\n");
    out
}

fn finding(finding: &Finding) -> String {
    let class = match finding.weight {
        Weight::Note => "note",
        Weight::Hint => "hint",
        Weight::Bad => "bad",
    };
    let evidence: Vec<String> = finding
        .evidence
        .iter()
        .map(|(what, value)| format!("{}: {}", escaped(what), escaped(value)))
        .collect();
    let mut out = format!("<li class=\"{class}\"><b>{}</b>", prose(&finding.verdict));
    if !evidence.is_empty() {
        let _ = write!(out, "<br><small>{}</small>", evidence.join(" · "));
    }
    if let Some(advice) = &finding.advice {
        let _ = write!(out, "<br>{}", prose(advice));
    }
    out.push_str("</li>\n");
    out
}

/// Running text: what stands between backticks is typed as it is, and elsewhere a number stays with what follows it.
fn prose(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // One backtick has no other one.
        return glued(&escaped(text));
    }
    let part = |(number, part): (usize, &&str)| match number.is_multiple_of(2) {
        true => glued(&escaped(part)),
        false => format!("<code>{}</code>", escaped(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// No line ends between a number and its unit, or within a grouped number.
fn glued(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        out.push(if c == ' ' && before.is_ascii_digit() { '\u{a0}' } else { c });
        before = c;
    }
    out
}

/// Text that may stand anywhere in HTML; what a card says of itself is a stranger's text.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() && c != '\n' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit_and_what_is_to_be_typed_stays_as_it_is() {
        assert_eq!(prose("load 10 GB: 13.3 s <b>"), "load 10\u{a0}GB: 13.3\u{a0}s &lt;b&gt;");
        assert_eq!(prose("give `check --runs 3 X`, twice"), "give <code>check --runs 3 X</code>, twice");
        assert_eq!(prose("a card named ` 1 x"), "a card named ` 1\u{a0}x");
    }
}
