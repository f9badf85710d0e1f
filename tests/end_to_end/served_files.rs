//! File systems on served cards: created, filled, read and checked by their own tools. The kernel may know only ext4,
//! so vfat is filled by mtools and exFAT checked by its own tools.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, MIB, TestMount, run_tool};
use crate::common::number;
use crate::common::served::Served;
use rustix::process::Signal;
use serde_json::Value;
use std::path::Path;

#[test]
fn a_file_system_on_a_served_card_keeps_what_is_written() {
    let home = Home::new();
    let mut served = Served::start(&home, "lexar-16g-c10", &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    let films: Vec<u8> = (0..8 * MIB).map(|n| ((n * n) >> 7) as u8).collect();
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let mounted = TestMount::new(&[], &card.path);
    std::fs::write(mounted.point.join("films"), &films).unwrap();
    drop(mounted);
    run_tool("blockdev", &["--flushbufs", &card.path]);
    run_tool("e2fsck", &["-f", "-n", &card.path]);
    let again = TestMount::new(&["-o", "ro"], &card.path);
    assert!(std::fs::read(again.point.join("films")).unwrap() == films);
    drop(again);
    // Not every kernel can mount vfat; its checker reads everything.
    run_tool("mkfs.vfat", &["-F", "32", &card.path]);
    run_tool("blockdev", &["--flushbufs", &card.path]);
    run_tool("fsck.vfat", &["-n", &card.path]);
    drop(card);
    served.stop(Signal::TERM).expect(0);
}

/// 3 MiB of incompressible data.
fn film(home: &Home) -> std::path::PathBuf {
    let path = home.path("film");
    let bytes: Vec<u8> = (0..3 * MIB + 777).map(|n| (n.wrapping_mul(0x9e37_79b9) >> 11) as u8).collect();
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn mtools_copy_to_a_vfat_on_a_served_card_and_back() {
    let home = Home::new();
    let served = Served::start(&home, "lexar-16g-c10", &["--no-timing"]);
    let (card, film, back) = (served.card(), film(&home), home.path("back"));
    let (card, back_name) = (card.to_str().unwrap(), back.to_str().unwrap());
    run_tool("mformat", &["-i", card, "-F", "-v", "CARD", "-T", "2097152", "-h", "255", "-s", "63", "::"]);
    run_tool("mmd", &["-i", card, "::/DCIM"]);
    run_tool("mcopy", &["-i", card, film.to_str().unwrap(), "::/DCIM/film.mp4"]);
    let listed = run_tool("mdir", &["-i", card, "::/DCIM"]);
    assert!(listed.contains("film") && listed.replace(' ', "").contains("3146505"), "{listed}");
    run_tool("mcopy", &["-i", card, "::/DCIM/film.mp4", back_name]);
    assert!(std::fs::read(&film).unwrap() == std::fs::read(&back).unwrap());
    run_tool("fsck.vfat", &["-n", card]);
}

#[test]
fn an_exfat_on_a_served_card_is_made_and_found_clean() {
    let home = Home::new();
    let served = Served::start(&home, "lexar-1tb-express", &["--no-timing"]);
    let card = LoopDevice::over_file(served.card(), &["--direct-io=on"]);
    run_tool("mkfs.exfat", &["-L", "CARD", &card.path]);
    run_tool("blockdev", &["--flushbufs", &card.path]);
    let checked = run_tool("fsck.exfat", &["-n", &card.path]);
    assert!(checked.contains("clean"), "{checked}");
    let dumped = run_tool("dump.exfat", &[&card.path]);
    let length =
        dumped.lines().find(|l| l.starts_with("Volume Length")).unwrap_or_else(|| panic!("{dumped}"));
    let sectors: u64 = length.rsplit([' ', '\t']).next().unwrap().parse().unwrap();
    assert_eq!(sectors * 512, 1_000_865_792_000, "{dumped}");
}

/// Runs fio with verification and returns its document.
fn verified(file: &Path, more: &[&str]) -> Value {
    let name = format!("--filename={}", file.display());
    let fixed = [
        "--name=verify",
        "--ioengine=libaio",
        "--direct=1",
        "--verify=crc32c",
        "--do_verify=1",
        "--verify_state_save=0",
        "--output-format=json",
    ];
    let told = run_tool("fio", &[&fixed[..], &[name.as_str()], more].concat());
    serde_json::from_str(&told[told.find('{').unwrap_or_else(|| panic!("{told}"))..]).unwrap()
}

#[test]
fn fio_finds_what_it_wrote_at_random_on_a_card_that_keeps_its_times() {
    let home = Home::new();
    let served = Served::start(&home, "constant?command_s=0.0002&mb_s=400&depth=8", &[]);
    let options = [
        "--rw=randwrite",
        "--bsrange=512-64k",
        "--bs_unaligned=0",
        "--blockalign=512",
        "--size=24M",
        "--iodepth=8",
    ];
    let document = verified(&served.card(), &options);
    assert_eq!(document["jobs"][0]["error"], 0);
    assert!(number(&document, "/jobs/0/read/io_bytes") >= 24.0 * MIB as f64);
    assert_eq!(served.document("counters.json")["in_flight"], 0);
    assert!(number(&served.document("counters.json"), "/max_in_flight") >= 2.0);
}

#[test]
fn fio_sees_that_a_fake_lost_what_it_wrote() {
    let home = Home::new();
    let served =
        Served::start(&home, "constant?announced_bytes=64MiB&fake=limbo&fake_bytes=32MiB", &["--no-timing"]);
    let name = format!("--filename={}", served.card().display());
    let options = [
        "--name=v",
        "--rw=write",
        "--bs=64k",
        "--direct=1",
        "--size=64M",
        "--verify=crc32c",
        "--do_verify=1",
        "--verify_state_save=0",
    ];
    let output = crate::common::machine::try_tool("fio", &[&options[..], &[name.as_str()]].concat());
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(told.contains("verify") && told.contains(&format!("{}", 32 * MIB)), "first lost block: {told}");
}
