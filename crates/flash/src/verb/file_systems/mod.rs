//! Small writes on each file system that this machine has, one after the other on a card whose content may go.
//!
//! The file system is made by its own mkfs on a sparse picture in memory, as `format` does, and its bytes are written
//! by us while we hold the card. Only for mounting it is let go of; then it must be the same coming of the same device
//! of the same size that the guards let pass: before the mount, and again before anything is written through it. What
//! remains is the moment between the first look and the mount: a card that is put in right then is mounted, and a kernel
//! may replay its journal, before the second look sees that it is another one and lets go of it. Nothing of ours is
//! written to it. Whatever happens, what was mounted is unmounted, and no half of a file system stays behind.

mod kind;
mod mounting;
#[cfg(test)]
mod tests;

use super::MapRequest;
use crate::probe::discard;
use crate::probe::discard::left_out;
use cardscope_device::block::BlockDevice;
use cardscope_device::guard::WriteClearance;
use cardscope_device::system::SystemRoots;
use cardscope_engine::card::{IoDriver, ProbeStop, extents};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::pending::owing;
use cardscope_engine::target::TargetError;
use cardscope_model::card_map::advice::AdviceFacts;
use cardscope_model::card_map::{MapReport, TriedState};
use cardscope_model::finding::{Finding, FindingWeight};
use cardscope_model::units::MIB;
use cardscope_model::verify::IoError;
use cardscope_probing::context::{ProbeContext, ProbeLimits};
use cardscope_probing::write_scope::WriteScope;
use cardscope_session::consent::PreservingConsent;
use cardscope_session::error::{Failure, Result};
use cardscope_session::file_system_tool::{ByteRange, data_ranges, run_on, sparse_file};
use cardscope_session::frame::{VerbSession, count};
use cardscope_session::opened::OpenTarget;
use cardscope_session::opening;
use cardscope_session::opening::ResolvedTarget;
use kind::{FileSystemKind, KINDS};
use mounting::MountedTrial;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Bytes of a file system: enough for a file of the span that is written to, and for the least that F2FS takes with
/// sections of the largest erase blocks.
const PART: u64 = 2048 * MIB;
const LEAST: u64 = 512 * MIB;

/// What making one and writing to it takes at most on a slow card.
const EACH: Duration = Duration::from_secs(45);

/// Bytes that one trial may write: its own tables, the test file, the small writes.
const WRITTEN: u64 = 192 * MIB;

/// Bytes of one I/O.
const BLOCK: u32 = 1 << 20;

/// Tries every file system; what came of it goes into the facts, also why one could not be tried.
pub(super) fn try_all(
    request: &MapRequest,
    session: &mut VerbSession<'_>,
    report: &mut MapReport,
    facts: &mut AdviceFacts,
) -> Result<()> {
    // What trials take is counted in the report, too.
    let (began, before) = (Instant::now(), seconds(report.body.moved.seconds));
    let trial = FileSystemTrial::new(request, session);
    for kind in &KINDS {
        let left = request.limits.budget.map(|b| b.saturating_sub(began.elapsed() + before));
        let tried = match &trial {
            Err(why) => left_out(kind.name, why),
            Ok(_) if left.is_some_and(|left| left < EACH) => left_out(kind.name, "no time left"),
            Ok(_) if !may_write(request, report) => left_out(kind.name, "the write limit is too low"),
            Ok(trial) => trial.one(kind, session.events, report)?,
        };
        facts.tried.push(tried);
    }
    Ok(())
}

/// A stage for each file system.
pub(super) fn stages() -> impl Iterator<Item = String> {
    KINDS.iter().map(stage)
}

fn stage(kind: &FileSystemKind) -> String {
    format!("small writes on {}", kind.name)
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn may_write(request: &MapRequest, report: &MapReport) -> bool {
    request.limits.max_write().is_none_or(|most| report.body.moved.bytes_written + WRITTEN <= most)
}

/// A device that file systems are tried on: as the guards saw it at first.
struct FileSystemTrial<'a> {
    target: &'a str,
    clearance: WriteClearance,
    bytes: u64,
    interrupt: InterruptFlag,
}

impl<'a> FileSystemTrial<'a> {
    /// Lets go of the card, so that it can be mounted.
    fn new(request: &'a MapRequest, session: &mut VerbSession<'_>) -> Result<Self, ErrorCause> {
        let target = request.common.target.as_str();
        let bytes = session.bytes() / MIB * MIB;
        if bytes < LEAST {
            return Err("it needs at least 512 MiB".into());
        }
        // What the user gave up is the card that is held until now: it has to be the same one each time.
        let Some(clearance) = session.opened.device().and_then(|device| device.clearance.clone()) else {
            return Err(format!(
                "{target} cannot be mounted, since it is not a block device (use losetup for an image)"
            )
            .into());
        };
        session.opened.let_go();
        Ok(FileSystemTrial {
            target,
            clearance,
            bytes: bytes.min(PART),
            interrupt: session.interrupt.clone(),
        })
    }

    fn one(
        &self,
        kind: &FileSystemKind,
        events: &mut dyn Listener,
        report: &mut MapReport,
    ) -> Result<TriedState> {
        let picture = match self.picture(kind, report) {
            Ok(picture) => picture,
            Err(why) => return Ok(left_out(kind.name, why)),
        };
        events.stage(&stage(kind), None, None);
        let mut opened = self.hold(&self.interrupt)?;
        let left = format!("a test file system stays on {}", self.target);
        let _owing = owing("the test file system is removed", left);
        let put = self.put(&picture, &mut opened, report);
        drop(opened);
        // From here on something of a file system stands on the card: it is blanked on every way out.
        let tried = put.and_then(|()| self.mounted(kind, events, report));
        // Their own interrupt: this is done after Ctrl-C too.
        let own = InterruptFlag::default();
        let blanked = self.hold(&own).and_then(|mut opened| self.blank(&mut opened, &own, report));
        if let Err(failure) = &blanked {
            report.header.findings.push(stays(kind, failure));
        }
        tried.and_then(|tried| blanked.map(|()| tried))
    }

    fn mounted(
        &self,
        kind: &FileSystemKind,
        events: &mut dyn Listener,
        report: &mut MapReport,
    ) -> Result<TriedState> {
        let mounted = match self.mount(|path| MountedTrial::new(path, kind.name)) {
            Ok(mounted) => mounted,
            Err(why) => return Ok(left_out(kind.name, why)),
        };
        let tried = self.write(kind, &mounted, events, report)?;
        mounted.unmount().map_err(Failure::io)?;
        Ok(tried)
    }

    /// The file system as its mkfs makes it; why not, where this machine has none.
    fn picture(&self, kind: &FileSystemKind, report: &MapReport) -> Result<File, ErrorCause> {
        let program = kind.program()?;
        mounting::kernel_has(kind.name)?;
        let picture = sparse_file(self.bytes)?;
        let arguments = kind.arguments(&report.body.advice);
        run_on(&program, &arguments, &picture)?;
        Ok(picture)
    }

    /// Opens the card again, exclusively and past the guards, and makes sure that it is still the one of before.
    fn hold(&self, interrupt: &InterruptFlag) -> Result<OpenTarget> {
        let path = self.clearance.path.to_string_lossy();
        let opened = opening::open_to_restore(ResolvedTarget::of(&path), &mut PreservingConsent, interrupt)?;
        match opened.held.as_ref().is_some_and(|held| held.is(&self.clearance)) {
            true => Ok(opened),
            false => Err(Failure::io(self.other())),
        }
    }

    /// By number, coming and size, which the kernel tells of a device that is held too.
    fn still_the_same(&self) -> Result<(), ErrorCause> {
        let was = &self.clearance;
        let same = BlockDevice::find(&SystemRoots::host(), &was.path.to_string_lossy()).is_some_and(|now| {
            (now.number(), now.sequence(), now.bytes()) == (was.number, was.sequence, Some(was.bytes))
        });
        same.then_some(()).ok_or_else(|| self.other().into())
    }

    fn other(&self) -> String {
        format!("{} is now another device; nothing more was written to it", self.target)
    }

    /// Writes what mkfs made; the card is told before that nothing on it is of value.
    fn put(&self, picture: &File, opened: &mut OpenTarget, report: &mut MapReport) -> Result<()> {
        on_card(opened, &self.interrupt, report, |card| {
            card.discard(0, card.bytes())?;
            let ranges = data_ranges(picture, self.bytes).map_err(Failure::io)?;
            copy(picture, &ranges, card)
        })
    }

    /// No half of a file system stays behind: its first and its last blocks, by which it is known.
    fn blank(&self, opened: &mut OpenTarget, own: &InterruptFlag, report: &mut MapReport) -> Result<()> {
        let nothing = vec![0; BLOCK as usize];
        on_card(opened, own, report, |card| {
            [0, self.bytes - u64::from(BLOCK)]
                .into_iter()
                .try_for_each(|at| taken(card.write_bytes(at, &nothing)?))
        })
    }

    /// Mounts the card, and lets go of it again unless it is the one that the guards let pass.
    fn mount(
        &self,
        mounting: impl FnOnce(&Path) -> Result<MountedTrial, ErrorCause>,
    ) -> Result<MountedTrial, ErrorCause> {
        self.still_the_same()?;
        let mounted = mounting(&self.clearance.path)?;
        // The kernel's own word for what was mounted, then that no other card came between the two looks: while it is
        // mounted, its number is not given to another.
        if mounted.device().is_none() || mounted.device() != self.clearance.number {
            return Err("another device was mounted; nothing was written to it".into());
        }
        self.still_the_same()?;
        Ok(mounted)
    }

    /// The same small writes as on the bare card, in a file of our own.
    fn write(
        &self,
        kind: &FileSystemKind,
        mounted: &MountedTrial,
        events: &mut dyn Listener,
        report: &mut MapReport,
    ) -> Result<TriedState> {
        let name = mounted.point().display().to_string();
        let mut opened = opening::open(&name, true, &mut PreservingConsent, &self.interrupt)?;
        let region = match opened.target.area(discard::SPAN) {
            Ok(region) => region,
            Err(TargetError::Interrupted) => return Err(ProbeStop::Interrupted.into()),
            Err(lost) if lost.is_final() => return Err(ProbeStop::Target(lost).into()),
            Err(error) => return Ok(left_out(kind.name, error)),
        };
        let limits = ProbeLimits { seed: report.header.seed, region, max_write: None, budget: None };
        let mut card = IoDriver::new(opened.target.as_mut(), &self.interrupt, BLOCK, 1)?;
        let began = card.seconds();
        let mut context = ProbeContext::new(&mut card, WriteScope::new(None), &limits, events);
        let tried = discard::small_writes(&mut context, kind.name);
        drop(context);
        count(&mut report.body.moved, &mut card, began);
        Ok(tried?)
    }
}

/// Writes to the open card and flushes it; what was moved is counted, whatever ends it.
fn on_card(
    opened: &mut OpenTarget,
    interrupt: &InterruptFlag,
    report: &mut MapReport,
    write: impl FnOnce(&mut IoDriver<'_>) -> Result<()>,
) -> Result<()> {
    let mut card = IoDriver::new(opened.target.as_mut(), interrupt, BLOCK, 1)?;
    let began = card.seconds();
    let done = write(&mut card);
    let flushed = card.flush();
    count(&mut report.body.moved, &mut card, began);
    done.and(flushed.map_err(Failure::from))
}

/// Copies ranges of a picture to the same places of the card.
fn copy(picture: &File, ranges: &[ByteRange], card: &mut IoDriver<'_>) -> Result<()> {
    let mut bytes = Vec::new();
    for extent in ranges.iter().flat_map(|range| extents(range.start, range.end, BLOCK)) {
        card.go_on().map_err(|stop: ProbeStop| Failure::from(stop))?;
        bytes.resize(extent.len as usize, 0);
        picture.read_exact_at(&mut bytes, extent.offset).map_err(Failure::io)?;
        taken(card.write_bytes(extent.offset, &bytes)?)?;
    }
    Ok(())
}

/// A write that failed twice ends a trial.
fn taken(io_errors: Vec<IoError>) -> Result<()> {
    match io_errors.first() {
        None => Ok(()),
        Some(io_error) => Err(Failure::io(format!(
            "writing {} bytes at {} failed twice ({})",
            io_error.len, io_error.offset, io_error.reason
        ))),
    }
}

/// What is said where a trial's file system could not be blanked.
fn stays(kind: &FileSystemKind, failure: &Failure) -> Finding {
    let claim = format!("Parts of the tested {} remain on the card.", kind.name);
    Finding::new("file-system-stays", FindingWeight::Hint, 1.0, &claim)
        .because("reason", failure)
        .advise("Remove them with `wipefs -a`.")
}
