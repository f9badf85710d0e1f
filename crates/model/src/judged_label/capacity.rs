//! The printed capacity: against the family beside it, against what the card announces, against what it holds.
//!
//! Makers count in powers of ten and keep spare blocks: of 19 cards measured in seed 002 and the reference page
//! `sd-facts`, the least had 96.8 % of what is printed on it and the most 101.6 %.

use super::seen::Seen;
use crate::finding::{Finding, Weight};
use crate::units::Capacity;
use crate::verify::SURE;
use cardscope_sd::label::{Label, PrintedCapacity};
use cardscope_sd::registers::Family;

/// Cards with less of the printed size than this are not known among honest ones …
const USUAL_FROM: f64 = 0.93;
/// … nor such with more: 2^30 bytes are 1.074 GB.
const USUAL_TO: f64 = 1.08;
/// Less than this is no rounding, whatever one counts by: 10^12 is 0.909 of 2^40.
const FAR_BELOW: f64 = 0.90;

/// The largest printed size of each family (Physical Layer Specification 3.3); a little above, since 32 GB may be GiB.
const FAMILIES: [(Family, u64, &str); 4] = [
    (Family::Sdsc, 2_147_483_648, "up to 2 GB"),
    (Family::Sdhc, 34_359_738_368, "over 2 GB to 32 GB"),
    (Family::Sdxc, 2_199_023_255_552, "over 32 GB to 2 TB"),
    (Family::Sduc, 140_737_488_355_328, "over 2 TB to 128 TB"),
];

pub(super) fn judge(label: &Label, seen: &Seen<'_>, findings: &mut Vec<Finding>) {
    findings.extend(family(label));
    let Some(printed) = &label.capacity else { return };
    findings.extend(seen.announced_bytes.map(|bytes| announced(printed, bytes)));
    let short = |bytes: &u64| (*bytes as f64) < FAR_BELOW * printed.bytes as f64;
    let less = |bytes: &u64| seen.announced_bytes.is_none_or(|announced| *bytes < announced);
    findings.extend(
        seen.usable_bytes
            .filter(short)
            .filter(less)
            .map(|bytes| usable(printed, bytes, seen.usable_confidence)),
    );
}

fn family(label: &Label) -> Option<Finding> {
    let claim = "label-family";
    if let [first, second, ..] = label.families[..] {
        let text = format!("Two families are printed, {first} and {second}, but a card belongs to one.");
        return Some(Finding::new(claim, Weight::Hint, 0.8, text));
    }
    let (printed, capacity) = (label.families.first()?, label.capacity.as_ref()?);
    let (right, _, range) = FAMILIES.iter().find(|(_, most, _)| capacity.bytes <= *most)?;
    (printed != right).then(|| {
        Finding::new(
            claim,
            Weight::Hint,
            0.8,
            format!("A card of {} is {right}, not {printed}: {right} is {range}.", capacity.printed),
        )
        .because("printed family", printed)
        .because("printed capacity", &capacity.printed)
    })
}

/// What lacks against the print: bytes and percent.
fn lacking(printed: &PrintedCapacity, bytes: u64) -> String {
    let percent = |difference: u64| 100.0 * difference as f64 / printed.bytes as f64;
    match printed.bytes.checked_sub(bytes) {
        Some(0) => format!("exactly the {} printed on it", printed.printed),
        Some(less) => {
            format!("{less} bytes ({:.1} %) less than the {} printed on it", percent(less), printed.printed)
        }
        None => {
            let more = bytes - printed.bytes;
            format!("{more} bytes ({:.1} %) more than the {} printed on it", percent(more), printed.printed)
        }
    }
}

fn announced(printed: &PrintedCapacity, bytes: u64) -> Finding {
    let share = bytes as f64 / printed.bytes as f64;
    let text = format!("The card announces {}, {}", Capacity(bytes), lacking(printed, bytes));
    let (weight, confidence, usual) = match share {
        s if s < FAR_BELOW => (Weight::Bad, 0.95, "no honest card lacks that much"),
        s if s < USUAL_FROM => (Weight::Hint, 0.6, "that is less than usual"),
        s if s <= USUAL_TO => (Weight::Note, 1.0, "that is usual"),
        _ => (Weight::Hint, 0.6, "the label may belong to another card"),
    };
    Finding::new("label-capacity", weight, confidence, format!("{text}: {usual}."))
        .because("printed_bytes", printed.bytes)
        .because("announced_bytes", bytes)
        .because("usual share of the print", format!("{USUAL_FROM} to {USUAL_TO}"))
}

fn usable(printed: &PrintedCapacity, bytes: u64, confidence: f64) -> Finding {
    let text = format!("The card really holds {}, {}.", Capacity(bytes), lacking(printed, bytes));
    let (weight, advice) = match confidence >= SURE {
        true => {
            (Weight::Bad, "Return it, or make what is left usable with `cardscope format --limit-to-real`.")
        }
        false => (Weight::Hint, "Make sure with `cardscope verify --full`, which tests every byte."),
    };
    Finding::new("label-capacity", weight, confidence, text)
        .because("printed_bytes", printed.bytes)
        .because("usable_bytes", bytes)
        .advise(advice)
}
