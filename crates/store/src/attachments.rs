//! Files that hang on a card, a piece or a session: photographs, receipts, the maker's answer.

use crate::connection::{Connection, Durability, Outcome, Row, Rows, statement};
use crate::events::exists;
use crate::{Archive, ArchiveError, SessionId, hash, stamp};
use cardscope_model::session_file::AttachedTo;
use uuid::Uuid;

/// On what a file hangs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// A card, by its name in the archive.
    Card(&'a str),
    /// A piece, by its hash.
    Specimen(&'a str),
    /// A session.
    Session(SessionId),
}

/// A file to be attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewAttachment<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its media type: `image/jpeg`.
    pub media_type: &'a str,
    /// What there is to say about it.
    pub note: Option<&'a str>,
    /// Its bytes.
    pub bytes: &'a [u8],
}

/// An attached file in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredAttachment {
    /// BLAKE3 of its bytes, in hex.
    pub hash: String,
    /// On what it hangs.
    pub on: AttachedTo,
    /// The name of that.
    pub owner: String,
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media_type: String,
    /// What there is to say about it.
    pub note: Option<String>,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was added, UTC.
    pub added_at: String,
}

const INSERT: &str = "INSERT INTO attached (id, hash, card_id, specimen_id, session_id, name, media_type, note, \
    content_bytes, added_at)";

/// Of a card, its pieces and its sessions.
const OF_CARD: &str = "SELECT hash, card_id, specimen_id, session_id, name, media_type, note, content_bytes, added_at \
    FROM attached WHERE card_id = $1 OR specimen_id IN (SELECT id FROM specimen WHERE card_id = $1) \
    OR session_id IN (SELECT id FROM session WHERE card_id = $1) ORDER BY added_at, id";

impl Archive {
    /// Attaches a file; its hash. The same file under the same name hangs on one thing once.
    ///
    /// # Errors
    /// If there is nothing of that name to attach it to, or it cannot be written.
    pub fn attach(&mut self, to: Owner<'_>, file: &NewAttachment<'_>) -> Result<String, ArchiveError> {
        let attach = async |c: &mut Connection| {
            let asked = match to {
                Owner::Card(_) => "SELECT 1 FROM card WHERE id = $1",
                Owner::Specimen(_) => "SELECT 1 FROM specimen WHERE id = $1",
                Owner::Session(_) => "SELECT 1 FROM session WHERE id = $1",
            };
            exists(c, asked, &to.name()).await?;
            store(c, to, file, &stamp::now()).await
        };
        self.call(Durability::Now, async |c| c.alone(attach).await).map_err(|e| match to {
            Owner::Session(id) => e.about(id),
            Owner::Card(id) | Owner::Specimen(id) => e.about_card(id),
        })
    }

    /// What hangs on a card, its pieces and its sessions, oldest first.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn attachments(&mut self, card: &str) -> Result<Vec<StoredAttachment>, ArchiveError> {
        self.call(self.durability(), async |c| c.all(statement(OF_CARD).bind(card), stored).await)
    }

    /// The bytes of an attached file.
    ///
    /// # Errors
    /// If there is none of that hash, or it cannot be read.
    pub fn attachment(&mut self, hash: &str) -> Result<Vec<u8>, ArchiveError> {
        let asked = || statement("SELECT content FROM attachment WHERE hash = $1").bind(hash);
        self.call(self.durability(), async |c| c.one(asked(), |row| row.get(0)).await)
            .map_err(|e| e.about_file(hash))
    }
}

impl Owner<'_> {
    fn name(&self) -> String {
        match self {
            Owner::Card(id) | Owner::Specimen(id) => (*id).to_owned(),
            Owner::Session(id) => id.to_string(),
        }
    }

    /// Card, specimen and session, of which one is named.
    fn columns(&self) -> [Option<String>; 3] {
        match self {
            Owner::Card(_) => [Some(self.name()), None, None],
            Owner::Specimen(_) => [None, Some(self.name()), None],
            Owner::Session(_) => [None, None, Some(self.name())],
        }
    }
}

/// Stores a file and that it hangs there.
pub(crate) async fn store(
    c: &mut Connection,
    to: Owner<'_>,
    file: &NewAttachment<'_>,
    added_at: &str,
) -> Outcome<String> {
    let hash = hash::of_bytes(file.bytes);
    if hangs_there(c, to, file.name, &hash).await? {
        return Ok(hash);
    }
    let content = "INSERT INTO attachment (hash, content) VALUES ($1, $2) ON CONFLICT (hash) DO NOTHING";
    c.execute(statement(content).bind(&hash).bind(file.bytes.to_vec())).await?;
    let [card, specimen, session] = to.columns();
    let mut rows = Rows::new(INSERT, "");
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

async fn hangs_there(c: &mut Connection, to: Owner<'_>, name: &str, hash: &str) -> Outcome<bool> {
    let asked = match to {
        Owner::Card(_) => "SELECT 1 FROM attached WHERE hash = $1 AND name = $2 AND card_id = $3",
        Owner::Specimen(_) => "SELECT 1 FROM attached WHERE hash = $1 AND name = $2 AND specimen_id = $3",
        Owner::Session(_) => "SELECT 1 FROM attached WHERE hash = $1 AND name = $2 AND session_id = $3",
    };
    let asked = statement(asked).bind(hash).bind(name).bind(to.name());
    Ok(c.optional(asked, |_| Ok(())).await?.is_some())
}

fn stored(row: &Row) -> Outcome<StoredAttachment> {
    let owners: [Option<String>; 3] = [row.get(1)?, row.get(2)?, row.get(3)?];
    let kinds = [AttachedTo::Card, AttachedTo::Specimen, AttachedTo::Session];
    let (on, owner) = kinds
        .into_iter()
        .zip(owners)
        .find_map(|(on, owner)| Some((on, owner?)))
        .ok_or_else(|| crate::connection::unreadable("attached", "it hangs on nothing".to_owned()))?;
    Ok(StoredAttachment {
        hash: row.get(0)?,
        on,
        owner,
        name: row.get(4)?,
        media_type: row.get(5)?,
        note: row.get(6)?,
        bytes: row.whole(7)?,
        added_at: row.get(8)?,
    })
}
