//! Units, strictly: MB is 10^6 bytes, MiB is 2^20. Parsing and formatting of sizes, speeds and times.
//!
//! On input `K`, `M`, `G`, `T` and `KiB`, `MiB`, `GiB`, `TiB` are powers of two, `kB`, `MB`, `GB`, `TB` powers of
//! ten, as in `fio` and `dd`.

use serde::{Deserialize, Serialize};
use std::fmt;

pub const KIB: u64 = 1 << 10;
pub const MIB: u64 = 1 << 20;
pub const GIB: u64 = 1 << 30;
/// 10^6 bytes, the MB of all speeds.
pub const MB: f64 = 1e6;

/// Nanoseconds of a target's clock since it was opened.
pub type Nanos = u64;

pub const NANOS_PER_S: u64 = 1_000_000_000;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a size: {reason}; write bytes, or a number with K, M, G (powers of 2) or kB, MB, GB (powers of 10)"
)]
pub struct SizeError {
    pub text: String,
    pub reason: &'static str,
}

/// Parses a size such as `4096`, `4K`, `1MiB`, `1.5G` or `64 GB` into bytes.
pub fn parse_size(text: &str) -> Result<u64, SizeError> {
    let fail = |reason| SizeError { text: text.to_owned(), reason };
    let trimmed = text.trim();
    let split = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let (number, unit) = trimmed.split_at(split);
    let factor = unit_factor(unit.trim()).ok_or_else(|| fail("unknown unit"))?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 12 {
        return Err(fail("too many decimals"));
    }
    let scale = 10u128.pow(fraction.len() as u32);
    let digits = Some(format!("{whole}{fraction}")).filter(|_| !whole.is_empty());
    let scaled = digits.and_then(|digits| digits.parse::<u128>().ok()?.checked_mul(u128::from(factor)));
    let scaled = scaled.ok_or_else(|| fail("no number"))?;
    if scaled % scale != 0 {
        return Err(fail("not a whole number of bytes"));
    }
    u64::try_from(scaled / scale).map_err(|_| fail("larger than 2^64 bytes"))
}

/// Formats a size for an option, exactly and in the largest possible unit: `512M`, `64GB`.
pub fn option_size(bytes: u64) -> String {
    let units =
        ["G", "GB", "M", "MB", "K", "kB"].into_iter().filter_map(|unit| Some((unit, unit_factor(unit)?)));
    let mut whole = units.filter(|(_, factor)| bytes >= *factor && bytes.is_multiple_of(*factor));
    whole.next().map_or_else(|| bytes.to_string(), |(unit, factor)| format!("{}{unit}", bytes / factor))
}

fn unit_factor(unit: &str) -> Option<u64> {
    Some(match unit {
        "" | "B" => 1,
        "K" | "k" | "KiB" => KIB,
        "M" | "m" | "MiB" => MIB,
        "G" | "g" | "GiB" => GIB,
        "T" | "t" | "TiB" => 1 << 40,
        "kB" | "KB" => 1000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        _ => return None,
    })
}

/// Splits a size into a number and the largest binary unit that it is a multiple of: `K`, `M` or `G`.
pub(crate) fn whole_binary_unit(bytes: u64) -> Option<(u64, &'static str)> {
    let units = [(GIB, "G"), (MIB, "M"), (KIB, "K")].into_iter();
    let mut whole = units.filter(|(unit, _)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.next().map(|(unit, prefix)| (bytes / unit, prefix))
}

/// Size, formatted in the largest exact binary unit (`4 KiB`, `1000 MiB`), else in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BinarySize(pub u64);

impl fmt::Display for BinarySize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match whole_binary_unit(self.0) {
            Some((n, prefix)) => write!(f, "{n} {prefix}iB"),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

/// Amount of data in a sentence: `64 MiB` for a power of two or three times one, as in flash geometry, else as
/// [`DecimalSize`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DataAmount(pub u64);

impl fmt::Display for DataAmount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let odd = self.0.checked_shr(self.0.trailing_zeros()).unwrap_or(0);
        if self.0 < KIB || odd <= 3 { BinarySize(self.0).fmt(f) } else { DecimalSize(self.0).fmt(f) }
    }
}

/// Capacity, formatted exactly and rounded: `16 012 804 096 bytes (16.0 GB)`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExactCapacity(pub u64);

impl fmt::Display for ExactCapacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            few @ 0..1_000 => DecimalSize(few).fmt(f),
            bytes => write!(f, "{} bytes ({})", group_digits(bytes), DecimalSize(bytes).in_table()),
        }
    }
}

/// Size in a sentence, with at most three significant digits in decimal units: `52 GB`, `1.02 TB`, `414 kB`. Tables
/// use [`DecimalSize::in_table`]; exact bytes are [`ExactCapacity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecimalSize(pub u64);

impl DecimalSize {
    /// Formats all three digits, for tables: `52.0 GB`, `1.00 TB`.
    pub fn in_table(self) -> String {
        let (unit, name) = self.unit();
        let value = self.0 as f64 / unit;
        format!("{value:.*} {name}", if unit > 1.0 { decimal_places(value) } else { 0 })
    }

    /// Formats a part of a whole, in the unit of the whole unless it is less than a tenth of it: `0.6 of 256 GB`,
    /// `67.1 MB of 78 GB`.
    pub fn as_part_of(self, whole: DecimalSize) -> String {
        let part = self.0 as f64 / whole.unit().0;
        if part < 0.1 {
            return format!("{self} of {whole}");
        }
        let part = without_zeros(format!("{part:.*}", decimal_places(part).min(1)));
        format!("{part} of {whole}")
    }

    fn unit(self) -> (f64, &'static str) {
        // Values that round to 1000 belong to the next unit.
        match self.0 {
            0..1_000 => (1.0, "bytes"),
            1_000..999_500 => (1e3, "kB"),
            999_500..999_500_000 => (MB, "MB"),
            999_500_000..999_500_000_000 => (1e9, "GB"),
            _ => (1e12, "TB"),
        }
    }
}

impl fmt::Display for DecimalSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let table = self.in_table();
        let (number, name) = table.split_once(' ').unwrap_or_default();
        write!(f, "{} {name}", without_zeros(number.to_owned()))
    }
}

pub(crate) fn without_zeros(number: String) -> String {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.').to_owned() } else { number }
}

/// Speed in MB/s, formatted with three digits: `117 MB/s`, `4.50 MB/s`, `0.0123 MB/s`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedMbS(pub f64);

impl fmt::Display for SpeedMbS {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB/s", three_digits(self.0))
    }
}

/// Duration in seconds, formatted as `0.4 s`, `42.0 s`, or from a minute on `2.40 min`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaitTime(pub f64);

impl fmt::Display for WaitTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            minutes if minutes >= MINUTE_S => write!(f, "{} min", three_digits(minutes / MINUTE_S)),
            seconds => write!(f, "{seconds:.1} s"),
        }
    }
}

pub const MINUTE_S: f64 = 60.0;

pub const NO_NUMBER: &str = "–";

/// Limit from which numbers are written with an exponent, because their digits would fill the page.
pub const EXPONENT_FROM: f64 = 1e9;

/// Formats three significant digits, from 100 on whole: `117`, `93.0`, `0.0123`. All speeds are written so.
pub fn three_digits(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => NO_NUMBER.to_owned(),
        0.0 => "0".to_owned(),
        v if v >= EXPONENT_FROM => format!("{value:.3e}"),
        v => format!("{value:.*}", decimal_places(v)),
    }
}

/// Returns the number of decimals that give three significant digits, down to 0.0001; 0 for 0.
pub fn decimal_places(value: f64) -> usize {
    // The limits are those of rounding: 99.95 with one decimal would become 100.0, which has four digits.
    const BELOW: [f64; 5] = [99.95, 9.995, 0.9995, 0.09995, 0.009995];
    if value == 0.0 { 0 } else { BELOW.iter().filter(|limit| value.abs() < **limit).count() }
}

/// Groups digits by threes: `16 012 804 096`.
pub fn group_digits(n: u64) -> String {
    let digits = n.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(" ")
}

/// Returns the speed in MB/s (10^6); 0 for a duration of 0.
pub fn mb_per_s(bytes: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { round_measured(bytes as f64 / MB / seconds) } else { 0.0 }
}

/// Rounds a figure for a document to ten significant digits, the resolution of a nanosecond clock; the seventeen of
/// the arithmetic would suggest more precision (`694.1573119999999`).
pub fn round_measured(value: f64) -> f64 {
    if value.is_finite() { format!("{value:.9e}").parse().unwrap_or(value) } else { value }
}

/// Unit of temperature on pages. Documents are in °C.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TemperatureUnit {
    #[default]
    Celsius,
    Fahrenheit,
    Kelvin,
}

impl std::str::FromStr for TemperatureUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "C" | "c" => Ok(TemperatureUnit::Celsius),
            "F" | "f" => Ok(TemperatureUnit::Fahrenheit),
            "K" | "k" => Ok(TemperatureUnit::Kelvin),
            other => Err(format!("{other:?} is not a temperature unit; give C, F or K")),
        }
    }
}

impl TemperatureUnit {
    /// Formats a temperature in °C in this unit, in whole degrees: `104 °F`.
    pub fn format_celsius(self, celsius: f64) -> String {
        match self {
            TemperatureUnit::Celsius => format!("{celsius:.0} °C"),
            TemperatureUnit::Fahrenheit => format!("{:.0} °F", celsius * 1.8 + 32.0),
            TemperatureUnit::Kelvin => format!("{:.0} K", celsius + 273.15),
        }
    }
}

pub fn nanos_to_seconds(nanos: Nanos) -> f64 {
    nanos as f64 / NANOS_PER_S as f64
}

/// Converts seconds to nanoseconds. Negative values and NaN become 0.
pub fn seconds_to_nanos(seconds: f64) -> Nanos {
    (seconds * NANOS_PER_S as f64).max(0.0).round() as Nanos
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperature_is_formatted_in_each_unit() {
        let scales =
            ["C", "f", "K"].map(|unit| unit.parse::<TemperatureUnit>().unwrap().format_celsius(40.0));
        assert_eq!(scales, ["40 °C", "104 °F", "313 K"]);
        assert!("R".parse::<TemperatureUnit>().is_err());
    }

    #[test]
    fn size_has_three_digits_in_tables_and_at_most_three_in_sentences() {
        for (bytes, in_sentence, in_table) in [
            (0, "0 bytes", "0 bytes"),
            (512, "512 bytes", "512 bytes"),
            (413_696, "414 kB", "414 kB"),
            (999_600, "1 MB", "1.00 MB"),
            (592_949_248, "593 MB", "593 MB"),
            (999_700_000, "1 GB", "1.00 GB"),
            (31_914_983_424, "31.9 GB", "31.9 GB"),
            (52_000_002_048, "52 GB", "52.0 GB"),
            (100_000_000_000, "100 GB", "100 GB"),
            (999_499_999_999, "999 GB", "999 GB"),
            (999_600_000_000, "1 TB", "1.00 TB"),
            (1_000_000_192_512, "1 TB", "1.00 TB"),
            (1_024_209_543_168, "1.02 TB", "1.02 TB"),
            (2_000_398_934_016, "2 TB", "2.00 TB"),
        ] {
            assert_eq!(
                (DecimalSize(bytes).to_string().as_str(), DecimalSize(bytes).in_table().as_str()),
                (in_sentence, in_table)
            );
        }
    }

    #[test]
    fn part_of_a_size_is_in_its_unit_unless_it_is_far_smaller() {
        for (part, whole, expected) in [
            (592_949_248, 256_060_514_304, "0.6 of 256 GB"),
            (35_270_000_000, 256_060_514_304, "35.3 of 256 GB"),
            (500_000_000, 4_294_967_296, "0.5 of 4.29 GB"),
            (67_108_864, 78_000_000_000, "67.1 MB of 78 GB"),
            (592_949_248, 1_000_000_192_512, "593 MB of 1 TB"),
            (67_108_864, 67_108_864, "67.1 of 67.1 MB"),
            (0, 67_108_864, "0 bytes of 67.1 MB"),
        ] {
            assert_eq!(DecimalSize(part).as_part_of(DecimalSize(whole)), expected);
        }
    }

    #[test]
    fn data_amount_uses_the_round_unit() {
        let said = [64 * MIB, 24 * MIB, 7600 * MIB, 100_000_000, 512, 0].map(|n| DataAmount(n).to_string());
        assert_eq!(said, ["64 MiB", "24 MiB", "7.97 GB", "100 MB", "512 bytes", "0 bytes"]);
    }

    #[test]
    fn a_speed_has_three_digits() {
        assert_eq!(
            [117.04, 93.04, 4.5, 0.99951, 0.1234, 0.01234, 0.0].map(|mb_s| SpeedMbS(mb_s).to_string()),
            ["117 MB/s", "93.0 MB/s", "4.50 MB/s", "1.00 MB/s", "0.123 MB/s", "0.0123 MB/s", "0 MB/s"]
        );
        assert_eq!([f64::NAN, f64::INFINITY].map(three_digits), [NO_NUMBER; 2]);
        assert!(three_digits(1e300).len() < 12);
    }

    #[test]
    fn measured_figures_have_ten_digits() {
        assert_eq!(round_measured(662.0 * 1.048576), 694.157312);
        assert_eq!(mb_per_s(1_000_000, 3.0), 0.333_333_333_3);
        assert_eq!([0.0, 12.5, -3.0, 1e300].map(round_measured), [0.0, 12.5, -3.0, 1e300]);
        assert!(round_measured(f64::NAN).is_nan());
    }

    #[test]
    fn k_is_binary_and_kb_is_decimal() {
        assert_eq!(parse_size("4K"), Ok(4096));
        assert_eq!(parse_size("4kB"), Ok(4000));
        assert_eq!(parse_size("1.5GiB"), Ok(3 << 29));
        assert_eq!(parse_size(" 64 GB "), Ok(64_000_000_000));
        assert_eq!(parse_size("512"), Ok(512));
    }

    #[test]
    fn invalid_sizes_are_refused() {
        for bad in ["", "K", "4X", "1.3", "-4K", "99999999999T", "4 GiBs", "1..5G", ".5G5"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn option_size_uses_the_largest_unit() {
        let typed = [512 * MIB, 64_000_000_000, 4096, 100_000_000, 4095, 2 * GIB].map(option_size);
        assert_eq!(typed, ["512M", "64GB", "4K", "100MB", "4095", "2G"]);
    }

    #[test]
    fn sizes_print_exactly() {
        assert_eq!(BinarySize(1000 * MIB).to_string(), "1000 MiB");
        assert_eq!(BinarySize(4095).to_string(), "4095 bytes");
        assert_eq!(ExactCapacity(16_012_804_096).to_string(), "16 012 804 096 bytes (16.0 GB)");
    }

    proptest::proptest! {
        #[test]
        fn size_round_trips(n: u64) {
            proptest::prop_assert_eq!(parse_size(&n.to_string()), Ok(n));
            proptest::prop_assert_eq!(parse_size(&option_size(n)), Ok(n));
        }
        #[test]
        fn size_parser_never_panics(text in ".{0,24}") {
            let _ = parse_size(&text);
        }
    }
}
