//! What of a card a job asks for.

use serde::{Deserialize, Serialize};

/// One figure by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Figure {
    /// Sequential read in MB/s.
    ReadMbS,
    /// Sequential write in MB/s, while a cache takes it.
    WriteMbS,
    /// Sequential write in MB/s for as long as one likes: after the end of a cache.
    SustainedWriteMbS,
    /// Random reads of 4 KiB a second, one at a time.
    RandomReadIops,
    /// Random writes of 4 KiB a second, one at a time.
    RandomWriteIops,
    /// Longest single write in seconds.
    LongestWriteS,
}

impl Figure {
    /// Its name and unit in words.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Figure::ReadMbS => ("sequential read", "MB/s"),
            Figure::WriteMbS => ("sequential write", "MB/s"),
            Figure::SustainedWriteMbS => ("sustained write", "MB/s"),
            Figure::RandomReadIops => ("random reads of 4 KiB", "a second"),
            Figure::RandomWriteIops => ("random writes of 4 KiB", "a second"),
            Figure::LongestWriteS => ("longest write", "s"),
        }
    }
}

/// What was measured of a card; what was not is absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Sequential read in MB/s.
    pub read_mb_s: Option<f64>,
    /// Sequential write in MB/s.
    pub write_mb_s: Option<f64>,
    /// Sequential write in MB/s after the end of a cache, or where none was found.
    pub sustained_write_mb_s: Option<f64>,
    /// Random reads of 4 KiB a second, one at a time.
    pub random_read_iops: Option<f64>,
    /// Random writes of 4 KiB a second, one at a time.
    pub random_write_iops: Option<f64>,
    /// Longest single write in seconds.
    pub longest_write_s: Option<f64>,
}

impl Figures {
    /// A figure that is a number one can divide by.
    #[must_use]
    pub fn get(&self, figure: Figure) -> Option<f64> {
        let value = match figure {
            Figure::ReadMbS => self.read_mb_s,
            Figure::WriteMbS => self.write_mb_s,
            Figure::SustainedWriteMbS => self.sustained_write_mb_s,
            Figure::RandomReadIops => self.random_read_iops,
            Figure::RandomWriteIops => self.random_write_iops,
            Figure::LongestWriteS => self.longest_write_s,
        };
        value.filter(|v| v.is_finite() && *v > 0.0)
    }
}
