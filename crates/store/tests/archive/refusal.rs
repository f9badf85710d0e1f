//! Other files are refused with a reason and stay unchanged.

use crate::sessions::{run, sample, start};
use cardscope_store::{Archive, ArchiveError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;

fn filled(path: &Path) {
    let mut archive = Archive::open(path).unwrap();
    let session = archive.begin_session(&start()).unwrap();
    archive.begin_run(session, run(1)).unwrap();
    (0..30).for_each(|i| archive.add_sample(session, 1, &sample(i)).unwrap());
}

/// Opens a file with these bytes, and checks that the folder is unchanged.
fn refused(bytes: &[u8]) -> ArchiveError {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    fs::write(&path, bytes).unwrap();
    let error = Archive::open(&path).unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), bytes);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    error
}

/// Bytes of an archive whose header is overwritten at `at`.
fn altered(at: usize, with: [u8; 4]) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    filled(&path);
    let mut bytes = fs::read(&path).unwrap();
    bytes[at..at + 4].copy_from_slice(&with);
    bytes
}

#[test]
fn other_files_are_refused_unchanged() {
    for bytes in [&b"id,name\n1,card\n"[..], &[0x5a; 4096], &[0; 100_000]] {
        let error = refused(bytes);
        assert!(matches!(error, ArchiveError::NotAnArchive { .. }), "{error}");
        assert!(error.to_string().contains("was not changed; give another --archive FILE"), "{error}");
    }
}

#[test]
fn foreign_database_is_refused_unchanged() {
    // Offset 68 of the header: application id.
    let error = refused(&altered(68, [0; 4]));
    assert!(error.to_string().contains("an SQLite database of another program"), "{error}");
}

#[test]
fn truncated_archive_is_refused_with_missing_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    filled(&path);
    let whole = fs::read(&path).unwrap();
    for keep in [whole.len() / 2, whole.len() - 4096, 4096, 1000] {
        let error = refused(&whole[..keep]);
        let message = format!("only {keep} of {} bytes", whole.len());
        assert!(error.to_string().contains(&message), "{error}");
    }
    assert!(matches!(refused(&whole[..50]), ArchiveError::NotAnArchive { .. }));
}

#[test]
fn newer_archive_is_refused() {
    // Offset 60 of the header: user version, big-endian.
    let error = refused(&altered(60, 99u32.to_be_bytes()));
    assert!(matches!(error, ArchiveError::Newer { found: 99, .. }), "{error}");
}

#[test]
fn empty_file_becomes_archive() {
    let file = tempfile::NamedTempFile::new().unwrap();
    filled(file.path());
    assert_eq!(Archive::open(file.path()).unwrap().sessions().unwrap().len(), 1);
}

#[test]
fn folder_at_archive_path_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let error = Archive::open(folder.path()).unwrap_err();
    assert!(error.to_string().contains("that is a folder, not a plain file"), "{error}");
}

#[test]
fn unwritable_folder_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
    let path = folder.path().join("archive.sqlite");
    let error = match Archive::open(&path) {
        Err(error) => error.to_string(),
        // Root may write everywhere, so another user opens the archive.
        Ok(_) => {
            fs::remove_file(&path).unwrap();
            said_by_nobody(&path)
        }
    };
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(error.contains("is not writable") && error.contains("give --archive FILE"), "{error}");
}

/// Output of a child with uid 65534. The program runs under its own path: a copy could not be executed while a child of
/// another test still has it open for writing.
fn said_by_nobody(path: &Path) -> String {
    let output = std::process::Command::new("/proc/self/exe")
        .args(["--exact", "--ignored", "--nocapture", "other_process"])
        .env(crate::ROLE, "open")
        .env(crate::FILE, path)
        .uid(65534)
        .gid(65534)
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}
