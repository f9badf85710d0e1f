//! Imports logs of other tools: each file and each log once, whatever its line ends.
//!
//! A log becomes one session for each condition and size of its runs. A batch is one transaction: the archive's part is
//! read first, decided in memory, and written in few statements.

mod group;
mod prepared;
mod write;

pub use group::run_setting;
pub use prepared::{ImportedSource, NewSource};

use crate::Archive;
use crate::connection::{Connection, SqlResult};
use crate::error::Result;
use crate::resolver::CardResolver;
use prepared::{KnownFiles, PreparedLog};
use write::RowsInOrder;

impl Archive {
    /// Imports files with their logs in one synced transaction.
    pub fn import<'a>(
        &mut self,
        sources: impl IntoIterator<Item = NewSource<'a>>,
    ) -> Result<Vec<ImportedSource>> {
        let sources = sources.into_iter().collect();
        let stored = self.run_write(async |c| import(c, sources).await)?;
        self.recompute_stale()?;
        Ok(stored)
    }
}

async fn import(c: &mut Connection, sources: Vec<NewSource<'_>>) -> SqlResult<Vec<ImportedSource>> {
    c.enlarge_cache().await?;
    let prepared = prepared::prepare_all(&sources);
    let mut known = KnownFiles::load(c, &prepared).await?;
    let fresh = prepared.iter().map(|source| known.new_logs(source));
    let fresh: Vec<Option<Vec<&PreparedLog<'_>>>> = fresh.collect();
    let sightings: Vec<_> = fresh.iter().flatten().flatten().map(|log| log.sighting.clone()).collect();
    let mut resolver = CardResolver::load(c, &sightings).await?;
    let mut batch = RowsInOrder::new();
    for ((source, logs), new) in prepared.iter().zip(&fresh).zip(sources) {
        if logs.is_some() {
            batch.add_bytes(source, new.bytes.into_owned());
        }
    }
    batch.write_bytes(c).await?;
    let mut stored = Vec::with_capacity(prepared.len());
    for (source, logs) in prepared.iter().zip(fresh) {
        stored.push(match logs {
            Some(logs) => ImportedSource::New {
                source: source.hash.clone(),
                sessions: batch.add_logs(source, &logs, &mut resolver)?,
            },
            None => known.stored_file(source),
        });
    }
    batch.write_rows(c, resolver).await?;
    Ok(stored)
}
