//! Findings of `map`: claims of the card and its partitions, compared with the measurements.

use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::advice::{AdviceFacts, TargetKind};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::present_layout::{AllocationUnit, PresentLayout};
use cardscope_model::units::BinarySize;

pub fn map_findings(measured: &MeasuredMap, facts: &AdviceFacts) -> Vec<Finding> {
    let mut found = erase_block_findings(measured, facts);
    found.extend(cell_type_finding(measured, facts));
    found
}

/// Bits per cell, where the figures reveal them: TLC has pages and erase blocks of three times a power of two
/// (docs/reference/flash.md#pages), and a pSLC cache is at most the free space over the bits per cell
/// (docs/reference/flash.md#pslc-cache). SLC and MLC are not recognizable from outside.
fn cell_type_finding(measured: &MeasuredMap, facts: &AdviceFacts) -> Option<Finding> {
    if facts.target_kind == TargetKind::Directory {
        // Through a file system, the figures may be properties of the file system.
        return None;
    }
    let odd = [("page", &measured.page_bytes), ("erase block", &measured.erase_block_bytes)]
        .into_iter()
        .filter_map(|(what, unit)| Some((what, unit.value.filter(|n| is_thrice(*n))?, unit.confidence)))
        .max_by(|a, b| a.2.total_cmp(&b.2));
    if let Some((what, bytes, sure)) = odd {
        let size = BinarySize(bytes);
        let text = format!("The flash is probably TLC: the {what} of {size} is three times a power of two.");
        let finding = Finding::new("cells", FindingWeight::Note, 0.9 * sure, text);
        return Some(finding.because(what, size));
    }
    let cache = &measured.slc_cache_bytes;
    let bytes = cache.value.filter(|_| facts.target_kind == TargetKind::Card)?;
    let share = bytes as f64 / facts.bytes.max(1) as f64;
    let (bits, name) = [(3.0, "three bits (TLC)"), (4.0, "four bits (QLC)")]
        .into_iter()
        .find(|(bits, _)| (share * bits - 1.0).abs() < SHARE_TOLERANCE)?;
    let text =
        format!("The flash probably stores {name} per cell: writes are fast for 1/{bits} of the card.");
    let finding = Finding::new("cells", FindingWeight::Note, 0.6 * cache.confidence, text);
    Some(finding.because("share of the card that is fast", format!("{:.1} %", 100.0 * share)))
}

/// Largest deviation from 1/3 or 1/4 of the card, as spare blocks change the share.
const SHARE_TOLERANCE: f64 = 0.1;

fn is_thrice(bytes: u64) -> bool {
    bytes.is_multiple_of(3) && (bytes / 3).is_power_of_two()
}

fn erase_block_findings(measured: &MeasuredMap, facts: &AdviceFacts) -> Vec<Finding> {
    let Some(unit) = measured.erase_block_bytes.value.filter(|unit| *unit > 0) else { return Vec::new() };
    let sure = measured.erase_block_bytes.confidence;
    let claimed = facts.claimed_unit.map(|claimed| allocation_unit_finding(claimed, unit, sure));
    let layout = facts.layout.as_ref().filter(|_| facts.target_kind == TargetKind::Card);
    claimed.into_iter().chain(layout.and_then(|layout| alignment_finding(layout, unit, facts))).collect()
}

/// An allocation unit may be several erase blocks, but never a part of one.
fn allocation_unit_finding(claimed: u64, unit: u64, sure: f64) -> Finding {
    let (stated, found) = (BinarySize(claimed), BinarySize(unit));
    let verdict = match claimed {
        same if same == unit => {
            format!("The erase block matches the allocation unit that the card states ({stated}).")
        }
        many if many.is_multiple_of(unit) => format!(
            "The allocation unit that the card states ({stated}) is a multiple of its erase block ({found})."
        ),
        _ => format!("The card states allocation units of {stated}, but its erase blocks are {found}."),
    };
    let weight = if claimed.is_multiple_of(unit) { FindingWeight::Note } else { FindingWeight::Hint };
    let finding = Finding::new("allocation-unit", weight, sure, verdict);
    finding.because("stated", stated).because("measured", found)
}

fn alignment_finding(layout: &PresentLayout, unit: u64, facts: &AdviceFacts) -> Option<Finding> {
    let partitions = layout.partitions.iter();
    let partitions = partitions.map(|p| (p.number, p.start_bytes, p.bytes, p.volume.clone())).collect();
    let unit = AllocationUnit { bytes: unit, source: "measured erase block" };
    PresentLayout::new(facts.bytes, layout.table.clone(), partitions, Some(unit)).finding(&facts.target)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::property::{Property, PropertyEvidence};

    const MIB: u64 = 1 << 20;

    fn with_erase_block(unit: u64) -> MeasuredMap {
        MeasuredMap {
            erase_block_bytes: Property::measured(unit, 0.99, PropertyEvidence::default()),
            ..MeasuredMap::default()
        }
    }

    fn facts(claimed: u64) -> AdviceFacts {
        AdviceFacts {
            target: "/dev/sdz".into(),
            bytes: 8 << 30,
            claimed_unit: Some(claimed),
            ..AdviceFacts::default()
        }
    }

    #[test]
    fn only_units_that_cut_erase_blocks_are_a_hint() {
        for (claimed, measured, weight) in [
            (4, 4, FindingWeight::Note),
            (16, 4, FindingWeight::Note),
            (4, 6, FindingWeight::Hint),
            (4, 24, FindingWeight::Hint),
        ] {
            let found = erase_block_findings(&with_erase_block(measured * MIB), &facts(claimed * MIB));
            assert_eq!((found.len(), found[0].weight), (1, weight), "{claimed} {measured}");
        }
        assert!(map_findings(&MeasuredMap::default(), &facts(4 * MIB)).is_empty());
    }

    #[test]
    fn odd_units_and_a_fast_third_indicate_tlc() {
        let told = |measured: &MeasuredMap| {
            cell_type_finding(measured, &facts(0)).map(|f| (f.verdict, f.confidence))
        };
        let (verdict, sure) = told(&with_erase_block(24 * MIB)).unwrap();
        assert!(verdict.contains("TLC") && verdict.contains("24 MiB") && sure > 0.8, "{verdict}");
        assert_eq!(told(&with_erase_block(4 * MIB)), None);
        let fast = |bytes: u64| MeasuredMap {
            slc_cache_bytes: Property::measured(bytes, 0.95, PropertyEvidence::default()),
            ..with_erase_block(4 * MIB)
        };
        assert!(told(&fast((8 << 30) / 3)).unwrap().0.contains("TLC"));
        assert!(told(&fast(2 << 30)).unwrap().0.contains("QLC"));
        assert_eq!(told(&fast(64 * MIB)), None);
        let in_a_file = AdviceFacts { target_kind: TargetKind::Directory, ..facts(0) };
        assert_eq!(
            cell_type_finding(&with_erase_block(24 * MIB), &in_a_file),
            None,
            "it may be the file system's"
        );
    }

    #[test]
    fn partition_at_1_mib_cuts_4_mib_erase_blocks() {
        let at = |start: u64| {
            let layout =
                PresentLayout::new(8 << 30, Some("mbr".into()), vec![(Some(1), start, 1 << 30, None)], None);
            let facts = AdviceFacts { layout: Some(layout), claimed_unit: None, ..facts(0) };
            map_findings(&with_erase_block(4 * MIB), &facts).remove(0)
        };
        assert_eq!((at(MIB).weight, at(4 * MIB).weight), (FindingWeight::Hint, FindingWeight::Note));
        assert!(at(MIB).verdict.contains("4 MiB"), "{}", at(MIB).verdict);
    }
}
