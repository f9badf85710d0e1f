//! Numbers as tools print them, in any locale, and the speeds they stand for.

use cardscope_model::result::ToolPrints;
use cardscope_model::run::Figure;
use cardscope_model::test_name::TestName;

/// A number with a point or a comma before its decimals; groups of three may be divided by the other one, blanks or
/// apostrophes. `None` for what is no finite number.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let digits: String = text.chars().filter(|c| !matches!(c, '\u{a0}' | '\u{202f}' | ' ' | '\'')).collect();
    let last = digits.rfind([',', '.']);
    let dividers = digits.matches([',', '.']).count();
    let clean = match last {
        None => digits,
        // 1,234,567 and 1.234.567: the same divider twice can only divide groups.
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

/// A speed that can be one: finite and not negative.
pub(crate) fn speed(text: &str) -> Option<f64> {
    number(text).filter(|value| *value >= 0.0)
}

/// A figure printed in a unit that is `mb_s` MB/s (10^6) each.
pub(crate) fn figure(test: TestName, value: f64, unit: &str, mb_s: f64) -> Figure {
    Figure {
        test: test.pattern,
        op: test.op,
        step: None,
        mb_s: value * mb_s,
        iops: None,
        latency_us: None,
        max_latency_us: None,
        as_printed: Some(ToolPrints { value, unit: unit.to_owned() }),
    }
}

/// MiB/s in MB/s.
pub(crate) const MIB_S: f64 = 1.048_576;

/// KiB/s in MB/s.
pub(crate) const KIB_S: f64 = 0.001_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_found_in_every_locale() {
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
            assert_eq!(number(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "nan", "inf", "-inf", "1e999", "+++++", "12x", "."] {
            assert_eq!(number(text), None, "{text}");
        }
        assert_eq!(speed("-1"), None);
    }
}
