//! Dates as tools print them, in the one form that logs keep: `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ss`.

/// Months as C's `ctime` writes them.
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// A date with the year first, or days first with points (`24.12.2012`), with or without a time; or one of `ctime`
/// (`Fri Nov 17 23:59:32 2017`). `None` for what is none, and for `01/02/2012`, which is two dates.
pub(crate) fn date(text: &str) -> Option<String> {
    let words: Vec<&str> = text.split([' ', 'T', ',']).filter(|word| !word.is_empty()).collect();
    let day = words.first().and_then(|word| numeric_day(word));
    if let Some(day) = day {
        // A clock of twelve hours needs its half of the day; nobody here prints one, so the hour is left out.
        let halved = words.iter().any(|word| matches!(*word, "AM" | "PM"));
        return Some(with_time(day, words.get(1).filter(|_| !halved).and_then(|word| clock(word))));
    }
    let ctime: Vec<&str> = text.split_whitespace().collect();
    let [.., month, day, time, year] = ctime.as_slice() else { return None };
    let month = 1 + MONTHS.iter().position(|name| name == month)? as u32;
    let day = checked(year.parse().ok()?, month, day.parse().ok()?)?;
    Some(with_time(day, clock(time)))
}

/// The day alone, for what happens on days: `YYYY-MM-DD`.
pub(crate) fn day(text: &str) -> Option<String> {
    date(text).map(|date| date.split('T').next().unwrap_or_default().to_owned())
}

fn with_time(day: String, time: Option<String>) -> String {
    match time {
        Some(time) => format!("{day}T{time}"),
        None => day,
    }
}

fn numeric_day(word: &str) -> Option<String> {
    let parts: Vec<u32> = word.split(['/', '-', '.']).map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match *parts.as_slice() {
        [year, month, day] if year > 31 => checked(year, month, day),
        [day, month, year] if word.contains('.') => checked(year, month, day),
        _ => None,
    }
}

/// Memory cards came after 1970; a year of five digits is no year.
fn checked(year: u32, month: u32, day: u32) -> Option<String> {
    let sound = (1970..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    sound.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn clock(word: &str) -> Option<String> {
    let word = word.split(['.', '+', 'Z']).next()?;
    let parts: Vec<u32> = word.split(':').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match *parts.as_slice() {
        [hour, minute, ref second @ ..] if hour < 24 && minute < 60 && second.len() < 2 => {
            let second = second.first().copied().unwrap_or(0);
            // A leap second is a second.
            (second <= 60).then(|| format!("{hour:02}:{minute:02}:{second:02}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_all_tools_come_out_alike() {
        for (printed, kept) in [
            ("2014/01/06 5:41:48", "2014-01-06T05:41:48"),
            ("2022-08-24 16:10:33", "2022-08-24T16:10:33"),
            ("2019-07-10T13:43:15+00:00", "2019-07-10T13:43:15"),
            ("24.12.2012 20:15", "2012-12-24T20:15:00"),
            ("2012/02/15", "2012-02-15"),
            ("2012/02/15 5:41:48 PM", "2012-02-15"),
            ("Fri Nov  7 23:59:32 2014", "2014-11-07T23:59:32"),
        ] {
            assert_eq!(date(printed).as_deref(), Some(kept), "{printed}");
        }
    }

    #[test]
    fn what_is_no_date_is_none() {
        assert_eq!(day("2019-07-10T13:43:15+00:00").as_deref(), Some("2019-07-10"));
        for text in ["", "yesterday", "2012/13/01", "01/02/2012", "99999/01/01", "Foo Bar 7 x 2014", "1/2"] {
            assert_eq!(date(text), None, "{text}");
        }
    }
}
