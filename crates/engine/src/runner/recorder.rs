//! Interface of the runner to its caller: settings of a pass, recording of samples, and the rule that stops a test.

use crate::interrupt::InterruptFlag;
use crate::target::TargetError;
use cardscope_model::caveat::Caveat;
use cardscope_model::result::LoopSample;
use cardscope_model::units::Nanos;
use cardscope_model::verify::{IoCounts, IoError};

#[derive(Debug, Clone, Copy)]
pub struct RunnerSettings<'a> {
    /// Appended to the name of each stage, as in `, run 2 of 10`.
    pub label: &'a str,
    /// Random seed of all positions and noise.
    pub seed: u64,
    /// If false, the area is not prepared, and tests that write are refused.
    pub may_write: bool,
    pub interrupt: &'a InterruptFlag,
    /// End of the budget on the target's clock.
    pub deadline: Option<Nanos>,
    /// True if another pass follows, which makes the last test's rest necessary.
    pub more_follow: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopChoice {
    Continue,
    /// The figure is precise enough, or never will be.
    Stop,
}

/// Decides when a figure is precise enough, from small portions of work in order.
pub trait StopRule: Send {
    /// Adds `ios` I/Os that ended within `seconds` since the last call.
    fn add_work(&mut self, seconds: f64, ios: u64) -> StopChoice;
}

pub type RecorderError = Box<dyn std::error::Error + Send + Sync>;

/// Receives the results of a pass.
pub trait PassRecorder {
    /// Stores the sample of a completed loop; it is safe once this returns. An error ends the pass.
    fn sample(&mut self, test: usize, index: u32, sample: LoopSample) -> Result<(), RecorderError>;
    /// Counts bytes moved, including preparation, warm-up and tests cut short.
    fn add_moved(&mut self, _read: u64, _written: u64) {}
    /// Adds I/O counts and errors of a test, or of the preparation before the first one.
    fn add_failures(&mut self, _test: Option<usize>, _counts: IoCounts, _io_errors: &[IoError]) {}
    /// Records the reason why a test cannot be measured.
    fn not_measured(&mut self, test: usize, reason: String);
    /// Records a caveat about a test.
    fn add_caveat(&mut self, test: usize, caveat: Caveat);
    /// Returns the stop rule of a test that asks for precision.
    fn stop_rule(&mut self, test: usize) -> Option<Box<dyn StopRule>>;
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target failed or is gone, or the user interrupted.
    #[error(transparent)]
    Target(#[from] TargetError),
    #[error("a finished sample could not be stored: {0}")]
    Recorder(RecorderError),
    /// A test writes although the target may not be written to.
    #[error("test {0:?} writes, which is not allowed on this target")]
    ReadOnly(String),
}
