//! Files with their logs on the way in: hashed, named and told apart before anything is asked of the database.

use super::group;
use crate::{SessionId, hash, naming};
use cardscope_model::log::Log;
use std::borrow::Cow;
use std::collections::HashMap;

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

/// A file, hashed before anything is asked of the database.
pub(super) struct Prepared<'a> {
    pub(super) name: &'a str,
    pub(super) format: &'a str,
    pub(super) hash: String,
    pub(super) logs: Vec<PreparedLog<'a>>,
}

pub(super) struct PreparedLog<'a> {
    pub(super) log: &'a Log,
    pub(super) content_hash: String,
    pub(super) sighting: naming::Sighting,
}

impl NewSource<'_> {
    fn called(&self) -> String {
        self.title.map_or_else(|| naming::unnamed(self.name), str::to_owned)
    }
}

impl<'a> Prepared<'a> {
    pub(super) fn of(source: &NewSource<'a>) -> Self {
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
