//! File system trials never write to a swapped card, tested with loop devices.

use super::*;
use cardscope_testkit::devices::{LoopDevice, run_tool};
use std::path::PathBuf;
use tempfile::TempDir;

const BYTES: u64 = 16 * MIB;

/// Two ext4 images of the same size, of which a loop device has the first.
struct SwappableCard {
    card: LoopDevice,
    other: PathBuf,
    _dir: TempDir,
}

impl SwappableCard {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let image = |name: &str| {
            let path = dir.path().join(name);
            File::create(&path).unwrap().set_len(BYTES).unwrap();
            run_tool("mkfs.ext4", &["-q", "-F", path.to_str().unwrap()]);
            path
        };
        let (first, other) = (image("first"), image("other"));
        SwappableCard { card: LoopDevice::over_file(first, &[]).with_high_number(), other, _dir: dir }
    }

    /// Replaces the card by another one of the same size and device number.
    fn swap(&self) {
        self.card.swap_image(self.other.to_str().unwrap());
    }

    fn trial<'a>(&'a self, interrupt: &'a InterruptFlag) -> FileSystemTrial<'a> {
        let clearance = cardscope_device::guard::check_device(&SystemRoots::host(), &self.card.path).unwrap();
        FileSystemTrial { target: &self.card.path, clearance, bytes: BYTES, interrupt: interrupt.clone() }
    }
}

#[test]
fn card_swapped_during_the_mount_is_unmounted() {
    let (slot, own) = (SwappableCard::new(), InterruptFlag::default());
    let trial = slot.trial(&own);
    let mounted = trial.mount_same_card(|path| {
        slot.swap();
        MountedTrial::new(path, "ext4")
    });
    let why = mounted.err().expect("a stranger's file system was taken for the card's");
    assert!(why.to_string().contains("another device"), "{why}");
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
    assert!(mounts.lines().all(|line| line.split(' ').next() != Some(slot.card.path.as_str())), "{mounts}");
    assert!(trial.reopen_same_card(&own).is_err(), "nor is it written to afterwards");
}

#[test]
fn unchanged_card_is_mounted() {
    let (slot, own) = (SwappableCard::new(), InterruptFlag::default());
    let mounted = slot.trial(&own).mount_same_card(|path| MountedTrial::new(path, "ext4")).unwrap();
    mounted.unmount().unwrap();
}

#[test]
fn card_swapped_before_the_mount_is_not_mounted() {
    let (slot, own) = (SwappableCard::new(), InterruptFlag::default());
    let trial = slot.trial(&own);
    slot.swap();
    assert!(trial.mount_same_card(|_| panic!("it was tried")).is_err());
}
