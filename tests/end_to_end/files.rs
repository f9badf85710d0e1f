//! `verify DIR --files` beside the real f3write and f3read on file systems of loop devices: files are interchangeable,
//! losses are counted alike, and the user's files are untouched.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{LoopDevice, MIB, TestMount, names_in, run_tool, try_tool, with_data};
use crate::common::served::Served;
use crate::common::{list, number, text};
use rustix::process::Signal;
use serde_json::Value;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Hashes of files by f3write 10, from docs/reference/tools.md#f3-and-h2testw-files.
const SECTOR_0: &str = "22416856895bd445da34694618f3e8afab67fe6ae737583a5d5a3e4404577779";
const SECTOR_1: &str = "aac83c5a37edd93fc56ae2cabed2f8030a3c6be287535ff04ab71f5485698b28";
const FIRST_MIB: &str = "3c4ed86ce248465dfd6e16d9224d16993a21f20b4e8d1ff6c1cda3b9831e62c3";

/// New tmpfs of the needed size.
fn memory(mib: u64) -> TestMount {
    TestMount::new(&["-t", "tmpfs", "-o", &format!("size={mib}M")], "tmpfs")
}

fn verify(home: &Home, mounted: &TestMount, more: &[&str]) -> Outcome {
    let arguments = [&["verify", mounted.path(), "--files", "--json"], more].concat();
    home.run(&arguments)
}

fn file(mounted: &TestMount, name: &str) -> std::path::PathBuf {
    Path::new(mounted.path()).join(name)
}

fn hash(path: &Path, bytes: &str) -> String {
    let command = format!("head -c {bytes} '{}' | tail -c 512 | sha256sum", path.display());
    run_tool("sh", &["-c", &command]).split(' ').next().unwrap().to_owned()
}

/// Inverts bits of a file.
fn flip(path: &Path, offset: u64, mask: &[u8]) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut bytes = vec![0; mask.len()];
    file.read_exact_at(&mut bytes, offset).unwrap();
    bytes.iter_mut().zip(mask).for_each(|(byte, mask)| *byte ^= mask);
    file.write_all_at(&bytes, offset).unwrap();
}

fn sectors(document: &Value, class: &str) -> u64 {
    number(document, &format!("/files/sectors/{class}")) as u64
}

/// Sectors after a label of f3read, such as `Data OK`.
fn f3_sectors(told: &str, word: &str) -> u64 {
    let line = told.lines().find(|l| l.trim_start().starts_with(word)).unwrap_or_else(|| panic!("{told}"));
    line.split_once('(').unwrap().1.split(' ').next().unwrap().parse().unwrap()
}

fn f3read(mounted: &TestMount) -> String {
    let output = try_tool("f3read", &[mounted.path()]);
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn our_files_are_identical_to_f3write() {
    let home = Home::new();
    let (ours, theirs) = (TestMount::ext4(96), TestMount::ext4(96));
    let document = verify(&home, &ours, &["--keep-files"]).expect(0).json();
    assert_eq!(text(&document, "/verdict"), "genuine", "{document:#}");
    assert_eq!(text(&document, "/method"), "files");
    let path = file(&ours, "1.h2w");
    assert_eq!(hash(&path, "512"), SECTOR_0);
    assert_eq!(hash(&path, "1024"), SECTOR_1);
    let first_mib = run_tool("sh", &["-c", &format!("head -c 1048576 '{}' | sha256sum", path.display())]);
    assert!(first_mib.starts_with(FIRST_MIB), "{first_mib}");
    run_tool("f3write", &[theirs.path()]);
    let common = fs::metadata(&path).unwrap().len().min(fs::metadata(file(&theirs, "1.h2w")).unwrap().len());
    assert!(common > 60 * MIB, "{common}");
    let limit = common.to_string();
    run_tool("cmp", &["-n", &limit, path.to_str().unwrap(), file(&theirs, "1.h2w").to_str().unwrap()]);
    let told = f3read(&ours);
    assert_eq!(f3_sectors(&told, "Data LOST"), 0, "{told}");
    assert_eq!(f3_sectors(&told, "Data OK") * 512, fs::metadata(&path).unwrap().len(), "{told}");
}

#[test]
fn second_file_continues_the_pattern() {
    let home = Home::new();
    let mounted = memory(1200);
    let document = verify(&home, &mounted, &["--keep-files", "--max-write", "1040M"]).expect(4).json();
    assert_eq!(list(&document, "/files/files").len(), 2);
    let second = file(&mounted, "2.h2w");
    assert_eq!(fs::metadata(&second).unwrap().len(), 16 * MIB);
    let mut word = [0; 8];
    fs::File::open(&second).unwrap().read_exact_at(&mut word, 0).unwrap();
    assert_eq!(u64::from_le_bytes(word), 1 << 30);
    let told = f3read(&mounted);
    assert_eq!(
        (f3_sectors(&told, "Data OK") * 512, f3_sectors(&told, "Data LOST")),
        (1040 * MIB, 0),
        "{told}"
    );
}

#[test]
fn card_is_filled_completely_and_cleaned_up() {
    let home = Home::new();
    let mounted = TestMount::ext4(64);
    fs::write(file(&mounted, "holiday.jpg"), vec![0xa5; 3 << 20]).unwrap();
    let before = run_tool("sha256sum", &[file(&mounted, "holiday.jpg").to_str().unwrap()]);
    let document = verify(&home, &mounted, &[]).expect(0).json();
    assert_eq!(text(&document, "/verdict"), "genuine", "{document:#}");
    assert_eq!(document["data_kept"], true);
    assert_eq!(names_in(Path::new(mounted.path())), ["holiday.jpg"]);
    assert_eq!(run_tool("sha256sum", &[file(&mounted, "holiday.jpg").to_str().unwrap()]), before);
    let (tested, free) = (number(&document, "/files/tested_bytes"), number(&document, "/files/free_bytes"));
    assert!(tested >= 0.95 * free && tested <= free, "{tested} of {free}");
    assert_eq!(number(&document, "/proven_bytes"), tested);
    assert!(number(&document, "/files/write/mb_s") > 0.0 && number(&document, "/files/read/mb_s") > 0.0);
    assert_eq!(home.sessions().len(), 0, "it is a record, no benchmark");
}

#[test]
fn files_of_f3write_are_verified_by_us_with_the_same_counts() {
    let home = Home::new();
    let mounted = TestMount::ext4(64);
    run_tool("f3write", &[mounted.path()]);
    let path = file(&mounted, "1.h2w");
    let document = verify(&home, &mounted, &["--read-only"]).expect(0).json();
    assert_eq!(text(&document, "/verdict"), "genuine", "{document:#}");
    assert_eq!(number(&document, "/bytes_written"), 0.0);
    // Three bits, then many (f3 8 counts words where we count bits), then another sector, then zeros.
    flip(&path, 5 * MIB + 100, &[0b111]);
    flip(&path, 6 * MIB + 300, &[0xff; 40]);
    let other = fs::read(&path).unwrap()[9 << 20..][..512].to_vec();
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&other, 7 * MIB).unwrap();
    OpenOptions::new().write(true).open(&path).unwrap().write_all_at(&[0; 1024], 8 * MIB).unwrap();
    let document = verify(&home, &mounted, &["--read-only"]).expect(1).json();
    let counted = ["changed", "overwritten", "aliased", "corrupted"].map(|class| sectors(&document, class));
    assert_eq!(counted, [1, 1, 1, 3], "{document:#}");
    let told = f3read(&mounted);
    let theirs = ["Slightly changed", "Overwritten", "Corrupted"].map(|word| f3_sectors(&told, word));
    assert_eq!(theirs, [1, 1, 3], "{told}");
    assert_eq!(f3_sectors(&told, "Data OK"), sectors(&document, "ok"), "{told}");
    assert_eq!(text(&document, "/verdict"), "damaged");
    assert_eq!(number(&document, "/usable_bytes") as u64, 5 * MIB);
    assert_eq!(number(&document, "/files/first_error/expected") as u64, 5 * MIB);
    assert_eq!(number(&document, "/disproofs/0/seen"), 2.0, "nobody is accused on one observation");
    let told = home.run(&["verify", mounted.path(), "--files", "--read-only", "--h2testw"]).expect(1).stdout;
    for line in [
        "The media is likely",
        "First error at offset: 0x0000000000500000",
        "Details:0 KByte overwritten (1 sectors)",
        "H2testw v1.4",
    ] {
        assert!(told.contains(line), "{told}");
    }
}

#[test]
fn truncated_and_foreign_files_are_no_losses() {
    let home = Home::new();
    let mounted = memory(3300);
    verify(&home, &mounted, &["--keep-files", "--max-write", "3080M"]).expect(0);
    let at = |name: &str| file(&mounted, name);
    fs::rename(at("1.h2w"), at("swap")).unwrap();
    fs::rename(at("2.h2w"), at("1.h2w")).unwrap();
    fs::rename(at("swap"), at("2.h2w")).unwrap();
    let document = verify(&home, &mounted, &["--read-only"]).expect(0).json();
    assert!(text(&document, "/files/files/0/remark").contains("content of 2.h2w"), "{document:#}");
    assert_eq!(sectors(&document, "overwritten"), 0);
    fs::remove_file(at("1.h2w")).unwrap();
    OpenOptions::new().write(true).open(at("3.h2w")).unwrap().set_len(10 * MIB + 700).unwrap();
    fs::write(at("7.h2w"), "a letter of mine").unwrap();
    fs::create_dir(at("8.h2w")).unwrap();
    fs::write(at("01.h2w"), "").unwrap();
    let document = verify(&home, &mounted, &["--read-only"]).expect(4).json();
    assert_eq!(text(&document, "/verdict"), "inconclusive", "{document:#}");
    assert!(text(&document, "/files/files/0/remark").contains("content of 1.h2w"), "{document:#}");
    assert!(text(&document, "/files/files/1/remark").contains("short of 1 GiB"), "{document:#}");
    assert_eq!(list(&document, "/files/missing"), &[serde_json::json!([1, 1])]);
    let foreign = list(&document, "/files/foreign");
    for name in ["7.h2w", "8.h2w", "01.h2w"] {
        assert!(foreign.iter().any(|f| f.as_str().unwrap().starts_with(name)), "{document:#}");
    }
    assert_eq!(fs::read_to_string(at("7.h2w")).unwrap(), "a letter of mine");
}

#[test]
fn existing_files_are_never_overwritten() {
    let home = Home::new();
    let mounted = TestMount::ext4(32);
    fs::write(file(&mounted, "3.h2w"), "mine").unwrap();
    verify(&home, &mounted, &[]).expect(2).says(&["3.h2w", "--read-only"]);
    assert_eq!(names_in(Path::new(mounted.path())), ["3.h2w"]);
    assert_eq!(fs::read_to_string(file(&mounted, "3.h2w")).unwrap(), "mine");
}

#[test]
fn unwritable_directory_is_refused_with_the_reason() {
    let home = Home::new();
    let mounted = TestMount::ext4(32);
    home.run(&["verify", "sim:constant", "--files"]).expect(2).says(&["not a directory"]);
    home.run(&["verify", "/nowhere/at/all", "--files"]).expect(2).says(&["not a directory"]);
    home.run(&["verify", mounted.path(), "--files", "--read-only"]).expect(2).says(&["has no files 1.h2w"]);
    run_tool("mount", &["-o", "remount,ro", mounted.path()]);
    verify(&home, &mounted, &[]).expect(2).says(&["mounted read-only"]);
    verify(&home, &mounted, &["--label", ""]).expect(2).says(&["the label is empty"]);
    let full = memory(1);
    fs::write(file(&full, "all"), vec![1; 1 << 20]).unwrap();
    verify(&home, &full, &[]).expect(2).says(&["has no space"]);
}

#[test]
fn a_read_only_mount_can_be_verified() {
    let home = Home::new();
    let mounted = TestMount::ext4(32);
    verify(&home, &mounted, &["--keep-files"]).expect(0);
    run_tool("mount", &["-o", "remount,ro", mounted.path()]);
    let document = verify(&home, &mounted, &["--read-only"]).expect(0).json();
    assert_eq!(text(&document, "/verdict"), "genuine", "{document:#}");
}

#[test]
fn subdirectory_names_the_tested_file_system() {
    let home = Home::new();
    let mounted = TestMount::ext4(32);
    let below = file(&mounted, "DCIM");
    fs::create_dir(&below).unwrap();
    let document = home.run(&["verify", below.to_str().unwrap(), "--files", "--json", "--max-write", "1M"]);
    let document = document.expect(4).json();
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert!(document["caveats"].to_string().contains("is not the root of a mounted card"), "{document:#}");
    assert!(document["caveats"].to_string().contains("a loop device"), "{document:#}");
}

#[test]
fn quota_ends_writing_and_is_reported() {
    let home = Home::new();
    // tmpfs limits inodes, too: without one left, the second file cannot be created.
    let mounted = TestMount::new(&["-t", "tmpfs", "-o", "size=1100M,nr_inodes=2"], "tmpfs");
    let document = verify(&home, &mounted, &[]).expect(0).json();
    assert_eq!(text(&document, "/verdict"), "genuine", "1024 of 1100 MiB are enough: {document:#}");
    assert!(document["caveats"].to_string().contains("could write only"), "{document:#}");
}

#[test]
fn an_interrupted_run_gives_a_partial_document_and_leaves_nothing() {
    let home = Home::new();
    let served = Served::start(&home, "constant?announced_bytes=256MiB&mb_s=40", &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    run_tool("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", "nodiscard", &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    fs::write(file(&mounted, "mine"), "mine").unwrap();
    let running = home.start(&["verify", mounted.path(), "--files", "--json"]);
    crate::common::until("some data", || {
        fs::metadata(file(&mounted, "1.h2w")).is_ok_and(|m| m.len() > 4 * MIB)
    });
    running.signal(Signal::INT);
    let outcome = running.finish().expect(130);
    let document = outcome.json();
    assert_eq!(text(&document, "/verdict"), "inconclusive");
    assert!(text(&document, "/error").starts_with("interrupted"));
    assert!(number(&document, "/bytes_written") > 0.0);
    assert_eq!(names_in(Path::new(mounted.path())), ["mine"]);
}

#[test]
fn budget_leaves_time_to_read_back() {
    let home = Home::new();
    let served = Served::start(&home, "constant?announced_bytes=256MiB&mb_s=4", &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    run_tool("mkfs.ext4", &["-q", "-F", "-m", "0", "-E", "nodiscard", &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    // Writing everything takes a minute, so even a busy machine gets a result in 15 s.
    let document = verify(&home, &mounted, &["--budget", "15s", "--keep-files"]).expect(4).json();
    let (tested, free) = (number(&document, "/files/tested_bytes"), number(&document, "/files/free_bytes"));
    assert!(tested > 0.0 && tested < 0.9 * free, "{tested} of {free}");
    // One file that takes seven seconds.
    let document = [document, verify(&home, &mounted, &["--budget", "2s", "--read-only"]).expect(4).json()];
    let read = number(&document[1], "/files/tested_bytes");
    assert!(read < 0.9 * tested, "{read} of {tested}");
    for document in document {
        assert_eq!(text(&document, "/verdict"), "inconclusive");
        assert_eq!((sectors(&document, "ok") * 512) as f64, number(&document, "/files/tested_bytes"));
    }
    fs::remove_file(file(&mounted, "1.h2w")).unwrap();
    verify(&home, &mounted, &["--budget", "2s"]).expect(4);
    assert!(names_in(Path::new(mounted.path())).is_empty());
}

#[test]
fn limbo_card_is_detected_by_files() {
    let home = Home::new();
    let name = "constant?announced_bytes=512MiB&fake=limbo&fake_bytes=384MiB";
    let served = Served::start(&home, name, &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    // Without a journal and with initialized tables, ext4 itself writes only to the start.
    run_tool(
        "mkfs.ext4",
        &["-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "lazy_itable_init=0", &card.path],
    );
    let mounted = TestMount::new(&[], &card.path);
    let document = verify(&home, &mounted, &["--label", "512MB SDHC 4K"]).expect(1).json();
    assert_eq!(text(&document, "/verdict"), "limbo", "{document:#}");
    let lost = (sectors(&document, "corrupted") * 512) as f64 / MIB as f64;
    assert!((lost - 128.0).abs() < 24.0, "128 MiB are not there, {lost} were lost");
    let claims: Vec<&str> = list(&document, "/findings").iter().map(|f| text(f, "/claim")).collect();
    for claim in ["files-lost", "label-family", "label-mark-unknown"] {
        assert!(claims.contains(&claim), "{claims:?}");
    }
}

#[test]
fn wraparound_card_is_detected_by_files() {
    let home = Home::new();
    let name = "constant?announced_bytes=512MiB&fake=wraparound&wrap_bytes=256MiB";
    let served = Served::start(&home, name, &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    // All tables are at the start and without copies. The wrap hits them, but the kernel has them cached.
    let options = "^has_journal,^resize_inode,sparse_super2";
    let extended = "lazy_itable_init=0,num_backup_sb=0";
    run_tool("mkfs.ext4", &["-q", "-F", "-m", "0", "-O", options, "-E", extended, &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    let document = verify(&home, &mounted, &[]).expect(1).json();
    assert_eq!(text(&document, "/verdict"), "wraparound", "{document:#}");
    // Tables leave gaps between the files, and yet the distance on the card is found.
    assert_eq!(number(&document, "/wrap_bytes") as u64, 256 * MIB, "{document:#}");
    let (overwritten, aliased) = (sectors(&document, "overwritten"), sectors(&document, "aliased"));
    assert!(overwritten > 0 && aliased == overwritten, "{document:#}");
}

#[test]
fn files_fill_a_card_without_fallocate() {
    let home = Home::new();
    let device = with_data(64, &[]);
    // ext2 has no fallocate, and its blocks of 1 KiB leave odd ends.
    run_tool("mkfs.ext2", &["-q", "-F", "-m", "0", "-b", "1024", &device.path]);
    let mounted = TestMount::new(&["-t", "ext2"], &device.path);
    let document = verify(&home, &mounted, &[]).expect(0).json();
    assert_eq!(text(&document, "/verdict"), "genuine", "{document:#}");
    assert!(names_in(Path::new(mounted.path())).is_empty());
}

/// ext4 without a journal on a card of 128 MiB, a tenth of whose units fail after 24 MiB were written, behind the
/// creation of the file system.
fn failing(home: &Home) -> (Served, LoopDevice, TestMount) {
    let faults = "faults.failing_share=0.1&faults.unit_bytes=1MiB&faults.begin_after_bytes=24MiB";
    let served = Served::start(home, &format!("constant?announced_bytes=128MiB&{faults}"), &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let options = "^has_journal,^resize_inode";
    run_tool(
        "mkfs.ext4",
        &["-q", "-F", "-m", "0", "-b", "4096", "-O", options, "-E", "lazy_itable_init=0", &card.path],
    );
    let mounted = TestMount::new(&["-o", "errors=continue"], &card.path);
    (served, card, mounted)
}

#[test]
fn failed_sectors_are_listed_and_the_rest_tested() {
    let home = Home::new();
    let (_served, _card, mounted) = failing(&home);
    let document = verify(&home, &mounted, &[]).expect(1).json();
    assert_eq!(text(&document, "/verdict"), "damaged", "{document:#}");
    let troubles = list(&document, "/troubles");
    for operation in ["write", "read"] {
        let of = |t: &&Value| text(t, "/operation") == operation && number(t, "/errno") == 5.0;
        assert!(troubles.iter().any(|t| of(&t)), "no {operation} failed: {document:#}");
    }
    let all: u64 = ["ok", "unreadable", "corrupted"].iter().map(|class| sectors(&document, class)).sum();
    assert_eq!(all * 512, number(&document, "/files/tested_bytes") as u64, "every sector is told of");
    // Unwritten parts read as zeros of a hole; parts written before the failure are unreadable.
    let lost = (sectors(&document, "unreadable") + sectors(&document, "corrupted")) as f64 / all as f64;
    assert!((0.02..0.25).contains(&lost), "a tenth of the card fails, {lost} of the sectors did");
    assert!(sectors(&document, "unreadable") > 0, "{document:#}");
    assert!(names_in(Path::new(mounted.path())).is_empty());
}

#[test]
fn a_card_that_vanishes_in_mid_run_ends_it_with_a_partial_document() {
    let home = Home::new();
    let served = Served::start(&home, "constant?announced_bytes=256MiB&mb_s=40", &[]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    run_tool("mkfs.ext4", &["-q", "-F", "-m", "0", "-O", "^has_journal", "-E", "nodiscard", &card.path]);
    let mounted = TestMount::new(&["-o", "errors=continue"], &card.path);
    let running = home.start(&["verify", mounted.path(), "--files", "--json"]);
    crate::common::until("some data", || {
        fs::metadata(file(&mounted, "1.h2w")).is_ok_and(|m| m.len() > 8 * MIB)
    });
    let mut served = served;
    served.kill();
    let document = running.finish().expect(3).json();
    assert_eq!(text(&document, "/verdict"), "inconclusive", "{document:#}");
    assert!(!text(&document, "/error").is_empty());
}

#[test]
fn unreadable_file_is_no_loss() {
    let home = Home::new();
    let mounted = TestMount::ext4(32);
    verify(&home, &mounted, &["--keep-files"]).expect(0);
    run_tool("chmod", &["000", file(&mounted, "1.h2w").to_str().unwrap()]);
    // Root can read everything unless that capability is dropped.
    let mut command = home.command("setpriv");
    command.arg("--bounding-set=-dac_override,-dac_read_search").arg(CARDSCOPE);
    command.args(["verify", mounted.path(), "--files", "--read-only", "--json"]);
    let document = Running::of(command).finish().expect(4).json();
    assert_eq!(text(&document, "/verdict"), "inconclusive", "{document:#}");
    assert!(text(&document, "/files/files/0/remark").starts_with("not read: "), "{document:#}");
    assert!(document["caveats"].to_string().contains("1.h2w was not read"), "{document:#}");
    assert_eq!(sectors(&document, "unreadable"), 0, "it was the user who could not, not the card");
}
