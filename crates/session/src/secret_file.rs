//! Secret files: readable by their owner only, in folders that others cannot write to. A file with wrong rights is refused,
//! and the message names the command that corrects them.

use crate::error::{Failure, Result};
use cardscope_files::{DraftFile, FileError, FileIdentity, ResolvedFolder, is_trusted};
use cardscope_model::shell::shell_quote_path;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Mode bits of group and others.
const OTHER_USERS_MODE: u32 = 0o077;
const OTHERS_WRITE_MODE: u32 = 0o002;

/// Size limit. Longer files hold no secret of this program.
const MAX_SECRET_BYTES: u64 = 4096;

/// Returns the text of a secret, or None if there is no file. Bytes that are not UTF-8 give an empty text.
/// Refuses a file that others can read, change or replace.
pub fn read_secret(path: &Path) -> Result<Option<String>> {
    if ResolvedFolder::parent_of(path).is_err_and(|error| error.is_absent()) {
        return Ok(None);
    }
    let (folder, name) = private_folder(path)?;
    let Some(file) = folder.open_existing(&name).map_err(|e| file_failure(path, e))? else { return Ok(None) };
    require_private(&file, path)?;
    let mut text = String::new();
    match file.take(MAX_SECRET_BYTES).read_to_string(&mut text) {
        Err(error) if error.kind() != ErrorKind::InvalidData => Err(file_failure(path, error.into())),
        _ => Ok(Some(text)),
    }
}

/// Stores a secret in a new file.
/// Refuses if the file exists, cannot be written, or could be replaced by others.
pub fn create_secret(path: &Path, text: &str) -> Result<()> {
    let (folder, name) = private_folder(path)?;
    let write = || -> Result<(), FileError> {
        let mut file = folder.create(&name, 0o600)?;
        file.write_all(text.as_bytes())?;
        Ok(file.sync_all()?)
    };
    write().map_err(|e| file_failure(path, e))
}

/// Stores a secret and replaces the private file of this name.
/// Refuses as [`create_secret`], and if others can read or change the existing file.
pub fn replace_secret(path: &Path, text: &str) -> Result<()> {
    let (folder, name) = private_folder(path)?;
    let old = folder.open_existing(&name).map_err(|e| file_failure(path, e))?;
    old.as_ref().map_or(Ok(()), |old| require_private(old, path))?;
    let write = || -> Result<(), FileError> {
        let draft = DraftFile::new(&folder, old, 0o600)?;
        draft.file().write_all(text.as_bytes())?;
        draft.place(&name)
    };
    write().map_err(|e| file_failure(path, e))
}

/// Removes a secret of this user if the file still contains `text`.
pub fn remove_secret(path: &Path, text: &str) {
    let Ok((folder, name)) = ResolvedFolder::parent_of(path) else { return };
    let Ok(Some(file)) = folder.open_existing(&name) else { return };
    let Ok(identity) = FileIdentity::of_file(&file) else { return };
    let own = is_trusted(file.metadata().map_or(u32::MAX, |found| found.uid()));
    let mut found = String::new();
    if own && file.take(MAX_SECRET_BYTES).read_to_string(&mut found).is_ok() && found.contains(text) {
        // A failure is harmless: the secret is useless once the server has ended.
        let _ = folder.remove(&name, identity);
    }
}

fn private_folder(path: &Path) -> Result<(ResolvedFolder, OsString)> {
    let (folder, name) = ResolvedFolder::parent_of(path).map_err(|e| file_failure(path, e))?;
    let shown = path.display();
    let writable = |at: &Path| {
        Failure::refused(format!(
            "{shown} lies in a folder that others can write to; prevent that: chmod go-w {}",
            shell_quote_path(at)
        ))
    };
    match folder.require_stable_path() {
        Ok(()) => {}
        Err(FileError::ReplaceableByOthers { folder }) => return Err(writable(&folder)),
        Err(FileError::ReplaceableByOwner { folder, owner }) => {
            let (user, folder) = (rustix::process::geteuid().as_raw(), shell_quote_path(&folder));
            return Err(Failure::refused(format!(
                "{shown} lies in a folder of user {owner}; move it to one of yours, or: chown {user} {folder}"
            )));
        }
        Err(other) => return Err(file_failure(path, other)),
    }
    // A sticky folder such as /tmp prevents others from replacing a file, but not from creating it first.
    let found = folder.reopen_readable().map(File::from).ok().and_then(|opened| opened.metadata().ok());
    match found.is_some_and(|found| found.mode() & OTHERS_WRITE_MODE != 0) {
        true => Err(writable(folder.path())),
        false => Ok((folder, name)),
    }
}

fn require_private(file: &File, path: &Path) -> Result<()> {
    let found = file.metadata().map_err(|e| file_failure(path, e.into()))?;
    let (shown, typed) = (path.display(), shell_quote_path(path));
    if !is_trusted(found.uid()) {
        let owner = found.uid();
        return Err(Failure::refused(format!(
            "{shown} is owned by user {owner}, who may know the secret in it; remove it: rm {typed}"
        )));
    }
    match found.mode() & OTHER_USERS_MODE {
        0 => Ok(()),
        _ => Err(Failure::refused(format!(
            "{shown} can be read or changed by others (mode {:04o}), who may know the secret in it; make it private: chmod 600 {typed}",
            found.mode() & 0o7777
        ))),
    }
}

fn file_failure(path: &Path, error: FileError) -> Failure {
    Failure::refused_for(format!("{} cannot be used: {error}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, chown};

    #[test]
    fn secret_is_refused_where_others_have_rights_on_file_or_folder() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("secret");
        assert_eq!(read_secret(&file).unwrap(), None);
        create_secret(&file, "one").unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600);
        let holds = |text: &str| assert_eq!(read_secret(&file).unwrap().as_deref(), Some(text));
        let refused = |command: &str| {
            for why in [read_secret(&file).unwrap_err(), replace_secret(&file, "two").unwrap_err()] {
                assert!(why.to_string().contains(command), "{why}");
            }
        };
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        for mode in [0o644, 0o640, 0o620, 0o602, 0o604, 0o666] {
            set(&file, mode);
            refused("chmod 600");
        }
        set(&file, 0o400);
        holds("one");
        for mode in [0o777, 0o1777, 0o702] {
            set(dir.path(), mode);
            refused("chmod go-w");
            assert!(create_secret(&dir.path().join("new"), "x").is_err());
        }
        set(dir.path(), 0o755);
        replace_secret(&file, "two").unwrap();
        holds("two");
        remove_secret(&file, "one");
        holds("two");
        remove_secret(&file, "two");
        assert_eq!(read_secret(&file).unwrap(), None);
    }

    #[test]
    fn secret_of_another_user_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("secret");
        create_secret(&file, "one").unwrap();
        chown(&file, Some(65534), None).unwrap();
        assert!(read_secret(&file).unwrap_err().to_string().contains("rm "));
        chown(&file, Some(rustix::process::geteuid().as_raw()), None).unwrap();
        chown(dir.path(), Some(65534), None).unwrap();
        assert!(read_secret(&file).unwrap_err().to_string().contains("chown "));
    }
}
