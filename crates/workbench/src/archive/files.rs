//! The archive's content as files, one session a file (docs/result-file.schema.json), and such files taken in.

use super::cards::named;
use super::open;
use crate::error::Failure;
use cardscope_model::session_file::SessionFile;
use cardscope_store::{Archive, Kept, SessionId};
use serde::Serialize;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// Longest result file that is read: a session of hours with every second of it has some ten MiB.
const MOST_BYTES: u64 = 512 << 20;

/// One session that was written.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Exported {
    /// The session's name.
    pub session: String,
    /// The file.
    pub file: String,
}

/// One file that was taken in.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Taken {
    /// The file.
    pub file: String,
    /// True where the archive had it already.
    pub known: bool,
    /// The session it became.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Why it was not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Writes sessions as files into a folder; `what` names sessions or cards, none means all.
///
/// # Errors
/// A refusal where a name means nothing, or a file is there already that says something else; a failure where one cannot be
/// written. What was written before stays.
pub fn export(path: Option<&Path>, what: &[String], folder: &Path) -> Result<Vec<Exported>, Failure> {
    let mut archive = open(path)?;
    let sessions = sessions(&mut archive, what)?;
    std::fs::create_dir_all(folder).map_err(|e| Failure::io(format!("{}: {e}", folder.display())))?;
    sessions.into_iter().map(|session| write(&mut archive, session, folder)).collect()
}

fn sessions(archive: &mut Archive, what: &[String]) -> Result<Vec<SessionId>, Failure> {
    if what.is_empty() {
        let mut all: Vec<SessionId> = archive.sessions().map_err(Failure::io)?.iter().map(|s| s.id).collect();
        all.extend(archive.records().map_err(Failure::io)?.iter().map(|r| r.id));
        return Ok(all);
    }
    let mut found = Vec::new();
    for text in what {
        match text.parse::<SessionId>() {
            Ok(session) => found.push(session),
            Err(_) => {
                let card = named(archive, text)?;
                found.extend(archive.card_sessions(&card.id).map_err(Failure::io)?);
                found.extend(
                    archive.card_records(&card.id).map_err(Failure::io)?.iter().map(|r| r.summary.id),
                );
            }
        }
    }
    Ok(found)
}

fn write(archive: &mut Archive, session: SessionId, folder: &Path) -> Result<Exported, Failure> {
    let file = archive.export(session).map_err(Failure::refused)?;
    let text = file.to_json().map_err(Failure::io)?;
    let place = folder.join(format!("{session}.json"));
    let failed = |e: std::io::Error| Failure::io(format!("{}: {e}", place.display()));
    match OpenOptions::new().write(true).create_new(true).open(&place) {
        Ok(mut new) => new.write_all(text.as_bytes()).and_then(|()| new.sync_all()).map_err(|e| {
            // Half a file would be taken for a damaged one.
            let _ = std::fs::remove_file(&place);
            failed(e)
        })?,
        Err(e) if e.kind() == ErrorKind::AlreadyExists => same(&place, &text)?,
        Err(e) => return Err(failed(e)),
    }
    Ok(Exported { session: session.to_string(), file: place.display().to_string() })
}

/// A file of that name is fine where it says the same.
fn same(place: &Path, text: &str) -> Result<(), Failure> {
    match std::fs::read(place) {
        Ok(there) if there == text.as_bytes() => Ok(()),
        _ => Err(Failure::refused(format!(
            "{} is there already and says something else; name another folder, or move it away",
            place.display()
        ))),
    }
}

/// Takes files in. One that cannot be stops no other.
///
/// # Errors
/// If the archive cannot be opened.
pub fn take(path: Option<&Path>, files: &[PathBuf]) -> Result<Vec<Taken>, Failure> {
    let mut archive = open(path)?;
    let mut all = Vec::new();
    for file in files {
        if file.is_dir() {
            all.extend(below(file)?);
        } else {
            all.push(file.clone());
        }
    }
    Ok(all.iter().map(|file| one(&mut archive, file)).collect())
}

fn below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = std::fs::read_dir(folder).map_err(|e| Failure::io(format!("{}: {e}", folder.display())))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

fn one(archive: &mut Archive, file: &Path) -> Taken {
    let name = file.display().to_string();
    match read(file).and_then(|read| archive.add_file(&read).map_err(|e| e.to_string())) {
        Ok(Kept::New { sessions, .. }) => Taken {
            file: name,
            known: false,
            session: sessions.first().map(ToString::to_string),
            error: None,
        },
        Ok(Kept::Known { .. }) => Taken { file: name, known: true, session: None, error: None },
        Err(why) => Taken { file: name, known: false, session: None, error: Some(why) },
    }
}

fn read(file: &Path) -> Result<SessionFile, String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).map_err(|e| e.to_string())?;
    opened.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(format!("longer than {} MiB; that is no result file", MOST_BYTES >> 20));
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| "it is no text, so no result file".to_owned())?;
    SessionFile::from_json(text).map_err(|e| e.to_string())
}
