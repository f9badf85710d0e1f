//! Plots as data, which terminal, SVG and HTML render in different ways.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AxisScale {
    #[default]
    Linear,
    /// Powers of two, for sizes.
    Log2,
    /// Powers of ten, for wide ranges of times and speeds.
    Log10,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlotAxis {
    pub label: String,
    pub unit: String,
    pub scale: AxisScale,
}

impl PlotAxis {
    pub fn new(label: &str, unit: &str, scale: AxisScale) -> Self {
        PlotAxis { label: label.to_owned(), unit: unit.to_owned(), scale }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PlotSeries {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    pub title: String,
    pub x: PlotAxis,
    pub y: PlotAxis,
    pub series: Vec<PlotSeries>,
    /// Vertical lines: x and text.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub marks: Vec<(f64, String)>,
}

impl Plot {
    /// Builds an empty plot of axes with label, unit and scale.
    pub fn new(title: &str, x: (&str, &str, AxisScale), y: (&str, &str, AxisScale)) -> Self {
        let (x, y) = (PlotAxis::new(x.0, x.1, x.2), PlotAxis::new(y.0, y.1, y.2));
        Plot { title: title.to_owned(), x, y, ..Plot::default() }
    }

    pub fn with_line(mut self, name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.series.push(PlotSeries { name: name.to_owned(), points: points.into_iter().collect() });
        self
    }

    pub fn with_marks(mut self, marks: impl IntoIterator<Item = (f64, String)>) -> Self {
        self.marks.extend(marks);
        self
    }
}
