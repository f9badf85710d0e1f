//! Chart axes: range, ticks, tick labels and the position of a value.

use crate::figure::without_trailing_zeros;
use cardscope_model::card_map::plot::{AxisScale, PlotAxis};

#[derive(Debug, Clone, Copy)]
pub(crate) struct AxisRange<'a> {
    pub(crate) axis: &'a PlotAxis,
    /// Ends of the range on the axis' own scale (logarithms on a logarithmic axis).
    low: f64,
    high: f64,
    /// Distance between two ticks of a linear axis.
    step: f64,
}

impl<'a> AxisRange<'a> {
    /// Range that covers the values, or None if no value can be drawn. A linear range is extended to whole ticks and down to
    /// 0, because a cut axis makes noise look like a cliff. Temperatures have no meaningful zero, so theirs is not.
    pub(crate) fn padded(axis: &'a PlotAxis, all: impl Iterator<Item = f64>, ticks: usize) -> Option<Self> {
        AxisRange::with_zero_rule(axis, all, ticks, |_, _| axis.unit != "°C")
    }

    /// Range of the values. It starts at 0 if `from_zero` returns true for their lowest and highest.
    fn with_zero_rule(
        axis: &'a PlotAxis,
        values: impl Iterator<Item = f64>,
        ticks: usize,
        from_zero: impl Fn(f64, f64) -> bool,
    ) -> Option<Self> {
        let (low, high) = lowest_and_highest(values.filter_map(|v| to_scale(axis.scale, v)))?;
        if axis.scale != AxisScale::Linear {
            let (low, high) = widen_to_ticks(axis.scale, low, high);
            return Some(AxisRange { axis, low, high, step: 1.0 });
        }
        let low = if low > 0.0 && from_zero(low, high) { 0.0 } else { low };
        let span = if high > low { high - low } else { low.abs().max(1.0) };
        let step = round_step(span / ticks as f64, axis.unit == "bytes");
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Some(AxisRange { axis, low, high: if high > low { high } else { low + step }, step })
    }

    /// Range that ends exactly at the values, for an axis that is measured along its whole length.
    pub(crate) fn tight(
        axis: &'a PlotAxis,
        values: impl Iterator<Item = f64> + Clone,
        ticks: usize,
    ) -> Option<Self> {
        let mut range = AxisRange::with_zero_rule(axis, values.clone(), ticks, |low, high| low < 0.5 * high)?;
        if axis.scale == AxisScale::Linear {
            let (low, high) = lowest_and_highest(values.filter(|v| v.is_finite()))?;
            range.low = if range.low == 0.0 { 0.0 } else { low };
            range.high = if high > range.low { high } else { range.low + range.step };
        }
        Some(range)
    }

    /// Position of a value from 0 to 1, or None outside the range.
    pub(crate) fn position(&self, value: f64) -> Option<f64> {
        // Rounding errors must not exclude the ends of the range.
        let share = (to_scale(self.axis.scale, value)? - self.low) / (self.high - self.low);
        (-1e-9..=1.0 + 1e-9).contains(&share).then(|| share.clamp(0.0, 1.0))
    }

    /// Name of the scale and the ends of the range on that scale.
    pub(crate) fn scale_and_ends(&self) -> (&'static str, f64, f64) {
        let scale = match self.axis.scale {
            AxisScale::Linear => "linear",
            AxisScale::Log2 => "log2",
            AxisScale::Log10 => "log10",
        };
        (scale, self.low, self.high)
    }

    /// Values that get a tick, about `most` at most.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        match self.axis.scale {
            AxisScale::Linear => self.linear_ticks(self.step).collect(),
            AxisScale::Log2 => {
                let apart = ((self.high - self.low) / most as f64).ceil().max(1.0);
                self.linear_ticks(apart).map(f64::exp2).collect()
            }
            AxisScale::Log10 => self.decade_ticks(most),
        }
    }

    fn linear_ticks(&self, step: f64) -> impl Iterator<Item = f64> {
        let first = (self.low / step - 1e-9).ceil() as i64;
        let last = (self.high / step + 1e-9).floor() as i64;
        (first..=last).map(move |n| n as f64 * step)
    }

    /// Powers of ten, with 2 and 5 times each where there is room.
    fn decade_ticks(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let of = |parts: &'static [f64]| {
            let all = (first..=last).flat_map(move |d| parts.iter().map(move |p| p * 10f64.powi(d)));
            all.filter(|v| self.position(*v).is_some()).collect::<Vec<f64>>()
        };
        let (fine, coarse) = (of(&[1.0, 2.0, 5.0]), of(&[1.0]));
        if fine.len() <= most || coarse.len() < 3 { fine } else { coarse }
    }

    /// True if each tick label has its own unit.
    pub(crate) fn ticks_have_units(&self) -> bool {
        self.has_times() || self.axis.unit == "bytes"
    }

    /// True on logarithmic time axes, where every tick needs its own unit.
    fn has_times(&self) -> bool {
        self.axis.unit == "µs" && self.axis.scale == AxisScale::Log10
    }

    /// Tick label of a value. Sizes and logarithmic times carry their unit, other axes have it in their title.
    pub(crate) fn tick_label(&self, value: f64) -> String {
        match self.axis.unit.as_str() {
            "bytes" => size_label(value),
            _ if self.has_times() => time_label(value),
            _ => number_label(value, self.step, self.axis.scale),
        }
    }

    /// Title of the axis, with the unit unless the ticks carry it.
    pub(crate) fn title(&self) -> String {
        match (self.axis.label.as_str(), self.axis.unit.as_str()) {
            (label, "" | "bytes") => label.to_owned(),
            (label, _) if self.has_times() => label.to_owned(),
            ("", unit) => unit.to_owned(),
            (label, unit) => format!("{label}, {unit}"),
        }
    }
}

fn lowest_and_highest(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.map(|v| (v, v)).reduce(|(low, high), (v, _)| (low.min(v), high.max(v)))
}

/// Moves the ends of a logarithmic range out to the next possible ticks (1, 2 and 5 times a power of ten), so that even
/// nearly equal values get ticks.
fn widen_to_ticks(scale: AxisScale, low: f64, high: f64) -> (f64, f64) {
    let parts: &[f64] = if scale == AxisScale::Log10 { &[1.0, 2.0, 5.0, 10.0] } else { &[1.0, 10.0] };
    let at = |value: f64| parts.iter().map(move |part| value.floor() + part.log10());
    let below = at(low).filter(|tick| *tick <= low + 1e-4).fold(low.floor(), f64::max);
    let above = at(high).filter(|tick| *tick >= high - 1e-4).fold(high.floor() + 1.0, f64::min);
    if above > below { (below, above) } else { (below - 1.0, above + 1.0) }
}

fn to_scale(scale: AxisScale, value: f64) -> Option<f64> {
    let place = match scale {
        AxisScale::Linear => value,
        AxisScale::Log2 => value.log2(),
        AxisScale::Log10 => value.log10(),
    };
    place.is_finite().then_some(place)
}

/// Smallest of 1, 2 and 5 times a power of ten that is at least `raw`; for bytes the smallest power of two.
fn round_step(raw: f64, bytes: bool) -> f64 {
    if bytes {
        return raw.log2().ceil().exp2();
    }
    let decade = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * decade).find(|s| *s >= raw * 0.999).unwrap_or(raw)
}

/// Bytes in the largest binary unit that leaves at least 1.
fn size_label(bytes: f64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fit = units.iter().find(|(_, power)| bytes.abs() >= 2f64.powi(*power));
    match fit {
        Some((unit, power)) => format!("{} {unit}", without_trailing_zeros(bytes / 2f64.powi(*power), 1)),
        None => format!("{bytes:.0} B"),
    }
}

/// Microseconds in the largest unit that leaves at least 1.
fn time_label(us: f64) -> String {
    let (value, unit) = match us {
        us if us >= 0.999e6 => (us / 1e6, "s"),
        us if us >= 0.999e3 => (us / 1e3, "ms"),
        us => (us, "µs"),
    };
    format!("{} {unit}", without_trailing_zeros(value, 3))
}

fn number_label(value: f64, step: f64, scale: AxisScale) -> String {
    if scale != AxisScale::Linear && value < 0.9e-4 {
        return format!("{value:.0e}");
    }
    let grain = if scale == AxisScale::Linear { step } else { value.abs().max(f64::MIN_POSITIVE) };
    without_trailing_zeros(value, (-grain.log10().floor()).clamp(0.0, 9.0) as usize)
}
