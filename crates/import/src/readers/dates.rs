//! Dates and times as tools print them, converted to `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ss`.

use cardscope_model::card::YEARS;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime;

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
