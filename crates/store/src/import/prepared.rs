//! Hashes and identifies files and logs before the database is asked, and finds those that it already has.

use super::group;
use crate::connection::{Connection, SqlResult, SqlRow};
use crate::{SessionId, hash, naming};
use cardscope_model::log::CardLog;
use std::borrow::Cow;
use std::collections::HashMap;

/// File to be imported, with the logs parsed from it.
#[derive(Debug, Clone)]
pub struct NewSource<'a> {
    pub name: &'a str,
    /// Title of its unnamed cards; only the same file leads to such a card again.
    pub title: Option<&'a str>,
    /// Index in the batch of a file with which it shares its unnamed card.
    pub shares_card_of: Option<usize>,
    /// Importer that read it.
    pub format: &'a str,
    /// Owned bytes go to the database without another copy.
    pub bytes: Cow<'a, [u8]>,
    pub logs: &'a [CardLog],
}

/// Result of importing a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedSource {
    New {
        /// BLAKE3 of the file's bytes, in hex; the session's id if a session came without a file.
        source: String,
        sessions: Vec<SessionId>,
    },
    /// The archive has the file, or the same logs in another file. Nothing was changed.
    Known {
        /// Hash of the stored file.
        source: String,
        /// Name of the stored file.
        name: String,
        /// UTC.
        imported_at: String,
    },
}

pub(super) struct PreparedSource<'a> {
    pub(super) name: &'a str,
    pub(super) format: &'a str,
    pub(super) hash: String,
    pub(super) logs: Vec<PreparedLog<'a>>,
}

pub(super) struct PreparedLog<'a> {
    pub(super) log: &'a CardLog,
    pub(super) content_hash: String,
    pub(super) sighting: naming::CardSighting,
}

impl NewSource<'_> {
    fn card_title(&self) -> String {
        self.title.map_or_else(|| naming::unnamed_title(self.name), str::to_owned)
    }
}

/// Prepares all files; a file that shares a card takes the place of the other file's sighting.
pub(super) fn prepare_all<'a>(sources: &[NewSource<'a>]) -> Vec<PreparedSource<'a>> {
    let mut prepared: Vec<PreparedSource<'a>> = sources.iter().map(PreparedSource::from_source).collect();
    for (at, source) in sources.iter().enumerate() {
        let first = source.shares_card_of.and_then(|first| prepared.get(first)?.logs.first());
        if let Some(place) = first.map(|log| log.sighting.place.clone()) {
            prepared[at].logs.iter_mut().for_each(|log| log.sighting.place.clone_from(&place));
        }
    }
    prepared
}

impl<'a> PreparedSource<'a> {
    fn from_source(source: &NewSource<'a>) -> Self {
        let logs = source.logs.iter().filter(|log| !log.is_empty() || !log.doubts.is_empty());
        let mut logs: Vec<_> = logs.map(|log| PreparedLog::from_log(log, source)).collect();
        disambiguate(&mut logs);
        let hash = hash::hash_bytes(&source.bytes);
        PreparedSource { name: source.name, format: source.format, hash, logs }
    }
}

/// Makes equal logs of one file distinct, since each is a measurement.
fn disambiguate(logs: &mut [PreparedLog<'_>]) {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for log in logs {
        let count = seen.entry(log.content_hash.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count > 1 {
            log.content_hash = hash::hash_texts(&[&log.content_hash, &count.to_string()]);
        }
    }
}

impl<'a> PreparedLog<'a> {
    fn from_log(log: &'a CardLog, source: &NewSource<'_>) -> Self {
        let content_hash = group::content_hash(log, &source.bytes);
        let sighting = naming::sighting_of_log(log, &content_hash, &source.card_title());
        PreparedLog { log, content_hash, sighting }
    }
}

impl ImportedSource {
    /// Reads hash, name and time of import from three columns, starting at `first`.
    pub(crate) fn known_from_row(row: &SqlRow, first: usize) -> SqlResult<ImportedSource> {
        let [source, name, imported_at] = [row.get(first)?, row.get(first + 1)?, row.get(first + 2)?];
        Ok(ImportedSource::Known { source, name, imported_at })
    }
}

type StoredByHash = HashMap<String, ImportedSource>;

/// Files of a batch that the archive has, by file hash and by content hash.
pub(super) struct KnownFiles {
    by_hash: StoredByHash,
    by_content: StoredByHash,
    now: String,
}

impl KnownFiles {
    pub(super) async fn load(c: &mut Connection, batch: &[PreparedSource<'_>]) -> SqlResult<Self> {
        let hashes: Vec<String> = batch.iter().map(|s| s.hash.clone()).collect();
        let logs = batch.iter().flat_map(|source| &source.logs);
        let contents: Vec<String> = logs.map(|log| log.content_hash.clone()).collect();
        let by_hash = "SELECT hash, hash, name, imported_at FROM source WHERE hash";
        let by_hash = find_stored(c, by_hash, &hashes).await?;
        let by_content = "SELECT s.content_hash, o.hash, o.name, o.imported_at FROM session s \
            JOIN source o ON o.hash = s.source_hash WHERE s.content_hash";
        let by_content = find_stored(c, by_content, &contents).await?;
        Ok(KnownFiles { by_hash, by_content, now: crate::timestamps::now() })
    }

    /// Returns the new logs of a file, or `None` if it has none. They count as stored from now on, so that a copy later in
    /// the batch is not imported again.
    pub(super) fn new_logs<'l>(
        &mut self,
        source: &'l PreparedSource<'_>,
    ) -> Option<Vec<&'l PreparedLog<'l>>> {
        if self.by_hash.contains_key(&source.hash) {
            return None;
        }
        let is_new = |log: &&PreparedLog<'_>| !self.by_content.contains_key(&log.content_hash);
        let fresh: Vec<_> = source.logs.iter().filter(is_new).collect();
        if fresh.is_empty() && !source.logs.is_empty() {
            return None;
        }
        let (name, imported_at) = (source.name.to_owned(), self.now.clone());
        let there = ImportedSource::Known { source: source.hash.clone(), name, imported_at };
        // Equal logs within one file are distinct; only other files are compared.
        self.by_content.extend(fresh.iter().map(|log| (log.content_hash.clone(), there.clone())));
        self.by_hash.insert(source.hash.clone(), there);
        Some(fresh)
    }

    /// Returns the stored file that has the same content.
    pub(super) fn stored_file(&self, source: &PreparedSource<'_>) -> ImportedSource {
        let by_content = || source.logs.iter().find_map(|log| self.by_content.get(&log.content_hash));
        let known = self.by_hash.get(&source.hash).or_else(by_content).cloned();
        known.unwrap_or_else(|| ImportedSource::New { source: source.hash.clone(), sessions: Vec::new() })
    }
}

async fn find_stored(c: &mut Connection, head: &str, keys: &[String]) -> SqlResult<StoredByHash> {
    let read = |row: &SqlRow| Ok((row.get(0)?, ImportedSource::known_from_row(row, 1)?));
    Ok(c.fetch_for_keys(head, keys, read).await?.into_iter().collect())
}
