use super::*;
use std::os::unix::fs::{PermissionsExt, symlink};

const PAGE: Mark = Mark::Head("<!-- ours -->\n");
const OURS: &str = "<!-- ours -->\nold\n";

/// A folder with a card's image in it.
fn folder() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    let image = top.join("card.img");
    std::fs::write(&image, [7; 4096]).unwrap();
    (dir, top, image)
}

fn claim(name: &Path, image: &Path) -> Result<OutputFile, Failure> {
    OutputFile::claim("--html", name, image.to_str(), PAGE)
}

#[track_caller]
fn refused(name: &Path, image: &Path, word: &str) {
    match claim(name, image) {
        Err(Failure::Refused(why)) => assert!(why.contains(word) && why.contains("--html"), "{why}"),
        other => panic!("{}: {other:?}", name.display()),
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn the_card_s_own_image_is_refused_by_whatever_name() {
    let (_dir, top, image) = folder();
    let (link, hard) = (top.join("link.html"), top.join("hard.html"));
    symlink(&image, &link).unwrap();
    std::fs::hard_link(&image, &hard).unwrap();
    for name in [image.clone(), top.join("./card.img"), top.join("../").join(&image), link, hard] {
        refused(&name, &image, "the card itself");
    }
    // An image that begins as a page of ours does is the card all the same.
    std::fs::write(&image, OURS).unwrap();
    refused(&top.join("./card.img"), &image, "the card itself");
}

#[test]
fn what_is_no_plain_file_or_not_ours_is_refused_and_left_alone() {
    let (_dir, top, image) = folder();
    let (foreign, into, nowhere) = (top.join("notes.html"), top.join("into.html"), top.join("nowhere.html"));
    std::fs::write(&foreign, "<!DOCTYPE html>\n<p>mine</p>\n").unwrap();
    symlink(&foreign, &into).unwrap();
    symlink(top.join("none"), &nowhere).unwrap();
    symlink("/dev/full", top.join("full")).unwrap();
    let before = names(&top);
    for (name, word) in [
        (foreign.clone(), "did not make"),
        (into, "did not make"),
        (nowhere, "leads nowhere"),
        ("/dev/full".into(), "no plain file"),
        (top.join("full"), "no plain file"),
        (top.clone(), "no plain file"),
        (top.join("none/page.html"), "no folder"),
        (top.join("card.img/page.html"), ""),
        ("/".into(), "no plain file"),
        ("/proc/page.html".into(), "--html"),
    ] {
        refused(&name, &image, word);
    }
    assert_eq!(names(&top), before, "nothing is left behind");
    assert_eq!(std::fs::read_to_string(&foreign).unwrap(), "<!DOCTYPE html>\n<p>mine</p>\n");
}

#[test]
fn a_new_file_an_empty_one_and_an_older_one_of_ours_are_written_whole() {
    let (_dir, top, image) = folder();
    let (new, empty, old, link) =
        (top.join("new.html"), top.join("empty.html"), top.join("old.html"), top.join("link.html"));
    std::fs::write(&empty, "").unwrap();
    std::fs::write(&old, OURS).unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&old, &link).unwrap();
    for name in [&new, &empty, &link] {
        let file = claim(name, &image).unwrap();
        assert!(name == &link || std::fs::read(name).unwrap_or_default().is_empty(), "claimed, not written");
        file.write("<!-- ours -->\nnew\n").unwrap();
        assert_eq!(std::fs::read_to_string(name).unwrap(), "<!-- ours -->\nnew\n");
    }
    assert!(link.is_symlink() && !old.is_symlink(), "the link stays, what it leads to is new");
    assert_eq!(old.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(names(&top), ["card.img", "empty.html", "link.html", "new.html", "old.html"]);
}

#[test]
fn what_becomes_another_s_between_claim_and_writing_is_left_alone() {
    let (_dir, top, image) = folder();
    let name = top.join("page.html");
    let file = claim(&name, &image).unwrap();
    std::fs::write(&name, "somebody was quicker").unwrap();
    assert!(matches!(file.write(OURS), Err(Failure::Io(why)) if why.contains("did not make")));
    assert_eq!(std::fs::read_to_string(&name).unwrap(), "somebody was quicker");
    // Between the last look and the move, too.
    let place = Place { file: name.clone(), there: None };
    assert!(file.put(&place, OURS.as_bytes()).is_err());
    assert_eq!(std::fs::read_to_string(&name).unwrap(), "somebody was quicker");
    std::fs::remove_file(&name).unwrap();
    std::fs::hard_link(&image, &name).unwrap();
    assert!(matches!(file.write(OURS), Err(Failure::Io(why)) if why.contains("the card itself")));
    assert_eq!(names(&top), ["card.img", "page.html"]);
}

#[test]
fn a_document_is_ours_by_its_fields() {
    let (_dir, top, _) = folder();
    let name = top.join("watch.json");
    let claim = || OutputFile::claim("--save", &name, None, Mark::Fields(&["device", "samples"]));
    for foreign in
        ["{\"device\": 1}", "[\"device\", \"samples\"]", "device samples", "{\"device\":1,\"samples\":["]
    {
        std::fs::write(&name, foreign).unwrap();
        assert!(matches!(claim(), Err(Failure::Refused(_))), "{foreign}");
    }
    std::fs::write(&name, "{\n  \"device\": \"sda\", \"samples\": [{}], \"more\": null\n}").unwrap();
    claim().unwrap().write("{}").unwrap();
    assert_eq!(std::fs::read_to_string(&name).unwrap(), "{}");
}

/// A small file system in memory, taken away when dropped; needs root, as mounting does.
struct Small(tempfile::TempDir);

impl Small {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "none"])
            .arg(dir.path())
            .status();
        assert!(mounted.is_ok_and(|status| status.success()), "this test needs root");
        Small(dir)
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_leaves_the_older_page_whole_and_nothing_behind() {
    let small = Small::new();
    let name = small.0.path().join("page.html");
    std::fs::write(&name, OURS).unwrap();
    let file = OutputFile::claim("--html", &name, None, PAGE).unwrap();
    let failed = file.write(format!("{OURS}{}", "x".repeat(1 << 20)));
    assert!(matches!(failed, Err(Failure::Io(why)) if why.contains("page.html")));
    assert_eq!(std::fs::read_to_string(&name).unwrap(), OURS);
    assert_eq!(names(small.0.path()), ["page.html"]);
}
