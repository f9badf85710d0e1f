//! What a verification is asked to do.

use crate::error::Failure;
use crate::frame::Common;
use cardscope_model::verify::Method;
use cardscope_sd::label::{self, Label};
use std::path::PathBuf;

/// A verification as asked for.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// What every verb is asked for.
    pub common: Common,
    /// Quick, full or by files.
    pub method: Method,
    /// Quick: also finds out caches of up to 2 GiB.
    pub thorough: bool,
    /// Quick: what is on the card may go, so nothing is saved and put back.
    pub erase: bool,
    /// Full: an image of the card is saved to this file first and put back after.
    pub backup: Option<PathBuf>,
    /// Full and files: nothing is written, what an earlier pass wrote is read again.
    pub read_only: bool,
    /// Full: goes on where an earlier pass stopped.
    pub resume: bool,
    /// Full: writes all before reading, instead of reading each stretch soon after it was written.
    pub two_passes: bool,
    /// Files: leaves the files there.
    pub keep_files: bool,
    /// What is printed on the card.
    pub label: Option<String>,
}

impl Request {
    /// What is printed on the card, as the user says.
    pub(super) fn printed(&self) -> Result<Option<Label>, Failure> {
        self.label.as_deref().map(label::parse).transpose().map_err(Failure::refused)
    }
}
