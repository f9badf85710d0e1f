//! What follows from a map, in sentences and as commands to paste.

use crate::figure::{rate, time_us};
use cardscope_model::card_map::{Advice, Tried};
use cardscope_model::units::{BinarySize, grouped};
use std::fmt::Write;

/// The advice; empty where there is none.
pub(super) fn text(advice: &Advice) -> String {
    let mut out = String::new();
    for sentence in &advice.words {
        let _ = writeln!(out, "  {sentence}");
    }
    settings(&mut out, advice);
    for tried in &advice.tried {
        let _ = writeln!(out, "  tried {}", self::tried(tried));
    }
    for command in &advice.commands {
        let _ = writeln!(out, "  # {}\n  {}", command.what, command.command);
    }
    out
}

fn settings(out: &mut String, advice: &Advice) {
    let blocks = |n: u64| format!("{n} blocks of 4 KiB");
    let list = [
        ("partition start", advice.partition_start_bytes.map(|b| format!("{} bytes", grouped(b)))),
        ("ext4 stride", advice.ext4_stride.map(blocks)),
        ("ext4 stripe width", advice.ext4_stripe_width.map(blocks)),
        ("F2FS section", advice.f2fs_segments_per_section.map(|n| format!("{n} segments of 2 MiB"))),
        ("exFAT cluster", advice.exfat_cluster_bytes.map(|b| BinarySize(b).to_string())),
        ("slow below", advice.slow_below_bytes.map(|b| format!("{} an I/O", BinarySize(b)))),
    ];
    for (name, value) in list.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        let _ = writeln!(out, "  {name:<18} {value}");
    }
    if !advice.mount_options.is_empty() {
        let _ = writeln!(out, "  {:<18} {}", "mount options", advice.mount_options.join(","));
    }
}

fn tried(tried: &Tried) -> String {
    let Some(iops) = tried.iops else {
        let why = tried.reason.as_deref().unwrap_or("no figure");
        return format!("{}: not done, {why}", tried.what);
    };
    let interval = tried.ci95.map_or(String::new(), |(low, high)| {
        format!(" (95 % interval {} to {} IOPS)", rate(low), rate(high))
    });
    let longest =
        tried.longest_s.map_or(String::new(), |s| format!(", the longest took {}", time_us(s * 1e6)));
    format!("{}: {} random 4 KiB writes a second{interval}{longest}", tried.what, rate(iops))
}
