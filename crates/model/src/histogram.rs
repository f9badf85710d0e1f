//! Histogram of latencies in log-linear classes: exact count, sum, minimum and maximum, quantiles to 0.4 %.
//!
//! Each power of two has 128 equal classes (as in HDR histograms), so that recording is a shift, a mask and an
//! addition. Values are nanoseconds.

use crate::units::Nanos;
use serde::{Deserialize, Serialize};

/// log2 of the classes per power of two.
const SUB_BITS: u32 = 7;
const CLASSES_PER_GROUP: u64 = 1 << SUB_BITS;
/// Lower bound of the last class, about 2.4 hours.
const MAX_CLASSED_NANOS: u64 = 1 << 43;
/// Groups of `CLASSES_PER_GROUP` classes; the last has a single class.
const GROUPS: usize = 43 - SUB_BITS as usize + 2;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredHistogram", into = "StoredHistogram")]
pub struct LatencyHistogram {
    /// Allocated on demand, because the latencies of a test lie within a few powers of two.
    groups: [Option<Box<[u64; CLASSES_PER_GROUP as usize]>>; GROUPS],
    count: u64,
    sum: u128,
    min: Nanos,
    max: Nanos,
}

impl Default for LatencyHistogram {
    fn default() -> Self {
        LatencyHistogram { groups: [const { None }; GROUPS], count: 0, sum: 0, min: Nanos::MAX, max: 0 }
    }
}

/// Returns the class of a value: linear below 2·`CLASSES_PER_GROUP`, then `CLASSES_PER_GROUP` classes per power of two.
#[inline]
fn class_index(value: Nanos) -> usize {
    let v = value.min(MAX_CLASSED_NANOS);
    let shift = (63 - (v | (CLASSES_PER_GROUP - 1)).leading_zeros()).saturating_sub(SUB_BITS);
    ((u64::from(shift) << SUB_BITS) + (v >> shift)) as usize
}

/// Returns the lower bound and the width of a class.
fn class_bounds(class: usize) -> (Nanos, Nanos) {
    let c = class as u64;
    if c < 2 * CLASSES_PER_GROUP {
        return (c, 1);
    }
    let shift = (c >> SUB_BITS) - 1;
    ((CLASSES_PER_GROUP + (c & (CLASSES_PER_GROUP - 1))) << shift, 1 << shift)
}

impl LatencyHistogram {
    #[inline]
    pub fn record(&mut self, value: Nanos) {
        *self.class_counter(class_index(value)) += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.min = self.min.min(value);
        self.max = self.max.max(value);
    }

    #[inline]
    fn class_counter(&mut self, class: usize) -> &mut u64 {
        let empty = || Box::new([0; CLASSES_PER_GROUP as usize]);
        let group = self.groups[class >> SUB_BITS].get_or_insert_with(empty);
        &mut group[class & (CLASSES_PER_GROUP as usize - 1)]
    }

    pub fn merge(&mut self, other: &LatencyHistogram) {
        for (class, theirs) in other.class_counts() {
            let mine = self.class_counter(class);
            *mine = mine.saturating_add(theirs);
        }
        self.count = self.count.saturating_add(other.count);
        self.sum = self.sum.saturating_add(other.sum);
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the mean in nanoseconds; 0 if empty.
    pub fn mean(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.sum as f64 / self.count as f64 }
    }

    /// Returns the exact maximum in nanoseconds; 0 if empty.
    pub fn max(&self) -> Nanos {
        self.max
    }

    pub fn min(&self) -> Nanos {
        if self.count == 0 { 0 } else { self.min }
    }

    /// Returns the latency at or below which the share `q` (0 to 1) lies; 0 if empty.
    pub fn quantile(&self, q: f64) -> Nanos {
        let wanted = ((q.clamp(0.0, 1.0) * self.count as f64).ceil() as u64).max(1);
        let mut seen = 0;
        for (index, n) in self.class_counts() {
            seen = n.saturating_add(seen);
            if seen >= wanted {
                let (low, width) = class_bounds(index);
                // The middle of the class halves the error, and the exact extremes bound it.
                return (low + width / 2).max(self.min).min(self.max);
            }
        }
        self.max
    }

    pub fn classes(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        self.class_counts().map(|(class, n)| (class_bounds(class).0, n))
    }

    fn class_counts(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let groups = self.groups.iter().enumerate().filter_map(|(at, group)| Some((at, group.as_deref()?)));
        let each = groups.flat_map(|(at, group)| {
            group.iter().enumerate().map(move |(sub, n)| ((at << SUB_BITS) + sub, *n))
        });
        each.filter(|(_, n)| *n > 0)
    }
}

/// Stored form, with non-empty classes only.
#[derive(Serialize, Deserialize)]
struct StoredHistogram {
    sum_ns: u64,
    min_ns: Nanos,
    max_ns: Nanos,
    classes: Vec<(Nanos, u64)>,
}

impl From<LatencyHistogram> for StoredHistogram {
    fn from(histogram: LatencyHistogram) -> Self {
        StoredHistogram {
            sum_ns: u64::try_from(histogram.sum).unwrap_or(u64::MAX),
            min_ns: histogram.min(),
            max_ns: histogram.max,
            classes: histogram.classes().collect(),
        }
    }
}

impl From<StoredHistogram> for LatencyHistogram {
    fn from(stored: StoredHistogram) -> Self {
        let mut histogram = LatencyHistogram::default();
        for (low, n) in stored.classes {
            // A file may contain any counts, so sums saturate instead of overflowing.
            let held = histogram.class_counter(class_index(low));
            *held = held.saturating_add(n);
            histogram.count = histogram.count.saturating_add(n);
        }
        if histogram.count > 0 {
            (histogram.sum, histogram.min, histogram.max) =
                (u128::from(stored.sum_ns), stored.min_ns, stored.max_ns);
        }
        histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn empty_histogram_returns_zero() {
        let h = LatencyHistogram::default();
        assert_eq!((h.count(), h.min(), h.max(), h.quantile(0.5)), (0, 0, 0, 0));
    }

    #[test]
    fn class_bounds_are_in_their_class() {
        for c in 0..(GROUPS - 1) << SUB_BITS {
            let (low, width) = class_bounds(c);
            assert_eq!((class_index(low), class_index(low + width - 1)), (c, c));
        }
    }

    #[test]
    fn hostile_histogram_saturates() {
        let text = r#"{"sum_ns":7,"min_ns":9,"max_ns":3,"classes":[[5,18446744073709551615],[5,1],[18446744073709551615,2]]}"#;
        let mut h: LatencyHistogram = serde_json::from_str(text).unwrap();
        assert_eq!((h.count(), h.quantile(0.5), h.max()), (u64::MAX, 3, 3));
        h.merge(&h.clone());
        assert_eq!(h.count(), u64::MAX);
    }

    proptest! {
        #[test]
        fn quantiles_are_exact_to_half_a_percent(
            mut values in prop::collection::vec(1u64..10_000_000_000, 1..300), q in 0.0..1.0f64,
        ) {
            let mut h = LatencyHistogram::default();
            values.iter().for_each(|v| h.record(*v));
            values.sort_unstable();
            let rank = ((q * values.len() as f64).ceil() as usize).max(1) - 1;
            let (exact, got) = (values[rank] as f64, h.quantile(q) as f64);
            prop_assert!((got - exact).abs() <= exact * 0.005 + 1.0, "{got} for {exact}");
        }

        #[test]
        fn histogram_round_trips_json(values in prop::collection::vec(0u64..1 << 42, 0..100)) {
            let mut h = LatencyHistogram::default();
            values.iter().for_each(|v| h.record(*v));
            let text = serde_json::to_string(&h).unwrap();
            prop_assert_eq!(serde_json::from_str::<LatencyHistogram>(&text).unwrap(), h);
        }
    }
}
