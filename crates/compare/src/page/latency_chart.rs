//! Latency chart: the share of I/Os that took longer than a time, with both axes logarithmic, so that the rare long I/Os are
//! visible.

use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_model::histogram::LatencyHistogram;
use cardscope_model::publication::TestLatencies;
use cardscope_page::chart::{Chart, ChartCaption};
use cardscope_page::figure::{pluralize, test_with_step};

/// Points for each power of ten of the share.
const POINTS_PER_DECADE: u32 = 4;

/// Most curves that can be distinguished in one chart.
pub const MOST_CURVES: usize = 6;

/// Curves of the distributions; `None` without I/Os. Each curve names its condition if these differ.
pub fn latency_chart(title: &str, all: &[&TestLatencies]) -> Option<Chart> {
    let all: Vec<&&TestLatencies> = all.iter().filter(|l| l.histogram.count() > 0).collect();
    let timed = &all[..all.len().min(MOST_CURVES)];
    let first = timed.first()?;
    let runs = timed.iter().map(|l| l.runs).max().unwrap_or_default();
    let alike = timed.iter().all(|l| l.entry == first.entry);
    let name = |l: &TestLatencies| {
        let test = test_with_step(l.test, l.step.as_deref());
        if alike { test } else { format!("{test} · {}", curve_name(l)) }
    };
    let series =
        timed.iter().map(|l| PlotSeries { name: name(l), points: share_longer(&l.histogram) }).collect();
    let condition = if alike { first.condition.as_str() } else { "conditions differ" };
    let more = all.len() - timed.len();
    let more = if more > 0 { format!(" · {more} more not drawn") } else { String::new() };
    let caption = ChartCaption::new(
        "% of all I/Os that took longer than a time in µs",
        format!("up to {}", pluralize(runs, "run")),
        "no interval: all I/Os counted",
        format!("{condition}{more}"),
    );
    let plot = Plot {
        title: title.to_owned(),
        x: PlotAxis::new("time of an I/O", "µs", AxisScale::Log10),
        y: PlotAxis::new("took longer", "%", AxisScale::Log10),
        series,
        marks: Vec::new(),
    };
    Some(Chart::from_lines(plot.into(), caption))
}

/// Distinguishes curves of the same test.
fn curve_name(latencies: &TestLatencies) -> &str {
    if latencies.condition.is_empty() { &latencies.entry } else { &latencies.condition }
}

/// Points of a curve: time in µs, and percent of I/Os that took longer.
fn share_longer(histogram: &LatencyHistogram) -> Vec<(f64, f64)> {
    let us = |nanos: u64| (nanos as f64 / 1e3).max(1e-3);
    let ios = histogram.count() as f64;
    let steps = (ios.log10().max(0.0) * f64::from(POINTS_PER_DECADE)).ceil() as u32;
    let mut points: Vec<(f64, f64)> = vec![(us(histogram.min()), 100.0)];
    for step in 1..steps {
        let share = 10f64.powf(-f64::from(step) / f64::from(POINTS_PER_DECADE));
        points.push((us(histogram.quantile(1.0 - share)), share * 100.0));
    }
    points.push((us(histogram.max()), 100.0 / ios));
    points.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(test: &str, entry: &str) -> TestLatencies {
        let mut histogram = LatencyHistogram::default();
        (0..100).for_each(|i| histogram.record(200_000 + i * 10));
        let (entry, condition) = (format!("A · cooling {entry}"), format!("cooling {entry}"));
        TestLatencies { test: test.parse().unwrap(), step: None, runs: 3, entry, condition, histogram }
    }

    #[test]
    fn curves_of_different_conditions_name_them() {
        let tests = ["SEQ1M Q8T1 read", "SEQ1M Q1T1 read", "RND4K Q32T1 read", "RND4K Q1T1 read"];
        let all: Vec<TestLatencies> =
            ["active", "passive"].iter().flat_map(|c| tests.map(|test| latencies(test, c))).collect();
        let drawn = latency_chart("How long reads took", &all.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(drawn.caption.condition, "conditions differ · 2 more not drawn");
        let cardscope_page::chart::ChartKind::Lines(lines) = drawn.kind else { panic!("curves") };
        assert_eq!(lines.plot.series.len(), MOST_CURVES);
        assert_eq!(lines.plot.series[4].name, "SEQ1M Q8T1 read · cooling passive");
        let alike = latency_chart("How long reads took", &all[..4].iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(alike.caption.condition, "cooling active");
    }

    #[test]
    fn curve_ends_with_the_longest_io() {
        let mut histogram = LatencyHistogram::default();
        (0..9999).for_each(|i| histogram.record(200_000 + i * 10));
        histogram.record(900_000_000);
        let curve = share_longer(&histogram);
        assert_eq!(curve.last(), Some(&(900_000.0, 0.01)));
        assert_eq!(curve.first().map(|p| p.1), Some(100.0));
        assert!(curve.windows(2).all(|p| p[0].0 <= p[1].0 && p[0].1 > p[1].1), "{curve:?}");
    }
}
