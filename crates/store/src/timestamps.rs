//! Times as the archive writes them: UTC with six digits of a second, so that they sort as text.

use cardscope_model::card::{YEARS, is_date};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};

/// Longest accepted time in bytes: date, time, fraction and zone with margin.
const MAX_TIME_BYTES: usize = 64;

/// True for a valid time or date: `2026-02-28T23:59:59.5Z`, with an offset, a zone or neither, or a day, month or year
/// alone, as in published reports. A leap second is refused, since no clock here counts it.
pub(crate) fn is_valid_time(text: &str) -> bool {
    let zoned = || text.parse::<Zoned>().ok().map(|time| time.date());
    // An exact time without a zone counts as UTC.
    let exact = || text.parse::<Timestamp>().ok().map(|time| time.to_zoned(TimeZone::UTC).date());
    let local = || text.parse::<DateTime>().ok().map(DateTime::date);
    let has_60th_second = text.get(16..19) == Some(":60");
    text.len() <= MAX_TIME_BYTES
        && !has_60th_second
        && (is_date(text)
            || zoned().or_else(exact).or_else(local).is_some_and(|day| YEARS.contains(&day.year())))
}

/// Current time.
pub(crate) fn now() -> String {
    format_time(Timestamp::now())
}

fn format_time(time: Timestamp) -> String {
    format!("{time:.6}")
}

/// Parses a time, day, month or year, of which the first moment counts. `None` for anything else.
pub(crate) fn parse_micros(text: &str) -> Option<i64> {
    let text = text.trim();
    if let Ok(time) = text.parse::<Timestamp>() {
        return Some(time.as_microsecond());
    }
    // Times of logs without a zone count as UTC, like their dates.
    let first: DateTime = match text.len() {
        4 => format!("{text}-01-01").parse(),
        7 => format!("{text}-01").parse(),
        _ => text.parse(),
    }
    .ok()?;
    Some(first.to_zoned(TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

pub(crate) fn utc_year(micros: i64) -> Option<i16> {
    let time = Timestamp::from_microsecond(micros).ok()?;
    Some(time.to_zoned(TimeZone::UTC).year()).filter(|year| (0..=9999).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_times_are_refused() {
        for time in [
            "2026-02-28T23:59:59.123456Z",
            "2026-02-28T23:59:59+14:00",
            "2024-02-29T10:00:00",
            "2024-02-29",
            "2024-02",
            "2024",
            "1970-01-01T00:00:00Z",
        ] {
            assert!(is_valid_time(time), "{time}");
        }
        let long = format!("2026-02-28T10:00:00.{}Z", "0".repeat(60));
        for none in [
            "2026-02-30T10:00:00Z",
            "2025-02-29",
            "2026-13-01T10:00:00Z",
            "2026-00-10",
            "2026-01-00T10:00:00Z",
            "2026-01-01T25:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T10:60:00Z",
            "2016-12-31T23:59:60Z",
            "2026-01-01T10:00:61Z",
            "2026-01-01T10:00:00+99:00",
            "9999-01-01T10:00:00Z",
            "-000044-03-15T10:00:00Z",
            "0001-01-01",
            "99999999-01-01",
            "2026-13",
            "1969",
            "yesterday",
            "",
            &long,
        ] {
            assert!(!is_valid_time(none), "{none}");
        }
    }

    #[test]
    fn times_sort_as_text_on_full_seconds() {
        let texts = [1_700_000_000_000_000i64, 1_700_000_000_000_001, 1_700_000_001_000_000]
            .map(|micros| format_time(Timestamp::from_microsecond(micros).unwrap()));
        assert_eq!(texts[0], "2023-11-14T22:13:20.000000Z");
        assert!(texts.is_sorted());
    }

    #[test]
    fn dates_become_their_first_microsecond_and_other_text_none() {
        let day = 86_400_000_000;
        for (text, expected) in [
            ("1970-01-02T00:00:00.000001Z", Some(day + 1)),
            ("1970-01-02T01:00:00+01:00", Some(day)),
            ("1970-01-02", Some(day)),
            ("1970-02", Some(31 * day)),
            ("1971", Some(365 * day)),
            ("1970-01-02 00:00:01", Some(day + 1_000_000)),
            ("", None),
            ("yesterday", None),
            ("1970-02-31", None),
            ("Tue 3", None),
        ] {
            assert_eq!(parse_micros(text), expected, "{text}");
        }
        assert_eq!((utc_year(day), utc_year(-1)), (Some(1970), Some(1969)));
    }
}
