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
    /// Capacity in GB (10^9 bytes).
    CapacityGb,
}

impl Figure {
    /// All of them, in the order of [`Figures`].
    pub const ALL: [Figure; 7] = [
        Figure::ReadMbS,
        Figure::WriteMbS,
        Figure::SustainedWriteMbS,
        Figure::RandomReadIops,
        Figure::RandomWriteIops,
        Figure::LongestWriteS,
        Figure::CapacityGb,
    ];

    /// True for speeds in sequence, which whatever is at the other end may limit.
    #[must_use]
    pub fn is_sequential(self) -> bool {
        matches!(self, Figure::ReadMbS | Figure::WriteMbS | Figure::SustainedWriteMbS)
    }

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
            Figure::CapacityGb => ("capacity", "GB"),
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
    /// Capacity in GB (10^9 bytes).
    #[serde(default)]
    pub capacity_gb: Option<f64>,
}

impl Figures {
    /// Replaces a figure.
    pub fn set(&mut self, figure: Figure, value: f64) {
        let place = match figure {
            Figure::ReadMbS => &mut self.read_mb_s,
            Figure::WriteMbS => &mut self.write_mb_s,
            Figure::SustainedWriteMbS => &mut self.sustained_write_mb_s,
            Figure::RandomReadIops => &mut self.random_read_iops,
            Figure::RandomWriteIops => &mut self.random_write_iops,
            Figure::LongestWriteS => &mut self.longest_write_s,
            Figure::CapacityGb => &mut self.capacity_gb,
        };
        *place = Some(value);
    }

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
            Figure::CapacityGb => self.capacity_gb,
        };
        value.filter(|v| v.is_finite() && *v > 0.0)
    }
}
