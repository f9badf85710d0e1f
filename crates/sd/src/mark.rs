//! Speed marks printed on cards (C, U, V, A, E): their demands, and the marks that a card claims in its SSR.
//!
//! Figures: Physical Layer Specification 4.13 (C, U, V), 3.11 and 4.16 (A), 8.4 (E). A mark is a minimum speed under
//! the specification's conditions, not a typical speed. It implies the lower marks of its letter.

use crate::registers::Ssr;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// Mark of the specification: a letter and a number. Only existing pairs can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Mark {
    letter: char,
    number: u16,
}

/// Minimum speeds that a mark demands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SpeedDemand {
    pub mark: Mark,
    /// Minimum sequential or sustained write in MB/s (10^6).
    pub write_mb_s: f64,
    /// Minimum sequential read in MB/s, if the mark demands any.
    pub read_mb_s: Option<f64>,
    /// Minimum random reads of 4 KiB per second.
    pub random_read_iops: Option<f64>,
    /// Minimum random writes of 4 KiB per second.
    pub random_write_iops: Option<f64>,
    /// Bus mode that the demand holds for.
    pub bus: Cow<'static, str>,
    /// Test conditions.
    pub notes: Cow<'static, str>,
}

const fn define(letter: char, number: u16, mb_s: f64, bus: &'static str, notes: &'static str) -> SpeedDemand {
    SpeedDemand {
        mark: Mark { letter, number },
        write_mb_s: mb_s,
        read_mb_s: None,
        random_read_iops: None,
        random_write_iops: None,
        bus: Cow::Borrowed(bus),
        notes: Cow::Borrowed(notes),
    }
}

const fn define_app(number: u16, read_iops: f64, write_iops: f64, notes: &'static str) -> SpeedDemand {
    let mut demand = define('A', number, 10.0, UHS_ANY, notes);
    (demand.random_read_iops, demand.random_write_iops) = (Some(read_iops), Some(write_iops));
    demand
}

const fn define_express(number: u16) -> SpeedDemand {
    let mut demand = define('E', number, number as f64, PCIE, NOTES_E);
    demand.read_mb_s = Some(demand.write_mb_s);
    demand
}

const UHS_ANY: &str = "DDR50, SDR50, SDR104 or UHS-II";
const PCIE: &str = "PCIe 3.0 x1 at least";
const NOTES_C: &str =
    "writes of the recording unit in sequence inside an AU, worst AU counts; FAT updates in between";
const NOTES_U: &str = "writes of 512 KiB into free AUs, worst 4 MiB counts";
const NOTES_V: &str = "writes of 512 KiB, worst speed unit (7 to 10 MiB) counts, up to 8 files at once";
const NOTES_E: &str =
    "read and write, worst 600 MB in a row counts; longest write 250 ms, longest read 100 ms";
const NOTES_A1: &str =
    "4 KiB in a region of 256 MiB, 10 minutes each way, card filled to 75 %; no queue, no cache";
const NOTES_A2: &str = "as A1, with the card's cache on and its command queue in use";

/// Demands of all marks, by letter, lower marks first.
pub static DEMANDS: [SpeedDemand; 17] = [
    define('C', 2, 2.0, "Default Speed", NOTES_C),
    define('C', 4, 4.0, "Default Speed", NOTES_C),
    define('C', 6, 6.0, "Default Speed", NOTES_C),
    define('C', 10, 10.0, "High Speed", NOTES_C),
    define('U', 1, 10.0, "UHS-I or UHS-II", NOTES_U),
    define('U', 3, 30.0, "UHS-I or UHS-II", NOTES_U),
    define('V', 6, 6.0, "High Speed, and each UHS mode the card has", NOTES_V),
    define('V', 10, 10.0, "High Speed, and each UHS mode the card has", NOTES_V),
    define('V', 30, 30.0, "UHS-I (SDR50, DDR50, SDR104)", NOTES_V),
    define('V', 60, 60.0, "UHS-II full duplex", NOTES_V),
    define('V', 90, 90.0, "UHS-II full duplex", NOTES_V),
    define_app(1, 1500.0, 500.0, NOTES_A1),
    define_app(2, 4000.0, 2000.0, NOTES_A2),
    define_express(150),
    define_express(300),
    define_express(450),
    define_express(600),
];

/// Text that is not a mark.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a mark; the marks are C2 C4 C6 C10, U1 U3, V6 V10 V30 V60 V90, A1 A2, E150 E300 E450 E600"
)]
pub struct MarkError(pub String);

impl Mark {
    /// Returns all marks, by letter, lower marks first.
    pub fn all() -> impl Iterator<Item = Mark> {
        DEMANDS.iter().map(|demand| demand.mark)
    }

    /// C, U, V, A or E.
    pub fn letter(self) -> char {
        self.letter
    }

    /// Number after the letter.
    pub fn number(self) -> u16 {
        self.number
    }

    /// Returns the minimum speeds that the mark demands.
    pub fn demand(self) -> &'static SpeedDemand {
        // Only `new` builds marks, and only from this table, so one row always matches.
        DEMANDS.iter().find(|demand| demand.mark == self).unwrap_or(&DEMANDS[0])
    }

    /// Returns the lower marks of the same letter.
    pub fn implied_marks(self) -> impl Iterator<Item = Mark> {
        Mark::all().filter(move |lower| lower.letter == self.letter && lower.number < self.number)
    }

    /// Returns the mark with this letter and number, or None if the specification has none.
    pub fn new(letter: char, number: u16) -> Option<Mark> {
        Mark::all().find(|mark| (mark.letter, mark.number) == (letter, number))
    }

    /// Returns the marks that an SSR claims, the highest of each letter. Reserved codes count as the highest mark.
    pub fn claimed_in_ssr(ssr: &Ssr) -> Vec<Mark> {
        if ssr.blank.is_some() {
            return Vec::new();
        }
        let uhs = if ssr.uhs_speed_grade > 1 { 3 } else { ssr.uhs_speed_grade };
        let claims = [
            ('C', u16::from(ssr.speed_class.unwrap_or(10))),
            ('U', u16::from(uhs)),
            ('V', u16::from(ssr.video_speed_class)),
            ('A', u16::from(ssr.app_perf_class)),
        ];
        let highest = |(letter, number): (char, u16)| {
            Mark::all().filter(|mark| mark.letter == letter && mark.number <= number).last()
        };
        claims.into_iter().filter_map(highest).collect()
    }

    /// Returns the marks in printed text such as `Class 10, U3, A2, V30`, and skips all other words.
    pub fn parse_label(text: &str) -> Vec<Mark> {
        let joined = text.to_ascii_lowercase().replace("class ", "class");
        joined.split([' ', ',', ';', '/']).filter_map(|word| word.parse().ok()).collect()
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}{}", self.letter, self.number))
    }
}

impl FromStr for Mark {
    type Err = MarkError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let compact: String = text.to_ascii_lowercase().split_whitespace().collect();
        let short = compact.strip_prefix("class").map(|number| format!("c{number}")).unwrap_or(compact);
        let mut characters = short.chars();
        let letter = characters.next().map(|c| c.to_ascii_uppercase());
        let digits = characters.as_str();
        // Only digits: u16's own parser would take "V+30" too.
        let number =
            Some(digits).filter(|d| d.bytes().all(|b| b.is_ascii_digit())).and_then(|d| d.parse().ok());
        letter.zip(number).and_then(|(l, n)| Mark::new(l, n)).ok_or_else(|| MarkError(text.to_owned()))
    }
}

impl TryFrom<String> for Mark {
    type Error = MarkError;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Mark> for String {
    fn from(mark: Mark) -> Self {
        mark.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(text: &str) -> Vec<String> {
        Mark::parse_label(text).iter().map(Mark::to_string).collect()
    }

    fn claimed(head: &str) -> Vec<String> {
        let ssr = Ssr::from_hex(&format!("{head:0<128}")).unwrap();
        Mark::claimed_in_ssr(&ssr).iter().map(Mark::to_string).collect()
    }

    #[test]
    fn mark_names_round_trip() {
        for mark in Mark::all() {
            assert_eq!(mark.to_string().parse(), Ok(mark));
            assert_eq!(mark.to_string().to_lowercase().parse(), Ok(mark));
            assert_eq!(mark.demand().mark, mark);
        }
        assert_eq!(Mark::all().count(), 17);
    }

    #[test]
    fn nonexistent_marks_are_refused() {
        for bad in ["", "U2", "V31", "A3", "30V", "C", "V+30", "E151", "é"] {
            assert!(bad.parse::<Mark>().is_err(), "{bad}");
        }
        assert_eq!("class 10".parse::<Mark>(), Ok(Mark { letter: 'C', number: 10 }));
    }

    #[test]
    fn label_marks_are_parsed_in_common_notations() {
        assert_eq!(marks("Class 10, U3, A2, V30"), ["C10", "U3", "A2", "V30"]);
        assert_eq!(marks("microSD XC I V30 U3 A1"), ["V30", "U3", "A1"]);
    }

    #[test]
    fn demands_match_the_specification() {
        let a2 = "A2".parse::<Mark>().unwrap().demand();
        assert_eq!((a2.random_read_iops, a2.random_write_iops), (Some(4000.0), Some(2000.0)));
        assert_eq!(a2.write_mb_s, 10.0);
        let e600 = "E600".parse::<Mark>().unwrap().demand();
        assert_eq!((e600.write_mb_s, e600.read_mb_s), (600.0, Some(600.0)));
        let u3 = "U3".parse::<Mark>().unwrap().demand();
        assert_eq!((u3.write_mb_s, u3.read_mb_s), (30.0, None));
    }

    #[test]
    fn mark_implies_lower_marks_of_its_letter() {
        let v60: Mark = "V60".parse().unwrap();
        let implied: Vec<String> = v60.implied_marks().map(String::from).collect();
        assert_eq!(implied, ["V6", "V10", "V30"]);
    }

    #[test]
    fn claimed_marks_follow_from_ssr() {
        assert_eq!(claimed("000000000800000004009000011b391e000800000002ff0003"), ["C10", "U3", "V30", "A2"]);
        assert_eq!(claimed("8000000003000000020290000b0500"), ["C4"]);
        assert!(claimed("").is_empty());
    }
}
