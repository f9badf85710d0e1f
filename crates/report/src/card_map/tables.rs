//! The curves as one table, and the block of lines that opens a published review.

use crate::figure::{rate, speed};
use crate::table::Table;
use cardscope_model::card_map::{Curves, ProfileLine, SizePoint};
use cardscope_model::units::BinarySize;
use std::collections::BTreeSet;

/// Speeds by size, a line a size; columns without a figure are left out.
pub(super) fn curves(curves: &Curves) -> Option<Table> {
    let all = [&curves.sequential_read, &curves.random_read, &curves.sequential_write, &curves.random_write];
    let sizes: BTreeSet<u64> = all.iter().flat_map(|c| c.iter().map(|p| p.bytes)).collect();
    let at = |curve: &[SizePoint], bytes: &u64, show: fn(&SizePoint) -> String| {
        curve.iter().find(|p| p.bytes == *bytes).map_or(String::new(), show)
    };
    let mb_s = |p: &SizePoint| speed(p.mb_s);
    let iops = |p: &SizePoint| rate(p.iops);
    let table = Table::of(
        &sizes,
        &[
            ("I/O size", &|bytes| BinarySize(*bytes).to_string()),
            ("read MB/s", &|bytes| at(&curves.sequential_read, bytes, mb_s)),
            ("random MB/s", &|bytes| at(&curves.random_read, bytes, mb_s)),
            ("IOPS", &|bytes| at(&curves.random_read, bytes, iops)),
            ("write MB/s", &|bytes| at(&curves.sequential_write, bytes, mb_s)),
            ("random MB/s", &|bytes| at(&curves.random_write, bytes, mb_s)),
            ("IOPS", &|bytes| at(&curves.random_write, bytes, iops)),
        ],
    );
    (!sizes.is_empty()).then_some(table)
}

/// The block that opens a review, each line with how it was got.
pub(super) fn profile(lines: &[ProfileLine]) -> Vec<String> {
    let what = lines.iter().map(|l| l.what.chars().count() + 1).max().unwrap_or(0);
    let value = lines.iter().map(|l| l.value.chars().count()).max().unwrap_or(0);
    let line = |line: &ProfileLine| {
        let name = format!("{}:", line.what);
        let how = if line.how.is_empty() { String::new() } else { format!("  [{}]", line.how) };
        format!("{name:<what$} {:>value$}{how}", line.value)
    };
    lines.iter().map(line).collect()
}
