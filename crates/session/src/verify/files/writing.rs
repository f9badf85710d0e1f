//! Writing the files: one after another, each as long as the pattern has it, until the room or the budget ends.
//!
//! Two I/Os are in flight, so that one is being made while the other is being written; more would gain nothing, since a
//! file grows under the lock of its inode, and a crash would leave longer holes.

use super::meter::Meter;
use super::names::file_name;
use super::pass::Pass;
use crate::error::Failure;
use cardscope_engine::card::{Card, Extent, IoError, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::real::RealTarget;
use cardscope_engine::target::{Target, TargetError};
use cardscope_model::units::{MIB, seconds};
use cardscope_model::verify::{FileResult, SectorCounts};
use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind};
use std::os::fd::AsRawFd;

const DEPTH: u32 = 2;

/// Bytes of an I/O, then of those that fill what is left of a full file system.
const BLOCKS: [u32; 3] = [1 << 20, 64 << 10, 4 << 10];

/// After so many bytes it is looked whether to go on.
const STRETCH: u64 = 64 * MIB;

/// `EROFS`: the kernel has given the file system up.
const READ_ONLY_NOW: i32 = 30;

/// Why a file is no longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Whole,
    Full,
    Budget,
}

/// Writes files until `total` bytes are written, nothing more fits, or the budget ends.
pub(super) fn write_all(pass: &mut Pass<'_>, total: u64) -> Result<(), Failure> {
    pass.phase("writing", total);
    let mut left = total;
    for number in 1.. {
        if left == 0 {
            break;
        }
        let bytes = left.min(FILE_BYTES);
        let (written, end) = write_file(pass, number, bytes)?;
        left -= written.min(left);
        match end {
            End::Whole => {}
            End::Full => {
                pass.note_full(total - left, total);
                break;
            }
            End::Budget => {
                pass.note(format!("the time for writing is over after {} bytes", total - left));
                break;
            }
        }
    }
    Ok(())
}

fn write_file(pass: &mut Pass<'_>, number: u64, bytes: u64) -> Result<(u64, End), Failure> {
    let path = pass.folder.file(number);
    let failed = |e: std::io::Error| Failure::io_for(format!("{}: {e}", path.display()), e);
    let file = match pass.folder.held.create(OsStr::new(&file_name(number)), 0o644).map_err(Error::from) {
        Ok(file) => file,
        Err(e) if matches!(e.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) => {
            return Ok((0, End::Full));
        }
        Err(error) => return Err(failed(error)),
    };
    pass.own.made(number, &file).map_err(failed)?;
    let twin = file.try_clone().map_err(failed)?;
    let target = RealTarget::new_file(twin.into(), &path, bytes, pass.options.clone());
    let mut target = target.map_err(Failure::io)?;
    let mut filling = Filling { number, bytes, end: 0, meter: Meter::default(), io_errors: Vec::new() };
    let outcome = filling.fill(pass, &mut target);
    pass.heard(&target);
    drop(target);
    let cut = cut_to(&file, filling.end);
    let noted = pass.own.made(number, &file);
    pass.written.push(filling.result());
    let refused = filling.io_errors.iter().filter(|t| t.operation == "write" && !t.recovered);
    pass.refused_bytes += refused.map(|t| t.len).sum::<u64>();
    pass.io_errors(filling.io_errors);
    let end = outcome?;
    cut.and(noted).map_err(failed)?;
    if filling.end == 0 {
        pass.written.pop();
        let _ = pass.own.remove(&pass.folder, number);
    }
    Ok((filling.end, end))
}

/// A file that is being filled.
struct Filling {
    number: u64,
    bytes: u64,
    /// Everything before is written, or failed twice.
    end: u64,
    meter: Meter,
    io_errors: Vec<IoError>,
}

impl Filling {
    fn fill(&mut self, pass: &mut Pass<'_>, target: &mut dyn Target) -> Result<End, Failure> {
        let interrupt = pass.interrupt.clone();
        let mut card = Card::new(target, &interrupt, BLOCKS[0], DEPTH).map_err(session_end)?;
        let now = card.seconds();
        self.meter.begin(now);
        pass.write_meter.begin(now);
        let outcome = self.stretches(pass, &mut card);
        let flushed = card.flush();
        let now = card.seconds();
        self.meter.pass(now);
        pass.write_meter.pass(now);
        pass.bytes_written += card.tally().written;
        self.io_errors.extend_from_slice(card.io_errors());
        let end = outcome.map_err(session_end)?;
        flushed.map_err(session_end)?;
        match self.io_errors.iter().find(|t| t.errno == READ_ONLY_NOW) {
            Some(_) => Err(Failure::io(format!(
                "the file system went read-only while {} was written: the kernel gave it up after errors; see the kernel's log (dmesg)",
                file_name(self.number)
            ))),
            None => Ok(end),
        }
    }

    /// Full at the largest block need not be full at the smallest.
    fn stretches(&mut self, pass: &mut Pass<'_>, card: &mut Card<'_>) -> Result<End, Stop> {
        for block in BLOCKS {
            loop {
                if self.end >= self.bytes {
                    return Ok(End::Whole);
                }
                if pass.writing_is_over() {
                    return Ok(End::Budget);
                }
                match self.stretch(pass, card, block) {
                    Ok(()) if self.troubles_say_read_only(card) => return Ok(End::Whole),
                    Ok(()) => {}
                    Err(Stop::Target(TargetError::NoSpace { .. })) => break,
                    Err(stop) => return Err(stop),
                }
            }
        }
        Ok(End::Full)
    }

    fn troubles_say_read_only(&self, card: &Card<'_>) -> bool {
        card.io_errors().iter().any(|t| t.errno == READ_ONLY_NOW)
    }

    fn stretch(&mut self, pass: &mut Pass<'_>, card: &mut Card<'_>, block: u32) -> Result<(), Stop> {
        let content = Content::H2w { base: (self.number - 1) * FILE_BYTES };
        let until = self.bytes.min(self.end + STRETCH);
        let mut ahead: Vec<Extent> = Vec::new();
        card.write(extents(self.end, until, block), content, |extent, at, _| {
            self.meter.moved(seconds(at), u64::from(extent.len));
            pass.write_meter.moved(seconds(at), u64::from(extent.len));
            pass.wrote();
            // Pieces end in any order; the file is whole up to the first that has not.
            ahead.push(extent);
            while let Some(next) = ahead.iter().position(|p| p.offset == self.end) {
                self.end = ahead.swap_remove(next).end();
            }
        })
    }

    fn result(&self) -> FileResult {
        FileResult {
            name: file_name(self.number),
            number: self.number,
            bytes: self.end,
            read_bytes: 0,
            sectors: SectorCounts::default(),
            write: self.meter.pace(),
            read: None,
            remark: None,
        }
    }
}

/// Takes away what a failed piece may have left behind the last whole one, and blocks that were promised for more.
fn cut_to(file: &File, bytes: u64) -> std::io::Result<()> {
    // Through a description of its own: the kernel tells each of them once what failed to be written, and of this file
    // the flush has told it.
    let again = File::options().write(true).open(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    again.set_len(bytes)?;
    again.sync_data()
}

/// Why nothing more can be done, in the caller's terms.
pub(super) fn session_end(stop: Stop) -> Failure {
    match stop {
        Stop::Interrupted => Failure::Interrupted,
        other => Failure::io(other),
    }
}
