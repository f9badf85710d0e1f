//! Advice from the cost of I/Os by size and from the number of open blocks.

use crate::card_map::property::PropertyStatus;
use crate::card_map::{AdviceFacts, MapAdvice, MeasuredMap, SizePoint};
use crate::units::{BinarySize, KIB, SpeedMbS};

/// Unit of ext4's stride and stripe width.
pub(super) const EXT4_BLOCK: u64 = 4 * KIB;

/// Median latency of a 4 KiB write from which a long commit interval is worth the seconds that a power cut then
/// loses. ext4 writes its journal every 5 s (ext4(5), `commit`), a handful of such writes each time.
const COSTLY_US: f64 = 3_000.0;

/// Share of the best speed below which 4 KiB writes slow the card down.
const SLOW_SHARE: f64 = 0.5;

/// Write speed by size, and the kind of writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteCurve<'a> {
    pub points: &'a [SizePoint],
    /// `sequential writes` or `random writes`.
    pub what: &'static str,
}

/// Returns the curve of sequential writes, or of random writes if that is missing.
pub fn write_curve(measured: &MeasuredMap) -> WriteCurve<'_> {
    let curves = &measured.curves;
    if curves.sequential_write.len() > 1 {
        WriteCurve { points: &curves.sequential_write, what: "sequential writes" }
    } else {
        WriteCurve { points: &curves.random_write, what: "random writes" }
    }
}

/// Returns the smallest size from which on every point reaches a share of the best speed, else the first size that
/// does. Returns None with fewer than two points.
pub fn smallest_reaching(points: &[SizePoint], share: f64) -> Option<u64> {
    let mut points: Vec<&SizePoint> = points.iter().filter(|p| p.mb_s.is_finite() && p.mb_s > 0.0).collect();
    points.sort_by_key(|p| p.bytes);
    let best = points.iter().map(|p| p.mb_s).fold(0.0, f64::max);
    let fast = |p: &SizePoint| p.mb_s >= best * share;
    // Readers that split large I/Os may slow down the largest size; then the first fast size counts.
    let from = points.iter().rposition(|p| !fast(p)).map_or(0, |last_slow| last_slow + 1);
    let first = points.get(from).or_else(|| points.iter().find(|p| fast(p)));
    if points.len() < 2 { None } else { first.map(|p| p.bytes) }
}

pub(super) fn advise_use(measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    advise_sizes(measured, advice);
    advise_open_files(measured, advice);
    advise_mounting(measured, facts, advice);
}

fn advise_sizes(measured: &MeasuredMap, advice: &mut MapAdvice) {
    let curve = write_curve(measured);
    let Some(half) = smallest_reaching(curve.points, 0.5) else { return };
    advice.slow_below_bytes = Some(half);
    let best = curve.points.iter().map(|p| p.mb_s).fold(0.0, f64::max);
    let at = |bytes: u64| curve.points.iter().find(|p| p.bytes == bytes).map_or(0.0, |p| p.mb_s);
    let most = smallest_reaching(curve.points, 0.8).unwrap_or(half);
    let smallest = curve.points.iter().min_by_key(|p| p.bytes);
    let below = match smallest {
        Some(p) if p.bytes < half => format!(" of {} {},", BinarySize(p.bytes), SpeedMbS(p.mb_s)),
        _ => String::new(),
    };
    let (size, enough, writes) = (BinarySize(half), BinarySize(most), curve.what);
    let (at_size, at_best) = (SpeedMbS(at(half)), SpeedMbS(best));
    advice.words.push(format!(
        "Let programs write {enough} at once: {writes}{below} of {size} {at_size}, at best {at_best}, and 80 % of that takes {enough}."
    ));
    advise_stripe(curve, advice);
}

/// Share of the best speed at which the stripe is set: 10.4 of 11.2 MB/s, with 64 blocks, in
/// docs/reference/reports.md#lexar-review.
const STRIPE_SHARE: f64 = 0.9;

/// Advises ext4's stripe at mount time, derived as in docs/reference/reports.md#lexar-review. It overrides the stripe
/// width of mkfs, so it is not a mount option if that width is already a whole erase block.
fn advise_stripe(curve: WriteCurve<'_>, advice: &mut MapAdvice) {
    let enough = smallest_reaching(curve.points, STRIPE_SHARE);
    let Some(bytes) = enough.filter(|bytes| *bytes > EXT4_BLOCK && bytes.is_multiple_of(EXT4_BLOCK)) else {
        return;
    };
    let (blocks, size, writes) = (bytes / EXT4_BLOCK, BinarySize(bytes), curve.what);
    let reach = format!("{writes} of {size} reach {:.0} % of the best speed", 100.0 * STRIPE_SHARE);
    match advice.ext4_stripe_width {
        None => {
            advice.mount_options.push(format!("stripe={blocks}"));
            advice.words.push(format!("Mount ext4 with stripe={blocks} blocks of 4 KiB ({size}): {reach}."));
        }
        Some(width) if width == blocks => {}
        Some(width) => advice.words.push(format!(
            "On an ext4 made without these options, mount with stripe={blocks} blocks of 4 KiB ({size}): {reach}. \
             The stripe width of {width} blocks ({}) fills whole erase blocks as well.",
            BinarySize(width * EXT4_BLOCK)
        )),
    }
}

fn advise_open_files(measured: &MeasuredMap, advice: &mut MapAdvice) {
    let (linear, random) = (&measured.open_blocks.linear, &measured.open_blocks.random);
    let sure = linear.confidence * 100.0;
    let text = match (linear.status, linear.value, linear.bound) {
        (PropertyStatus::Measured, Some(open), _) => format!(
            "Write to at most {} at once: the card keeps {open} erase blocks open ({sure:.1} % sure), and the file system needs one.",
            count_of_files(open.saturating_sub(1).max(1))
        ),
        (PropertyStatus::AtLeast, _, Some(n)) => {
            format!("Write up to {} at once without a measurable slowdown.", count_of_files(n))
        }
        (PropertyStatus::None, ..) => "Write any number of files at once: no slowdown was measured.".into(),
        _ => return,
    };
    advice.words.push(text);
    if let (Some(linear), Some(random)) = (linear.value, random.value)
        && random < linear
    {
        let text = format!("Of blocks written out of order, as by a database, only {random} stay open.");
        advice.words.push(text);
    }
}

fn count_of_files(n: u32) -> String {
    if n == 1 { "1 file".to_owned() } else { format!("{n} files") }
}

fn advise_mounting(measured: &MeasuredMap, facts: &AdviceFacts, advice: &mut MapAdvice) {
    let curves = &measured.curves;
    let small = curves.random_write.iter().find(|p| p.bytes == 4 * KIB);
    let all = curves.sequential_write.iter().chain(&curves.random_write);
    let best = all.map(|p| p.mb_s).fold(0.0, f64::max);
    let Some(small) = small.filter(|small| small.mb_s < best * SLOW_SHARE) else { return };
    let cost = small.p50_us / 1000.0;
    advice.mount_options.insert(0, "noatime".to_owned());
    let (slow, fast) = (SpeedMbS(small.mb_s), SpeedMbS(best));
    advice.words.push(format!(
        "Mount with noatime: otherwise each file read causes a small write, which takes {cost:.2} ms here ({slow} against {fast} at best)."
    ));
    if small.p50_us >= COSTLY_US {
        advice.mount_options.push("commit=60".to_owned());
        advice.words.push(
            "commit=60 (ext4) collects small writes for a minute instead of 5 s; a power cut then loses up to a minute of work."
                .to_owned(),
        );
    }
    let mount = format!("mount -o {} {} /mnt", advice.mount_options.join(","), facts.first_partition());
    advice.add_command("mount ext4 with these options:", mount);
}
