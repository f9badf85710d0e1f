//! Output files of verbs, which are checked before the work and written at its end.
//!
//! A name may lead anywhere: to the card's own image, to a device, to private photographs. Only a file that is
//! recognized as Cardscope's own is replaced, and always by a complete new file.

use crate::error::{Failure, Result};
use cardscope_device::{filesystem, guard, system::SystemRoots};
use cardscope_engine::cause::ErrorCause;
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder};
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Larger files are not parsed and therefore not replaced. A watch of a day at one sample per second takes about 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// Mark by which a Cardscope file is recognized.
#[derive(Debug, Clone, Copy)]
pub enum FileMark {
    /// Text at the beginning.
    BeginsWith(&'static str),
    /// Fields of its JSON object.
    Fields(&'static [&'static str]),
    /// Word near its beginning or end.
    ContainsWord(&'static str),
    /// Any file, because the user allowed it.
    Any,
}

/// Range at each end of a file that is searched for a [`FileMark::Word`], in bytes.
const SEARCHED_BYTES: u64 = 8192;

/// Claimed name of a file to be written. Its folder stays open from the claim on.
#[derive(Debug)]
pub struct OutputFile {
    option: &'static str,
    name: PathBuf,
    folder: ResolvedFolder,
    file_name: OsString,
    /// File that had the name at the claim: a Cardscope file or an empty one.
    existing_file: Option<File>,
    /// Device or file under test.
    target: Option<String>,
    mark: FileMark,
    on_target: bool,
}

impl OutputFile {
    /// Claims a name before the work. It tries to create a file in the folder, unless the folder lies on the device under test.
    /// Refuses a name that leads to a special file, through a link of another user, to the target, to a file that is not
    /// Cardscope's, or to a folder that is not writable.
    pub fn claim(option: &'static str, name: &Path, target: Option<&str>, mark: FileMark) -> Result<Self> {
        let shown = name.display();
        let failed = |why: ErrorCause| Failure::refused_for(format!("{option} {shown}: {why}"), why);
        let (folder, file_name) =
            ResolvedFolder::parent_of(name).map_err(|e| failed(folder_error(name, e)))?;
        let on_target = target.is_some_and(|target| filesystem::is_on_disk_of(&folder.proc_path(), target));
        let (name, target) = (name.to_owned(), target.map(str::to_owned));
        let existing_file = None;
        let mut claimed =
            OutputFile { option, name, folder, file_name, existing_file, target, mark, on_target };
        claimed.existing_file = claimed.find_replaceable().map_err(&failed)?;
        // The draft is deleted at once.
        if !on_target && let Err(e) = DraftFile::new(&claimed.folder, None, 0o600) {
            let text = format!("{e}; name a file in a writable folder");
            return Err(failed(ErrorCause::with_message(text, e)));
        }
        Ok(claimed)
    }

    pub fn on_target(&self) -> bool {
        self.on_target
    }

    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Writes the file completely or not at all.
    /// Fails if it cannot be written, or if another file took the name since the claim. An existing file is then unchanged.
    pub fn write_content(&self, content: impl AsRef<[u8]>) -> Result<()> {
        let named = format!("{} {}", self.option, self.name.display());
        let failed = |why: ErrorCause| Failure::io_for(format!("{named}: {why}"), why);
        let now = self.find_replaceable().map_err(failed)?;
        self.replace_file(now, content.as_ref())
            .map_err(|e| failed(ErrorCause::with_message(format!("it could not be written: {e}"), e)))
    }

    fn replace_file(&self, now: Option<File>, content: &[u8]) -> Result<(), FileError> {
        // The claimed file may have been deleted, but no other may have taken its name.
        if let Some(now) = &now {
            let claimed = self.existing_file.as_ref().map(FileIdentity::of_file).transpose()?;
            if claimed != Some(FileIdentity::of_file(now)?) {
                return Err(FileError::Changed);
            }
        }
        let draft = DraftFile::new(&self.folder, now, 0o666)?;
        draft.file().write_all(content)?;
        draft.place(&self.file_name)
    }

    /// Returns the existing file if it may be replaced, None if there is none.
    fn find_replaceable(&self) -> Result<Option<File>, ErrorCause> {
        let existing = self.folder.open_existing(&self.file_name).map_err(|e| match e {
            FileError::NotPlain(_) => ErrorCause::with_message(format!("{e}; name a new file"), e),
            e => e.into(),
        })?;
        let Some(mut file) = existing else { return Ok(None) };
        let about = file.metadata()?;
        let identity = FileIdentity::from(&about);
        let target = self.target.as_ref().and_then(|target| FileIdentity::of_path(Path::new(target)));
        if target == Some(identity) {
            return Err("that is the card itself; name a new file".into());
        }
        guard::check_file(&SystemRoots::host(), identity, &self.name)?;
        if about.len() > 0 && !self.is_ours(&mut file, about.len()) {
            let why = "the file exists and is not a Cardscope file; name a new file, or move that one away";
            return Err(why.into());
        }
        Ok(Some(file))
    }

    fn is_ours(&self, file: &mut File, bytes: u64) -> bool {
        match self.mark {
            FileMark::Any => true,
            FileMark::ContainsWord(word) => holds_near_an_end(file, bytes, word).unwrap_or(false),
            FileMark::BeginsWith(head) => {
                let mut begin = Vec::new();
                let read = file.take(head.len() as u64).read_to_end(&mut begin);
                read.is_ok() && begin == head.as_bytes()
            }
            FileMark::Fields(fields) => {
                let document: Option<HashMap<String, IgnoredAny>> = (bytes <= MOST_BYTES)
                    .then(|| serde_json::from_reader(std::io::BufReader::new(file)).ok())
                    .flatten();
                document.is_some_and(|d| fields.iter().all(|field| d.contains_key(*field)))
            }
        }
    }
}

fn folder_error(name: &Path, error: FileError) -> ErrorCause {
    match name.parent() {
        Some(folder) if error.is_absent() => {
            ErrorCause::with_message(format!("the folder {} does not exist", folder.display()), error)
        }
        _ => error.into(),
    }
}

fn holds_near_an_end(file: &mut File, bytes: u64, word: &str) -> std::io::Result<bool> {
    for start in [0, bytes.saturating_sub(SEARCHED_BYTES)] {
        let mut part = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        Read::by_ref(file).take(SEARCHED_BYTES).read_to_end(&mut part)?;
        if part.windows(word.len()).any(|window| window == word.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
