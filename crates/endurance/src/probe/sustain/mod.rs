//! Sustained workload with test reads and commands in between, which show why the card slows down
//! (docs/reference/flash.md#causes-of-a-slow-spell). Phases: workload until steady, pause with reads before and after,
//! workload again, reads.

mod conclude;
mod phases;
mod record;
mod run;

pub use phases::{plan_stages, run_sustain};

use cardscope_engine::io_driver::ProbeStop;
use cardscope_model::sustain::{
    PlacedTemperature, SustainSample, TemperatureLimits, WorkloadKind, WorkloadPattern,
};
use cardscope_probing::context::ProbeLimits;
use std::time::Duration;

/// Bytes of a sequential I/O.
pub const SEQUENTIAL_BLOCK: u32 = 1 << 20;

/// Queue depth.
pub const QUEUE_DEPTH: u32 = 4;

/// Bytes of a random I/O and of test reads.
pub const RANDOM_BLOCK: u32 = 4096;

/// Least bytes of a region for a meaningful run.
pub const MIN_REGION: u64 = 16 << 20;

/// Largest share of a card that its cache may take: a third for cells of three bits (docs/reference/flash.md#pslc-cache),
/// with a margin.
const MAX_CACHE_SHARE: f64 = 0.4;

/// Rounds of the SNIA window that fit in the run.
const ROUND_SHARE: f64 = 60.0;

#[derive(Debug, Clone)]
pub struct SustainOptions {
    pub limits: ProbeLimits,
    pub work: WorkloadKind,
    pub pattern: WorkloadPattern,
    /// Time limit of the whole run.
    pub duration: Duration,
    /// Bytes that the workload may move.
    pub bytes: Option<u64>,
    /// Temperature in °C that ends the run.
    pub max_celsius: Option<f64>,
    /// Temperature limits that the card reports.
    pub card_limits: TemperatureLimits,
    /// Size of the whole card, None if offsets are not those of a card.
    pub card_bytes: Option<u64>,
    /// True for a test file, which must be written before it can be read.
    pub is_test_file: bool,
}

impl SustainOptions {
    /// True if the workload writes, alone or in turn with reads.
    fn writes(&self) -> bool {
        self.work != WorkloadKind::Read
    }

    /// Seconds of a round of the SNIA window.
    fn round_s(&self) -> f64 {
        (self.duration.as_secs_f64() / ROUND_SHARE).clamp(1.0, 60.0)
    }
}

/// Stores samples, and reads thermometers outside of the card.
pub trait SampleRecorder {
    /// Stores the sample of a second.
    /// # Errors
    /// Fails if it cannot be stored, which ends the run.
    fn sample(&mut self, sample: &SustainSample) -> Result<(), ProbeStop>;

    /// Temperatures of everything except the card.
    fn external_temperatures(&mut self) -> Vec<PlacedTemperature> {
        Vec::new()
    }
}
