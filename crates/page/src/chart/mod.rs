//! Chart model: the data that SVG, PNG, HTML and terminal charts are drawn from.
//!
//! A picture travels without the text around it, so every chart states its unit, the number of runs, the kind of
//! interval and the test condition.

pub mod card_bars;
pub mod card_map;
pub(crate) mod csv;

use crate::figure::format_printed;
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_model::units::{DecimalSize, three_digits as speed};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    pub title: String,
    pub caption: ChartCaption,
    pub kind: ChartKind,
}

/// Facts that a reader needs to interpret a chart. An empty part is omitted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChartCaption {
    /// Unit of the values: `MB/s (10^6 bytes a second)`.
    pub unit: String,
    /// Number of runs, in words.
    pub runs: String,
    /// Kind of interval that is drawn.
    pub interval: String,
    /// Test condition.
    pub condition: String,
}

impl ChartCaption {
    pub fn new(unit: &str, runs: impl Into<String>, interval: &str, condition: String) -> Self {
        ChartCaption { unit: unit.to_owned(), runs: runs.into(), interval: interval.to_owned(), condition }
    }

    /// The parts that are not empty, in one line.
    pub fn joined_parts(&self) -> String {
        let parts = [&self.unit, &self.runs, &self.interval, &self.condition];
        parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · ")
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChartKind {
    /// Horizontal bars, test by test.
    Bars(BarGroups),
    /// Curves over an axis.
    Lines(Box<LineChart>),
    /// Speed over the addresses of a card.
    Addresses(AddressChart),
    /// Pages, erase blocks and open blocks.
    Flash(FlashChart),
}

/// Bars in groups. Each group has its own scale, which starts at 0.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BarGroups {
    pub unit: String,
    /// Names of the bars (cards or runs), the same for all groups.
    pub names: Vec<String>,
    pub groups: Vec<BarGroup>,
    /// True if a picture with more names than colours sorts the fastest bar first. Readers of a page sort the bars themselves.
    #[serde(skip)]
    pub are_rivals: bool,
}

/// Unit of speeds in charts.
pub const SPEED_UNIT: &str = "MB/s (10^6 bytes a second)";

/// Unit of scores.
pub const SCORE_UNIT: &str = "points";

/// Unit of capacities. Each value is written with the prefix that fits it.
pub(crate) const CAPACITY_UNIT: &str = "GB";

pub(crate) const GB: f64 = 1e9;

/// Series with a colour of their own; a ninth starts over.
pub(crate) const SERIES_COLOURS: usize = 8;

impl BarGroups {
    /// Formats a value of this unit.
    pub fn format_value(&self, value: f64) -> String {
        match self.unit.as_str() {
            SCORE_UNIT if value.is_finite() && value.abs() < 1e6 => format!("{value:.1}"),
            CAPACITY_UNIT if value >= 0.0 => DecimalSize((value * GB) as u64).to_string(),
            _ => speed(value),
        }
    }

    /// True if a name appears in several groups, so that one colour for each name helps the reader, and there are enough
    /// colours.
    pub fn is_coloured(&self) -> bool {
        let alone = |of: usize| self.groups.iter().filter(|g| g.bars.iter().any(|b| b.of == of)).count() < 2;
        (2..=SERIES_COLOURS).contains(&self.names.len())
            && self.groups.len() > 1
            && !(0..self.names.len()).all(alone)
    }

    /// End of a group's scale: its fixed end if that covers all values, 100 for scores, else the next round number.
    pub fn scale_end(&self, group: &BarGroup) -> f64 {
        let ends = group.bars.iter().map(|b| b.interval.map_or(b.value, |[_, high]| high.max(b.value)));
        let runs = group.bars.iter().flat_map(|b| b.runs.iter().copied());
        let limits = group.limits.iter().map(|limit| limit.value);
        let most = ends.chain(runs).chain(limits).filter(|v| v.is_finite()).fold(0.0, f64::max);
        match most {
            most if group.end.is_some_and(|end| end >= most) => group.end.unwrap_or(most),
            most if self.unit == SCORE_UNIT => most.max(100.0),
            most if most <= 0.0 => 1.0,
            most => {
                let decade = 10f64.powf(most.log10().floor());
                let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
                steps.map(|n| n * decade).into_iter().find(|end| *end >= most).unwrap_or(most)
            }
        }
    }

    /// Scale of a group in words: `0 to 80 MB/s`.
    pub fn scale_text(&self, group: &BarGroup) -> String {
        let end = self.scale_end(group);
        match self.unit.as_str() {
            CAPACITY_UNIT => format!("0 to {}", self.format_value(end)),
            unit => format!("0 to {} {unit}", format_printed(end)),
        }
    }
}

/// Bars of one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BarGroup {
    pub name: String,
    pub bars: Vec<ChartBar>,
    /// Limits that are drawn as lines across all bars.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitLine>,
    /// Fixed end of the scale, None to compute it from the bars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
}

/// Reference value of a group of bars: the speed that a mark demands or that the bus carries.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LimitLine {
    pub value: f64,
    /// Name and value: `V30: 30 MB/s`.
    pub name: String,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChartBar {
    /// Index into the names of [`BarGroups`].
    pub of: usize,
    pub value: f64,
    /// Ends of the confidence interval.
    pub interval: Option<[f64; 2]>,
    /// Results of the single runs, in their order.
    pub runs: Vec<f64>,
    /// Average, worst, best and median of the runs, where a page lets the reader choose among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<[f64; 4]>,
}

/// Curves over a common x axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LineChart {
    /// Axes, curves and vertical marks.
    pub plot: Plot,
    /// Lowest and highest of several runs at each x, drawn behind the first curve.
    pub band: Vec<(f64, [f64; 2])>,
    /// Axis at the right with its own curves.
    pub second: Option<(PlotAxis, Vec<PlotSeries>)>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AddressChart {
    /// Capacity of the card in bytes.
    pub bytes: u64,
    pub column_bytes: u64,
    /// Read and write strips.
    pub strips: Vec<AddressStrip>,
    /// Share of lost bytes in each column, 0 to 1. Empty where nothing was lost.
    pub lost: Vec<f64>,
}

impl AddressChart {
    pub(crate) fn column_count(&self) -> usize {
        self.strips.iter().map(|strip| strip.columns.len()).fold(self.lost.len(), usize::max)
    }
}

/// Speed over the addresses in one direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AddressStrip {
    /// Direction: `read` or `write`.
    pub name: String,
    /// Lowest, highest and mean speed in words. Empty where they are unknown.
    pub speeds: String,
    /// Slowest second in words, for renderers with room for it. Empty where it is unknown.
    pub slowest: String,
    /// Speed of each column in MB/s, None where nothing was measured.
    pub columns: Vec<Option<f64>>,
}

/// Flash geometry as far as timing reveals it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FlashChart {
    pub page_bytes: Option<u64>,
    pub erase_block_bytes: Option<u64>,
    /// Blocks that stay open under sequential writes. True marks a lower bound.
    pub open_in_order: Option<(u32, bool)>,
    /// Blocks that stay open under random writes. True marks a lower bound.
    pub open_at_random: Option<(u32, bool)>,
    /// Bytes at the start of the card that the controller treats specially (FAT region).
    pub special_bytes: Option<u64>,
}

impl Chart {
    /// Line chart with the title of its plot.
    pub fn from_lines(lines: LineChart, caption: ChartCaption) -> Self {
        Chart { title: lines.plot.title.clone(), caption, kind: ChartKind::Lines(Box::new(lines)) }
    }
}

impl From<Plot> for LineChart {
    fn from(plot: Plot) -> Self {
        LineChart { plot, ..LineChart::default() }
    }
}

/// A plot names its units in the axes, so the caption stays empty.
impl From<&Plot> for Chart {
    fn from(plot: &Plot) -> Self {
        Chart::from_lines(plot.clone().into(), ChartCaption::default())
    }
}
/// Drops negative and non-finite values, then returns the chart, or None if no bar remains.
pub fn bar_chart(title: &str, caption: ChartCaption, mut bars: BarGroups) -> Option<Chart> {
    for group in &mut bars.groups {
        group.bars.retain(|bar| bar.value.is_finite() && bar.value >= 0.0);
        for bar in &mut group.bars {
            bar.runs.retain(|run| run.is_finite() && *run >= 0.0);
            bar.interval = bar.interval.filter(|ends| ends.iter().all(|end| end.is_finite()));
        }
    }
    bars.groups.retain(|group| !group.bars.is_empty());
    let drawn = !bars.groups.is_empty();
    drawn.then(|| Chart { title: title.to_owned(), caption, kind: ChartKind::Bars(bars) })
}

/// Temperature axis at the right, or None if no curve has a point.
pub fn temperature_axis(series: Vec<PlotSeries>) -> Option<(PlotAxis, Vec<PlotSeries>)> {
    let drawn: Vec<PlotSeries> = series.into_iter().filter(|s| !s.points.is_empty()).collect();
    (!drawn.is_empty()).then(|| (PlotAxis::new("temperature", "°C", AxisScale::Linear), drawn))
}
