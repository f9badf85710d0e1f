//! What the settings of a test may be, and how the original tools print, judge and score what they measure.

use serde::{Deserialize, Serialize};

/// How a range is filled before it is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RangePreparation {
    /// Bytes in one write.
    pub block: u64,
    /// What is written.
    pub data: WriteData,
}

/// Where a test may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestSpan {
    /// The test area.
    Area,
    /// The whole card, from its first byte; not measured on a directory.
    Device,
}

/// How several threads divide the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanSharing {
    /// All threads run over the whole span.
    Same,
    /// Each thread has a slice of its own.
    Slices,
}

/// When one loop of a test ends: whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoopLimit {
    /// Passes of each thread over its own range (the whole span, or its slice); a pass is as many I/Os as blocks
    /// fit in, also where random places are drawn with replacement.
    pub passes: Option<u32>,
    /// Bytes moved by each thread.
    pub bytes: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// True where time is looked at only when a pass is complete (CrystalDiskMark 3's sequential tests).
    pub whole_passes: bool,
}

/// How the loops of one run become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopAggregate {
    /// The fastest loop.
    Max,
    /// The mean of the loops' speeds.
    Mean,
    /// All bytes over all seconds.
    Total,
    /// The middle loop.
    Median,
}

/// Flush at the end of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushMode {
    /// None (the original does none either).
    None,
    /// Inside the measured time.
    Timed,
    /// After the measured time, so that the next test starts clean.
    Untimed,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteData {
    /// Incompressible bytes.
    Random,
    /// Zeros.
    Zero,
}

/// The way of the I/O through the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelPath {
    /// Past the page cache (`O_DIRECT`), where the file system can.
    Direct,
    /// Through the page cache.
    Buffered,
}

/// How random places are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RandomDraw {
    /// Each place once in a pass, in a new order for each pass (fio's random map, iozone).
    Permutation,
    /// Any place at any time (CrystalDiskMark, DiskSpd).
    Uniform,
}

/// Repeat a test until its mean is known well enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatUntil {
    /// Half width of the 95 % interval, in percent of the mean.
    pub ci95_percent: f64,
    /// Seconds before the first look.
    pub min_s: f64,
    /// Seconds after which the test ends anyway, and says so.
    pub max_s: f64,
}

/// How the original tool prints a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFormat {
    /// The unit as the tool writes it (which may be a lie: that is the point).
    pub unit: String,
    /// What is printed.
    #[serde(default)]
    pub quantity: PrintedQuantity,
    /// The quantity is divided by this: bytes per second in one printed unit.
    #[serde(default = "one")]
    pub divide: f64,
    /// True where the tool cuts the decimals off instead of rounding.
    #[serde(default)]
    pub floor: bool,
    /// Decimals printed.
    #[serde(default = "three")]
    pub decimals: u32,
    /// Digits printed at most, decimals included, where the tool counts those (`dd`: 54.1, but 123).
    pub digits: Option<u32>,
}

fn one() -> f64 {
    1.0
}
fn three() -> u32 {
    3
}

/// The base quantity of a printed figure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintedQuantity {
    /// Bytes per second.
    #[default]
    BytesPerS,
    /// I/Os per second.
    Iops,
    /// Mean latency in seconds.
    LatencyS,
}

impl ToolFormat {
    /// The figure as the tool prints it, from a speed, its I/O rate and its mean latency in seconds.
    pub fn figure(&self, bytes_per_s: f64, iops: f64, latency_s: f64) -> f64 {
        let base = match self.quantity {
            PrintedQuantity::BytesPerS => bytes_per_s,
            PrintedQuantity::Iops => iops,
            PrintedQuantity::LatencyS => latency_s,
        };
        let value = base / self.divide;
        let before_the_point = value.abs().max(1.0).log10().floor() as u32 + 1;
        let decimals =
            self.decimals.min(self.digits.map_or(u32::MAX, |d| d.saturating_sub(before_the_point)));
        let scale = 10f64.powi(decimals as i32);
        // A value such as 829.0 computed as 828.9999999999999 must not lose a whole unit to the floor.
        let scaled = value * scale;
        if self.floor { (scaled + scaled.abs() * 1e-12).floor() / scale } else { scaled.round() / scale }
    }
}

/// What a pass must reach.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassDemand {
    /// The step (or, where the test has no step, its name) that is judged.
    pub step: String,
    /// At least so many I/Os per second.
    pub iops: Option<f64>,
    /// At least so many bytes per second.
    pub bytes_per_s: Option<f64>,
}

/// A score that the original tool computes: the sum of weighted printed figures, divided, and made whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolScore {
    /// Its name.
    pub name: String,
    /// The terms.
    pub terms: Vec<ScoreTerm>,
    /// The sum is divided by this.
    #[serde(default = "one")]
    pub divide: f64,
    /// How it becomes a whole number.
    #[serde(default)]
    pub rounding: ScoreRounding,
}

/// How a score becomes a whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreRounding {
    /// Decimals are cut off.
    #[default]
    Floor,
    /// To the nearest whole number.
    Nearest,
}

/// One term of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreTerm {
    /// The step it takes its figure from.
    pub step: String,
    /// Its weight.
    pub weight: f64,
    /// The figure: what the tool prints for that step, or its I/O rate.
    #[serde(default)]
    pub figure: TermFigure,
}

/// Which figure of a step enters a score.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermFigure {
    /// The number that the tool prints.
    #[default]
    Printed,
    /// I/Os per second.
    Iops,
}
