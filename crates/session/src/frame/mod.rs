//! The frame that every verb on a card runs in, written once: resolve the target → guards → consent → open → journal →
//! archive row → the verb → put back → close. A verb says what it needs and does its own part in between.

mod common;

pub use crate::error::{Failure, Result};
pub use cardscope_model::report::{ExitStatus, Report, ReportBody, ReportDocument};
use cardscope_model::shell::quoted_path;
pub use common::{CommonOptions, SpendLimits};

use crate::backups;
use crate::card_state;
use crate::consent::ScopedConsent;
use crate::consent::{AnnouncingConsent, ConsentSource};
use crate::journals;
use crate::opened::{OpenTarget, TargetType};
use crate::opening::{self, ResolvedTarget};
use crate::recorder::{self, SessionRecorder};
use cardscope_engine::card::{IoDriver, ProbeStop};
use cardscope_engine::event::{Listener, NestedListener};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::journal::JournalWriter as _;
use cardscope_engine::target::TargetRegion;
use cardscope_journal::Journal;
use cardscope_journal::backup::{self, CardImage};
use cardscope_journal::returned::{self, RestoreOutcome};
use cardscope_model::caveat::{self, Caveat};
use cardscope_model::condition::Condition;
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::progress::ProgressEvent;
use cardscope_model::random;
use cardscope_model::report::{IoTotals, NextStep, ReportHeader};
use cardscope_model::shell::quoted;
use cardscope_model::suspect_reader::{self, SuspectReader};
use cardscope_model::verify::SURE;
use cardscope_statistics::io_errors;
use cardscope_store::SessionStart;
use serde::Serialize;
use std::path::Path;

/// What a verb does to the card; it decides how the card is opened and who is asked before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CardNeeds {
    /// It only reads.
    Read,
    /// It writes, and everything is put back after.
    WriteAndKeep,
    /// What stands on the card is lost, or only what stands in this region.
    WriteAndLose(Option<TargetRegion>),
}

/// A verb: what it needs, and what it does with an open card.
pub trait Procedure {
    /// The verb, as the command line and the archive name it.
    const VERB: &'static str;
    /// What its document holds beside the header.
    type Body: ReportBody + Default + Serialize;

    /// What it was asked for in common with all verbs.
    fn common(&self) -> &CommonOptions;

    /// What it does to the card: it only reads, unless it says otherwise.
    fn needs(&self) -> CardNeeds {
        CardNeeds::Read
    }

    /// Refuses what goes against itself or against what the target is, before anything is opened.
    fn check(&self, _target: TargetType) -> Result<()> {
        Ok(())
    }

    /// What the user states of card and rig.
    ///
    /// # Errors
    /// A refusal: a word that is none, or a value that it cannot have.
    fn stated(&self) -> Result<Condition> {
        self.common().conditions.stated()
    }

    /// Opens the target, past the guards and with the user's consent where something may be lost.
    ///
    /// # Errors
    /// A refusal: it is not safe to test, or consent was not given. Nothing was written.
    fn open(
        &self,
        target: ResolvedTarget,
        consent: &mut dyn ConsentSource,
        interrupt: &InterruptFlag,
    ) -> Result<OpenTarget> {
        open(self, target, consent, interrupt)
    }

    /// Does its part and fills the document in place, so that what was measured survives any end. Until it calls
    /// `begin_row` nothing is written to the card, and an error is a refusal without a document.
    fn run(&self, session: &mut VerbSession<'_>, report: &mut Report<Self::Body>) -> Result<()>;
}

/// What a verb came to: always a document, and what ended it early.
#[derive(Debug)]
pub struct VerbOutcome<D> {
    /// The document, partial where `failure` is set.
    pub report: D,
    /// What ended it early.
    pub failure: Option<Failure>,
}

impl<D: ReportDocument> VerbOutcome<D> {
    /// A document that says what ended its verb early, if anything did.
    pub fn of(mut report: D, failure: Option<Failure>) -> Self {
        if let Some(failure) = &failure {
            report.ended_by(failure.to_string());
        }
        VerbOutcome { report, failure }
    }
}

/// A question that Ctrl-C left without an answer is no refusal. Any other failure has more to say than that.
pub fn answered<T>(outcome: Result<T>, interrupt: &InterruptFlag) -> Result<T> {
    outcome.map_err(|failure| match failure {
        Failure::Refused(_) if interrupt.raised() => Failure::Interrupted,
        failure => failure,
    })
}

/// Runs a verb on its target: the only way in, for a terminal as for a server.
///
/// # Errors
/// A refusal: the request is wrong, the target is not safe to test, or consent was not given. Nothing was written.
pub fn execute<P: Procedure>(
    procedure: &P,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<Report<P::Body>>> {
    let common = procedure.common();
    let target = ResolvedTarget::of(&common.target).with_object(common.consent.object.as_deref());
    let begun = target.target_type().and_then(|found| procedure.check(found)).and_then(|()| {
        let stated = procedure.stated()?;
        let mut opened = procedure.open(target, consent, interrupt)?;
        opened.condition.overlay(&stated);
        card_state::name_state(procedure.common().archive.named(), &mut opened);
        perform(procedure, &mut opened, interrupt, events)
    });
    answered(begun, interrupt)
}

/// Opens the target of a verb as its needs say.
///
/// # Errors
/// A refusal: it is not safe to test, or consent was not given. Nothing was written.
pub fn open<P: Procedure + ?Sized>(
    procedure: &P,
    target: ResolvedTarget,
    consent: &mut dyn ConsentSource,
    interrupt: &InterruptFlag,
) -> Result<OpenTarget> {
    match procedure.needs() {
        CardNeeds::Read => opening::open_resolved(target, false, &mut AnnouncingConsent(consent), interrupt),
        CardNeeds::WriteAndKeep => {
            opening::open_resolved(target, true, &mut AnnouncingConsent(consent), interrupt)
        }
        CardNeeds::WriteAndLose(region) => {
            opening::open_resolved(target, true, &mut ScopedConsent::to(region, consent), interrupt)
        }
    }
}

/// The same on a card that is open already, for a verb of which it is a part.
pub fn perform<P: Procedure>(
    procedure: &P,
    opened: &mut OpenTarget,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<VerbOutcome<Report<P::Body>>> {
    let common = procedure.common();
    let seed = common.seed.unwrap_or_else(fresh_seed);
    let mut report =
        Report { header: opened.header(&common.target, seed), body: <P::Body as Default>::default() };
    let IoTotals { counts, io_errors, .. } = std::mem::take(&mut opened.reader_ios);
    if let Some(moved) = report.body.moved() {
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
        is_back: false,
        another_card: false,
        recorded: false,
        recorder: None,
    };
    let mut ended = procedure.run(&mut session, &mut report);
    if let Err(Failure::SuspectReader(reader)) = ended {
        blame_reader(&mut report, *reader);
        ended = Ok(());
    } else if report.header.suspect_reader.is_some() {
        // Nothing was to be preserved, so the test went on; what it read says nothing of the card.
        report.body.reader_is_suspect();
    }
    if ended.is_ok() && !session.recorded {
        ended = session.begin_row(&mut report);
    }
    let mut nothing = IoTotals::default();
    let moved = report.body.moved().unwrap_or(&mut nothing);
    // What was overwritten goes back whatever it ended with, a refusal included.
    let failure = session.settle(moved, &mut report.header.findings, ended.err());
    if let Some(refusal) = failure.clone().filter(|_| !session.recorded) {
        // An image that was taken stays, and is named.
        return Err(backups::naming(refusal, session.backup.as_ref()));
    }
    let failure = session.put_image_back(&mut report, failure);
    keep_no_clean_verdict(&mut report, failure.as_ref());
    report.header.next.splice(0..0, waiting(&session.opened.waiting_journals));
    for finding in &report.header.findings {
        session.events.event(&ProgressEvent::Finding(finding.into()));
    }
    Ok(session.close(report, failure))
}

/// A test that its reader ended has a document like any other, which says so.
fn blame_reader<B: ReportBody>(report: &mut Report<B>, reader: SuspectReader) {
    report.body.reader_is_suspect();
    if let Some(moved) = report.body.moved() {
        moved.data_kept |= moved.bytes_written == 0;
    }
    let text = "The reader, or the card, gave different data for the same place.";
    let finding =
        Finding::new(suspect_reader::CLAIM, FindingWeight::Hint, SURE, text).because("reads", &reader);
    report.header.findings.push(finding.advise("Try another reader."));
    report.header.next = vec![NextStep { what: "try another reader".to_owned(), command: None }];
    report.header.suspect_reader = Some(reader);
}

/// Why nothing is proven of a card whose data did not all come back.
pub const NOT_RESTORED: &str = "its data is not fully restored";

/// After an I/O failure nobody reads that a card passed: its evidence ended there, or its data is not restored.
pub fn keep_no_clean_verdict<B: ReportBody>(report: &mut Report<B>, failure: Option<&Failure>) {
    if matches!(failure, Some(Failure::Io(_))) {
        report.withdraw_verdict("an error ended the test");
    }
}

/// One use of a verb on an open card: everything that the verb needs, and what the frame owes at its end.
pub struct VerbSession<'a> {
    pub opened: &'a mut OpenTarget,
    pub interrupt: &'a InterruptFlag,
    pub events: &'a mut dyn Listener,
    pub common: &'a CommonOptions,
    verb: &'static str,
    pub journal: Option<Journal>,
    is_back: bool,
    /// The image that is put back at the end; none where nothing was written to the card after all.
    pub backup: Option<CardImage>,
    /// True where another card was found in the slot: nothing is put back onto it.
    pub another_card: bool,
    /// True from the moment at which whatever ends the verb ends in the document.
    recorded: bool,
    /// The row; a verb that stores the document from elsewhere while it goes on takes it, and gives it back.
    pub recorder: Option<SessionRecorder>,
}

impl VerbSession<'_> {
    /// Bytes of the open target.
    pub fn bytes(&self) -> u64 {
        self.opened.target.info().bytes
    }

    /// Bytes of the card that is tested; unknown where files are.
    pub fn card_bytes(&self) -> Option<u64> {
        (!self.opened.is_directory()).then(|| self.bytes())
    }

    /// Runs another verb as a part of this one, on the card that is open; it has its own row in the archive.
    pub fn part<P: Procedure>(&mut self, procedure: &P) -> Result<VerbOutcome<Report<P::Body>>> {
        procedure.check(self.opened.target_type())?;
        perform(procedure, self.opened, self.interrupt, &mut NestedListener::new(self.events))
    }

    /// Starts the journal in which up to `room` bytes are saved before they are overwritten; `salt` is that of the stamps
    /// that will be written, by which the card is known again.
    ///
    /// # Errors
    /// A refusal: there is no room for it. Nothing was written to the card.
    pub fn begin_journal(&mut self, room: u64, salt: u64) -> Result<()> {
        let mut journal = journals::create(&self.common.target, self.opened, room)?;
        journal
            .wrote_with(salt)
            .map_err(|e| Failure::refused_for(format!("{e}; nothing was written to the card"), e))?;
        self.journal = Some(journal);
        self.is_back = false;
        Ok(())
    }

    /// Saves an image of the card, which is put back at the end, however the verb ends. `overwritten` is what it may
    /// write to at most: by the rest the card is known again. `moved` counts the reads, and those that failed.
    ///
    /// # Errors
    /// A refusal, or what ended it. Nothing was written to the card.
    pub fn back_up(
        &mut self,
        file: Option<&Path>,
        overwritten: Option<(u64, u64)>,
        moved: &mut IoTotals,
    ) -> Result<()> {
        let Some(file) = file else { return Ok(()) };
        let mut backup = backups::take(file, self.opened, moved, self.interrupt, self.events)?;
        if let Some((start, end)) = overwritten {
            backup.overwritten(start, end);
        }
        self.backup = Some(backup);
        Ok(())
    }

    /// Begins the document's row in the archive. From here on whatever ends the verb ends in the document.
    pub fn begin_row<B>(&mut self, report: &mut Report<B>) -> Result<()> {
        self.record(&mut report.header, |start| start)
    }

    /// The same for a verb that has more to say of its start.
    pub fn record(
        &mut self,
        header: &mut ReportHeader,
        more: impl FnOnce(SessionStart) -> SessionStart,
    ) -> Result<()> {
        let identity = self.opened.identity.as_ref();
        let start = recorder::start(self.verb, &header.target, header.seed, &self.opened.condition, identity);
        let recorder = SessionRecorder::of(self.common.archive.named(), &more(start))?;
        self.events.event(&ProgressEvent::Stored { session: recorder.name() });
        header.session = Some(recorder.name());
        (self.recorder, self.recorded) = (Some(recorder), true);
        Ok(())
    }

    /// Stores the document as it is now.
    ///
    /// # Errors
    /// If it cannot be written; what was stored before stays.
    pub fn store<B: Serialize>(&mut self, report: &Report<B>) -> Result<()> {
        self.recorder.as_mut().map_or(Ok(()), |recorder| recorder.update(report))
    }

    /// Runs a probe on the card and counts what it moved, whatever ends it.
    ///
    /// # Errors
    /// What ended the probe, or no memory for its I/Os.
    pub fn drive<R, E: From<ProbeStop>>(
        &mut self,
        (block, depth): (u32, u32),
        moved: &mut IoTotals,
        probe: impl FnOnce(&mut IoDriver<'_>, Option<&mut Journal>, &mut dyn Listener) -> Result<R, E>,
    ) -> Result<R, E> {
        let mut card = IoDriver::new(self.opened.target.as_mut(), self.interrupt, block, depth)?;
        let began = card.seconds();
        let ended = probe(&mut card, self.journal.as_mut(), self.events);
        count(moved, &mut card, began);
        ended
    }

    /// Puts back what a probe overwrote that ended with `stop`, or without. Here alone it is decided whether data that was
    /// saved and overwritten is preserved; `usable` is what is left of a fake.
    pub(crate) fn put_back(
        &mut self,
        stop: Option<&ProbeStop>,
        usable: Option<u64>,
        moved: &mut IoTotals,
    ) -> Option<RestoreOutcome> {
        let journal = self.journal.as_mut()?;
        self.is_back = true;
        let returned = RestoreOutcome::after(stop, self.opened.target.as_mut(), journal, self.events);
        moved.bytes_written += returned.tally.written;
        moved.bytes_restored += returned.tally.restored;
        moved.bytes_read += returned.tally.read;
        moved.seconds += returned.seconds;
        moved.restored(journal.list_changed(&returned.may_have_changed(usable)));
        moved.add_failed(returned.counts, &returned.io_errors);
        Some(returned)
    }

    /// The same, with what ends the verb after it: that the card's data could not be put back says more than what ended
    /// the probe.
    pub fn put_back_after(
        &mut self,
        stop: Option<ProbeStop>,
        usable: Option<u64>,
        moved: &mut IoTotals,
    ) -> (Option<RestoreOutcome>, Result<()>) {
        let mut returned = self.put_back(stop.as_ref(), usable, moved);
        let not_back = returned.as_mut().and_then(|returned| returned.failure.take());
        let failure = not_back.map(Failure::from).or(stop.map(Failure::from));
        (returned, failure.map_or(Ok(()), Err))
    }

    /// Puts back what a verb that ended early did not. A journal whose content is all on the card again goes; any other
    /// stays, and is named.
    pub(crate) fn settle(
        &mut self,
        moved: &mut IoTotals,
        findings: &mut Vec<Finding>,
        failure: Option<Failure>,
    ) -> Option<Failure> {
        let untouched = self.journal.as_ref().is_none_or(|journal| journal.saved().is_empty());
        if !untouched && !self.is_back {
            self.put_back(None, None, moved);
        }
        let Some(journal) = self.journal.take() else { return failure };
        if untouched {
            moved.restored(None);
        }
        let waits = (!moved.data_kept).then(|| journal.path().display().to_string());
        self.opened.waiting_journals.extend(waits.clone());
        let failure = failure.map(|failure| journals::naming(failure, waits.as_deref()));
        failure.or(returned::settle(journal, moved.data_kept, findings).err().map(Failure::from))
    }

    /// Puts the image back, whatever ended the verb; but not onto a card that is another one.
    fn put_image_back<B: ReportBody>(
        &mut self,
        report: &mut Report<B>,
        failure: Option<Failure>,
    ) -> Option<Failure> {
        let Some(backup) = self.backup.take() else { return failure };
        self.opened.lift_limit();
        let path = backup.path().to_owned();
        let back = match self.another_card {
            true => Err(Failure::io("nothing was restored to the other card")),
            false => backups::put_back(backup, self.opened, self.events),
        };
        let error = match back {
            Ok(back) => {
                report.body.restored_without(back.lost_bytes());
                if let Some(moved) = report.body.moved() {
                    moved.bytes_restored = back.bytes;
                    moved.restored(backup::list_changed(&path, &report.header.target, &back));
                    moved.add_failed(back.counts, &back.io_errors);
                }
                let mut restoring = IoTotals::default();
                restoring.add_failed(back.counts, &back.io_errors);
                let failed = io_errors::finding(&restoring, self.card_bytes(), "while its data was restored");
                let not_back = backup::finding(&back);
                if not_back.is_some() {
                    report.withdraw_verdict(NOT_RESTORED);
                }
                report.header.findings.extend(not_back.into_iter().chain(failed));
                return failure;
            }
            Err(error) => error,
        };
        report.header.caveats.push(still_in(&path, &error));
        let command = format!("{} {}", quoted_path(&path), quoted(&report.header.target));
        // By now another card may be there.
        report
            .header
            .next
            .insert(0, restore("with the tested card in the reader, restore its data", &command));
        Some(match failure {
            // What says where the card's data is must not be lost behind what ended the verb.
            Some(Failure::Io(why) | Failure::Refused(why)) => Failure::io_for(format!("{why}; {error}"), why),
            _ => error,
        })
    }

    /// Notes what ended it early, and stores the last document. Also a document that could not be kept says so.
    fn close<B: ReportBody + Serialize>(
        &mut self,
        mut report: Report<B>,
        failure: Option<Failure>,
    ) -> VerbOutcome<Report<B>> {
        report.header.error = failure.as_ref().map(ToString::to_string);
        let not_stored = self.recorder.take().and_then(|row| row.finish(&report, failure.as_ref()).err());
        VerbOutcome::of(report, failure.or(not_stored))
    }

    /// What the target itself has to say of how its I/O went.
    pub fn hear_target(&self, header: &mut ReportHeader) {
        header.io_path = self.opened.target.info().io_path.to_owned();
        caveat::add(&mut header.caveats, self.opened.target.caveats());
    }
}

/// A journal as a probe knows it.
pub fn as_probes_know(
    journal: Option<&mut Journal>,
) -> Option<&mut dyn cardscope_engine::journal::JournalWriter> {
    journal.map(|journal| journal as _)
}

/// Adds what was moved since the card's clock stood at `began`, and the I/Os that failed.
pub fn count(moved: &mut IoTotals, card: &mut IoDriver<'_>, began: f64) {
    let tally = card.tally();
    moved.bytes_written += tally.written;
    moved.bytes_restored += tally.restored;
    moved.bytes_read += tally.read;
    moved.seconds += card.seconds() - began;
    moved.add_failed(card.counts(), card.io_errors());
}

/// Restoring from the journals that wait comes before anything else.
fn waiting(journals: &[String]) -> impl Iterator<Item = NextStep> {
    journals.iter().map(|journal| restore("restore the card's data", &quoted(journal)))
}

/// From a file, as a shell takes it: a journal, or an image and the card that it goes back onto.
fn restore(what: &str, from: &str) -> NextStep {
    NextStep { what: what.to_owned(), command: Some(format!("cardscope restore {from}")) }
}

/// Where the card's data is that was not put back.
fn still_in(file: &Path, error: &Failure) -> Caveat {
    let (file, typed) = (file.display(), quoted_path(file));
    Caveat::Other {
        text: format!(
            "the card's data was not restored ({error}); it is saved in {file}: run `cardscope restore \
             {typed} TARGET`"
        ),
    }
}

/// A seed that no earlier session had: from a fresh random UUID.
pub(crate) fn fresh_seed() -> u64 {
    let (high, low) = uuid::Uuid::now_v7().as_u64_pair();
    in_json(random::mix(high ^ low))
}

/// The 53 bits of a seed that come back unchanged: JSON readers keep numbers as doubles.
pub fn in_json(seed: u64) -> u64 {
    seed >> 11
}
