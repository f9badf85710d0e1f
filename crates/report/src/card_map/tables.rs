//! The curves as one table, and the block of lines that opens seed 004.

use crate::figure::{rate, speed};
use crate::table::Table;
use cardscope_model::card_map::{Curves, ProfileLine, SizePoint};
use cardscope_model::units::BinarySize;
use std::collections::BTreeSet;
use std::fmt::Write;

const HEAD: [&str; 7] =
    ["  I/O size", "read MB/s", "random MB/s", "IOPS", "write MB/s", "random MB/s", "IOPS"];

/// Speeds by size, a line a size; columns without a figure are left out.
pub(super) fn curves(curves: &Curves) -> String {
    let all = [&curves.sequential_read, &curves.random_read, &curves.sequential_write, &curves.random_write];
    let sizes: BTreeSet<u64> = all.iter().flat_map(|c| c.iter().map(|p| p.bytes)).collect();
    if sizes.is_empty() {
        return String::new();
    }
    let mut table = Table::new(HEAD);
    for bytes in sizes {
        let at = |curve: &[SizePoint], show: fn(&SizePoint) -> String| {
            curve.iter().find(|p| p.bytes == bytes).map_or(String::new(), show)
        };
        let mb_s = |p: &SizePoint| speed(p.mb_s);
        let iops = |p: &SizePoint| rate(p.iops);
        table.row([
            format!("  {}", BinarySize(bytes)),
            at(&curves.sequential_read, mb_s),
            at(&curves.random_read, mb_s),
            at(&curves.random_read, iops),
            at(&curves.sequential_write, mb_s),
            at(&curves.random_write, mb_s),
            at(&curves.random_write, iops),
        ]);
    }
    table.drop_blank_columns();
    table.to_string()
}

/// The block that opens seed 004, each line with how it was got.
pub(super) fn profile(lines: &[ProfileLine]) -> String {
    let what = lines.iter().map(|l| l.what.chars().count() + 1).max().unwrap_or(0);
    let value = lines.iter().map(|l| l.value.chars().count()).max().unwrap_or(0);
    lines.iter().fold(String::new(), |mut out, line| {
        let name = format!("{}:", line.what);
        let how = if line.how.is_empty() { String::new() } else { format!("  [{}]", line.how) };
        let text = format!("  {name:<what$} {:>value$}{how}", line.value);
        let _ = writeln!(out, "{}", text.trim_end());
        out
    })
}
