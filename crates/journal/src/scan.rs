//! Opens a journal that was left behind, record by record. A torn end is normal after a crash; whatever else is not as
//! it was written is named, and the rest is used.

use crate::error::UnusableJournal;
use crate::folder;
use crate::record::{ENTRY, HEAD, JournalFacts, MAGIC, MAGIC_STEM, MOST, RangeEntry, RecordHead, RecordKind};
use crate::tally::CommittedTally;
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::journal::{JournalError, RestoreProgress};
use cardscope_files::{FileError, FileUse, ResolvedFolder, is_trusted};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

/// What of a journal is damaged in such a way that nobody can say which blocks were in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JournalDamage {
    /// Parts of the file that are no records: start and end.
    pub file_ranges: Vec<(u64, u64)>,
    /// Ranges of the card that are known to have been saved and are not found, at least.
    pub lost_ranges: u64,
    /// The end of the file, if it is no record: after a power cut that is normal, and nothing was overwritten yet.
    pub tail: Option<(u64, u64)>,
}

/// Whether a journal still has every range that it let be overwritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JournalCompleteness {
    /// All that it counted is there.
    Whole,
    /// Ranges are missing.
    Lacking,
    /// Nobody can say: its count is damaged, or it is of a version that kept none.
    #[default]
    Unknown,
}

/// What the records say, beside the ranges that they save.
#[derive(Debug, Default)]
pub(crate) struct JournalLog {
    pub(crate) salts: Vec<u64>,
    /// How far putting back had come, where it had begun.
    pub(crate) put_back: Option<RestoreProgress>,
    /// Where it can be noted without room on the disk, first place first.
    pub(crate) set_aside: VecDeque<u64>,
    pub(crate) restored: bool,
    /// The batch under way.
    pub(crate) batch: u32,
    pub(crate) damage: JournalDamage,
    pub(crate) completeness: JournalCompleteness,
    /// The newest tally that can be read.
    pub(crate) tally: Option<CommittedTally>,
    /// Where the last valid record ends, and the next one goes.
    pub(crate) end: u64,
}

/// What a pass over the file found.
#[derive(Debug, Default)]
pub(crate) struct JournalScan {
    pub(crate) about: Option<JournalFacts>,
    pub(crate) nonce: Option<u64>,
    /// By number, in whatever order they are in the file.
    pub(crate) batches: BTreeMap<u32, ScannedBatch>,
    pub(crate) log: JournalLog,
    /// Tallies that can be read.
    tallies: u32,
}

/// What was found of a batch.
#[derive(Debug, Default)]
pub(crate) struct ScannedBatch {
    /// Ranges by their place in the batch, each by a record of its own.
    found: BTreeMap<u32, RangeEntry>,
    /// Ranges that it has by its commit record.
    committed: Option<u32>,
    /// The commit record's table: a second copy of every range's head.
    table: Vec<RangeEntry>,
}

impl ScannedBatch {
    /// The table wins, but for where in the file a range is: records may have moved together where others were lost.
    pub(crate) fn entries(&self) -> Vec<RangeEntry> {
        if self.table.is_empty() {
            return self.found.values().copied().collect();
        }
        let moved = |(index, entry): (u32, &RangeEntry)| {
            let found =
                self.found.get(&index).filter(|found| RangeEntry { at: entry.at, ..**found } == *entry);
            found.copied().unwrap_or(*entry)
        };
        (0..).zip(&self.table).map(moved).collect()
    }

    /// Ranges that it had for sure and that nothing is known of.
    fn lost(&self) -> u64 {
        let there = self.table.len().max(self.found.len()) as u64;
        let last = self.found.last_key_value().map_or(0, |(index, _)| u64::from(*index) + 1);
        self.committed.map_or(last, u64::from).max(last).saturating_sub(there)
    }
}

/// Windows in which a valid head is looked for, overlapping by one head.
const WINDOW: usize = 1 << 16;

/// Tries to take a journal, 10 ms apart.
const LOCK_TRIES: u32 = 30;

/// Opens, locks and reads a journal.
pub(crate) fn open(path: &Path) -> Result<(File, ResolvedFolder, OsString, JournalScan), UnusableJournal> {
    let refused = |why: ErrorCause| UnusableJournal::Unknown(why).in_file(path);
    let cannot = |e: FileError| refused(ErrorCause::worded(format!("the journal cannot be opened: {e}"), e));
    let (folder, name) = ResolvedFolder::of_file(path).map_err(cannot)?;
    let file = folder.open_file(&name, FileUse::Write).map_err(cannot)?;
    must_be_ours(&file).map_err(|e| {
        let why =
            format!("the journal was refused: {e}. Restore it as that user, or copy it if you trust it");
        refused(ErrorCause::worded(why, e))
    })?;
    lock(&file).map_err(|why| why.in_file(path))?;
    known_version(&file).map_err(&refused)?;
    let scan = scan(&file)
        .map_err(|e| refused(ErrorCause::worded(format!("the journal cannot be read: {e}"), e)))?;
    Ok((file, folder, name, scan))
}

/// Reads a journal that may be held by a run that goes on.
pub(crate) fn look(path: &Path) -> Option<JournalScan> {
    let file = cardscope_files::open(path, FileUse::Read).ok()?;
    must_be_ours(&file).ok()?;
    known_version(&file).ok()?;
    scan(&file).ok()
}

/// What another user wrote may be put there to be written to a card.
pub(crate) fn must_be_ours(file: &File) -> Result<(), FileError> {
    match file.metadata()?.uid() {
        owner if is_trusted(owner) => Ok(()),
        owner => Err(FileError::Foreign { owner }),
    }
}

/// Takes the lock that a run holds on its journal. A process that just died may be held by the kernel for a moment.
fn lock(file: &File) -> Result<(), UnusableJournal> {
    let mut tries = LOCK_TRIES;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if tries > 0 => tries -= 1,
            Err(TryLockError::WouldBlock) => {
                return Err(UnusableJournal::Running(
                    "the run that writes this journal is still active; wait for it, or end it".into(),
                ));
            }
            Err(TryLockError::Error(e)) => {
                return Err(UnusableJournal::Unknown(ErrorCause::worded(
                    format!("the journal cannot be locked: {e}"),
                    e,
                )));
            }
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// True where a file begins as journals do.
pub fn is_journal(path: &Path) -> bool {
    let begins = |file: File| {
        let mut start = [0; MAGIC_STEM.len()];
        file.read_exact_at(&mut start, 0).is_ok() && start == MAGIC_STEM
    };
    let named = || {
        path.parent().is_some_and(|folder| folder::folder().is_ok_and(|ours| folder == ours))
            && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(folder::PREFIX))
    };
    // A damaged first line of a file that lies where journals lie is no reason to lose what is in it.
    match cardscope_files::open(path, FileUse::Read) {
        Ok(file) => begins(file) || named(),
        // Opening it says why.
        Err(FileError::Link | FileError::ForeignLink { .. }) => true,
        Err(_) => path.is_file() && named(),
    }
}

fn known_version(file: &File) -> Result<(), ErrorCause> {
    let mut start = [0; 2 * MAGIC.len()];
    // What cannot be read may be a journal of any version.
    let read = file
        .read_at(&mut start, 0)
        .map_err(|e| ErrorCause::worded(format!("the journal cannot be read: {e}"), e))?;
    let Some(rest) = start[..read].strip_prefix(MAGIC_STEM) else { return Ok(()) };
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

fn scan(file: &File) -> std::io::Result<JournalScan> {
    let len = file.metadata()?.len();
    let mut scan = JournalScan::default();
    scan.log.end = MAGIC.len() as u64;
    let (mut at, mut resume) = (scan.log.end, scan.log.end);
    loop {
        // Where no record follows, bytes of the one before may be missing, and the next one begins within it.
        let from =
            if head_at(file, at, len)?.is_some_and(|head| fits(&head, scan.nonce)) { at } else { resume };
        let Some((found, head)) = next_head(file, from, len, scan.nonce)? else { break };
        if found > at {
            scan.log.damage.file_ranges.push((at, found));
        }
        resume = found + HEAD as u64;
        at = resume + u64::from(head.payload);
        scan.record(file, resume, head, at <= len)?;
    }
    scan.close(at, len);
    Ok(scan)
}

fn fits(head: &RecordHead, nonce: Option<u64>) -> bool {
    nonce.is_none_or(|nonce| nonce == head.nonce)
}

fn head_at(file: &File, at: u64, len: u64) -> std::io::Result<Option<RecordHead>> {
    if at.saturating_add(HEAD as u64) > len {
        return Ok(None);
    }
    let mut bytes = [0; HEAD];
    read(file, &mut bytes, at)?;
    Ok(RecordHead::decode(&bytes))
}

/// Bytes that a disk cannot read by themselves.
const DISK_BLOCK: usize = 4096;

/// Reads as much as the disk gives; what it cannot read is zero here, and found by the checksums.
fn read(file: &File, into: &mut [u8], at: u64) -> std::io::Result<()> {
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

/// The next valid head from `at` on, and where it is.
fn next_head(
    file: &File,
    at: u64,
    len: u64,
    nonce: Option<u64>,
) -> std::io::Result<Option<(u64, RecordHead)>> {
    let mut window = vec![0; HEAD];
    let mut start = at;
    while start + HEAD as u64 <= len {
        let here = window.len().min((len - start) as usize);
        read(file, &mut window[..here], start)?;
        for offset in 0..=here - HEAD {
            if let Some(head) = RecordHead::decode(&window[offset..]).filter(|head| fits(head, nonce)) {
                return Ok(Some((start + offset as u64, head)));
            }
        }
        start += (here - HEAD + 1) as u64;
        window.resize(WINDOW, 0);
    }
    Ok(None)
}

impl JournalScan {
    /// Takes one record whose head is valid; `whole` tells whether the file has all of its payload.
    fn record(&mut self, file: &File, at: u64, head: RecordHead, whole: bool) -> std::io::Result<()> {
        if whole {
            self.log.end = at + u64::from(head.payload);
        }
        self.nonce.get_or_insert(head.nonce);
        match head.kind {
            // Of a commit that is not whole the head tells how many ranges there are.
            RecordKind::Commit if !whole => self.commit(head, None),
            _ if !whole => {}
            RecordKind::About => {
                let about = valid_payload(file, at, head)?.and_then(|p| serde_json::from_slice(&p).ok());
                self.about = self.about.take().or(about);
            }
            RecordKind::Salt => {
                let salt = valid_payload(file, at, head)?.and_then(|p| p.try_into().ok());
                self.log.salts.extend(salt.map(u64::from_le_bytes));
            }
            RecordKind::Tally => self.tally(head, valid_payload(file, at, head)?),
            RecordKind::PutBack => {
                let begun = head.index == 0;
                self.log.put_back =
                    Some(if begun { RestoreProgress::Begun } else { RestoreProgress::Written });
                // The last one in the file is the newest: what is noted from now on comes behind it.
                self.log.set_aside.clear();
            }
            RecordKind::Room => self.log.set_aside.push_back(at - HEAD as u64),
            RecordKind::Restored => self.log.restored = true,
            RecordKind::Bytes | RecordKind::Fill if head.len as usize > MOST => {}
            RecordKind::Bytes | RecordKind::Fill => self.range(file, at, head)?,
            RecordKind::Commit => self.commit(head, valid_payload(file, at, head)?),
        }
        Ok(())
    }

    fn range(&mut self, file: &File, at: u64, head: RecordHead) -> std::io::Result<()> {
        let mut byte = [0];
        let fill = match head.kind {
            RecordKind::Fill => {
                read(file, &mut byte, at)?;
                Some(byte[0])
            }
            _ => None,
        };
        let entry = RangeEntry { offset: head.offset, len: head.len, crc: head.crc, at, fill };
        self.batches.entry(head.batch).or_default().found.insert(head.index, entry);
        Ok(())
    }

    /// A batch is committed again with more ranges where the first attempt failed.
    fn commit(&mut self, head: RecordHead, table: Option<Vec<u8>>) {
        let batch = self.batches.entry(head.batch).or_default();
        batch.committed = batch.committed.max(Some(head.len));
        let (entries, _) = table.as_deref().unwrap_or_default().as_chunks::<ENTRY>();
        if entries.len() > batch.table.len() {
            batch.table = entries.iter().map(RangeEntry::decode).collect();
        }
    }

    fn tally(&mut self, head: RecordHead, map: Option<Vec<u8>>) {
        let Some(tally) = map.and_then(|map| CommittedTally::decode(&head, map)) else { return };
        self.tallies += 1;
        if self.log.tally.as_ref().is_none_or(|known| known.batches <= tally.batches) {
            self.log.tally = Some(tally);
        }
    }

    /// The end of the file, where the last valid record would end at `at`. A batch without a commit was most likely not
    /// overwritten, and then the card holds what is in it: putting that back does no harm. If its commit was lost to
    /// damage, it is needed.
    fn close(&mut self, at: u64, len: u64) {
        if at <= len && len - at >= HEAD as u64 {
            self.log.damage.tail = Some((at, len));
        }
        let seen = self.batches.last_key_value().map_or(0, |(number, _)| *number);
        let counted = self.log.tally.as_ref().map_or(0, |tally| tally.batches);
        self.log.batch = seen.max(counted.saturating_sub(1));
        self.log.damage.lost_ranges = self.lost(at > len);
        self.log.completeness = self.completeness();
    }

    /// Ranges that are missing, at least. `torn` tells that the file ends within a record, as after any crash.
    fn lost(&self, torn: bool) -> u64 {
        let Some((last, newest)) = self.batches.last_key_value() else {
            return self.log.tally.as_ref().map_or(0, |tally| tally.ranges.into());
        };
        let counted = self.log.tally.as_ref().map_or(0, |tally| tally.batches);
        // A batch that is neither committed nor counted was not overwritten, whatever is missing of it.
        let is_open = newest.committed.is_none() && *last >= counted;
        let spared = if is_open && (torn || self.tallies == 2) { newest.lost() } else { 0 };
        // A later batch shows that those before it were committed: of one that is not found a range at least is lost.
        let absent = u64::from(*last) + 1 - self.batches.len() as u64;
        let by_records = self.batches.values().map(ScannedBatch::lost).sum::<u64>() - spared + absent;
        let found: u64 = self.batches.range(..counted).map(|(_, batch)| batch.entries().len() as u64).sum();
        let by_count =
            self.log.tally.as_ref().map_or(0, |tally| u64::from(tally.ranges).saturating_sub(found));
        by_records.max(by_count)
    }

    fn completeness(&self) -> JournalCompleteness {
        let keeps_tally = self.about.as_ref().is_some_and(|about| about.keeps_tally);
        let counted = self.log.tally.as_ref().map_or(0, |tally| tally.batches);
        // One of the two was perhaps torn while the batch behind the other was committed: its commit record tells.
        let is_committed = || self.batches.get(&counted).is_some_and(|batch| batch.committed.is_some());
        match self.tallies {
            _ if self.log.damage.lost_ranges > 0 => JournalCompleteness::Lacking,
            2 if keeps_tally => JournalCompleteness::Whole,
            1 if keeps_tally && is_committed() => JournalCompleteness::Whole,
            _ => JournalCompleteness::Unknown,
        }
    }
}

fn valid_payload(file: &File, at: u64, head: RecordHead) -> std::io::Result<Option<Vec<u8>>> {
    let mut payload = vec![0; head.payload as usize];
    read(file, &mut payload, at)?;
    Ok((crc32c::crc32c(&payload) == head.crc).then_some(payload))
}

/// The original of a range, checked.
pub(crate) fn payload(file: &File, entry: &RangeEntry, into: &mut Vec<u8>) -> Result<(), JournalError> {
    let stored = if entry.fill.is_some() { 1 } else { entry.len as usize };
    into.clear();
    into.resize(stored, 0);
    let place = format!("{} bytes of the card at {}", entry.len, entry.offset);
    file.read_exact_at(into, entry.at).map_err(|e| {
        JournalError(ErrorCause::worded(format!("{place} cannot be read from the journal: {e}"), e))
    })?;
    if crc32c::crc32c(into) != entry.crc {
        return Err(JournalError(format!("{place} are damaged in the journal (wrong checksum)").into()));
    }
    if entry.fill.is_some() {
        // The byte that was checked, not the copy of it in the entry.
        let byte = into[0];
        into.clear();
        into.resize(entry.len as usize, byte);
    }
    Ok(())
}
