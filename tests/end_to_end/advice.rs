//! Runs the commands that `map` advises on a loop device, and checks by the tools' own dumps that each setting took
//! effect.

use crate::common::binary::Home;
use crate::common::machine::{LoopDevice, MIB, run_tool, try_tool, undo_when_free};
use cardscope_model::card_map::advice::{AdviceFacts, advise_for_map};
use cardscope_model::card_map::property::{Property, PropertyEvidence};
use cardscope_model::card_map::{MapAdvice, MeasuredMap, SizePoint};
use std::path::Path;

const KIB: u64 = 1 << 10;

/// Card without a partition, and the advice for it.
struct Rig {
    device: LoopDevice,
    advice: MapAdvice,
    _dir: tempfile::TempDir,
}

impl Rig {
    /// Card of 1 GiB with this page and erase block, slow below 64 KiB.
    fn new(page: u64, unit: u64) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = dir.path().join("card");
        std::fs::File::create(&image).unwrap().set_len(1024 * MIB).unwrap();
        let device = LoopDevice::over_file(&image, &["-P"]);
        let facts = AdviceFacts {
            target: device.path.clone(),
            block_device: true,
            bytes: 1024 * MIB,
            ..AdviceFacts::default()
        };
        Rig { advice: advise_for_map(&measured(page, unit), &facts), device, _dir: dir }
    }

    /// Runs the advised command that begins with `words`, or has them in a pipe, on a blank card.
    #[track_caller]
    fn run(&self, words: &str) {
        let found = self.advice.commands.iter().find(|c| c.command.contains(words));
        let command = &found.unwrap_or_else(|| panic!("no {words} in {:#?}", self.advice.commands)).command;
        let partition = self.partition();
        if Path::new(&partition).exists() {
            run_tool("wipefs", &["-a", "-q", &partition]);
        }
        run_tool("sh", &["-c", command]);
    }

    fn partition(&self) -> String {
        format!("{}p1", self.device.path)
    }

    /// Start and length of the partition by its table, in sectors of 512 bytes.
    fn in_the_table(&self) -> (u64, u64) {
        let dump = run_tool("sfdisk", &["-d", &self.device.path]);
        let line = dump.lines().find(|line| line.contains("start=")).unwrap();
        let after =
            |name: &str| line.split(name).nth(1).unwrap().split(',').next().unwrap().trim().parse().unwrap();
        (after("start="), after("size="))
    }

    fn partition_start(&self) -> u64 {
        self.in_the_table().0 * 512
    }

    /// Creates the partition as advised.
    fn partitioned(page: u64, unit: u64) -> Self {
        let mut rig = Rig::new(page, unit);
        rig.run("sfdisk");
        // A kernel that does not read partition tables itself gets the partition from us.
        if !Path::new(&rig.partition()).exists() {
            let (start, sectors) = rig.in_the_table();
            rig.device.add_partition(1, start, sectors);
        }
        rig
    }
}

fn measured(page: u64, unit: u64) -> MeasuredMap {
    let mut measured = MeasuredMap {
        page_bytes: Property::measured(page, 0.99, PropertyEvidence::default()),
        erase_block_bytes: Property::measured(unit, 0.99, PropertyEvidence::default()),
        ..MeasuredMap::default()
    };
    let point = |(kib, mb_s): (u64, f64)| {
        let iops = mb_s * 1e6 / (kib * KIB) as f64;
        SizePoint { bytes: kib * KIB, mb_s, iops, p50_us: 1e6 / iops, ios: 24 }
    };
    measured.curves.sequential_write =
        [(4, 1.0), (16, 3.0), (64, 9.0), (256, 10.0), (1024, 10.0)].map(point).to_vec();
    measured.curves.random_write = [(4, 0.5), (64, 8.0)].map(point).to_vec();
    measured
}

/// Number after a name in a dump.
#[track_caller]
fn number_behind(dump: &str, name: &str) -> u64 {
    let line =
        dump.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("no {name} in\n{dump}"));
    let digits: String = line.split(name).nth(1).unwrap().chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no number in {line:?}"))
}

#[test]
fn the_partition_starts_on_the_erase_block_that_was_measured() {
    for unit in [4 * MIB, 24 * MIB, 512 * KIB] {
        let rig = Rig::partitioned(16 * KIB, unit);
        let start = rig.partition_start();
        assert_eq!(Some(start), rig.advice.partition_start_bytes);
        assert!(start.is_multiple_of(unit) && start >= MIB, "{start} {unit}");
    }
}

#[test]
fn advised_ext4_has_stride_and_stripe_width() {
    for (page, unit, stride, width) in [(16 * KIB, 4 * MIB, 4, 1024), (48 * KIB, 24 * MIB, 12, 6144)] {
        let rig = Rig::partitioned(page, unit);
        rig.run("mkfs.ext4");
        let dump = run_tool("dumpe2fs", &["-h", &rig.partition()]);
        assert_eq!(
            (number_behind(&dump, "RAID stride:"), number_behind(&dump, "RAID stripe width:")),
            (stride, width)
        );
        let dir = tempfile::tempdir().unwrap();
        let point = dir.path().to_str().unwrap();
        let mount = rig.advice.commands.iter().find(|c| c.command.starts_with("mount -o")).unwrap();
        run_tool("sh", &["-c", &mount.command.replace("/mnt", point)]);
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        let line = mounts.lines().find(|line| line.contains(point)).unwrap().to_owned();
        undo_when_free("umount", &[point]);
        for option in &rig.advice.mount_options {
            assert!(line.contains(option), "{option} in {line}");
        }
    }
}

#[test]
fn advised_f2fs_has_sections_of_whole_erase_blocks() {
    for (unit, segments) in [(4 * MIB, 2), (24 * MIB, 12), (3 * MIB, 3)] {
        let rig = Rig::partitioned(16 * KIB, unit);
        rig.run("mkfs.f2fs");
        let dump = try_tool("fsck.f2fs", &["--dry-run", "-d", "1", &rig.partition()]);
        let dump = String::from_utf8_lossy(&dump.stdout).into_owned();
        assert_eq!(number_behind(&dump, "Segments per section ="), segments, "{dump}");
        assert_eq!(number_behind(&dump, "Sections per zone ="), 1, "{dump}");
        // The main area must begin on an erase block of the card, not only of the partition.
        let main = dump.lines().find(|l| l.contains("main_blkaddr")).map(|l| {
            let value = l.rsplit(':').next().unwrap_or_default().trim().trim_end_matches(']');
            value.split_whitespace().last().unwrap_or_default().parse::<u64>().unwrap_or_default()
        });
        if let Some(block) = main.filter(|block| *block > 0) {
            assert!((rig.partition_start() + block * 4096).is_multiple_of(unit), "{dump}");
        }
    }
}

#[test]
fn advised_exfat_has_cluster_size_and_boundary() {
    let rig = Rig::partitioned(16 * KIB, 4 * MIB);
    rig.run("mkfs.exfat");
    let dump = run_tool("dump.exfat", &[&rig.partition()]);
    assert_eq!(number_behind(&dump, "Cluster size:"), 64 * KIB);
    assert_eq!(Some(64 * KIB), rig.advice.exfat_cluster_bytes);
    let heap = number_behind(&dump, "Cluster Heap Offset (sector offset):") * 512;
    assert!((rig.partition_start() + heap).is_multiple_of(4 * MIB), "{dump}");
}

#[test]
fn format_aligns_to_a_24_mib_erase_block() {
    let rig = Rig::new(48 * KIB, 24 * MIB);
    let advised = rig.advice.commands.iter().find(|c| c.command.starts_with("cardscope format")).unwrap();
    let home = Home::new();
    let arguments: Vec<&str> = advised.command.split(' ').skip(1).collect();
    let device = rig.device.path.as_str();
    let made = home.run(&[arguments.as_slice(), &["--json", "--yes-destroy", device]].concat());
    made.expect(0);
    let info = home.run(&["info", device, "--json"]);
    let start = crate::common::number(&info.json(), "/layout/partitions/0/data_start_bytes") as u64;
    assert!(start.is_multiple_of(24 * MIB), "{start}");
}
