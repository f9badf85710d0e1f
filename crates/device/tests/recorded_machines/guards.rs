//! The guards on recorded machines: device mapper, RAID, btrfs and readers that this kernel does not have.

use crate::support::Recording;
use cardscope_device::guard::{GuardRefusal, check_device};
use proptest::prelude::*;

/// Files in the directory of a holder.
type Says = &'static [(&'static str, &'static str)];

const CARD_IN_UNITS: &str = "62333952\n";

/// A machine with its system on mmcblk0 and a card with two partitions in a USB reader (sda).
fn machine(more: &[(&str, &str)]) -> Recording {
    let recording = Recording::new(&[
        ("sys/block/mmcblk0/size", CARD_IN_UNITS),
        ("sys/block/mmcblk0/dev", "179:0\n"),
        ("sys/block/mmcblk0/mmcblk0p1/partition", "1\n"),
        ("sys/block/mmcblk0/mmcblk0p1/dev", "179:1\n"),
        ("sys/block/mmcblk0/mmcblk0p2/partition", "2\n"),
        ("sys/block/mmcblk0/mmcblk0p2/dev", "179:2\n"),
        ("sys/block/sda/size", CARD_IN_UNITS),
        ("sys/block/sda/dev", "8:0\n"),
        ("sys/block/sda/ro", "0\n"),
        ("sys/block/sda/sda1/partition", "1\n"),
        ("sys/block/sda/sda1/dev", "8:1\n"),
        ("sys/block/sda/sda1/start", "2048\n"),
        ("sys/block/sda/sda1/size", "1000000\n"),
        ("sys/block/sda/sda2/partition", "2\n"),
        ("sys/block/sda/sda2/dev", "8:2\n"),
        ("sys/block/sda/sda2/start", "1002048\n"),
        ("sys/block/sda/sda2/size", "1000000\n"),
        (
            "proc/self/mountinfo",
            "1 0 179:2 / / rw - ext4 /dev/root rw\n2 1 179:1 / /boot/firmware rw - vfat /dev/mmcblk0p1 rw\n",
        ),
        ("proc/swaps", "Filename Type Size Used Priority\n"),
    ]);
    for (name, content) in more {
        recording.file(name, content.as_bytes());
    }
    recording
}

/// Puts a device-mapper volume or array `holder` onto `part` of sda.
fn held(part: &str, holder: &str, says: &[(&str, &str)]) -> Recording {
    let recording = machine(&[]);
    recording.file(&format!("sys/block/sda/{part}/holders/{holder}/dev"), b"252:0\n");
    recording.file(&format!("sys/block/{holder}/dev"), b"252:0\n");
    recording.file(&format!("sys/block/{holder}/slaves/{part}/dev"), b"8:2\n");
    for (name, content) in says {
        recording.file(&format!("sys/block/{holder}/{name}"), content.as_bytes());
    }
    recording
}

#[test]
fn card_in_reader_passes_on_running_system() {
    let clearance = check_device(&machine(&[]).system(), "/dev/sda").unwrap();
    assert_eq!(clearance.bytes, 62_333_952 * 512);
    assert_eq!(clearance.partitions, [("sda1".into(), 512_000_000), ("sda2".into(), 512_000_000)]);
}

#[test]
fn boot_card_is_refused_with_partitions() {
    let recording = machine(&[]);
    for device in ["mmcblk0", "mmcblk0p1", "/dev/mmcblk0p2"] {
        let refusal = check_device(&recording.system(), device).unwrap_err();
        assert!(matches!(refusal, GuardRefusal::System { .. }), "{refusal}");
    }
}

#[test]
fn volume_members_are_refused_by_name() {
    let cases: &[(&str, Says, &str, &str)] = &[
        (
            "dm-0",
            &[("dm/uuid", "LVM-abc"), ("dm/name", "vg0-data")],
            "the LVM volume vg0-data",
            "vgchange -an",
        ),
        (
            "dm-0",
            &[("dm/uuid", "CRYPT-LUKS2-x"), ("dm/name", "secret")],
            "encrypted volume secret",
            "cryptsetup close",
        ),
        ("md127", &[("md/level", "raid1")], "the RAID array md127 (raid1)", "mdadm --stop /dev/md127"),
        ("bcache0", &[], "bcache0", "stop it"),
        ("dm-0", &[], "device-mapper volume dm-0", "dmsetup remove"),
    ];
    for (holder, says, named, advice) in cases {
        let recording = held("sda2", holder, says);
        for device in ["sda", "sda2"] {
            let refusal = check_device(&recording.system(), device).unwrap_err();
            assert!(matches!(&refusal, GuardRefusal::HasHolder { part, .. } if part == "sda2"), "{refusal}");
            let told = refusal.to_string();
            assert!(told.contains(named) && told.contains(advice), "{told}");
        }
        assert!(check_device(&recording.system(), "sda1").is_ok(), "the other partition is free");
    }
}

#[test]
fn raid_disk_refuses_partitions() {
    let recording = machine(&[]);
    recording.file("sys/block/sda/holders/md0/dev", b"9:0\n");
    assert!(matches!(check_device(&recording.system(), "sda1"), Err(GuardRefusal::HasHolder { .. })));
}

#[test]
fn system_on_lvm_on_luks_is_traced_to_disk() {
    let recording = machine(&[
        ("proc/self/mountinfo", "1 0 253:1 / / rw - ext4 /dev/mapper/vg-root rw\n"),
        ("sys/block/dm-1/dev", "253:1\n"),
        ("sys/block/dm-1/slaves/dm-0/dev", "253:0\n"),
        ("sys/block/dm-0/dev", "253:0\n"),
        ("sys/block/dm-0/slaves/sda2/dev", "8:2\n"),
    ]);
    let refusal = check_device(&recording.system(), "sda").unwrap_err();
    assert!(matches!(refusal, GuardRefusal::System { .. }), "{refusal}");
    assert!(refusal.to_string().contains("dm-1 is /, which lies on dm-0 on sda2"), "{refusal}");
}

#[test]
fn circular_layers_end() {
    let recording = machine(&[
        ("proc/self/mountinfo", "1 0 253:0 / /data rw - ext4 /dev/dm-0 rw\n"),
        ("sys/block/dm-0/dev", "253:0\n"),
        ("sys/block/dm-0/slaves/dm-1/dev", ""),
        ("sys/block/dm-1/dev", "253:1\n"),
        ("sys/block/dm-1/slaves/dm-0/dev", ""),
    ]);
    assert!(check_device(&recording.system(), "sda").is_ok());
}

#[test]
fn mounted_loop_file_counts_as_use_of_card() {
    let recording = machine(&[
        (
            "proc/self/mountinfo",
            "1 0 179:2 / / rw - ext4 /dev/root rw\n2 1 8:1 / /media/card rw - vfat /dev/sda1 rw\n3 1 7:0 / /mnt rw - ext4 /dev/loop0 rw\n",
        ),
        ("sys/block/loop0/dev", "7:0\n"),
        ("sys/block/loop0/loop/backing_file", "/media/card/images/disk.img\n"),
    ]);
    assert!(matches!(check_device(&recording.system(), "sda"), Err(GuardRefusal::Mounted { .. })));
    assert!(check_device(&recording.system(), "sda2").is_ok());
}

#[test]
fn swap_partition_and_file_are_refused() {
    let partition = machine(&[("proc/swaps", "Filename\tType\n/dev/sda2 partition 1 0 -2\n")]);
    assert!(matches!(check_device(&partition.system(), "sda"), Err(GuardRefusal::Swap { .. })));
    let file = machine(&[
        ("proc/swaps", "Filename\tType\n/media/card/swap\\040file file 1 0 -2\n"),
        ("proc/self/mountinfo", "1 0 8:1 / /media/card rw - ext4 /dev/sda1 rw\n"),
    ]);
    assert!(check_device(&file.system(), "sda").is_err());
    assert!(check_device(&file.system(), "sda2").is_ok());
}

#[test]
fn all_members_of_mounted_btrfs_are_refused() {
    let recording = machine(&[
        ("proc/self/mountinfo", "1 0 0:40 / /data rw - btrfs /dev/sdb rw\n"),
        ("sys/fs/btrfs/0123-4567/devices/sda1/dev", "8:1\n"),
        ("sys/block/sdb/dev", "8:16\n"),
        ("sys/block/sdb/size", "1000\n"),
    ]);
    let refusal = check_device(&recording.system(), "sda").unwrap_err();
    assert!(
        matches!(&refusal, GuardRefusal::HasHolder { holder, .. } if holder.contains("btrfs")),
        "{refusal}"
    );
    assert!(matches!(check_device(&recording.system(), "sdb"), Err(GuardRefusal::Mounted { .. })));
}

#[test]
fn mount_in_other_namespace_is_refused() {
    let recording = machine(&[("proc/4711/mountinfo", "9 0 8:1 / /data rw - vfat /dev/sda1 rw\n")]);
    let refusal = check_device(&recording.system(), "sda").unwrap_err();
    assert!(refusal.to_string().contains("container"), "{refusal}");
}

#[test]
fn empty_locked_and_sizeless_devices_differ() {
    let empty = machine(&[("sys/block/sdb/size", "0\n"), ("sys/block/sdb/dev", "8:16\n")]);
    assert!(matches!(check_device(&empty.system(), "sdb"), Err(GuardRefusal::Empty { .. })));
    let locked = machine(&[("sys/block/sda/ro", "1\n")]);
    assert!(matches!(check_device(&locked.system(), "sda"), Err(GuardRefusal::ReadOnly { .. })));
    let forced = machine(&[("sys/block/sda/force_ro", "1\n")]);
    assert!(matches!(check_device(&forced.system(), "sda"), Err(GuardRefusal::ReadOnly { .. })));
    let unknown = machine(&[("sys/block/sdb/dev", "8:16\n")]);
    assert!(matches!(check_device(&unknown.system(), "sdb"), Err(GuardRefusal::SizeUnknown { .. })));
    assert!(matches!(check_device(&unknown.system(), "sdc"), Err(GuardRefusal::NotFound { .. })));
}

#[test]
fn logical_partition_in_use_refuses_extended() {
    let recording = machine(&[
        ("sys/block/sda/sda5/partition", "5\n"),
        ("sys/block/sda/sda5/dev", "8:5\n"),
        ("sys/block/sda/sda5/start", "1004096\n"),
        ("sys/block/sda/sda5/size", "4096\n"),
        ("proc/swaps", "Filename\tType\n/dev/sda5 partition 1 0 -2\n"),
    ]);
    assert!(matches!(check_device(&recording.system(), "sda2"), Err(GuardRefusal::Swap { .. })));
    assert!(check_device(&recording.system(), "sda1").is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn garbage_in_any_file_never_panics(
        garbage in proptest::collection::vec(any::<u8>(), 0..200),
        which in 0usize..16,
    ) {
        let files = [
            "sys/block/sda/size", "sys/block/sda/dev", "sys/block/sda/ro", "sys/block/sda/sda1/start",
            "sys/block/sda/sda1/size", "sys/block/sda/sda1/partition", "proc/self/mountinfo", "proc/swaps",
            "sys/block/sda/sda1/holders/dm-0/x", "sys/block/dm-0/dm/uuid", "sys/block/loop0/loop/backing_file",
            "sys/dev/block/8:0", "sys/fs/btrfs/x/devices/sda", "sys/block/sda/device/model",
            "proc/1/mountinfo", "sys/block/dm-0/slaves/sda",
        ];
        let recording = machine(&[]);
        recording.file(files[which], &garbage);
        let system = recording.system();
        for device in ["sda", "sda1", "mmcblk0", "dm-0", "loop0"] {
            let _ = check_device(&system, device);
        }
        let _ = cardscope_device::list::list_devices(&system, cardscope_device::list::ListScope::WithLoops);
        let _ = cardscope_device::host::host_condition(&system, Some("sda"));
    }
}
