//! A picture as data: what is drawn, not how. Terminal, SVG and HTML each draw it in their own way.

use serde::{Deserialize, Serialize};

/// How an axis is divided.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    /// Evenly.
    #[default]
    Linear,
    /// By powers of two: sizes.
    Log2,
    /// By powers of ten: times and speeds that span much.
    Log10,
}

/// One axis.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlotAxis {
    /// What is along it.
    pub label: String,
    /// Unit of its numbers: `bytes`, `µs`, `MB/s`, `s`, `°C`.
    pub unit: String,
    /// How it is divided.
    pub scale: AxisScale,
}

impl PlotAxis {
    /// An axis.
    pub fn new(label: &str, unit: &str, scale: AxisScale) -> Self {
        PlotAxis { label: label.to_owned(), unit: unit.to_owned(), scale }
    }
}

/// Points that belong together.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlotSeries {
    /// Its name.
    pub name: String,
    /// x and y, in the units of the axes.
    pub points: Vec<(f64, f64)>,
}

/// A picture.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// To the right.
    pub x: PlotAxis,
    /// Upwards.
    pub y: PlotAxis,
    /// What is drawn.
    pub series: Vec<PlotSeries>,
    /// Places worth a line across, with their name: x and text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub marks: Vec<(f64, String)>,
}

impl Plot {
    /// A picture without lines yet.
    pub fn new(title: &str, x: PlotAxis, y: PlotAxis) -> Self {
        Plot { title: title.to_owned(), x, y, ..Plot::default() }
    }

    /// Adds a line.
    pub fn line(mut self, name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.series.push(PlotSeries { name: name.to_owned(), points: points.into_iter().collect() });
        self
    }

    /// Adds places worth a line across, with their name.
    pub fn marked(mut self, marks: impl IntoIterator<Item = (f64, String)>) -> Self {
        self.marks.extend(marks);
        self
    }
}
