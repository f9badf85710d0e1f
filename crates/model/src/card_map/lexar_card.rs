//! Card of docs/reference/reports.md#lexar-review, for tests of profile and advice.

use super::property::{Property, PropertyEvidence};
use super::{MeasuredMap, SizePoint};
use crate::units::{KIB, MIB};

pub(super) fn point((kib, mb_s): (u64, f64)) -> SizePoint {
    let bytes = kib * KIB;
    let iops = mb_s * 1e6 / bytes as f64;
    SizePoint { bytes, mb_s, iops, p50_us: 1e6 / iops, ios: 24 }
}

/// Published figures: page, erase block, open blocks, sequential `dd` writes, random writes.
pub(super) fn seed_004() -> MeasuredMap {
    let mut measured = with_units(16 * KIB, 4 * MIB);
    measured.open_blocks.linear = Property::measured(5, 0.99, PropertyEvidence::default());
    measured.open_blocks.random = measured.open_blocks.linear.clone();
    measured.curves.sequential_write = [
        (4, 2.00),
        (8, 3.20),
        (16, 5.80),
        (32, 7.50),
        (64, 8.70),
        (128, 9.40),
        (256, 10.40),
        (512, 10.80),
        (2048, 11.20),
        (4096, 11.20),
    ]
    .map(point)
    .to_vec();
    measured.curves.random_write = [(4, 1.20), (16, 4.54), (64, 8.78), (512, 12.07)].map(point).to_vec();
    measured
}

pub(super) fn with_units(page: u64, unit: u64) -> MeasuredMap {
    MeasuredMap {
        page_bytes: Property::measured(page, 0.99, PropertyEvidence::default()),
        erase_block_bytes: Property::measured(unit, 0.99, PropertyEvidence::default()),
        ..MeasuredMap::default()
    }
}
