//! Pieces of HTML: text that may stand anywhere, tables, findings. What a card or its owner says is a stranger's text.

use crate::page::Remark;
use crate::page::table::Table;
use cardscope_model::outside;
use std::fmt::Write;

/// How every page begins: by this a page of ours is known again, and may be replaced by a newer one.
pub const HEAD: &str = "<!DOCTYPE html>\n<!-- Cardscope page -->\n";

/// A table in a box that scrolls by itself where it is too wide.
pub(crate) fn grid(table: &Table) -> String {
    let cell = |(column, text): (usize, &String), tag: &str| {
        let words = column > 0 && table.columns().get(column).is_some_and(|column| column.words);
        format!("<{tag}{}>{}</{tag}>", if words { " class=\"words\"" } else { "" }, escaped(text))
    };
    let heads = table.columns().iter().map(|column| &column.head).enumerate();
    let head: String = heads.map(|c| cell(c, "th")).collect();
    let mut out =
        format!("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n");
    for row in table.rows() {
        let cells = row.iter().enumerate();
        let line: String = cells.map(|c| cell(c, if c.0 == 0 { "th" } else { "td" })).collect();
        let _ = writeln!(out, "<tr>{line}</tr>");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

/// Findings and caveats as a list, each with what it rests on.
pub(crate) fn remarks(remarks: &[Remark]) -> String {
    format!("<ul class=\"findings\">\n{}</ul>\n", remarks.iter().map(remark).collect::<String>())
}

fn remark(remark: &Remark) -> String {
    let class = remark.word().unwrap_or("caveat");
    let evidence: Vec<String> = remark
        .evidence
        .iter()
        .map(|(what, value)| format!("{}: {}", escaped(what), escaped(value)))
        .collect();
    let mut out = format!("<li class=\"{class}\"><b>{}</b>", prose(&remark.text));
    if !evidence.is_empty() {
        let _ = write!(out, "<br><small>{}</small>", evidence.join(" · "));
    }
    if let Some(advice) = &remark.advice {
        let _ = write!(out, "<br>{}", prose(advice));
    }
    out.push_str("</li>\n");
    out
}

/// The line below a chart that says how to read it.
pub(crate) fn figcaption(text: &str) -> String {
    format!("<p class=\"caption\">{}</p>\n", prose(text))
}

/// Conclusions under a heading of a level; nothing where there are none.
pub(crate) fn concluded(level: u8, head: &str, all: &[Remark]) -> String {
    if all.is_empty() {
        return String::new();
    }
    format!("<h{level}>{head}</h{level}>\n{}", remarks(all))
}

/// What can be unfolded, open where it says so; nothing where it is empty.
pub(crate) fn folded(summary: &str, open: bool, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    let open = if open { " open" } else { "" };
    format!("<details{open}><summary>{}</summary>\n{body}</details>\n", escaped(summary))
}

/// Names and values as a list; nothing where there are none.
pub(crate) fn facts<N: AsRef<str>, V: AsRef<str>>(facts: impl IntoIterator<Item = (N, V)>) -> String {
    let row = |(name, value): (N, V)| {
        format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name.as_ref()), prose(value.as_ref()))
    };
    let rows: String = facts.into_iter().map(row).collect();
    if rows.is_empty() { rows } else { format!("<dl>\n{rows}</dl>\n") }
}

/// Lines of HTML as a list; nothing where there are none.
pub(crate) fn list(lines: impl IntoIterator<Item = String>) -> String {
    let lines: String = lines.into_iter().map(|line| format!("<li>{line}</li>\n")).collect();
    if lines.is_empty() { lines } else { format!("<ul>\n{lines}</ul>\n") }
}

/// Running text: what stands between backticks is typed as it is, and elsewhere a number stays with what follows it.
pub(crate) fn prose(text: &str) -> String {
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
    for c in outside::page(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
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
