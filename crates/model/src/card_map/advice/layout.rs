//! Advice on the start of a partition and on the options of each mkfs.

use super::speed::{EXT4_BLOCK, smallest_reaching, write_curve};
use crate::card_map::property::{Property, PropertyStatus};
use crate::card_map::{AdviceFacts, MapAdvice, MeasuredMap, TargetKind};
use crate::shell::shell_quote;
use crate::units::{BinarySize, KIB, MIB};

/// mke2fs stores the stride in 16 bits.
const MOST_STRIDE: u64 = u16::MAX as u64;

/// Segment of F2FS (kernel, Documentation/filesystems/f2fs).
const F2FS_SEGMENT: u64 = 2 * MIB;

/// exFAT allows clusters of up to 32 MiB, but above 1 MiB a small file wastes more space than the card gains speed.
const MOST_CLUSTER: u64 = MIB;

/// First start of a partition; partition tables and boot loaders lie before it.
const FIRST_START: u64 = MIB;

/// Start if the erase block is unknown: a multiple of every power of two that the SD specification allows as a unit
/// up to 2 TB.
const SAFE_START: u64 = 64 * MIB;

/// Start for cards up to 32 GB, whose units are 4 MiB at most (SD Physical Layer Specification 4.10, table 4-47).
const SAFE_START_SMALL: u64 = 4 * MIB;
const SMALL_CARD: u64 = 32 << 30;

/// Largest card in bytes with an MBR: 2^32 sectors of 512 bytes.
const MOST_MBR: u64 = 1 << 41;

pub(super) fn advise_layout(measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    let unit = measured.erase_block_bytes.value.filter(|unit| *unit > 0);
    match unit {
        Some(unit) => advise_aligned_start(unit, measured, facts, advice),
        None => advise_safe_start(&measured.erase_block_bytes, facts, advice),
    }
    advise_ext4(unit, measured, facts, advice);
    if let Some(unit) = unit {
        advise_f2fs(unit, measured, facts, advice);
    }
    advise_exfat(unit, measured, facts, advice);
}

fn advise_aligned_start(unit: u64, measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    let (sure, block) = (measured.erase_block_bytes.confidence * 100.0, BinarySize(unit));
    if facts.target_kind == TargetKind::Partition {
        advice.words.push(format!(
            "The erase block is {block} ({sure:.1} % sure), measured from the start of this partition; map the whole card for advice on alignment."
        ));
        return;
    }
    // A multiple of the claimed unit is also one of the measured unit here, so it costs nothing.
    let claimed = facts.claimed_unit.filter(|claimed| claimed.is_multiple_of(unit));
    let step = claimed.unwrap_or(unit);
    let start = FIRST_START.next_multiple_of(step);
    if start >= facts.bytes / 2 {
        let (step, at) = (BinarySize(step), BinarySize(FIRST_START));
        advice
            .words
            .push(format!("Start the partition at {at}: this card is too small to align it to {step}."));
        return;
    }
    advice.partition_start_bytes = Some(start);
    let stated = |claimed| format!(", and of the {} that the card itself states", BinarySize(claimed));
    let also = claimed.filter(|claimed| *claimed != unit).map_or_else(String::new, stated);
    let at = BinarySize(start);
    advice.words.push(format!(
        "Start partitions at {at}: a multiple of the erase block of {block} ({sure:.1} % sure){also}, so that no file shares an erase block with what lies before it."
    ));
    let command = partition_command(start, facts);
    advice.add_command("create one aligned partition (all data on the card is lost):", command);
}

fn partition_command(start: u64, facts: &AdviceFacts) -> String {
    let (label, kind) = if facts.bytes > MOST_MBR { ("gpt", "linux") } else { ("dos", "83") };
    let (start, target) = (start / KIB, shell_quote(&facts.target));
    format!("printf 'label: {label}\\nstart={start}KiB, type={kind}\\n' | sfdisk {target}")
}

/// Advises a start that is safe for any erase block, and gives the reason.
fn advise_safe_start(unit: &Property<u64>, facts: &AdviceFacts, advice: &mut MapAdvice) {
    let why = match (unit.status, &unit.reason, unit.bound) {
        (PropertyStatus::None, ..) => "reads and writes show no erase block on this card".to_owned(),
        (PropertyStatus::AtLeast, _, Some(n)) => format!("the erase block is at least {}", BinarySize(n)),
        (_, Some(reason), _) => format!("the erase block was not measured ({reason})"),
        _ => "the erase block was not measured".to_owned(),
    };
    if facts.target_kind == TargetKind::Partition {
        advice.words.push(format!("No advice on alignment: {why}."));
        return;
    }
    let (start, most) = match facts.bytes {
        small if small <= SMALL_CARD => (SAFE_START_SMALL, "the limit for cards of up to 32 GB"),
        _ => (SAFE_START, "the largest in the SD specification"),
    };
    let claim = facts.claimed_unit.map_or_else(String::new, |claimed| {
        format!(" The card states {}, which was not confirmed.", BinarySize(claimed))
    });
    let start = BinarySize(start);
    advice.words.push(format!(
        "Start partitions at {start}, {most}: {why}. Leave stride, stripe width and sections to mkfs.{claim}"
    ));
}

fn advise_ext4(unit: Option<u64>, measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    let page = measured.page_bytes.value.filter(|page| *page > 0);
    advice.ext4_stride = page.map(|page| page.div_ceil(EXT4_BLOCK)).filter(|stride| *stride <= MOST_STRIDE);
    advice.ext4_stripe_width = unit.map(|unit| unit / EXT4_BLOCK).filter(|width| *width > 0);
    let stride = advice.ext4_stride.map(|blocks| format!("stride={blocks}"));
    let width = advice.ext4_stripe_width.map(|blocks| format!("stripe_width={blocks}"));
    let options: Vec<String> = stride.into_iter().chain(width).collect();
    if options.is_empty() {
        return;
    }
    let units = [("page", page), ("erase block", unit)].into_iter();
    let text = |(what, bytes): (_, Option<u64>)| Some(format!("the {what} of {}", BinarySize(bytes?)));
    let units: Vec<String> = units.filter_map(text).collect();
    let (words, units) = (options.join(", "), units.join(" and "));
    advice.words.push(format!("ext4: {words} ({units}, in blocks of 4 KiB) aligns its files and tables."));
    advice.add_command(
        "create an aligned ext4 (all data on the partition is lost):",
        format!("mkfs.ext4 -b 4096 -E {} {}", options.join(","), facts.first_partition()),
    );
}

fn advise_f2fs(unit: u64, measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    // The smallest section that is a whole number of erase blocks.
    let whole = |segments: &u64| (segments * F2FS_SEGMENT).is_multiple_of(unit);
    let Some(segments) = (1..=1024).find(whole) else { return };
    advice.f2fs_segments_per_section = Some(segments);
    let (section, block) = (BinarySize(segments * F2FS_SEGMENT), BinarySize(unit));
    advice.words.push(format!(
        "F2FS: sections of {segments} segments ({section}) free whole erase blocks of {block}; zones (-z) stay at 1."
    ));
    advice.add_command(
        "create an aligned F2FS (all data on the partition is lost):",
        format!("mkfs.f2fs -s {segments} -z 1 {}", facts.first_partition()),
    );
    if let Some((logs, open)) = active_logs(measured) {
        advice.words.push(format!(
            "Mount F2FS with active_logs={logs}: it writes to six places by default, and this card keeps {open} erase blocks open."
        ));
        advice.add_command(
            "mount F2FS with as many logs as the card keeps open:",
            format!("mount -t f2fs -o noatime,active_logs={logs} {} /mnt", facts.first_partition()),
        );
    }
}

/// Returns the number of F2FS logs (2, 4 or 6) and of open blocks, if the card keeps too few blocks open for six logs
/// and a checkpoint.
fn active_logs(measured: &MeasuredMap) -> Option<(u32, u32)> {
    let open = measured.open_blocks.linear.value?;
    // F2FS writes six logs and a checkpoint, which need seven open blocks.
    let logs = [4, 2].into_iter().find(|logs| logs < &open).unwrap_or(2);
    (open < 7).then_some((logs, open))
}

fn advise_exfat(unit: Option<u64>, measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    let curve = write_curve(measured);
    let fast = smallest_reaching(curve.points, 0.8);
    let page = measured.page_bytes.value.unwrap_or(EXT4_BLOCK);
    let cluster = fast.map(|bytes| {
        let least = bytes.max(page).max(EXT4_BLOCK).next_power_of_two();
        // A cluster that does not divide the erase block would cross its boundary.
        let whole = unit.map_or(MOST_CLUSTER, |unit| 1 << unit.trailing_zeros().min(63));
        least.min(MOST_CLUSTER).min(whole.max(EXT4_BLOCK))
    });
    advice.exfat_cluster_bytes = cluster;
    let align = unit.filter(|unit| unit.is_power_of_two());
    if let Some(cluster) = cluster {
        let (size, writes) = (BinarySize(cluster), curve.what);
        advice.words.push(format!(
            "exFAT: use clusters of {size}, the smallest with which {writes} reach 80 % of the best speed."
        ));
    }
    let cluster_option = cluster.map(|bytes| format!("-c {}K", bytes / KIB));
    let align_option = align.map(|bytes| format!("--boundary-align={}K", bytes / KIB));
    let options: Vec<String> = cluster_option.into_iter().chain(align_option).collect();
    if !options.is_empty() {
        advice.add_command(
            "create an aligned exFAT (all data on the partition is lost):",
            format!("mkfs.exfat {} {}", options.join(" "), facts.first_partition()),
        );
    }
    if let Some(unit) = unit.filter(|unit| !unit.is_power_of_two() && facts.target_kind == TargetKind::Card) {
        advice.words.push(format!(
            "exFAT and FAT: use `cardscope format`; mkfs.exfat aligns only to powers of two, and {} is not one.",
            BinarySize(unit)
        ));
        advice.add_command(
            "format the whole card for cameras, aligned (all data on it is lost):",
            format!("cardscope format {} --boundary {}K", shell_quote(&facts.target), unit / KIB),
        );
    }
}
