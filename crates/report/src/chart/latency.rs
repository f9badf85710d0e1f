//! How long single I/Os took: the share that took longer, over time, both by powers of ten, so that the rare long ones
//! show that people wait for.

use super::{Caption, Chart, Kind, Lines};
use crate::figure::count;
use cardscope_model::card_map::plot::{Axis, Plot, Scale, Series};
use cardscope_model::histogram::Histogram;
use cardscope_model::publication::Latencies;

/// Points for each power of ten of the share; the curve is smooth with these.
const PER_DECADE: u32 = 4;

/// Curves that one chart can tell apart.
pub const MOST_CURVES: usize = 6;

/// The distributions as curves; `None` where nothing was timed.
#[must_use]
pub fn chart(title: &str, all: &[&Latencies]) -> Option<Chart> {
    let timed: Vec<&&Latencies> = all.iter().filter(|l| l.histogram.count() > 0).take(MOST_CURVES).collect();
    let first = timed.first()?;
    let runs = timed.iter().map(|l| l.runs).max().unwrap_or_default();
    let series =
        timed.iter().map(|l| Series { name: l.test.to_string(), points: longer(&l.histogram) }).collect();
    Some(Chart {
        title: title.to_owned(),
        caption: Caption {
            unit: "% of all I/Os that took longer than a time in µs".into(),
            runs: format!("up to {}", count(runs, "run")),
            interval: "no interval: all I/Os counted".into(),
            condition: first.condition.clone(),
        },
        kind: Kind::Lines(Box::new(Lines {
            plot: Plot {
                title: title.to_owned(),
                x: Axis::new("time of an I/O", "µs", Scale::Log10),
                y: Axis::new("took longer", "%", Scale::Log10),
                series,
                marks: Vec::new(),
            },
            ..Lines::default()
        })),
    })
}

/// The share in percent that took longer, from all I/Os down to the longest one; times in µs.
fn longer(histogram: &Histogram) -> Vec<(f64, f64)> {
    let us = |nanos: u64| (nanos as f64 / 1e3).max(1e-3);
    let ios = histogram.count() as f64;
    let steps = (ios.log10().max(0.0) * f64::from(PER_DECADE)).ceil() as u32;
    let mut points: Vec<(f64, f64)> = vec![(us(histogram.min()), 100.0)];
    for step in 1..steps {
        let share = 10f64.powf(-f64::from(step) / f64::from(PER_DECADE));
        points.push((us(histogram.quantile(1.0 - share)), share * 100.0));
    }
    points.push((us(histogram.max()), 100.0 / ios));
    points.dedup_by(|a, b| a.0 == b.0 && a.1 == b.1);
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_with_one_long_stall_shows_it_at_the_foot_of_its_curve() {
        let mut histogram = Histogram::default();
        (0..9999).for_each(|i| histogram.record(200_000 + i * 10));
        histogram.record(900_000_000);
        let curve = longer(&histogram);
        assert_eq!(curve.last(), Some(&(900_000.0, 0.01)));
        assert_eq!(curve.first().map(|p| p.1), Some(100.0));
        assert!(curve.windows(2).all(|p| p[0].0 <= p[1].0 && p[0].1 > p[1].1), "{curve:?}");
    }
}
