//! Restores an image to its own card or another one. This overwrites the whole card, so it needs consent, and the image
//! must fit byte for byte.

use crate::request::{RestoreRequest, add_result};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_journal::backup::CardImage;
use cardscope_model::restore::{RecognisedBy, RestoreReport, RestoreSource};
use cardscope_model::shell::shell_quote_path;
use cardscope_model::units::ExactCapacity;
use cardscope_session::card_key::card_key;
use cardscope_session::consent::ConsentSource;
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbOutcome;
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening;
use std::cmp::Ordering;
use std::path::Path;

/// Restores a backup to the target, as far as both reach.
pub(super) fn run_image_restore(
    file: &Path,
    request: &RestoreRequest,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<RestoreReport>> {
    let backup = CardImage::open(file)?;
    let Some(target) = request.target.as_deref() else {
        let (was, file) = (&backup.facts().target, shell_quote_path(file));
        return Err(Failure::refused(format!(
            "name the card that the backup overwrites: cardscope restore {file} TARGET (it was taken from {was})"
        )));
    };
    let mut opened = opening::open_to_restore(request.resolved(target), consent, interrupt)?;
    let mut report = RestoreReport {
        file: file.display().to_string(),
        source: RestoreSource::Backup,
        target: target.to_owned(),
        saved_at: backup.facts().taken.clone(),
        announced_bytes: opened.target.info().bytes,
        saved_bytes: backup.facts().bytes,
        ..RestoreReport::default()
    };
    report.recognised_by = Some(recognize(&backup, &opened, &mut report));
    check_size(&backup, &mut report)?;
    let put = backup.restore_to(opened.target.as_mut(), interrupt, events);
    let failure = put.map(|done| add_result(&mut report, done)).err();
    Ok(VerbOutcome::from_report(report, failure.map(Failure::from)))
}

/// Compares the identities of card and backup. Another card is allowed with consent, and noted in the report.
fn recognize(backup: &CardImage, opened: &OpenTarget, report: &mut RestoreReport) -> RecognisedBy {
    let keys = backup.facts().card_key.clone().zip(card_key(opened));
    if keys.as_ref().is_some_and(|(was, is)| was == is) {
        return RecognisedBy::Identity;
    }
    report.notes.extend(keys.map(|_| "the backup was taken from another card".to_owned()));
    RecognisedBy::Consent
}

/// Refuses a smaller card unless the image is empty beyond its end. Sizes are compared in exact bytes.
fn check_size(backup: &CardImage, report: &mut RestoreReport) -> Result<()> {
    let (image, card, used) = (backup.facts().bytes, report.announced_bytes, backup.used_bytes());
    if used > card {
        let (image, target, lacks, card) =
            (ExactCapacity(image), &report.target, used - card, ExactCapacity(card));
        return Err(Failure::refused(format!(
            "the backup does not fit: it has {image} and {target} has {card}, {lacks} bytes too few, and data up to byte \
             {used}; nothing was written"
        )));
    }
    let apart = image.abs_diff(card);
    report.notes.extend(match image.cmp(&card) {
        Ordering::Greater => {
            Some(format!("the card is {apart} bytes smaller than the image, which is empty there"))
        }
        Ordering::Less => {
            Some(format!("the card is {apart} bytes larger than the image; the rest was not changed"))
        }
        Ordering::Equal => None,
    });
    Ok(())
}
