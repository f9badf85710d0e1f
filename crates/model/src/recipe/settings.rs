//! What the settings of a test may be.

use serde::{Deserialize, Serialize};

/// How a stretch is filled before it is tested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Prepare {
    /// Bytes in one write.
    pub block: u64,
    /// What is written.
    pub data: Data,
}

/// Where a test may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// The test area.
    Area,
    /// The whole card, from its first byte; not measured on a directory.
    Device,
}

/// How several threads divide the span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sharing {
    /// All threads run over the whole span.
    Same,
    /// Each thread has a slice of its own.
    Slices,
}

/// When one loop of a test ends: whichever comes first.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Limit {
    /// Passes of each thread over its own stretch (the whole span, or its slice); a pass is as many I/Os as blocks
    /// fit in, also where random places are drawn with replacement.
    pub passes: Option<u32>,
    /// Bytes moved by each thread.
    pub bytes: Option<u64>,
    /// Seconds.
    pub seconds: Option<f64>,
    /// True where time is looked at only when a pass is complete (CrystalDiskMark 3's sequential tests).
    pub whole_passes: bool,
}

/// How the loops of one run become one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aggregate {
    /// The fastest loop.
    Max,
    /// The mean of the loops' speeds.
    Mean,
    /// All bytes over all seconds.
    Total,
    /// The middle loop.
    Median,
}

/// Flush at the end of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Flush {
    /// None (the original does none either).
    None,
    /// Inside the measured time.
    Timed,
    /// After the measured time, so that the next test starts clean.
    Untimed,
}

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Data {
    /// Incompressible bytes.
    Random,
    /// Zeros.
    Zero,
}

/// The way of the I/O through the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Past the page cache (`O_DIRECT`), where the file system can.
    Direct,
    /// Through the page cache.
    Buffered,
}

/// How random places are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RandomDraw {
    /// Each place once in a pass, in a new order for each pass (fio's random map, iozone).
    Permutation,
    /// Any place at any time (CrystalDiskMark, DiskSpd).
    Uniform,
}

/// Repeat a test until its mean is known well enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Until {
    /// Half width of the 95 % interval, in percent of the mean.
    pub ci95_percent: f64,
    /// Seconds before the first look.
    pub min_s: f64,
    /// Seconds after which the test ends anyway, and says so.
    pub max_s: f64,
}
