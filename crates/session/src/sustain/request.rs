//! What a long run is asked to do.

use crate::frame::Common;
use cardscope_engine::target::Region;
use cardscope_model::sustain::{Pattern, Work};
use std::time::Duration;

/// A long run as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for.
    pub common: Common,
    /// What the workload does; `None` writes where nothing can be lost or what is there may go, and reads elsewhere.
    pub work: Option<Work>,
    /// Where it goes.
    pub pattern: Pattern,
    /// How long it may take.
    pub duration: Duration,
    /// Bytes that the workload may move.
    pub bytes: Option<u64>,
    /// What stands in this region may go.
    pub region: Option<Region>,
    /// What stands on the whole card may go.
    pub erase: bool,
    /// Size of the file in a directory.
    pub size: Option<u64>,
    /// `active`, `passive` …
    pub cooling: Option<String>,
    /// What is cooled.
    pub cooling_of: Option<String>,
    /// Thermometers that the user brings, as typed: `PLACE=cmd:COMMAND`, `PLACE=csv:FILE`, `PLACE=ask`.
    pub thermometers: Vec<String>,
    /// Temperature of the card at which the run ends, in °C.
    pub max_celsius: Option<f64>,
    /// An earlier run to hold this one against: its session, or a file with its document.
    pub baseline: Option<String>,
}
