//! Settings of a recipe's tests, and output, demands and scores of the original tools.

use serde::{Deserialize, Serialize};

/// Write of a range before its test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct RangePreparation {
    pub block: u64,
    pub data: WriteData,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestSpan {
    Area,
    /// Whole card, from its first byte; not measured in a directory.
    Device,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanSharing {
    Same,
    Slices,
}

/// End of a loop: the first limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LoopLimit {
    /// Passes of each thread over its range. A pass has as many I/Os as blocks fit, also for positions drawn with
    /// replacement.
    pub passes: Option<u32>,
    pub bytes: Option<u64>,
    pub seconds: Option<f64>,
    /// True if time is checked only at the end of a pass (CrystalDiskMark 3's sequential tests).
    pub whole_passes: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoopAggregate {
    Max,
    Mean,
    /// All bytes over all seconds.
    Total,
    Median,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushMode {
    None,
    Timed,
    /// After the measured time, so that the next test starts clean.
    Untimed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteData {
    /// Incompressible bytes.
    Random,
    Zero,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelPath {
    /// Without the page cache (`O_DIRECT`), if the file system supports it.
    Direct,
    Buffered,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RandomDraw {
    /// Each position once per pass, in a new order for each pass (fio's random map, iozone).
    Permutation,
    /// Any position at any time (CrystalDiskMark, DiskSpd).
    Uniform,
}

/// Repetition until the mean is precise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatUntil {
    pub ci95_percent: f64,
    pub min_s: f64,
    /// Greatest duration, after which the result gets a caveat.
    pub max_s: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolFormat {
    /// Unit as the tool prints it, even if it is wrong.
    pub unit: String,
    #[serde(default)]
    pub quantity: PrintedQuantity,
    /// Divisor: base units per printed unit.
    #[serde(default = "one")]
    pub divide: f64,
    #[serde(default)]
    pub floor: bool,
    #[serde(default = "three")]
    pub decimals: u32,
    /// Most printed digits, including decimals, if the tool limits them (`dd`: 54.1, but 123).
    pub digits: Option<u32>,
}

fn one() -> f64 {
    1.0
}

fn three() -> u32 {
    3
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrintedQuantity {
    #[default]
    BytesPerS,
    Iops,
    LatencyS,
}

impl ToolFormat {
    /// Returns the printed figure for a speed, its I/O rate and its mean latency in seconds.
    pub fn printed_figure(&self, bytes_per_s: f64, iops: f64, latency_s: f64) -> f64 {
        let base = match self.quantity {
            PrintedQuantity::BytesPerS => bytes_per_s,
            PrintedQuantity::Iops => iops,
            PrintedQuantity::LatencyS => latency_s,
        };
        let value = base / self.divide;
        let whole_digits = value.abs().max(1.0).log10().floor() as u32 + 1;
        let most = self.digits.map_or(u32::MAX, |digits| digits.saturating_sub(whole_digits));
        let decimals = self.decimals.min(most);
        let scale = 10f64.powi(decimals as i32);
        // A value such as 829.0 may be computed as 828.9999999999999 and must not lose a whole unit to the floor.
        let scaled = value * scale;
        if self.floor { (scaled + scaled.abs() * 1e-12).floor() / scale } else { scaled.round() / scale }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PassDemand {
    pub step: String,
    pub iops: Option<f64>,
    pub bytes_per_s: Option<f64>,
}

/// Score of the original tool: weighted sum of printed figures, divided and rounded.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolScore {
    pub name: String,
    pub terms: Vec<ScoreTerm>,
    #[serde(default = "one")]
    pub divide: f64,
    #[serde(default)]
    pub rounding: ScoreRounding,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScoreRounding {
    #[default]
    Floor,
    Nearest,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreTerm {
    pub step: String,
    pub weight: f64,
    #[serde(default)]
    pub figure: TermFigure,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TermFigure {
    /// Number that the tool prints.
    #[default]
    Printed,
    Iops,
}
