//! How a long run is made, and who hears of its samples.

use cardscope_engine::card::ProbeStop;
use cardscope_model::sustain::{
    PlacedTemperature, SustainSample, TemperatureLimits, WorkloadKind, WorkloadPattern,
};
use cardscope_probing::context;
use std::time::Duration;

/// Bytes of an I/O of a sequential workload.
pub const BLOCK: u32 = 1 << 20;

/// I/Os in flight.
pub const DEPTH: u32 = 4;

/// Bytes of an I/O of a random workload, and of the small reads.
pub const SMALL: u32 = 4096;

/// Least bytes of a region that a run makes sense in.
pub const LEAST_REGION: u64 = 16 << 20;

/// Largest share of a card that a cache takes: a third in cells of three bits (docs/reference/flash.md#pslc-cache),
/// with room for error.
pub(super) const LARGEST_CACHE: f64 = 0.4;

/// How a long run is made.
#[derive(Debug, Clone)]
pub struct SustainOptions {
    /// What may be used.
    pub limits: context::ProbeLimits,
    /// What the workload does.
    pub work: WorkloadKind,
    /// Where it goes.
    pub pattern: WorkloadPattern,
    /// How long all of it may take.
    pub duration: Duration,
    /// Bytes that the workload may move.
    pub bytes: Option<u64>,
    /// Temperature at which the run ends, in °C.
    pub max_celsius: Option<f64>,
    /// What the card says of its limits.
    pub card_limits: TemperatureLimits,
    /// Bytes of the whole card, if offsets are its own.
    pub card_bytes: Option<u64>,
    /// True for a file of our own: what is to be read must be written first.
    pub prepare: bool,
}

/// Who keeps the samples, and knows of thermometers outside of the card.
pub trait SampleRecorder {
    /// A second is over.
    ///
    /// # Errors
    /// If it cannot be kept: then nothing more is measured.
    fn sample(&mut self, sample: &SustainSample) -> Result<(), ProbeStop>;

    /// Temperatures of everything but the card.
    fn outside(&mut self) -> Vec<PlacedTemperature> {
        Vec::new()
    }
}
