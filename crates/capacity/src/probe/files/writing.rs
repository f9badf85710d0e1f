//! Writes the test files one after another, each with the length of the pattern, until space or time ends.
//!
//! Two I/Os are in flight: one is prepared while the other is written. More would gain nothing, as a file grows
//! under its inode lock, and a crash would leave longer holes.

use super::speed_meter::SpeedMeter;
use super::{FilesError, FilesPass, TestFolder, TestedFile, WRITING};
use crate::probe::Result;
use cardscope_engine::content::h2w::FILE_BYTES;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, split_extents};
use cardscope_engine::target::{Target, TargetError};
use cardscope_model::units::{DecimalSize, MIB, nanos_to_seconds};
use cardscope_model::verify::IoError;

const DEPTH: u32 = 2;

/// Bytes per I/O: first the normal size, then smaller ones to fill the rest of a full file system.
const BLOCKS: [u32; 3] = [1 << 20, 64 << 10, 4 << 10];

/// Bytes between two checks of the limits.
const RANGE_BYTES: u64 = 64 * MIB;

/// `EROFS`: the kernel switched the file system to read-only.
const READ_ONLY_NOW: i32 = 30;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FillEnd {
    Complete,
    NoSpace,
    TimeLimit,
}

impl<F: TestFolder> FilesPass<'_, F> {
    /// Writes files until `total` bytes are written, nothing more fits, or the time ends.
    ///
    /// # Errors
    /// If the card is gone, the user stopped the test, or a file cannot be created.
    pub fn write_all(&mut self, total: u64) -> Result<(), FilesError> {
        self.written = true;
        self.events.begin_stage(WRITING, Some(total), None);
        let mut left = total;
        for number in 1.. {
            if left == 0 {
                break;
            }
            let (written, end) = self.write_file(number, left.min(FILE_BYTES))?;
            left -= written.min(left);
            match end {
                FillEnd::Complete => {}
                FillEnd::NoSpace => {
                    self.note_full(total - left, total);
                    break;
                }
                FillEnd::TimeLimit => {
                    let written = DecimalSize(total - left);
                    self.events.report_note(&format!("the budget ends writing after {written}"));
                    break;
                }
            }
        }
        Ok(())
    }

    fn write_file(&mut self, number: u64, bytes: u64) -> Result<(u64, FillEnd), FilesError> {
        let Some(mut target) = self.folder.create(number, bytes)? else { return Ok((0, FillEnd::NoSpace)) };
        let (file, meter) = (TestedFile::new(number, 0), SpeedMeter::default());
        let mut writer = FileWriter { file, room: bytes, meter };
        let outcome = writer.fill(self, target.as_mut());
        self.add_target_caveats(target.as_ref());
        drop(target);
        let FileWriter { mut file, meter, .. } = writer;
        let end = file.result.bytes;
        let finished = self.folder.finish_file(end);
        file.result.write = meter.pace();
        self.files.push(file);
        let why = outcome?;
        finished?;
        // Nothing fitted into it, and an empty file is no test file.
        if end == 0 {
            self.files.pop();
            let _ = self.folder.remove(number);
        }
        Ok((end, why))
    }
}

fn is_read_only_now(io_errors: &[IoError]) -> bool {
    io_errors.iter().any(|t| t.errno == READ_ONLY_NOW)
}

struct FileWriter {
    /// Grows up to the first byte that is neither written nor failed twice.
    file: TestedFile,
    /// Most bytes of the file.
    room: u64,
    meter: SpeedMeter,
}

impl FileWriter {
    fn fill<F: TestFolder>(
        &mut self,
        pass: &mut FilesPass<F>,
        target: &mut dyn Target,
    ) -> Result<FillEnd, FilesError> {
        let interrupt = pass.interrupt.clone();
        let mut card = IoDriver::new(target, &interrupt, BLOCKS[0], DEPTH)?;
        let now = card.seconds();
        self.meter.resume_at(now);
        pass.write_meter.resume_at(now);
        let outcome = self.write_ranges(pass, &mut card);
        let flushed = card.flush();
        let now = card.seconds();
        self.meter.add_time(now);
        pass.write_meter.add_time(now);
        pass.moved.bytes_written += card.tally().written;
        pass.count_failed(&card);
        let end = outcome?;
        flushed?;
        if is_read_only_now(card.io_errors()) {
            return Err(FilesError::ReadOnly(self.file.result.name.clone()));
        }
        Ok(end)
    }

    /// Retries with smaller blocks: a file system that is full for large ones may still take small ones.
    fn write_ranges<F: TestFolder>(&mut self, pass: &mut FilesPass<F>, io: &mut IoDriver) -> Result<FillEnd> {
        for block in BLOCKS {
            loop {
                if self.file.result.bytes >= self.room {
                    return Ok(FillEnd::Complete);
                }
                if pass.write_deadline().is_over() {
                    return Ok(FillEnd::TimeLimit);
                }
                match self.write_range(pass, io, block) {
                    Ok(()) if is_read_only_now(io.io_errors()) => return Ok(FillEnd::Complete),
                    Ok(()) => {}
                    Err(ProbeStop::Target(TargetError::NoSpace { .. })) => break,
                    Err(stop) => return Err(stop),
                }
            }
        }
        Ok(FillEnd::NoSpace)
    }

    fn write_range<F: TestFolder>(
        &mut self,
        pass: &mut FilesPass<F>,
        io: &mut IoDriver,
        block: u32,
    ) -> Result<()> {
        let content = self.file.expected_content();
        let until = self.room.min(self.file.result.bytes + RANGE_BYTES);
        let mut ahead: Vec<CardExtent> = Vec::new();
        // The time is checked within a range too, which takes minutes on a slow card.
        let end = pass.write_deadline();
        let extents = split_extents(self.file.result.bytes, until, block).take_while(|_| !end.is_over());
        io.write(extents, content, |extent, at, io_error| {
            let len = u64::from(extent.len);
            pass.refused_bytes += io_error.map_or(0, |_| len);
            self.meter.add_bytes(nanos_to_seconds(at), len);
            pass.count_written(nanos_to_seconds(at), len);
            // I/Os complete in any order; the file counts as written up to the first that has not completed.
            ahead.push(extent);
            while let Some(next) = ahead.iter().position(|p| p.offset == self.file.result.bytes) {
                self.file.result.bytes = ahead.swap_remove(next).end();
            }
        })
    }
}
