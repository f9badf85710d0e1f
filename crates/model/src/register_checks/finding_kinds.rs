//! Helpers of all register checks: strengths, hints (which `verify` resolves), notes, and sizes in product names.

use crate::finding::{AdvisedVerb, Finding, FindingWeight};

/// No genuine card has this sign.
pub(super) const STRONG: f64 = 0.8;
/// Some genuine cards have this sign.
pub(super) const MEDIUM: f64 = 0.5;
/// Many genuine cards have this sign.
pub(super) const WEAK: f64 = 0.2;

const VERIFY_ADVICE: &str =
    "Registers prove nothing: run `cardscope verify` to see how much the card really holds.";

/// Builds a hint that recommends `verify`.
pub(super) fn verify_hint(claim: &str, strength: f64, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, FindingWeight::Hint, strength, verdict)
        .with_verb_advice(AdvisedVerb::Verify, VERIFY_ADVICE)
}

pub(super) fn certain_note(claim: &str, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, FindingWeight::Note, 1.0, verdict)
}

/// Builds a hint about a wrong CRC, which is most likely a copying or transfer error.
pub(super) fn crc_mismatch(claim: &str, name: &str, found: u8, wanted: u8) -> Finding {
    let text = format!("The CRC7 of the {name} is wrong, most likely by a copying or transfer error.");
    let hint = verify_hint(claim, WEAK, text).because("crc7", format!("0x{found:02x}"));
    let hint = hint.because("crc7_computed", format!("0x{wanted:02x}"));
    hint.with_advice("Read the register again and compare it digit by digit.")
}

/// Returns the sizes in bytes that a name may mean. Three digits alone (`SR128`, `SD064`) were MB once and are GB
/// now.
pub(super) fn sizes_in_name(name: &str) -> Vec<f64> {
    let Some(start) = name.find(|c: char| c.is_ascii_digit()) else { return Vec::new() };
    let rest = &name[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (digits, unit) = rest.split_at(end);
    let number: f64 = digits.parse().unwrap_or(0.0);
    let unit = unit.strip_suffix('B').unwrap_or(unit);
    match unit {
        _ if number == 0.0 => vec![],
        "M" => vec![number * 1e6],
        "G" => vec![number * 1e9],
        "T" => vec![number * 1e12],
        "T5" => vec![(number + 0.5) * 1e12],
        "" if digits.len() == 3 => vec![number * 1e6, number * 1e9],
        _ => vec![],
    }
}

/// Matches `S` or `W`, a letter, then a size (`SU08G`, `SN01T`, `SR128`, `WX64G`, `ST1T5`), or `AGGC` and a letter.
pub(super) fn is_sandisk_name(name: &str) -> bool {
    let (letters, size) = match name.as_bytes() {
        [b'A', b'G', b'G', b'C', last] => return last.is_ascii_uppercase(),
        [first @ (b'S' | b'W'), second, size @ ..] => ([*first, *second], size),
        _ => return false,
    };
    let sized = match size {
        [a, b, b'G' | b'M' | b'T'] | [a, b'T', b] => a.is_ascii_digit() && b.is_ascii_digit(),
        [a, b, c] => [a, b, c].iter().all(|d| d.is_ascii_digit()),
        _ => false,
    };
    letters[1].is_ascii_uppercase() && sized
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_parsed_from_product_names() {
        for (name, size) in [
            ("SD16G", 16e9),
            ("SU08G", 8e9),
            ("SD8GB", 8e9),
            ("LX1TB", 1e12),
            ("SN1T5", 1.5e12),
            ("0016G", 16e9),
        ] {
            assert_eq!(sizes_in_name(name), [size], "{name}");
        }
        assert_eq!(sizes_in_name("SD064"), [64e6, 64e9]);
        for none in ["00000", "AGGCE", "GD4QT", "USD00", "MSSD0", "SMI", "EB1QT", ""] {
            assert!(sizes_in_name(none).is_empty(), "{none}");
        }
    }

    #[test]
    fn sandisk_names_are_recognized() {
        for name in ["SU04G", "SR128", "SN64G", "AGGCE", "WX64G", "SH32G", "SN01T", "SD512", "SN1T5"] {
            assert!(is_sandisk_name(name), "{name}");
        }
        for name in ["SD4GB", "NCard", "00000", "AS", "SMI", "", "S", "USD"] {
            assert!(!is_sandisk_name(name), "{name}");
        }
    }

    proptest::proptest! {
        #[test]
        fn name_parsers_never_panic(name in ".{0,8}") {
            let _ = (sizes_in_name(&name), is_sandisk_name(&name));
        }
    }
}
