//! Charts of speed and temperature over time, of a test over its runs.

use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_model::publication::TestSeries;
use cardscope_model::series::SeriesBucket;
use cardscope_model::statistics::median;
use cardscope_page::chart::{Chart, ChartCaption, LineChart, SPEED_UNIT, temperature_axis};
use cardscope_page::figure::{pluralize, test_with_step};
use std::collections::{BTreeMap, BTreeSet};

/// Points of a curve. A chart has no room for more, so neighbours are merged.
const POINTS: usize = 80;

/// Several runs of one test, second by second: median, slowest and fastest run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CombinedRuns {
    /// Median speed by second, in MB/s.
    pub median: Vec<(f64, f64)>,
    /// Slowest and fastest run by second, in MB/s.
    pub band: Vec<(f64, [f64; 2])>,
    /// Median temperature by second, in °C.
    pub celsius: Vec<(f64, f64)>,
    pub runs: u32,
}

impl CombinedRuns {
    /// Slowest second of all runs, in MB/s.
    pub fn slowest_second(&self) -> Option<f64> {
        self.band.iter().map(|(_, [low, _])| *low).reduce(f64::min)
    }

    /// Fastest second of all runs, in MB/s.
    pub fn fastest_second(&self) -> Option<f64> {
        self.band.iter().map(|(_, [_, high])| *high).reduce(f64::max)
    }

    /// Ratio of the fastest second to the slowest, at least 1.
    pub fn fastest_to_slowest(&self) -> f64 {
        match (self.fastest_second(), self.slowest_second()) {
            (Some(fast), Some(slow)) if fast > 0.0 => (fast / slow.max(fast / 1e3)).max(1.0),
            _ => 1.0,
        }
    }
}

/// Combines runs of one test of one entry to at most `points` points. Several loops of a run count as one run.
pub fn combine_runs(series: &[&TestSeries], points: usize) -> CombinedRuns {
    let mut seconds: BTreeMap<u32, Vec<&SeriesBucket>> = BTreeMap::new();
    for second in series.iter().flat_map(|one| &one.seconds) {
        seconds.entry(second.at_s).or_default().push(second);
    }
    let all: Vec<(&u32, &Vec<&SeriesBucket>)> = seconds.iter().collect();
    let runs: BTreeSet<u32> = series.iter().map(|one| one.run).collect();
    let mut out = CombinedRuns { runs: runs.len() as u32, ..CombinedRuns::default() };
    for part in all.chunks(all.len().div_ceil(points.max(1)).max(1)) {
        let Some((at, _)) = part.last() else { continue };
        let at = f64::from(**at);
        let buckets = || part.iter().flat_map(|(_, all)| *all);
        let mut speeds: Vec<f64> = buckets().map(|s| s.mb_s()).collect();
        let celsius: Vec<f64> = buckets().filter_map(|s| s.temperature_c).filter(|c| c.is_finite()).collect();
        speeds.sort_unstable_by(f64::total_cmp);
        if let ([lowest, ..], [.., highest]) = (&speeds[..], &speeds[..]) {
            out.median.extend(median(&speeds).map(|median| (at, median)));
            out.band.push((at, [*lowest, *highest]));
        }
        out.celsius.extend(median(&celsius).map(|celsius| (at, celsius)));
    }
    out
}

/// Speed and temperature of one test over its runs; `None` if it was too short.
pub fn test_chart(series: &[&TestSeries]) -> Option<Chart> {
    let first = series.first()?;
    let together = combine_runs(series, POINTS);
    if together.median.len() < 3 {
        return None;
    }
    let several = together.runs > 1;
    let name = if several { "median of the runs" } else { "speed" };
    let plot = Plot {
        title: format!("Speed over time, {}", test_with_step(first.test, first.step.as_deref())),
        x: PlotAxis::new("time", "s", AxisScale::Linear),
        y: PlotAxis::new("speed", "MB/s", AxisScale::Linear),
        series: vec![PlotSeries { name: name.into(), points: together.median }],
        marks: Vec::new(),
    };
    let celsius = PlotSeries { name: "temperature".into(), points: together.celsius };
    let shaded = if several { "shaded: slowest to fastest run" } else { "" };
    let caption =
        ChartCaption::new(SPEED_UNIT, pluralize(together.runs, "run"), shaded, first.condition.clone());
    let band = if several { together.band } else { Vec::new() };
    Some(Chart::from_lines(LineChart { plot, band, second: temperature_axis(vec![celsius]) }, caption))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_testkit::samples as sample;

    #[test]
    fn loops_of_a_run_count_as_one_run() {
        let mut series = sample::test_series(0, 0, 2);
        series.extend(sample::test_series(0, 0, 1));
        let of: Vec<&TestSeries> = series.iter().collect();
        assert_eq!(combine_runs(&of, POINTS).runs, 2);
        assert_eq!(test_chart(&of).unwrap().caption.runs, "2 runs");
    }
}
