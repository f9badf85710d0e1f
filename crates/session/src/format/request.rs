//! What a format is asked to do.

use crate::frame::Common;
use cardscope_model::format::Mode;
use std::path::PathBuf;

/// A format as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for.
    pub common: Common,
    /// What is done beside the file system.
    pub mode: Mode,
    /// Name of the volume.
    pub label: Option<String>,
    /// Ends the partition on a whole cylinder.
    pub size_adjustment: bool,
    /// Boundary in bytes instead of the capacity's own.
    pub boundary: Option<u64>,
    /// Lays out only what the card really has.
    pub limit_to_real: bool,
    /// Bytes that it really has, where the archive is not asked.
    pub real: Option<u64>,
    /// An image of the card is saved to this file first.
    pub backup: Option<PathBuf>,
}
