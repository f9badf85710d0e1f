//! Export of sessions as files, one each (docs/result-file.schema.json), and import of such files.

use super::cards::ids_with_records_last;
use super::lookup::{self, NamedItem};
use cardscope_engine::cause::ErrorCause;
use cardscope_engine::input_file;
use cardscope_files::{FileUse, ResolvedFolder};
use cardscope_import::verb::session_file;
use cardscope_model::session_file::SessionFile;
use cardscope_session::archive_access::{open_or_create, open_to_read, require_archive};
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
pub fn export_sessions(path: Option<&Path>, what: &[String], folder: &Path) -> Result<Vec<ExportedFile>> {
    let archive = if what.is_empty() { open_to_read(path)? } else { Some(require_archive(path)?) };
    let Some(mut archive) = archive else { return Ok(Vec::new()) };
    let sessions = resolve_sessions(&mut archive, what)?;
    ResolvedFolder::open_or_create(folder, 0o777)
        .map_err(|e| Failure::io_for(format!("{}: {e}", folder.display()), e))?;
    sessions.into_iter().map(|session| write_session_file(&mut archive, session, folder)).collect()
}

fn resolve_sessions(archive: &mut Archive, what: &[String]) -> Result<Vec<SessionId>> {
    if what.is_empty() {
        return Ok(ids_with_records_last(archive.sessions()?));
    }
    let mut found = Vec::new();
    for text in what {
        match lookup::find_item(archive, text)? {
            NamedItem::Session(session) => found.push(session),
            NamedItem::Card(card) => found.extend(ids_with_records_last(archive.card_sessions(&card.id)?)),
        }
    }
    Ok(found)
}

fn write_session_file(archive: &mut Archive, session: SessionId, folder: &Path) -> Result<ExportedFile> {
    let file = archive.export(session).map_err(Failure::refused)?;
    let text = file.to_json().map_err(Failure::io)?;
    let place = folder.join(format!("{session}.json"));
    // A file that `import` would refuse is worth nothing as a copy.
    session_file::check_length(text.len() as u64).map_err(|why| {
        let words = format!("{session} was not exported, since it could not be read again: {why}");
        Failure::refused_for(words, why)
    })?;
    match place.symlink_metadata() {
        Ok(_) => refuse_other_content(&place, &text)?,
        // Written whole or not at all, also if the power fails: half a file would pass for a damaged one.
        Err(_) => OutputFile::claim("--output", &place, None, FileMark::BeginsWith(SESSION_FILE_HEAD))?
            .write_content(&text)?,
    }
    Ok(ExportedFile { session: session.to_string(), file: place.display().to_string() })
}

fn refuse_other_content(place: &Path, text: &str) -> Result<()> {
    let mut there = Vec::new();
    // One byte more than expected shows that the file is longer.
    let read = cardscope_files::open_file(place, FileUse::Read)
        .and_then(|file| Ok(file.take(text.len() as u64 + 1).read_to_end(&mut there)?));
    match read {
        Ok(_) if there == text.as_bytes() => Ok(()),
        _ => {
            let advice = "name another folder, or move it away";
            Err(Failure::refused(format!("{} exists with other content; {advice}", place.display())))
        }
    }
}

/// Imports session files and those directly in folders. A file that fails does not stop the others.
pub fn import_session_files(path: Option<&Path>, files: &[PathBuf]) -> Result<Vec<TakenFile>> {
    let mut archive = open_or_create(path)?;
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
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(|p| p.is_file()).collect();
    files.sort();
    Ok(files)
}

fn import_session_file(archive: &mut Archive, file: &Path) -> TakenFile {
    let added = read_session_file(file).and_then(|read| Ok(archive.add_file(&read)?));
    let (known, session, error) = match added {
        Ok(ImportedSource::New { sessions, .. }) => (false, sessions.first().map(ToString::to_string), None),
        Ok(ImportedSource::Known { .. }) => (true, None, None),
        Err(why) => (false, None, Some(why.to_string())),
    };
    TakenFile { file: file.display().to_string(), known, session, error }
}

fn read_session_file(file: &Path) -> Result<SessionFile, ErrorCause> {
    let bytes = input_file::read_bytes(file, session_file::MOST_BYTES)?;
    session_file::parse_session_file(&bytes)
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
        let start = recorder::session_start("verify", "sim:constant", 1, &Condition::default(), None);
        let session = Archive::open(&place).unwrap().begin_session(&start).unwrap();
        let out = folder.path().join("out");
        let file = out.join(format!("{session}.json"));
        let names = || std::fs::read_dir(&out).unwrap().map(|e| e.unwrap().path()).collect::<BTreeSet<_>>();
        for _ in 0..2 {
            export_sessions(Some(&place), &[], &out).unwrap();
            assert_eq!(names(), [file.clone()].into(), "nothing half done lies beside it");
        }
        assert!(std::fs::read_to_string(&file).unwrap().starts_with(SESSION_FILE_HEAD));
        std::fs::write(&file, "mine").unwrap();
        let refused = export_sessions(Some(&place), &[], &out).unwrap_err();
        assert!(refused.to_string().contains("other content"), "{refused}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "mine");
    }
}
