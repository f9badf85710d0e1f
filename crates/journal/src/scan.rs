//! Opens a journal that was left behind, record by record. A torn end is normal after a crash; whatever else is not as
//! it was written is named, and the rest is used.

use crate::error::Unusable;
use crate::folder;
use crate::record::{About, ENTRY, Entry, HEAD, Head, Kind, MAGIC, MAGIC_STEM, MOST};
use cardscope_engine::cause::Cause;
use cardscope_engine::journal::{JournalError, Restoring};
use cardscope_files::{FileError, Folder, Use, is_trusted};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::Duration;

/// What of a journal is damaged in such a way that nobody can say which blocks were in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Damage {
    /// Parts of the file that are no records: start and end.
    pub file_ranges: Vec<(u64, u64)>,
    /// Ranges of the card that are known to have been saved and are not found.
    pub lost_ranges: u64,
    /// The end of the file, if it is no record: after a power cut that is normal, and nothing was overwritten yet.
    pub tail: Option<(u64, u64)>,
}

/// What the records say, beside the ranges that they save.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) salts: Vec<u64>,
    /// How far putting back had come, where it had begun.
    pub(crate) put_back: Option<Restoring>,
    /// Where it can be noted without room on the disk, first place first.
    pub(crate) set_aside: VecDeque<u64>,
    pub(crate) restored: bool,
    /// The batch under way.
    pub(crate) batch: u32,
    pub(crate) damage: Damage,
    /// Where the last valid record ends, and the next one goes.
    pub(crate) end: u64,
}

/// What a pass over the file found.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    pub(crate) about: Option<About>,
    pub(crate) nonce: Option<u64>,
    pub(crate) batches: Vec<(u32, Vec<Entry>)>,
    pub(crate) log: Log,
    /// Of the batch whose commit was not met yet, by their place in it.
    open: BTreeMap<u32, Entry>,
}

/// Windows in which a valid head is looked for, overlapping by one head.
const WINDOW: usize = 1 << 16;

/// Tries to take a journal, 10 ms apart.
const LOCK_TRIES: u32 = 30;

/// Opens, locks and reads a journal.
pub(crate) fn open(path: &Path) -> Result<(File, Folder, OsString, Scan), Unusable> {
    let refused = |why: Cause| Unusable::Unknown(why).in_file(path);
    let cannot = |e: FileError| refused(Cause::worded(format!("the journal cannot be opened: {e}"), e));
    let (folder, name) = Folder::of_file(path).map_err(cannot)?;
    let file = folder.open_file(&name, Use::Write).map_err(cannot)?;
    must_be_ours(&file).map_err(|e| {
        let why =
            format!("the journal was refused: {e}. Restore it as that user, or copy it if you trust it");
        refused(Cause::worded(why, e))
    })?;
    lock(&file).map_err(|why| why.in_file(path))?;
    known_version(&file).map_err(|why| refused(why.into()))?;
    let scan =
        scan(&file).map_err(|e| refused(Cause::worded(format!("the journal cannot be read: {e}"), e)))?;
    Ok((file, folder, name, scan))
}

/// Reads a journal that may be held by a run that goes on.
pub(crate) fn look(path: &Path) -> Option<Scan> {
    let file = cardscope_files::open(path, Use::Read).ok()?;
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
fn lock(file: &File) -> Result<(), Unusable> {
    let mut tries = LOCK_TRIES;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if tries > 0 => tries -= 1,
            Err(TryLockError::WouldBlock) => {
                return Err(Unusable::Running(
                    "the run that writes this journal is still active; wait for it, or end it".into(),
                ));
            }
            Err(TryLockError::Error(e)) => {
                return Err(Unusable::Unknown(Cause::worded(
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
    match cardscope_files::open(path, Use::Read) {
        Ok(file) => begins(file) || named(),
        // Opening it says why.
        Err(FileError::Link | FileError::ForeignLink { .. }) => true,
        Err(_) => path.is_file() && named(),
    }
}

fn known_version(file: &File) -> Result<(), String> {
    let mut start = [0; 2 * MAGIC.len()];
    let read = file.read_at(&mut start, 0).unwrap_or_default();
    let Some(rest) = start[..read].strip_prefix(MAGIC_STEM) else { return Ok(()) };
    let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    match &rest[..digits] {
        b"" | b"1" => Ok(()),
        _ if rest.get(digits) != Some(&b'\n') => Ok(()),
        version => Err(format!(
            "the journal has version {}, and this Cardscope knows version 1; use the one that wrote it",
            String::from_utf8_lossy(version)
        )),
    }
}

fn scan(file: &File) -> std::io::Result<Scan> {
    let len = file.metadata()?.len();
    let mut scan = Scan::default();
    scan.log.end = MAGIC.len() as u64;
    let mut at = scan.log.end;
    while let Some((found, head)) = next_head(file, at, len, scan.nonce)? {
        if found > at {
            scan.log.damage.file_ranges.push((at, found));
        }
        at = found + (HEAD as u64) + u64::from(head.payload);
        scan.record(file, found + HEAD as u64, head, at <= len)?;
    }
    scan.close(at, len);
    Ok(scan)
}

/// The next valid head from `at` on, and where it is.
fn next_head(file: &File, at: u64, len: u64, nonce: Option<u64>) -> std::io::Result<Option<(u64, Head)>> {
    let fits = |head: &Head| nonce.is_none_or(|n| n == head.nonce);
    let mut window = vec![0; HEAD];
    let mut start = at;
    while start + HEAD as u64 <= len {
        let here = window.len().min((len - start) as usize);
        file.read_exact_at(&mut window[..here], start)?;
        for offset in 0..=here - HEAD {
            if let Some(head) = Head::decode(&window[offset..]).filter(fits) {
                return Ok(Some((start + offset as u64, head)));
            }
        }
        start += (here - HEAD + 1) as u64;
        window.resize(WINDOW, 0);
    }
    Ok(None)
}

impl Scan {
    /// Takes one record whose head is valid; `whole` tells whether the file has all of its payload.
    fn record(&mut self, file: &File, at: u64, head: Head, whole: bool) -> std::io::Result<()> {
        if whole {
            self.log.end = at + u64::from(head.payload);
        }
        self.nonce.get_or_insert(head.nonce);
        match head.kind {
            Kind::About | Kind::Salt | Kind::PutBack | Kind::Room | Kind::Restored if !whole => {}
            Kind::About => {
                let about = valid_payload(file, at, head)?.and_then(|p| serde_json::from_slice(&p).ok());
                self.about = self.about.take().or(about);
            }
            Kind::Salt => {
                let salt = valid_payload(file, at, head)?.and_then(|p| p.try_into().ok());
                self.log.salts.extend(salt.map(u64::from_le_bytes));
            }
            Kind::PutBack => {
                let begun = head.index == 0;
                self.log.put_back = Some(if begun { Restoring::Begun } else { Restoring::Written });
                // The last one in the file is the newest: what is noted from now on comes behind it.
                self.log.set_aside.clear();
            }
            Kind::Room => self.log.set_aside.push_back(at - HEAD as u64),
            Kind::Restored => self.log.restored = true,
            Kind::Bytes | Kind::Fill if head.len as usize > MOST => {}
            Kind::Bytes | Kind::Fill => self.range(file, at, head, whole)?,
            Kind::Commit => self.commit(file, at, head, whole)?,
        }
        Ok(())
    }

    fn range(&mut self, file: &File, at: u64, head: Head, whole: bool) -> std::io::Result<()> {
        self.batch_is(head.batch);
        if !whole {
            return Ok(());
        }
        let mut byte = [0];
        let fill = match head.kind {
            Kind::Fill => {
                file.read_exact_at(&mut byte, at)?;
                Some(byte[0])
            }
            _ => None,
        };
        let entry = Entry { offset: head.offset, len: head.len, crc: head.crc, at, fill };
        self.open.insert(head.index, entry);
        Ok(())
    }

    /// A range of a later batch shows that the one before was committed, whatever became of its commit record.
    fn batch_is(&mut self, batch: u32) {
        if batch > self.log.batch {
            let missing_batches = batch - self.log.batch - u32::from(!self.open.is_empty() || self.closed());
            self.log.damage.lost_ranges += u64::from(missing_batches);
            self.end_open();
            self.log.batch = batch;
        }
    }

    /// Whether the current batch had its commit.
    fn closed(&self) -> bool {
        self.batches.last().is_some_and(|(batch, _)| *batch == self.log.batch)
    }

    /// Takes what is known of the batch under way, whose table is missing.
    fn end_open(&mut self) {
        let open = std::mem::take(&mut self.open);
        let Some((last, _)) = open.last_key_value() else { return };
        self.log.damage.lost_ranges += u64::from(*last + 1) - open.len() as u64;
        self.batches.push((self.log.batch, open.into_values().collect()));
    }

    /// The table is a second copy of every range's head, and wins.
    fn commit(&mut self, file: &File, at: u64, head: Head, whole: bool) -> std::io::Result<()> {
        self.batch_is(head.batch);
        let table = match whole {
            true => valid_payload(file, at, head)?,
            false => None,
        };
        match table {
            Some(table) => {
                let (entries, _) = table.as_chunks::<ENTRY>();
                self.batches.push((head.batch, entries.iter().map(Entry::decode).collect()));
                self.open.clear();
            }
            None => {
                self.log.damage.lost_ranges += u64::from(head.len).saturating_sub(self.open.len() as u64);
                let open = std::mem::take(&mut self.open);
                self.batches.push((head.batch, open.into_values().collect()));
            }
        }
        Ok(())
    }

    /// The end of the file, where the last valid record would end at `at`. A batch without a commit was most likely not
    /// overwritten, and then the card holds what is in it: putting that back does no harm. If its commit was lost to
    /// damage, it is needed.
    fn close(&mut self, at: u64, len: u64) {
        let before = self.log.damage.lost_ranges;
        self.end_open();
        if at > len {
            // It ends within a record, as after any crash: the batch never was complete.
            self.log.damage.lost_ranges = before;
        } else if len - at >= HEAD as u64 {
            self.log.damage.tail = Some((at, len));
        }
    }
}

fn valid_payload(file: &File, at: u64, head: Head) -> std::io::Result<Option<Vec<u8>>> {
    let mut payload = vec![0; head.payload as usize];
    file.read_exact_at(&mut payload, at)?;
    Ok((crc32c::crc32c(&payload) == head.crc).then_some(payload))
}

/// The original of a range, checked.
pub(crate) fn payload(file: &File, entry: &Entry, into: &mut Vec<u8>) -> Result<(), JournalError> {
    let stored = if entry.fill.is_some() { 1 } else { entry.len as usize };
    into.clear();
    into.resize(stored, 0);
    let place = format!("{} bytes of the card at {}", entry.len, entry.offset);
    file.read_exact_at(into, entry.at).map_err(|e| {
        JournalError(Cause::worded(format!("{place} cannot be read from the journal: {e}"), e))
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
