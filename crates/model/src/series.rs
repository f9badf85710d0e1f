//! Time series of bounded size: when one is full, neighbouring samples are merged in pairs, so that its size does not
//! grow with the duration. Counts, sums and maxima are preserved, so that the worst second survives in any series.

use crate::units::mb_per_s;
use serde::{Deserialize, Serialize};

/// Most buckets of a series: whole seconds for more than an hour.
const MAX_BUCKETS: usize = 4096;

with_defaults! {
    /// Activity in whole seconds; the default is one second without a completed I/O.
    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    pub struct SeriesBucket {
        /// Start, in whole seconds of the target's clock since the start of the loop.
        pub at_s: u32 = 0,
        #[serde(default = "one", skip_serializing_if = "is_one")]
        pub seconds: u32 = 1,
        pub bytes: u64 = 0,
        pub ios: u64 = 0,
        /// Sum of the latencies in microseconds; 0 in series stored before this field existed.
        #[serde(default)]
        pub sum_us: u64 = 0,
        pub max_us: f64 = 0.0,
        pub temperature_c: Option<f64> = None,
    }
}

fn one() -> u32 {
    1
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields so")]
fn is_one(seconds: &u32) -> bool {
    *seconds == 1
}

impl SeriesBucket {
    pub fn mb_s(&self) -> f64 {
        mb_per_s(self.bytes, f64::from(self.seconds.max(1)))
    }

    pub fn end_s(&self) -> u64 {
        u64::from(self.at_s) + u64::from(self.seconds)
    }

    pub fn with_next(self, next: SeriesBucket) -> SeriesBucket {
        let temperature_c = next.temperature_c.or(self.temperature_c);
        let seconds = self.seconds.saturating_add(next.seconds);
        SeriesBucket { seconds, temperature_c, ..self.add_concurrent(next) }
    }

    /// Adds another thread's activity in the same seconds.
    fn add_concurrent(self, other: SeriesBucket) -> SeriesBucket {
        SeriesBucket {
            bytes: self.bytes.saturating_add(other.bytes),
            ios: self.ios.saturating_add(other.ios),
            sum_us: self.sum_us.saturating_add(other.sum_us),
            max_us: self.max_us.max(other.max_us),
            temperature_c: self.temperature_c.or(other.temperature_c),
            ..self
        }
    }
}

/// Buckets in order of time, each filled up to `width` seconds.
pub type TimeSeries = ThinnedSeries<SeriesBucket>;

impl Thinned for SeriesBucket {
    const MOST: usize = MAX_BUCKETS;

    fn has_room(&self, next: &SeriesBucket, width: u32, _pushed: u32) -> bool {
        self.seconds.saturating_add(next.seconds) <= width
    }

    fn merge(self, next: SeriesBucket, _before: Option<&SeriesBucket>) -> SeriesBucket {
        self.with_next(next)
    }
}

impl TimeSeries {
    pub fn append(&mut self, later: &TimeSeries) {
        let offset = self.last().map_or(0, |last| last.at_s.saturating_add(last.seconds));
        for bucket in later.iter() {
            self.push(SeriesBucket { at_s: bucket.at_s.saturating_add(offset), ..*bucket });
        }
    }

    /// Adds another thread's series. Both must have begun together and have no gaps.
    pub fn merge(&mut self, other: TimeSeries) {
        self.zip_with(other, |mine, theirs| {
            *mine = SeriesBucket { seconds: mine.seconds.max(theirs.seconds), ..mine.add_concurrent(theirs) };
        });
    }
}

/// Sample that can be merged with its successor.
pub trait Thinned: Clone {
    /// Most samples of a series.
    const MOST: usize;

    /// Returns true if `next` must be merged into this sample, which holds `pushed` samples. `width` starts at 1 and
    /// doubles each time that the series is thinned.
    fn has_room(&self, next: &Self, width: u32, pushed: u32) -> bool;

    /// Returns false for neighbours that must stay separate even when the series is thinned.
    fn can_merge(&self, _next: &Self) -> bool {
        true
    }

    /// Merges this sample and its successor. `before` is the sample before both.
    fn merge(self, next: Self, before: Option<&Self>) -> Self;
}

/// Samples in order of time, at most [`Thinned::MOST`]. Stored as a list.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(from = "Vec<T>", into = "Vec<T>")]
#[serde(bound(serialize = "T: Thinned + Serialize", deserialize = "T: Thinned + Deserialize<'de>"))]
pub struct ThinnedSeries<T> {
    samples: Vec<T>,
    width: u32,
    pushed: u32,
}

impl<T> Default for ThinnedSeries<T> {
    fn default() -> Self {
        ThinnedSeries { samples: Vec::new(), width: 1, pushed: 0 }
    }
}

/// Compares samples only, since the way in which a series was filled does not change its meaning.
impl<T: PartialEq> PartialEq for ThinnedSeries<T> {
    fn eq(&self, other: &Self) -> bool {
        self.samples == other.samples
    }
}

impl<T> std::ops::Deref for ThinnedSeries<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.samples
    }
}

impl<T: Thinned> ThinnedSeries<T> {
    pub fn push(&mut self, next: T) {
        match self.samples.pop_if(|last| last.has_room(&next, self.width, self.pushed)) {
            Some(last) => {
                let merged = last.merge(next, self.samples.last());
                self.samples.push(merged);
                self.pushed += 1;
            }
            None => {
                if self.samples.len() >= T::MOST {
                    self.merge_pairs();
                }
                self.samples.push(next);
                self.pushed = 1;
            }
        }
    }

    pub(crate) fn zip_with(&mut self, mut other: Self, add: impl Fn(&mut T, T)) {
        while self.width < other.width {
            self.merge_pairs();
        }
        while other.width < self.width {
            other.merge_pairs();
        }
        let longer = other.samples.split_off(self.samples.len().min(other.samples.len()));
        self.samples.iter_mut().zip(other.samples).for_each(|(mine, theirs)| add(mine, theirs));
        self.samples.extend(longer);
    }

    fn merge_pairs(&mut self) {
        let mut thinned: Vec<T> = Vec::with_capacity(self.samples.len());
        let mut samples = std::mem::take(&mut self.samples).into_iter().peekable();
        while let Some(sample) = samples.next() {
            let sample = match samples.next_if(|next| sample.can_merge(next)) {
                Some(next) => sample.merge(next, thinned.last()),
                None => sample,
            };
            thinned.push(sample);
        }
        self.samples = thinned;
        self.width = self.width.saturating_mul(2);
    }
}

impl<T: Thinned> FromIterator<T> for ThinnedSeries<T> {
    fn from_iter<I: IntoIterator<Item = T>>(samples: I) -> Self {
        let mut series = ThinnedSeries::default();
        samples.into_iter().for_each(|sample| series.push(sample));
        series
    }
}

/// Bounds series of earlier versions, which had no limit.
impl<T: Thinned> From<Vec<T>> for ThinnedSeries<T> {
    fn from(samples: Vec<T>) -> Self {
        samples.into_iter().collect()
    }
}

impl<T> From<ThinnedSeries<T>> for Vec<T> {
    fn from(series: ThinnedSeries<T>) -> Self {
        series.samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn second(at_s: u32, bytes: u64) -> SeriesBucket {
        SeriesBucket { at_s, bytes, ios: 2, sum_us: 900, max_us: 500.0, ..SeriesBucket::default() }
    }

    fn totals(series: &TimeSeries) -> (u64, u64, u64, u64) {
        let sum = |of: fn(&SeriesBucket) -> u64| series.iter().map(of).sum::<u64>();
        (sum(|b| b.bytes), sum(|b| b.ios), sum(|b| b.sum_us), sum(|b| u64::from(b.seconds)))
    }

    #[test]
    fn long_series_is_bounded_and_preserves_the_maximum() {
        let worst = 654_321;
        let points = (0..1_000_000).map(|at_s| match at_s {
            _ if at_s == worst => SeriesBucket { max_us: 9e6, temperature_c: Some(71.5), ..second(at_s, 1) },
            _ => second(at_s, 4096),
        });
        let series: TimeSeries = points.collect();
        assert!((MAX_BUCKETS / 2..=MAX_BUCKETS).contains(&series.len()), "{}", series.len());
        assert_eq!(totals(&series), (4096 * 999_999 + 1, 2_000_000, 900_000_000, 1_000_000));
        let found: Vec<&SeriesBucket> = series.iter().filter(|b| b.max_us == 9e6).collect();
        assert_eq!(found.len(), 1);
        assert!((found[0].at_s..found[0].at_s + found[0].seconds).contains(&worst), "{:?}", found[0]);
        assert_eq!(found[0].temperature_c, Some(71.5));
    }

    #[test]
    fn buckets_without_width_are_parsed() {
        let text = r#"[{"at_s":0,"bytes":4096,"ios":1,"max_us":7.5,"temperature_c":null}]"#;
        let old: TimeSeries = serde_json::from_str(text).unwrap();
        assert_eq!(old[..], [SeriesBucket { bytes: 4096, ios: 1, max_us: 7.5, ..SeriesBucket::default() }]);
    }

    #[test]
    fn series_of_threads_with_different_lengths_are_merged() {
        let mut short: TimeSeries = (0..10).map(|at_s| second(at_s, 1)).collect();
        let long: TimeSeries = (0..9000).map(|at_s| second(at_s, 1)).collect();
        assert_eq!(long[0].seconds, 4);
        short.merge(long.clone());
        assert_eq!(short.len(), long.len());
        assert_eq!(totals(&short), (9010, 18_020, 9010 * 900, 9000));
        assert_eq!((short[0].bytes, short[3].bytes), (8, 4));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn appended_series_preserve_totals(lengths in prop::collection::vec(0u32..3000, 1..6)) {
            let mut all = TimeSeries::default();
            for length in &lengths {
                all.append(&(0..*length).map(|at_s| second(at_s, u64::from(at_s))).collect());
            }
            prop_assert!(all.len() <= MAX_BUCKETS);
            let seconds: u64 = lengths.iter().map(|l| u64::from(*l)).sum();
            let bytes: u64 = lengths.iter().map(|l| (0..u64::from(*l)).sum::<u64>()).sum();
            prop_assert_eq!(totals(&all), (bytes, 2 * seconds, 900 * seconds, seconds));
            prop_assert!(all.windows(2).all(|two| two[0].end_s() == u64::from(two[1].at_s)));
            let text = serde_json::to_string(&all).unwrap();
            prop_assert_eq!(serde_json::from_str::<TimeSeries>(&text).unwrap(), all);
        }

        #[test]
        fn series_is_bounded_for_any_input(places in prop::collection::vec((any::<u32>(), any::<u32>()), 0..20)) {
            let wild = |(at_s, seconds)| SeriesBucket { at_s, seconds, ..SeriesBucket::default() };
            let series: TimeSeries = places.iter().copied().map(wild).cycle().take(20_000 * places.len().min(1)).collect();
            prop_assert!(series.len() <= MAX_BUCKETS);
        }
    }

    impl Thinned for u64 {
        const MOST: usize = 64;

        fn has_room(&self, _next: &u64, width: u32, pushed: u32) -> bool {
            pushed < width
        }

        fn merge(self, next: u64, _before: Option<&u64>) -> u64 {
            self + next
        }
    }

    #[test]
    fn series_memory_is_bounded() {
        let mut series = ThinnedSeries::default();
        for _ in 0..1_000_000 {
            series.push(1_u64);
            assert!(series.len() <= u64::MOST && series.samples.capacity() <= 2 * u64::MOST);
        }
        assert!(series.len() > u64::MOST / 2);
        assert_eq!(series.iter().sum::<u64>(), 1_000_000);
        assert!(series.windows(3).all(|three| three[0] == three[1]), "each has as many");
    }
}
