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
pub(super) fn add_result(report: &mut RestoreReport, put_back: RestoreResult) {
    let plain =
        |ranges: Vec<SavedRange>| ranges.into_iter().map(|range| restore_range(range, None)).collect();
    report.bytes_restored = put_back.bytes;
    report.compared = true;
    (report.counts, report.io_errors) = (put_back.counts, put_back.io_errors);
    report.lost = plain(put_back.lost);
    report.doubtful = plain(put_back.doubtful);
    report.unreadable =
        put_back.unreadable.into_iter().map(|(range, why)| restore_range(range, Some(why))).collect();
}

/// Range of the report, with the reason if it was not restored.
pub(super) fn restore_range(range: SavedRange, reason: Option<String>) -> RestoreRange {
    RestoreRange { offset: range.offset, len: range.len, reason }
}
