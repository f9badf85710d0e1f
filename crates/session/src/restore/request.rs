//! What a restoration is asked to do, and what putting back says in its document.

use crate::options::GivenConsent;
use cardscope_engine::journal::SavedRange;
use cardscope_journal::put_back::PutBack;
use cardscope_model::restore::{RestoreRange, RestoreReport};
use clap::Args;
use std::path::PathBuf;

/// Put back what an interrupted test saved, or a backup image
///
/// Nothing is written before it is known that this is the card. Without FILE it lists the journals that wait.
#[derive(Debug, Clone, Default, Args)]
#[command(mut_arg("yes_destroy", |consent| consent.help(
    "Consent to lose what is on TARGET, for an image, or for a card that is not known again; must equal TARGET as typed"
)))]
pub struct Request {
    /// Journal of an interrupted test, or an image that --backup took
    #[arg(value_name = "JOURNAL|BACKUP")]
    pub file: Option<PathBuf>,
    /// The card [default: the one that the journal names]
    pub target: Option<String>,
    /// List the journals that wait
    #[arg(long, conflicts_with = "file")]
    pub list: bool,
    /// Consent that is given before anybody is asked.
    #[command(flatten)]
    pub consent: GivenConsent,
}

pub(super) fn fill_in(report: &mut RestoreReport, put_back: PutBack) {
    let range = |saved: SavedRange, reason| RestoreRange { offset: saved.offset, len: saved.len, reason };
    report.bytes_restored = put_back.bytes;
    report.compared = true;
    report.lost = put_back.lost.into_iter().map(|saved| range(saved, None)).collect();
    report.unreadable = put_back.unreadable.into_iter().map(|(saved, why)| range(saved, Some(why))).collect();
}
