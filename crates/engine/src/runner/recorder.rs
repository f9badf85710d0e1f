//! What the runner must not know by itself and is handed: how a pass is run, who records its samples, and who decides
//! when a figure is known well enough.

use crate::interrupt::InterruptFlag;
use crate::target::TargetError;
use cardscope_model::caveat::Caveat;
use cardscope_model::result::LoopSample;
use cardscope_model::units::Nanos;
use cardscope_model::verify::{IoCounts, IoError};

/// How a pass is run.
#[derive(Debug, Clone, Copy)]
pub struct RunnerSettings<'a> {
    /// Stands behind the name of each stage: `, run 2 of 10`.
    pub label: &'a str,
    /// Decides every random place and all noise of the pass.
    pub seed: u64,
    /// False where nothing may be written: the area is not prepared, and tests that write are refused.
    pub may_write: bool,
    /// Raised by Ctrl-C.
    pub interrupt: &'a InterruptFlag,
    /// The end of the budget on the target's clock.
    pub deadline: Option<Nanos>,
    /// True where another pass follows, so that the last test's rest is kept too.
    pub more_follow: bool,
}

/// Whether a test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopChoice {
    /// Go on.
    Continue,
    /// The figure is known well enough, or never will be.
    Stop,
}

/// Decides when a figure is known well enough; fed with small portions of work, in order.
pub trait StopRule: Send {
    /// `ios` I/Os ended within `seconds` since the last call.
    fn slice(&mut self, seconds: f64, ios: u64) -> StopChoice;
}

/// An error of the recorder, as it came.
pub type RecorderError = Box<dyn std::error::Error + Send + Sync>;

/// Takes what a pass yields.
pub trait PassRecorder {
    /// A loop has ended. The sample is safe when this returns.
    ///
    /// # Errors
    /// Whatever kept it from being stored; the pass ends.
    fn sample(&mut self, test: usize, index: u32, sample: LoopSample) -> Result<(), RecorderError>;
    /// So many bytes went from and to the target, preparations, warm-ups and what was cut short included.
    fn moved(&mut self, _read: u64, _written: u64) {}
    /// I/Os of a test, or of what is written before the first one, and those of them that failed.
    fn failed(&mut self, _test: Option<usize>, _counts: IoCounts, _io_errors: &[IoError]) {}
    /// A test cannot be measured here.
    fn not_measured(&mut self, test: usize, reason: String);
    /// A doubt about a test came up.
    fn caveat(&mut self, test: usize, caveat: Caveat);
    /// What decides the end of a test that asks for precision.
    fn pace(&mut self, test: usize) -> Option<Box<dyn StopRule>>;
}

/// Why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target failed, vanished, or the user interrupted.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A sample could not be recorded.
    #[error("a finished sample could not be stored: {0}")]
    Recorder(RecorderError),
    /// A test would write where nothing may be written.
    #[error("test {0:?} writes, which is not allowed on this target")]
    ReadOnly(String),
}
