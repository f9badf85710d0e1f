//! Temperatures in texts that were written for people: `temp=48.3'C`, `21,5 °C`, `probe1 -3.25`.

use crate::hwmon::PLAUSIBLE_C;

/// The first number that stands by itself, not as part of a word such as `probe1`. A comma between digits is a
/// decimal one.
pub(super) fn first(text: &str) -> Option<f64> {
    let bytes = text.as_bytes();
    let starts = (0..bytes.len()).find(|&at| {
        let before = at.checked_sub(1).map(|at| bytes[at]);
        bytes[at].is_ascii_digit()
            && !before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'.')
    })?;
    let digits = |from: usize| bytes[from..].iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = starts + digits(starts);
    if matches!(bytes.get(end), Some(b'.' | b',')) && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    let value: f64 = text.get(starts..end)?.replace(',', ".").parse().ok()?;
    let negative = starts > 0 && bytes[starts - 1] == b'-';
    Some(if negative { -value } else { value })
}

/// The same as a temperature; `Err` says what stood there instead.
pub(super) fn celsius(text: &str) -> Result<f64, String> {
    match first(text) {
        Some(celsius) if PLAUSIBLE_C.contains(&celsius) => Ok(celsius),
        Some(other) => Err(format!("{other} is no temperature in °C")),
        None => Err(format!("{:?} holds no number", text.chars().take(40).collect::<String>())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_number_that_stands_by_itself_is_taken() {
        for (text, value) in [
            ("temp=48.3'C", 48.3),
            ("21,5 °C\n", 21.5),
            ("probe1 -3.25", -3.25),
            ("45", 45.0),
            ("a_1: 30.5 31.5", 30.5),
            ("50.", 50.0),
        ] {
            assert_eq!(first(text), Some(value), "{text}");
        }
        for text in ["", "warm", "T1", "nan"] {
            assert_eq!(first(text), None, "{text}");
        }
    }

    #[test]
    fn thousandths_are_no_temperature_and_are_told() {
        assert!(celsius("23125").unwrap_err().contains("23125"));
        assert!(celsius("off").unwrap_err().contains("off"));
    }

    proptest::proptest! {
        #[test]
        fn no_text_panics_and_every_temperature_comes_back(text in "\\PC{0,40}", celsius in -55i32..190) {
            let _ = first(&text);
            proptest::prop_assert_eq!(first(&format!("t={celsius}.5 C")).map(f64::abs), Some(f64::from(celsius.abs()) + 0.5));
        }
    }
}
