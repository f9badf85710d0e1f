//! Imported files, stored byte for byte, and files attached to a card, unit or session: photographs, receipts, mail.

use crate::connection::{Connection, SqlResult, SqlRow, dynamic_statement, statement};
use crate::error::Result;
use crate::events::require_row;
use crate::{Archive, SessionId, hash, timestamps};
use cardscope_model::card::Attachment;
use cardscope_model::session_file::AttachedTo;
use uuid::Uuid;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachmentOwner<'a> {
    /// Id of a card in the archive.
    Card(&'a str),
    /// Id of a unit, a hash.
    Unit(&'a str),
    Session(SessionId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewAttachment<'a> {
    pub name: &'a str,
    /// Such as `image/jpeg`.
    pub media_type: &'a str,
    pub note: Option<&'a str>,
    pub bytes: &'a [u8],
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAttachment {
    pub file: Attachment,
    pub owner: AttachedTo,
    pub bytes: u64,
}

/// Attachments of a card, its units and its sessions.
const OF_CARD: &str = "SELECT hash, card_id, specimen_id, name, media_type, note, content_bytes \
    FROM attached WHERE card_id = $1 OR specimen_id IN (SELECT id FROM specimen WHERE card_id = $1) \
    OR session_id IN (SELECT id FROM session WHERE card_id = $1) ORDER BY added_at, id";

impl Archive {
    /// Attaches a file and returns its hash. An owner has a file of one name and content once.
    pub fn attach(&mut self, to: AttachmentOwner<'_>, file: &NewAttachment<'_>) -> Result<String> {
        let attach = async |c: &mut Connection| {
            let (table, id) = to.table_and_id();
            require_row(c, table, &id).await?;
            store_attachment(c, to, file, &timestamps::now()).await
        };
        self.run_write(attach).map_err(|e| match to {
            AttachmentOwner::Session(id) => e.for_session(id),
            AttachmentOwner::Card(id) | AttachmentOwner::Unit(id) => e.for_card(id),
        })
    }

    /// Returns the attachments of a card, its units and its sessions, oldest first.
    pub fn attachments(&mut self, card: &str) -> Result<Vec<StoredAttachment>> {
        self.read_rows(statement(OF_CARD).bind(card), attachment_from_row)
    }

    /// Returns the bytes of an attached file.
    pub fn attachment(&mut self, hash: &str) -> Result<Vec<u8>> {
        let content = statement("SELECT content FROM attachment WHERE hash = $1").bind(hash);
        self.run_read(async |c| c.fetch_one(content, |row| row.get(0)).await).map_err(|e| e.for_file(hash))
    }
}

impl AttachmentOwner<'_> {
    /// Table of the owner, whose name with `_id` is the owner's column in `attached`, and its id.
    fn table_and_id(&self) -> (&'static str, String) {
        match self {
            AttachmentOwner::Card(id) => ("card", (*id).to_owned()),
            AttachmentOwner::Unit(id) => ("specimen", (*id).to_owned()),
            AttachmentOwner::Session(id) => ("session", id.to_string()),
        }
    }
}

pub(crate) async fn store_attachment(
    c: &mut Connection,
    to: AttachmentOwner<'_>,
    file: &NewAttachment<'_>,
    added_at: &str,
) -> SqlResult<String> {
    let hash = hash::hash_bytes(file.bytes);
    let (table, id) = to.table_and_id();
    let stored = format!("SELECT 1 FROM attached WHERE hash = $1 AND name = $2 AND {table}_id = $3");
    let stored = dynamic_statement(stored).bind(&hash).bind(file.name).bind(&id);
    if c.fetch_optional(stored, |_| Ok(())).await?.is_some() {
        return Ok(hash);
    }
    let content = "INSERT INTO attachment (hash, content) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
    c.execute(statement(content).bind(&hash).bind(file.bytes.to_vec())).await?;
    let insert = format!(
        "INSERT INTO attached (id, hash, {table}_id, name, media_type, note, content_bytes, added_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)"
    );
    let insert = dynamic_statement(insert).bind(Uuid::now_v7().to_string()).bind(&hash).bind(id);
    let insert = insert.bind(file.name).bind(file.media_type).bind(file.note);
    c.execute(insert.bind(file.bytes.len() as u64).bind(added_at)).await?;
    Ok(hash)
}

/// Kind of the owner of an attachment, which has exactly one.
pub(crate) fn owner_kind([card, unit]: &[Option<String>; 2]) -> AttachedTo {
    match (card, unit) {
        (Some(_), _) => AttachedTo::Card,
        (None, Some(_)) => AttachedTo::Specimen,
        (None, None) => AttachedTo::Session,
    }
}

fn attachment_from_row(row: &SqlRow) -> SqlResult<StoredAttachment> {
    let owners: [Option<String>; 2] = [row.get(1)?, row.get(2)?];
    let (hash, name, media_type) = (row.get(0)?, row.get(3)?, row.get(4)?);
    let file = Attachment { hash, name, media_type, note: row.get(5)? };
    Ok(StoredAttachment { file, owner: owner_kind(&owners), bytes: row.get_integer(6)? })
}

/// Imported file in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredSource {
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    pub name: String,
    /// Importer that read it.
    pub format: String,
    pub bytes: u64,
    /// UTC.
    pub imported_at: String,
    /// Number of sessions made of it.
    pub sessions: u32,
}

macro_rules! sources {
    ($more:literal, $rest:literal) => {
        concat!(
            "SELECT o.hash, o.name, o.format, o.content_bytes, o.imported_at, \
             (SELECT COUNT(*) FROM session s WHERE s.source_hash = o.hash)",
            $more,
            " FROM source o ",
            $rest
        )
    };
}

impl Archive {
    /// Returns all imported files, oldest first.
    pub fn sources(&mut self) -> Result<Vec<StoredSource>> {
        self.read_rows(statement(sources!("", "ORDER BY o.imported_at, o.name, o.hash")), source_from_row)
    }

    /// Returns an imported file with its bytes.
    pub fn source(&mut self, hash: &str) -> Result<(StoredSource, Vec<u8>)> {
        let source = statement(sources!(", o.content", "WHERE o.hash = $1")).bind(hash);
        let read = |row: &SqlRow| Ok((source_from_row(row)?, row.get(6)?));
        self.run_read(async |c| c.fetch_one(source, read).await).map_err(|e| e.for_file(hash))
    }
}

fn source_from_row(row: &SqlRow) -> SqlResult<StoredSource> {
    Ok(StoredSource {
        hash: row.get(0)?,
        name: row.get(1)?,
        format: row.get(2)?,
        bytes: row.get_integer(3)?,
        imported_at: row.get(4)?,
        sessions: row.get_integer(5)?,
    })
}
