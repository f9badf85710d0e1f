//! The journal: what a test is about to overwrite, on another disk, synced before the card is touched.
//!
//! Rules: docs/reference/flash.md#preserving-the-data. A batch is appended and synced, then its commit record is
//! appended and synced; only then does [`commit`](journal::Journal::commit) return and the card is written.
//! `docs/journal.md` has the format.

#[cfg(test)]
mod tests;

use crate::changed;
use crate::error::{JournalFailure, UnusableJournal};
use crate::folder;
use crate::record::{self, JournalFacts, MAGIC, MOST, RangeEntry, RecordHead, RecordKind};
use crate::scan::{self, JournalCompleteness, JournalDamage, JournalLog, JournalScan, ScannedBatch};
use crate::tally::{CommittedTally, PAGE};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::content::constant;
use cardscope_engine::journal::{self, JournalError, RestoreProgress, SavedRange};
use cardscope_engine::pending::{CleanupGuard, PendingCleanup, PendingWait, owing, waiting};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder};
use cardscope_model::report::ChangedBlocks;
use cardscope_model::shell::quoted_path;
use cardscope_model::units::DecimalSize;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Originals on disk; made by a test, or opened to put them back.
pub struct Journal {
    file: File,
    folder: ResolvedFolder,
    /// Its name in the folder.
    name: OsString,
    /// Where it lies, for messages.
    path: PathBuf,
    about: JournalFacts,
    nonce: u64,
    /// By offset and length: the batch, and where it is. Of a range that was saved twice only the oldest counts.
    saved: BTreeMap<(u64, u32), (u32, RangeEntry)>,
    /// Of the batch under way.
    pending: Vec<RangeEntry>,
    log: JournalLog,
    /// True until something of the card may have been overwritten.
    unused: bool,
    /// What it keeps is put back, whoever asks the program to end; not so where it was opened to be restored.
    owing: Option<CleanupGuard>,
    /// Up to here it was seen that the disk has room.
    room_to: u64,
    /// Where the two tallies are.
    tallies_at: u64,
}

impl Journal {
    /// Starts a journal in a folder that is [`ready`](folder::ready), before the card is touched.
    ///
    /// # Errors
    /// A refusal: it cannot be written.
    pub fn create(folder: ResolvedFolder, about: JournalFacts) -> Result<Journal, JournalFailure> {
        let shown = folder.path().to_owned();
        Self::begin(folder, about).map_err(|e| {
            JournalFailure::Refused(ErrorCause::worded(format!(
                "the journal cannot be written to {}: {e}; nothing was written to the card. Set XDG_STATE_HOME to a folder on another disk",
                shown.display()
            ), e))
        })
    }

    /// Makes the file, locked and on disk with its first records.
    fn begin(folder: ResolvedFolder, about: JournalFacts) -> Result<Journal, FileError> {
        let (high, low) = uuid::Uuid::now_v7().as_u64_pair();
        let nonce = high.rotate_left(32) ^ low;
        let time = about.began.replace([':', '-'], "");
        let name = OsString::from(format!("{}{time}-{:08x}", folder::PREFIX, nonce as u32));
        let held = ResolvedFolder::over(folder.as_fd().try_clone_to_owned()?, folder.path());
        // It has its name once its beginning is on disk: a journal without one is a damaged journal.
        let draft = DraftFile::new(&held, None, 0o600)?;
        let file = draft.file().try_clone()?;
        let about = JournalFacts { keeps_tally: true, ..about };
        let mut journal = Self::over(file, folder, name, about, nonce);
        // A file system that gives all files to somebody: nobody would believe this journal later.
        scan::must_be_ours(&journal.file)?;
        journal.write_start()?;
        draft.place(&journal.name)?;
        journal.owing = Some(owing("the empty journal is removed", ""));
        Ok(journal)
    }

    fn over(file: File, folder: ResolvedFolder, name: OsString, about: JournalFacts, nonce: u64) -> Journal {
        Journal {
            path: folder.path().join(&name),
            file,
            folder,
            name,
            about,
            nonce,
            saved: BTreeMap::new(),
            pending: Vec::new(),
            log: JournalLog::default(),
            unused: true,
            owing: None,
            room_to: 0,
            tallies_at: 0,
        }
    }

    fn write_start(&mut self) -> Result<(), FileError> {
        self.file.try_lock().map_err(std::io::Error::from)?;
        self.file.write_all_at(MAGIC, 0)?;
        self.log.end = MAGIC.len() as u64;
        // One for each step. In the first sector of the file, so that no power cut leaves half of one.
        for index in 0..2 {
            self.log.set_aside.push_back(self.log.end);
            self.append(RecordKind::Room, (0, 0), index, &[])?;
        }
        let mut about = serde_json::to_vec(&self.about).map_err(std::io::Error::from)?;
        // Twice: without it nobody would know whose data the rest is.
        self.append(RecordKind::About, (0, 0), 0, &about)?;
        // Blanks, so that each tally has a page to itself.
        let end = self.log.end + (record::HEAD + about.len()) as u64;
        about.resize(about.len() + (end.next_multiple_of(PAGE) - end) as usize, b' ');
        self.append(RecordKind::About, (0, 0), 1, &about)?;
        (self.tallies_at, self.log.end) = (self.log.end, self.log.end + 2 * PAGE);
        let tally = CommittedTally::of_card(self.about.announced_bytes);
        for page in 0..2 {
            self.file.write_all_at(&tally.encode(self.nonce), self.tallies_at + page * PAGE)?;
        }
        self.log.tally = Some(tally);
        Ok(())
    }

    /// Removes the file, and none that has its name by now.
    fn remove(&self) -> Result<(), FileError> {
        self.folder.remove(&self.name, FileIdentity::of(&self.file)?).map(drop)
    }

    /// What a journal says of its card, and how many bytes of it are saved so far, whoever holds it; `None` where that
    /// cannot be read.
    pub fn look(path: &Path) -> Option<(JournalFacts, u64)> {
        let scan = scan::look(path)?;
        let saved: BTreeSet<(u64, u32)> =
            scan.batches.values().flat_map(ScannedBatch::entries).map(|e| (e.offset, e.len)).collect();
        Some((scan.about?, saved.iter().map(|(_, len)| u64::from(*len)).sum()))
    }

    /// Opens a journal that was left behind; nothing else may hold it.
    ///
    /// # Errors
    /// A refusal: there is none, it is held by a run that goes on, or it is no journal of a version known here.
    pub fn open(path: &Path) -> Result<Journal, UnusableJournal> {
        let (file, folder, name, scan) = scan::open(path)?;
        let JournalScan { about, nonce, batches, log, .. } = scan;
        let (Some(about), Some(nonce)) = (about, nonce) else {
            let why = ErrorCause::from("the journal's header is damaged; nothing was written");
            return Err(UnusableJournal::Unknown(why).in_file(path));
        };
        let mut journal = Self::over(file, folder, name, about, nonce);
        journal.unused = false;
        journal.log = JournalLog { batch: log.batch + 1, ..log };
        for (number, batch) in &batches {
            for entry in batch.entries() {
                journal.saved.entry((entry.offset, entry.len)).or_insert((*number, entry));
            }
        }
        Ok(journal)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is about.
    pub fn about(&self) -> &JournalFacts {
        &self.about
    }

    /// Whether it still has everything that it let be overwritten.
    pub fn completeness(&self) -> JournalCompleteness {
        self.log.completeness
    }

    /// Parts of the card outside of which nothing was overwritten, as far as it counted; none where it kept no count.
    pub(crate) fn parts(&self) -> Vec<Range<u64>> {
        self.log.tally.iter().flat_map(CommittedTally::parts).collect()
    }

    /// What of it is damaged, beside ranges whose bytes are.
    pub fn damage(&self) -> &JournalDamage {
        &self.log.damage
    }

    /// Whether everything in it was put back already.
    pub fn restored(&self) -> bool {
        self.log.restored
    }

    /// The salts of the stamps that the run wrote, where it said them.
    pub fn salts(&self) -> &[u64] {
        &self.log.salts
    }

    /// Whether putting back had begun: until then the places that were overwritten hold stamps. `None` in journals of
    /// versions that did not say.
    pub fn put_back_begun(&self) -> Option<bool> {
        self.about.notes_putting_back.then_some(self.log.put_back.is_some())
    }

    /// Whether all of it was written back already, if not compared.
    pub fn written_back(&self) -> bool {
        self.log.put_back == Some(RestoreProgress::Written)
    }

    /// Whether the run had overwritten this range for sure: later batches were saved after it was.
    pub fn overwrote(&self, saved: SavedRange) -> bool {
        let range = u32::try_from(saved.len).ok().and_then(|len| self.saved.get(&(saved.offset, len)));
        // `batch` is the next one: of the newest two, one may not be committed, and one not written.
        range.is_some_and(|(batch, _)| batch + 2 < self.log.batch)
    }

    /// Notes the salt of the stamps that the run is going to write: by them the card is known again. On disk with the
    /// next batch.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn wrote_with(&mut self, salt: u64) -> Result<(), JournalError> {
        self.append(RecordKind::Salt, (0, 0), 0, &salt.to_le_bytes()).map_err(|e| self.full(e))?;
        self.log.salts.push(salt);
        Ok(())
    }

    /// Everything was put back and compared: the file goes.
    ///
    /// # Errors
    /// If it cannot be removed; it says then that it is done with.
    pub fn finish(mut self) -> Result<(), JournalFailure> {
        self.unused = false;
        // Should removing it fail, it must not be restored over what the card holds by then.
        let marked = self.append(RecordKind::Restored, (0, 0), 0, &[]).and_then(|()| self.sync());
        self.remove().map_err(|e| {
            let file = self.path.display();
            JournalFailure::Io(ErrorCause::worded(
                format!("the data is restored, but the journal {file} cannot be removed: {e}"),
                e,
            ))
        })?;
        let _ = self.folder.sync();
        drop(marked);
        // A list that stays is a file too many, and names nothing that is wrong.
        let _ = changed::remove(&self.folder, &self.name);
        Ok(())
    }

    /// Lists in a file beside it what may not hold what it held on the card, and counts it; `None` where nothing may.
    pub fn list_changed(&self, ranges: &[SavedRange]) -> Option<ChangedBlocks> {
        let changed = changed::list(&self.folder, &self.name, &self.about.target, ranges);
        if changed.is_none() {
            // What an earlier attempt had listed is in order by now.
            let _ = changed::remove(&self.folder, &self.name);
        }
        changed
    }

    /// Whether its test overwrote nothing for sure.
    pub fn overwrote_nothing(&self) -> bool {
        self.saved.is_empty() && self.log.completeness == JournalCompleteness::Whole
    }

    fn append(
        &mut self,
        kind: RecordKind,
        range: (u64, u32),
        index: u32,
        payload: &[u8],
    ) -> std::io::Result<()> {
        self.write_at(self.log.end, kind, range, index, payload)?;
        self.log.end += (record::HEAD + payload.len()) as u64;
        Ok(())
    }

    fn write_at(
        &self,
        at: u64,
        kind: RecordKind,
        (offset, len): (u64, u32),
        index: u32,
        payload: &[u8],
    ) -> std::io::Result<()> {
        let crc = crc32c::crc32c(payload);
        let (nonce, batch) = (self.nonce, self.log.batch);
        let head = RecordHead { kind, payload: payload.len() as u32, offset, len, crc, nonce, batch, index };
        self.file.write_all_at(&head.encode(), at)?;
        self.file.write_all_at(payload, at + record::HEAD as u64)
    }

    /// Notes how far putting back has come: in a place set aside, at the end where there is none left.
    fn note(&mut self, step: RestoreProgress) -> std::io::Result<()> {
        let index = u32::from(step == RestoreProgress::Written);
        match self.log.set_aside.pop_front() {
            Some(at) if self.write_at(at, RecordKind::PutBack, (0, 0), index, &[]).is_ok() => Ok(()),
            _ => self.append(RecordKind::PutBack, (0, 0), index, &[]),
        }
    }

    /// Takes one range of at most [`MOST`] bytes into the batch.
    fn take(&mut self, offset: u64, original: &[u8]) -> std::io::Result<()> {
        let len = original.len() as u32;
        let known = |e: &RangeEntry| (e.offset, e.len) == (offset, len);
        if self.saved.contains_key(&(offset, len)) || self.pending.iter().rev().take(8).any(known) {
            return Ok(());
        }
        let fill = constant(original);
        let index = self.pending.len() as u32;
        let at = self.log.end + record::HEAD as u64;
        let payload = if fill.is_some() { &original[..1] } else { original };
        if at + payload.len() as u64 > self.room_to {
            self.room_to = folder::room_beyond(&self.folder, at)?;
        }
        let kind = if fill.is_some() { RecordKind::Fill } else { RecordKind::Bytes };
        self.append(kind, (offset, len), index, payload)?;
        self.pending.push(RangeEntry { offset, len, crc: crc32c::crc32c(payload), at, fill });
        Ok(())
    }

    /// Waits until all of it is on disk, and says so: a slow disk makes the card seem to hang.
    fn sync(&self) -> std::io::Result<()> {
        let _waiting =
            waiting(PendingWait::Call(format!("a sync of the journal {}", self.path.display()).into()));
        self.file.sync_data()
    }

    fn commit_pending(&mut self) -> std::io::Result<()> {
        self.sync()?;
        let mut table = Vec::with_capacity(self.pending.len() * record::ENTRY);
        self.pending.iter().for_each(|entry| entry.encode(&mut table));
        self.append(RecordKind::Commit, (0, self.pending.len() as u32), 0, &table)?;
        // What is counted is on disk, and it is counted before the card is written. The other place keeps the count before.
        let mut tally = self.log.tally.clone().ok_or_else(|| std::io::Error::other("it is not under way"))?;
        tally.add(&self.pending);
        self.file.write_all_at(&tally.encode(self.nonce), self.tallies_at + tally.place())?;
        self.sync()?;
        self.log.tally = Some(tally);
        Ok(())
    }

    fn say_owed(&self) {
        let bytes: u64 = self.saved.keys().map(|(_, len)| u64::from(*len)).sum();
        let path = quoted_path(&self.path);
        let left = format!("the card's data is saved in a journal: run `cardscope restore {path}`");
        if let Some(owing) = &self.owing {
            let then = format!("the {} saved are restored", DecimalSize(bytes));
            owing.say(PendingCleanup { then, left, restores: bytes });
        }
    }

    fn full(&self, error: std::io::Error) -> JournalError {
        let words = format!(
            "the card's data could not be saved to the journal {}: {error}; all overwritten data is saved. \
             Free some space, or set XDG_STATE_HOME to a folder on another disk",
            self.path.display()
        );
        JournalError(ErrorCause::worded(words, error))
    }
}

impl journal::JournalWriter for Journal {
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError> {
        let mut at = offset;
        for part in original.chunks(MOST) {
            self.take(at, part).map_err(|e| self.full(e))?;
            at += part.len() as u64;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.commit_pending().map_err(|e| self.full(e))?;
        for entry in std::mem::take(&mut self.pending) {
            self.saved.entry((entry.offset, entry.len)).or_insert((self.log.batch, entry));
        }
        self.unused = false;
        self.log.batch += 1;
        self.say_owed();
        Ok(())
    }

    fn saved(&self) -> Vec<SavedRange> {
        let mut all: Vec<(u32, u64, u32)> =
            self.saved.iter().map(|((offset, len), (batch, _))| (u32::MAX - batch, *offset, *len)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, offset, len)| SavedRange { offset, len: u64::from(len) }).collect()
    }

    fn original(&mut self, saved: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        let unknown =
            || JournalError(format!("{} bytes at {} are not in the journal", saved.len, saved.offset).into());
        let len = u32::try_from(saved.len).map_err(|_| unknown())?;
        let (_, entry) = self.saved.get(&(saved.offset, len)).ok_or_else(unknown)?;
        scan::payload(&self.file, entry, into)
    }

    /// The beginning is on disk before anything is put back. The end is not waited for: it only spares a question.
    fn restoring(&mut self, step: RestoreProgress) {
        let noted = self.note(step);
        if step == RestoreProgress::Begun && noted.is_ok() {
            let _ = self.sync();
        }
        self.log.put_back = Some(step);
    }
}

impl Drop for Journal {
    /// One that never let anything be overwritten is of no use to anybody.
    fn drop(&mut self) {
        if self.unused {
            let _ = self.remove();
        }
    }
}
