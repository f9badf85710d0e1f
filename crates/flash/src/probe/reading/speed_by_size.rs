//! Read speed by I/O size, sequential and random, as in docs/reference/reports.md#lexar-review.

use super::reads::{ReadDeadline, ReadTester};
use super::stages;
use crate::probe::curve;
use cardscope_engine::io_driver::{CardExtent, ProbeStop};
use cardscope_model::card_map::SizePoint;
use cardscope_model::finding::{Finding, FindingWeight};

/// Exponents of the sizes: 512 bytes to 4 MiB.
const SIZES: std::ops::RangeInclusive<u32> = 9..=22;

/// Seconds per point, longest first.
const POINT_S: [f64; 3] = [0.15, 0.08, 0.04];

/// All points take [`POINT_S`] times this, and large reads take [`LARGE_S`] more at 20 MB/s.
const POINTS_FACTOR: f64 = 28.0;
const LARGE_S: f64 = 4.0;

/// Fewest and most reads of a point.
const READS: (usize, usize) = (5, 1000);

/// Measures both curves. Sizes too large for the range are absent. A finding reports sizes that the time limit cut.
pub(super) fn measure_sizes(reads: &mut ReadTester<'_, '_, '_>) -> Result<(), ProbeStop> {
    let all_s = |point_s: f64| point_s * POINTS_FACTOR + LARGE_S;
    let most = POINT_S.into_iter().find(|s| reads.context.has_time(all_s(*s)));
    let Some(point_s) = most else { return Ok(()) };
    let end = reads.generous_deadline(all_s(point_s));
    reads.context.begin_stage(stages::BY_SIZE);
    let sector = u64::from(reads.context.sector());
    let sizes: Vec<u64> =
        SIZES.map(|bits| 1u64 << bits).filter(|s| *s >= sector && s * 8 <= reads.len).collect();
    let Some(largest) = sizes.last() else { return Ok(()) };
    reads.context.set_queue(*largest as u32, 1)?;
    let mut order: Vec<(u64, bool)> = sizes.iter().flat_map(|s| [(*s, false), (*s, true)]).collect();
    reads.context.random.shuffle(&mut order);
    let (wanted, mut cut) = (order.len(), 0);
    for (size, random) in order {
        let Some(point) = time_size(reads, size, random, point_s, end)? else {
            cut += usize::from(end.is_reached(reads.context));
            continue;
        };
        let curves = &mut reads.into.curves;
        let curve = if random { &mut curves.random_read } else { &mut curves.sequential_read };
        curve.push(point);
    }
    let curves = &mut reads.into.curves;
    let (in_order, at_random) = (&mut curves.sequential_read, &mut curves.random_read);
    in_order.sort_by_key(|p| p.bytes);
    at_random.sort_by_key(|p| p.bytes);
    let plot = curve::curve_plot("Speed of reads by their size", "bytes of a read", in_order, at_random);
    reads.into.plots.push(plot);
    let why = end.reason(reads.context).filter(|_| cut > 0);
    reads.into.findings.extend(why.map(|why| missing_points(why, cut, wanted)));
    Ok(())
}

fn missing_points(why: &str, cut: usize, wanted: usize) -> Finding {
    let verdict = format!("Some read sizes were not timed: {why}.");
    Finding::new("read-curve-cut", FindingWeight::Note, 1.0, verdict)
        .because("points missing", format!("{cut} of {wanted}"))
}

/// Times reads of one size. The first read is not counted, since it includes the jump to the position. Returns
/// `None` if too few succeeded before the end.
fn time_size(
    reads: &mut ReadTester<'_, '_, '_>,
    size: u64,
    random: bool,
    seconds: f64,
    end: ReadDeadline,
) -> Result<Option<SizePoint>, ProbeStop> {
    if end.is_reached(reads.context) {
        return Ok(None);
    }
    let mut next = reads.random_extent(size, size, size);
    let (mut times, mut spent, mut failed) = (Vec::new(), 0.0, 0);
    reads.context.time_read(next)?;
    while times.len() < READS.1 && failed < READS.0 && (times.len() < READS.0 || spent < seconds) {
        if end.is_reached(reads.context) && times.len() < READS.0 {
            return Ok(None);
        }
        next = if random || next.end() + size > reads.start + reads.len {
            reads.random_extent(size, size, size)
        } else {
            CardExtent { offset: next.end(), ..next }
        };
        match reads.context.time_read(next)? {
            Some(time) => {
                times.push(time);
                spent += time;
            }
            None => failed += 1,
        }
    }
    Ok(curve::size_point(size, &times).filter(|_| spent > 0.0))
}
