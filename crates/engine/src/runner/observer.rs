//! What the runner must not know by itself and is handed: how a pass is run, who hears of it and keeps its samples, and
//! who decides when a figure is known well enough.

use crate::interrupt::Interrupt;
use crate::target::TargetError;
use cardscope_model::caveat::Caveat;
use cardscope_model::result::Sample;
use cardscope_model::units::Nanos;

/// How a pass is run.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// Decides every random place and all noise of the pass.
    pub seed: u64,
    /// False where nothing may be written: the area is not prepared, and tests that write are refused.
    pub may_write: bool,
    /// Raised by Ctrl-C.
    pub interrupt: &'a Interrupt,
    /// The end of the budget on the target's clock.
    pub deadline: Option<Nanos>,
    /// True where another pass follows, so that the last test's rest is kept too.
    pub more_follow: bool,
}

/// What is going on, for the progress line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Step {
    /// The test area is being written; its bytes.
    Prepare(u64),
    /// A loop of a test.
    Loop {
        /// The test's place in the recipe.
        test: usize,
        /// Counts from 0, discarded loops included.
        index: u32,
        /// Bytes it will move, where that is what ends it.
        bytes: Option<u64>,
        /// Seconds it will take, where that is what ends it.
        seconds: Option<f64>,
    },
    /// Rest between tests, in seconds.
    Rest(f64),
}

/// Whether a test goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// Go on.
    Continue,
    /// The figure is known well enough, or never will be.
    Stop,
}

/// Decides when a figure is known well enough; fed with small pieces of work, in order.
pub trait Pace: Send {
    /// `ios` I/Os ended within `seconds` since the last call.
    fn slice(&mut self, seconds: f64, ios: u64) -> Cut;
}

/// An error of the observer, kept as it is.
pub type ObserverError = Box<dyn std::error::Error + Send + Sync>;

/// Listens to a pass.
pub trait Observer {
    /// Something begins.
    fn begin(&mut self, step: Step);
    /// Bytes moved and nanoseconds passed in what began last.
    fn progress(&mut self, bytes: u64, nanos: Nanos);
    /// A loop has ended. The sample is kept for good when this returns.
    ///
    /// # Errors
    /// Whatever kept it from being stored; the pass ends.
    fn sample(&mut self, test: usize, index: u32, sample: Sample) -> Result<(), ObserverError>;
    /// A test cannot be measured here.
    fn not_measured(&mut self, test: usize, reason: String);
    /// A doubt about a test came up.
    fn caveat(&mut self, test: usize, caveat: Caveat);
    /// What decides the end of a test that asks for precision.
    fn pace(&mut self, test: usize) -> Option<Box<dyn Pace>>;
}

/// Why a pass ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The target failed, vanished, or the user interrupted.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// A sample could not be kept.
    #[error("a finished sample could not be kept: {0}")]
    Observer(ObserverError),
    /// A test would write where nothing may be written.
    #[error("test {0:?} writes, and nothing may be written to this target")]
    ReadOnly(String),
}
