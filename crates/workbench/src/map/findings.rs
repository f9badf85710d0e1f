//! What is claimed, and what stands on the card, held against what was measured.

use cardscope_model::card_map::Measured;
use cardscope_model::card_map::advice::{Facts, Place};
use cardscope_model::finding::{Finding, Weight};
use cardscope_model::layout::present::{PresentLayout, Read, Unit};
use cardscope_model::units::BinarySize;

pub(super) fn findings(measured: &Measured, facts: &Facts) -> Vec<Finding> {
    let Some(unit) = measured.erase_block_bytes.value.filter(|unit| *unit > 0) else { return Vec::new() };
    let sure = measured.erase_block_bytes.confidence;
    let claimed = facts.claimed_unit.map(|claimed| claim(claimed, unit, sure));
    let layout = facts.layout.as_ref().filter(|_| facts.place == Place::Card);
    claimed.into_iter().chain(layout.and_then(|layout| alignment(layout, unit, facts))).collect()
}

/// An allocation unit may well be several erase blocks; it cannot be a part of one.
fn claim(claimed: u64, unit: u64, sure: f64) -> Finding {
    let (stated, found) = (BinarySize(claimed), BinarySize(unit));
    let (weight, verdict) = match claimed {
        same if same == unit => {
            (Weight::Note, format!("the card states allocation units of {stated}, and so it shows"))
        }
        many if many.is_multiple_of(unit) => (
            Weight::Note,
            format!("the card states allocation units of {stated}, which are whole erase blocks of {found}"),
        ),
        _ => (
            Weight::Hint,
            format!(
                "the card states allocation units of {stated}, but shows erase blocks of {found}: what is laid out by the claim cuts them"
            ),
        ),
    };
    Finding::new("allocation-unit", weight, sure, verdict)
        .because("stated bytes", claimed)
        .because("measured bytes", unit)
}

/// The partitions that are there, held against the erase block that was measured.
fn alignment(layout: &PresentLayout, unit: u64, facts: &Facts) -> Option<Finding> {
    let read = |p: &cardscope_model::layout::present::Partition| -> Read {
        (p.number, p.start_bytes, p.bytes, p.volume.clone())
    };
    let partitions = layout.partitions.iter().map(read).collect();
    let unit = Unit { bytes: unit, source: "erase block that was measured" };
    PresentLayout::new(facts.bytes, layout.table.clone(), partitions, Some(unit)).finding(&facts.target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::property::{Evidence, Property};

    const MIB: u64 = 1 << 20;

    fn with(unit: u64) -> Measured {
        Measured {
            erase_block_bytes: Property::measured(unit, 0.99, Evidence::default()),
            ..Measured::default()
        }
    }

    fn facts(claimed: u64) -> Facts {
        Facts { target: "/dev/sdz".into(), bytes: 8 << 30, claimed_unit: Some(claimed), ..Facts::default() }
    }

    #[test]
    fn only_a_claim_that_cuts_erase_blocks_is_held_against_the_card() {
        for (claimed, measured, weight) in
            [(4, 4, Weight::Note), (16, 4, Weight::Note), (4, 6, Weight::Hint), (4, 24, Weight::Hint)]
        {
            let found = findings(&with(measured * MIB), &facts(claimed * MIB));
            assert_eq!((found.len(), found[0].weight), (1, weight), "{claimed} {measured}");
        }
        assert!(findings(&Measured::default(), &facts(4 * MIB)).is_empty());
    }

    #[test]
    fn a_partition_at_1_mib_is_found_to_cut_erase_blocks_of_4_mib() {
        let at = |start: u64| {
            let layout =
                PresentLayout::new(8 << 30, Some("mbr".into()), vec![(Some(1), start, 1 << 30, None)], None);
            let facts = Facts { layout: Some(layout), claimed_unit: None, ..facts(0) };
            findings(&with(4 * MIB), &facts).remove(0)
        };
        assert_eq!((at(MIB).weight, at(4 * MIB).weight), (Weight::Hint, Weight::Note));
        assert!(at(MIB).verdict.contains("4 MiB"), "{}", at(MIB).verdict);
    }
}
