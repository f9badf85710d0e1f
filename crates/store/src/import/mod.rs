//! Takes in logs of other tools: each file once, each log once, whatever its line ends.
//!
//! A log becomes sessions, one for each condition and size under which its runs were made, since a session is several
//! runs under one condition. A batch is one transaction: what concerns it is read first, decided in memory, and
//! written in few statements.

mod group;
mod known;
mod write;

pub use group::setting_of;

use crate::connection::{Connection, Outcome};
use crate::firmness::Firmness;
use crate::naming;
use crate::shelf::Shelf;
use crate::{Archive, ArchiveError, SessionId, hash};
use cardscope_model::log::Log;
use known::Known;
use std::borrow::Cow;
use std::collections::HashMap;
use write::Batch;

/// A file with the logs that were found in it.
#[derive(Debug, Clone)]
pub struct NewSource<'a> {
    /// Its name.
    pub name: &'a str,
    /// How a card of it is called that nothing names; such a card is found again by nothing but its own file.
    pub title: Option<&'a str>,
    /// The importer that read it.
    pub format: &'a str,
    /// Its bytes. Owned ones are handed on to the database without another copy of them.
    pub bytes: Cow<'a, [u8]>,
    /// What was understood.
    pub logs: &'a [Log],
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    /// It is in the archive now.
    New {
        /// Its name there: BLAKE3 of its bytes, in hex. Of a session without a file, the session's own name.
        source: String,
        /// The sessions that it became.
        sessions: Vec<SessionId>,
    },
    /// It was there before, or the same logs in another file; nothing was changed.
    Known {
        /// The file that is there.
        source: String,
        /// Its name.
        name: String,
        /// When it came, UTC.
        imported_at: String,
    },
}

impl Archive {
    /// Takes in files with their logs, all of them or none; they are on disk when this returns.
    ///
    /// # Errors
    /// If they cannot be written; nothing is changed then.
    pub fn import<'a>(
        &mut self,
        sources: impl IntoIterator<Item = NewSource<'a>>,
    ) -> Result<Vec<Kept>, ArchiveError> {
        let sources = sources.into_iter().collect();
        let kept = self.call(Firmness::Now, async |c| c.alone(async |c| import(c, sources).await).await)?;
        self.settle()?;
        Ok(kept)
    }
}

async fn import(c: &mut Connection, sources: Vec<NewSource<'_>>) -> Outcome<Vec<Kept>> {
    let prepared: Vec<Prepared<'_>> = sources.iter().map(Prepared::of).collect();
    let mut known = Known::of(c, &prepared).await?;
    let fresh: Vec<Option<Vec<&PreparedLog<'_>>>> =
        prepared.iter().map(|source| known.fresh(source)).collect();
    let sightings: Vec<_> = fresh.iter().flatten().flatten().map(|log| log.sighting.clone()).collect();
    let mut shelf = Shelf::of(c, &sightings).await?;
    let mut batch = Batch::new();
    for ((source, logs), new) in prepared.iter().zip(&fresh).zip(sources) {
        if logs.is_some() {
            batch.add_bytes(source, new.bytes.into_owned());
        }
    }
    batch.write_bytes(c).await?;
    let mut kept = Vec::with_capacity(prepared.len());
    for (source, logs) in prepared.iter().zip(fresh) {
        kept.push(match logs {
            Some(logs) => {
                Kept::New { source: source.hash.clone(), sessions: batch.add(source, &logs, &mut shelf)? }
            }
            None => known.found(source),
        });
    }
    batch.write(c, shelf).await?;
    Ok(kept)
}

/// A file, hashed before anything is asked of the database.
struct Prepared<'a> {
    name: &'a str,
    format: &'a str,
    hash: String,
    logs: Vec<PreparedLog<'a>>,
}

struct PreparedLog<'a> {
    log: &'a Log,
    content_hash: String,
    sighting: naming::Sighting,
}

impl NewSource<'_> {
    fn called(&self) -> String {
        self.title.map_or_else(|| naming::unnamed(self.name), str::to_owned)
    }
}

impl<'a> Prepared<'a> {
    fn of(source: &NewSource<'a>) -> Self {
        let logs = source.logs.iter().filter(|log| !log.is_empty() || !log.doubts.is_empty());
        let mut logs: Vec<_> = logs.map(|log| PreparedLog::of(log, source)).collect();
        tell_apart(&mut logs);
        Prepared { name: source.name, format: source.format, hash: hash::of_bytes(&source.bytes), logs }
    }
}

/// Two alike in one file are two: the second says what the first says and is none the less another.
fn tell_apart(logs: &mut [PreparedLog<'_>]) {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for log in logs {
        let count = seen.entry(log.content_hash.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count > 1 {
            log.content_hash = hash::of(&[&log.content_hash, &count.to_string()]);
        }
    }
}

impl<'a> PreparedLog<'a> {
    fn of(log: &'a Log, source: &NewSource<'_>) -> Self {
        let content_hash = group::content_hash(log, &source.bytes);
        let sighting = naming::of_log(log, &content_hash, &source.called());
        PreparedLog { log, content_hash, sighting }
    }
}
