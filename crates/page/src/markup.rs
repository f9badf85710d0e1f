//! HTML fragments: escaped text, tables, lists of findings. Text of cards and users is untrusted and always escaped.

use crate::specification;
use crate::tree::FindingRemark;
use crate::tree::table::{Table, TableColumn};
use cardscope_model::untrusted_text;
use std::fmt::Write;

/// First lines of every HTML page. They identify a file as a Cardscope page, which a newer one may replace.
pub const PAGE_START: &str = "<!DOCTYPE html>\n<!-- Cardscope page -->\n";

/// A table in a box that scrolls if it is too wide. Cells of a heat map get a shade by their share.
pub(crate) fn table_html(table: &Table) -> String {
    let words = |column: usize| column > 0 && table.columns().get(column).is_some_and(|c| c.words);
    let class = |row: Option<usize>, column: usize| {
        let shade =
            row.and_then(|row| table.heat_share(row, column)).map(|share| format!("s{}", shade_step(share)));
        let words = words(column).then(|| "words".to_owned());
        let all: Vec<String> = words.into_iter().chain(shade).collect();
        if all.is_empty() { String::new() } else { format!(" class=\"{}\"", all.join(" ")) }
    };
    let heads = table.columns().iter().enumerate();
    let head = |(column, one): (usize, &TableColumn)| match one.head.is_empty() {
        true => "<td></td>".to_owned(),
        false => format!("<th scope=\"col\"{}>{}</th>", class(None, column), escape_html(&one.head)),
    };
    let head: String = heads.map(head).collect();
    let mut out =
        format!("<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n");
    for (number, row) in table.rows().iter().enumerate() {
        let cell = |(column, text): (usize, &String)| match column {
            0 => format!("<th scope=\"row\">{}</th>", escape_html(text)),
            _ => format!("<td{}>{}</td>", class(Some(number), column), escape_html(text)),
        };
        let line: String = row.iter().enumerate().map(cell).collect();
        let _ = writeln!(out, "<tr>{line}</tr>");
    }
    out.push_str("</tbody>\n</table></div>\n");
    out
}

/// Shade of a share from 0 to 1, in ten steps. Only the best cell of a row gets the last one.
fn shade_step(share: f64) -> usize {
    if share >= 1.0 { 10 } else { (share.max(0.0) * 10.0) as usize }
}

/// Findings and caveats as a list, each with its evidence and advice.
pub(crate) fn remark_list(remarks: &[FindingRemark]) -> String {
    format!("<ul class=\"findings\">\n{}</ul>\n", remarks.iter().map(remark_item).collect::<String>())
}

fn remark_item(remark: &FindingRemark) -> String {
    let class = remark.weight_word().unwrap_or("caveat");
    let evidence: Vec<String> = remark
        .evidence
        .iter()
        .map(|(what, value)| format!("{}: {}", escape_html(what), escape_html(value)))
        .collect();
    let mut out = format!("<li class=\"{class}\"><b>{}</b>", prose_html(&remark.text));
    if !evidence.is_empty() {
        let _ = write!(out, "<br><small>{}</small>", evidence.join(" · "));
    }
    if let Some(advice) = &remark.advice {
        let _ = write!(out, "<br>{}", prose_html(advice));
    }
    out.push_str("</li>\n");
    out
}

/// A `<details>` element, or an empty text if the body is empty.
pub(crate) fn details_html(summary: &str, attributes: &str, body: &str) -> String {
    if body.is_empty() {
        return String::new();
    }
    format!("<details{attributes}><summary>{}</summary>\n{body}</details>\n", escape_html(summary))
}

/// Names and values as a list, or an empty text. A field gets the section of its specification as a tooltip.
pub(crate) fn fact_list(head: &str, facts: &[(String, String)]) -> String {
    let title =
        |name: &str| specification::field_citation(head, name).map(|place| format!(" title=\"{place}\""));
    let row = |(name, value): &(String, String)| {
        let title = title(name).unwrap_or_default();
        format!("<dt{title}>{}</dt><dd>{}</dd>\n", escape_html(name), prose_html(value))
    };
    let rows: String = facts.iter().map(row).collect();
    if rows.is_empty() { rows } else { format!("<dl>\n{rows}</dl>\n") }
}

/// Lines of HTML as a list, or an empty text.
pub(crate) fn list_html(lines: impl IntoIterator<Item = String>) -> String {
    let lines: String = lines.into_iter().map(|line| format!("<li>{line}</li>\n")).collect();
    if lines.is_empty() { lines } else { format!("<ul>\n{lines}</ul>\n") }
}

/// Running text. Text between backticks becomes code; elsewhere numbers are glued to their units.
pub(crate) fn prose_html(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        // An odd number of backticks has no closing one, so the text holds no code.
        return glue_numbers(&escape_html(text));
    }
    let part = |(number, part): (usize, &&str)| match number.is_multiple_of(2) {
        true => glue_numbers(&escape_html(part)),
        false => format!("<code>{}</code>", escape_html(part)),
    };
    parts.iter().enumerate().map(part).collect()
}

/// Replaces the blank after each digit by a non-breaking one.
fn glue_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    for c in text.chars() {
        out.push(if c == ' ' && before.is_ascii_digit() { '\u{a0}' } else { c });
        before = c;
    }
    out
}

/// Escapes untrusted text for HTML content and attributes.
pub(crate) fn escape_html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in untrusted_text::escape_page(text).chars() {
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
    fn prose_glues_units_and_keeps_code_verbatim() {
        assert_eq!(prose_html("load 10 GB: 13.3 s <b>"), "load 10\u{a0}GB: 13.3\u{a0}s &lt;b&gt;");
        assert_eq!(prose_html("give `check --runs 3 X`, twice"), "give <code>check --runs 3 X</code>, twice");
        assert_eq!(prose_html("a card named ` 1 x"), "a card named ` 1\u{a0}x");
    }
}
