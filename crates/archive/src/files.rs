//! Export of sessions as files, one each (docs/result-file.schema.json), and import of such files.

use super::cards::runs_first;
use super::named::{self, NamedItem};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input;
use cardscope_files::{FileUse, ResolvedFolder};
use cardscope_import::verb::result_file;
use cardscope_model::session_file::SessionFile;
use cardscope_session::archive_access::{open, open_filled, open_to_read};
use cardscope_session::error::{Failure, Result};
use cardscope_session::output_file::{FileMark, OutputFile};
use cardscope_store::{Archive, ImportedSource, SessionId};
use serde::{Deserialize, Serialize};
use std::io::Read;
use std::path::{Path, PathBuf};

/// First bytes of every session file.
const SESSION_FILE_HEAD: &str = "{\n  \"format\": \"cardscope-session\"";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExportedFile {
    pub session: String,
    pub file: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TakenFile {
    pub file: String,
    /// True if the archive had the session already.
    pub known: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Writes sessions as files into a folder. `what` names sessions or cards; an empty list exports everything.
///
/// # Errors
/// Refuses a name without a match, an existing file with other content, and a session too long to be read again.
/// Files written before the error remain.
pub fn export(path: Option<&Path>, what: &[String], folder: &Path) -> Result<Vec<ExportedFile>> {
    let archive = if what.is_empty() { open_to_read(path)? } else { Some(open_filled(path)?) };
    let Some(mut archive) = archive else { return Ok(Vec::new()) };
    let sessions = sessions(&mut archive, what)?;
    ResolvedFolder::make(folder, 0o777)
        .map_err(|e| Failure::io_for(format!("{}: {e}", folder.display()), e))?;
    sessions.into_iter().map(|session| write_session_file(&mut archive, session, folder)).collect()
}

fn sessions(archive: &mut Archive, what: &[String]) -> Result<Vec<SessionId>> {
    if what.is_empty() {
        return Ok(runs_first(archive.sessions()?));
    }
    let mut found = Vec::new();
    for text in what {
        match named::any(archive, text)? {
            NamedItem::Session(session) => found.push(session),
            NamedItem::Card(card) => found.extend(runs_first(archive.card_sessions(&card.id)?)),
        }
    }
    Ok(found)
}

fn write_session_file(archive: &mut Archive, session: SessionId, folder: &Path) -> Result<ExportedFile> {
    let file = archive.export(session).map_err(Failure::refused)?;
    let text = file.to_json().map_err(Failure::io)?;
    let place = folder.join(format!("{session}.json"));
    // A file that `import` would refuse is worth nothing as a copy.
    result_file::fits(text.len() as u64).map_err(|why| {
        Failure::refused_for(
            format!("{session} was not exported, since it could not be read again: {why}"),
            why,
        )
    })?;
    match place.symlink_metadata() {
        Ok(_) => refuse_other_content(&place, &text)?,
        // Written whole or not at all, also if the power fails: half a file would pass for a damaged one.
        Err(_) => {
            OutputFile::claim("--output", &place, None, FileMark::Head(SESSION_FILE_HEAD))?.write(&text)?
        }
    }
    Ok(ExportedFile { session: session.to_string(), file: place.display().to_string() })
}

fn refuse_other_content(place: &Path, text: &str) -> Result<()> {
    let mut there = Vec::new();
    // One byte more than expected shows that the file is longer.
    let read = cardscope_files::open(place, FileUse::Read)
        .and_then(|file| Ok(file.take(text.len() as u64 + 1).read_to_end(&mut there)?));
    match read {
        Ok(_) if there == text.as_bytes() => Ok(()),
        _ => Err(Failure::refused(format!(
            "{} exists with other content; name another folder, or move it away",
            place.display()
        ))),
    }
}

/// Imports session files and those directly in folders. A file that fails does not stop the others.
pub fn take(path: Option<&Path>, files: &[PathBuf]) -> Result<Vec<TakenFile>> {
    let mut archive = open(path)?;
    let mut all = Vec::new();
    for file in files {
        if file.is_dir() {
            all.extend(files_in_folder(file)?);
        } else {
            all.push(file.clone());
        }
    }
    Ok(all.iter().map(|file| import_session_file(&mut archive, file)).collect())
}

fn files_in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(folder).map_err(|e| Failure::io_for(format!("{}: {e}", folder.display()), e))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

fn import_session_file(archive: &mut Archive, file: &Path) -> TakenFile {
    let added = read(file).and_then(|read| Ok(archive.add_file(&read)?));
    let session = match &added {
        Ok(ImportedSource::New { sessions, .. }) => sessions.first().map(ToString::to_string),
        _ => None,
    };
    let known = matches!(added, Ok(ImportedSource::Known { .. }));
    TakenFile {
        file: file.display().to_string(),
        known,
        session,
        error: added.err().map(|why| why.to_string()),
    }
}

fn read(file: &Path) -> Result<SessionFile, ErrorCause> {
    let bytes = input::bytes(file, result_file::MOST_BYTES)?;
    result_file::read(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardscope_model::condition::Condition;
    use cardscope_session::recorder;
    use std::collections::BTreeSet;

    #[test]
    fn export_leaves_no_drafts_and_replaces_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("archive.sqlite");
        let start = recorder::start("verify", "sim:constant", 1, &Condition::default(), None);
        let session = Archive::open(&place).unwrap().begin_session(&start).unwrap();
        let out = folder.path().join("out");
        let file = out.join(format!("{session}.json"));
        let names = || std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().path()).collect::<BTreeSet<_>>();
        for _ in 0..2 {
            export(Some(&place), &[], &out).unwrap();
            assert_eq!(names(), [file.clone()].into(), "nothing half done lies beside it");
        }
        assert!(std::fs::read_to_string(&file).unwrap().starts_with(SESSION_FILE_HEAD));
        std::fs::write(&file, "mine").unwrap();
        let refused = export(Some(&place), &[], &out).unwrap_err();
        assert!(refused.to_string().contains("other content"), "{refused}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
}
