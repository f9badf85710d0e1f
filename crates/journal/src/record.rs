//! Encoding of the journal's records, as `docs/journal.md` describes them. Header and payload have a CRC32C each, and
//! every record has the journal's nonce, so that neither torn writes nor old disk content pass as records.

use serde::{Deserialize, Serialize};

/// First line of the file, with the version of the format.
pub(crate) const MAGIC: &[u8] = b"cardscope journal 1\n";

/// Start of the first line in every version.
pub(crate) const MAGIC_PREFIX: &[u8] = b"cardscope journal ";

pub(crate) const HEAD_BYTES: usize = 48;

pub(crate) const ENTRY_BYTES: usize = 28;

/// Longest range of one record, in bytes. Longer ranges are split.
pub(crate) const MAX_RANGE_BYTES: usize = 1 << 20;

/// Type of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    Header,
    Bytes,
    /// A range of one repeated byte; the payload is that byte.
    Fill,
    /// Salt of the stamps that the run writes, 8 bytes.
    Salt,
    /// End of a batch that is on disk. The payload is a table of its ranges.
    Commit,
    /// Step of restoring: index 0 at its start, 1 after everything was written.
    RestoreStep,
    /// Reserved place for a [`RecordKind::RestoreResult`], so that it can be recorded on a full disk.
    Reserved,
    /// Everything was restored and compared.
    Restored,
    /// Tally of committed batches, in one of two fixed places.
    Tally,
}

const TAGS: [(RecordKind, &[u8; 4]); 9] = [
    (RecordKind::Header, b"HEAD"),
    (RecordKind::Bytes, b"KEEP"),
    (RecordKind::Fill, b"FILL"),
    (RecordKind::Salt, b"SALT"),
    (RecordKind::Commit, b"COMM"),
    (RecordKind::RestoreStep, b"BACK"),
    (RecordKind::Reserved, b"ROOM"),
    (RecordKind::Restored, b"DONE"),
    (RecordKind::Tally, b"TALY"),
];

/// Header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub(crate) kind: RecordKind,
    /// Bytes of the payload, which follows the header.
    pub(crate) payload: u32,
    pub(crate) offset: u64,
    /// Bytes of the range on the card; in a commit record the number of ranges.
    pub(crate) len: u32,
    pub(crate) crc: u32,
    /// Number of the journal, random.
    pub(crate) nonce: u64,
    pub(crate) batch: u32,
    pub(crate) index: u32,
}

impl RecordHead {
    pub(crate) fn encode(&self) -> [u8; HEAD_BYTES] {
        let mut bytes = [0; HEAD_BYTES];
        let tag = TAGS.iter().find(|(kind, _)| *kind == self.kind).map_or(b"????", |(_, tag)| *tag);
        bytes[..4].copy_from_slice(tag);
        bytes[4..8].copy_from_slice(&self.payload.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.offset.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.len.to_le_bytes());
        bytes[20..24].copy_from_slice(&self.crc.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.nonce.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.batch.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.index.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..44]);
        bytes[44..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<RecordHead> {
        let bytes: &[u8; HEAD_BYTES] = bytes.get(..HEAD_BYTES)?.try_into().ok()?;
        let (kind, _) = TAGS.iter().find(|(_, tag)| bytes.starts_with(*tag))?;
        let valid = crc32c::crc32c(&bytes[..44]) == u32_at(bytes, 44);
        valid.then(|| RecordHead {
            kind: *kind,
            payload: u32_at(bytes, 4),
            offset: u64_at(bytes, 8),
            len: u32_at(bytes, 16),
            crc: u32_at(bytes, 20),
            nonce: u64_at(bytes, 24),
            batch: u32_at(bytes, 32),
            index: u32_at(bytes, 36),
        })
    }
}

/// Location of the original of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RangeEntry {
    pub(crate) offset: u64,
    pub(crate) len: u32,
    pub(crate) crc: u32,
    /// Offset of the payload in the file.
    pub(crate) at: u64,
    /// Byte that fills the whole range, if it is one.
    pub(crate) fill: Option<u8>,
}

const FILL_FLAG: u32 = 0x100;

impl RangeEntry {
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.offset.to_le_bytes());
        into.extend(self.len.to_le_bytes());
        into.extend(self.crc.to_le_bytes());
        into.extend(self.at.to_le_bytes());
        into.extend(self.fill.map_or(0, |byte| FILL_FLAG | u32::from(byte)).to_le_bytes());
    }

    pub(crate) fn decode(bytes: &[u8; ENTRY_BYTES]) -> RangeEntry {
        let fill = u32_at(bytes, 24);
        RangeEntry {
            offset: u64_at(bytes, 0),
            len: u32_at(bytes, 8),
            crc: u32_at(bytes, 12),
            at: u64_at(bytes, 16),
            fill: (fill & FILL_FLAG != 0).then_some(fill as u8),
        }
    }
}

/// Checksum of a block from before the test, to recognize cards without an identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockFingerprint {
    pub offset: u64,
    pub len: u32,
    /// CRC32C of the content before the test.
    pub crc32c: u32,
    /// True if the block was one repeated byte, which is weak evidence.
    pub constant: bool,
}

impl BlockFingerprint {
    pub(crate) fn end(&self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// Header of a journal: its card and its test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalFacts {
    pub tool_version: String,
    /// Target as typed by the user.
    pub target: String,
    /// Key that identifies the card, if it has an identity.
    pub card_key: Option<String>,
    /// Name of the card for people.
    pub card: Option<String>,
    /// Capacity that the card announced.
    pub announced_bytes: u64,
    /// First byte of the target on its disk, 0 unless it is a partition; `None` in journals of versions that did not
    /// record it.
    #[serde(default)]
    pub start_bytes: Option<u64>,
    /// True if the journal records when restoring begins.
    #[serde(default)]
    pub notes_putting_back: bool,
    #[serde(default)]
    pub keeps_tally: bool,
    /// Start of the test, UTC.
    pub began: String,
    /// Fingerprints of blocks from before the test.
    pub witnesses: Vec<BlockFingerprint>,
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    let mut four = [0; 4];
    four.copy_from_slice(&bytes[at..at + 4]);
    u32::from_le_bytes(four)
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(eight)
}
