//! A file that the user names for a page or a document: judged before the work begins, written at its end.
//!
//! A name may lead anywhere: to the card's own image by another name, to a device, to somebody's holiday pictures.
//! Nothing is replaced but what is known to be ours, and that only by a new file that is whole.

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

/// Documents longer than this are not looked into, and so not replaced: a watch of a day at one sample a second is
/// some 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// By what a file of our own making is known.
#[derive(Debug, Clone, Copy)]
pub enum FileMark {
    /// It begins so.
    Head(&'static str),
    /// It is one JSON object with all of these fields.
    Fields(&'static [&'static str]),
    /// This word stands near its beginning or its end.
    Word(&'static str),
    /// By nothing: the user said that whatever file is there may be replaced.
    Any,
}

/// How near a [`Mark::Word`] stands to an end of its file, in bytes.
const NEAR: u64 = 8192;

/// A name for a file to come, in a folder that is held from the claim on.
#[derive(Debug)]
pub struct OutputFile {
    /// The option that named it.
    option: &'static str,
    /// As named.
    name: PathBuf,
    folder: ResolvedFolder,
    /// Its name in the folder.
    last: OsString,
    /// What had the name when it was claimed: a file of ours, or an empty one.
    there: Option<File>,
    /// The device or file that the work is done on, where there is one.
    target: Option<String>,
    mark: FileMark,
    on_target: bool,
}

impl OutputFile {
    /// Claims a name before the work begins. `target` is the device or file that the work is done on. In the folder
    /// it is tried out whether a file can be made, unless that would be an I/O on the target itself.
    ///
    /// # Errors
    /// A refusal: the name leads to what is not a plain file, through a link of another user, to the target, to a file
    /// that is not ours to replace, or to where nothing can be written.
    pub fn claim(
        option: &'static str,
        name: &Path,
        target: Option<&str>,
        mark: FileMark,
    ) -> Result<OutputFile> {
        let said = |why: ErrorCause| Failure::refused_for(format!("{option} {}: {why}", name.display()), why);
        let (folder, last) = ResolvedFolder::of_file(name).map_err(|e| said(no_folder(name, e)))?;
        let on_target = target.is_some_and(|target| filesystem::lies_on(&folder.by_descriptor(), target));
        let (name, target) = (name.to_owned(), target.map(str::to_owned));
        let mut claimed = OutputFile { option, name, folder, last, there: None, target, mark, on_target };
        claimed.there = claimed.judge().map_err(&said)?;
        if !on_target {
            // Only a try, and gone again.
            let tried = DraftFile::new(&claimed.folder, None, 0o600).map(drop);
            tried
                .map_err(|e| said(ErrorCause::worded(format!("{e}; name a file in a writable folder"), e)))?;
        }
        Ok(claimed)
    }

    /// True where the file lies on the device that the work is done on.
    pub fn on_target(&self) -> bool {
        self.on_target
    }

    /// As named.
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Writes it: whole, or not at all.
    ///
    /// # Errors
    /// If it cannot be written, or if the name has become another file's since it was claimed. What was there before
    /// stays.
    pub fn write(&self, content: impl AsRef<[u8]>) -> Result<()> {
        let failed =
            |why: ErrorCause| Failure::io_for(format!("{} {}: {why}", self.option, self.name.display()), why);
        let now = self.judge().map_err(failed)?;
        self.put(now, content.as_ref())
            .map_err(|e| failed(ErrorCause::worded(format!("it could not be written: {e}"), e)))
    }

    fn put(&self, now: Option<File>, content: &[u8]) -> Result<(), FileError> {
        // What was there when it was claimed may be gone; nothing else may be there instead.
        if let Some(now) = &now {
            let claimed = self.there.as_ref().map(FileIdentity::of).transpose()?;
            if claimed != Some(FileIdentity::of(now)?) {
                return Err(FileError::Changed);
            }
        }
        let draft = DraftFile::new(&self.folder, now, 0o666)?;
        draft.file().write_all(content)?;
        draft.place(&self.last)
    }

    /// The file that has the name, if it may be replaced; `None` where nothing has.
    fn judge(&self) -> Result<Option<File>, ErrorCause> {
        let mut file = match self.folder.find(&self.last) {
            Ok(Some(file)) => file,
            Ok(None) => return Ok(None),
            Err(e @ FileError::NotPlain(_)) => {
                return Err(ErrorCause::worded(format!("{e}; name a new file"), e));
            }
            Err(e) => return Err(e.into()),
        };
        let about = file.metadata()?;
        if self
            .target
            .as_ref()
            .is_some_and(|target| FileIdentity::at(Path::new(target)) == Some(FileIdentity::from(&about)))
        {
            return Err("that is the card itself; name a new file".into());
        }
        guard::check_file_id(&SystemRoots::host(), FileIdentity::from(&about), &self.name)?;
        if about.len() > 0 && !self.is_ours(&mut file, about.len()) {
            return Err("the file exists and is not a Cardscope file; name a new file, or move that one \
                        away"
                .into());
        }
        Ok(Some(file))
    }

    fn is_ours(&self, file: &mut File, bytes: u64) -> bool {
        match self.mark {
            FileMark::Any => true,
            FileMark::Word(word) => holds_near_an_end(file, bytes, word).unwrap_or(false),
            FileMark::Head(head) => {
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

fn no_folder(name: &Path, error: FileError) -> ErrorCause {
    match name.parent() {
        Some(folder) if error.is_absent() => {
            ErrorCause::worded(format!("the folder {} does not exist", folder.display()), error)
        }
        _ => error.into(),
    }
}

fn holds_near_an_end(file: &mut File, bytes: u64, word: &str) -> std::io::Result<bool> {
    for start in [0, bytes.saturating_sub(NEAR)] {
        let mut part = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        Read::by_ref(file).take(NEAR).read_to_end(&mut part)?;
        if part.windows(word.len()).any(|window| window == word.as_bytes()) {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests;
