//! Number formatting: significant digits, fitting units, word wrap. A value that is not a number becomes a dash.

use cardscope_model::condition::Condition;
use cardscope_model::test_name::TestName;
use cardscope_model::units::EXPONENT_FROM;
pub use cardscope_model::units::{NO_NUMBER as NONE, decimal_places, three_digits as speed};
use unicode_width::UnicodeWidthStr;

/// Formats a share from 0 to 1. Only a full share is written as `100 %`; anything below is at most `99.9 %`.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        v if !v.is_finite() => NONE.to_owned(),
        v if v >= 100.0 => "100 %".to_owned(),
        v => format!("{} %", without_trailing_zeros(v.min(99.9), 1)),
    }
}

/// Formats microseconds in µs, ms or s.
pub fn time_us(us: f64) -> String {
    match us {
        v if !v.is_finite() => NONE.to_owned(),
        v if v >= 999_500.0 => format!("{} s", speed(v / 1e6)),
        v if v >= 999.5 => format!("{} ms", speed(v / 1e3)),
        v => format!("{} µs", speed(v)),
    }
}

/// Formats seconds as `1 h 02 min`, `3 min 05 s`, `4.2 s` or `12 ms`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    match whole {
        _ if !seconds.is_finite() => NONE.to_owned(),
        s if s >= 3600 => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
        s if s >= 60 => format!("{} min {:02} s", s / 60, s % 60),
        _ if (1e-3..0.05).contains(&seconds) => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.1} s"),
    }
}

/// Formats a number as another tool printed it, with at most three decimals.
pub fn format_printed(value: f64) -> String {
    match value {
        v if !v.is_finite() => NONE.to_owned(),
        v if v.abs() >= EXPONENT_FROM => format!("{v:.3e}"),
        v => without_trailing_zeros(v, 3),
    }
}

/// Formats a number with at most `decimals` decimals, without trailing zeros.
pub fn without_trailing_zeros(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// Both ends of an interval in the same format: `310 … 498`.
pub fn interval_text([low, high]: [f64; 2], write: impl Fn(f64) -> String) -> String {
    format!("{} … {}", write(low), write(high))
}

/// A count with its noun: `1 run`, `3 runs`.
pub fn pluralize(n: impl Into<u64>, noun: &str) -> String {
    let n = n.into();
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// Joins names as in a sentence: `U3`, `U3 and V30`, `C10, U3 and V30`.
pub fn join_names<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

/// Capitalizes the first letter and appends a full stop if the text has no final punctuation.
pub fn to_sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|first| first.to_uppercase().collect()).unwrap_or_default();
    let end = if text.ends_with(['.', '!', '?', ':']) { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

/// Cuts an answer after a word, so that it fits a line of 80 columns, and ends it with a full stop or an ellipsis.
pub fn answer_line(text: &str) -> String {
    let stopped = if text.ends_with(['.', '!', '?']) { text.to_owned() } else { format!("{text}.") };
    match &wrap_text(&stopped, ANSWER_COLUMNS)[..] {
        [] | [_] => stopped,
        [first, ..] => format!("{}…", wrap_text(first, ANSWER_COLUMNS - 1).first().unwrap_or(first)),
    }
}

pub const ANSWER_COLUMNS: usize = 80;

/// Units that are not separated from their number by a line break.
const GLUED_UNITS: [&str; 14] =
    ["%", "bytes", "kB", "KiB", "MB", "MiB", "GB", "GiB", "TB", "MB/s", "IOPS", "s", "ms", "min"];

/// Splits a text into words. A number is one word with its unit and its groups of three digits.
pub(crate) fn unbreakable_words(text: &str) -> Vec<String> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut words: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        let unit = GLUED_UNITS.contains(&word.trim_end_matches(['.', ',', ';', ':', ')']));
        let group = word.get(..3).is_some_and(digits) && !word[3..].starts_with(char::is_alphanumeric);
        let glued = |last: &str| {
            let digit_group = |part: &str| part.len() <= 3 && digits(part);
            unit && last.ends_with(|c: char| c.is_ascii_digit())
                || group && last.rsplit(' ').next().is_some_and(digit_group)
        };
        match words.last_mut().filter(|last| glued(last)) {
            Some(last) => last.extend([" ", word]),
            None => words.push(word.to_owned()),
        }
    }
    words
}

/// Wraps a text at `columns` columns. A word that is longer keeps a line for itself.
pub fn wrap_text(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in unbreakable_words(text) {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => line.extend([" ", &word]),
            _ => lines.push(word),
        }
    }
    lines
}

/// Name of a test, followed by its step where a recipe runs the test twice.
pub fn test_with_step(test: TestName, step: Option<&str>) -> String {
    step.map_or_else(|| test.to_string(), |step| format!("{test} ({step})"))
}

/// A condition in one line: `cooling active · reader slot`.
pub fn condition_line(condition: &Condition) -> String {
    let words = condition.iter().map(|(word, value)| format!("{} {value}", word.replace('_', " ")));
    words.collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_significant_digits() {
        assert_eq!([speed(1.2345), speed(20.4), speed(834.2)], ["1.23", "20.4", "834"]);
        assert_eq!([time_us(47.2), time_us(1335.9), time_us(2.5e6)], ["47.2 µs", "1.34 ms", "2.50 s"]);
        assert_eq!([duration(4.2), duration(185.0), duration(3720.0)], ["4.2 s", "3 min 05 s", "1 h 02 min"]);
        assert_eq!(
            [format_printed(404.0), format_printed(4.7), format_printed(1.0 / 3.0)],
            ["404", "4.7", "0.333"]
        );
    }

    #[test]
    fn wrapping_keeps_numbers_whole_and_cuts_answers_after_a_word() {
        assert_eq!(
            unbreakable_words("of 16 012 804 096 bytes, 12 in 300"),
            ["of", "16 012 804 096 bytes,", "12", "in", "300"]
        );
        assert_eq!(wrap_text("holds 16 012 804 096 bytes", 12), ["holds", "16 012 804 096 bytes"]);
        assert_eq!(answer_line("KDiskMark Default"), "KDiskMark Default.");
        let long = answer_line(&"a word ".repeat(20));
        assert!(long.width() <= 80 && long.ends_with('…'), "{long}");
        assert_eq!(answer_line(&"x".repeat(90)).width(), 91, "a name without a blank stays whole");
    }

    #[test]
    fn non_finite_numbers_are_dashes_and_huge_ones_stay_short() {
        for write in [speed, time_us, duration, format_printed] {
            assert_eq!([write(f64::NAN), write(f64::INFINITY), write(f64::NEG_INFINITY)], [NONE; 3]);
        }
        assert!(speed(1e300).len() < 12 && format_printed(-1e300).len() < 12);
    }
}
