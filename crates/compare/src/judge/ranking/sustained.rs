//! Sustained performance of a card: its speed after the cache and its longest write, from documents of `sustain`, `map` and
//! `check`. A short benchmark shows neither, since it writes into the cache, and stalls are rare.

use cardscope_model::card_map::{MeasuredMap, property::PropertyStatus};
use cardscope_model::job::{Figure, Job};
use cardscope_model::sustain::MeasuredRun;

/// Speed of sequential writes after the end of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum AfterCache {
    /// MB/s.
    Measured(f64),
    /// No cache that ends: the speed of a short test lasts.
    NoCache,
    /// No write was long enough.
    #[default]
    Unknown,
}

/// Result of a long write and of a map. The long write takes precedence; one with failed I/Os does not count.
pub fn speed_after_cache(long: Option<&MeasuredRun>, map: Option<&MeasuredMap>) -> AfterCache {
    let long = without_failures(long);
    let map = map.filter(|map| map.failed_ios == 0);
    let caches = [long.map(|long| &long.cache_bytes), map.map(|map| &map.slc_cache_bytes)];
    let speeds = [long.map(|long| &long.after_cache_mb_s), map.map(|map| &map.after_cache_mb_s)];
    match speeds.into_iter().flatten().find_map(|speed| speed.value.filter(|_| speed.is_measured())) {
        Some(mb_s) => AfterCache::Measured(mb_s),
        None if caches.into_iter().flatten().any(|cache| cache.status == PropertyStatus::None) => {
            AfterCache::NoCache
        }
        None => AfterCache::Unknown,
    }
}

fn without_failures(long: Option<&MeasuredRun>) -> Option<&MeasuredRun> {
    long.filter(|long| long.failed_ios == 0)
}

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SustainedFigures {
    pub after_cache: AfterCache,
    /// Seconds; 0 for a long run without a stall.
    pub longest_write_s: Option<f64>,
}

/// True if a job depends on sustained performance.
pub fn needs_long_runs(job: &Job) -> bool {
    let lasts = |figure: Figure| matches!(figure, Figure::SustainedWriteMbS | Figure::LongestWriteS);
    job.work.iter().any(|work| work.sustained_write_mb > 0.0) || job.demand.iter().any(|d| lasts(d.figure))
}

impl SustainedFigures {
    pub fn from_documents(long: Option<&MeasuredRun>, map: Option<&MeasuredMap>) -> SustainedFigures {
        let stall = |run: &MeasuredRun| run.stalls.as_ref().map_or(0.0, |stalls| stalls.longest_s);
        SustainedFigures {
            after_cache: speed_after_cache(long, map),
            longest_write_s: without_failures(long).map(stall),
        }
    }

    /// Fills unknown values from an older document.
    pub fn complete_from(&mut self, older: SustainedFigures) {
        if self.after_cache == AfterCache::Unknown {
            self.after_cache = older.after_cache;
        }
        self.longest_write_s = self.longest_write_s.or(older.longest_write_s);
    }

    /// True if older documents cannot add anything.
    pub fn is_complete(&self) -> bool {
        self.after_cache != AfterCache::Unknown && self.longest_write_s.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::card_map::property::{Property, PropertyEvidence};
    use cardscope_model::{card_map, sustain};

    fn long(mb_s: f64) -> sustain::MeasuredRun {
        sustain::MeasuredRun {
            after_cache_mb_s: Property::measured(mb_s, 0.9, PropertyEvidence::default()),
            ..sustain::MeasuredRun::default()
        }
    }

    fn map(cache: Property<u64>, mb_s: Option<f64>) -> card_map::MeasuredMap {
        let mut map = card_map::MeasuredMap { slc_cache_bytes: cache, ..card_map::MeasuredMap::default() };
        if let Some(mb_s) = mb_s {
            map.after_cache_mb_s = Property::measured(mb_s, 0.9, PropertyEvidence::default());
        }
        map
    }

    #[test]
    fn long_write_takes_precedence_over_map() {
        let cached = map(Property::measured(1 << 30, 0.9, PropertyEvidence::default()), Some(25.0));
        let none = map(Property::none(0.9, PropertyEvidence::default()), None);
        let untested = map(Property::not_tested("no time"), None);
        assert_eq!(speed_after_cache(Some(&long(22.0)), Some(&cached)), AfterCache::Measured(22.0));
        assert_eq!(speed_after_cache(None, Some(&cached)), AfterCache::Measured(25.0));
        assert_eq!(speed_after_cache(None, Some(&none)), AfterCache::NoCache);
        assert_eq!(speed_after_cache(None, Some(&untested)), AfterCache::Unknown);
        assert_eq!(speed_after_cache(Some(&sustain::MeasuredRun::default()), None), AfterCache::Unknown);
        let through = sustain::MeasuredRun {
            cache_bytes: Property::none(0.9, PropertyEvidence::default()),
            ..sustain::MeasuredRun::default()
        };
        assert_eq!(speed_after_cache(Some(&through), None), AfterCache::NoCache);
        let failed = sustain::MeasuredRun { failed_ios: 1, ..long(22.0) };
        assert_eq!(speed_after_cache(Some(&failed), Some(&cached)), AfterCache::Measured(25.0));
        assert_eq!(SustainedFigures::from_documents(Some(&failed), None), SustainedFigures::default());
    }

    #[test]
    fn older_document_fills_unknown_values_only() {
        let mut known =
            SustainedFigures::from_documents(None, Some(&map(Property::not_tested("no time"), Some(30.0))));
        known.complete_from(SustainedFigures::from_documents(Some(&long(22.0)), None));
        assert_eq!(known.after_cache, AfterCache::Measured(30.0));
        assert_eq!(known.longest_write_s, Some(0.0), "a long write without a stall");
        assert!(known.is_complete());
    }
}
