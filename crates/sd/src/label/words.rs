//! A label's text cut into words in small letters, in which `MB/s` is one word, a number stands apart from the unit
//! behind it, and quotation marks are gone.

/// One unit for all the ways in which people write 10^6 bytes a second.
pub(super) const MB_S: &str = "mb/s";

/// Ways to write it, longest first.
const SPEED_UNITS: [&str; 6] = ["mbyte/s", "mb/sec", "mb/sek", "mb/s", "mbps", "m/s"];

/// Units that may stand directly behind a number, longest first. `mbps` on a card means megabytes, whatever it means
/// elsewhere.
const UNITS: [&str; 9] = ["mb/s", "gib", "tib", "mib", "gb", "tb", "mb", "x", "k"];

/// The words.
pub(super) fn words(text: &str) -> Vec<String> {
    let plain: String = text.chars().map(|c| if is_quote(c) { ' ' } else { c }).collect();
    plain.to_lowercase().split(is_gap).flat_map(units_as_one).flat_map(apart).collect()
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`' | '“' | '”' | '„' | '‘' | '’' | '(' | ')' | '[' | ']')
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '|' | '+' | '*' | ':' | '·' | '•' | '®' | '™')
}

/// `c10/u3` is two words, `mb/s` is one.
fn units_as_one(word: &str) -> Vec<String> {
    for unit in SPEED_UNITS {
        if let Some(number) = word.strip_suffix(unit)
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        {
            return [number, MB_S].into_iter().filter(|w| !w.is_empty()).map(str::to_owned).collect();
        }
    }
    word.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

/// `64gb` is a number and a unit.
fn apart(word: String) -> Vec<String> {
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    match !number.is_empty() && UNITS.contains(&unit) {
        true => vec![number.to_owned(), unit.to_owned()],
        false => vec![word],
    }
}
