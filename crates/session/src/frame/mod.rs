//! Session frame of all verbs on a card: resolve the target, check guards, obtain consent, open, start journal and archive
//! row, run the verb, restore, close. A verb states its needs and implements only its own part.

mod common;

pub use crate::error::{Failure, Result};
pub use cardscope_model::report::{ExitStatus, Report, ReportBody, ReportDocument};
pub use common::{CommonOptions, SpendLimits};

use crate::consent::{AnnouncingConsent, ConsentSource, ScopedConsent};
use crate::open_target::{OpenTarget, TargetType};
use crate::opening::{self, ResolvedTarget};
use crate::recorder::{self, SessionRecorder};
use crate::{archive_access, backups, journals};
use cardscope_engine::event::{Listener, NestedListener};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop};
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::target::TargetRegion;
use cardscope_journal::Journal;
use cardscope_journal::backup::{self, CardImage};
use cardscope_journal::restore_outcome::{self, RestoreOutcome};
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::ProgressEvent;
use cardscope_model::random;
use cardscope_model::report::{IoTotals, NextStep, ReportHeader};
use cardscope_model::session_file::SessionFile;
use cardscope_model::shell::{shell_quote, shell_quote_path};
use cardscope_model::suspect_reader::{SUSPECT_READER_CLAIM, SuspectReader};
use cardscope_model::verify::SURE_CONFIDENCE;
use cardscope_statistics::io_errors;
use serde::Serialize;
use std::path::Path;

/// Access of a verb to the card, which decides how the card is opened and what the user is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CardNeeds {
    Read,
    /// Writes, and restores everything afterwards.
    WriteAndRestore,
    /// Overwrites data without saving it, on the whole card or in a region.
    Overwrite(Option<TargetRegion>),
}

/// A verb that runs in a session: its needs, and its work on an open card.
pub trait Procedure {
    const VERB: &'static str;
    type Body: ReportBody + Default + Serialize;

    fn common(&self) -> &CommonOptions;

    fn needs(&self) -> CardNeeds {
        CardNeeds::Read
    }

    /// Refuses contradictory options and unsuitable targets before anything is opened.
    fn check(&self, _target: TargetType) -> Result<()> {
        Ok(())
    }

    fn stated_conditions(&self) -> Result<Condition> {
        self.common().conditions.parse_conditions()
    }

    fn open(
        &self,
        target: ResolvedTarget,
        consent: &mut dyn ConsentSource,
        interrupt: &InterruptFlag,
    ) -> Result<OpenTarget> {
        open_for_verb(self, target, consent, interrupt)
    }

    /// Does the verb's work and fills the document in place, so that results survive any error. Before the call of
    /// `begin_row` nothing may be written to the card, and an error is a refusal without a document.
    fn run(&self, session: &mut VerbSession<'_>, report: &mut Report<Self::Body>) -> Result<()>;
}

#[derive(Debug)]
pub struct VerbOutcome<D> {
    /// The document, which is partial after a failure.
    pub report: D,
    pub failure: Option<Failure>,
}

impl<D: ReportDocument> VerbOutcome<D> {
    pub fn from_report(mut report: D, failure: Option<Failure>) -> Self {
        if let Some(failure) = &failure {
            report.record_error(failure.to_string());
        }
        VerbOutcome { report, failure }
    }
}

/// Turns a refusal during an interrupt into [`Failure::Interrupted`], because Ctrl-C at a question is no answer.
pub fn refusal_or_interrupt<T>(outcome: Result<T>, interrupt: &InterruptFlag) -> Result<T> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(_) if interrupt.is_raised() => Failure::Interrupted,
        failure => failure,
    })
}

/// Runs a verb on its target. Both the command line and the server use this entry point.
/// Refuses if the request is wrong, the target is unsafe to test, or consent was not given. Nothing was written then.
pub fn execute_verb<P: Procedure>(
    procedure: &P,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<Report<P::Body>>> {
    let common = procedure.common();
    let target = ResolvedTarget::from_name(&common.target).with_object(common.consent.object.as_deref());
    let begun = target.target_type().and_then(|found| procedure.check(found)).and_then(|()| {
        let stated = procedure.stated_conditions()?;
        let mut opened = procedure.open(target, consent, interrupt)?;
        opened.condition.overlay(&stated);
        archive_access::add_last_state(procedure.common().archive.named_path(), &mut opened);
        run_on_open_card(procedure, &mut opened, interrupt, events)
    });
    refusal_or_interrupt(begun, interrupt)
}

pub fn open_for_verb<P: Procedure + ?Sized>(
    procedure: &P,
    target: ResolvedTarget,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    let needs = procedure.needs();
    let consent: &mut dyn ConsentSource = match needs {
        CardNeeds::Read | CardNeeds::WriteAndRestore => &mut AnnouncingConsent(consent),
        CardNeeds::Overwrite(region) => &mut ScopedConsent { region, user: consent },
    };
    opening::open_resolved(target, needs != CardNeeds::Read, consent, interrupt)
}

/// Runs a verb on a card that is already open, as a part of another verb.
pub fn run_on_open_card<P: Procedure>(
    procedure: &P,
    opened: &mut OpenTarget,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<Report<P::Body>>> {
    let common = procedure.common();
    let seed = common.seed.unwrap_or_else(fresh_seed);
    let mut report = Report { header: opened.header(&common.target, seed), body: P::Body::default() };
    // The reader check ran while the card was opened; its I/Os count as part of the verb.
    let IoTotals { counts, io_errors, .. } = std::mem::take(&mut opened.reader_ios);
    if let Some(moved) = report.body.io_totals() {
        moved.add_failed(counts, &io_errors);
    }
    let mut session = VerbSession {
        opened,
        interrupt,
        events,
        verb: P::VERB,
        common,
        journal: None,
        backup: None,
        is_restored: false,
        is_other_card: false,
        recorded: false,
        recorder: None,
    };
    let mut ended = procedure.run(&mut session, &mut report);
    if let Err(Failure::SuspectReader(reader)) = ended {
        blame_reader(&mut report, *reader);
        ended = Ok(());
    } else if report.header.suspect_reader.is_some() {
        // The test had no data to preserve and went on, but its reads are no evidence about the card.
        report.body.mark_reader_suspect();
    }
    if ended.is_ok() && !session.recorded {
        ended = session.begin_row(&mut report);
    }
    let mut nothing = IoTotals::default();
    let moved = report.body.io_totals().unwrap_or(&mut nothing);
    // Overwritten data is restored whatever ended the verb, even after a refusal.
    let failure = session.restore_unfinished(moved, &mut report.header.findings, ended.err());
    if let Some(refusal) = failure.clone().filter(|_| !session.recorded) {
        // A refusal has no document, so its message must name an image that stays behind.
        return Err(backups::with_backup_location(refusal, session.backup.as_ref()));
    }
    let failure = session.restore_image(&mut report, failure);
    withdraw_good_verdict(&mut report, failure.as_ref());
    report.header.next.splice(0..0, unrestored_journal_steps(&session.opened.waiting_journals));
    for finding in &report.header.findings {
        session.events.event(&ProgressEvent::Finding(finding.into()));
    }
    Ok(session.close(report, failure))
}

fn blame_reader<B: ReportBody>(report: &mut Report<B>, reader: SuspectReader) {
    report.body.mark_reader_suspect();
    if let Some(moved) = report.body.io_totals() {
        moved.data_kept |= moved.bytes_written == 0;
    }
    let text = "The reader, or the card, gave different data for the same place.";
    let finding = Finding::new(SUSPECT_READER_CLAIM, FindingWeight::Hint, SURE_CONFIDENCE, text);
    report.header.findings.push(finding.because("reads", &reader).with_advice("Try another reader."));
    report.header.next = vec![NextStep { what: "try another reader".to_owned(), command: None }];
    report.header.suspect_reader = Some(reader);
}

/// Reason for withdrawing a verdict.
pub const NOT_RESTORED: &str = "its data is not fully restored";

/// Withdraws a good verdict after an I/O error, because the evidence is incomplete or the data is not restored.
pub fn withdraw_good_verdict<B: ReportBody>(report: &mut Report<B>, failure: Option<&Failure>) {
    if matches!(failure, Some(Failure::Io(_))) {
        report.withdraw_verdict("an error ended the test");
    }
}

/// Context of a running verb: the open card, and the cleanup that the frame does at the end.
pub struct VerbSession<'a> {
    pub opened: &'a mut OpenTarget,
    pub interrupt: &'a InterruptFlag,
    pub events: &'a mut dyn Listener,
    pub common: &'a CommonOptions,
    verb: &'static str,
    pub journal: Option<Journal>,
    is_restored: bool,
    /// Image that is restored at the end. A verb sets it to None if it wrote nothing.
    pub backup: Option<CardImage>,
    /// True if another card was found in the slot. Nothing is restored to it.
    pub is_other_card: bool,
    /// True once the archive row exists. From then on every failure ends in the document.
    recorded: bool,
    /// Archive row. A verb that stores the document from another thread takes it and gives it back.
    pub recorder: Option<SessionRecorder>,
}

impl VerbSession<'_> {
    pub fn bytes(&self) -> u64 {
        self.opened.target.info().bytes
    }

    /// Size of the card in bytes, None for a directory, where files are tested.
    pub fn card_bytes(&self) -> Option<u64> {
        (!self.opened.is_directory()).then(|| self.bytes())
    }

    /// Runs another verb as a part of this one on the open card, with its own row in the archive.
    pub fn run_part<P: Procedure>(&mut self, procedure: &P) -> Result<VerbOutcome<Report<P::Body>>> {
        procedure.check(self.opened.target_type())?;
        run_on_open_card(procedure, self.opened, self.interrupt, &mut NestedListener::new(self.events))
    }

    /// Starts the journal, which saves up to `room` bytes before they are overwritten. `salt` is that of the stamps to be
    /// written, by which the card is recognized later.
    /// Refuses if there is no room for the journal. Nothing was written to the card.
    pub fn begin_journal(&mut self, room: u64, salt: u64) -> Result<()> {
        let mut journal = journals::create_journal(&self.common.target, self.opened, room)?;
        let failed = |e| Failure::refused_for(format!("{e}; nothing was written to the card"), e);
        journal.record_salt(salt).map_err(failed)?;
        self.journal = Some(journal);
        self.is_restored = false;
        Ok(())
    }

    /// Saves an image of the card, which is restored at the end. The card is later recognized by its content outside of
    /// `range`, which the verb may write to. `io` counts the reads and the failed ones.
    pub fn back_up(&mut self, to: Option<&Path>, range: Option<(u64, u64)>, io: &mut IoTotals) -> Result<()> {
        let Some(file) = to else { return Ok(()) };
        let mut backup = backups::take_backup(file, self.opened, io, self.interrupt, self.events)?;
        if let Some((start, end)) = range {
            backup.set_overwritten(start, end);
        }
        self.backup = Some(backup);
        Ok(())
    }

    /// Begins the document's row in the archive. From here on every failure ends in the document.
    pub fn begin_row<B>(&mut self, report: &mut Report<B>) -> Result<()> {
        self.begin_row_with(&mut report.header, |start| start)
    }

    pub fn begin_row_with(
        &mut self,
        header: &mut ReportHeader,
        more: impl FnOnce(SessionFile) -> SessionFile,
    ) -> Result<()> {
        let OpenTarget { identity, condition, .. } = &*self.opened;
        let (target, seed) = (&header.target, header.seed);
        let start = recorder::session_start(self.verb, target, seed, condition, identity.as_ref());
        let recorder = SessionRecorder::begin(self.common.archive.named_path(), &more(start))?;
        self.events.event(&ProgressEvent::Stored { session: recorder.name() });
        header.session = Some(recorder.name());
        (self.recorder, self.recorded) = (Some(recorder), true);
        Ok(())
    }

    pub fn store_report<B: Serialize>(&mut self, report: &Report<B>) -> Result<()> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.update(report))
    }

    /// Runs a probe with I/Os of `block` bytes at queue depth `depth`, and counts its I/O even if it fails.
    pub fn run_probe<R, E: From<ProbeStop>>(
        &mut self,
        (block, depth): (u32, u32),
        moved: &mut IoTotals,
        probe: impl FnOnce(&mut IoDriver<'_>, Option<&mut Journal>, &mut dyn Listener) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut card = IoDriver::new(self.opened.target.as_mut(), self.interrupt, block, depth)?;
        let began = card.seconds();
        let ended = probe(&mut card, self.journal.as_mut(), self.events);
        count_io(moved, &mut card, began);
        ended
    }

    /// Restores the data that a probe overwrote. Only this function decides whether saved data counts as preserved.
    /// `stop` is the end of the probe; `usable` is the working capacity of a fake card.
    pub(crate) fn restore_overwritten(
        &mut self,
        stop: Option<&ProbeStop>,
        usable: Option<u64>,
        moved: &mut IoTotals,
    ) -> Option<RestoreOutcome> {
        let journal = self.journal.as_mut()?;
        self.is_restored = true;
        let target = self.opened.target.as_mut();
        let returned = RestoreOutcome::restore_after_probe(stop, target, journal, self.events);
        moved.bytes_written += returned.tally.written;
        moved.bytes_restored += returned.tally.restored;
        moved.bytes_read += returned.tally.read;
        moved.seconds += returned.seconds;
        moved.record_restored(journal.save_change_list(&returned.may_have_changed(usable)));
        moved.add_failed(returned.counts, &returned.io_errors);
        Some(returned)
    }

    /// The same, and returns the failure of the verb. A failed restoration takes precedence over the end of the probe.
    pub fn restore_after_probe(
        &mut self,
        stop: Option<ProbeStop>,
        usable: Option<u64>,
        moved: &mut IoTotals,
    ) -> (Option<RestoreOutcome>, Result<()>) {
        let mut returned = self.restore_overwritten(stop.as_ref(), usable, moved);
        let not_back = returned.as_mut().and_then(|returned| returned.failure.take());
        let failure = not_back.map(Failure::from).or(stop.map(Failure::from));
        (returned, failure.map_or(Ok(()), Err))
    }

    /// Restores what a verb that ended early did not. The journal is deleted if all its data is on the card again, and named
    /// in the failure otherwise.
    pub(crate) fn restore_unfinished(
        &mut self,
        moved: &mut IoTotals,
        findings: &mut Vec<Finding>,
        failure: Option<Failure>,
    ) -> Option<Failure> {
        let untouched = self.journal.as_ref().is_none_or(|journal| journal.saved_ranges().is_empty());
        if !untouched && !self.is_restored {
            self.restore_overwritten(None, None, moved);
        }
        let Some(journal) = self.journal.take() else { return failure };
        if untouched {
            moved.record_restored(None);
        }
        let waits = (!moved.data_kept).then(|| journal.path().display().to_string());
        self.opened.waiting_journals.extend(waits.clone());
        let failure = failure.map(|failure| journals::with_journal_location(failure, waits.as_deref()));
        let closed = restore_outcome::close_journal(journal, moved.data_kept, findings);
        failure.or(closed.err().map(Failure::from))
    }

    /// Restores the image unless another card is in the slot.
    fn restore_image<B: ReportBody>(
        &mut self,
        report: &mut Report<B>,
        failure: Option<Failure>,
    ) -> Option<Failure> {
        let Some(backup) = self.backup.take() else { return failure };
        self.opened.lift_limit();
        let path = backup.path().to_owned();
        let back = match self.is_other_card {
            true => Err(Failure::io("nothing was restored to the other card")),
            false => backups::restore_backup(backup, self.opened, self.events),
        };
        let error = match back {
            Ok(back) => {
                report.body.record_lost_bytes(back.lost_bytes());
                if let Some(moved) = report.body.io_totals() {
                    moved.bytes_restored = back.bytes;
                    moved.record_restored(backup::save_change_list(&path, &report.header.target, &back));
                    moved.add_failed(back.counts, &back.io_errors);
                }
                let mut restoring = IoTotals::default();
                restoring.add_failed(back.counts, &back.io_errors);
                let (bytes, during) = (self.card_bytes(), "while its data was restored");
                let failed = io_errors::io_error_finding(&restoring, bytes, during);
                let not_back = backup::restore_finding(&back);
                if not_back.is_some() {
                    report.withdraw_verdict(NOT_RESTORED);
                }
                report.header.findings.extend(not_back.into_iter().chain(failed));
                return failure;
            }
            Err(error) => error,
        };
        report.header.caveats.push(unrestored_image_caveat(&path, &error));
        let command = format!("{} {}", shell_quote_path(&path), shell_quote(&report.header.target));
        // Another card may be in the reader by now, so the step says which one is needed.
        let step = restore_step("with the tested card in the reader, restore its data", &command);
        report.header.next.insert(0, step);
        Some(match failure {
            // The location of the card's data must not be hidden by the error of the verb.
            Some(Failure::Io(why) | Failure::Refused(why)) => Failure::io_for(format!("{why}; {error}"), why),
            _ => error,
        })
    }

    /// Records the failure and stores the final document. A failure to store it is recorded too.
    fn close<B: ReportBody + Serialize>(
        &mut self,
        mut report: Report<B>,
        failure: Option<Failure>,
    ) -> VerbOutcome<Report<B>> {
        report.header.error = failure.as_ref().map(ToString::to_string);
        let not_stored = self.recorder.take().and_then(|row| row.finish(&report, failure.as_ref()).err());
        VerbOutcome::from_report(report, failure.or(not_stored))
    }

    /// Adds the caveats of the target and its I/O method to the header.
    pub fn collect_target_caveats(&self, header: &mut ReportHeader) {
        header.io_path = self.opened.target.info().io_path.to_owned();
        caveat::add_new_caveats(&mut header.caveats, self.opened.target.caveats());
    }
}

/// Casts a journal to the trait that probes use.
pub fn as_probe_journal(journal: Option<&mut Journal>) -> Option<&mut dyn JournalWriter> {
    journal.map(|journal| journal as _)
}

/// Adds the I/O since the time `began` of the card's clock, and the failed I/Os.
pub fn count_io(moved: &mut IoTotals, card: &mut IoDriver<'_>, began: f64) {
    let tally = card.tally();
    moved.bytes_written += tally.written;
    moved.bytes_restored += tally.restored;
    moved.bytes_read += tally.read;
    moved.seconds += card.seconds() - began;
    moved.add_failed(card.counts(), card.io_errors());
}

fn unrestored_journal_steps(journals: &[String]) -> impl Iterator<Item = NextStep> {
    journals.iter().map(|journal| restore_step("restore the card's data", &shell_quote(journal)))
}

fn restore_step(what: &str, from: &str) -> NextStep {
    NextStep { what: what.to_owned(), command: Some(format!("cardscope restore {from}")) }
}

fn unrestored_image_caveat(file: &Path, error: &Failure) -> Caveat {
    let (file, typed) = (file.display(), shell_quote_path(file));
    let text = format!(
        "the card's data was not restored ({error}); it is saved in {file}: run `cardscope restore {typed} TARGET`"
    );
    Caveat::Other { text }
}

pub(crate) fn fresh_seed() -> u64 {
    let (high, low) = uuid::Uuid::now_v7().as_u64_pair();
    json_safe_seed(random::mix_bits(high ^ low))
}

/// Reduces a seed to 53 bits, because JSON readers store numbers as doubles.
pub fn json_safe_seed(seed: u64) -> u64 {
    seed >> 11
}
