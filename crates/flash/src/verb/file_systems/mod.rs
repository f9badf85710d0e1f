//! `map --try-file-systems`: times small writes on each file system that this machine supports. All data is lost.
//!
//! The file system's own mkfs makes it in a sparse file in memory, as in `format`, and its bytes are written while
//! the device is held exclusively. It is only released for the mount, and its number, sequence and size are
//! compared with the checked device before the mount and again before anything is written through it. A card
//! inserted between these two checks is mounted, and the kernel may replay its journal, but it is unmounted without
//! a write. Whatever happens, the file system is unmounted and its blocks are overwritten.

mod kind;
mod mounting;
#[cfg(test)]
mod tests;

use super::MapRequest;
use crate::probe::discard::{self, skipped_trial};
use cardscope_device::block::BlockDevice;
use cardscope_device::guard::WriteClearance;
use cardscope_device::system::SystemRoots;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::event::Listener;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{IoDriver, ProbeStop, split_extents};
use cardscope_engine::pending::register_cleanup;
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
use cardscope_session::file_system_tool::{ByteRange, data_ranges, run_tool_on, sparse_file};
use cardscope_session::frame::{VerbSession, count_io};
use cardscope_session::open_target::OpenTarget;
use cardscope_session::opening::{self, ResolvedTarget};
use kind::{FileSystemKind, KINDS};
use mounting::MountedTrial;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

/// Size of a file system, and the least of a card: room for the written span, and enough for F2FS with sections of
/// the largest erase blocks.
const FILE_SYSTEM_BYTES: u64 = 2048 * MIB;
const MIN_CARD_BYTES: u64 = 512 * MIB;

/// Most time of one trial on a slow card.
const MAX_TRIAL: Duration = Duration::from_secs(45);

/// Most bytes that one trial writes: metadata, test file and small writes.
const TRIAL_BYTES: u64 = 192 * MIB;

const BLOCK: u32 = 1 << 20;

/// Tries every file system and records the results, or the reasons why one was skipped.
pub(super) fn try_file_systems(
    request: &MapRequest,
    session: &mut VerbSession<'_>,
    report: &mut MapReport,
    facts: &mut AdviceFacts,
) -> Result<()> {
    // Trials are counted in the report as well, so `before` must be read first.
    let (began, before) = (Instant::now(), seconds(report.body.moved.seconds));
    let trial = FileSystemTrial::new(request, session);
    for kind in &KINDS {
        let left = request.limits.budget.map(|b| b.saturating_sub(began.elapsed() + before));
        let tried = match &trial {
            Err(why) => skipped_trial(kind.name, why),
            Ok(_) if left.is_some_and(|left| left < MAX_TRIAL) => skipped_trial(kind.name, "no time left"),
            Ok(_) if !may_write(request, report) => skipped_trial(kind.name, "the write limit is too low"),
            Ok(trial) => trial.try_one(kind, session.events, report)?,
        };
        facts.trials.push(tried);
    }
    Ok(())
}

pub(super) fn stages() -> impl Iterator<Item = String> {
    KINDS.iter().map(stage_name)
}

fn stage_name(kind: &FileSystemKind) -> String {
    format!("small writes on {}", kind.name)
}

fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or_default()
}

fn may_write(request: &MapRequest, report: &MapReport) -> bool {
    request.limits.max_write().is_none_or(|most| report.body.moved.bytes_written + TRIAL_BYTES <= most)
}

/// Device on which file systems are tried, with the clearance of the first check.
struct FileSystemTrial<'a> {
    target: &'a str,
    clearance: WriteClearance,
    bytes: u64,
    interrupt: InterruptFlag,
}

impl<'a> FileSystemTrial<'a> {
    /// Releases the card, so that it can be mounted.
    fn new(request: &'a MapRequest, session: &mut VerbSession<'_>) -> Result<Self, ErrorCause> {
        let target = request.common.target.as_str();
        let bytes = session.bytes() / MIB * MIB;
        if bytes < MIN_CARD_BYTES {
            return Err("it needs at least 512 MiB".into());
        }
        // The clearance of the card that the user agreed to erase; every later open must find the same card.
        let clearance = session.opened.device().and_then(|device| device.clearance.clone());
        let clearance = clearance.ok_or_else(|| {
            format!("{target} cannot be mounted, since it is not a block device (use losetup for an image)")
        })?;
        session.opened.release();
        let (bytes, interrupt) = (bytes.min(FILE_SYSTEM_BYTES), session.interrupt.clone());
        Ok(FileSystemTrial { target, clearance, bytes, interrupt })
    }

    fn try_one(
        &self,
        kind: &FileSystemKind,
        events: &mut dyn Listener,
        report: &mut MapReport,
    ) -> Result<TriedState> {
        let picture = match self.make_file_system(kind, report) {
            Ok(picture) => picture,
            Err(why) => return Ok(skipped_trial(kind.name, why)),
        };
        events.begin_stage(&stage_name(kind), None, None);
        let mut opened = self.reopen_same_card(&self.interrupt)?;
        let left = format!("a test file system stays on {}", self.target);
        let _owing = register_cleanup("the test file system is removed", left);
        let put = self.write_image(&picture, &mut opened, report);
        drop(opened);
        // From here on the card may hold parts of a file system, which are overwritten on every path.
        let tried = put.and_then(|()| self.try_mounted(kind, events, report));
        let blanked = self.erase_signatures(report);
        if let Err(failure) = &blanked {
            report.header.findings.push(remains_finding(kind, failure));
        }
        tried.and_then(|tried| blanked.map(|()| tried))
    }

    fn try_mounted(
        &self,
        kind: &FileSystemKind,
        events: &mut dyn Listener,
        report: &mut MapReport,
    ) -> Result<TriedState> {
        let mounted = match self.mount_same_card(|path| MountedTrial::new(path, kind.name)) {
            Ok(mounted) => mounted,
            Err(why) => return Ok(skipped_trial(kind.name, why)),
        };
        let tried = self.time_writes_in_file(kind, &mounted, events, report)?;
        mounted.unmount().map_err(Failure::io)?;
        Ok(tried)
    }

    /// Makes the file system in memory. Fails if the tool or the kernel does not support it.
    fn make_file_system(&self, kind: &FileSystemKind, report: &MapReport) -> Result<File, ErrorCause> {
        let program = kind.find_mkfs()?;
        mounting::check_kernel_support(kind.name)?;
        let picture = sparse_file(self.bytes)?;
        let arguments = kind.mkfs_arguments(&report.body.advice);
        run_tool_on(&program, &arguments, &picture)?;
        Ok(picture)
    }

    /// Opens the card exclusively again, past the guards, and fails if it is another one.
    fn reopen_same_card(&self, interrupt: &InterruptFlag) -> Result<OpenTarget> {
        let target = ResolvedTarget::from_name(&self.clearance.path.to_string_lossy());
        let opened = opening::open_to_restore(target, &mut PreservingConsent, interrupt)?;
        match opened.open_object.as_ref().is_some_and(|held| held.matches_clearance(&self.clearance)) {
            true => Ok(opened),
            false => Err(Failure::io(self.swapped_card_error())),
        }
    }

    /// Compares number, sequence and size, which the kernel reports for a held device as well.
    fn check_same_card(&self) -> Result<(), ErrorCause> {
        let was = &self.clearance;
        let same = BlockDevice::find(&SystemRoots::host(), &was.path.to_string_lossy()).is_some_and(|now| {
            (now.number(), now.sequence(), now.bytes()) == (was.number, was.sequence, Some(was.bytes))
        });
        same.then_some(()).ok_or_else(|| self.swapped_card_error().into())
    }

    fn swapped_card_error(&self) -> String {
        format!("{} is now another device; nothing more was written to it", self.target)
    }

    /// Discards the card and writes the output of mkfs.
    fn write_image(&self, image: &File, opened: &mut OpenTarget, report: &mut MapReport) -> Result<()> {
        with_open_card(opened, &self.interrupt, report, |card| {
            card.discard(0, card.bytes())?;
            let ranges = data_ranges(image, self.bytes).map_err(Failure::io)?;
            copy_ranges(image, &ranges, card)
        })
    }

    /// Overwrites the first and last blocks, by which a file system is recognized.
    fn erase_signatures(&self, report: &mut MapReport) -> Result<()> {
        // A separate interrupt, since the cleanup also runs after Ctrl-C.
        let own = InterruptFlag::default();
        let mut opened = self.reopen_same_card(&own)?;
        let nothing = vec![0; BLOCK as usize];
        with_open_card(&mut opened, &own, report, |card| {
            let mut ends = [0, self.bytes - u64::from(BLOCK)].into_iter();
            ends.try_for_each(|at| fail_on_error(card.write_bytes(at, &nothing)?))
        })
    }

    /// Mounts the card, and unmounts it unless it is the one that was checked.
    fn mount_same_card(
        &self,
        mounting: impl FnOnce(&Path) -> Result<MountedTrial, ErrorCause>,
    ) -> Result<MountedTrial, ErrorCause> {
        self.check_same_card()?;
        let mounted = mounting(&self.clearance.path)?;
        // First the device number of the mount, then again the sequence: while it is mounted, the kernel gives its
        // number to no other device.
        if mounted.device().is_none() || mounted.device() != self.clearance.number {
            return Err("another device was mounted; nothing was written to it".into());
        }
        self.check_same_card()?;
        Ok(mounted)
    }

    /// Times the small writes of the bare card in a file of the mounted file system.
    fn time_writes_in_file(
        &self,
        kind: &FileSystemKind,
        mounted: &MountedTrial,
        events: &mut dyn Listener,
        report: &mut MapReport,
    ) -> Result<TriedState> {
        let name = mounted.mount_point().display().to_string();
        let mut opened = opening::open_by_name(&name, true, &mut PreservingConsent, &self.interrupt)?;
        let region = match opened.target.area(discard::SPAN) {
            Ok(region) => region,
            Err(TargetError::Interrupted) => return Err(ProbeStop::Interrupted.into()),
            Err(lost) if lost.is_final() => return Err(ProbeStop::Target(lost).into()),
            Err(error) => return Ok(skipped_trial(kind.name, error)),
        };
        let limits = ProbeLimits { seed: report.header.seed, region, max_write: None, budget: None };
        let mut card = IoDriver::new(opened.target.as_mut(), &self.interrupt, BLOCK, 1)?;
        let began = card.seconds();
        let mut context = ProbeContext::new(&mut card, WriteScope::new(None), &limits, events);
        let tried = discard::time_small_writes(&mut context, kind.name);
        drop(context);
        count_io(&mut report.body.moved, &mut card, began);
        Ok(tried?)
    }
}

/// Runs `write` on the open card, flushes it and counts the I/O, even after an error.
fn with_open_card(
    opened: &mut OpenTarget,
    interrupt: &InterruptFlag,
    report: &mut MapReport,
    write: impl FnOnce(&mut IoDriver<'_>) -> Result<()>,
) -> Result<()> {
    let mut card = IoDriver::new(opened.target.as_mut(), interrupt, BLOCK, 1)?;
    let began = card.seconds();
    let done = write(&mut card);
    let flushed = card.flush();
    count_io(&mut report.body.moved, &mut card, began);
    done.and(flushed.map_err(Failure::from))
}

fn copy_ranges(picture: &File, ranges: &[ByteRange], card: &mut IoDriver<'_>) -> Result<()> {
    let mut bytes = Vec::new();
    for extent in ranges.iter().flat_map(|range| split_extents(range.start, range.end, BLOCK)) {
        card.check_interrupt()?;
        bytes.resize(extent.len as usize, 0);
        picture.read_exact_at(&mut bytes, extent.offset).map_err(Failure::io)?;
        fail_on_error(card.write_bytes(extent.offset, &bytes)?)?;
    }
    Ok(())
}

fn fail_on_error(io_errors: Vec<IoError>) -> Result<()> {
    let Some(IoError { len, offset, reason, .. }) = io_errors.first() else { return Ok(()) };
    Err(Failure::io(format!("writing {len} bytes at {offset} failed twice ({reason})")))
}

/// Reports remains of a file system that could not be overwritten.
fn remains_finding(kind: &FileSystemKind, failure: &Failure) -> Finding {
    let claim = format!("Parts of the tested {} remain on the card.", kind.name);
    let finding = Finding::new("file-system-stays", FindingWeight::Hint, 1.0, &claim);
    finding.because("reason", failure).with_advice("Remove them with `wipefs -a`.")
}
