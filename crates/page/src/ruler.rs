//! Where a value lies along an axis, which values get a tick, and how a tick is written.

use crate::figure::trimmed;
use cardscope_model::card_map::plot::{AxisScale, PlotAxis};

/// One axis with the range that is drawn.
#[derive(Debug, Clone)]
pub(crate) struct AxisRange {
    scale: AxisScale,
    bytes: bool,
    /// True where times span so much that each tick has the unit that fits it.
    times: bool,
    /// Ends of the range, on the axis' own scale (logarithms where it is logarithmic).
    low: f64,
    high: f64,
    /// Distance of linear ticks.
    step: f64,
}

impl AxisRange {
    /// A ruler over the values; `None` where none of them can be drawn. A linear range reaches out to whole ticks, and
    /// down to 0, since a difference must not look larger than it is: noise would look like a cliff. A temperature has no
    /// such zero.
    pub(crate) fn over(
        axis: &PlotAxis,
        values: impl Iterator<Item = f64>,
        ticks: usize,
    ) -> Option<AxisRange> {
        AxisRange::reaching(axis, values, ticks, |_, _| axis.unit != "°C")
    }

    /// A ruler over the values, from 0 on where `from_zero` says so of their lowest and highest.
    fn reaching(
        axis: &PlotAxis,
        values: impl Iterator<Item = f64>,
        ticks: usize,
        from_zero: impl Fn(f64, f64) -> bool,
    ) -> Option<AxisRange> {
        let scale = axis.scale;
        let places = values.filter_map(|v| along(scale, v));
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), p| (l.min(p), h.max(p)));
        if low > high {
            return None;
        }
        let bytes = axis.unit == "bytes";
        let times = axis.unit == "µs" && scale == AxisScale::Log10;
        if scale != AxisScale::Linear {
            let (low, high) = out_to_ticks(scale, low, high);
            return Some(AxisRange { scale, bytes, times, low, high, step: 1.0 });
        }
        let low = if low > 0.0 && from_zero(low, high) { 0.0 } else { low };
        let span = if high > low { high - low } else { low.abs().max(1.0) };
        let step = nice(span / ticks as f64, bytes);
        let (low, high) = ((low / step).floor() * step, (high / step).ceil() * step);
        Some(AxisRange { scale, bytes, times, low, high: if high > low { high } else { low + step }, step })
    }

    /// The same, reaching no further than its values: for an axis along which everything is measured.
    pub(crate) fn tight(
        axis: &PlotAxis,
        values: impl Iterator<Item = f64> + Clone,
        ticks: usize,
    ) -> Option<AxisRange> {
        let mut ruler = AxisRange::reaching(axis, values.clone(), ticks, |low, high| low < 0.5 * high)?;
        if axis.scale == AxisScale::Linear {
            let known = || values.clone().filter(|v| v.is_finite());
            let (low, high) =
                (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
            ruler.low = if ruler.low == 0.0 { 0.0 } else { low };
            ruler.high = if high > ruler.low { high } else { ruler.low + ruler.step };
        }
        Some(ruler)
    }

    /// How far along the axis a value lies: 0 to 1, `None` outside.
    pub(crate) fn place(&self, value: f64) -> Option<f64> {
        let share = (along(self.scale, value)? - self.low) / (self.high - self.low);
        (-1e-9..=1.0 + 1e-9).contains(&share).then(|| share.clamp(0.0, 1.0))
    }

    /// How it is divided, in a word, and its ends on that scale.
    pub(crate) fn ends(&self) -> (&'static str, f64, f64) {
        let scale = match self.scale {
            AxisScale::Linear => "linear",
            AxisScale::Log2 => "log2",
            AxisScale::Log10 => "log10",
        };
        (scale, self.low, self.high)
    }

    /// Values that get a tick, at most about `most` of them.
    pub(crate) fn ticks(&self, most: usize) -> Vec<f64> {
        match self.scale {
            AxisScale::Linear => self.steps(self.step).collect(),
            AxisScale::Log2 => {
                let apart = ((self.high - self.low) / most as f64).ceil().max(1.0);
                self.steps(apart).map(f64::exp2).collect()
            }
            AxisScale::Log10 => self.decades(most),
        }
    }

    fn steps(&self, step: f64) -> impl Iterator<Item = f64> {
        let (first, last) =
            ((self.low / step - 1e-9).ceil() as i64, (self.high / step + 1e-9).floor() as i64);
        (first..=last).map(move |n| n as f64 * step)
    }

    /// Powers of ten; 2 and 5 between them where there is room.
    fn decades(&self, most: usize) -> Vec<f64> {
        let (first, last) = (self.low.floor() as i32, self.high.ceil() as i32);
        let of = |parts: &'static [f64]| {
            let all = (first..=last).flat_map(move |d| parts.iter().map(move |p| p * 10f64.powi(d)));
            all.filter(|v| self.place(*v).is_some()).collect::<Vec<f64>>()
        };
        let (fine, coarse) = (of(&[1.0, 2.0, 5.0]), of(&[1.0]));
        if fine.len() <= most || coarse.len() < 3 { fine } else { coarse }
    }

    /// Whether each tick carries the unit that fits it.
    pub(crate) fn ticks_have_units(&self) -> bool {
        self.times || self.bytes
    }

    /// A value of this axis as a tick shows it; sizes carry their unit, others have it at the axis.
    pub(crate) fn write(&self, value: f64) -> String {
        match self.times {
            true => time(value),
            false if self.bytes => size(value),
            false => plain(value, self.step, self.scale),
        }
    }
}

/// An axis' name with its unit, where its ticks do not carry that.
pub(crate) fn named(axis: &PlotAxis) -> String {
    match (axis.label.as_str(), axis.unit.as_str()) {
        (label, "" | "bytes") => label.to_owned(),
        (label, "µs") if axis.scale == AxisScale::Log10 => label.to_owned(),
        ("", unit) => unit.to_owned(),
        (label, unit) => format!("{label}, {unit}"),
    }
}

/// The ends of a logarithmic range, on its own scale, moved out to the next values that may have a tick: of powers of ten
/// also 2 and 5 times them. However near its values are to each other, such a range has ticks.
fn out_to_ticks(scale: AxisScale, low: f64, high: f64) -> (f64, f64) {
    let parts: &[f64] = if scale == AxisScale::Log10 { &[1.0, 2.0, 5.0, 10.0] } else { &[1.0, 10.0] };
    let at = |value: f64| parts.iter().map(move |part| value.floor() + part.log10());
    let below = at(low).filter(|tick| *tick <= low + 1e-4).fold(low.floor(), f64::max);
    let above = at(high).filter(|tick| *tick >= high - 1e-4).fold(high.floor() + 1.0, f64::min);
    if above > below { (below, above) } else { (below - 1.0, above + 1.0) }
}

fn along(scale: AxisScale, value: f64) -> Option<f64> {
    let place = match scale {
        AxisScale::Linear => value,
        AxisScale::Log2 => value.log2(),
        AxisScale::Log10 => value.log10(),
    };
    place.is_finite().then_some(place)
}

/// The least of 1, 2 and 5 times a power of ten (of sizes: the least power of two) that is no less than `raw`.
fn nice(raw: f64, bytes: bool) -> f64 {
    if bytes {
        return raw.log2().ceil().exp2();
    }
    let decade = 10f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|n| n * decade).find(|s| *s >= raw * 0.999).unwrap_or(raw)
}

/// Bytes in the largest unit that leaves at least one of it.
fn size(bytes: f64) -> String {
    let units = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let fit = units.iter().find(|(_, power)| bytes.abs() >= 2f64.powi(*power));
    match fit {
        Some((unit, power)) => format!("{} {unit}", trimmed(bytes / 2f64.powi(*power), 1)),
        None => format!("{bytes:.0} B"),
    }
}

/// Microseconds in the largest unit that leaves at least one of it.
fn time(us: f64) -> String {
    let (value, unit) = match us {
        us if us >= 0.999e6 => (us / 1e6, "s"),
        us if us >= 0.999e3 => (us / 1e3, "ms"),
        us => (us, "µs"),
    };
    format!("{} {unit}", trimmed(value, 3))
}

fn plain(value: f64, step: f64, scale: AxisScale) -> String {
    if scale != AxisScale::Linear && value < 0.9e-4 {
        return format!("{value:.0e}");
    }
    let grain = if scale == AxisScale::Linear { step } else { value.abs().max(f64::MIN_POSITIVE) };
    trimmed(value, (-grain.log10().floor()).clamp(0.0, 9.0) as usize)
}
