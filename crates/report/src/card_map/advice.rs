//! What follows from a map, in sentences and as commands to paste.

use crate::figure::{rate, time_us};
use crate::page::{Block, Fact, fact};
use cardscope_model::card_map::{Advice, Tried};
use cardscope_model::units::{BinarySize, grouped};

/// The advice; nothing where there is none.
pub(super) fn blocks(advice: &Advice) -> Vec<Block> {
    let commands = advice.commands.iter().flat_map(|c| [format!("# {}", c.what), c.command.clone()]);
    vec![
        Block::Lines(advice.words.clone()),
        Block::Facts(settings(advice)),
        Block::Lines(advice.tried.iter().map(|tried| format!("tried {}", self::tried(tried))).collect()),
        Block::Lines(commands.collect()),
    ]
}

fn settings(advice: &Advice) -> Vec<Fact> {
    let blocks = |n: u64| format!("{n} blocks of 4 KiB");
    let options = (!advice.mount_options.is_empty()).then(|| advice.mount_options.join(","));
    let all = [
        ("partition start", advice.partition_start_bytes.map(|b| format!("{} bytes", grouped(b)))),
        ("ext4 stride", advice.ext4_stride.map(blocks)),
        ("ext4 stripe width", advice.ext4_stripe_width.map(blocks)),
        ("F2FS section", advice.f2fs_segments_per_section.map(|n| format!("{n} segments of 2 MiB"))),
        ("exFAT cluster", advice.exfat_cluster_bytes.map(|b| BinarySize(b).to_string())),
        ("slow below", advice.slow_below_bytes.map(|b| format!("{} an I/O", BinarySize(b)))),
        ("mount options", options),
    ];
    all.into_iter().filter_map(|(name, value)| Some(fact(name, value?))).collect()
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
