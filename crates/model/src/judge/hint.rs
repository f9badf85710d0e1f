//! How strong a sign is, and the two kinds of finding that registers give: a hint, which the capacity test settles, and
//! a note.

use crate::finding::{Finding, Weight};

/// No honest card is known with it.
pub(super) const STRONG: f64 = 0.8;
/// Some honest cards have it.
pub(super) const MEDIUM: f64 = 0.5;
/// Many honest cards have it.
pub(super) const WEAK: f64 = 0.2;

/// Where a doubt about the capacity is settled.
const SETTLE: &str =
    "registers prove nothing either way: run `cardscope verify` to see how much the card really holds";

/// A hint of a given strength that the capacity test settles.
pub(super) fn hint(claim: &str, strength: f64, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, Weight::Hint, strength, verdict).advise(SETTLE)
}

/// Something worth knowing, certain in itself.
pub(super) fn note(claim: &str, verdict: impl Into<String>) -> Finding {
    Finding::new(claim, Weight::Note, 1.0, verdict)
}

/// A wrong CRC is a copying or transfer error first.
pub(super) fn crc_mismatch(register: &str, found: u8, wanted: u8) -> Finding {
    let name = register.to_uppercase();
    hint(&format!("{register}-crc"), WEAK, format!("the CRC7 of the {name} is wrong: a digit lost in copying or a transfer error first, a careless maker last"))
        .because("crc7", format!("0x{found:02x}"))
        .because("crc7_computed", format!("0x{wanted:02x}"))
        .advise("read the register again, and compare it digit by digit")
}
