//! Restores a journal. Repeating this, or stopping it at any point, does no harm: every place ends with its oldest
//! content, and the journal is removed only after the card was read again, everything matches, and no other test data
//! was found.

use crate::request::{RestoreRequest, add_result, restore_ranges};
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::journal::{JournalWriter as _, SavedRange};
use cardscope_journal::restoring::{RESTORING, compare_with_journal, merged_ranges, restore_from_journal};
use cardscope_journal::search::{SEARCHING, search_test_data};
use cardscope_journal::survey::{CardSurvey, NewerPlaces, SurveyExtent, survey_card};
use cardscope_journal::{Journal, JournalCompleteness, JournalPart};
use cardscope_model::progress::StagePlan;
use cardscope_model::restore::{RecognisedBy, RestoreReport, RestoreSource};
use cardscope_model::shell::{shell_quote, shell_quote_path};
use cardscope_model::units::{DecimalSize, ExactCapacity};
use cardscope_session::consent::{AnnouncingConsent, ConsentQuestion, ConsentSource, obtain_consent};
use cardscope_session::error::{Failure, Result};
use cardscope_session::frame::VerbOutcome;
use cardscope_session::journals::{JournalOwner, TargetMedium, owner_by_content};
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening;
use std::path::Path;

/// Bytes of an I/O and I/Os in flight: 4 MiB of memory.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 4;

/// Name of the stage in which the card is compared with the journal.
const COMPARING: &str = "comparing the card with the journal";

/// Restores a journal, and removes it if nothing needs it any more.
pub(super) fn run_journal_restore(
    file: &Path,
    request: &RestoreRequest,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<RestoreReport>> {
    let mut journal = Journal::open(file)?;
    let target = request.target.clone().unwrap_or_else(|| journal.facts().target.clone());
    let mut report = RestoreReport {
        file: file.display().to_string(),
        source: RestoreSource::Journal,
        target: target.clone(),
        saved_at: journal.facts().began.clone(),
        announced_bytes: journal.facts().announced_bytes,
        saved_bytes: journal.saved_ranges().iter().map(|saved| saved.len).sum(),
        ..RestoreReport::default()
    };
    // Removing it failed after an earlier restore. Restoring it again could overwrite newer data.
    let restored = journal.restored().then_some("this journal was restored before");
    let needless = restored.or(journal.overwrote_nothing().then_some("its test overwrote nothing"));
    if let Some(why) = needless {
        report.notes.push(format!("{why}; nothing was written"));
        return Ok(remove_and_report(journal, report));
    }
    let announcing = &mut AnnouncingConsent(consent);
    let mut opened = opening::open_to_restore(request.resolved(&target), announcing, interrupt)?;
    let named = check_identity(&journal, &opened, &target)?;
    let failing = |stop| restore_failure(stop, file);
    let mut card = IoDriver::new(opened.target.as_mut(), interrupt, BLOCK, DEPTH).map_err(failing)?;
    events.announce_plan(StagePlan::from_stages([(COMPARING, 0.2), (RESTORING, 0.6), (SEARCHING, 0.2)]));
    events.begin_stage(COMPARING, Some(report.saved_bytes), None);
    let (survey, newer) = match survey_card(&mut card, &mut journal, SurveyExtent::All, 0) {
        Ok(found) => found,
        Err(stop) => return Ok(VerbOutcome::from_report(report, Some(failing(stop)))),
    };
    report.recognised_by = Some(match named {
        true => RecognisedBy::Identity,
        false => recognize_by_content(&survey, &journal, &target, consent)?,
    });
    report.differed_bytes = Some(survey.differing);
    let spared = ranges_to_spare(&newer, &mut report, consent);
    if survey.unread > 0 {
        report.notes.push(format!("{} sectors were unreadable before", survey.unread));
    }
    let left: u64 = report.left.iter().map(|range| range.len).sum();
    let differs = survey.differing > left;
    let restored = restore_or_compare(&mut card, &mut journal, &spared, differs, &mut report, events);
    let is_telling = survey.stamped_before == 0;
    let search = |()| search_rest(&mut card, &journal, is_telling, &mut report, events);
    if let Err(stop) = restored.and_then(search) {
        return Ok(VerbOutcome::from_report(report, Some(failing(stop))));
    }
    (report.counts, report.io_errors) = (card.counts(), card.io_errors().to_vec());
    drop(card);
    Ok(end_restore(journal, report, &survey))
}

/// Restores what differs and compares. If nothing differs it only compares, in requests unlike those of the survey.
fn restore_or_compare(
    card: &mut IoDriver<'_>,
    journal: &mut Journal,
    spared: &[SavedRange],
    differs: bool,
    report: &mut RestoreReport,
    events: &mut dyn Listener,
) -> Result<(), ProbeStop> {
    let mut part = JournalPart::new(journal, spared);
    if !differs {
        let compared = compare_with_journal(card, &mut part, events)?;
        if compared.lost.is_empty() {
            add_result(report, compared);
            let others = if spared.is_empty() { "all places" } else { "all other sectors" };
            report.notes.push(format!("{others} already hold the saved data; nothing was written"));
            return Ok(());
        }
    }
    add_result(report, restore_from_journal(card, &mut part, events)?);
    Ok(())
}

/// Searches for test data in places that the journal does not have, or lost.
fn search_rest(
    card: &mut IoDriver<'_>,
    journal: &Journal,
    is_telling: bool,
    report: &mut RestoreReport,
    events: &mut dyn Listener,
) -> Result<(), ProbeStop> {
    let found = search_test_data(card, journal, is_telling, events)?;
    report.missing_ranges = journal.damage().lost_ranges;
    report.searched_bytes = found.searched;
    report.may_lack_more = journal.completeness() == JournalCompleteness::Unknown && !found.is_whole();
    report.originals_lost = restore_ranges(&found.stamped);
    if !is_telling {
        let note = "the card held test data of the same seed before, so further test data was not searched";
        report.notes.push(note.to_owned());
    } else if !found.is_whole() {
        let (searched, whole) = (DecimalSize(found.searched - found.unread), DecimalSize(found.searchable));
        report.notes.push(format!("searched {searched} of {whole} beside the saved data for test data"));
    }
    Ok(())
}

/// Refuses a card of another size or identity before reading it. Returns true if the identity matches.
fn check_identity(journal: &Journal, opened: &OpenTarget, target: &str) -> Result<bool> {
    let (about, medium) = (journal.facts(), TargetMedium::of_target(opened));
    let another = |why: String| {
        let command = format!("cardscope restore {} TARGET", shell_quote_path(journal.path()));
        Failure::refused(format!(
            "{target} is not the card of this journal: {why}; nothing was written. Insert that card and run: {command}"
        ))
    };
    if medium.bytes != about.announced_bytes {
        let (is, was) = (ExactCapacity(medium.bytes), ExactCapacity(about.announced_bytes));
        return Err(another(format!("it has {is} instead of {was}")));
    }
    match medium.has_same_key(about) {
        Some(false) => {
            let named = about.card.as_deref().map(|card| format!(" ({card})")).unwrap_or_default();
            Err(another(format!("it has another identity{named}")))
        }
        Some(true) if !medium.same_part(about) => Err(another("it is another partition of the card".into())),
        named => Ok(named.is_some()),
    }
}

/// Decides by content whether this is the card, and asks the user if it is doubtful. No consent is needed if every
/// place holds its original, because nothing will be written.
fn recognize_by_content(
    survey: &CardSurvey,
    journal: &Journal,
    target: &str,
    consent: &mut dyn ConsentSource,
) -> Result<RecognisedBy> {
    let in_place = survey.differing == 0 && survey.unread == 0;
    let why = match owner_by_content(survey, journal.restoring_begun()) {
        JournalOwner::ThisCard(by) => return Ok(by),
        _ if in_place && survey.original > 0 => return Ok(RecognisedBy::Content),
        _ if in_place => return Ok(RecognisedBy::SizeOnly),
        JournalOwner::OtherCard(why) | JournalOwner::Uncertain(why) => why,
    };
    let at_stake = format!("{target}, which may not be the card of this journal ({why})");
    match obtain_consent(consent, &ConsentQuestion { target: target.to_owned(), at_stake }) {
        Ok(()) => Ok(RecognisedBy::Consent),
        Err(_) => Err(Failure::refused(format!(
            "{target} may not be the card of this journal: {why}; nothing was written. If it is, add \
             --yes-destroy {target}"
        ))),
    }
}

/// Ranges to leave alone: data written since the test belongs to the user, who may agree to overwrite it.
fn ranges_to_spare(
    newer: &NewerPlaces,
    report: &mut RestoreReport,
    consent: &mut dyn ConsentSource,
) -> Vec<SavedRange> {
    let Some(first) = newer.foreign.first() else { return newer.merged() };
    let sectors = newer.foreign.iter().map(|range| range.len).sum::<u64>() / 512;
    let target = report.target.clone();
    let what = format!("{sectors} sectors, the first at byte {}, were written after the test", first.offset);
    // A user who confirmed an unrecognized card was already warned about its content.
    let agreed = report.recognised_by == Some(RecognisedBy::Consent) || {
        let at_stake = format!("{target}: {what}");
        obtain_consent(consent, &ConsentQuestion { target: target.clone(), at_stake }).is_ok()
    };
    if agreed {
        report.notes.push(format!("{what} and are overwritten"));
        return Vec::new();
    }
    let (file, target) = (shell_quote(&report.file), shell_quote(&target));
    report.notes.push(format!(
        "{what} and are left alone; to overwrite them, too: cardscope restore {file} {target} --yes-destroy \
         {target}"
    ));
    report.left = restore_ranges(&newer.foreign);
    newer.merged()
}

/// Removes the journal if nothing needs it any more; otherwise reports why it remains.
fn end_restore(journal: Journal, mut report: RestoreReport, card: &CardSurvey) -> VerbOutcome<RestoreReport> {
    let lost = report.missing_ranges;
    report.notes.extend(match lost {
        0 => None,
        1 => Some("the journal is damaged: at least 1 range is lost".to_owned()),
        more => Some(format!("the journal is damaged: at least {more} ranges are lost")),
    });
    if let Some((start, end)) = journal.damage().tail.filter(|_| report.may_lack_more) {
        report.notes.push(format!(
            "bytes {start} to {end} of the journal are unreadable: normal after a power cut; otherwise the \
             data there is lost"
        ));
    }
    let why = match () {
        () if !report.originals_lost.is_empty() || lost > 0 => "originals are missing in it",
        () if report.may_lack_more => "its end may be missing",
        () if !report.left.is_empty() => "sectors changed since the test were not restored",
        () if report.is_bad() => "some data could not be restored",
        () if !is_sure(&journal, &report, card) => "a copy of the card, or an empty card, looks the same",
        () => return remove_and_report(journal, report),
    };
    report.notes.push(format!("the journal remains, since {why}; remove it when you no longer need it"));
    report.may_have_changed = journal.save_change_list(&changed_ranges(&report));
    VerbOutcome::from_report(report, None)
}

/// Ranges that may differ from before the test.
fn changed_ranges(report: &RestoreReport) -> Vec<SavedRange> {
    let RestoreReport { lost, unreadable, doubtful, originals_lost, .. } = report;
    let all = [lost, unreadable, doubtful, originals_lost].into_iter().flatten();
    merged_ranges(all.map(|range| SavedRange { offset: range.offset, len: range.len }))
}

/// True if the restored content was certainly on this journal's card. An identical copy is ruled out only by the card's
/// name, by a stamp of the test, or if everything was written back before.
fn is_sure(journal: &Journal, report: &RestoreReport, survey: &CardSurvey) -> bool {
    let named = matches!(report.recognised_by, Some(RecognisedBy::Identity | RecognisedBy::Consent));
    named || survey.stamped > 0 || journal.written_back()
}

/// Removes the journal and finishes the report.
fn remove_and_report(journal: Journal, mut report: RestoreReport) -> VerbOutcome<RestoreReport> {
    let failure = journal.finish().err().map(Failure::from);
    report.removed = failure.is_none();
    VerbOutcome::from_report(report, failure)
}

/// Converts a stop into a failure; the journal remains and can be restored again.
fn restore_failure(stop: ProbeStop, file: &Path) -> Failure {
    match stop {
        ProbeStop::Interrupted => Failure::Interrupted,
        other => {
            let command = format!("cardscope restore {}", shell_quote_path(file));
            Failure::io_for(format!("{other}; the journal remains: run `{command}` again"), other)
        }
    }
}
