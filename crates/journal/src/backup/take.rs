//! Taking an image: the whole card is read, written with a checksum, and synced, before anything else is done to it.

use super::sums::{self, BackupFacts, CHUNK, ImageSums, UnreadRange, beside};
use super::{COMPARING, CardImage, DEPTH, SAVING, whereabouts};
use crate::error::JournalFailure;
use cardscope_engine::card::{CardExtent, IoDriver, ProbeStop, ReadAnswer, extents};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::content::{IoContent, first_difference};
use cardscope_engine::event::{ByteProgress, Listener};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::journal::JournalError;
use cardscope_engine::pending::{PendingCleanup, owing};
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

/// Bytes of a request while the image is compared with the card, and of the first one, so that none begins where one of the
/// image's did.
const COMPARED: u32 = 768 << 10;
const COMPARED_HEAD: u32 = 12 << 10;

/// What failed is asked again in extents of this size, so that little is lost around a bad place.
const FINE: u32 = 4096;

/// So often, each time after opening the card anew.
const ROUNDS: u32 = 2;

/// So many places that cannot be read are named.
const NAMED: usize = 8;

impl CardImage {
    /// Takes an image of the card; it is on disk when this returns. Nothing was written to the card by then. `about` says
    /// what the card is, `on_card` whether a path lies on it; `moved` counts the reads, and those that failed.
    ///
    /// # Errors
    /// A refusal: the file is there already, lies on the card, there is no room, or not all of the card
    /// can be read; or the card went away, or the user stopped it. No file is left then.
    pub fn take(
        file: &Path,
        target: &mut dyn Target,
        (about, on_card): (BackupFacts, &dyn Fn(&Path) -> bool),
        moved: &mut IoTotals,
        interrupt: &InterruptFlag,
        events: &mut dyn Listener,
    ) -> Result<CardImage, JournalFailure> {
        let (folder, name) = ResolvedFolder::of_file(file).map_err(|e| cannot(file, e))?;
        may_lie_at(file, &folder, (target.info(), on_card), events)?;
        for path in [Path::new(&name), &beside(Path::new(&name))] {
            if folder.look(path.as_os_str()).map_err(|e| cannot(file, e))?.is_some() {
                let path = file.with_file_name(path);
                return Err(JournalFailure::Refused(
                    format!("{} already exists; name a new file for the backup", path.display()).into(),
                ));
            }
        }
        let image =
            NewImage { file: folder.create(&name, 0o600).map_err(|e| cannot(file, e))?, folder, name };
        let _owing = owing("the backup that was begun is removed", "");
        let taken = take_to(file, &image, (target, about), moved, interrupt, events);
        if taken.is_err() {
            image.remove();
        }
        taken
    }
}

/// An image in its folder, that goes again unless all of it is there: half of one is worth nothing, and the card was not
/// touched.
struct NewImage {
    folder: ResolvedFolder,
    name: OsString,
    file: File,
}

impl NewImage {
    fn remove(&self) {
        let _ = FileIdentity::of(&self.file).map(|file| self.folder.remove(&self.name, file));
    }
}

fn may_lie_at(
    file: &Path,
    folder: &ResolvedFolder,
    (card, on_card): (&TargetInfo, &dyn Fn(&Path) -> bool),
    events: &mut dyn Listener,
) -> Result<(), JournalFailure> {
    if on_card(&folder.by_descriptor()) {
        return Err(JournalFailure::Refused(
            format!(
                "the backup {} would be on {} itself; name a file on another disk",
                file.display(),
                card.name
            )
            .into(),
        ));
    }
    let room = folder.free().map_err(|e| cannot(file, e))?;
    if room < card.bytes {
        let text = format!(
            "{} has {} free, and the card has {}: the backup fits only if the rest of the card is empty",
            folder.path().display(),
            BinarySize(room),
            DecimalSize(card.bytes)
        );
        events.note(&text);
    }
    Ok(())
}

fn cannot(file: &Path, error: impl Into<FileError>) -> JournalFailure {
    unwritten(file, error.into().into())
}

fn unwritten(file: &Path, why: ErrorCause) -> JournalFailure {
    let words = format!(
        "the backup {} cannot be written: {why}; nothing was written to the card. Name a file on a disk \
         with more space",
        file.display()
    );
    JournalFailure::Refused(ErrorCause::worded(words, why))
}

/// How a stop while nothing was written to the card yet ends the verb.
fn stopped(file: &Path, stop: ProbeStop) -> JournalFailure {
    match stop {
        ProbeStop::Journal(JournalError(why)) => unwritten(file, why),
        other => JournalFailure::Stop(other),
    }
}

fn take_to(
    file: &Path,
    image: &NewImage,
    (target, about): (&mut dyn Target, BackupFacts),
    moved: &mut IoTotals,
    interrupt: &InterruptFlag,
    events: &mut dyn Listener,
) -> Result<CardImage, JournalFailure> {
    let mut card = IoDriver::new(target, interrupt, CHUNK, DEPTH).map_err(|s| stopped(file, s))?;
    let taken = ImageWriter::new(&image.file, about.bytes).twice(&mut card, events);
    moved.add_failed(card.counts(), card.io_errors());
    drop(card);
    let (chunks, unread) = taken.map_err(|s| stopped(file, s))?;
    judge(&unread, file)?;
    let sums = ImageSums { about, chunks, unread };
    let synced = image.file.set_len(sums.about.bytes).and_then(|()| image.file.sync_all());
    synced.map_err(|e| cannot(file, e))?;
    let beside_it = DraftFile::new(&image.folder, None, 0o600).map_err(|e| cannot(&beside(file), e))?;
    sums::write(beside_it.file(), &sums).map_err(|e| cannot(&beside(file), e))?;
    let held = image.file.try_clone().map_err(|e| cannot(file, e))?;
    // Last, so that the image is a backup only when all of it is on disk.
    beside_it.place(beside(Path::new(&image.name)).as_os_str()).map_err(|e| cannot(&beside(file), e))?;
    image.folder.sync().map_err(|e| cannot(file, e))?;
    let then = "the image of the card is restored";
    let debt = owing(then, "");
    debt.say(PendingCleanup { then: then.to_owned(), left: whereabouts(file), restores: sums.about.bytes });
    Ok(CardImage { image: held, path: file.to_owned(), sums, overwritten: None, _owing: Some(debt) })
}

/// What cannot be read would be overwritten and never come back, so an image with gaps is a refusal.
fn judge(unread: &[UnreadRange], file: &Path) -> Result<(), JournalFailure> {
    if unread.is_empty() {
        return Ok(());
    }
    let bytes: u64 = unread.iter().map(|range| range.len).sum();
    let named: Vec<String> = unread
        .iter()
        .take(NAMED)
        .map(|range| format!("{} bytes at byte {} ({})", range.len, range.offset, range.reason))
        .collect();
    let more = unread.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Err(JournalFailure::Refused(format!(
        "{bytes} bytes of the card cannot be read in {} tries: {}{more}; nothing was written to the card, \
         and the backup {} was removed. Save the data with ddrescue, or leave out --backup and lose it",
        2 * (ROUNDS + 1),
        named.join(", "),
        file.display()
    ).into()))
}

/// An image in the making.
struct ImageWriter<'f> {
    image: &'f File,
    chunks: Vec<Option<u32>>,
}

impl<'f> ImageWriter<'f> {
    fn new(image: &'f File, bytes: u64) -> Self {
        ImageWriter { image, chunks: vec![None; bytes.div_ceil(u64::from(CHUNK)) as usize] }
    }

    /// Reads the card into the image, and once more to compare the two. Gives the chunks' checksums, and what could not be
    /// read both times.
    fn twice(
        mut self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<(Vec<Option<u32>>, Vec<UnreadRange>), ProbeStop> {
        let mut failed = self.whole(card, events)?;
        failed.sort_unstable();
        let mut unread = finely(card, &failed, |extent, bytes| self.write(extent.offset, bytes))?;
        failed.into_iter().try_for_each(|extent| self.sum_again(extent))?;
        if unread.is_empty() {
            unread = self.compare(card, events)?;
        }
        Ok((self.chunks, joined(&unread)))
    }

    /// Reads the card from end to end; gives what failed. What is zero needs no bytes.
    fn whole(
        &mut self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<Vec<CardExtent>, ProbeStop> {
        let bytes = card.bytes();
        events.stage(SAVING, Some(bytes), None);
        let mut progress = ByteProgress::default();
        let mut failed = Vec::new();
        card.read(extents(0, bytes, CHUNK), IoContent::Constant(0), |extent, _, answer| {
            match answer {
                ReadAnswer::Same => {}
                ReadAnswer::Differs { bytes, .. } => {
                    self.write(extent.offset, bytes)?;
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

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), ProbeStop> {
        self.image.write_all_at(bytes, offset).map_err(|e| ProbeStop::Journal(JournalError(e.into())))
    }

    /// Reads the card once more, in requests of another size and alignment, and compares it with the image; gives what
    /// failed for good.
    fn compare(
        &self,
        card: &mut IoDriver<'_>,
        events: &mut dyn Listener,
    ) -> Result<Vec<(CardExtent, IoError)>, ProbeStop> {
        let bytes = card.bytes();
        let head = u64::from(COMPARED_HEAD).min(bytes);
        events.stage(COMPARING, Some(bytes), None);
        let mut progress = ByteProgress::default();
        let (mut saved, mut reads, mut failed) = (vec![0; COMPARED as usize], 0, Vec::new());
        // What is zero was not written: the image is as long as the card from here on.
        self.image.set_len(bytes).map_err(|e| ProbeStop::Journal(JournalError(e.into())))?;
        card.reopen()?;
        let mut is_saved = |second: CardExtent, bytes: &[u8]| {
            reads += 1;
            let saved = &mut saved[..bytes.len()];
            let held = self.image.read_exact_at(saved, second.offset);
            held.map_err(|e| ProbeStop::Journal(JournalError(e.into())))?;
            let Some(at) = first_difference(saved, bytes) else { return Ok(()) };
            Err(ProbeStop::SuspectReader(Box::new(differing(second, second.offset + at as u64, reads))))
        };
        let requests = extents(0, head, COMPARED_HEAD).chain(extents(head, bytes, COMPARED));
        card.read(requests, IoContent::Buffer, |second, _, answer| {
            match answer {
                ReadAnswer::Differs { bytes, .. } => is_saved(second, bytes)?,
                ReadAnswer::Failed(_) => failed.push(second),
                ReadAnswer::Same => {}
            }
            progress.add(u64::from(second.len), events);
            Ok(())
        })?;
        finely(card, &failed, is_saved)
    }

    /// The checksum of a chunk that came in small extents, over what the image holds now.
    fn sum_again(&mut self, chunk: CardExtent) -> Result<(), ProbeStop> {
        let mut bytes = vec![0; chunk.len as usize];
        let mut filled = 0;
        while filled < bytes.len() {
            match self.image.read_at(&mut bytes[filled..], chunk.offset + filled as u64) {
                // Behind what was written last there are zeros.
                Ok(0) => break,
                Ok(n) => filled += n,
                Err(e) => return Err(ProbeStop::Journal(JournalError(e.into()))),
            }
        }
        self.chunks[(chunk.offset / u64::from(CHUNK)) as usize] = Some(crc32c::crc32c(&bytes));
        Ok(())
    }
}

/// Asks again for what failed, in small extents; `each` hears of what is read then. Gives what failed for good, in order.
fn finely(
    card: &mut IoDriver<'_>,
    failed: &[CardExtent],
    mut each: impl FnMut(CardExtent, &[u8]) -> Result<(), ProbeStop>,
) -> Result<Vec<(CardExtent, IoError)>, ProbeStop> {
    let (mut left, mut io_errors) = (failed.to_vec(), Vec::new());
    for _ in 0..ROUNDS {
        if left.is_empty() {
            break;
        }
        card.reopen()?;
        io_errors.clear();
        let fine = left.iter().flat_map(|extent| extents(extent.offset, extent.end(), FINE));
        card.read(fine, IoContent::Buffer, |extent, _, answer| match answer {
            ReadAnswer::Differs { bytes, .. } => each(extent, bytes),
            ReadAnswer::Failed(io_error) => {
                io_errors.push((extent, io_error.clone()));
                Ok(())
            }
            ReadAnswer::Same => Ok(()),
        })?;
        left = io_errors.iter().map(|(extent, _)| *extent).collect();
    }
    io_errors.sort_by_key(|(extent, _)| *extent);
    Ok(io_errors)
}

/// Evidence that a byte was another one when the image was taken.
fn differing(second: CardExtent, offset: u64, reads: u64) -> SuspectReader {
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

/// Neighbours with the same error become one range.
fn joined(io_errors: &[(CardExtent, IoError)]) -> Vec<UnreadRange> {
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
