//! Speed by I/O size, sequential and random, as in docs/reference/reports.md#lexar-review.

use cardscope_model::card_map::SizePoint;
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis};
use cardscope_model::statistics::median;

/// Point of the curve from the seconds of single I/Os; `None` if `times` is empty.
pub(super) fn size_point(size: u64, times: &[f64]) -> Option<SizePoint> {
    let (p50_us, ios) = (median(times)? * 1e6, times.len() as u64);
    let iops = times.len() as f64 / times.iter().sum::<f64>();
    Some(SizePoint { bytes: size, mb_s: iops * size as f64 / 1e6, iops, p50_us, ios })
}

pub(super) fn curve_plot(title: &str, x: &str, in_order: &[SizePoint], at_random: &[SizePoint]) -> Plot {
    let (x, y) =
        (PlotAxis::new(x, "bytes", AxisScale::Log2), PlotAxis::new("speed", "MB/s", AxisScale::Log10));
    let line = |points: &[SizePoint]| points.iter().map(|p| (p.bytes as f64, p.mb_s)).collect::<Vec<_>>();
    Plot::new(title, x, y).with_line("in order", line(in_order)).with_line("at random", line(at_random))
}
