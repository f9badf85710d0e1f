//! Resolving paths, and operations on names in an open folder.

use cardscope_files::{DraftFile, FileError, FileIdentity, FileUse, ResolvedFolder};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// User `nobody`, who owns no file of this process.
const NOBODY: u32 = 65_534;

fn folder() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    (dir, top)
}

fn of_file(path: &Path) -> Result<(ResolvedFolder, std::ffi::OsString), FileError> {
    ResolvedFolder::parent_of(path)
}

#[test]
fn path_resolves_through_own_links() {
    let (_dir, top) = folder();
    fs::create_dir_all(top.join("a/b")).unwrap();
    symlink("a", top.join("relative")).unwrap();
    symlink(top.join("relative/b"), top.join("absolute")).unwrap();
    for way in ["absolute", "a/./b", "a//b/", "absolute/../b", "relative/../relative/b", "a/b/../../absolute"]
    {
        let folder = ResolvedFolder::open(&top.join(way)).unwrap();
        assert_eq!(folder.path(), top.join("a/b"), "{way}");
        assert_eq!(
            FileIdentity::of_file(&folder).unwrap(),
            FileIdentity::from(&top.join("a/b").metadata().unwrap())
        );
        assert_eq!(folder.proc_path().canonicalize().unwrap(), top.join("a/b"));
    }
    assert!(ResolvedFolder::open(&top.join("none")).unwrap_err().is_absent());
    fs::write(top.join("file"), "").unwrap();
    assert!(
        matches!(ResolvedFolder::open(&top.join("file")), Err(FileError::Io(e)) if e.kind() == std::io::ErrorKind::NotADirectory)
    );
    symlink("round", top.join("round")).unwrap();
    assert!(ResolvedFolder::open(&top.join("round")).is_err(), "a ring of links ends");
}

#[test]
fn links_of_other_users_are_refused_anywhere_on_a_path() {
    let (_dir, top) = folder();
    fs::create_dir_all(top.join("a/b")).unwrap();
    for (link, to, way) in
        [("one", "a", "one/b/page"), ("two", "a/b", "two/page"), ("a/up", "..", "a/up/a/b/page")]
    {
        symlink(to, top.join(link)).unwrap();
        of_file(&top.join(way)).unwrap();
        lchown(top.join(link), Some(NOBODY), None).expect("this test needs root");
        let refused = of_file(&top.join(way)).unwrap_err();
        assert!(
            matches!(&refused, FileError::ForeignLink { link: l, owner: NOBODY } if *l == top.join(link))
        );
        assert!(refused.to_string().contains("name its target folder"), "{refused}");
    }
    // Also through an own link to a foreign one.
    symlink("one/b", top.join("ours")).unwrap();
    assert!(matches!(ResolvedFolder::open(&top.join("ours")), Err(FileError::ForeignLink { .. })));
}

#[test]
fn paths_without_a_file_name_are_refused() {
    let (_dir, top) = folder();
    fs::create_dir(top.join("a")).unwrap();
    for way in ["", "/", ".", "..", "a/", "a/.", "a/.."] {
        let path = if way.is_empty() || way == "/" {
            PathBuf::from(way)
        } else {
            PathBuf::from(format!("{}/{way}", top.display()))
        };
        assert!(matches!(of_file(&path), Err(FileError::NotAName)), "{way}");
    }
    let held = ResolvedFolder::open(&top).unwrap();
    for name in ["a/b", "..", ""] {
        assert!(matches!(held.create(OsStr::new(name), 0o600), Err(FileError::NotAName)), "{name}");
        assert!(matches!(held.stat(OsStr::new(name)), Err(FileError::NotAName)), "{name}");
    }
}

#[test]
fn missing_folders_are_created_private() {
    let (_dir, top) = folder();
    let folder = ResolvedFolder::open_or_create(&top.join("x/y/z"), 0o700).unwrap();
    assert_eq!(folder.path(), top.join("x/y/z"));
    for made in ["x", "x/y", "x/y/z"] {
        assert_eq!(top.join(made).metadata().unwrap().mode() & 0o777, 0o700, "{made}");
    }
    symlink("nowhere", top.join("dangling")).unwrap();
    assert!(
        ResolvedFolder::open_or_create(&top.join("dangling/in"), 0o700).is_ok(),
        "our own link says where"
    );
    lchown(top.join("dangling"), Some(NOBODY), None).expect("this test needs root");
    assert!(matches!(
        ResolvedFolder::open_or_create(&top.join("dangling/more"), 0o700),
        Err(FileError::ForeignLink { .. })
    ));
    assert!(!top.join("nowhere/more").exists());
}

#[test]
fn only_plain_files_open_and_pipes_do_not_block() {
    let (_dir, top) = folder();
    let held = ResolvedFolder::open(&top).unwrap();
    fs::write(top.join("plain"), "text").unwrap();
    fs::create_dir(top.join("folder")).unwrap();
    symlink("plain", top.join("link")).unwrap();
    assert!(Command::new("mkfifo").arg(top.join("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(top.join("socket")).unwrap();
    for usage in [FileUse::Read, FileUse::Write] {
        let mut text = String::new();
        held.open_file(OsStr::new("plain"), usage).unwrap().read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(matches!(held.open_file(OsStr::new("link"), usage), Err(FileError::Link)));
        for (name, kind) in [("folder", "folder"), ("pipe", "pipe"), ("socket", "socket")] {
            let refused = held.open_file(OsStr::new(name), usage).unwrap_err();
            assert!(matches!(refused, FileError::NotPlain(is) if is == kind), "{name}");
        }
        let dev = ResolvedFolder::open(Path::new("/dev")).unwrap();
        assert!(matches!(dev.open_file(OsStr::new("null"), usage), Err(FileError::NotPlain("device"))));
        assert!(held.open_file(OsStr::new("none"), usage).unwrap_err().is_absent());
    }
    for name in ["plain", "folder", "link", "pipe", "socket"] {
        let made = held.create(OsStr::new(name), 0o600);
        assert!(
            matches!(made, Err(FileError::Io(e)) if e.kind() == std::io::ErrorKind::AlreadyExists),
            "{name}"
        );
    }
    assert_eq!(held.names().unwrap(), ["folder", "link", "pipe", "plain", "socket"]);
}

#[test]
fn file_is_removed_only_if_its_identity_matches() {
    let (_dir, top) = folder();
    let held = ResolvedFolder::open(&top).unwrap();
    let name = OsStr::new("ours");
    let ours = held.create(name, 0o600).unwrap();
    let identity = FileIdentity::of_file(&ours).unwrap();
    fs::rename(top.join("ours"), top.join("moved")).unwrap();
    fs::write(top.join("ours"), "theirs").unwrap();
    assert!(!held.remove(name, identity).unwrap());
    assert_eq!(fs::read_to_string(top.join("ours")).unwrap(), "theirs");
    fs::rename(top.join("moved"), top.join("ours")).unwrap();
    assert!(held.remove(name, identity).unwrap());
    assert!(!held.remove(name, identity).unwrap(), "gone already");
}

#[test]
fn operations_stay_in_the_opened_folder_after_a_rename() {
    let (_dir, top) = folder();
    fs::create_dir(top.join("named")).unwrap();
    fs::create_dir(top.join("other")).unwrap();
    let (held, name) = of_file(&top.join("named/page")).unwrap();
    assert!(held.is_at(&top.join("named")));
    fs::rename(top.join("named"), top.join("moved")).unwrap();
    symlink("other", top.join("named")).unwrap();
    assert!(!held.is_at(&top.join("named")) && held.is_at(&top.join("moved")));
    held.create(&name, 0o600).unwrap();
    let draft = DraftFile::new(&held, None, 0o600).unwrap();
    draft.place(OsStr::new("second")).unwrap();
    assert_eq!(held.names().unwrap(), ["page", "second"]);
    assert_eq!(fs::read_dir(top.join("other")).unwrap().count(), 0);
    assert!(top.join("moved/page").exists() && top.join("moved/second").exists());
}

#[test]
fn new_file_replaces_nothing_and_dropped_draft_is_removed() {
    let (_dir, top) = folder();
    let held = ResolvedFolder::open(&top).unwrap();
    drop(DraftFile::new(&held, None, 0o600).unwrap());
    fs::write(top.join("there"), "theirs").unwrap();
    symlink("nowhere", top.join("dangling")).unwrap();
    for name in ["there", "dangling"] {
        let draft = DraftFile::new(&held, None, 0o600).unwrap();
        assert!(draft.place(OsStr::new(name)).is_err(), "{name}");
    }
    assert_eq!(held.names().unwrap(), ["dangling", "there"]);
    assert_eq!(fs::read_to_string(top.join("there")).unwrap(), "theirs");
}

#[test]
fn replaced_file_passes_on_owner_and_mode_without_setuid() {
    let (_dir, top) = folder();
    let held = ResolvedFolder::open(&top).unwrap();
    let path = top.join("page");
    fs::write(&path, "old").unwrap();
    chown(&path, Some(NOBODY), Some(NOBODY)).expect("this test needs root");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o6641)).unwrap();
    let old = held.open_file(OsStr::new("page"), FileUse::Read).unwrap();
    let draft = DraftFile::new(&held, Some(old), 0o666).unwrap();
    draft.file().write_all(b"new").unwrap();
    draft.place(OsStr::new("page")).unwrap();
    let about = path.metadata().unwrap();
    assert_eq!((about.uid(), about.gid(), about.mode() & 0o7777), (NOBODY, NOBODY, 0o641));
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(held.names().unwrap(), ["page"]);
}

#[test]
fn exchanged_file_is_not_replaced() {
    let (_dir, top) = folder();
    let held = ResolvedFolder::open(&top).unwrap();
    let (page, secret) = (top.join("page"), top.join("secret"));
    fs::write(&secret, "root's own").unwrap();
    let exchanges: [&dyn Fn(); 4] = [
        &|| fs::write(&page, "theirs").unwrap(),
        &|| symlink(&secret, &page).unwrap(),
        &|| fs::hard_link(&secret, &page).unwrap(),
        &|| fs::create_dir(&page).unwrap(),
    ];
    for exchange in exchanges {
        fs::write(&page, "old").unwrap();
        chown(&page, Some(NOBODY), None).expect("this test needs root");
        let old = held.open_file(OsStr::new("page"), FileUse::Read).unwrap();
        let draft = DraftFile::new(&held, Some(old), 0o600).unwrap();
        fs::remove_file(&page).unwrap();
        exchange();
        let before = page.symlink_metadata().unwrap();
        assert!(matches!(draft.place(OsStr::new("page")), Err(FileError::Changed)));
        let after = page.symlink_metadata().unwrap();
        assert_eq!((before.ino(), before.uid(), before.mode()), (after.ino(), after.uid(), after.mode()));
        assert_eq!(fs::read_to_string(&secret).unwrap(), "root's own");
        assert_eq!(held.names().unwrap(), ["page", "secret"]);
        if before.is_dir() { fs::remove_dir(&page) } else { fs::remove_file(&page) }.unwrap();
    }
}

#[test]
fn stable_path_needs_trusted_parents() {
    let (_dir, top) = folder();
    let deep = top.join("a/b");
    fs::create_dir_all(&deep).unwrap();
    let settled = || ResolvedFolder::open(&deep).unwrap().require_stable_path();
    let rights = |mode| fs::set_permissions(top.join("a"), fs::Permissions::from_mode(mode)).unwrap();
    settled().unwrap();
    rights(0o1777);
    settled().unwrap();
    rights(0o777);
    assert!(matches!(settled(), Err(FileError::ReplaceableByOthers { folder }) if folder == top.join("a")));
    rights(0o775);
    chown(top.join("a"), None, Some(NOBODY)).expect("this test needs root");
    assert!(matches!(settled(), Err(FileError::ReplaceableByOthers { .. })), "a group of others");
    rights(0o755);
    settled().unwrap();
    chown(top.join("a"), Some(NOBODY), None).unwrap();
    let refused = settled().unwrap_err();
    assert!(
        matches!(&refused, FileError::ReplaceableByOwner { owner: NOBODY, folder } if *folder == top.join("a"))
    );
}

#[test]
fn replace_works_without_rename_exchange() {
    // ramfs has no RENAME_EXCHANGE.
    let dir = tempfile::tempdir().unwrap();
    let mounted = Command::new("mount").args(["-t", "ramfs", "none"]).arg(dir.path()).status();
    assert!(mounted.is_ok_and(|status| status.success()), "this test needs root");
    let held = ResolvedFolder::open(dir.path()).unwrap();
    DraftFile::new(&held, None, 0o600).unwrap().place(OsStr::new("page")).unwrap();
    let old: File = held.open_file(OsStr::new("page"), FileUse::Read).unwrap();
    let draft = DraftFile::new(&held, Some(old), 0o600).unwrap();
    draft.file().write_all(b"new").unwrap();
    let replaced = draft.place(OsStr::new("page"));
    let names = held.names().unwrap();
    drop(held);
    let text = fs::read_to_string(dir.path().join("page"));
    Command::new("umount").arg("-l").arg(dir.path()).status().unwrap();
    replaced.unwrap();
    assert_eq!((names, text.unwrap()), (vec!["page".into()], "new".to_owned()));
}

#[test]
fn file_that_cannot_be_removed_keeps_its_name() {
    let (_dir, top) = folder();
    fs::create_dir(top.join("page")).unwrap();
    let folder = ResolvedFolder::open(&top).unwrap();
    // A folder in place of the old file: unlink(2) refuses it after the names were exchanged.
    let draft = DraftFile::new(&folder, Some(File::open(top.join("page")).unwrap()), 0o600).unwrap();
    assert!(matches!(draft.place(OsStr::new("page")), Err(FileError::Io(_))));
    assert!(top.join("page").is_dir());
    assert_eq!(folder.names().unwrap(), ["page"]);
}
