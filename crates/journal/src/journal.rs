//! The journal: saves what a test is about to overwrite to another disk, and syncs it before the card is written.
//!
//! Rules: docs/reference/flash.md#preserving-the-data. A batch is appended and synced, then its commit record is
//! appended and synced; only then does [`commit`](journal::Journal::commit) return and the test may write.
//! `docs/journal.md` describes the format.

#[cfg(test)]
mod tests;

use crate::change_list;
use crate::folder;
use crate::record::{self, JournalFacts, MAGIC, MAX_RANGE_BYTES, RangeEntry, RecordHead, RecordKind};
use crate::scan::{self, JournalCompleteness, JournalDamage, JournalLog, JournalScan, ScannedBatch};
use crate::tally::{CommittedTally, PAGE_BYTES};
use crate::{JournalFailure, Result, UnusableJournal};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::content::constant_byte;
use cardscope_engine::journal::{self, JournalError, RestoreProgress, SavedRange};
use cardscope_engine::pending::{PendingCleanup, PendingGuard, PendingWait, register_cleanup, register_wait};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder, require_trusted_owner};
use cardscope_model::report::ChangedBlocks;
use cardscope_model::shell::shell_quote_path;
use cardscope_model::units::DecimalSize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Saved data on disk, written by a test or opened to be restored. Removes its file when dropped before a commit.
pub struct Journal {
    file: File,
    folder: ResolvedFolder,
    name: OsString,
    path: PathBuf,
    about: JournalFacts,
    nonce: u64,
    /// Batch and entry of each range, by offset and length. Of a range that was saved twice only the older copy counts.
    saved: BTreeMap<(u64, u32), (u32, RangeEntry)>,
    pending: Vec<RangeEntry>,
    log: JournalLog,
    /// True until a batch is committed, after which the card may have been overwritten.
    unused: bool,
    /// Tells a user who stops the program that the data is restored first. None in a journal that was opened.
    cleanup_guard: Option<PendingGuard>,
    /// Length of the file up to which the disk is known to have room.
    room_to: u64,
    tallies_at: u64,
}

impl Journal {
    /// Starts a journal in a folder that [`prepare_folder`](folder::prepare_folder) prepared, before the card is written.
    pub fn create(folder: ResolvedFolder, about: JournalFacts) -> Result<Journal> {
        let path = folder.path().to_owned();
        Self::create_file(folder, about).map_err(|e| {
            let advice = "nothing was written to the card. Set XDG_STATE_HOME to a folder on another disk";
            let shown = path.display();
            JournalFailure::refused_for(format!("the journal cannot be written to {shown}: {e}; {advice}"), e)
        })
    }

    fn create_file(folder: ResolvedFolder, about: JournalFacts) -> Result<Journal, FileError> {
        let (high, low) = uuid::Uuid::now_v7().as_u64_pair();
        let nonce = high.rotate_left(32) ^ low;
        let time = about.began.replace([':', '-'], "");
        let name = OsString::from(format!("{}{time}-{:08x}", folder::PREFIX, nonce as u32));
        let held = ResolvedFolder::from_fd(folder.as_fd().try_clone_to_owned()?, folder.path());
        // The file is named only after its header is on disk: a journal without a header counts as damaged.
        let draft = DraftFile::new(&held, None, 0o600)?;
        let file = draft.file().try_clone()?;
        let about = JournalFacts { keeps_tally: true, ..about };
        let mut journal = Self::with_file(file, folder, name, about, nonce);
        // Some file systems give every file to a fixed user. Restoring would refuse such a journal later.
        require_trusted_owner(&journal.file)?;
        journal.write_header()?;
        draft.place(&journal.name)?;
        journal.cleanup_guard = Some(register_cleanup("the empty journal is removed", ""));
        Ok(journal)
    }

    fn with_file(file: File, at: ResolvedFolder, name: OsString, about: JournalFacts, nonce: u64) -> Journal {
        Journal {
            path: at.path().join(&name),
            file,
            folder: at,
            name,
            about,
            nonce,
            saved: BTreeMap::new(),
            pending: Vec::new(),
            log: JournalLog::default(),
            unused: true,
            cleanup_guard: None,
            room_to: 0,
            tallies_at: 0,
        }
    }

    fn write_header(&mut self) -> Result<(), FileError> {
        self.file.try_lock().map_err(io::Error::from)?;
        self.file.write_all_at(MAGIC, 0)?;
        self.log.end = MAGIC.len() as u64;
        // One record for each step of restoring. They fit into the first sector, so a power cut cannot tear one.
        for index in 0..2 {
            self.log.reserved_records.push_back(self.log.end);
            self.append_record(RecordKind::Reserved, (0, 0), index, &[])?;
        }
        let mut about = serde_json::to_vec(&self.about).map_err(io::Error::from)?;
        // The header is stored twice: without it the data could not be matched to a card.
        self.append_record(RecordKind::Header, (0, 0), 0, &about)?;
        // Padded with blanks, so that each tally has a page of its own.
        let end = self.log.end + (record::HEAD_BYTES + about.len()) as u64;
        about.resize(about.len() + (end.next_multiple_of(PAGE_BYTES) - end) as usize, b' ');
        self.append_record(RecordKind::Header, (0, 0), 1, &about)?;
        (self.tallies_at, self.log.end) = (self.log.end, self.log.end + 2 * PAGE_BYTES);
        let tally = CommittedTally::for_card(self.about.announced_bytes);
        for page in 0..2 {
            self.file.write_all_at(&tally.encode(self.nonce), self.tallies_at + page * PAGE_BYTES)?;
        }
        self.log.tally = Some(tally);
        Ok(())
    }

    /// Removes the file, unless another file has its name by now.
    fn remove(&self) -> Result<(), FileError> {
        self.folder.remove(&self.name, FileIdentity::of_file(&self.file)?).map(drop)
    }

    /// Returns the header and the saved bytes of a journal that may be in use; `None` if it is unreadable.
    pub fn peek(path: &Path) -> Option<(JournalFacts, u64)> {
        let scan = scan::read_unlocked(path)?;
        let entries = scan.batches.values().flat_map(ScannedBatch::entries);
        let saved: BTreeSet<(u64, u32)> = entries.map(|e| (e.offset, e.len)).collect();
        Some((scan.about?, saved.iter().map(|(_, len)| u64::from(*len)).sum()))
    }

    /// Opens an existing journal and locks it.
    pub fn open(path: &Path) -> Result<Journal, UnusableJournal> {
        let (file, folder, name, scan) = scan::open_locked(path)?;
        let JournalScan { about, nonce, batches, log, .. } = scan;
        let (Some(about), Some(nonce)) = (about, nonce) else {
            let why = ErrorCause::from("the journal's header is damaged; nothing was written");
            return Err(UnusableJournal::Unknown(why).in_file(path));
        };
        let mut journal = Self::with_file(file, folder, name, about, nonce);
        journal.unused = false;
        journal.log = JournalLog { batch: log.batch + 1, ..log };
        for (number, batch) in &batches {
            for entry in batch.entries() {
                journal.saved.entry((entry.offset, entry.len)).or_insert((*number, entry));
            }
        }
        Ok(journal)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn facts(&self) -> &JournalFacts {
        &self.about
    }

    pub fn completeness(&self) -> JournalCompleteness {
        self.log.completeness
    }

    /// Parts of the card that contain everything overwritten. Empty in journals without a tally.
    pub(crate) fn written_parts(&self) -> Vec<Range<u64>> {
        self.log.tally.iter().flat_map(CommittedTally::written_parts).collect()
    }

    /// Damage, apart from ranges whose payload is damaged.
    pub fn damage(&self) -> &JournalDamage {
        &self.log.damage
    }

    /// True if everything was restored and compared before.
    pub fn restored(&self) -> bool {
        self.log.restored
    }

    /// Salts of the stamps (test data with its address) that the run wrote. Empty in old journals.
    pub fn salts(&self) -> &[u64] {
        &self.log.salts
    }

    /// True if restoring had begun. Before that, overwritten places hold stamps. `None` in journals of versions that
    /// did not record it.
    pub fn restoring_begun(&self) -> Option<bool> {
        self.about.notes_putting_back.then_some(self.log.restore_step.is_some())
    }

    /// True if everything was written back, but not compared yet.
    pub fn written_back(&self) -> bool {
        self.log.restore_step == Some(RestoreProgress::Written)
    }

    /// True if the run certainly overwrote this range, because later batches were saved after it.
    pub fn overwrote(&self, saved: SavedRange) -> bool {
        let range = u32::try_from(saved.len).ok().and_then(|len| self.saved.get(&(saved.offset, len)));
        // `batch` is the next one. Of the newest two, one may be uncommitted and the other not written to the card yet.
        range.is_some_and(|(batch, _)| batch + 2 < self.log.batch)
    }

    /// Records the salt of the stamps that the run will write, by which the card is recognized. It is synced with the
    /// next batch.
    pub fn record_salt(&mut self, salt: u64) -> Result<(), JournalError> {
        let noted = self.append_record(RecordKind::Salt, (0, 0), 0, &salt.to_le_bytes());
        noted.map_err(|e| self.save_error(e))?;
        self.log.salts.push(salt);
        Ok(())
    }

    /// Removes the journal after everything was restored and compared.
    pub fn finish(mut self) -> Result<()> {
        self.unused = false;
        // If removing fails, this record keeps a later restore from overwriting newer data.
        let marked = self.append_record(RecordKind::Restored, (0, 0), 0, &[]).and_then(|()| self.sync());
        self.remove().map_err(|e| {
            let file = self.path.display();
            let text = format!("the data is restored, but the journal {file} cannot be removed: {e}");
            JournalFailure::io_for(text, e)
        })?;
        let _ = self.folder.sync();
        drop(marked);
        // A list that cannot be removed does no harm: it is only out of date.
        let _ = change_list::remove_list(&self.folder, &self.name);
        Ok(())
    }

    /// Writes the ranges to a list beside the journal and counts them; `None`, and an old list is removed, if there are
    /// none.
    pub fn save_change_list(&self, ranges: &[SavedRange]) -> Option<ChangedBlocks> {
        let changed = change_list::save_list(&self.folder, &self.name, &self.about.target, ranges);
        if changed.is_none() {
            let _ = change_list::remove_list(&self.folder, &self.name);
        }
        changed
    }

    /// True if the run certainly overwrote nothing.
    pub fn overwrote_nothing(&self) -> bool {
        self.saved.is_empty() && self.log.completeness == JournalCompleteness::Complete
    }

    fn append_record(&mut self, kind: RecordKind, at: (u64, u32), index: u32, data: &[u8]) -> io::Result<()> {
        self.write_record_at(self.log.end, (kind, index), at, data)?;
        self.log.end += (record::HEAD_BYTES + data.len()) as u64;
        Ok(())
    }

    fn write_record_at(
        &self,
        at: u64,
        (kind, index): (RecordKind, u32),
        (offset, len): (u64, u32),
        payload: &[u8],
    ) -> io::Result<()> {
        let crc = crc32c::crc32c(payload);
        let (nonce, batch) = (self.nonce, self.log.batch);
        let head = RecordHead { kind, payload: payload.len() as u32, offset, len, crc, nonce, batch, index };
        self.file.write_all_at(&head.encode(), at)?;
        self.file.write_all_at(payload, at + record::HEAD_BYTES as u64)
    }

    /// Records a step of restoring in a record set aside for it, or at the end of the file.
    fn record_restore_step(&mut self, step: RestoreProgress) -> io::Result<()> {
        let index = u32::from(step == RestoreProgress::Written);
        let kind = RecordKind::RestoreStep;
        match self.log.reserved_records.pop_front() {
            Some(at) if self.write_record_at(at, (kind, index), (0, 0), &[]).is_ok() => Ok(()),
            _ => self.append_record(kind, (0, 0), index, &[]),
        }
    }

    /// Adds a range of at most [`MAX_RANGE_BYTES`] bytes to the batch.
    fn save_range(&mut self, offset: u64, original: &[u8]) -> io::Result<()> {
        let len = original.len() as u32;
        let known = |e: &RangeEntry| (e.offset, e.len) == (offset, len);
        if self.saved.contains_key(&(offset, len)) || self.pending.iter().rev().take(8).any(known) {
            return Ok(());
        }
        let fill = constant_byte(original);
        let (kind, payload) = match fill {
            Some(_) => (RecordKind::Fill, &original[..1]),
            None => (RecordKind::Bytes, original),
        };
        let at = self.log.end + record::HEAD_BYTES as u64;
        if at + payload.len() as u64 > self.room_to {
            self.room_to = folder::next_space_check(&self.folder, at)?;
        }
        self.append_record(kind, (offset, len), self.pending.len() as u32, payload)?;
        self.pending.push(RangeEntry { offset, len, crc: crc32c::crc32c(payload), at, fill });
        Ok(())
    }

    /// Waits until the file is on disk. The wait is announced, because a slow disk makes the card look stuck.
    fn sync(&self) -> io::Result<()> {
        let call = format!("a sync of the journal {}", self.path.display());
        let _waiting = register_wait(PendingWait::Call(call.into()));
        self.file.sync_data()
    }

    fn commit_pending(&mut self) -> io::Result<()> {
        self.sync()?;
        let mut table = Vec::with_capacity(self.pending.len() * record::ENTRY_BYTES);
        self.pending.iter().for_each(|entry| entry.encode(&mut table));
        self.append_record(RecordKind::Commit, (0, self.pending.len() as u32), 0, &table)?;
        // The tally is written after its batch is on disk and before the card is written. The other page keeps the
        // previous tally, in case this write is torn.
        let mut tally = self.log.tally.clone().ok_or_else(|| io::Error::other("it is not under way"))?;
        tally.add_batch(&self.pending);
        self.file.write_all_at(&tally.encode(self.nonce), self.tallies_at + tally.page_offset())?;
        self.sync()?;
        self.log.tally = Some(tally);
        Ok(())
    }

    fn announce_cleanup(&self) {
        let bytes: u64 = self.saved.keys().map(|(_, len)| u64::from(*len)).sum();
        let path = shell_quote_path(&self.path);
        let leftover = format!("the card's data is saved in a journal: run `cardscope restore {path}`");
        if let Some(guard) = &self.cleanup_guard {
            let planned = format!("the {} saved are restored", DecimalSize(bytes));
            guard.update(PendingCleanup { planned, leftover, restore_bytes: bytes });
        }
    }

    fn save_error(&self, error: io::Error) -> JournalError {
        let words = format!(
            "the card's data could not be saved to the journal {}: {error}; all overwritten data is saved. \
             Free some space, or set XDG_STATE_HOME to a folder on another disk",
            self.path.display()
        );
        JournalError(ErrorCause::with_message(words, error))
    }
}

impl journal::JournalWriter for Journal {
    fn save(&mut self, offset: u64, original: &[u8]) -> Result<(), JournalError> {
        let mut at = offset;
        for part in original.chunks(MAX_RANGE_BYTES) {
            self.save_range(at, part).map_err(|e| self.save_error(e))?;
            at += part.len() as u64;
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), JournalError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        self.commit_pending().map_err(|e| self.save_error(e))?;
        for entry in std::mem::take(&mut self.pending) {
            self.saved.entry((entry.offset, entry.len)).or_insert((self.log.batch, entry));
        }
        self.unused = false;
        self.log.batch += 1;
        self.announce_cleanup();
        Ok(())
    }

    fn saved_ranges(&self) -> Vec<SavedRange> {
        let mut all: Vec<_> = self.saved.iter().map(|(at, (batch, _))| (Reverse(*batch), *at)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, (offset, len))| SavedRange { offset, len: u64::from(len) }).collect()
    }

    fn read_original(&mut self, saved: SavedRange, into: &mut Vec<u8>) -> Result<(), JournalError> {
        let SavedRange { offset, len } = saved;
        let entry = u32::try_from(len).ok().and_then(|len| self.saved.get(&(offset, len)));
        let unknown = || JournalError(format!("{len} bytes at {offset} are not in the journal").into());
        let (_, entry) = entry.ok_or_else(unknown)?;
        scan::read_original(&self.file, entry, into)
    }

    /// The first step must be on disk before anything is written. The second only saves a comparison, so it is not
    /// synced.
    fn record_restoring(&mut self, step: RestoreProgress) {
        let noted = self.record_restore_step(step);
        if step == RestoreProgress::Begun && noted.is_ok() {
            let _ = self.sync();
        }
        self.log.restore_step = Some(step);
    }
}

impl Drop for Journal {
    /// A journal that never had a commit protects nothing.
    fn drop(&mut self) {
        if self.unused {
            let _ = self.remove();
        }
    }
}
