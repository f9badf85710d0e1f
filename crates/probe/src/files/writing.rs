//! Writing the files: one after another, each as long as the pattern has it, until the room or the budget ends.
//!
//! Two I/Os are in flight, so that one is being made while the other is being written; more would gain nothing, since a
//! file grows under the lock of its inode, and a crash would leave longer holes.

use super::folder::{FilesError, TestFolder};
use super::meter::Meter;
use super::names::file_name;
use super::pass::Pass;
use cardscope_engine::card::{Card, Extent, IoError, Stop, extents};
use cardscope_engine::content::Content;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::target::{Target, TargetError};
use cardscope_model::units::{MIB, seconds};
use cardscope_model::verify::{FileResult, SectorCounts};

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
pub(super) fn write_all(pass: &mut Pass<'_, impl TestFolder>, total: u64) -> Result<(), FilesError> {
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

fn write_file(
    pass: &mut Pass<'_, impl TestFolder>,
    number: u64,
    bytes: u64,
) -> Result<(u64, End), FilesError> {
    let Some(mut target) = pass.folder.create(number, bytes)? else { return Ok((0, End::Full)) };
    let mut filling = Filling { number, bytes, end: 0, meter: Meter::default(), io_errors: Vec::new() };
    let outcome = filling.fill(pass, target.as_mut());
    pass.heard(target.as_ref());
    drop(target);
    let finished = pass.folder.finish(filling.end);
    pass.written.push(filling.result());
    let refused = filling.io_errors.iter().filter(|t| t.operation == "write" && !t.recovered);
    pass.refused_bytes += refused.map(|t| t.len).sum::<u64>();
    pass.io_errors(filling.io_errors);
    let end = outcome?;
    finished?;
    if filling.end == 0 {
        pass.written.pop();
        let _ = pass.folder.remove(number);
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
    fn fill(
        &mut self,
        pass: &mut Pass<'_, impl TestFolder>,
        target: &mut dyn Target,
    ) -> Result<End, FilesError> {
        let interrupt = pass.interrupt.clone();
        let mut card = Card::new(target, &interrupt, BLOCKS[0], DEPTH)?;
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
        let end = outcome?;
        flushed?;
        match self.io_errors.iter().find(|t| t.errno == READ_ONLY_NOW) {
            Some(_) => Err(FilesError::ReadOnly(file_name(self.number))),
            None => Ok(end),
        }
    }

    /// Full at the largest block need not be full at the smallest.
    fn stretches(&mut self, pass: &mut Pass<'_, impl TestFolder>, card: &mut Card<'_>) -> Result<End, Stop> {
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

    fn stretch(
        &mut self,
        pass: &mut Pass<'_, impl TestFolder>,
        card: &mut Card<'_>,
        block: u32,
    ) -> Result<(), Stop> {
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
