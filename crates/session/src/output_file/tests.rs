use super::*;
use cardscope_testkit::cards::entry_names;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};

const PAGE: FileMark = FileMark::BeginsWith("<!-- ours -->\n");
const OURS: &str = "<!-- ours -->\nold\n";

/// A folder that contains the image of a card.
fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let image = top.join("card.img");
    std::fs::write(&image, [7; 4096]).unwrap();
    (dir, top, image)
}

fn claim(name: &Path, image: &Path) -> Result<OutputFile> {
    OutputFile::claim("--html", name, image.to_str(), PAGE)
}

#[track_caller]
fn refused(name: &Path, image: &Path, word: &str) {
    match claim(name, image) {
        Err(Failure::Refused(why)) => {
            let why = why.to_string();
            assert!(why.contains(word) && why.contains("--html"), "{why}");
        }
        other => panic!("{}: {other:?}", name.display()),
    }
}

#[test]
fn output_refuses_the_image_under_test() {
    let (_dir, top, image) = folder();
    let (link, hard) = (top.join("link.html"), top.join("hard.html"));
    symlink(&image, &link).unwrap();
    std::fs::hard_link(&image, &hard).unwrap();
    for name in [image.clone(), top.join("./card.img"), top.join("../").join(&image), hard] {
        refused(&name, &image, "the card itself");
    }
    refused(&link, &image, "that is a link");
    // An image that begins like a page is still the card.
    std::fs::write(&image, OURS).unwrap();
    refused(&top.join("./card.img"), &image, "the card itself");
}

#[test]
fn output_refuses_special_and_foreign_files() {
    let (_dir, top, image) = folder();
    let (foreign, into, nowhere) = (top.join("notes.html"), top.join("into.html"), top.join("nowhere.html"));
    std::fs::write(&foreign, "<!DOCTYPE html>\n<p>mine</p>\n").unwrap();
    symlink(&foreign, &into).unwrap();
    symlink(top.join("none"), &nowhere).unwrap();
    symlink("/dev/full", top.join("full")).unwrap();
    let before = entry_names(&top);
    for (name, word) in [
        (foreign.clone(), "is not a Cardscope file"),
        (into, "that is a link"),
        (nowhere, "that is a link"),
        ("/dev/full".into(), "a device, not a plain file"),
        (top.join("full"), "that is a link"),
        (top.clone(), "a folder, not a plain file"),
        (top.join("none/page.html"), "does not exist"),
        (top.join("card.img/page.html"), ""),
        ("/".into(), "not the name of a file"),
        (top.join("page.html/"), "not the name of a file"),
        ("/proc/page.html".into(), "--html"),
    ] {
        refused(&name, &image, word);
    }
    assert_eq!(entry_names(&top), before, "nothing is left behind");
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "<!DOCTYPE html>\n<p>mine</p>\n");
}

#[test]
fn output_replaces_empty_and_own_files() {
    let (_dir, top, image) = folder();
    let (new, empty, old) = (top.join("new.html"), top.join("empty.html"), top.join("old.html"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&old, OURS).unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640)).unwrap();
    for name in [&new, &empty, &old] {
        let file = claim(name, &image).unwrap();
        assert!(name == &old || std::fs::read(name).unwrap_or_default().is_empty(), "claimed, not written");
        file.write_content("<!-- ours -->\nnew\n").unwrap();
        assert_eq!(std::fs::read_to_string(name).unwrap(), "<!-- ours -->\nnew\n");
    }
    assert_eq!(old.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(entry_names(&top), ["card.img", "empty.html", "new.html", "old.html"]);
}

#[test]
fn output_refuses_files_that_appear_after_the_claim() {
    let (_dir, top, image) = folder();
    let name = top.join("page.html");
    let file = claim(&name, &image).unwrap();
    let fails = |word: &str| {
        assert!(
            matches!(file.write_content(OURS), Err(Failure::Io(why)) if why.to_string().contains(word)),
            "{word}"
        );
    };
    std::fs::write(&name, "somebody was quicker").unwrap();
    fails("is not a Cardscope file");
    assert_eq!(std::fs::read_to_string(&name).unwrap(), "somebody was quicker");
    // A page of another run is not the claimed one either.
    std::fs::write(&name, OURS).unwrap();
    fails("another file with that name appeared");
    std::fs::remove_file(&name).unwrap();
    std::fs::hard_link(&image, &name).unwrap();
    fails("the card itself");
    std::fs::remove_file(&name).unwrap();
    symlink(&image, &name).unwrap();
    fails("that is a link");
    assert_eq!(entry_names(&top), ["card.img", "page.html"]);
    std::fs::remove_file(&name).unwrap();
    file.write_content(OURS).unwrap();
}

/// Replacement of a name between claim and writing.
#[derive(Debug, Clone, Copy)]
enum NameExchange {
    FolderForLink,
    FileForLink,
    FileForHardLink,
    FileForAnother,
}

/// Files of others keep content, owner and rights, no file of root is given to another user, and root's page stays
/// root's. `CARDSCOPE_LONG=1` runs 200 rounds of each.
#[test]
fn output_is_safe_against_exchanged_names() {
    use NameExchange::{FileForAnother, FileForHardLink, FileForLink, FolderForLink};
    let long = std::env::var_os("CARDSCOPE_LONG").is_some_and(|v| !v.is_empty());
    for round in 0..if long { 200 } else { 5 } {
        for exchange in [FolderForLink, FileForLink, FileForHardLink, FileForAnother] {
            for there in [false, true] {
                exchanged(exchange, there, round % 2 == 0);
            }
        }
    }
}

fn exchanged(exchange: NameExchange, there: bool, overwrite: bool) {
    const NOBODY: u32 = 65_534;
    let (_dir, top, _) = folder();
    let (theirs, ours) = (top.join("theirs"), top.join("ours"));
    let (page, secret) = (theirs.join("page.html"), ours.join("page.html"));
    [&theirs, &ours].iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
    std::fs::write(&secret, OURS).unwrap();
    if there {
        std::fs::write(&page, OURS).unwrap();
        chown(&page, Some(NOBODY), None).expect("this test needs root");
    }
    chown(&theirs, Some(NOBODY), None).expect("this test needs root");
    let before = secret.metadata().unwrap();
    let mark = if overwrite { FileMark::Any } else { PAGE };
    let file = OutputFile::claim("--html", &page, None, mark).unwrap();
    let gone = || drop(std::fs::remove_file(&page));
    match exchange {
        NameExchange::FolderForLink => {
            std::fs::rename(&theirs, top.join("moved")).unwrap();
            symlink(&ours, &theirs).unwrap();
        }
        NameExchange::FileForLink => (gone(), symlink(&secret, &page).unwrap()).1,
        NameExchange::FileForHardLink => (gone(), std::fs::hard_link(&secret, &page).unwrap()).1,
        NameExchange::FileForAnother => (gone(), std::fs::write(&page, "theirs").unwrap()).1,
    }
    let written = file.write_content("<!-- ours -->\nnew\n");
    assert_eq!(
        written.is_ok(),
        matches!(exchange, NameExchange::FolderForLink),
        "{exchange:?} {there} {overwrite}"
    );
    let after = secret.metadata().unwrap();
    let of = |about: &std::fs::Metadata| (about.ino(), about.uid(), about.mode());
    assert_eq!((of(&before), OURS), (of(&after), &*std::fs::read_to_string(&secret).unwrap()));
    assert_eq!(entry_names(&ours), ["page.html"]);
    if written.is_ok() {
        let made = top.join("moved/page.html").metadata().unwrap();
        assert_eq!(
            made.uid(),
            if there { NOBODY } else { 0 },
            "the owner of the page that was replaced, or root"
        );
    } else {
        assert_eq!(entry_names(&theirs), ["page.html"], "nothing half written is left");
    }
}

#[test]
fn output_follows_only_links_of_the_same_user() {
    let (_dir, top, image) = folder();
    std::fs::create_dir(top.join("pages")).unwrap();
    symlink("pages", top.join("link")).unwrap();
    claim(&top.join("link/page.html"), &image).unwrap().write_content(OURS).unwrap();
    assert_eq!(entry_names(&top.join("pages")), ["page.html"]);
    lchown(top.join("link"), Some(65_534), None).expect("this test needs root");
    refused(&top.join("link/page.html"), &image, "owned by user 65534");
}

#[test]
fn output_recognizes_documents_by_fields() {
    let (_dir, top, _) = folder();
    let name = top.join("watch.json");
    let claim = || OutputFile::claim("--save", &name, None, FileMark::Fields(&["device", "samples"]));
    for foreign in
        ["{\"device\": 1}", "[\"device\", \"samples\"]", "device samples", "{\"device\":1,\"samples\":["]
    {
        std::fs::write(&name, foreign).unwrap();
        assert!(matches!(claim(), Err(Failure::Refused(_))), "{foreign}");
    }
    std::fs::write(&name, "{\n  \"device\": \"sda\", \"samples\": [{}], \"more\": null\n}").unwrap();
    claim().unwrap().write_content("{}").unwrap();
    assert_eq!(std::fs::read_to_string(&name).unwrap(), "{}");
}

/// Small file system in memory, unmounted when dropped. Mounting needs root.
struct SmallFileSystem(tempfile::TempDir);

impl SmallFileSystem {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "none"])
            .arg(dir.path())
            .status();
        assert!(mounted.is_ok_and(|status| status.success()), "this test needs root");
        SmallFileSystem(dir)
    }
}

impl Drop for SmallFileSystem {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn full_disk_leaves_the_old_page_intact() {
    let small = SmallFileSystem::new();
    let name = small.0.path().join("page.html");
    std::fs::write(&name, OURS).unwrap();
    let file = OutputFile::claim("--html", &name, None, PAGE).unwrap();
    let failed = file.write_content(format!("{OURS}{}", "x".repeat(1 << 20)));
    assert!(matches!(failed, Err(Failure::Io(why)) if why.to_string().contains("page.html")));
    assert_eq!(std::fs::read_to_string(&name).unwrap(), OURS);
    assert_eq!(entry_names(small.0.path()), ["page.html"]);
}
