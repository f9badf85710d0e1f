//! File systems of this machine, and stacks from recorded trees.

use super::*;
use crate::mounts::{MountTable, parse_mounts};

const EXT4: u32 = 0xef53;
const BTRFS: u32 = 0x9123_683e;

fn recorded(tree: &str, mounts: &str, path: &str, magic: u32) -> FileSystem {
    let (_dir, system) = crate::testing::machine(tree);
    let table = MountTable { system: &system, mounts: parse_mounts(mounts, false) };
    let number = table.mount_of(Path::new(path)).unwrap().number;
    describe_file_system(&table, Path::new(path), magic, number)
}

#[test]
fn tmpfs_is_reported_as_memory() {
    let shm = file_system_at(Path::new("/dev/shm")).unwrap();
    assert_eq!(
        (shm.name.as_str(), shm.magic, shm.effect.as_deref()),
        ("tmpfs", 0x0102_1994, Some("in memory"))
    );
    let caveat = shm.caveats()[0].to_string();
    assert!(caveat.contains("tmpfs (in memory)"), "{caveat}");
}

#[test]
fn missing_file_has_file_system_of_parent() {
    let there = file_system_at(Path::new("/dev/shm")).unwrap();
    assert_eq!(file_system_at(Path::new("/dev/shm/no/such/file")).unwrap(), there);
    assert!(file_system_at(Path::new("no-such-file-here")).is_ok());
}

#[test]
fn plain_file_system_names_its_disk() {
    let found = recorded(
        "
        sys/block/mmcblk0/dev = 179:0
        sys/block/mmcblk0/mmcblk0p2/dev = 179:2
        sys/block/mmcblk0/mmcblk0p2/partition = 2
        ",
        "1 0 179:2 / / rw - ext4 /dev/root rw",
        "/home/pi",
        EXT4,
    );
    assert_eq!(
        (found.name.as_str(), found.effect.clone(), found.disk.as_deref()),
        ("ext4", None, Some("mmcblk0"))
    );
    assert!(found.caveats().is_empty());
}

#[test]
fn encryption_below_file_system_is_a_caveat() {
    let found = recorded(
        "
        sys/block/sda/dev = 8:0
        sys/block/sda/sda1/dev = 8:1
        sys/block/sda/sda1/partition = 1
        sys/block/dm-0/dev = 252:0
        sys/block/dm-0/dm/name = secret
        sys/block/dm-0/dm/uuid = CRYPT-LUKS2-0123-secret
        sys/block/dm-0/slaves/sda1/dev = 8:1
        ",
        "1 0 252:0 / /media/card rw - ext4 /dev/mapper/secret rw",
        "/media/card/x",
        EXT4,
    );
    assert_eq!(
        found.layers,
        [DiskLayer { name: "dm-0 (secret)".into(), effect: "encrypted (dm-crypt, LUKS)".into() }]
    );
    assert_eq!(found.disk.as_deref(), Some("sda"));
    assert!(found.caveats()[0].to_string().contains("encrypted"));
}

#[test]
fn btrfs_compression_is_reported() {
    let found = recorded(
        "sys/block/sda/dev = 8:0",
        "1 0 0:40 /@ /data rw - btrfs /dev/sda rw,compress=zstd:1,space_cache=v2",
        "/data",
        BTRFS,
    );
    assert_eq!(
        found.effect.as_deref(),
        Some("copy-on-write, with checksums, may compress, mounted with compress=zstd:1")
    );
    assert_eq!(found.disk.as_deref(), Some("sda"));
}

#[test]
fn fuse_program_is_named() {
    let found = recorded("", "1 0 0:50 / /mnt rw - fuse.sshfs host: rw", "/mnt/a", 0x6573_5546);
    assert_eq!(found.effect.as_deref(), Some("through a user-space program (sshfs)"));
    assert_eq!(
        kinds::data_effect(0x6573_5546, "virtiofs").as_deref(),
        Some("from the host of this virtual machine")
    );
}

#[test]
fn loop_device_is_a_layer_above_its_disk() {
    let found = recorded(
        "
        sys/block/sdb/dev = 8:16
        sys/block/loop0/dev = 7:0
        sys/block/loop0/loop/backing_file = /media/card/image
        ",
        "1 0 8:16 / /media/card rw - vfat /dev/sdb rw\n2 0 7:0 / /mnt rw - ext4 /dev/loop0 rw",
        "/mnt/x",
        EXT4,
    );
    assert_eq!(found.layers[0].effect, "a loop device over the file /media/card/image");
    assert_eq!(found.disk.as_deref(), Some("sdb"));
}

#[test]
fn unknown_magic_is_reported_as_number() {
    let dir = tempfile::tempdir().unwrap();
    let none = DeviceNumber { major: 0, minor: 0 };
    let table = MountTable { system: &SystemRoots::recorded(dir.path()), mounts: Vec::new() };
    let found = describe_file_system(&table, Path::new("/x"), 0x1234_5678, none);
    assert_eq!((found.name.as_str(), found.effect), ("unknown (0x12345678)", None));
}
