//! How the original tools print, judge and score what they measure.

use serde::{Deserialize, Serialize};

/// How the original tool prints a value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prints {
    /// The unit as the tool writes it (which may be a lie: that is the point).
    pub unit: String,
    /// What is printed.
    #[serde(default)]
    pub quantity: Quantity,
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
pub enum Quantity {
    /// Bytes per second.
    #[default]
    BytesPerS,
    /// I/Os per second.
    Iops,
    /// Mean latency in seconds.
    LatencyS,
}

impl Prints {
    /// The figure as the tool prints it, from a speed, its I/O rate and its mean latency in seconds.
    #[must_use]
    pub fn figure(&self, bytes_per_s: f64, iops: f64, latency_s: f64) -> f64 {
        let base = match self.quantity {
            Quantity::BytesPerS => bytes_per_s,
            Quantity::Iops => iops,
            Quantity::LatencyS => latency_s,
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
pub struct Demand {
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
pub struct Score {
    /// Its name.
    pub name: String,
    /// The terms.
    pub terms: Vec<Term>,
    /// The sum is divided by this.
    #[serde(default = "one")]
    pub divide: f64,
    /// How it becomes a whole number.
    #[serde(default)]
    pub rounding: Rounding,
}

/// How a score becomes a whole number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rounding {
    /// Decimals are cut off.
    #[default]
    Floor,
    /// To the nearest whole number.
    Nearest,
}

/// One term of a score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
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
