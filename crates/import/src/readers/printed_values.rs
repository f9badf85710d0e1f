//! Numbers and dates as tools print them, in any locale, with their units: `MB/s` is 2^20 bytes a second for one tool and 10^6
//! for the next. Each reader (and `docs/import.md`) states its tool's units.

use cardscope_model::card::YEARS;
use cardscope_model::result::ToolPrints;
use cardscope_model::run::TestFigure;
use cardscope_model::test_name::{AccessPattern, IoOrder, TestName, TestOp};
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;

/// Parses a number with a point or a comma before its decimals. Groups of three may be separated by the other one, blanks or
/// apostrophes. `None` if it is not a finite number.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits: String = text.chars().filter(|c| !matches!(c, '\u{a0}' | '\u{202f}' | ' ' | '\'')).collect();
    let last = digits.rfind([',', '.']);
    let dividers = digits.matches([',', '.']).count();
    let clean = match last {
        None => digits,
        // 1,234,567 and 1.234.567: the same separator twice can only separate groups.
        Some(at) if dividers > 1 && digits.matches(&digits[at..=at]).count() == dividers => {
            digits.replace([',', '.'], "")
        }
        Some(at) => format!("{}.{}", digits[..at].replace([',', '.'], ""), &digits[at + 1..]),
    };
    let plain = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    if clean.is_empty() || !clean.chars().all(plain) {
        return None;
    }
    clean.parse().ok().filter(|value: &f64| value.is_finite())
}

/// Parses a finite number that is not negative.
pub(crate) fn parse_speed(text: &str) -> Option<f64> {
    parse_number(text).filter(|value| *value >= 0.0)
}

/// Figure printed in a unit of `mb_s` MB/s (10^6).
pub(crate) fn printed_figure(test: TestName, value: f64, unit: &str, mb_s: f64) -> TestFigure {
    let as_printed = Some(ToolPrints { value, unit: unit.to_owned() });
    TestFigure { as_printed, ..TestFigure::from_speed(test, value * mb_s) }
}

/// MiB/s and KiB/s in MB/s.
pub(crate) const MIB_S: f64 = 1.048_576;
pub(crate) const KIB_S: f64 = 0.001_024;

/// A number that is not negative, and its unit as printed; empty without one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PrintedAmount<'a> {
    pub(crate) value: f64,
    pub(crate) unit: &'a str,
}

/// Parses `44.46 MB/sec`, `690.0MB/s` or `12`; text after the unit is ignored.
pub(crate) fn parse_amount(text: &str) -> Option<PrintedAmount<'_>> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && !matches!(c, '.' | ',')).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let unit = rest.split_whitespace().next().unwrap_or_default().trim_end_matches([',', ';', ')']);
    Some(PrintedAmount { value: parse_speed(digits.trim_end_matches([',', '.']))?, unit })
}

/// MB/s (10^6) in one unit of speed with powers of 1024: `KB/s`, `MByte/s`, `GB/sec`.
pub(crate) fn binary_mb_s(unit: &str) -> Option<f64> {
    binary_bytes(unit).filter(|_| unit.contains('/')).map(|bytes| bytes / 1e6)
}

/// MB/s (10^6) in one unit of speed with powers of 1000.
pub(crate) fn decimal_mb_s(unit: &str) -> Option<f64> {
    power_of_thousand(unit).filter(|_| unit.contains('/')).map(|n| 10f64.powi(3 * n - 6))
}

/// MB/s (10^6) in one unit by its exact meaning: `MB/s` is decimal, `MiB/s` binary.
pub(crate) fn true_mb_s(unit: &str) -> Option<f64> {
    if unit.contains('i') { binary_mb_s(unit) } else { decimal_mb_s(unit) }
}

/// Bytes in one unit with powers of 1024: `KB`, `MByte`, `Byte`.
pub(crate) fn binary_bytes(unit: &str) -> Option<f64> {
    power_of_thousand(unit).map(|n| 1024f64.powi(n))
}

/// Bytes of a printed size with powers of 1024, as exact as it is printed.
pub(crate) fn binary_size(text: &str) -> Option<u64> {
    let PrintedAmount { value, unit } = parse_amount(text)?;
    // `as` saturates, which is good enough for a size that no card has.
    Some((value * binary_bytes(unit)?).round() as u64)
}

/// Power of a thousand for the letter before `B`: 0 for `B`, 1 for `kB` or `KiB`.
pub(crate) fn power_of_thousand(unit: &str) -> Option<i32> {
    const LETTERS: [&[char]; 4] = [&['k', 'K'], &['M'], &['G'], &['T']];
    let letter = LETTERS.iter().position(|letters| unit.starts_with(*letters));
    let rest = if letter.is_some() { &unit[1..] } else { unit };
    let rest = rest.strip_prefix('i').unwrap_or(rest);
    // Bits begin with a b, too.
    let bytes = rest.starts_with('B') || rest.starts_with("byte") || rest == "b" || rest.starts_with("b/");
    bytes.then(|| letter.map_or(0, |n| n as i32 + 1))
}

/// Seconds from `827us`, `175.8ms`, `1.73s` or `4'57"`.
pub(crate) fn parse_seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Some((minutes, rest)) = text.split_once('\'') {
        return Some(parse_number(minutes)? * 60.0 + parse_number(rest.trim_end_matches('"'))?);
    }
    parse_scaled(text, &[("ns", 1e-9), ("us", 1e-6), ("µs", 1e-6), ("ms", 1e-3), ("s", 1.0), ("h", 3600.0)])
}

/// Parses a number with one of `endings`, and multiplies it by that ending's factor.
pub(crate) fn parse_scaled(text: &str, endings: &[(&str, f64)]) -> Option<f64> {
    let (digits, factor) = endings.iter().find_map(|(end, f)| Some((text.strip_suffix(end)?, f)))?;
    Some(parse_speed(digits)? * factor)
}

/// Parses digits in hex, with or without `0x`.
pub(crate) fn parse_hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

/// Sequential test with one I/O at a time.
pub(crate) const fn sequential_test(block: u64, op: TestOp) -> TestName {
    TestName { pattern: AccessPattern { order: IoOrder::Sequential, block, queue: 1, threads: 1 }, op }
}

/// Random test with `queue` I/Os in flight.
pub(crate) const fn random_test(block: u64, queue: u32, op: TestOp) -> TestName {
    TestName { pattern: AccessPattern { order: IoOrder::Random, block, queue, threads: 1 }, op }
}

/// Figure of a step of a script.
pub(crate) fn step_figure(name: &str, test: TestName, printed: PrintedAmount<'_>, mb_s: f64) -> TestFigure {
    TestFigure { step: Some(name.to_owned()), ..printed_figure(test, printed.value, printed.unit, mb_s) }
}

/// Year first, or day first with points (`24.12.2012`). `01/02/2012` is ambiguous, so it is not accepted.
const DAY_FORMATS: [&str; 4] = ["%Y/%m/%d", "%Y-%m-%d", "%Y.%m.%d", "%d.%m.%Y"];

/// Parses a date with or without a time, also in the form of C's `ctime` (`Fri Nov 17 23:59:32 2017`). `None` for other
/// text, and for years before memory cards existed.
pub(crate) fn parse_date(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split([' ', 'T', ',']).filter(|word| !word.is_empty()).collect();
    let word = words.first()?;
    let Some(day) = DAY_FORMATS.iter().find_map(|form| Date::strptime(form, word).ok()) else {
        let words: Vec<&str> = text.split_whitespace().collect();
        let ctime = words.get(words.len().checked_sub(4)?..)?.join(" ");
        let at = DateTime::strptime("%b %d %H:%M:%S %Y", ctime).ok()?;
        return is_recent(at.date()).then(|| at.to_string());
    };
    // No supported tool prints a twelve-hour clock, so its time is omitted rather than converted.
    let halved = words.iter().any(|word| matches!(*word, "AM" | "PM"));
    let time = words.get(1).filter(|_| !halved).and_then(|word| parse_time(word));
    let printed = time.map_or_else(|| day.to_string(), |time| day.to_datetime(time).to_string());
    is_recent(day).then_some(printed)
}

/// Parses a date and returns its day without the time: `YYYY-MM-DD`.
pub(crate) fn parse_day(text: &str) -> Option<String> {
    parse_date(text).map(|date| date.split('T').next().unwrap_or_default().to_owned())
}

/// Parses a month in the `strptime` format `form`, such as `11/2013` or `Nov 2013`, and returns `2013-11`.
pub(crate) fn parse_month(form: &str, text: &str) -> Option<String> {
    let month = strtime::parse(form, text.trim()).ok()?;
    let day = Date::new(month.year()?, month.month()?, 1).ok()?;
    is_recent(day).then(|| day.strftime("%Y-%m").to_string())
}

fn is_recent(day: Date) -> bool {
    YEARS.contains(&day.year())
}

fn parse_time(word: &str) -> Option<Time> {
    let word = word.split(['.', '+', 'Z']).next()?;
    ["%H:%M:%S", "%H:%M"].iter().find_map(|form| Time::strptime(form, word).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_locale_are_parsed() {
        for (text, value) in [
            ("20.4", 20.4),
            ("20,4", 20.4),
            ("1.234,5", 1234.5),
            ("1,234.5", 1234.5),
            ("1,234,567", 1_234_567.0),
            ("1 234,5", 1234.5),
            ("-13790", -13790.0),
            ("1e+03", 1000.0),
        ] {
            assert_eq!(parse_number(text), Some(value), "{text}");
        }
    }

    #[test]
    fn other_text_is_not_a_number() {
        for text in ["", "nan", "inf", "-inf", "1e999", "+++++", "12x", "."] {
            assert_eq!(parse_number(text), None, "{text}");
        }
        assert_eq!(parse_speed("-1"), None);
    }

    #[test]
    fn units_are_binary_or_decimal_by_tool() {
        assert_eq!((binary_mb_s("MB/s"), decimal_mb_s("MB/s")), (Some(1.048_576), Some(1.0)));
        assert_eq!((binary_mb_s("KB/sec"), decimal_mb_s("kB/c")), (Some(0.001_024), Some(0.001)));
        assert_eq!((binary_mb_s("MByte/s"), decimal_mb_s("GB/s")), (Some(1.048_576), Some(1000.0)));
        assert_eq!((decimal_mb_s("Mbit/s"), decimal_mb_s("Mb/s")), (None, Some(1.0)));
        assert_eq!((binary_mb_s("MB"), binary_mb_s("IOPS"), binary_mb_s("")), (None, None, None));
    }

    #[test]
    fn amounts_end_with_their_unit() {
        assert_eq!(parse_amount(" 44.46 MB/sec x"), Some(PrintedAmount { value: 44.46, unit: "MB/sec" }));
        assert_eq!(parse_amount("690,5MB/s"), Some(PrintedAmount { value: 690.5, unit: "MB/s" }));
        assert_eq!((parse_amount("-3 MB/s"), parse_amount("x"), parse_amount("")), (None, None, None));
    }

    #[test]
    fn sizes_and_times_are_parsed() {
        assert_eq!(binary_size("512.00 Byte (2^9 Bytes)"), Some(512));
        assert_eq!(binary_size("1.00 TB"), Some(1 << 40));
        for (text, value) in [("4'57\"", 297.0), ("1.5s", 1.5), ("20ms", 0.02), ("30us", 3e-5)] {
            assert!((parse_seconds(text).unwrap() - value).abs() < 1e-12, "{text}");
        }
        assert_eq!((parse_seconds("soon"), parse_seconds("")), (None, None));
    }

    #[test]
    fn dates_of_all_tools_are_parsed() {
        for (printed, kept) in [
            ("2014/01/06 5:41:48", Some("2014-01-06T05:41:48")),
            ("2022-08-24 16:10:33", Some("2022-08-24T16:10:33")),
            ("2019-07-10T13:43:15+00:00", Some("2019-07-10T13:43:15")),
            ("24.12.2012 20:15", Some("2012-12-24T20:15:00")),
            ("2012/02/15", Some("2012-02-15")),
            ("2012/02/15 5:41:48 PM", Some("2012-02-15")),
            ("Fri Nov  7 23:59:32 2014", Some("2014-11-07T23:59:32")),
            ("2024/02/29", Some("2024-02-29")),
            ("2023/02/29", None),
            ("31.02.2024 10:00", None),
            ("Sat Feb 31 23:59:32 2024", None),
            ("", None),
            ("yesterday", None),
            ("2012/13/01", None),
            ("01/02/2012", None),
            ("99999/01/01", None),
            ("Foo Bar 7 x 2014", None),
            ("1/2", None),
        ] {
            assert_eq!(parse_date(printed).as_deref(), kept, "{printed}");
        }
        assert_eq!(parse_day("2019-07-10T13:43:15+00:00").as_deref(), Some("2019-07-10"));
    }

    #[test]
    fn month_is_returned_year_first() {
        assert_eq!(parse_month("%m/%Y", "02/2019").as_deref(), Some("2019-02"));
        for none in ["13/2019", "2019", "02/19", "x/2019", ""] {
            assert_eq!(parse_month("%m/%Y", none), None, "{none}");
        }
    }
}
