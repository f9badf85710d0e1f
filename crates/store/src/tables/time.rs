//! Converts times of the archive to microseconds since 1970, UTC.

use jiff::Timestamp;
use jiff::civil::DateTime;

/// Parses a time, day, month or year, of which the first moment counts. `None` for anything else.
pub(super) fn parse_micros(text: &str) -> Option<i64> {
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
    Some(first.to_zoned(jiff::tz::TimeZone::UTC).ok()?.timestamp().as_microsecond())
}

pub(super) fn utc_year(micros: i64) -> Option<i16> {
    let time = Timestamp::from_microsecond(micros).ok()?;
    Some(time.to_zoned(jiff::tz::TimeZone::UTC).year()).filter(|year| (0..=9999).contains(year))
}

#[cfg(test)]
mod tests {
    use super::*;

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
