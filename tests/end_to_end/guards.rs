//! Refusals to write and rules of consent on loop devices (`DESIGN.md`, Safety). The content of the underlying image
//! shows whether anything was written.

use crate::common::binary::{Home, Outcome, Running};
use crate::common::machine::{LoopDevice, MIB, SWAP_PAGES, TestMount, image, run_tool, swap_on, with_data};
use crate::common::{result, results, text};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::process::Command;

/// Recipe that writes and reads 16 MiB once.
const WRITES: &str =
    "[defaults]\npasses = 1\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\n[[test]]\ntest = \"SEQ1M Q1T1 read\"\n";
const READS: &str =
    "[defaults]\npasses = 1\n[[test]]\ntest = \"SEQ1M Q8T1 read\"\n[[test]]\ntest = \"RND4K Q4T2 read\"\n";

/// Runs a writing recipe on a device.
#[track_caller]
fn write_to(device: &str, more: &[&str]) -> Outcome {
    let home = Home::new();
    let recipe = home.recipe("", WRITES);
    let outcome = home.run(&[&["bench", device, "--recipe", &recipe, "--json"], more].concat());
    if outcome.status.code() == Some(2) {
        assert!(home.sessions().is_empty(), "a refused session leaves nothing in the archive\n{outcome}");
        assert!(!text(&outcome.json(), "/error").is_empty(), "{outcome}");
    }
    outcome
}

/// Asserts that a device is refused with these words despite any consent, and not written.
#[track_caller]
fn refused(card: &LoopDevice, device: &str, words: &[&str]) {
    refused_beside(0..0, card, device, words);
}

/// Same, except for bytes that the kernel itself may write.
#[track_caller]
fn refused_beside(kernels: Range<usize>, card: &LoopDevice, device: &str, words: &[&str]) {
    let content = || {
        let mut content = card.content();
        content[kernels.clone()].fill(0);
        content
    };
    let before = content();
    for consent in [&[][..], &["--yes-destroy", device]] {
        write_to(device, consent).expect(2).says(words).says(&[device]);
    }
    assert!(before == content(), "{device} was refused and written to");
}

#[test]
fn mounted_card_is_refused_despite_consent() {
    let card = with_data(32, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let mounted = TestMount::new(&["-o", "ro,noload"], &card.path);
    refused(&card, &card.path, &["mounted at", mounted.path(), "umount"]);
}

#[test]
fn mounted_partition_blocks_the_card_but_not_other_partitions() {
    let mut card = with_data(64, &[]);
    let (first, second) = (card.add_partition(1, 2048, 32768), card.add_partition(2, 34816, 65536));
    run_tool("mkfs.ext4", &["-q", "-F", &first]);
    let mounted = TestMount::new(&["-o", "ro,noload"], &first);
    refused(&card, &card.path, &["mounted at", mounted.path()]);
    refused(&card, &first, &["mounted at", mounted.path()]);
    write_to(&second, &["--yes-destroy", &second]).expect(0);
}

#[test]
fn swap_is_refused_despite_consent() {
    let card = with_data(32, &[]);
    let _swap = swap_on(&card.path);
    refused_beside(SWAP_PAGES, &card, &card.path, &["swap", "swapoff"]);
}

#[test]
fn read_only_card_is_refused() {
    let card = with_data(32, &["-r"]);
    refused(&card, &card.path, &["read-only"]);
}

#[test]
fn exclusively_opened_card_is_refused_with_the_program() {
    let card = with_data(32, &[]);
    let script = "import os, sys, time\nos.open(sys.argv[1], os.O_RDWR | os.O_EXCL)\nprint('held', file=sys.stderr, flush=True)\ntime.sleep(300)";
    let mut command = Command::new("python3");
    command.args(["-c", script, &card.path]).stderr(std::process::Stdio::piped());
    let mut other = Running::of(command);
    other.wait_for("held");
    refused(&card, &card.path, &["exclusively", "python3"]);
    drop(other);
    write_to(&card.path, &["--yes-destroy", &card.path]).expect(0);
}

#[test]
fn system_disk_is_refused() {
    let number = std::fs::metadata("/").unwrap().dev();
    let (major, minor) = (rustix::fs::major(number), rustix::fs::minor(number));
    let link = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"));
    let link = link.expect("/ must lie on a block device for this test");
    let disk = format!("/dev/{}", link.file_name().unwrap().to_str().unwrap());
    for consent in [&[][..], &["--yes-destroy", &disk]] {
        write_to(&disk, consent).expect(2).says(&["running system", &disk]);
    }
}

#[test]
fn script_without_consent_writes_nothing() {
    let card = with_data(32, &[]);
    let before = card.content();
    write_to(&card.path, &[]).expect(2).says(&["--yes-destroy", &card.path, "33.6 MB"]);
    assert!(before == card.content());
}

#[test]
fn question_names_the_content_of_the_card() {
    let card = with_data(64, &[]);
    run_tool("mkfs.vfat", &["-F", "32", "-n", "CAMERA", &card.path]);
    write_to(&card.path, &[]).expect(2).says(&["vfat", "CAMERA"]);
    run_tool("mkfs.ext4", &["-q", "-F", "-L", "photos", &card.path]);
    write_to(&card.path, &[]).expect(2).says(&["ext4", "photos"]);
}

#[test]
fn partition_table_is_named_in_the_question() {
    let card = with_data(64, &[]);
    // MBR with a FAT32 partition (type 0C) of 65536 sectors from sector 2048.
    let mut table = [0u8; 512];
    table[446..462].copy_from_slice(&[0, 0, 0, 0, 0x0c, 0, 0, 0, 0, 8, 0, 0, 0, 0, 1, 0]);
    table[510..].copy_from_slice(&[0x55, 0xaa]);
    std::os::unix::fs::FileExt::write_all_at(
        &std::fs::OpenOptions::new().write(true).open(&card.path).unwrap(),
        &table,
        0,
    )
    .unwrap();
    write_to(&card.path, &[]).expect(2).says(&["MBR", "partition", "--yes-destroy"]);
    write_to(&card.path, &["--yes-destroy", &card.path]).expect(0);
}

#[test]
fn consent_must_equal_the_target_as_it_was_typed() {
    let card = with_data(32, &[]);
    let before = card.content();
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("card");
    std::os::unix::fs::symlink(&card.path, &link).unwrap();
    let link = link.to_str().unwrap();
    // Another name of the same device is not what was typed.
    for (target, consent) in [
        (card.path.as_str(), card.name()),
        (&card.path, link),
        (link, &card.path),
        (&card.path, &format!("{} ", card.path)),
        (&card.path, "yes"),
        (&card.path, ""),
    ] {
        write_to(target, &["--yes-destroy", consent]).expect(2).says(&["nothing was written"]);
    }
    assert!(before == card.content());
    write_to(link, &["--yes-destroy", link]).expect(0);
}

#[test]
fn with_the_right_consent_the_card_is_measured_and_overwritten() {
    let card = with_data(32, &[]);
    let before = card.content();
    let outcome = write_to(&card.path, &["--yes-destroy", &card.path]).expect(0);
    let document = outcome.json();
    assert_eq!(text(&document, "/target"), card.path);
    for name in ["SEQ1M Q1T1 write", "SEQ1M Q1T1 read"] {
        assert_eq!(result(&document, name)["bytes"], 16 * MIB, "{outcome}");
    }
    let after = card.content();
    assert!(before[..16 << 20] != after[..16 << 20], "the test area was written");
    assert!(before[16 << 20..] == after[16 << 20..], "and nothing behind it");
    assert!(["io_uring", "preads"].contains(&text(&document, "/io_path")));
}

#[test]
fn a_recipe_that_only_reads_needs_no_consent_and_writes_nothing() {
    let card = with_data(32, &[]);
    let before = card.content();
    let home = Home::new();
    let own = home.recipe("", READS);
    for recipe in [
        &["--recipe", &own][..],
        &["--recipe", "quick", "--size", "16M", "--budget", "2s", "--only", "SEQ1M Q8T1 read"],
    ] {
        let outcome = home.run(&[&["bench", &card.path, "--json"], recipe].concat()).expect(0);
        let document = outcome.json();
        assert!(!results(&document).is_empty(), "{outcome}");
        assert!(
            document["caveats"].to_string().contains("does not fill the test area first"),
            "that is a doubt, and told\n{outcome}"
        );
    }
    assert!(before == card.content());
}

#[test]
fn mounted_card_can_be_read() {
    let card = with_data(32, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let mounted = TestMount::new(&["-o", "ro,noload"], &card.path);
    let before = card.content();
    let home = Home::new();
    let recipe = home.recipe("prepare = false", READS);
    let document = home.run(&["bench", &card.path, "--recipe", &recipe, "--json"]).expect(0).json();
    assert_eq!(results(&document).len(), 2);
    drop(mounted);
    assert!(before == card.content());
}

#[test]
fn a_plain_file_needs_consent_too_and_keeps_its_size() {
    let dir = tempfile::tempdir().unwrap();
    let file = image(dir.path(), 32);
    let before = std::fs::read(&file).unwrap();
    let name = file.to_str().unwrap();
    write_to(name, &[]).expect(2).says(&["file", name, "--yes-destroy"]);
    write_to(name, &["--yes-destroy", "card.img"]).expect(2);
    assert!(before == std::fs::read(&file).unwrap());
    write_to(name, &["--yes-destroy", name]).expect(0);
    let after = std::fs::read(&file).unwrap();
    assert!(before != after && before.len() == after.len());
}

#[test]
fn image_of_a_loop_device_is_refused_by_any_name() {
    let card = with_data(32, &[]);
    let name = card.image.to_str().unwrap();
    let link = card.image.with_file_name("link.img");
    std::fs::hard_link(&card.image, &link).unwrap();
    refused(&card, name, &["is in use", &card.path, "losetup -d"]);
    refused(&card, link.to_str().unwrap(), &["is in use", &card.path]);
}

#[test]
fn swap_file_is_refused() {
    let card = with_data(64, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    let file = image(std::path::Path::new(mounted.path()), 16);
    let name = file.to_str().unwrap();
    let _swap = swap_on(name);
    write_to(name, &["--yes-destroy", name]).expect(2).says(&[name, "swap", "swapoff"]);
}

#[test]
fn a_directory_needs_no_consent_and_keeps_its_files() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("holiday.jpg"), "a picture").unwrap();
    write_to(dir.path().to_str().unwrap(), &[]).expect(0);
    assert_eq!(crate::common::machine::names_in(dir.path()), ["holiday.jpg"]);
    assert_eq!(std::fs::read_to_string(dir.path().join("holiday.jpg")).unwrap(), "a picture");
}

#[test]
fn terminal_question_accepts_only_the_target_name() {
    let card = with_data(32, &[]);
    run_tool("mkfs.vfat", &["-n", "CAMERA", &card.path]);
    let before = card.content();
    let home = Home::new();
    let recipe = home.recipe("", WRITES);
    let answered = |answer: &str| {
        // Runs Cardscope on a pseudo terminal, so that it asks.
        let script = "import os, pty, sys\nsys.stdout.flush()\npid, fd = pty.fork()\n\
            if pid == 0: os.execv(sys.argv[2], sys.argv[2:])\n\
            said = b''\n\
            while b'to go on: ' not in said: said += os.read(fd, 1)\n\
            os.write(fd, sys.argv[1].encode() + b'\\n')\n\
            try:\n    while True: said += os.read(fd, 4096)\nexcept OSError: pass\n\
            sys.stdout.write(said.decode(errors='replace'))\n\
            sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))";
        let mut command = home.command("python3");
        command.args([
            "-c",
            script,
            answer,
            crate::common::binary::CARDSCOPE,
            "bench",
            &card.path,
            "--recipe",
            &recipe,
        ]);
        Running::of(command).finish()
    };
    for wrong in ["y", "yes", "", card.name()] {
        let told = answered(wrong).expect(2);
        assert!(told.stdout.contains("CAMERA") && told.one_line().contains("nothing was written"), "{told}");
    }
    assert!(before == card.content());
    let told = answered(&card.path).expect(0);
    assert!(told.stdout.contains("SEQ1M Q1T1 write"), "{told}");
    assert!(before != card.content());
}
