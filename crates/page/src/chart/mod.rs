//! One description of a chart: what is drawn, not how. SVG, PNG, the page and Plotly blocks each draw it in their own
//! way.
//!
//! Every chart says what its unit is, over how many runs, what kind of interval is drawn and under what condition was
//! measured: a picture travels without the text around it.

pub(crate) mod csv;
pub mod inside;
pub mod visit;

use crate::figure::printed;
use cardscope_model::card_map::plot::{AxisScale, Plot, PlotAxis, PlotSeries};
use cardscope_model::units::DecimalSize;
use cardscope_model::units::three_digits as speed;
use serde::Serialize;

/// A chart.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// What a reader must know to read it.
    pub caption: ChartCaption,
    /// What is drawn.
    pub kind: ChartKind,
}

/// What a reader must know to read a chart. An empty part has nothing to say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ChartCaption {
    /// Unit of its numbers: `MB/s (10^6 bytes a second)`.
    pub unit: String,
    /// Over how many runs.
    pub runs: String,
    /// What kind of interval is drawn.
    pub interval: String,
    /// Under what was measured.
    pub condition: String,
}

impl ChartCaption {
    /// Unit, runs, interval and condition.
    pub fn new(unit: &str, runs: impl Into<String>, interval: &str, condition: String) -> Self {
        ChartCaption { unit: unit.to_owned(), runs: runs.into(), interval: interval.to_owned(), condition }
    }

    /// In one line.
    pub fn words(&self) -> String {
        let parts = [&self.unit, &self.runs, &self.interval, &self.condition];
        parts.into_iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(" · ")
    }
}

/// The kinds of charts.
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

/// Bars in groups; each group has a scale of its own, from 0 on.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BarGroups {
    /// Unit of the values.
    pub unit: String,
    /// Names of what has a bar in each group: cards, or runs.
    pub names: Vec<String>,
    /// The groups: tests.
    pub groups: Vec<BarGroup>,
    /// Whether the fastest is looked for among them: a picture of many has it first, and the reader of a page sorts them himself.
    #[serde(skip)]
    pub are_rivals: bool,
}

/// What a MB is, at every chart.
pub const MB_S: &str = "MB/s (10^6 bytes a second)";

/// The unit of a score.
pub const POINTS: &str = "points";

/// The unit of a capacity, of which each has its own as it is written.
pub(crate) const GIGABYTES: &str = "GB";

/// Bytes in one of them.
pub(crate) const GB: f64 = 1e9;

impl BarGroups {
    /// A value as people write it in this unit.
    pub fn write(&self, value: f64) -> String {
        match self.unit.as_str() {
            POINTS if value.is_finite() && value.abs() < 1e6 => format!("{value:.1}"),
            GIGABYTES if value >= 0.0 => DecimalSize((value * GB) as u64).to_string(),
            _ => speed(value),
        }
    }

    /// Whether the same names come again in several groups, so that a colour for each tells them from each other.
    pub fn recurs(&self) -> bool {
        let alone = |of: usize| self.groups.iter().filter(|g| g.bars.iter().any(|b| b.of == of)).count() < 2;
        self.names.len() > 1 && self.groups.len() > 1 && !(0..self.names.len()).all(alone)
    }

    /// The end of a group's scale: its own, else 1, 2 or 5 times a power of ten, or steps between, beyond all that is drawn;
    /// all points of a score.
    pub fn scale_end(&self, group: &BarGroup) -> f64 {
        let ends = group.bars.iter().map(|b| b.interval.map_or(b.value, |[_, high]| high.max(b.value)));
        let runs = group.bars.iter().flat_map(|b| b.runs.iter().copied());
        let limits = group.limits.iter().map(|limit| limit.value);
        let most = ends.chain(runs).chain(limits).filter(|v| v.is_finite()).fold(0.0, f64::max);
        match most {
            most if group.end.is_some_and(|end| end >= most) => group.end.unwrap_or(most),
            most if self.unit == POINTS => most.max(100.0),
            most if most <= 0.0 => 1.0,
            most => {
                let decade = 10f64.powf(most.log10().floor());
                let steps = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
                steps.map(|n| n * decade).into_iter().find(|end| *end >= most).unwrap_or(most)
            }
        }
    }

    /// The scale of a group in words: `0 to 80 MB/s`.
    pub fn scale(&self, group: &BarGroup) -> String {
        let end = self.scale_end(group);
        match self.unit.as_str() {
            GIGABYTES => format!("0 to {}", self.write(end)),
            unit => format!("0 to {} {unit}", printed(end)),
        }
    }
}

/// The bars of one test.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct BarGroup {
    /// The test.
    pub name: String,
    /// Its bars.
    pub bars: Vec<ChartBar>,
    /// What its bars are held against, as lines across all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<LimitLine>,
    /// The end of its scale where that does not follow from its bars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<f64>,
}

/// What bars are held against: a mark's demand, what the bus carries.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LimitLine {
    /// Where it lies on the scale.
    pub value: f64,
    /// Its name, with its value: `V30: 30 MB/s`.
    pub name: String,
}

/// One bar.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ChartBar {
    /// Number of its name.
    pub of: usize,
    /// Its length.
    pub value: f64,
    /// The interval around its end.
    pub interval: Option<[f64; 2]>,
    /// The runs behind it, in their order.
    pub runs: Vec<f64>,
    /// Average, worst, best and median of the runs, where a page lets its reader choose among them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measures: Option<[f64; 4]>,
}

/// Curves.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LineChart {
    /// Axes, curves, and places worth a line across.
    pub plot: Plot,
    /// Lowest and highest of several runs at an x, behind the first curve.
    pub band: Vec<(f64, [f64; 2])>,
    /// A second axis at the right, with its curves.
    pub second: Option<(PlotAxis, Vec<PlotSeries>)>,
}

/// Speed over the addresses of a card.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AddressChart {
    /// Bytes of the card.
    pub bytes: u64,
    /// Bytes of a column.
    pub column_bytes: u64,
    /// One strip a direction.
    pub strips: Vec<AddressStrip>,
    /// Share of bytes that were lost by column, 0 to 1; empty where none were.
    pub lost: Vec<f64>,
}

/// Speed in one direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AddressStrip {
    /// Direction.
    pub name: String,
    /// Least, greatest and mean speed; empty where they are unknown.
    pub speeds: String,
    /// Its slowest second, where there is room for that.
    pub slowest: String,
    /// The columns' speeds in MB/s, evenly over the card; `None` where nothing was measured.
    pub columns: Vec<Option<f64>>,
}

/// What a card is made of, as far as timing shows it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FlashChart {
    /// Bytes of a page.
    pub page_bytes: Option<u64>,
    /// Bytes of an erase block.
    pub erase_block_bytes: Option<u64>,
    /// Blocks that stay open when written in order, and whether there are at least so many.
    pub open_in_order: Option<(u32, bool)>,
    /// The same written at random.
    pub open_at_random: Option<(u32, bool)>,
    /// Bytes at the start that are treated specially.
    pub special_bytes: Option<u64>,
}

impl Chart {
    /// Curves under the title of their plot.
    pub fn lines(lines: LineChart, caption: ChartCaption) -> Self {
        Chart { title: lines.plot.title.clone(), caption, kind: ChartKind::Lines(Box::new(lines)) }
    }
}

impl From<Plot> for LineChart {
    fn from(plot: Plot) -> Self {
        LineChart { plot, ..LineChart::default() }
    }
}

/// A plot by itself is a chart of lines that says in its axes what its unit is.
impl From<&Plot> for Chart {
    fn from(plot: &Plot) -> Self {
        Chart::lines(plot.clone().into(), ChartCaption::default())
    }
}
/// A chart of what can be drawn of the bars: what is no number, or below nothing, has no length.
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

/// A second axis for temperatures; `None` where no curve has a point.
pub fn second_axis(series: Vec<PlotSeries>) -> Option<(PlotAxis, Vec<PlotSeries>)> {
    let drawn: Vec<PlotSeries> = series.into_iter().filter(|s| !s.points.is_empty()).collect();
    (!drawn.is_empty()).then(|| (PlotAxis::new("temperature", "°C", AxisScale::Linear), drawn))
}
