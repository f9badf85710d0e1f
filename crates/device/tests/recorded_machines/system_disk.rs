//! Which directories lie on the disk that holds the running system, on recorded machines.

use crate::support::Recording;
use cardscope_device::filesystem::disk_shared_with_system;
use cardscope_device::system::SystemRoots;
use std::path::Path;

/// A Raspberry Pi that runs from a card (mmcblk0), with a stick (sda) in it.
const DISKS: &[(&str, &str)] = &[
    ("sys/block/mmcblk0/dev", "179:0\n"),
    ("sys/block/mmcblk0/mmcblk0p1/partition", "1\n"),
    ("sys/block/mmcblk0/mmcblk0p1/dev", "179:1\n"),
    ("sys/block/mmcblk0/mmcblk0p2/partition", "2\n"),
    ("sys/block/mmcblk0/mmcblk0p2/dev", "179:2\n"),
    ("sys/block/mmcblk0/mmcblk0p3/partition", "3\n"),
    ("sys/block/mmcblk0/mmcblk0p3/dev", "179:3\n"),
    ("sys/block/sda/dev", "8:0\n"),
    ("sys/block/sda/sda1/partition", "1\n"),
    ("sys/block/sda/sda1/dev", "8:1\n"),
    ("sys/block/sdb/dev", "8:16\n"),
    ("sys/block/sdb/sdb1/partition", "1\n"),
    ("sys/block/sdb/sdb1/dev", "8:17\n"),
];

const PI: &str = "1 0 179:2 / / rw - ext4 /dev/root rw\n\
                  2 1 179:1 / /boot/firmware rw - vfat /dev/mmcblk0p1 rw\n\
                  3 1 0:25 / /tmp rw - tmpfs tmpfs rw\n\
                  4 1 8:1 / /media/stick rw - vfat /dev/sda1 rw\n";

fn recorded(mounts: &str, more: &[(&str, &str)]) -> Recording {
    let recording = Recording::new(DISKS);
    recording.file("proc/self/mountinfo", mounts.as_bytes());
    more.iter().for_each(|(name, content)| recording.file(name, content.as_bytes()));
    recording
}

#[track_caller]
fn shares(recording: &Recording, path: &str, disk: Option<&str>) {
    let found = disk_shared_with_system(&recording.system(), Path::new(path));
    assert_eq!(found.as_deref(), disk, "{path}");
}

#[test]
fn boot_card_directories_share_system_disk() {
    let pi = recorded(PI, &[]);
    for path in ["/", "/home/pi", "/var/tmp/x", "/boot/firmware/x"] {
        shares(&pi, path, Some("mmcblk0"));
    }
    shares(&pi, "/media/stick/DCIM", None);
    shares(&pi, "/tmp/x", None);
}

#[test]
fn separate_partition_shares_system_disk() {
    let data = "5 1 179:3 / /srv/data rw - ext4 /dev/mmcblk0p3 rw\n";
    shares(&recorded(&format!("{PI}{data}"), &[]), "/srv/data", Some("mmcblk0"));
}

#[test]
fn volume_and_loop_device_are_traced_to_disk() {
    let mounts = "5 1 253:0 / /srv/volume rw - ext4 /dev/mapper/secret rw\n\
                  6 1 7:0 / /srv/image rw - ext4 /dev/loop0 rw\n\
                  7 1 7:1 / /srv/other rw - ext4 /dev/loop1 rw\n";
    let beneath = [
        ("sys/block/dm-0/dev", "253:0\n"),
        ("sys/block/dm-0/slaves/mmcblk0p3/dev", "179:3\n"),
        ("sys/block/loop0/dev", "7:0\n"),
        ("sys/block/loop0/loop/backing_file", "/home/pi/card.img\n"),
        ("sys/block/loop1/dev", "7:1\n"),
        ("sys/block/loop1/loop/backing_file", "/media/stick/card.img\n"),
    ];
    let recording = recorded(&format!("{PI}{mounts}"), &beneath);
    shares(&recording, "/srv/volume/x", Some("mmcblk0"));
    shares(&recording, "/srv/image", Some("mmcblk0"));
    shares(&recording, "/srv/other", None);
}

#[test]
fn system_on_volume_is_found_from_any_partition() {
    let mounts = "1 0 253:0 / / rw - ext4 /dev/mapper/vg-root rw\n\
                  2 1 8:17 / /media/card rw - vfat /dev/sdb1 rw\n\
                  3 1 8:1 / /data rw - ext4 /dev/sda1 rw\n";
    let beneath = [("sys/block/dm-0/dev", "253:0\n"), ("sys/block/dm-0/slaves/sda1/dev", "8:1\n")];
    let recording = recorded(mounts, &beneath);
    shares(&recording, "/root", Some("sda"));
    shares(&recording, "/data", Some("sda"));
    shares(&recording, "/media/card", None);
}

#[test]
fn multi_disk_btrfs_matches_any_member() {
    let mounts = "1 0 0:30 /root / rw - btrfs /dev/sda1 rw\n\
                  2 1 0:30 /home /home rw - btrfs /dev/sda1 rw\n\
                  3 1 8:17 / /data rw - ext4 /dev/sdb1 rw\n";
    let members =
        [("sys/fs/btrfs/1234/devices/sda1/size", "1\n"), ("sys/fs/btrfs/1234/devices/sdb1/size", "1\n")];
    let recording = recorded(mounts, &members);
    shares(&recording, "/home/pi", Some("sda"));
    shares(&recording, "/data", Some("sdb"));
}

#[test]
fn overlay_is_traced_to_upper_directory() {
    let overlay = |upper: &str| {
        format!("1 0 0:40 / / rw - overlay overlay rw,lowerdir=/ro,upperdir={upper},workdir=/w\n")
    };
    let beneath = "2 1 179:2 / /rw rw - ext4 /dev/mmcblk0p2 rw\n3 1 0:41 / /mem rw - tmpfs tmpfs rw\n\
                   4 1 179:3 / /data rw - ext4 /dev/mmcblk0p3 rw\n5 1 8:1 / /media rw - vfat /dev/sda1 rw\n";
    let on_disk = recorded(&format!("{}{beneath}", overlay("/rw/upper")), &[]);
    shares(&on_disk, "/home/pi", Some("mmcblk0"));
    shares(&on_disk, "/data", Some("mmcblk0"));
    shares(&on_disk, "/media", None);
    let in_memory = recorded(&format!("{}{beneath}", overlay("/mem/upper")), &[]);
    shares(&in_memory, "/home/pi", None);
}

#[test]
fn container_root_counts_as_system() {
    let container = "1 0 0:40 / / rw - overlay overlay rw,lowerdir=/l,upperdir=/nowhere/here/diff\n\
                     2 1 8:1 /hosts /etc/hosts rw - ext4 /dev/sda1 rw\n\
                     3 1 8:17 / /card rw - vfat /dev/sdb1 rw\n\
                     4 1 8:1 /volumes/x /volume rw - ext4 /dev/sda1 rw\n";
    let recording = recorded(container, &[]);
    shares(&recording, "/work", Some("overlay"));
    shares(&recording, "/volume", Some("sda"));
    shares(&recording, "/card", None);
}

#[test]
fn zfs_file_systems_share_pool() {
    let mounts = "1 0 0:50 / / rw - zfs rpool/ROOT rw\n2 1 0:51 / /data rw - zfs rpool/data rw\n\
                  3 1 0:52 / /other rw - zfs tank/data rw\n";
    let recording = recorded(mounts, &[]);
    shares(&recording, "/data", Some("zfs"));
    shares(&recording, "/other", None);
}

#[test]
fn tmpfs_is_not_on_system_disk() {
    assert_eq!(disk_shared_with_system(&SystemRoots::host(), Path::new("/dev/shm")), None);
}
