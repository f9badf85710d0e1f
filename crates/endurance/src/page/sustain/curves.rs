//! Charts of a long run: speed and temperature over time.

use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_model::statistics;
use cardscope_model::sustain::{EventKind, MeasuredRun, SustainReport, SustainSample};
use cardscope_page::chart::{Chart, ChartCaption, LineChart, SPEED_UNIT, temperature_axis};
use cardscope_page::figure::condition_line;
use std::collections::BTreeSet;

/// Points of a curve: two for each column of the terminal chart.
const CURVE_POINTS: usize = 120;

/// Separate charts of speed and temperature, none if there are too few samples.
pub fn separate_charts(measured: &MeasuredRun) -> Vec<Chart> {
    series_plots(measured).iter().map(Chart::from).collect()
}

/// Events that are marked in the combined chart. The last one is not marked in the chart of the speed.
const MARKED_EVENTS: [EventKind; 5] =
    [EventKind::CacheEnd, EventKind::Throttled, EventKind::Disturbed, EventKind::Pause, EventKind::TooHot];

/// Most marks. More would hide the curve.
const MAX_MARKS: usize = 4;

/// Combined chart of speed and temperature, None if there are too few samples.
pub fn combined_chart(report: &SustainReport) -> Option<Chart> {
    let mut plots = series_plots(&report.body.measured).into_iter();
    let mut plot = plots.next().filter(|plot| plot.y.unit == "MB/s")?;
    plot.marks = event_marks(&report.body.measured, &MARKED_EVENTS);
    plot.title = "A long run: speed and temperature".into();
    let second = plots.next().and_then(|warm| temperature_axis(warm.series));
    let caption = ChartCaption::new(SPEED_UNIT, "1 run", "", condition_line(&report.header.condition));
    Some(Chart::from_lines(LineChart { plot, band: Vec::new(), second }, caption))
}

fn series_plots(measured: &MeasuredRun) -> Vec<Plot> {
    let series = &measured.series;
    if series.len() < 3 {
        return Vec::new();
    }
    let named = |name: &str, of: &dyn Fn(&SustainSample) -> Option<f64>| PlotSeries {
        name: name.to_owned(),
        points: thin_curve(series, of),
    };
    let speeds = Plot {
        title: "Speed over time".to_owned(),
        x: PlotAxis::new("time", "s", AxisScale::Linear),
        y: PlotAxis::new("speed", "MB/s", AxisScale::Linear),
        series: without_empty(vec![named("write", &|s| s.write_mb_s), named("read", &|s| s.read_mb_s)]),
        marks: event_marks(measured, &MARKED_EVENTS[..4]),
    };
    let readings = series.iter().flat_map(|s| &s.temperatures);
    let places: BTreeSet<&str> = readings.map(|r| r.place.as_str()).collect();
    let lines = places
        .iter()
        .take(6)
        .map(|place| named(place, &|s| s.temperatures.iter().find(|r| r.place == *place).map(|r| r.celsius)));
    let warm = Plot {
        title: "Temperature over time".to_owned(),
        x: PlotAxis::new("time", "s", AxisScale::Linear),
        y: PlotAxis::new("temperature", "°C", AxisScale::Linear),
        series: without_empty(lines.collect()),
        marks: event_marks(measured, &[EventKind::Throttled, EventKind::TooHot]),
    };
    [speeds, warm].into_iter().filter(|plot| !plot.series.is_empty()).collect()
}

fn event_marks(measured: &MeasuredRun, kinds: &[EventKind]) -> Vec<(f64, String)> {
    let all = measured.events.iter().filter(|e| kinds.contains(&e.kind)).take(MAX_MARKS);
    all.map(|e| (e.at_s, e.kind.words().to_owned())).collect()
}

fn without_empty(all: Vec<PlotSeries>) -> Vec<PlotSeries> {
    all.into_iter().filter(|s| !s.points.is_empty()).collect()
}

/// Reduces a curve to the width of the chart by means of neighbours.
fn thin_curve(series: &[SustainSample], of: &dyn Fn(&SustainSample) -> Option<f64>) -> Vec<(f64, f64)> {
    let each = series.len().div_ceil(CURVE_POINTS).max(1);
    let mean = |part: &[SustainSample]| {
        let values: Vec<f64> = part.iter().filter_map(of).collect();
        Some((part.last()?.at_s, statistics::mean(&values)?))
    };
    series.chunks(each).filter_map(mean).collect()
}
