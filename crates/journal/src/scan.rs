//! Reads an existing journal record by record. A torn end is normal after a crash; other damage is reported, and the
//! rest of the journal is used.

use crate::UnusableJournal;
use crate::folder;
use crate::record::{ENTRY_BYTES, HEAD_BYTES, MAGIC, MAGIC_PREFIX, MAX_RANGE_BYTES};
use crate::record::{JournalFacts, RangeEntry, RecordHead, RecordKind};
use crate::tally::CommittedTally;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::journal::{JournalError, RestoreProgress};
use cardscope_files::{FileError, FileUse, ResolvedFolder, require_trusted_owner};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

/// Damage after which it is unknown which ranges were in the damaged part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalDamage {
    /// Parts of the file without valid records: start and end.
    pub file_ranges: Vec<(u64, u64)>,
    /// Minimum number of saved ranges that are missing.
    pub lost_ranges: u64,
    /// Invalid end of the file. Normal after a power cut, before which nothing of it was overwritten.
    pub tail: Option<(u64, u64)>,
}

/// Answer to whether a journal still has every range that was overwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JournalCompleteness {
    Complete,
    Incomplete,
    /// Its tally is damaged, or was not kept in its version.
    #[default]
    Unknown,
}

#[derive(Debug, Default)]
pub(crate) struct JournalLog {
    pub(crate) salts: Vec<u64>,
    /// Last recorded step of restoring, if it had begun.
    pub(crate) restore_step: Option<RestoreProgress>,
    /// Offsets of the records in which a step can be recorded even on a full disk, in order.
    pub(crate) reserved_records: VecDeque<u64>,
    pub(crate) restored: bool,
    /// Number of the newest batch, or of the next one while a test runs.
    pub(crate) batch: u32,
    pub(crate) damage: JournalDamage,
    pub(crate) completeness: JournalCompleteness,
    pub(crate) tally: Option<CommittedTally>,
    /// Offset at which the next record is appended.
    pub(crate) end: u64,
}

#[derive(Debug, Default)]
pub(crate) struct JournalScan {
    pub(crate) about: Option<JournalFacts>,
    pub(crate) nonce: Option<u64>,
    /// Batches by number. Their order in the file does not matter.
    pub(crate) batches: BTreeMap<u32, ScannedBatch>,
    pub(crate) log: JournalLog,
    tallies: u32,
}

#[derive(Debug, Default)]
pub(crate) struct ScannedBatch {
    /// Ranges with a valid record of their own, by index in the batch.
    found: BTreeMap<u32, RangeEntry>,
    /// Number of ranges that the commit record states.
    committed: Option<u32>,
    /// Table of the commit record: a second copy of every range's header.
    table: Vec<RangeEntry>,
}

impl ScannedBatch {
    /// Entries of the table, but with the offsets at which records were found: damage can shift records in the file.
    pub(crate) fn entries(&self) -> Vec<RangeEntry> {
        if self.table.is_empty() {
            return self.found.values().copied().collect();
        }
        let moved = |(index, entry): (u32, &RangeEntry)| {
            let is_same = |other: &&RangeEntry| RangeEntry { at: entry.at, ..**other } == *entry;
            *self.found.get(&index).filter(is_same).unwrap_or(entry)
        };
        (0..).zip(&self.table).map(moved).collect()
    }

    /// Number of ranges that certainly existed and are missing.
    fn missing_ranges(&self) -> u64 {
        let there = self.table.len().max(self.found.len()) as u64;
        let last = self.found.last_key_value().map_or(0, |(index, _)| u64::from(*index) + 1);
        self.committed.map_or(last, u64::from).max(last).saturating_sub(there)
    }
}

/// Bytes of a window in the search for a valid header. Windows overlap by one header.
const WINDOW: usize = 1 << 16;

/// Attempts to lock a journal, 10 ms apart.
const LOCK_TRIES: u32 = 30;

pub(crate) fn open_locked(
    path: &Path,
) -> Result<(File, ResolvedFolder, OsString, JournalScan), UnusableJournal> {
    let open = || {
        let cannot = |e| UnusableJournal::unknown_for(format!("the journal cannot be opened: {e}"), e);
        let (folder, name) = ResolvedFolder::parent_of(path).map_err(cannot)?;
        let file = folder.open_file(&name, FileUse::Write).map_err(cannot)?;
        require_trusted_owner(&file).map_err(|e| {
            let advice = "Restore it as that user, or copy it if you trust it";
            UnusableJournal::unknown_for(format!("the journal was refused: {e}. {advice}"), e)
        })?;
        lock_file(&file)?;
        check_version(&file).map_err(UnusableJournal::Unknown)?;
        let scan = scan_file(&file)
            .map_err(|e| UnusableJournal::unknown_for(format!("the journal cannot be read: {e}"), e))?;
        Ok((file, folder, name, scan))
    };
    open().map_err(|why: UnusableJournal| why.in_file(path))
}

/// Reads a journal that may be in use, without locking it.
pub(crate) fn read_unlocked(path: &Path) -> Option<JournalScan> {
    let file = cardscope_files::open_file(path, FileUse::Read).ok()?;
    require_trusted_owner(&file).ok()?;
    check_version(&file).ok()?;
    scan_file(&file).ok()
}

/// Locks the journal. The kernel can hold the lock of a process that just died for a short time, so this is retried.
fn lock_file(file: &File) -> Result<(), UnusableJournal> {
    for _ in 0..=LOCK_TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            Err(TryLockError::Error(e)) => {
                return Err(UnusableJournal::unknown_for(format!("the journal cannot be locked: {e}"), e));
            }
        }
    }
    let why = "the run that writes this journal is still active; wait for it, or end it";
    Err(UnusableJournal::Running(why.into()))
}

/// True if a file begins like a journal, or lies where journals lie with the name of one.
pub fn is_journal(path: &Path) -> bool {
    let begins = |file: File| {
        let mut start = [0; MAGIC_PREFIX.len()];
        file.read_exact_at(&mut start, 0).is_ok() && start == MAGIC_PREFIX
    };
    let named = || {
        path.parent().is_some_and(|folder| folder::journal_folder().is_ok_and(|ours| folder == ours))
            && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(folder::PREFIX))
    };
    // A damaged first line must not make the rest of a journal useless.
    match cardscope_files::open_file(path, FileUse::Read) {
        Ok(file) => begins(file) || named(),
        // Opening the journal reports the reason.
        Err(FileError::Link | FileError::ForeignLink { .. }) => true,
        Err(_) => path.is_file() && named(),
    }
}

fn check_version(file: &File) -> Result<(), ErrorCause> {
    let mut start = [0; 2 * MAGIC.len()];
    // An empty or damaged version may be any version; the records decide.
    let unreadable = |e| ErrorCause::with_message(format!("the journal cannot be read: {e}"), e);
    let read = file.read_at(&mut start, 0).map_err(unreadable)?;
    let Some(rest) = start[..read].strip_prefix(MAGIC_PREFIX) else { return Ok(()) };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    match &rest[..digits] {
        b"" | b"1" => Ok(()),
        _ if rest.get(digits) != Some(&b'\n') => Ok(()),
        version => Err(format!(
            "the journal has version {}, and this Cardscope knows version 1; use the one that wrote it",
            String::from_utf8_lossy(version)
        )
        .into()),
    }
}

fn scan_file(file: &File) -> io::Result<JournalScan> {
    let len = file.metadata()?.len();
    let mut scan = JournalScan::default();
    scan.log.end = MAGIC.len() as u64;
    let (mut at, mut resume) = (scan.log.end, scan.log.end);
    loop {
        // If no record follows, the previous one may have lost bytes, and the next may begin inside it.
        let follows = read_head_at(file, at, len)?.is_some_and(|head| has_nonce(&head, scan.nonce));
        let from = if follows { at } else { resume };
        let Some((found, head)) = find_head(file, from, len, scan.nonce)? else { break };
        if found > at {
            scan.log.damage.file_ranges.push((at, found));
        }
        resume = found + HEAD_BYTES as u64;
        at = resume + u64::from(head.payload);
        scan.add_record(file, resume, head, at <= len)?;
    }
    scan.evaluate_end(at, len);
    Ok(scan)
}

fn has_nonce(head: &RecordHead, nonce: Option<u64>) -> bool {
    nonce.is_none_or(|nonce| nonce == head.nonce)
}

fn read_head_at(file: &File, at: u64, len: u64) -> io::Result<Option<RecordHead>> {
    if at.saturating_add(HEAD_BYTES as u64) > len {
        return Ok(None);
    }
    let mut bytes = [0; HEAD_BYTES];
    read_or_zero(file, &mut bytes, at)?;
    Ok(RecordHead::decode(&bytes))
}

/// Bytes that a disk reads or fails as one.
const DISK_BLOCK: usize = 4096;

/// Reads what the disk returns. Unreadable blocks become zeros, which fail their checksums.
fn read_or_zero(file: &File, into: &mut [u8], at: u64) -> io::Result<()> {
    match file.read_exact_at(into, at) {
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => {}
        done => return done,
    }
    let ahead = (at.next_multiple_of(DISK_BLOCK as u64) - at) as usize;
    let (first, rest) = into.split_at_mut(ahead.min(into.len()));
    let rest_at = at + first.len() as u64;
    let blocks = rest.chunks_mut(DISK_BLOCK).zip((rest_at..).step_by(DISK_BLOCK));
    for (block, at) in std::iter::once((first, at)).chain(blocks) {
        if file.read_exact_at(block, at).is_err() {
            block.fill(0);
        }
    }
    Ok(())
}

/// Returns the next valid header from `at` on, with its offset.
fn find_head(file: &File, at: u64, len: u64, nonce: Option<u64>) -> io::Result<Option<(u64, RecordHead)>> {
    let (mut window, mut start) = (vec![0; HEAD_BYTES], at);
    while start + HEAD_BYTES as u64 <= len {
        let here = window.len().min((len - start) as usize);
        read_or_zero(file, &mut window[..here], start)?;
        for offset in 0..=here - HEAD_BYTES {
            if let Some(head) = RecordHead::decode(&window[offset..]).filter(|head| has_nonce(head, nonce)) {
                return Ok(Some((start + offset as u64, head)));
            }
        }
        start += (here - HEAD_BYTES + 1) as u64;
        window.resize(WINDOW, 0);
    }
    Ok(None)
}

impl JournalScan {
    /// Adds a record with a valid header. `whole` is true if the file has all of its payload.
    fn add_record(&mut self, file: &File, at: u64, head: RecordHead, whole: bool) -> io::Result<()> {
        if whole {
            self.log.end = at + u64::from(head.payload);
        }
        self.nonce.get_or_insert(head.nonce);
        match head.kind {
            // The header of an incomplete commit record still states the number of ranges.
            RecordKind::Commit if !whole => self.add_commit(head, None),
            _ if !whole => {}
            RecordKind::Header => {
                let about = read_valid_payload(file, at, head)?.and_then(|p| serde_json::from_slice(&p).ok());
                self.about = self.about.take().or(about);
            }
            RecordKind::Salt => {
                let salt = read_valid_payload(file, at, head)?.and_then(|p| p.try_into().ok());
                self.log.salts.extend(salt.map(u64::from_le_bytes));
            }
            RecordKind::Tally => self.add_tally(head, read_valid_payload(file, at, head)?),
            RecordKind::RestoreStep => {
                let steps = [RestoreProgress::Begun, RestoreProgress::Written];
                self.log.restore_step = Some(steps[usize::from(head.index != 0)]);
                // The newest record is the last in the file, so later ones must be appended.
                self.log.reserved_records.clear();
            }
            RecordKind::Reserved => self.log.reserved_records.push_back(at - HEAD_BYTES as u64),
            RecordKind::Restored => self.log.restored = true,
            RecordKind::Bytes | RecordKind::Fill if head.len as usize > MAX_RANGE_BYTES => {}
            RecordKind::Bytes | RecordKind::Fill => self.add_range(file, at, head)?,
            RecordKind::Commit => self.add_commit(head, read_valid_payload(file, at, head)?),
        }
        Ok(())
    }

    fn add_range(&mut self, file: &File, at: u64, head: RecordHead) -> io::Result<()> {
        let mut byte = [0];
        if head.kind == RecordKind::Fill {
            read_or_zero(file, &mut byte, at)?;
        }
        let fill = (head.kind == RecordKind::Fill).then_some(byte[0]);
        let entry = RangeEntry { offset: head.offset, len: head.len, crc: head.crc, at, fill };
        self.batches.entry(head.batch).or_default().found.insert(head.index, entry);
        Ok(())
    }

    /// Adds a commit record. A batch has two of them if the first commit failed; the larger counts.
    fn add_commit(&mut self, head: RecordHead, table: Option<Vec<u8>>) {
        let batch = self.batches.entry(head.batch).or_default();
        batch.committed = batch.committed.max(Some(head.len));
        let (entries, _) = table.as_deref().unwrap_or_default().as_chunks::<ENTRY_BYTES>();
        if entries.len() > batch.table.len() {
            batch.table = entries.iter().map(RangeEntry::decode).collect();
        }
    }

    fn add_tally(&mut self, head: RecordHead, map: Option<Vec<u8>>) {
        let Some(tally) = map.and_then(|map| CommittedTally::decode(&head, map)) else { return };
        self.tallies += 1;
        if self.log.tally.as_ref().is_none_or(|known| known.batches <= tally.batches) {
            self.log.tally = Some(tally);
        }
    }

    /// Evaluates the end of the file, where the last record should end at `at`. A batch without a commit record was
    /// most likely not overwritten, and restoring it is harmless. If the record was lost to damage, the batch is
    /// needed.
    fn evaluate_end(&mut self, at: u64, len: u64) {
        if at <= len && len - at >= HEAD_BYTES as u64 {
            self.log.damage.tail = Some((at, len));
        }
        let seen = self.batches.last_key_value().map_or(0, |(number, _)| *number);
        let counted = self.log.tally.as_ref().map_or(0, |tally| tally.batches);
        self.log.batch = seen.max(counted.saturating_sub(1));
        self.log.damage.lost_ranges = self.count_missing(at > len);
        self.log.completeness = self.completeness();
    }

    /// Minimum number of missing ranges. `torn` is true if the file ends within a record, as after a crash.
    fn count_missing(&self, torn: bool) -> u64 {
        let tally = self.log.tally.as_ref();
        let (counted, ranges) = tally.map_or((0, 0), |tally| (tally.batches, u64::from(tally.ranges)));
        let Some((last, newest)) = self.batches.last_key_value() else { return ranges };
        // A batch that is neither committed nor counted was not overwritten, so its gaps do not matter.
        let is_open = newest.committed.is_none() && *last >= counted;
        let spared = if is_open && (torn || self.tallies == 2) { newest.missing_ranges() } else { 0 };
        // A later batch proves that earlier ones were committed, so each absent batch lost at least one range.
        let absent = u64::from(*last) + 1 - self.batches.len() as u64;
        let missing: u64 = self.batches.values().map(ScannedBatch::missing_ranges).sum();
        let there: u64 = self.batches.range(..counted).map(|(_, batch)| batch.entries().len() as u64).sum();
        (missing - spared + absent).max(ranges.saturating_sub(there))
    }

    fn completeness(&self) -> JournalCompleteness {
        let keeps_tally = self.about.as_ref().is_some_and(|about| about.keeps_tally);
        let counted = self.log.tally.as_ref().map_or(0, |tally| tally.batches);
        // One tally may have been torn while the batch after the other was committed; its commit record shows that.
        let is_committed = || self.batches.get(&counted).is_some_and(|batch| batch.committed.is_some());
        match self.tallies {
            _ if self.log.damage.lost_ranges > 0 => JournalCompleteness::Incomplete,
            2 if keeps_tally => JournalCompleteness::Complete,
            1 if keeps_tally && is_committed() => JournalCompleteness::Complete,
            _ => JournalCompleteness::Unknown,
        }
    }
}

fn read_valid_payload(file: &File, at: u64, head: RecordHead) -> io::Result<Option<Vec<u8>>> {
    let mut payload = vec![0; head.payload as usize];
    read_or_zero(file, &mut payload, at)?;
    Ok((crc32c::crc32c(&payload) == head.crc).then_some(payload))
}

/// Reads the original of a range and checks it.
pub(crate) fn read_original(file: &File, entry: &RangeEntry, into: &mut Vec<u8>) -> Result<(), JournalError> {
    let stored = if entry.fill.is_some() { 1 } else { entry.len as usize };
    into.clear();
    into.resize(stored, 0);
    let place = format!("{} bytes of the card at {}", entry.len, entry.offset);
    if let Err(e) = file.read_exact_at(into, entry.at) {
        let text = format!("{place} cannot be read from the journal: {e}");
        return Err(JournalError(ErrorCause::with_message(text, e)));
    }
    if crc32c::crc32c(into) != entry.crc {
        return Err(JournalError(format!("{place} are damaged in the journal (wrong checksum)").into()));
    }
    if entry.fill.is_some() {
        // Uses the byte that the checksum covers, not its copy in the entry.
        let byte = into[0];
        into.clear();
        into.resize(entry.len as usize, byte);
    }
    Ok(())
}
