//! The journal's records as bytes; `docs/journal.md` describes them. Every record has a checksum over its head and one
//! over its payload (CRC32C), and carries the journal's own number, so that neither a torn write nor old bytes of a
//! disk are taken for a record.

use serde::{Deserialize, Serialize};

/// The first line of the file: what it is, and the version of its format.
pub(crate) const MAGIC: &[u8] = b"cardscope journal 1\n";

/// How the first line begins, whatever the version.
pub(crate) const MAGIC_STEM: &[u8] = b"cardscope journal ";

/// Bytes of a record's head.
pub(crate) const HEAD: usize = 48;

/// Bytes of an entry in a batch's table.
pub(crate) const ENTRY: usize = 28;

/// Bytes of the longest range in one record; a longer one is cut.
pub(crate) const MOST: usize = 1 << 20;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// What the journal is about, as JSON.
    About,
    /// A range and its original bytes.
    Bytes,
    /// A range whose original is one byte, repeated; the payload is that byte.
    Fill,
    /// The salt of stamps that the run writes; the payload is its 8 bytes.
    Salt,
    /// The end of a batch: what was saved in it is on disk. The payload is a table of its ranges.
    Commit,
    /// How far putting back had come: its place is 0 where it begins, 1 where everything was written.
    PutBack,
    /// Where a [`Kind::PutBack`] goes, set aside at the start: it is noted down even where the disk is full by then.
    Room,
    /// Everything was put back and compared.
    Restored,
    /// What is committed so far, in two fixed places that are written in turn: see `tally`.
    Tally,
}

const TAGS: [(RecordKind, &[u8; 4]); 9] = [
    (RecordKind::About, b"HEAD"),
    (RecordKind::Bytes, b"KEEP"),
    (RecordKind::Fill, b"FILL"),
    (RecordKind::Salt, b"SALT"),
    (RecordKind::Commit, b"COMM"),
    (RecordKind::PutBack, b"BACK"),
    (RecordKind::Room, b"ROOM"),
    (RecordKind::Restored, b"DONE"),
    (RecordKind::Tally, b"TALY"),
];

/// A record's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RecordHead {
    pub(crate) kind: RecordKind,
    /// Bytes of what follows.
    pub(crate) payload: u32,
    /// First byte of the range on the card.
    pub(crate) offset: u64,
    /// Bytes of the range on the card; of a commit, how many ranges it has.
    pub(crate) len: u32,
    /// CRC32C of the payload.
    pub(crate) crc: u32,
    /// The journal's number.
    pub(crate) nonce: u64,
    /// The batch, from 0.
    pub(crate) batch: u32,
    /// Which of its batch, from 0.
    pub(crate) index: u32,
}

impl RecordHead {
    pub(crate) fn encode(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
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

    /// Reads a head; `None` where there is no valid one.
    pub(crate) fn decode(bytes: &[u8]) -> Option<RecordHead> {
        let bytes: &[u8; HEAD] = bytes.get(..HEAD)?.try_into().ok()?;
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

/// Where the original of one range is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RangeEntry {
    /// First byte on the card.
    pub(crate) offset: u64,
    /// Bytes on the card.
    pub(crate) len: u32,
    /// CRC32C of the payload.
    pub(crate) crc: u32,
    /// Where its payload begins in the file.
    pub(crate) at: u64,
    /// The byte that fills it, where it is one.
    pub(crate) fill: Option<u8>,
}

const FILLED: u32 = 0x100;

impl RangeEntry {
    pub(crate) fn encode(&self, into: &mut Vec<u8>) {
        into.extend(self.offset.to_le_bytes());
        into.extend(self.len.to_le_bytes());
        into.extend(self.crc.to_le_bytes());
        into.extend(self.at.to_le_bytes());
        into.extend(self.fill.map_or(0, |byte| FILLED | u32::from(byte)).to_le_bytes());
    }

    pub(crate) fn decode(bytes: &[u8; ENTRY]) -> RangeEntry {
        let fill = u32_at(bytes, 24);
        RangeEntry {
            offset: u64_at(bytes, 0),
            len: u32_at(bytes, 8),
            crc: u32_at(bytes, 12),
            at: u64_at(bytes, 16),
            fill: (fill & FILLED != 0).then_some(fill as u8),
        }
    }
}

/// A few bytes of the card that tell whether it is the same card, where it says nothing of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockFingerprint {
    /// First byte.
    pub offset: u64,
    /// Bytes.
    pub len: u32,
    /// CRC32C of what stood there before the test.
    pub crc32c: u32,
    /// True where it was one byte, repeated: that tells little.
    pub constant: bool,
}

impl BlockFingerprint {
    /// The byte behind its last one.
    pub(crate) fn end(&self) -> u64 {
        self.offset + u64::from(self.len)
    }
}

/// What a journal says of itself and of its card.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalFacts {
    /// The Cardscope that wrote it.
    pub tool_version: String,
    /// The target as the user named it.
    pub target: String,
    /// By what the card is known again, if by anything.
    pub card_key: Option<String>,
    /// What the card calls itself, for people.
    pub card: Option<String>,
    /// Bytes that the card announced.
    pub announced_bytes: u64,
    /// First byte of the target on its disk, where it is a partition, else 0; `None` in journals of versions that did not
    /// say.
    #[serde(default)]
    pub start_bytes: Option<u64>,
    /// True where the journal says when putting back begins; those of earlier versions do not.
    #[serde(default)]
    pub notes_putting_back: bool,
    /// True where the journal counts what it commits; those of earlier versions do not.
    #[serde(default)]
    pub keeps_tally: bool,
    /// When it began, UTC.
    pub began: String,
    /// Bytes of the card from before the test.
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
