//! Bounded time series: when it is full, neighbouring samples are merged in pairs, so that its size does not grow
//! with the duration.

use serde::{Deserialize, Serialize};

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
