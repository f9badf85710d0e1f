//! Options of `restore`, and how the result fills its document.

use cardscope_engine::journal::SavedRange;
use cardscope_journal::restoring::RestoreResult;
use cardscope_model::restore::{RestoreRange, RestoreReport};
use cardscope_session::opening::ResolvedTarget;
use cardscope_session::options::GivenConsent;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Put back what an interrupted test saved, or a backup image
///
/// Writes only after it has recognised the card. Without FILE it lists the waiting journals.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize)]
#[command(mut_arg("yes_destroy", |consent| consent.help(
    "Agree to overwrite TARGET with an image, or a card that was not recognised; must equal TARGET as typed"
)))]
pub struct RestoreRequest {
    /// Journal of an interrupted test, or an image from --backup
    #[arg(value_name = "JOURNAL|BACKUP")]
    #[serde(skip)]
    pub file: Option<PathBuf>,
    /// Name of a waiting journal, in place of its file; a server looks it up.
    #[arg(skip)]
    pub journal: Option<String>,
    /// Card to restore [default: the one named in the journal]
    #[serde(skip)]
    pub target: Option<String>,
    /// List the waiting journals
    #[arg(long, conflicts_with = "file")]
    #[serde(skip)]
    pub list: bool,
    /// Consent that is given before anybody is asked.
    #[command(flatten)]
    #[serde(skip)]
    pub consent: GivenConsent,
}

impl RestoreRequest {
    /// Resolves a target, and holds it to `--object`.
    pub(super) fn resolved(&self, target: &str) -> ResolvedTarget {
        ResolvedTarget::from_name(target).with_object(self.consent.object.as_deref())
    }
}

/// Copies the result of restoring or comparing into the document.
pub(super) fn add_result(report: &mut RestoreReport, result: RestoreResult) {
    (report.bytes_restored, report.compared) = (result.bytes, true);
    (report.counts, report.io_errors) = (result.counts, result.io_errors);
    report.lost = restore_ranges(&result.lost);
    report.doubtful = restore_ranges(&result.doubtful);
    let unreadable = result.unreadable.into_iter();
    report.unreadable = unreadable.map(|(range, why)| restore_range(range, Some(why))).collect();
}

pub(super) fn restore_ranges(ranges: &[SavedRange]) -> Vec<RestoreRange> {
    ranges.iter().map(|range| restore_range(*range, None)).collect()
}

/// Range of the report, with the reason if it was not restored.
fn restore_range(range: SavedRange, reason: Option<String>) -> RestoreRange {
    RestoreRange { offset: range.offset, len: range.len, reason }
}
