//! Files attached to a card, unit or session: photographs, receipts, mail.

use crate::connection::{Connection, RowBatch, SqlResult, SqlRow, dynamic_statement, statement};
use crate::events::require_row;
use crate::{Archive, ArchiveError, SessionId, hash, timestamps};
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

/// Tables whose rows can have attachments.
const OWNER_TABLES: [&str; 3] = ["card", "specimen", "session"];

const INSERT: &str = "INSERT INTO attached (id, hash, card_id, specimen_id, session_id, name, media_type, note, \
    content_bytes, added_at)";

/// Attachments of a card, its units and its sessions.
const OF_CARD: &str = "SELECT hash, card_id, specimen_id, name, media_type, note, content_bytes \
    FROM attached WHERE card_id = $1 OR specimen_id IN (SELECT id FROM specimen WHERE card_id = $1) \
    OR session_id IN (SELECT id FROM session WHERE card_id = $1) ORDER BY added_at, id";

impl Archive {
    /// Attaches a file and returns its hash. An owner has a file of one name and content once.
    pub fn attach(
        &mut self,
        to: AttachmentOwner<'_>,
        file: &NewAttachment<'_>,
    ) -> Result<String, ArchiveError> {
        let attach = async |c: &mut Connection| {
            require_row(c, OWNER_TABLES[to.table_index()], &to.id()).await?;
            store_attachment(c, to, file, &timestamps::now()).await
        };
        self.run_write(attach).map_err(|e| match to {
            AttachmentOwner::Session(id) => e.for_session(id),
            AttachmentOwner::Card(id) | AttachmentOwner::Unit(id) => e.for_card(id),
        })
    }

    /// Returns the attachments of a card, its units and its sessions, oldest first.
    pub fn attachments(&mut self, card: &str) -> Result<Vec<StoredAttachment>, ArchiveError> {
        self.run_read(async |c| c.fetch_all(statement(OF_CARD).bind(card), attachment_from_row).await)
    }

    /// Returns the bytes of an attached file.
    pub fn attachment(&mut self, hash: &str) -> Result<Vec<u8>, ArchiveError> {
        let asked = || statement("SELECT content FROM attachment WHERE hash = $1").bind(hash);
        self.run_read(async |c| c.fetch_one(asked(), |row| row.get(0)).await).map_err(|e| e.for_file(hash))
    }
}

impl AttachmentOwner<'_> {
    fn id(&self) -> String {
        match self {
            AttachmentOwner::Card(id) | AttachmentOwner::Unit(id) => (*id).to_owned(),
            AttachmentOwner::Session(id) => id.to_string(),
        }
    }

    /// Index in [`OWNER_TABLES`].
    fn table_index(&self) -> usize {
        match self {
            AttachmentOwner::Card(_) => 0,
            AttachmentOwner::Unit(_) => 1,
            AttachmentOwner::Session(_) => 2,
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
    if is_attached(c, to, file.name, &hash).await? {
        return Ok(hash);
    }
    let content = "INSERT INTO attachment (hash, content) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
    c.execute(statement(content).bind(&hash).bind(file.bytes.to_vec())).await?;
    let mut owners: [Option<String>; 3] = Default::default();
    owners[to.table_index()] = Some(to.id());
    let [card, specimen, session] = owners;
    let mut rows = RowBatch::new(INSERT, "");
    rows.push([
        Uuid::now_v7().to_string().into(),
        (&hash).into(),
        card.into(),
        specimen.into(),
        session.into(),
        file.name.into(),
        file.media_type.into(),
        file.note.into(),
        (file.bytes.len() as u64).into(),
        added_at.into(),
    ]);
    rows.write(c).await?;
    Ok(hash)
}

async fn is_attached(c: &mut Connection, to: AttachmentOwner<'_>, name: &str, hash: &str) -> SqlResult<bool> {
    let owner = OWNER_TABLES[to.table_index()];
    let asked = format!("SELECT 1 FROM attached WHERE hash = $1 AND name = $2 AND {owner}_id = $3");
    let asked = dynamic_statement(asked).bind(hash).bind(name).bind(to.id());
    Ok(c.fetch_optional(asked, |_| Ok(())).await?.is_some())
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
    let file =
        Attachment { hash: row.get(0)?, name: row.get(3)?, media_type: row.get(4)?, note: row.get(5)? };
    Ok(StoredAttachment { file, owner: owner_kind(&owners), bytes: row.get_integer(6)? })
}
