//! A log in another encoding, with other line ends, colours or decimals is read like the original.

use super::{Example, corpus};
use cardscope_import::readers::{LogText, read_logs};
use cardscope_model::log::CardLog;
use cardscope_model::run::TestFigure;

/// Formats whose numbers never have decimal commas, and the reason.
const WITHOUT_COMMAS: [(&str, &str); 9] = [
    ("plotly-page", "JSON: a comma divides values"),
    ("fio-json", "JSON: a comma divides values"),
    ("nvme", "a comma divides thousands"),
    ("mfst", "a comma divides cells"),
    ("bonnie++", "a comma divides cells"),
    ("figures", "a comma divides cells, unless semicolons do"),
    ("lspci", "it prints no decimals, and the points in its addresses are no decimals"),
    ("flashbench", "it prints in C's own locale, and its files hold commas for other ends"),
    ("fio-text", "it prints in C's own locale, and a comma ends a value"),
];

/// Undamaged files of the corpus as text.
fn clean() -> Vec<(Example, String)> {
    let whole = corpus().into_iter().filter(|example| !example.is_damaged());
    whole
        .map(|example| (LogText::decode(&example.bytes).body().to_owned(), example))
        .map(|(t, e)| (e, t))
        .collect()
}

fn logs(bytes: &[u8], example: &Example) -> Vec<CardLog> {
    read_logs(bytes).unwrap_or_else(|error| panic!("{}: {error}", example.place()))
}

/// Asserts that a variant of every file is read like its plain text.
fn same(variant: fn(&str) -> Vec<u8>) {
    for (example, text) in clean() {
        assert_eq!(logs(&variant(&text), &example), logs(text.as_bytes(), &example), "{}", example.place());
    }
}

pub(super) fn utf16(text: &str, little: bool) -> Vec<u8> {
    let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    ['\u{feff}'.to_string().as_str(), text].concat().encode_utf16().flat_map(unit).collect()
}

/// Terminal colours around every line and before its last word.
pub(super) fn coloured(text: &str) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((start, end)) => format!("\x1b[1;32m{start} \x1b[0;33m{end}\x1b[0m\n"),
        None => format!("\x1b[K{line}\x1b(B\n"),
    };
    text.lines().map(line).collect()
}

/// Decimals with commas. A number with several points is a version, an address or a date.
pub(super) fn with_commas(text: &str) -> String {
    let of_number = |c: char| c.is_ascii_digit() || c == '.';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(of_number) {
        let length = rest[start..].find(|c| !of_number(c)).unwrap_or(rest.len() - start);
        let number = &rest[start..start + length];
        let decimal = number.matches('.').count() == 1 && !number.starts_with('.') && !number.ends_with('.');
        out.push_str(&rest[..start]);
        out.push_str(&if decimal { number.replace('.', ",") } else { number.to_owned() });
        rest = &rest[start + length..];
    }
    out.push_str(rest);
    out
}

#[test]
fn windows_line_ends_are_read_alike() {
    same(|text| text.replace('\n', "\r\n").into_bytes());
}

#[test]
fn old_mac_line_ends_are_read_alike() {
    same(|text| text.replace('\n', "\r").into_bytes());
}

#[test]
fn utf16_of_both_byte_orders_is_read_alike() {
    same(|text| utf16(text, true));
    same(|text| utf16(text, false));
}

#[test]
fn utf8_byte_order_mark_is_ignored() {
    same(|text| [b"\xef\xbb\xbf", text.as_bytes()].concat());
}

#[test]
fn terminal_colours_are_ignored() {
    same(|text| coloured(text).into_bytes());
}

/// Figures alone, since a version next to them may have had a point.
fn figures(logs: &[CardLog]) -> Vec<&TestFigure> {
    logs.iter().flat_map(|log| &log.runs).flat_map(|run| &run.results).collect()
}

#[test]
fn decimal_commas_are_read_alike() {
    let with = |(example, _): &(Example, String)| {
        WITHOUT_COMMAS.iter().all(|(format, _)| *format != example.format.name) && example.name != "json"
    };
    let mut changed = 0;
    for (example, text) in clean().iter().filter(|both| with(both)) {
        let commas = with_commas(text);
        changed += usize::from(commas != *text);
        let (plain, commas) = (logs(text.as_bytes(), example), logs(commas.as_bytes(), example));
        assert_eq!(figures(&commas), figures(&plain), "{}", example.place());
    }
    assert!(changed > 20, "{changed} files have decimals");
}
