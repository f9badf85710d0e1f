//! `format` on files, loop devices, served and simulated cards, with every file system, checked by other tools; and
//! all cases that must leave a card unchanged.

use crate::common::binary::{CARDSCOPE, Home, Outcome, Running};
use crate::common::machine::{MIB, TestMount, data, run_tool, try_tool, undo_when_free, with_data};
use crate::common::served::Served;
use serde_json::Value;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Card of this size as a sparse file.
fn sparse(home: &Home, bytes: u64) -> PathBuf {
    let path = home.path("card.img");
    File::create(&path).unwrap().set_len(bytes).unwrap();
    path
}

#[track_caller]
fn format(home: &Home, target: &str, more: &[&str]) -> Outcome {
    home.run(&[&["format", target, "--yes-destroy", target, "--json", "-q"], more].concat())
}

/// Partition as a device of its own, for file system checkers.
struct Partition(String);

impl Partition {
    fn of(image: &Path, document: &Value) -> Self {
        let bytes = |field: &str| (document["layout"][field].as_u64().unwrap() * 512).to_string();
        let (start, size) = (bytes("partition_start"), bytes("partition_sectors"));
        let image = image.to_str().unwrap();
        Partition(run_tool("losetup", &["-f", "--show", "-o", &start, "--sizelimit", &size, image]))
    }

    /// Asserts that the checker of the file system finds no error.
    #[track_caller]
    fn is_sound(&self, document: &Value) {
        let checker = if document["file_system"] == "exfat" { "fsck.exfat" } else { "fsck.fat" };
        run_tool(checker, &["-n", &self.0]);
    }
}

impl Drop for Partition {
    fn drop(&mut self) {
        undo_when_free("losetup", &["-d", &self.0]);
    }
}

/// Formats a sparse image, checks its file system, and returns the layout.
#[track_caller]
fn formatted(bytes: u64) -> Value {
    let home = Home::new();
    let card = sparse(&home, bytes);
    let document = format(&home, card.to_str().unwrap(), &["--label", "CARD"]).expect(0).json();
    assert_eq!(document["checked"], true);
    Partition::of(&card, &document).is_sound(&document);
    let seen = home.run(&["info", card.to_str().unwrap(), "--json"]).expect(0).json();
    assert_eq!(seen["layout"]["aligned"], true, "{seen:#}");
    assert_eq!(seen["layout"]["partitions"], document["present"]["partitions"]);
    document
}

/// Partition start, reserved sectors, sectors of a FAT, start of the data, clusters.
fn places(document: &Value) -> [u64; 5] {
    ["partition_start", "reserved_sectors", "fat_sectors", "data_start", "clusters"]
        .map(|field| document["layout"][field].as_u64().unwrap())
}

#[test]
fn fat32_layout_matches_sandisk_factory_cards() {
    assert_eq!(places(&formatted(15_523_840 * 512))[..4], [8192, 4404, 1894, 16_384]);
    assert_eq!(places(&formatted(62_333_952 * 512)), [8192, 1170, 7607, 24_576, 973_584]);
}

#[test]
fn a_64_gb_and_a_256_gb_card_get_exfat_with_the_data_on_the_second_boundary() {
    assert_eq!(places(&formatted(124_735_488 * 512)), [32_768, 16_384, 16_384, 65_536, 486_992]);
    assert_eq!(places(&formatted(500_000_000 * 512)), [65_536, 32_768, 32_768, 131_072, 976_306]);
}

#[test]
fn small_cards_get_fat12_and_fat16_and_the_checker_agrees() {
    for (mib, kind) in
        [(1, "fat12"), (8, "fat12"), (60, "fat12"), (200, "fat16"), (1024, "fat16"), (2048, "fat16")]
    {
        let document = formatted(mib * MIB);
        assert_eq!(document["layout"]["file_system"], kind, "{mib} MiB");
        let unit = document["layout"]["boundary_sectors"].as_u64().unwrap();
        assert_eq!(places(&document)[3] % unit, 0);
    }
}

#[test]
fn a_card_above_2_tib_gets_a_gpt_that_other_tools_read() {
    let home = Home::new();
    let card = sparse(&home, 3 << 40);
    let document = format(&home, card.to_str().unwrap(), &[]).expect(0).json();
    Partition::of(&card, &document).is_sound(&document);
    let listed = run_tool("partx", &["-s", "-g", "-o", "START,SECTORS", card.to_str().unwrap()]);
    let sectors = document["layout"]["partition_sectors"].to_string();
    assert_eq!(listed.split_whitespace().collect::<Vec<_>>(), ["131072", &sectors]);
    let told = run_tool("blkid", &["-p", card.to_str().unwrap()]);
    assert!(told.contains("PTTYPE=\"gpt\""), "{told}");
}

#[test]
fn a_measured_unit_of_12_mib_carries_the_data_of_both_file_systems() {
    for bytes in [15_523_840u64 * 512, 124_735_488 * 512] {
        let home = Home::new();
        let card = sparse(&home, bytes);
        let document = format(&home, card.to_str().unwrap(), &["--boundary", "12M"]).expect(0).json();
        assert_eq!(places(&document)[3] * 512 % (12 * MIB), 0);
        Partition::of(&card, &document).is_sound(&document);
    }
}

#[test]
fn size_adjustment_ends_on_a_cylinder() {
    let home = Home::new();
    let card = sparse(&home, 62_333_952 * 512);
    let document = format(&home, card.to_str().unwrap(), &["--size-adjustment", "on"]).expect(0).json();
    let l = &document["layout"];
    let end = l["partition_start"].as_u64().unwrap() + l["partition_sectors"].as_u64().unwrap();
    assert_eq!(end % (255 * 63), 0);
    Partition::of(&card, &document).is_sound(&document);
}

#[test]
fn a_loop_device_is_formatted_and_takes_files_under_its_label() {
    let home = Home::new();
    let device = with_data(64, &[]);
    let document = format(&home, &device.path, &["--label", "Holiday"]).expect(0).json();
    assert_eq!((&document["label"], &document["checked"]), (&Value::from("HOLIDAY"), &Value::from(true)));
    let part = Partition::of(&device.image, &document);
    assert!(run_tool("mdir", &["-i", &part.0, "::"]).contains("HOLIDAY"));
    let file = home.path("a.bin");
    std::fs::write(&file, vec![7u8; 30 << 20]).unwrap();
    run_tool("mcopy", &["-i", &part.0, file.to_str().unwrap(), "::"]);
    part.is_sound(&document);
}

#[test]
fn overwrite_removes_old_data_and_sets_the_card_state() {
    let home = Home::new();
    let old = b"old data of the card's owner....";
    let path = home.path("card.img");
    std::fs::write(&path, old.repeat((16 * MIB) as usize / old.len())).unwrap();
    let document = format(&home, path.to_str().unwrap(), &["--overwrite"]).expect(0).json();
    assert_eq!(document["state"], "overwritten");
    let bytes = std::fs::read(&path).unwrap();
    assert!(!bytes.chunks(512).any(|sector| sector.starts_with(old)));
    // Free space is not constant, so that no controller can store it without writing.
    let free = &bytes[8 << 20..(8 << 20) + 4096];
    assert!(free.windows(2).any(|pair| pair[0] != pair[1]));

    let state = home.path("state");
    let name = format!("sim:constant?announced_bytes=64MiB&save={}", state.display());
    format(&home, &name, &["--overwrite"]).expect(0);
    let again = format!("sim:constant?announced_bytes=64MiB&state={}", state.display());
    let bench = |more: &[&str]| {
        let recipe = home.recipe("", "[defaults]\npasses = 1\n[[test]]\ntest = \"SEQ1M Q1T1 write\"\n");
        let run = home.run(&[&["bench", &again, "--recipe", &recipe, "--json", "-q"], more].concat());
        run.expect(0).json()
    };
    assert_eq!(bench(&[])["condition"]["state"], "overwritten");
    // The first run has written to the card.
    assert_ne!(bench(&[])["condition"]["state"], "overwritten");
}

#[test]
fn a_quick_format_of_a_full_card_leaves_nothing_of_the_old_file_system() {
    let home = Home::new();
    let device = with_data(64, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &device.path]);
    format(&home, &device.path, &[]).expect(0);
    let seen = home.run(&["info", &device.path, "--json"]).expect(0).json();
    assert_eq!(seen["layout"]["table"], "mbr");
    assert_eq!(seen["layout"]["partitions"].as_array().unwrap().len(), 1);
    let known = try_tool("blkid", &["-p", &device.path]);
    let told = String::from_utf8_lossy(&known.stdout).into_owned();
    assert!(told.contains("dos") && !told.contains("ext4"), "{told}");
}

#[test]
fn discard_reports_support() {
    let home = Home::new();
    let document = format(&home, "sim:lexar-16g-c10", &["--discard"]).expect(0).json();
    let taken = document["discarded"].as_bool().unwrap();
    assert_eq!(document["state"] == "trimmed", taken);
    let claims: Vec<&str> =
        document["findings"].as_array().into_iter().flatten().filter_map(|f| f["claim"].as_str()).collect();
    assert_eq!(claims.contains(&"discard-not-taken"), !taken);
}

#[test]
fn a_served_card_is_formatted_like_any_file() {
    let home = Home::new();
    let served = Served::start(&home, "constant?announced_bytes=256MiB", &["--no-timing"]);
    let card = served.card();
    let document = format(&home, card.to_str().unwrap(), &[]).expect(0).json();
    Partition::of(&card, &document).is_sound(&document);
}

/// None of these commands changes the image.
#[test]
fn missing_consent_or_bad_options_write_nothing() {
    let home = Home::new();
    let device = with_data(16, &[]);
    let before = device.content();
    let path = device.path.as_str();
    for (arguments, word) in [
        (vec!["format", path], "--yes-destroy"),
        (vec!["format", path, "--yes-destroy", "/dev/loop"], "nothing was written"),
        (vec!["format", path, "--yes-destroy", path, "--boundary", "3000"], "boundary"),
        (vec!["format", path, "--yes-destroy", path, "--boundary", "1G"], "boundary"),
        (vec!["format", path, "--yes-destroy", path, "--label", "a/b"], "--label"),
        (vec!["format", path, "--yes-destroy", path, "--label", "twelve chars"], "11 characters"),
        (vec!["format", path, "--yes-destroy", path, "--limit-to-real"], "is unknown"),
        (vec!["format", path, "--yes-destroy", path, "--limit-to-real", "--real", "1T"], "exceeds"),
        (vec!["format", path, "--yes-destroy", path, "--condition", "colour=red"], "colour"),
        (vec!["format", "/tmp", "--yes-destroy", "/tmp"], "directory"),
    ] {
        home.run(&arguments).expect(2).says(&[word]);
    }
    assert!(device.content() == before, "a refused format has written");
}

#[test]
fn a_mounted_card_one_partition_and_less_than_1_mib_are_refused() {
    let home = Home::new();
    let mut device = with_data(16, &[]);
    let partition = device.add_partition(1, 2048, 8192);
    format(&home, &partition, &[]).expect(2).says(&["is a partition; name the whole card", device.name()]);
    run_tool("mkfs.ext4", &["-q", "-F", &device.path]);
    let mounted = TestMount::new(&[], &device.path);
    format(&home, &device.path, &[]).expect(2).says(&["mounted", mounted.path()]);
    let small = sparse(&home, MIB - 512);
    format(&home, small.to_str().unwrap(), &[]).expect(2).says(&["1 MiB"]);
    assert!(std::fs::read(&small).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn missing_tool_is_reported_before_the_question() {
    let home = Home::new();
    for (bytes, name, package) in
        [(64 * MIB, "mkfs.fat", "dosfstools"), (64_000_000_000, "mkfs.exfat", "exfatprogs")]
    {
        let card = sparse(&home, bytes);
        let mut command = home.command(CARDSCOPE);
        command.args(["format", card.to_str().unwrap()]).env("PATH", "/nonexistent");
        Running::of(command).finish().expect(2).says(&[name, package]);
    }
}

#[test]
fn mkfs_fat_is_found_by_both_names() {
    let home = Home::new();
    let tools = home.path("tools");
    std::fs::create_dir(&tools).unwrap();
    std::os::unix::fs::symlink("/usr/sbin/mkfs.fat", tools.join("mkfs.vfat")).unwrap();
    let mut command = home.command(CARDSCOPE);
    command.args(["format", "sim:constant?announced_bytes=64MiB"]).env("PATH", &tools);
    Running::of(command).finish().expect(0);
}

#[test]
fn a_card_that_fails_in_mid_format_ends_it_with_a_partial_document() {
    let home = Home::new();
    for fault in ["faults.failing_share=1&faults.begin_after_bytes=1MiB", "faults.vanish_after_bytes=2MiB"] {
        let name = format!("sim:constant?announced_bytes=16GiB&{fault}");
        let document = format(&home, &name, &[]).expect(3).json();
        assert!(document["error"].is_string() && document["checked"] == false, "{document:#}");
    }
}

#[test]
fn swallowed_writes_are_detected() {
    let home = Home::new();
    let document = format(&home, "sim:constant?announced_bytes=1GiB&fake=read-only", &[]).expect(1).json();
    assert_eq!(document["checked"], false);
    assert_eq!(document["findings"][0]["claim"], "format-not-kept");
}

#[test]
fn limited_fake_keeps_its_files() {
    let home = Home::new();
    let served =
        Served::start(&home, "constant?announced_bytes=1GiB&fake=limbo&fake_bytes=120MiB", &["--no-timing"]);
    let card = served.card();
    let name = card.to_str().unwrap();
    let document = format(&home, name, &["--limit-to-real", "--real", "120M"]).expect(0).json();
    let l = &document["layout"];
    let end = (l["partition_start"].as_u64().unwrap() + l["partition_sectors"].as_u64().unwrap()) * 512;
    assert!(end <= 120 * MIB, "{end}");
    assert_eq!(document["limited"]["announced_bytes"], 1 << 30);
    let told = &document["findings"][0];
    assert_eq!(told["claim"], "limited-to-real");
    assert!(told["verdict"].as_str().unwrap().contains("still announces"));
    let part = Partition::of(&card, &document);
    part.is_sound(&document);
    // Filled to the last cluster, the card returns every byte.
    let free = l["clusters"].as_u64().unwrap() * l["cluster_sectors"].as_u64().unwrap() * 512;
    let file = home.path("full.bin");
    let bytes = data(free as usize);
    std::fs::write(&file, &bytes).unwrap();
    run_tool("mcopy", &["-i", &part.0, file.to_str().unwrap(), "::"]);
    run_tool("blockdev", &["--flushbufs", &part.0]);
    part.is_sound(&document);
    let back = home.path("back.bin");
    run_tool("mcopy", &["-i", &part.0, "::full.bin", back.to_str().unwrap()]);
    assert!(std::fs::read(&back).unwrap() == bytes, "the fake lost a file inside its partition");
}

#[test]
fn format_limits_a_fake_to_the_verified_size() {
    let home = Home::new();
    let verified = |card: &str| {
        home.run(&["verify", card, "-q"]);
        format(&home, card, &["--limit-to-real"])
    };
    let fake = "sim:lexar-16g-c10?fake=limbo&fake_bytes=3000MiB";
    let document = verified(fake).expect(0).json();
    assert!(document["answer"].as_str().unwrap().ends_with("the rest does not exist."), "{document:#}");
    // When it is formatted completely all the same, the document says that the card is a fake.
    let whole = format(&home, fake, &[]).expect(0).json();
    assert!(
        whole["answer"].as_str().unwrap().ends_with("but the card failed its capacity test."),
        "{whole:#}"
    );
    let known = &whole["findings"][0];
    assert_eq!((&known["claim"], &known["weight"]), (&Value::from("known-verdict"), &Value::from("hint")));
    assert!(known["verdict"].as_str().unwrap().contains("holds 3.1"), "{known:#}");
    let l = &document["layout"];
    let end = (l["partition_start"].as_u64().unwrap() + l["partition_sectors"].as_u64().unwrap()) * 512;
    assert!(end <= 3000 * MIB && end > 2990 * MIB, "{end}");
    assert!(document["limited"]["source"].as_str().unwrap().contains("limbo"));
    verified("sim:constant?announced_bytes=64MiB").expect(2).says(&["without --limit-to-real"]);
    verified("sim:constant?announced_bytes=64MiB&fake=read-only").expect(2).says(&["do not use this card"]);
}

#[test]
fn a_backup_is_taken_first_and_restore_undoes_the_format() {
    let home = Home::new();
    let device = with_data(16, &[]);
    let before = device.content();
    let backup = home.path("card.backup");
    let backup = backup.to_str().unwrap();
    format(&home, &device.path, &["--backup", backup]).expect(0);
    assert!(device.content() != before);
    home.run(&["restore", backup, &device.path, "--yes-destroy", &device.path, "-q"]).expect(0);
    assert!(device.content() == before, "the card is as it was");
}

#[test]
fn info_reports_misaligned_partitions() {
    let home = Home::new();
    let card = sparse(&home, 15_523_840 * 512);
    let path = card.to_str().unwrap();
    run_tool("mkfs.fat", &["-F", "32", "--offset", "63", path]);
    // FAT32 partition from sector 63, as old tools created it.
    let mut entry = [0u8; 66];
    entry[4] = 0x0c;
    entry[8..12].copy_from_slice(&63u32.to_le_bytes());
    entry[12..16].copy_from_slice(&(15_523_840u32 - 63).to_le_bytes());
    entry[64..].copy_from_slice(&[0x55, 0xaa]);
    File::options().write(true).open(&card).unwrap().write_all_at(&entry, 446).unwrap();
    let seen = home.run(&["info", path, "--json"]).expect(0).json();
    assert_eq!(seen["layout"]["aligned"], false);
    let found =
        seen["findings"].as_array().unwrap().iter().find(|f| f["claim"] == "layout-alignment").unwrap();
    assert_eq!(found["weight"], "hint");
    assert!(found["advice"].as_str().unwrap().contains("cardscope format"));
}
