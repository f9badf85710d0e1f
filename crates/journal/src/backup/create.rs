//! Takes an image: reads the whole card, writes it with checksums, and syncs it before the test begins.

use super::checksums::{self, BackupFacts, CHUNK, ImageSums, UnreadRange, checksum_path};
use super::{COMPARING, CardImage, DEPTH, SAVING, restore_hint_for};
use crate::{JournalFailure, Result};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::content::{IoContent, first_difference};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::{CardExtent, IoDriver, ProbeStop, ReadAnswer, split_extents};
use cardscope_engine::journal::JournalError;
use cardscope_engine::pending::{PendingCleanup, register_cleanup};
use cardscope_engine::target::{Target, TargetInfo};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder};
use cardscope_model::report::IoTotals;
use cardscope_model::suspect_reader::{ReadDifference, ReadRequest, ReadStage, SuspectReader};
use cardscope_model::units::{BinarySize, DecimalSize};
use cardscope_model::verify::IoError;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Bytes of a request of the comparison, and of its first request, so that none begins where one that saved did.
const COMPARE_BYTES: u32 = 768 << 10;
const FIRST_COMPARE_BYTES: u32 = 12 << 10;

/// Bytes of a retry, so that little is lost around a bad place.
const RETRY_BYTES: u32 = 4096;

/// Retries, each after reopening the card.
const RETRIES: u32 = 2;

/// Unreadable ranges that the error message lists.
const MAX_LISTED: usize = 8;

impl CardImage {
    /// Takes an image of the card and syncs it before the card is written. `on_card` tells whether a path lies on the
    /// card; `moved` counts the reads. Leaves no file after an error.
    pub fn create(
        file: &Path,
        target: &mut dyn Target,
        (about, on_card): (BackupFacts, &dyn Fn(&Path) -> bool),
        moved: &mut IoTotals,
        interrupt: &InterruptFlag,
        events: &mut dyn Listener,
    ) -> Result<CardImage> {
        let (folder, name) = ResolvedFolder::parent_of(file).map_err(|e| write_error(file, e))?;
        check_location(file, &folder, (target.info(), on_card), events)?;
        for path in [Path::new(&name), &checksum_path(Path::new(&name))] {
            if folder.stat(path.as_os_str()).map_err(|e| write_error(file, e))?.is_some() {
                let path = file.with_file_name(path);
                let text = format!("{} already exists; name a new file for the backup", path.display());
                return Err(JournalFailure::refused(text));
            }
        }
        let created = folder.create(&name, 0o600).map_err(|e| write_error(file, e))?;
        let image = NewImage { file: created, folder, name };
        let _guard = register_cleanup("the backup that was begun is removed", "");
        let taken = write_image(file, &image, (target, about), moved, interrupt, events);
        if taken.is_err() {
            image.remove();
        }
        taken
    }
}

struct NewImage {
    folder: ResolvedFolder,
    name: OsString,
    file: File,
}

impl NewImage {
    fn remove(&self) {
        let _ = FileIdentity::of_file(&self.file).map(|file| self.folder.remove(&self.name, file));
    }
}

fn check_location(
    file: &Path,
    folder: &ResolvedFolder,
    (card, on_card): (&TargetInfo, &dyn Fn(&Path) -> bool),
    events: &mut dyn Listener,
) -> Result<()> {
    if on_card(&folder.proc_path()) {
        let (file, card) = (file.display(), &card.name);
        return Err(JournalFailure::refused(format!(
            "the backup {file} would be on {card} itself; name a file on another disk"
        )));
    }
    let room = folder.free_bytes().map_err(|e| write_error(file, e))?;
    if room < card.bytes {
        let (room, bytes, folder) = (BinarySize(room), DecimalSize(card.bytes), folder.path().display());
        events.report_note(&format!(
            "{folder} has {room} free, and the card has {bytes}: the backup fits only if the rest of the card is empty"
        ));
    }
    Ok(())
}

fn write_error(file: &Path, error: impl Into<FileError>) -> JournalFailure {
    no_backup_error(file, error.into().into())
}

fn no_backup_error(file: &Path, why: ErrorCause) -> JournalFailure {
    let words = format!(
        "the backup {} cannot be written: {why}; nothing was written to the card. Name a file on a disk \
         with more space",
        file.display()
    );
    JournalFailure::refused_for(words, why)
}

fn stop_error(file: &Path, stop: ProbeStop) -> JournalFailure {
    match stop {
        ProbeStop::Journal(JournalError(why)) => no_backup_error(file, why),
        other => JournalFailure::Stop(other),
    }
}

fn write_image(
    file: &Path,
    image: &NewImage,
    (target, about): (&mut dyn Target, BackupFacts),
    moved: &mut IoTotals,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<CardImage> {
    let mut card = IoDriver::new(target, interrupt, CHUNK, DEPTH).map_err(|s| stop_error(file, s))?;
    let taken = ImageWriter::new(&image.file, about.bytes).read_and_compare(&mut card, events);
    moved.add_failed(card.counts(), card.io_errors());
    drop(card);
    let (chunks, unread) = taken.map_err(|s| stop_error(file, s))?;
    refuse_gaps(&unread, file)?;
    let sums = ImageSums { about, chunks, unread };
    let synced = image.file.set_len(sums.about.bytes).and_then(|()| image.file.sync_all());
    synced.map_err(|e| write_error(file, e))?;
    let sums_error = |e: FileError| write_error(&checksum_path(file), e);
    let draft = DraftFile::new(&image.folder, None, 0o600).map_err(sums_error)?;
    checksums::write_sums(draft.file(), &sums).map_err(|e| sums_error(e.into()))?;
    let held = image.file.try_clone().map_err(|e| write_error(file, e))?;
    // The checksum file comes last, so that the image counts as a backup only when all of it is on disk.
    draft.place(checksum_path(Path::new(&image.name)).as_os_str()).map_err(sums_error)?;
    image.folder.sync().map_err(|e| write_error(file, e))?;
    let planned = "the image of the card is restored".to_owned();
    let guard = register_cleanup(&planned, "");
    let (leftover, restore_bytes) = (restore_hint_for(file), sums.about.bytes);
    guard.update(PendingCleanup { planned, leftover, restore_bytes });
    Ok(CardImage { image: held, path: file.to_owned(), sums, overwritten: None, _cleanup_guard: Some(guard) })
}

/// Refuses an image with gaps: the unreadable data would be overwritten and lost.
fn refuse_gaps(unread: &[UnreadRange], file: &Path) -> Result<()> {
    if unread.is_empty() {
        return Ok(());
    }
    let bytes: u64 = unread.iter().map(|range| range.len).sum();
    let text = |gap: &UnreadRange| format!("{} bytes at byte {} ({})", gap.len, gap.offset, gap.reason);
    let named = unread.iter().take(MAX_LISTED).map(text).collect::<Vec<_>>().join(", ");
    let more = unread.len().saturating_sub(MAX_LISTED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let (tries, file) = (2 * (RETRIES + 1), file.display());
    Err(JournalFailure::refused(format!(
        "{bytes} bytes of the card cannot be read in {tries} tries: {named}{more}; nothing was written to the card, \
         and the backup {file} was removed. Save the data with ddrescue, or leave out --backup and lose it"
    )))
}

/// Image while it is being written.
struct ImageWriter<'f> {
    image: &'f File,
    chunks: Vec<Option<u32>>,
}

impl<'f> ImageWriter<'f> {
    fn new(image: &'f File, bytes: u64) -> Self {
        ImageWriter { image, chunks: vec![None; bytes.div_ceil(u64::from(CHUNK)) as usize] }
    }

    /// Reads the card into the image, then again to compare both. Returns the checksums and the unreadable ranges.
    fn read_and_compare(
        mut self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<(Vec<Option<u32>>, Vec<UnreadRange>), ProbeStop> {
        let mut failed = self.read_whole(card, events)?;
        failed.sort_unstable();
        let mut unread = retry_finely(card, &failed, |extent, bytes| self.write_bytes(extent.offset, bytes))?;
        failed.into_iter().try_for_each(|extent| self.update_checksum(extent))?;
        if unread.is_empty() {
            unread = self.compare_with_card(card, events)?;
        }
        Ok((self.chunks, merge_adjacent(&unread)))
    }

    /// Reads the card from end to end and returns the extents that failed. Zeros stay holes in the file.
    fn read_whole(
        &mut self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<Vec<CardExtent>, ProbeStop> {
        let bytes = card.bytes();
        events.begin_stage(SAVING, Some(bytes), None);
        let mut progress = ByteProgress::default();
        let mut failed = Vec::new();
        card.read(split_extents(0, bytes, CHUNK), IoContent::Constant(0), |extent, _, answer| {
            match answer {
                ReadAnswer::Same => {}
                ReadAnswer::Differs { bytes, .. } => {
                    self.write_bytes(extent.offset, bytes)?;
                    let chunk = (extent.offset / u64::from(CHUNK)) as usize;
                    self.chunks[chunk] = Some(crc32c::crc32c(bytes));
                }
                ReadAnswer::Failed(_) => failed.push(extent),
            }
            progress.add(u64::from(extent.len), events);
            Ok(())
        })?;
        Ok(failed)
    }

    fn write_bytes(&self, offset: u64, bytes: &[u8]) -> Result<(), ProbeStop> {
        self.image.write_all_at(bytes, offset).map_err(image_stop)
    }

    /// Compares the image with a second read of the card, in requests of another size and alignment. Returns the
    /// extents that failed every retry.
    fn compare_with_card(
        &self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<Vec<(CardExtent, IoError)>, ProbeStop> {
        let bytes = card.bytes();
        let head = u64::from(FIRST_COMPARE_BYTES).min(bytes);
        events.begin_stage(COMPARING, Some(bytes), None);
        let mut progress = ByteProgress::default();
        let (mut saved, mut reads, mut failed) = (vec![0; COMPARE_BYTES as usize], 0, Vec::new());
        // Zeros were not written, so the file gets its full length here.
        self.image.set_len(bytes).map_err(image_stop)?;
        card.reopen()?;
        let mut is_saved = |second: CardExtent, bytes: &[u8]| {
            reads += 1;
            let saved = &mut saved[..bytes.len()];
            self.image.read_exact_at(saved, second.offset).map_err(image_stop)?;
            let Some(at) = first_difference(saved, bytes) else { return Ok(()) };
            let evidence = suspect_reader_evidence(second, second.offset + at as u64, reads);
            Err(ProbeStop::SuspectReader(Box::new(evidence)))
        };
        let requests = split_extents(0, head, FIRST_COMPARE_BYTES);
        let requests = requests.chain(split_extents(head, bytes, COMPARE_BYTES));
        card.read(requests, IoContent::Buffer, |second, _, answer| {
            match answer {
                ReadAnswer::Differs { bytes, .. } => is_saved(second, bytes)?,
                ReadAnswer::Failed(_) => failed.push(second),
                ReadAnswer::Same => {}
            }
            progress.add(u64::from(second.len), events);
            Ok(())
        })?;
        retry_finely(card, &failed, is_saved)
    }

    /// Computes the checksum of a chunk that was read in small extents, from the image.
    fn update_checksum(&mut self, chunk: CardExtent) -> Result<(), ProbeStop> {
        let mut bytes = vec![0; chunk.len as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.image.read_at(&mut bytes[filled..], chunk.offset + filled as u64) {
                // Behind the last write the file is all zeros.
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) => return Err(image_stop(e)),
            }
        }
        self.chunks[(chunk.offset / u64::from(CHUNK)) as usize] = Some(crc32c::crc32c(&bytes));
        Ok(())
    }
}

/// End of the probe because the image cannot be written or read.
fn image_stop(error: std::io::Error) -> ProbeStop {
    ProbeStop::Journal(JournalError(error.into()))
}

/// Retries failed extents in smaller ones, calls `each` for those that succeed, and returns the others in order.
fn retry_finely(
    card: &mut IoDriver<'_>,
    failed: &[CardExtent],
    mut each: impl FnMut(CardExtent, &[u8]) -> Result<(), ProbeStop>,
) -> Result<Vec<(CardExtent, IoError)>, ProbeStop> {
    let (mut left, mut io_errors) = (failed.to_vec(), Vec::new());
    for _ in 0..RETRIES {
        if left.is_empty() {
            break;
        }
        card.reopen()?;
        io_errors.clear();
        let fine = left.iter().flat_map(|extent| split_extents(extent.offset, extent.end(), RETRY_BYTES));
        card.read(fine, IoContent::Buffer, |extent, _, answer| match answer {
            ReadAnswer::Differs { bytes, .. } => each(extent, bytes),
            ReadAnswer::Failed(error) => {
                io_errors.push((extent, error.clone()));
                Ok(())
            }
            ReadAnswer::Same => Ok(()),
        })?;
        left = io_errors.iter().map(|(extent, _)| *extent).collect();
    }
    io_errors.sort_by_key(|(extent, _)| *extent);
    Ok(io_errors)
}

fn suspect_reader_evidence(second: CardExtent, offset: u64, reads: u64) -> SuspectReader {
    let chunk = u64::from(CHUNK);
    let first = ReadRequest { offset: offset / chunk * chunk, len: chunk };
    let second = ReadRequest { offset: second.offset, len: u64::from(second.len) };
    SuspectReader {
        stage: ReadStage::Saving,
        reads,
        differing_reads: 1,
        differences: vec![ReadDifference { offset, first, second }],
        ended_test: true,
    }
}

fn merge_adjacent(io_errors: &[(CardExtent, IoError)]) -> Vec<UnreadRange> {
    let mut ranges: Vec<UnreadRange> = Vec::new();
    for (extent, IoError { reason, .. }) in io_errors {
        let (offset, len) = (extent.offset, u64::from(extent.len));
        match ranges.last_mut() {
            Some(last) if last.offset + last.len == offset && last.reason == *reason => last.len += len,
            _ => ranges.push(UnreadRange { offset, len, reason: reason.clone() }),
        }
    }
    ranges
}
