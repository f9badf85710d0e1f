//! Reports of CrystalDiskMark 3 to 9 and of AmorphousDiskMark, which took its form over on the Mac.
//!
//! Their MB/s are true: 10^6 bytes a second, and IOPS times block agrees. The text is the same in every language of the
//! program; translated ones come from people and forums.

use super::dialect::{CRYSTALDISKMARK, is_sure_result};
use super::report;
use crate::error::ImportError;
use crate::text::Text;
use cardscope_model::log::Log;

/// True where a result line stands in it, with or without a heading; random access alone can be anybody's.
pub(crate) fn recognise(text: &Text) -> bool {
    text.lines().any(is_sure_result)
}

/// Reads all reports in the text.
pub(crate) fn read(text: &Text) -> Result<Vec<Log>, ImportError> {
    report::read(text, &CRYSTALDISKMARK)
}

#[cfg(test)]
#[path = "crystaldiskmark_tests.rs"]
mod tests;
