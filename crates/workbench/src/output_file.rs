//! A file that the user names for a page or a document: judged before the work begins, written at its end.
//!
//! A name may lead anywhere: to the card's own image by another name, to a device, to somebody's holiday pictures.
//! Nothing is replaced but what is known to be ours, and that only by a new file that is whole.

use crate::error::Failure;
use cardscope_device::{filesystem, guard, system::System};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;
use serde::de::IgnoredAny;
use std::collections::HashMap;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Documents longer than this are not looked into, and so not replaced: a watch of a day at one sample a second is
/// some 60 MB.
const MOST_BYTES: u64 = 256 << 20;

/// By what a file of our own making is known.
#[derive(Debug, Clone, Copy)]
pub enum Mark {
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

/// A name for a file to come.
#[derive(Debug)]
pub struct OutputFile {
    /// The option that named it.
    option: &'static str,
    /// As named.
    name: PathBuf,
    /// The device or file that the work is done on, where there is one.
    target: Option<String>,
    mark: Mark,
    on_target: bool,
}

/// Where a name leads.
struct Place {
    /// Without links.
    file: PathBuf,
    /// What is there already: a file of ours, or an empty one.
    there: Option<Metadata>,
}

impl OutputFile {
    /// Claims a name before the work begins. `target` is the device or file that the work is done on. In the folder
    /// it is tried out whether a file can be made, unless that would be an I/O on the target itself.
    ///
    /// # Errors
    /// A refusal: the name leads to what is no plain file, to the target, to a file that is not ours to replace, or
    /// to where nothing can be written.
    pub fn claim(
        option: &'static str,
        name: &Path,
        target: Option<&str>,
        mark: Mark,
    ) -> Result<OutputFile, Failure> {
        let on_target = target.is_some_and(|target| filesystem::lies_on(name, target));
        let claimed =
            OutputFile { option, name: name.to_owned(), target: target.map(str::to_owned), mark, on_target };
        let place = claimed.judge().map_err(Failure::Refused)?;
        if !on_target {
            let (beside, _) = beside(&place.file).map_err(|e| {
                Failure::Refused(claimed.told(&format!("{e}; name a file in a folder that you may write to")))
            })?;
            // Only a try: an empty file is nobody's loss if it stays.
            let _ = std::fs::remove_file(beside);
        }
        Ok(claimed)
    }

    /// True where the file lies on the device that the work is done on.
    #[must_use]
    pub fn on_target(&self) -> bool {
        self.on_target
    }

    /// As named.
    #[must_use]
    pub fn name(&self) -> &Path {
        &self.name
    }

    /// Writes it: whole, or not at all.
    ///
    /// # Errors
    /// If it cannot be written, or if what the name leads to has become another's since it was claimed. What was there
    /// before stays.
    pub fn write(&self, content: impl AsRef<[u8]>) -> Result<(), Failure> {
        let place = self.judge().map_err(Failure::Io)?;
        self.put(&place, content.as_ref())
            .map_err(|e| Failure::Io(self.told(&format!("it could not be written: {e}"))))
    }

    fn put(&self, place: &Place, content: &[u8]) -> std::io::Result<()> {
        let (beside, mut file) = beside(&place.file)?;
        let done = fill(&mut file, content, place.there.as_ref()).and_then(|()| move_to(&beside, place));
        if done.is_err() {
            // What is half written is of no use to anybody.
            let _ = std::fs::remove_file(&beside);
        }
        done
    }

    fn judge(&self) -> Result<Place, String> {
        let refused = |why: &str| self.told(why);
        let about = match self.name.metadata() {
            Ok(about) => about,
            Err(e) if e.kind() == ErrorKind::NotFound => return self.new_place(),
            Err(e) => return Err(refused(&e.to_string())),
        };
        if !about.is_file() {
            return Err(refused("that is no plain file and so no place for it; name a new file"));
        }
        let same = |target: &String| same_file(&about, Path::new(target));
        if self.target.as_ref().is_some_and(same) {
            return Err(refused("that is the card itself by another name; name a new file"));
        }
        guard::check_file(&System::host(), &self.name).map_err(|e| refused(&e.to_string()))?;
        if about.len() > 0 && !self.is_ours(&about) {
            return Err(refused(
                "there is a file of that name already, which Cardscope did not make; name a new file, or move that one away",
            ));
        }
        let file = self.name.canonicalize().map_err(|e| refused(&e.to_string()))?;
        Ok(Place { file, there: Some(about) })
    }

    fn new_place(&self) -> Result<Place, String> {
        if self.name.symlink_metadata().is_ok() {
            return Err(self.told("that is a link that leads nowhere; name a new file"));
        }
        let Some(last) = self.name.file_name() else { return Err(self.told("that is no name of a file")) };
        let folder = match self.name.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let missing = |_| self.told(&format!("there is no folder {}", folder.display()));
        let folder = folder.canonicalize().map_err(missing)?;
        Ok(Place { file: folder.join(last), there: None })
    }

    fn is_ours(&self, about: &Metadata) -> bool {
        let Ok(mut file) = File::open(&self.name) else { return false };
        match self.mark {
            Mark::Any => true,
            Mark::Word(word) => holds_near_an_end(&mut file, about.len(), word).unwrap_or(false),
            Mark::Head(head) => {
                let mut begin = Vec::new();
                let read = file.take(head.len() as u64).read_to_end(&mut begin);
                read.is_ok() && begin == head.as_bytes()
            }
            Mark::Fields(fields) => {
                let document: Option<HashMap<String, IgnoredAny>> = (about.len() <= MOST_BYTES)
                    .then(|| serde_json::from_reader(std::io::BufReader::new(file)).ok())
                    .flatten();
                document.is_some_and(|d| fields.iter().all(|field| d.contains_key(*field)))
            }
        }
    }

    fn told(&self, why: &str) -> String {
        format!("{} {}: {why}", self.option, self.name.display())
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

/// By inode, so that links and other names of one file are seen through.
fn same_file(about: &Metadata, other: &Path) -> bool {
    other.metadata().is_ok_and(|other| (about.dev(), about.ino()) == (other.dev(), other.ino()))
}

/// A new file in the folder of `file`; what is there under that name by chance is left alone.
fn beside(file: &Path) -> std::io::Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!(".cardscope-{}-{}.part", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let beside = file.with_file_name(name);
    let made = OpenOptions::new().write(true).create_new(true).open(&beside)?;
    Ok((beside, made))
}

fn fill(file: &mut File, content: &[u8], before: Option<&Metadata>) -> std::io::Result<()> {
    file.write_all(content)?;
    if let Some(before) = before {
        // With sudo the file stays its owner's. Who may not give it away has it then, which is no reason to fail.
        let _ = std::os::unix::fs::fchown(&*file, Some(before.uid()), Some(before.gid()));
        let _ = file.set_permissions(before.permissions());
    }
    file.sync_all()
}

/// Where nothing was, nothing is replaced, not even what came a moment ago.
fn move_to(beside: &Path, place: &Place) -> std::io::Result<()> {
    if place.there.is_none() {
        match renameat_with(CWD, beside, CWD, &place.file, RenameFlags::NOREPLACE) {
            // A file system that cannot promise it.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            other => return Ok(other?),
        }
    }
    std::fs::rename(beside, &place.file)
}

#[cfg(test)]
mod tests;
