//! Uploaded files in a temporary folder, which is removed with the server, or at the next start if it was killed. Clients
//! name files by ids that the server assigns, never by paths.

use crate::api::UploadedFile;
use crate::poison;
use crate::refusal::{RequestRefusal, Result};
use axum::body::Body;
use axum::http::StatusCode;
use rustix::fs::{FlockOperation, Mode, OFlags};
use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio_stream::StreamExt;
use uuid::Uuid;

pub(crate) const MAX_FILE_BYTES: u64 = 256 << 20;

const MAX_TOTAL_BYTES: u64 = 1 << 30;

const MAX_FILES: usize = 2000;

/// Prefix of the folders' names.
const FOLDER_PREFIX: &str = "cardscope-uploads-";

pub(crate) struct UploadFolder {
    folder: PathBuf,
    /// Locked while the server lives; an unlocked folder is abandoned and may be removed.
    _lock: OwnedFd,
    files: Mutex<HashMap<String, UploadedFile>>,
    /// Bytes of complete and incoming files.
    bytes: AtomicU64,
}

impl UploadFolder {
    /// Creates a folder for this user only, and removes folders of killed servers.
    pub(crate) fn new() -> std::io::Result<Self> {
        let all = std::env::temp_dir();
        remove_abandoned(&all);
        loop {
            let folder = all.join(format!("{FOLDER_PREFIX}{}", Uuid::now_v7()));
            DirBuilder::new().mode(0o700).create(&folder)?;
            // Another server that starts now may have removed it as abandoned before it was locked.
            if let Some(_lock) = lock_folder(&folder).filter(|_| folder.exists()) {
                return Ok(UploadFolder { folder, _lock, files: Mutex::default(), bytes: AtomicU64::new(0) });
            }
        }
    }

    /// Stores a file while its body arrives; `length` is the Content-Length.
    pub(crate) async fn receive(&self, name: &str, length: Option<u64>, body: Body) -> Result<UploadedFile> {
        let too_large = || {
            let mib = MAX_FILE_BYTES >> 20;
            let why = format!("{name:?} is larger than {mib} MiB; import it with `cardscope import`");
            RequestRefusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
        };
        if length.is_some_and(|bytes| bytes > MAX_FILE_BYTES) {
            return Err(too_large());
        }
        let files = poison::lock(&self.files).len();
        if files >= MAX_FILES || self.bytes.load(Ordering::Relaxed) >= MAX_TOTAL_BYTES {
            return Err(too_many());
        }
        let name = safe_file_name(name);
        let id = Uuid::now_v7().simple().to_string();
        // Importers interpret the file's name, so it is kept, in a folder with the id as its name.
        let folder = self.folder.join(&id);
        std::fs::create_dir(&folder).map_err(|e| storage_error(&e))?;
        let mut coming = UploadInProgress { uploads: self, folder, bytes: 0, whole: false };
        let path = coming.folder.join(&name);
        coming.write(&path, body, too_large).await?;
        coming.whole = true;
        let upload = UploadedFile { upload: id.clone(), name, bytes: coming.bytes };
        poison::lock(&self.files).insert(id, upload.clone());
        Ok(upload)
    }

    pub(crate) fn path(&self, id: &str) -> Option<PathBuf> {
        let files = poison::lock(&self.files);
        let upload = files.get(id)?;
        Some(self.folder.join(&upload.upload).join(&upload.name))
    }

    /// Removes a file; false if the id is unknown.
    pub(crate) fn remove(&self, id: &str) -> bool {
        let Some(upload) = poison::lock(&self.files).remove(id) else { return false };
        self.bytes.fetch_sub(upload.bytes, Ordering::Relaxed);
        remove_folder(&self.folder.join(upload.upload));
        true
    }

    /// Writes a text to a temporary file for a child process.
    pub(crate) fn write_text(&self, name: &str, text: &str) -> std::io::Result<TemporaryText> {
        let name = format!("{}-{}", Uuid::now_v7().simple(), safe_file_name(name));
        let file = TemporaryText(self.folder.join(name));
        File::create_new(&file.0)?.write_all(text.as_bytes())?;
        Ok(file)
    }
}

#[cfg(test)]
impl UploadFolder {
    /// True if a path leads to a file in this folder.
    pub(crate) fn holds(&self, path: &str) -> bool {
        !path.contains("..") && Path::new(path).starts_with(&self.folder)
    }
}

/// Temporary file of a text, removed when dropped.
#[derive(Debug)]
pub(crate) struct TemporaryText(PathBuf);

impl TemporaryText {
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryText {
    fn drop(&mut self) {
        // The folder is removed in the end anyway.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Incoming file, removed when dropped unless complete: a client that disconnects drops the request's future.
struct UploadInProgress<'a> {
    uploads: &'a UploadFolder,
    folder: PathBuf,
    bytes: u64,
    whole: bool,
}

impl UploadInProgress<'_> {
    async fn write(&mut self, path: &Path, body: Body, too_large: impl Fn() -> RequestRefusal) -> Result<()> {
        let mut file = File::create_new(path).map_err(|e| storage_error(&e))?;
        let mut stream = body.into_data_stream();
        while let Some(part) = stream.next().await {
            let cut = |e| format!("the file did not come whole: {e}");
            let part = part.map_err(|e| RequestRefusal::new(StatusCode::BAD_REQUEST, cut(e)))?;
            let bytes = part.len() as u64;
            self.bytes += bytes;
            let all = bytes + self.uploads.bytes.fetch_add(bytes, Ordering::Relaxed);
            if self.bytes > MAX_FILE_BYTES {
                return Err(too_large());
            }
            if all > MAX_TOTAL_BYTES {
                return Err(too_many());
            }
            file.write_all(&part).map_err(|e| storage_error(&e))?;
        }
        Ok(())
    }
}

impl Drop for UploadInProgress<'_> {
    fn drop(&mut self) {
        if !self.whole {
            self.uploads.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
            remove_folder(&self.folder);
        }
    }
}

impl Drop for UploadFolder {
    fn drop(&mut self) {
        remove_folder(&self.folder);
    }
}

fn remove_abandoned(all: &Path) {
    let folders = std::fs::read_dir(all).into_iter().flatten().flatten();
    for folder in folders {
        let name = folder.file_name();
        let id = name.to_str().and_then(|name| name.strip_prefix(FOLDER_PREFIX));
        if id.is_some_and(|id| Uuid::try_parse(id).is_ok())
            && let Some(_lock) = lock_folder(&folder.path())
        {
            remove_folder(&folder.path());
        }
    }
}

/// Opens and locks a folder; `None` if its server lives or another user owns it. Never follows a link.
fn lock_folder(folder: &Path) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::open(folder, flags, Mode::empty()).ok()?;
    let own = rustix::fs::fstat(&opened).ok()?.st_uid == rustix::process::geteuid().as_raw();
    let lock = own.then(|| rustix::fs::flock(&opened, FlockOperation::NonBlockingLockExclusive).ok())?;
    lock.map(|()| opened)
}

fn remove_folder(folder: &Path) {
    // A file that remains lies in the temporary folder.
    let _ = std::fs::remove_dir_all(folder);
}

fn too_many() -> RequestRefusal {
    RequestRefusal::conflict("too many files wait to be imported; keep or remove some first")
}

fn storage_error(error: &std::io::Error) -> RequestRefusal {
    let folder = std::env::temp_dir();
    let why = format!("the file cannot be stored in {}: {error}; free some space there", folder.display());
    RequestRefusal::new(StatusCode::INSUFFICIENT_STORAGE, why)
}

/// Last part of a client's file name, without anything that could form a path.
fn safe_file_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain: String = last.chars().filter(|c| !c.is_control()).collect();
    // Linux allows 255 bytes; the rest is margin.
    match &plain[..plain.floor_char_boundary(200)] {
        "" | "." | ".." => "file".to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn file_names_cannot_leave_folder() {
        for (sent, kept) in [
            ("run1.log", "run1.log"),
            ("../../etc/passwd", "passwd"),
            ("C:\\logs\\a b.txt", "a b.txt"),
            ("..", "file"),
            ("a/", "file"),
            ("", "file"),
            ("nul\0\n.log", "nul.log"),
        ] {
            assert_eq!(safe_file_name(sent), kept, "{sent:?}");
        }
        assert!(safe_file_name(&"é".repeat(400)).len() <= 200);
    }

    #[test]
    fn only_abandoned_folders_are_removed() {
        let all = tempfile::tempdir().unwrap();
        let at = |name: &str| all.path().join(name);
        let id = |n: u8| format!("{FOLDER_PREFIX}{}", Uuid::from_bytes([n; 16]));
        for name in [id(1), id(2), id(3), format!("{FOLDER_PREFIX}mine"), "other".to_owned()] {
            std::fs::create_dir(at(&name)).unwrap();
            std::fs::write(at(&name).join("file"), "x").unwrap();
        }
        let _living = lock_folder(&at(&id(2))).unwrap();
        std::os::unix::fs::chown(at(&id(3)), Some(65534), None).unwrap();
        std::os::unix::fs::symlink(at("other"), at(&id(4))).unwrap();
        remove_abandoned(all.path());
        let mut left: Vec<String> = std::fs::read_dir(all.path())
            .unwrap()
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [id(2), id(3), id(4), format!("{FOLDER_PREFIX}mine"), "other".to_owned()]);
        assert!(at("other").join("file").exists());
    }

    #[test]
    fn upload_folder_is_private_and_removed_with_server() {
        let uploads = UploadFolder::new().unwrap();
        let folder = uploads.folder.clone();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        let file = uploads.write_text("mine.toml", "name = 1").unwrap();
        let path = file.path().to_owned();
        assert!(path.starts_with(&folder) && path.extension().is_some_and(|e| e == "toml") && path.exists());
        drop(file);
        assert!(!path.exists());
        drop(uploads);
        assert!(!folder.exists());
    }
}
