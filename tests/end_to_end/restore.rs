//! `restore`: journals that are pending, damaged, without space or in the wrong place; images of cards, restored to
//! the same card or another one.

use crate::common::binary::{Home, Outcome};
use crate::common::machine::{
    LoopDevice, MIB, TestMount, first_difference, image, names_in, run_tool, try_tool, with_data,
};
use crate::common::{list, number, text, until};
use rustix::process::Signal;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Killed `verify` with overwritten data, and its journal.
struct Torn {
    home: Home,
    card: LoopDevice,
    before: Vec<u8>,
    journal: PathBuf,
}

impl Torn {
    fn new() -> Self {
        let (home, card) = (Home::new(), with_data(24, &[]));
        let before = card.content();
        for n in 0..40 {
            let verify = home.start(&["verify", &card.path]);
            std::thread::sleep(Duration::from_millis(150 + 50 * n));
            verify.signal(Signal::KILL);
            verify.finish();
            card.wait_until_released();
            let torn = card.content() != before;
            match journals(&home).pop() {
                Some(journal) if torn => return Torn { home, card, before, journal },
                Some(journal) => std::fs::remove_file(journal).unwrap(),
                None => assert!(!torn, "without a journal nothing may have been overwritten"),
            }
        }
        panic!("no run was killed in time");
    }

    fn restore(&self, arguments: &[&str]) -> Outcome {
        let journal = self.journal.to_str().unwrap();
        self.home.run(&[&["restore", journal], arguments, &["--json"]].concat())
    }

    /// Flips a bit in the middle of the first saved range. The header comes first and may be the longer part, because
    /// the run may be killed after its first block.
    fn flip_in_an_original(&self) {
        const HEAD: usize = 48;
        let mut bytes = std::fs::read(&self.journal).unwrap();
        let head =
            bytes.windows(4).position(|tag| tag == b"KEEP").expect("the card is not filled with one byte");
        let len = u32::from_le_bytes(bytes[head + 4..head + 8].try_into().unwrap()) as usize;
        bytes[head + HEAD + len / 2] ^= 1;
        std::fs::write(&self.journal, bytes).unwrap();
    }
}

fn journals(home: &Home) -> Vec<PathBuf> {
    let folder = home.path("state/cardscope");
    let names = if folder.exists() { names_in(&folder) } else { Vec::new() };
    names.into_iter().filter(|name| name.starts_with("journal-")).map(|name| folder.join(name)).collect()
}

#[test]
fn restore_is_idempotent_and_removes_the_journal() {
    let torn = Torn::new();
    let copy = torn.home.path("copy");
    std::fs::copy(&torn.journal, &copy).unwrap();
    let waiting = torn.home.run(&["restore", "--json"]).expect(0).json();
    assert_eq!(text(&waiting, "/journals/0/state"), "waits");
    assert_eq!(text(&waiting, "/journals/0/target"), torn.card.path);
    let command = format!("cardscope restore {}", torn.journal.display());
    assert_eq!(text(&waiting, "/journals/0/command"), command);
    assert!(torn.home.run(&["restore"]).expect(0).stdout.contains(&command));
    assert_eq!(torn.journal.metadata().unwrap().mode() & 0o777, 0o600);

    let document = torn.restore(&[]).expect(0).json();
    assert!(torn.before == torn.card.content());
    assert_eq!(text(&document, "/recognised_by"), "content");
    assert!(number(&document, "/bytes_restored") > 0.0 && number(&document, "/differed_bytes") > 0.0);
    assert_eq!((&document["compared"], &document["removed"]), (&true.into(), &true.into()));
    assert!(!torn.journal.exists());
    assert!(list(&torn.home.run(&["restore", "--list", "--json"]).expect(0).json(), "/journals").is_empty());

    let again = torn.home.run(&["restore", copy.to_str().unwrap(), "--json"]).expect(0).json();
    assert_eq!(number(&again, "/bytes_restored"), 0.0);
    assert!(torn.before == torn.card.content());
    torn.restore(&[]).expect(2).says(&["restored ones are removed"]);
}

/// Number of stamps of the test on the card.
fn stamped(torn: &Torn) -> usize {
    let at = first_difference(&torn.before, &torn.card.content());
    at.expect("the card was overwritten") / 512 * 512
}

/// Card as it was when the journal of the fixture was written: 3 MiB of numbers, and 1 MiB of zeros.
fn card_of_the_waiting_journal() -> Vec<u8> {
    let numbers = (0..3 << 17).flat_map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes());
    numbers.chain(std::iter::repeat_n(0, 1 << 20)).collect()
}

/// The fixture is of commit b862bb12: `verify /dev/loop0 -q` on that card, killed by SIGKILL. `overwritten` has each range
/// of test data: offset, length (64 bits, little-endian), bytes.
#[test]
fn journal_of_an_earlier_version_is_restored() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/waiting_journal");
    let before = card_of_the_waiting_journal();
    let mut torn = before.clone();
    let overwritten = std::fs::read(fixture.join("overwritten")).unwrap();
    let mut rest = overwritten.as_slice();
    let mut ranges = 0;
    while let Some((head, tail)) = rest.split_first_chunk::<16>() {
        let number = |at: usize| u64::from_le_bytes(head[at..at + 8].try_into().unwrap()) as usize;
        let (bytes, next) = tail.split_at(number(8));
        torn[number(0)..][..bytes.len()].copy_from_slice(bytes);
        (rest, ranges) = (next, ranges + 1);
    }
    assert_eq!(ranges, 21);
    assert_ne!(torn, before);
    let home = Home::new();
    let image = home.path("card.img");
    std::fs::write(&image, &torn).unwrap();
    let card = LoopDevice::over_file(&image, &[]);
    let journal = home.path("state/cardscope/journal-20261201T035104Z-065e9741");
    std::fs::create_dir_all(journal.parent().unwrap()).unwrap();
    std::fs::copy(fixture.join("journal"), &journal).unwrap();
    let document = home.run(&["restore", journal.to_str().unwrap(), &card.path, "--json"]).expect(0).json();
    assert!(card.content() == before, "{document:#}");
    assert!(number(&document, "/bytes_restored") > 0.0 && !journal.exists(), "{document:#}");
}

#[test]
fn restore_spares_newer_data_without_consent() {
    let torn = Torn::new();
    let at = stamped(&torn);
    use std::os::unix::fs::FileExt;
    let device = std::fs::OpenOptions::new().write(true).open(&torn.card.path).unwrap();
    device.write_all_at(&[0xab; 512], at as u64).unwrap();
    device.sync_all().unwrap();
    drop(device);
    let mut expected = torn.before.clone();
    expected[at..at + 512].fill(0xab);
    for round in 0..2 {
        let document = torn.restore(&[]).expect(1).json();
        assert!(torn.card.content() == expected, "round {round}: all else is restored, this is not touched");
        assert_eq!(list(&document, "/left").len(), 1, "{document:#}");
        assert_eq!(number(&document, "/left/0/offset"), at as f64);
        assert_eq!((number(&document, "/left/0/len"), &document["removed"]), (512.0, &false.into()));
        assert!(document["notes"].to_string().contains("are left alone"), "{document:#}");
        assert!(torn.journal.exists());
    }
    let document = torn.restore(&["--yes-destroy", &torn.card.path]).expect(0).json();
    assert!(torn.card.content() == torn.before && !torn.journal.exists(), "{document:#}");
}

#[test]
fn pending_journal_blocks_tests_of_its_card() {
    let torn = Torn::new();
    let (card, home) = (torn.card.path.as_str(), &torn.home);
    let now = torn.card.content();
    let recipe = overwrite(home);
    for arguments in [
        &["verify", card][..],
        &["verify", card, "--full", "--yes-destroy", card],
        &["endure", card, "--rounds", "1", "--yes-destroy", card],
        &["bench", card, "--recipe", &recipe, "--yes-destroy", card],
    ] {
        let refused = home.run(arguments).expect(2);
        refused.says(&["cardscope restore", torn.journal.to_str().unwrap(), "remove that file"]);
        assert!(torn.card.content() == now, "{arguments:?}");
    }
    std::fs::remove_file(&torn.journal).unwrap();
    home.run(&["verify", card]).expect(0);
}

#[test]
fn restore_recognizes_a_card_in_another_reader() {
    let torn = Torn::new();
    let now = torn.card.content();
    // Another loop device over the same image is the same card in another reader.
    let reader = LoopDevice::over_file(&torn.card.image, &[]);
    let (home, recipe) = (&torn.home, overwrite(&torn.home));
    for arguments in [
        &["verify", &reader.path][..],
        &["verify", &reader.path, "--full", "--yes-destroy", &reader.path],
        &["bench", &reader.path, "--recipe", &recipe, "--yes-destroy", &reader.path],
    ] {
        home.run(arguments).expect(2).says(&["cardscope restore", torn.journal.to_str().unwrap()]);
        assert!(torn.card.content() == now, "{arguments:?}");
    }
    let document = torn.restore(&[&reader.path]).expect(0).json();
    assert_eq!(text(&document, "/recognised_by"), "content");
    assert!(torn.before == torn.card.content() && !torn.journal.exists());
    home.run(&["verify", &reader.path]).expect(0);
}

#[test]
fn another_card_can_be_tested_despite_a_journal() {
    let torn = Torn::new();
    let now = torn.card.content();
    let other: Vec<u8> = torn.before.iter().map(|byte| byte ^ 0x5a).collect();
    let journal = torn.journal.to_str().unwrap();
    for content in [other, vec![0; torn.before.len()]] {
        put_in(&torn.card, &content);
        let document = torn.home.run(&["verify", &torn.card.path, "--json"]).expect(0).json();
        let named = list(&document, "/caveats").iter().filter(|c| c.to_string().contains(journal)).count();
        assert_eq!(named, 1, "{document:#}");
        assert!(torn.card.content() == content && torn.journal.exists());
        torn.restore(&[]).expect(2).says(&["may not be the card"]);
        assert!(torn.card.content() == content && torn.journal.exists());
    }
    put_in(&torn.card, &now);
    torn.home.run(&["verify", &torn.card.path]).expect(2).says(&["cardscope restore", journal]);
    torn.restore(&[]).expect(0);
    assert!(torn.before == torn.card.content() && !torn.journal.exists());
}

/// Changes the card in a reader: the name of the device stays.
fn put_in(reader: &LoopDevice, content: &[u8]) {
    use std::os::unix::fs::FileExt;
    let image = std::fs::OpenOptions::new().write(true).open(&reader.image).unwrap();
    image.write_all_at(content, 0).unwrap();
    image.sync_all().unwrap();
    run_tool("blockdev", &["--flushbufs", &reader.path]);
}

#[test]
fn pending_journal_blocks_partitions() {
    let mut torn = Torn::new();
    let now = torn.card.content();
    let part = torn.card.add_partition(1, 2048, 40960);
    torn.home
        .run(&["verify", &part])
        .expect(2)
        .says(&["may belong to this card", torn.journal.to_str().unwrap()]);
    assert!(torn.card.content() == now);
    torn.restore(&[]).expect(0);
}

#[test]
fn restore_refuses_another_card() {
    let torn = Torn::new();
    let dir = tempfile::tempdir().unwrap();
    let other = image(dir.path(), 24);
    let foreign: Vec<u8> = std::fs::read(&other).unwrap().iter().map(|byte| byte ^ 0x5a).collect();
    std::fs::write(&other, &foreign).unwrap();
    let other = LoopDevice::over_file(&other, &[]);
    let smaller = with_data(20, &[]);
    let untouched = smaller.content();
    torn.restore(&[&other.path]).expect(2).says(&["may not be the card", "nothing was written"]);
    assert!(foreign == other.content());
    torn.restore(&[&smaller.path]).expect(2).says(&["is not the card", "nothing was written"]);
    assert!(untouched == smaller.content());
    assert!(torn.journal.exists());
    torn.restore(&[]).expect(0);
}

#[test]
fn damaged_journal_restores_the_rest() {
    let torn = Torn::new();
    torn.flip_in_an_original();
    let document = torn.restore(&[]).expect(1).json();
    let missing = list(&document, "/unreadable");
    assert_eq!(missing.len(), 1, "{document:#}");
    assert!(text(&missing[0], "/reason").contains("checksum"));
    let (offset, len) = (number(&missing[0], "/offset") as usize, number(&missing[0], "/len") as usize);
    let after = torn.card.content();
    assert!(after[..offset] == torn.before[..offset]);
    assert!(after[offset + len..] == torn.before[offset + len..]);
    assert_eq!(document["removed"], false);
    assert!(torn.journal.exists(), "what could not be read today may be read by somebody else");
}

#[test]
fn truncated_journal_restores_and_other_files_are_refused() {
    let torn = Torn::new();
    let file = std::fs::OpenOptions::new().write(true).open(&torn.journal).unwrap();
    // Nothing was overwritten after the last commit, so 3 bytes of an incomplete record are no damage.
    use std::io::{Seek, SeekFrom, Write};
    let mut end = &file;
    end.seek(SeekFrom::End(0)).unwrap();
    end.write_all(b"KEE").unwrap();
    torn.restore(&[]).expect(0);
    assert!(torn.before == torn.card.content());
    let none = torn.home.path("notes.txt");
    std::fs::write(&none, "not ours").unwrap();
    torn.home
        .run(&["restore", none.to_str().unwrap(), &torn.card.path])
        .expect(2)
        .says(&["is not a Cardscope journal"]);
    let later = torn.home.path("later");
    std::fs::write(&later, "cardscope journal 9\nwhatever comes").unwrap();
    torn.home.run(&["restore", later.to_str().unwrap()]).expect(2).says(&["version 9"]);
}

#[test]
fn restore_refuses_a_mounted_card() {
    let torn = Torn::new();
    let mut card = torn.card;
    let part = card.add_partition(1, 2048, 8192);
    // The kernel releases the resources of a killed process with a delay.
    until("the partition to be free", || try_tool("mkfs.ext4", &["-q", "-F", &part]).status.success());
    let mounted = TestMount::new(&[], &part);
    let refused = torn.home.run(&["restore", torn.journal.to_str().unwrap()]);
    refused.expect(2).says(&["mounted"]);
    drop(mounted);
}

#[test]
fn journal_on_the_card_is_refused() {
    let home = Home::new();
    let mut card = with_data(64, &[]);
    let [state, target] = [(1, 2048, 65536), (2, 67584, 32768)]
        .map(|(number, start, len)| card.add_partition(number, start, len));
    run_tool("mkfs.ext4", &["-q", "-F", &state]);
    let mounted = TestMount::new(&[], &state);
    // An image file on the card, with a file system of its own, is still on the card.
    let inner = mounted.point.join("inner.img");
    std::fs::write(&inner, vec![0; 8 << 20]).unwrap();
    let inner = LoopDevice::over_file(&inner, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &inner.path]);
    let deeper = TestMount::new(&[], &inner.path);
    for place in [&mounted, &deeper] {
        let mut command = home.command(crate::common::binary::CARDSCOPE);
        command.env("XDG_STATE_HOME", place.path()).args(["verify", &target]);
        let refused = crate::common::binary::Running::of(command).finish();
        refused.expect(2).says(&["journal would be on the card itself"]);
        assert!(names_in(&place.point).iter().all(|name| name == "inner.img"));
    }
    drop(deeper);
    drop(inner);
    drop(mounted);
}

#[test]
fn full_journal_disk_leaves_the_card_unchanged() {
    let home = Home::new();
    let card = with_data(48, &[]);
    let before = card.content();
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=8m"], "tmpfs");
    let verify = || {
        let mut command = home.command(crate::common::binary::CARDSCOPE);
        command.env("XDG_STATE_HOME", disk.path()).args(["verify", &card.path, "--json"]);
        crate::common::binary::Running::of(command)
    };
    verify().finish().expect(2).says(&["journal may need", "8 MiB"]);
    assert!(before == card.content());
    // Another program uses up the space after the journal began.
    run_tool("mount", &["-o", "remount,size=128m", disk.path()]);
    let mut running = verify();
    running.wait_for("writing test data");
    std::fs::write(disk.point.join("greedy"), vec![1; 100 << 20]).unwrap_or_default();
    let outcome = running.finish();
    assert!(before == card.content(), "{outcome}");
    let left = names_in(&disk.point.join("cardscope"));
    assert!(left.is_empty(), "everything was put back, so no journal stays: {left:?}");
}

/// Recipe that overwrites the content of a card.
fn overwrite(home: &Home) -> String {
    home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 write\"\npasses = 1\n")
}

#[test]
fn bench_backup_is_restored() {
    let (home, card) = (Home::new(), with_data(32, &[]));
    let before = card.content();
    let file = home.path("card.img");
    let (file, recipe) = (file.to_str().unwrap(), overwrite(&home));
    let arguments = ["bench", &card.path, "--recipe", &recipe, "--yes-destroy", &card.path, "--backup", file];
    home.run(&arguments).expect(0);
    assert!(before == card.content());
    assert!(std::fs::read(file).unwrap() == before, "the image is the card byte for byte, as dd takes it");
    // Using the file again would overwrite the only copy.
    home.run(&arguments).expect(2).says(&["already exists"]);
    assert!(std::fs::read(file).unwrap() == before);
}

#[test]
fn vanished_card_keeps_its_backup() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=96MiB&state=filled&faults.vanish_after_ios=900";
    let image = home.path("card.img");
    let file = image.to_str().unwrap();
    let ended =
        home.run(&["verify", card, "--full", "--backup", file, "--yes-destroy", card, "--json", "-q"]);
    let next = &ended.expect(3).json()["next"][0]["command"];
    assert_eq!(*next, format!("cardscope restore {file} '{card}'"));
    assert_eq!(image.metadata().unwrap().len(), 96 << 20);
}

#[test]
fn an_image_is_sparse_where_the_card_is_empty() {
    let (home, dir) = (Home::new(), tempfile::tempdir().unwrap());
    let path = dir.path().join("card");
    let mut content = vec![0; 48 << 20];
    content[..1 << 20].fill(7);
    content[40 << 20..41 << 20].fill(9);
    std::fs::write(&path, &content).unwrap();
    let (card, file, recipe) = (path.to_str().unwrap(), home.path("backup"), overwrite(&home));
    let backup = file.to_str().unwrap();
    home.run(&["bench", card, "--recipe", &recipe, "--yes-destroy", card, "--backup", backup]).expect(0);
    assert!(std::fs::read(&path).unwrap() == content);
    let there = file.metadata().unwrap();
    assert_eq!(there.len(), 48 * MIB);
    assert!(there.blocks() * 512 < 3 * MIB, "{} bytes are used", there.blocks() * 512);
}

/// Image of a card of 32 MiB, whose last 8 MiB are data or empty.
fn backup_of(home: &Home, full: bool) -> (PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = image(dir.path(), 32);
    let mut content = std::fs::read(&path).unwrap();
    if !full {
        content[24 << 20..].fill(0);
    }
    std::fs::write(&path, &content).unwrap();
    let (card, file, recipe) = (path.to_str().unwrap(), home.path("backup"), overwrite(home));
    let backup = file.to_str().unwrap();
    home.run(&["bench", card, "--recipe", &recipe, "--yes-destroy", card, "--backup", backup]).expect(0);
    (file, content)
}

fn put_on(home: &Home, file: &Path, card: &LoopDevice) -> Outcome {
    home.run(&["restore", file.to_str().unwrap(), &card.path, "--yes-destroy", &card.path, "--json"])
}

#[test]
fn backup_to_another_card_needs_consent() {
    let home = Home::new();
    let (file, content) = backup_of(&home, true);
    let other = with_data(40, &[]);
    let before = other.content();
    home.run(&["restore", file.to_str().unwrap()]).expect(2).says(&["name the card"]);
    home.run(&["restore", file.to_str().unwrap(), &other.path]).expect(2).says(&["--yes-destroy"]);
    assert!(before == other.content());
    let document = put_on(&home, &file, &other).expect(0).json();
    let after = other.content();
    assert!(after[..32 << 20] == content && after[32 << 20..] == before[32 << 20..]);
    assert_eq!(number(&document, "/bytes_restored"), (32 * MIB) as f64);
    assert!(document["notes"].to_string().contains("8388608 bytes larger"), "{document:#}");
}

#[test]
fn smaller_card_fits_only_an_empty_end() {
    let home = Home::new();
    let smaller = with_data(28, &[]);
    let before = smaller.content();
    let (file, _) = backup_of(&home, true);
    put_on(&home, &file, &smaller).expect(2).says(&["does not fit", "4194304 bytes too few"]);
    assert!(before == smaller.content());
    std::fs::remove_file(&file).unwrap();
    std::fs::remove_file(home.path("backup.sums")).unwrap();
    let (file, content) = backup_of(&home, false);
    let document = put_on(&home, &file, &smaller).expect(0).json();
    assert!(smaller.content() == content[..28 << 20]);
    assert!(document["notes"].to_string().contains("4194304 bytes smaller"), "{document:#}");
}

#[test]
fn damaged_image_restores_the_rest() {
    let home = Home::new();
    let (file, content) = backup_of(&home, true);
    let mut damaged = content.clone();
    damaged[(5 << 20) + 17] ^= 4;
    std::fs::write(&file, &damaged).unwrap();
    let card = with_data(32, &[]);
    let before = card.content();
    let document = put_on(&home, &file, &card).expect(1).json();
    assert_eq!(number(&document, "/unreadable/0/offset"), (5 * MIB) as f64);
    assert_eq!(number(&document, "/unreadable/0/len"), MIB as f64);
    let after = card.content();
    assert!(after[..5 << 20] == content[..5 << 20] && after[6 << 20..] == content[6 << 20..]);
    assert!(after[5 << 20..6 << 20] == before[5 << 20..6 << 20], "what is damaged is not written");
    let sums = home.path("backup.sums");
    let mut text = std::fs::read(&sums).unwrap();
    let middle = text.len() / 2;
    text[middle] ^= 1;
    std::fs::write(&sums, text).unwrap();
    put_on(&home, &file, &card).expect(2).says(&["checksums", "damaged"]);
}

#[test]
fn backup_on_the_card_or_a_full_disk_is_refused() {
    let home = Home::new();
    let card = with_data(32, &[]);
    let before = card.content();
    let recipe = overwrite(&home);
    let disk = TestMount::new(&["-t", "tmpfs", "-o", "size=16m"], "tmpfs");
    let file = disk.point.join("backup");
    let bench = |target: &str, file: &Path| {
        home.run(&[
            "bench",
            target,
            "--recipe",
            &recipe,
            "--yes-destroy",
            target,
            "--backup",
            file.to_str().unwrap(),
        ])
    };
    bench(&card.path, &file).expect(2).says(&["cannot be written", "nothing was written to the card"]);
    assert!(before == card.content() && names_in(&disk.point).is_empty());
    let mut card = with_data(96, &[]);
    let [place, target] = [(1, 2048, 65536), (2, 67584, 65536)]
        .map(|(number, start, len)| card.add_partition(number, start, len));
    run_tool("mkfs.ext4", &["-q", "-F", &place]);
    let mounted = TestMount::new(&[], &place);
    bench(&target, &mounted.point.join("backup")).expect(2).says(&["would be on", "itself"]);
    assert!(names_in(&mounted.point).is_empty());
    drop(mounted);
}

#[test]
fn backup_with_gaps_is_refused() {
    let home = Home::new();
    let card = "sim:constant?announced_bytes=32MiB&faults.failing_share=0.1&faults.unit_bytes=1MiB";
    let (file, recipe) = (home.path("gaps"), overwrite(&home));
    let backup = file.to_str().unwrap();
    let refused =
        home.run(&["bench", card, "--recipe", &recipe, "--yes-destroy", card, "--backup", backup]).expect(2);
    refused.says(&["bytes of the card cannot be read", "bytes at byte", "nothing was written to the card"]);
    assert!(!file.exists());
}

#[test]
fn endure_restores_the_backup() {
    let (home, card) = (Home::new(), with_data(16, &[]));
    let before = card.content();
    let file = home.path("card.img");
    let file = file.to_str().unwrap();
    let arguments = ["endure", &card.path, "--rounds", "1", "--yes-destroy", &card.path, "--backup", file];
    home.run(&arguments).expect(0);
    assert!(card.content() == before && std::fs::read(file).unwrap() == before);
}

/// Interrupted benchmark that is restoring the card's image, frozen.
fn putting_back(home: &Home, card: &LoopDevice) -> crate::common::binary::Running {
    let recipe = home.recipe("", "[[test]]\ntest = \"SEQ1M Q1T1 write\"\nseconds = 300\n");
    let file = home.path("card.img");
    let mut bench = home.start(&[
        "bench",
        &card.path,
        "--recipe",
        &recipe,
        "--yes-destroy",
        &card.path,
        "--backup",
        file.to_str().unwrap(),
    ]);
    bench.wait_for("SEQ1M Q1T1 write");
    bench.signal(Signal::INT);
    bench.wait_for("restoring the image");
    bench.signal(Signal::STOP);
    std::thread::sleep(Duration::from_millis(600));
    bench
}

#[test]
fn only_a_second_ctrl_c_stops_restoring() {
    let (home, card) = (Home::new(), with_data(128, &[]));
    let before = card.content();
    let bench = putting_back(&home, &card);
    for signal in [Signal::TERM, Signal::HUP, Signal::CONT] {
        bench.signal(signal);
    }
    bench.finish().expect(130);
    assert!(card.content() == before);
}

#[test]
fn second_ctrl_c_ends_at_once_with_a_hint() {
    let (home, card) = (Home::new(), with_data(128, &[]));
    let bench = putting_back(&home, &card);
    bench.signal(Signal::INT);
    bench.signal(Signal::CONT);
    bench.finish().expect(130).says(&["ended at once", "cardscope restore"]);
}

#[test]
fn journal_in_use_is_listed_with_its_process() {
    let (home, card) = (Home::new(), with_data(24, &[]));
    let verify = home.start(&["verify", &card.path]);
    // The header of the journal is written, and the test still runs.
    until("the journal", || journals(&home).iter().any(|file| file.metadata().is_ok_and(|m| m.len() > 4096)));
    verify.signal(Signal::STOP);
    let waiting = home.run(&["restore", "--list", "--json"]).expect(0).json();
    let shown = home.run(&["restore", "--list"]).expect(0).stdout;
    verify.signal(Signal::CONT);
    verify.finish().expect(0);
    let journal = &list(&waiting, "/journals")[0];
    assert_eq!((text(journal, "/state"), text(journal, "/target")), ("running", card.path.as_str()));
    assert_eq!((&journal["announced_bytes"], journal.get("command")), (&(24 * MIB).into(), None));
    let process = format!("(process {})", journal["process"]);
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("by a running test") && !shown.contains("cardscope restore"), "{shown}");
    assert!(shown.contains(&process), "{shown}");
}
