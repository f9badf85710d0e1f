//! Parser of printed labels. Words that it does not recognize are kept, e.g. makers' names and slogans.

use super::{CardLabel, MB_S_OF_X, PrintedBus, PrintedCapacity, PrintedSpeed, SpeedDirection};
use crate::mark::Mark;
use crate::registers::CsdFamily;

/// Longest label in characters; no card has room for more.
const MAX_LABEL_CHARS: usize = 1000;

/// Largest plausible capacity in bytes: 128 TB of SDUC and some margin.
const MAX_CARD_BYTES: f64 = 1e15;

/// Error of a label that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LabelError {
    #[error(
        "the label is empty; write what is printed on the card, e.g. \"64GB SDXC U3 V30 A2 'up to 170 MB/s'\""
    )]
    Empty,
    /// More than 1000 characters. Holds their number.
    #[error("the label has {0} characters; no card has more than {MAX_LABEL_CHARS} printed on it")]
    TooLong(usize),
    #[error("the label names two capacities, {0} and {1}; give the one that is printed largest")]
    TwoCapacities(String, String),
}

/// Words of the specification that mean nothing by themselves.
const FILLERS: &str =
    "sd microsd micro tf card memory speed class video application performance uhs up to max mark";

/// Logos that no specification defines, printed on fakes and in advertisements.
const FALSE_LOGOS: [&str; 7] = ["uhd", "hd", "fhd", "fullhd", "4kuhd", "8kuhd", "qhd"];

/// Parses a printed label.
///
/// # Errors
/// If it is empty or too long, or has two different capacities.
pub fn parse(text: &str) -> Result<CardLabel, LabelError> {
    let characters = text.chars().count();
    if characters > MAX_LABEL_CHARS {
        return Err(LabelError::TooLong(characters));
    }
    let words = split_words(text);
    if words.is_empty() {
        return Err(LabelError::Empty);
    }
    let mut reader = LabelReader { words: &words, at: 0, direction: None, label: CardLabel::default() };
    text.clone_into(&mut reader.label.text);
    while reader.at < words.len() {
        let taken = reader.parse_word()?;
        reader.at += taken.max(1);
    }
    Ok(reader.label)
}

struct LabelReader<'a> {
    words: &'a [String],
    at: usize,
    /// Direction that applies to the next speed.
    direction: Option<SpeedDirection>,
    label: CardLabel,
}

impl LabelReader<'_> {
    fn peek_word(&self, ahead: usize) -> &str {
        self.words.get(self.at + ahead).map_or("", String::as_str)
    }

    fn peek_number(&self, ahead: usize) -> Option<f64> {
        let word = self.peek_word(ahead);
        let plain = word.bytes().all(|b| b.is_ascii_digit() || b == b'.');
        word.parse().ok().filter(|n: &f64| plain && n.is_finite())
    }

    /// Parses at the current word and returns the number of words consumed.
    fn parse_word(&mut self) -> Result<usize, LabelError> {
        if let Some(number) = self.peek_number(0) {
            return self.parse_quantity(number);
        }
        if let Some(taken) = self.parse_class().or_else(|| self.parse_bus()).or_else(|| self.parse_family()) {
            return Ok(taken);
        }
        let word = self.peek_word(0).to_owned();
        if let Some(direction) = parse_direction(&word) {
            self.direction = Some(direction);
        } else if let Some((direction, mb_s)) = parse_short_speed(&word) {
            self.add_speed(mb_s, Some(direction), word.to_uppercase());
        } else if let Some(mark) = parse_mark(&word) {
            self.add_mark(mark, &word);
        } else if FALSE_LOGOS.contains(&word.as_str()) {
            self.label.false_marks.push(word.to_uppercase());
        } else if !FILLERS.split(' ').any(|filler| filler == word) {
            self.label.unknown.push(word);
        }
        Ok(1)
    }

    fn parse_quantity(&mut self, number: f64) -> Result<usize, LabelError> {
        let unit = self.peek_word(1).to_owned();
        let gap = if unit == NORMAL_SPEED_UNIT { " " } else { "" };
        let printed = format!("{}{gap}{unit}", self.peek_word(0));
        if unit == "x" {
            self.add_speed(number * MB_S_OF_X, None, printed);
            return Ok(2);
        }
        if unit == NORMAL_SPEED_UNIT {
            let behind = parse_direction(self.peek_word(2)).filter(|_| self.direction.is_none());
            let direction = self.direction.take().or(behind);
            self.add_speed(number, direction, printed.replace(NORMAL_SPEED_UNIT, "MB/s"));
            return Ok(if behind.is_some() { 3 } else { 2 });
        }
        // "4K" imitates a mark; no capacity is printed in kilobytes.
        if unit == "k" {
            self.label.false_marks.push(printed.to_uppercase());
            return Ok(2);
        }
        if let Some(bytes) = parse_capacity(number, &unit) {
            self.set_capacity(PrintedCapacity { bytes, printed: printed.to_uppercase() })?;
            return Ok(2);
        }
        // A number without a unit is a speed only after "read" or "write", as in "R 170".
        match self.direction.take() {
            Some(direction) => self.add_speed(number, Some(direction), format!("{} MB/s", self.peek_word(0))),
            None => self.label.unknown.push(self.peek_word(0).to_owned()),
        }
        Ok(1)
    }

    fn set_capacity(&mut self, next: PrintedCapacity) -> Result<(), LabelError> {
        if let Some(first) = self.label.capacity.take_if(|first| first.bytes != next.bytes) {
            return Err(LabelError::TwoCapacities(first.printed, next.printed));
        }
        self.label.capacity = Some(next);
        Ok(())
    }

    fn add_speed(&mut self, mb_s: f64, direction: Option<SpeedDirection>, printed: String) {
        self.direction = None;
        self.label.speeds.push(PrintedSpeed { mb_s, direction, printed });
    }

    fn add_mark(&mut self, mark: Option<Mark>, word: &str) {
        match mark {
            Some(mark) if !self.label.marks.contains(&mark) => self.label.marks.push(mark),
            Some(_) => {}
            None => self.label.false_marks.push(word.to_uppercase()),
        }
    }

    /// Parses `class 10`, `UHS speed class 3`, `video speed class 30`, `application performance class 2`.
    fn parse_class(&mut self) -> Option<usize> {
        let (letter, length) = match [0, 1, 2].map(|ahead| self.peek_word(ahead)) {
            ["video", "speed", "class"] => ("v", 3),
            ["application", "performance", "class"] => ("a", 3),
            ["uhs", "speed", "class"] => ("u", 3),
            ["uhs", "class", _] => ("u", 2),
            ["class", ..] => ("c", 1),
            _ => return None,
        };
        let number = self.peek_word(length).trim_start_matches(letter).to_owned();
        let word = format!("{letter}{number}");
        let mark = parse_mark(&word)?;
        self.add_mark(mark, &word);
        Some(length + 1)
    }

    /// Parses `UHS-I`, `UHS II`, `SD Express`, and a lone I, II or III after the family.
    fn parse_bus(&mut self) -> Option<usize> {
        let (bus, taken) = match (self.peek_word(0), self.peek_word(1)) {
            ("uhs", second) => (parse_roman(second)?, 2),
            ("sd" | "microsd", "express") => (PrintedBus::Express, 2),
            ("express", _) => (PrintedBus::Express, 1),
            (first, _) => match first.strip_prefix("uhs-").or_else(|| first.strip_prefix("uhs")) {
                Some(number) => (parse_roman(number)?, 1),
                None if !self.label.families.is_empty() && first.starts_with('i') => (parse_roman(first)?, 1),
                None => return None,
            },
        };
        if !self.label.buses.contains(&bus) {
            self.label.buses.push(bus);
        }
        Some(taken)
    }

    fn parse_family(&mut self) -> Option<usize> {
        let family = match self.peek_word(0).strip_prefix("micro").unwrap_or(self.peek_word(0)) {
            "sdsc" => CsdFamily::Sdsc,
            "sdhc" | "hc" => CsdFamily::Sdhc,
            "sdxc" | "xc" => CsdFamily::Sdxc,
            "sduc" | "uc" => CsdFamily::Sduc,
            _ => return None,
        };
        if !self.label.families.contains(&family) {
            self.label.families.push(family);
        }
        Some(1)
    }
}

fn parse_roman(text: &str) -> Option<PrintedBus> {
    match text {
        "i" | "1" => Some(PrintedBus::UhsI),
        "ii" | "2" => Some(PrintedBus::UhsII),
        "iii" | "3" => Some(PrintedBus::UhsIII),
        _ => None,
    }
}

fn parse_direction(word: &str) -> Option<SpeedDirection> {
    match word {
        "r" | "read" | "reads" | "reading" => Some(SpeedDirection::Read),
        "w" | "write" | "writes" | "writing" => Some(SpeedDirection::Write),
        _ => None,
    }
}

fn parse_short_speed(word: &str) -> Option<(SpeedDirection, f64)> {
    let mut characters = word.chars();
    let direction = parse_direction(characters.next()?.encode_utf8(&mut [0; 4]))?;
    let digits = characters.as_str();
    let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten().map(|mb_s| (direction, mb_s))
}

/// Parses a word of the form of a mark. The inner value is None if the specification has no such mark.
fn parse_mark(word: &str) -> Option<Option<Mark>> {
    let mut characters = word.chars();
    let letter = characters.next().filter(|c| "cuvae".contains(*c))?;
    let digits = characters.as_str();
    let shape = (1..=3).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    shape.then(|| digits.parse().ok().and_then(|number| Mark::new(letter.to_ascii_uppercase(), number)))
}

fn parse_capacity(number: f64, unit: &str) -> Option<u64> {
    let factor = match unit {
        "mb" => 1e6,
        "gb" | "g" => 1e9,
        "tb" | "t" => 1e12,
        "mib" => f64::from(1u32 << 20),
        "gib" => f64::from(1u32 << 30),
        "tib" => 2f64.powi(40),
        _ => return None,
    };
    let bytes = number * factor;
    (1.0..=MAX_CARD_BYTES).contains(&bytes).then_some(bytes as u64)
}

/// Normalized form of all spellings of 10^6 bytes per second.
const NORMAL_SPEED_UNIT: &str = "mb/s";

/// Spellings of MB/s, longest first.
const SPEED_UNITS: [&str; 6] = ["mbyte/s", "mb/sec", "mb/sek", "mb/s", "mbps", "m/s"];

/// Units that may follow a number directly, longest first. `mbps` on a card means megabytes, unlike elsewhere.
const UNITS: [&str; 9] = ["mb/s", "gib", "tib", "mib", "gb", "tb", "mb", "x", "k"];

/// Splits a label into lower-case words. Units of speed become one word, numbers are separated from their units, and
/// quotation marks are removed.
fn split_words(text: &str) -> Vec<String> {
    let plain: String = text.chars().map(|c| if is_quote(c) { ' ' } else { c }).collect();
    plain.to_lowercase().split(is_gap).flat_map(split_at_slashes).flat_map(split_number_and_unit).collect()
}

fn is_quote(c: char) -> bool {
    matches!(c, '\'' | '"' | '`' | '“' | '”' | '„' | '‘' | '’' | '(' | ')' | '[' | ']')
}

fn is_gap(c: char) -> bool {
    c.is_whitespace() || matches!(c, ',' | ';' | '|' | '+' | '*' | ':' | '·' | '•' | '®' | '™')
}

/// Splits at slashes, as in `c10/u3`, but keeps `mb/s` as one word.
fn split_at_slashes(word: &str) -> Vec<String> {
    for unit in SPEED_UNITS {
        if let Some(number) = word.strip_suffix(unit)
            && number.chars().all(|c| c.is_ascii_digit() || c == '.')
        {
            let parts = [number, NORMAL_SPEED_UNIT].into_iter().filter(|part| !part.is_empty());
            return parts.map(str::to_owned).collect();
        }
    }
    word.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect()
}

fn split_number_and_unit(word: String) -> Vec<String> {
    let digits = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
    let (number, unit) = word.split_at(digits);
    if !number.is_empty() && UNITS.contains(&unit) {
        vec![number.to_owned(), unit.to_owned()]
    } else {
        vec![word]
    }
}
