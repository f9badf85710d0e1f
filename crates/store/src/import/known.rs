//! What of a batch is in the archive already.

use super::prepared::{Kept, Prepared, PreparedLog};
use crate::connection::{Connection, Outcome, composed, in_chunks};
use std::collections::HashMap;

/// A file that is there.
#[derive(Debug, Clone)]
struct There {
    source: String,
    name: String,
    imported_at: String,
}

/// The files of a batch that are there, by their bytes and by what their logs say.
pub(super) struct Known {
    by_hash: HashMap<String, There>,
    by_content: HashMap<String, There>,
    now: String,
}

impl Known {
    pub(super) async fn of(c: &mut Connection, batch: &[Prepared<'_>]) -> Outcome<Self> {
        let hashes: Vec<String> = batch.iter().map(|s| s.hash.clone()).collect();
        let contents: Vec<String> =
            batch.iter().flat_map(|s| &s.logs).map(|log| log.content_hash.clone()).collect();
        let by_hash =
            there(c, "SELECT hash, hash, name, imported_at FROM source WHERE hash", &hashes).await?;
        let by_content = "SELECT s.content_hash, o.hash, o.name, o.imported_at FROM session s \
            JOIN source o ON o.hash = s.source_hash WHERE s.content_hash";
        let by_content = there(c, by_content, &contents).await?;
        Ok(Known { by_hash, by_content, now: crate::stamp::now() })
    }

    /// The logs of a file that are to be taken in; `None` where nothing of it is new. It is known from now on, so that
    /// the same file further on in the batch is not taken in twice.
    pub(super) fn fresh<'l>(&mut self, source: &'l Prepared<'l>) -> Option<Vec<&'l PreparedLog<'l>>> {
        if self.by_hash.contains_key(&source.hash) {
            return None;
        }
        let fresh: Vec<_> =
            source.logs.iter().filter(|log| !self.by_content.contains_key(&log.content_hash)).collect();
        if fresh.is_empty() && !source.logs.is_empty() {
            return None;
        }
        let there = There {
            source: source.hash.clone(),
            name: source.name.to_owned(),
            imported_at: self.now.clone(),
        };
        // Two alike in one file are two: only other files are compared with it.
        self.by_content.extend(fresh.iter().map(|log| (log.content_hash.clone(), there.clone())));
        self.by_hash.insert(source.hash.clone(), there);
        Some(fresh)
    }

    /// The file that has what this one has.
    pub(super) fn found(&self, source: &Prepared<'_>) -> Kept {
        let by_content = || source.logs.iter().find_map(|log| self.by_content.get(&log.content_hash));
        match self.by_hash.get(&source.hash).or_else(by_content).cloned() {
            Some(There { source, name, imported_at }) => Kept::Known { source, name, imported_at },
            None => Kept::New { source: source.hash.clone(), sessions: Vec::new() },
        }
    }
}

async fn there(c: &mut Connection, head: &str, keys: &[String]) -> Outcome<HashMap<String, There>> {
    let mut all = HashMap::new();
    for some in in_chunks(keys) {
        let asked = composed(format!("{head} IN ({})", c.all_places(some.len()))).bind_all(some);
        let read = c.all(asked, |row| {
            let there = There { source: row.get(1)?, name: row.get(2)?, imported_at: row.get(3)? };
            Ok((row.get::<String>(0)?, there))
        });
        all.extend(read.await?);
    }
    Ok(all)
}
