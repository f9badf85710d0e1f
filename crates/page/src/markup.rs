//! HTML fragments: escaped text, tables, lists of findings. Text of cards and users is untrusted and always escaped.

use crate::tree::FindingRemark;
use crate::tree::table::{Table, TableColumn};
use cardscope_model::untrusted_text;
use std::fmt::Write;

/// First lines of every HTML page. They identify a file as a Cardscope page, which a newer one may replace.
pub const PAGE_START: &str = "<!DOCTYPE html>\n<!-- Cardscope page -->\n";

/// A table in a box that scrolls if it is too wide. Cells of a heat map get a shade by their share.
pub(crate) fn table_html(table: &Table) -> String {
    let class = |row: Option<usize>, column: usize| {
        let share = row.and_then(|row| table.heat_share(row, column));
        let words = column > 0 && table.columns().get(column).is_some_and(|c| c.words);
        let words = words.then(|| "words".to_owned());
        let all = words.into_iter().chain(share.map(|share| format!("s{}", shade_step(share))));
        enclose(" class=\"", all.collect::<Vec<_>>().join(" "), "\"")
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
    let evidence = remark.evidence.iter();
    let evidence = evidence.map(|(what, value)| format!("{}: {}", escape_html(what), escape_html(value)));
    let evidence = enclose("<br><small>", evidence.collect::<Vec<_>>().join(" · "), "</small>");
    let advice = remark.advice.as_ref().map(|advice| format!("<br>{}", prose_html(advice)));
    let (text, advice) = (prose_html(&remark.text), advice.unwrap_or_default());
    format!("<li class=\"{class}\"><b>{text}</b>{evidence}{advice}</li>\n")
}

/// A `<details>` element, or an empty text if the body is empty.
pub(crate) fn details_html(summary: &str, attributes: &str, body: String) -> String {
    let head = format!("<details{attributes}><summary>{}</summary>\n", escape_html(summary));
    enclose(&head, body, "</details>\n")
}

/// A text between two others, or an empty text.
pub(crate) fn enclose(before: &str, text: String, after: &str) -> String {
    if text.is_empty() { text } else { format!("{before}{text}{after}") }
}

/// Names and values as a list, or an empty text. A field gets the section of its specification as a tooltip.
pub(crate) fn fact_list(head: &str, facts: &[(String, String)]) -> String {
    let row = |(name, value): &(String, String)| {
        let title = field_citation(head, name).map(|place| format!(" title=\"{place}\""));
        let title = title.unwrap_or_default();
        format!("<dt{title}>{}</dt><dd>{}</dd>\n", escape_html(name), prose_html(value))
    };
    enclose("<dl>\n", facts.iter().map(row).collect(), "</dl>\n")
}

/// Lines of HTML as a list, or an empty text.
pub(crate) fn list_html(lines: impl IntoIterator<Item = String>) -> String {
    enclose("<ul>\n", lines.into_iter().map(|line| format!("<li>{line}</li>\n")).collect(), "</ul>\n")
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

/// Citations of specifications for the registers that a card reports, shown as tooltips of their fields: heading, label
/// (empty: any other label of that heading) and citation. PLS is the SD Association's Physical Layer Simplified
/// Specification, version 9.10 (docs/reference/sd.md); NVMe the NVM Express Base Specification, revision 2.0
/// (docs/reference/linux.md).
const CITATIONS: &[(&str, &str, &str)] = &[
    ("Card (CID)", "", "PLS 5.2, table 5-2"),
    ("Card-specific data (CSD)", "structure", "PLS 5.3.1"),
    ("Card-specific data (CSD)", "command classes (CCC)", "PLS 4.7.3, CCC in 5.3.2"),
    ("Card-specific data (CSD)", "clock after reset", "PLS 5.3.2, TRAN_SPEED"),
    ("Card-specific data (CSD)", "erase unit", "PLS 5.3.2, SECTOR_SIZE and WRITE_BL_LEN"),
    ("Card-specific data (CSD)", "checksum (CRC7)", "PLS 4.5 and 5.3.2, CRC"),
    ("Card-specific data (CSD)", "", "PLS 5.3.2 to 5.3.4"),
    ("Configuration (SCR)", "", "PLS 5.6"),
    ("SD status (SSR)", "speed class", "PLS 4.10.2, SPEED_CLASS; 4.13.1"),
    ("SD status (SSR)", "UHS speed grade", "PLS 4.10.2, UHS_SPEED_GRADE; 4.13.3"),
    ("SD status (SSR)", "video speed class", "PLS 4.10.2, VIDEO_SPEED_CLASS; 4.13.4"),
    ("SD status (SSR)", "application class", "PLS 4.10.2, APP_PERF_CLASS; 4.16"),
    ("SD status (SSR)", "", "PLS 4.10.2, table 4-44"),
    ("Operating conditions (OCR)", "", "PLS 5.1"),
    ("NVMe", "threshold (TMPTH)", "NVMe 5.27.1.3, Temperature Threshold"),
    ("NVMe", "throttles from (TMT1)", "NVMe 5.27.1.13, Host Controlled Thermal Management"),
    ("NVMe", "throttles hard (TMT2)", "NVMe 5.27.1.13, Host Controlled Thermal Management"),
    ("NVMe", "model", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "serial", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "firmware", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "NVMe version", "NVMe 5.17.2.1, Identify Controller"),
    ("NVMe", "warning temperature", "NVMe 5.17.2.1, WCTEMP"),
    ("NVMe", "critical temperature", "NVMe 5.17.2.1, CCTEMP"),
    ("NVMe", "", "NVMe 5.16.1.3, SMART / Health Information"),
];

/// Section of the specification that defines a field.
pub(crate) fn field_citation(head: &str, label: &str) -> Option<&'static str> {
    let under = || CITATIONS.iter().filter(|(heading, ..)| *heading == head);
    let own = under().find(|(_, of, _)| *of == label);
    own.or_else(|| under().find(|(_, of, _)| of.is_empty())).map(|(.., place)| *place)
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

    #[test]
    fn unknown_labels_have_no_citation() {
        assert_eq!(field_citation("Bus", "mode"), None);
    }
}
