//! Imported files, stored byte for byte.

use crate::connection::{SqlResult, SqlRow, statement};
use crate::{Archive, ArchiveError};

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
    pub fn sources(&mut self) -> Result<Vec<StoredSource>, ArchiveError> {
        let all = sources!("", "ORDER BY o.imported_at, o.name, o.hash");
        self.run_read(async |c| c.fetch_all(statement(all), source_from_row).await)
    }

    /// Returns an imported file with its bytes.
    pub fn source(&mut self, hash: &str) -> Result<(StoredSource, Vec<u8>), ArchiveError> {
        let one = sources!(", o.content", "WHERE o.hash = $1");
        let asked = || statement(one).bind(hash);
        self.run_read(async |c| c.fetch_one(asked(), |row| Ok((source_from_row(row)?, row.get(6)?))).await)
            .map_err(|e| e.for_file(hash))
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
