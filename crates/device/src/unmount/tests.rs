//! Cards as loop devices, which are not removable: below that refusal. Needs root.

use super::*;
use crate::testing::{machine, put};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_testkit::devices::{LoopDevice, ProgramGuard, run_tool, undo_when_free};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Mounts in a folder for the test, all undone when dropped.
struct Mounts {
    folder: tempfile::TempDir,
    points: Vec<String>,
}

impl Mounts {
    fn new() -> Mounts {
        Mounts { folder: tempfile::tempdir().unwrap(), points: Vec::new() }
    }

    /// Mounts something at a folder of this name.
    fn at(&mut self, name: &str, options: &[&str], what: &str) -> PathBuf {
        let point = self.folder.path().join(name);
        std::fs::create_dir_all(&point).unwrap();
        let text = point.to_str().unwrap().to_owned();
        run_tool("mount", &[options, &[what, &text]].concat());
        self.points.push(text);
        point
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        for point in self.points.iter().rev() {
            undo_when_free("umount", &[point]);
        }
    }
}

fn formatted(mib: u64) -> LoopDevice {
    let card = LoopDevice::zeroed(mib, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    card
}

fn card(of: &LoopDevice) -> MountedCard {
    let system = SystemRoots::host();
    let disk = whole_disk(&system, &of.path).unwrap();
    MountedCard::from_disk(system, &disk).unwrap()
}

/// Unmounts as root does without UDisks2. A test beside this one whose program gets mounts of its own has copies of all for
/// a moment.
fn unmounted(of: &LoopDevice) -> Result<(), UnmountError> {
    let began = Instant::now();
    loop {
        let ended = card(of).unmount_all(&mut |place| place.unmount_directly(&|| false));
        let is_copied = matches!(ended, Err(UnmountError::Refused(GuardRefusal::Mounted { .. })));
        if !is_copied || began.elapsed() > Duration::from_secs(30) {
            return ended;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn refuse_to(_: &MountOfCard) -> Result<(), UnmountError> {
    panic!("nothing may be unmounted")
}

fn is_mounted(point: &Path) -> bool {
    MountTable::read_all(&SystemRoots::host()).mounts.iter().any(|mount| mount.point == point)
}

#[test]
fn all_mounts_of_card_are_unmounted() {
    let mut usb = LoopDevice::zeroed(64, &[]);
    let (first, second) = (usb.add_partition(1, 2048, 49152), usb.add_partition(2, 65536, 49152));
    run_tool("mkfs.ext4", &["-q", "-F", &first]);
    run_tool("mkfs.ext4", &["-q", "-F", &second]);
    let other = formatted(16);
    let mut mounts = Mounts::new();
    let stays = mounts.at("other", &[], &other.path);
    let outer = mounts.at("My card", &[], &first);
    let points = [
        mounts.at("My card/boot", &[], &second),
        mounts.at("again", &["--bind"], outer.to_str().unwrap()),
        mounts.at("again", &[], &second),
        outer,
    ];
    assert!(points.iter().all(|point| is_mounted(point)));
    assert_eq!(unmounted(&usb), Ok(()));
    assert!(!points.iter().any(|point| is_mounted(point)) && is_mounted(&stays));
    assert!(crate::guard::check_device(&SystemRoots::host(), &usb.path).is_ok());
    // Two people press the button.
    assert_eq!(unmounted(&usb), Ok(()));
}

#[test]
fn busy_file_system_names_program_and_stays_mounted() {
    let usb = formatted(16);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &usb.path);
    let program = ProgramGuard(Command::new("sleep").arg("60").current_dir(&point).spawn().unwrap());
    let error = unmounted(&usb).unwrap_err();
    let by = format!(" (sleep, process {})", program.0.id());
    assert_eq!(error, UnmountError::Busy { point: point.clone(), by: by.clone() });
    let text = format!("{} is busy: close the programs that use it{by} and try again", point.display());
    assert_eq!(error.to_string(), text);
    assert!(is_mounted(&point));
    drop(program);
    assert_eq!(unmounted(&usb), Ok(()));
}

#[test]
fn mounts_of_other_devices_are_not_unmounted() {
    let (usb, other) = (formatted(16), formatted(16));
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &usb.path);
    let below = mounts.at("card/below", &[], &other.path);
    assert_eq!(unmounted(&usb), Err(UnmountError::Below { point: point.clone(), below: below.clone() }));
    assert!(is_mounted(&point) && is_mounted(&below));
    run_tool("umount", &[below.to_str().unwrap()]);
    let over = mounts.at("card", &[], &other.path);
    assert_eq!(unmounted(&usb), Err(UnmountError::Covered(point)));
    let count = |mounts: Vec<MountEntry>| {
        mounts.iter().filter(|mount| !mount.in_other_namespace && mount.point == over).count()
    };
    assert_eq!(count(MountTable::read_all(&SystemRoots::host()).mounts), 2);
    #[cfg(feature = "udisks")]
    {
        let place = card(&usb).next_mount().unwrap().unwrap();
        let asked = place.unmount_with(|_, _| panic!("nobody is asked"));
        assert!(matches!(asked, Err(UdisksRefusal::Error(UnmountError::Covered(_)))));
    }
    run_tool("umount", &[over.to_str().unwrap()]);
    assert_eq!(unmounted(&usb), Ok(()));
}

#[test]
fn card_with_swap_keeps_mounts() {
    let mut usb = LoopDevice::zeroed(64, &[]);
    let (first, second) = (usb.add_partition(1, 2048, 49152), usb.add_partition(2, 65536, 49152));
    run_tool("mkfs.ext4", &["-q", "-F", &first]);
    run_tool("mkswap", &[&second]);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &first);
    run_tool("swapon", &[&second]);
    let error = card(&usb).unmount_all(&mut refuse_to).unwrap_err();
    run_tool("swapoff", &[&second]);
    assert!(matches!(error, UnmountError::Refused(GuardRefusal::Swap { .. })), "{error}");
    assert!(is_mounted(&point));
}

#[test]
fn card_with_loop_image_keeps_mounts() {
    let usb = formatted(32);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &usb.path);
    let image = point.join("image");
    std::fs::File::create(&image).unwrap().set_len(8 << 20).unwrap();
    let upper = run_tool("losetup", &["-f", "--show", image.to_str().unwrap()]);
    let busy = unmounted(&usb);
    run_tool("mkfs.ext4", &["-q", "-F", &upper]);
    let inner = mounts.at("inner", &[], &upper);
    let error = card(&usb).unmount_all(&mut refuse_to).unwrap_err();
    run_tool("umount", &[inner.to_str().unwrap()]);
    run_tool("losetup", &["-d", &upper]);
    assert_eq!(
        busy,
        Err(UnmountError::Busy { point: point.clone(), by: format!(" (the loop device {upper})") })
    );
    assert!(matches!(error, UnmountError::Refused(GuardRefusal::Mounted { .. })), "{error}");
    assert!(is_mounted(&point));
}

#[test]
fn system_disk_is_refused() {
    let root = MountTable::read_all(&SystemRoots::host())
        .mounts
        .into_iter()
        .find(|mount| mount.point == Path::new("/"))
        .unwrap();
    let system = SystemRoots::host();
    let disk = BlockDevice::by_number(&system, root.number).expect("/ must lie on a block device").disk();
    let refusal =
        MountedCard::from_disk(SystemRoots::host(), &disk).unwrap().unmount_all(&mut refuse_to).unwrap_err();
    assert!(matches!(&refusal, UnmountError::Refused(GuardRefusal::System { .. })), "{refusal}");
    let refusal = unmount_now(&disk.name).unwrap_err();
    assert!(matches!(refusal, UnmountError::Fixed(_) | UnmountError::Refused(GuardRefusal::System { .. })));
}

/// As for a person.
fn unmount_now(name: &str) -> Result<(), UnmountError> {
    unmount_card(name, None, &mut PermissionDialog::new(&mut |_| (), &InterruptFlag::default()))
}

#[test]
fn only_whole_removable_disks_are_unmounted() {
    let mut usb = LoopDevice::zeroed(32, &[]);
    let part = usb.add_partition(1, 2048, 49152);
    run_tool("mkfs.ext4", &["-q", "-F", &part]);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &part);
    assert_eq!(unmount_now(&usb.path), Err(UnmountError::Fixed(usb.name().to_owned())));
    assert!(matches!(unmount_now(&part), Err(UnmountError::Partition { .. })));
    assert!(matches!(
        unmount_now("/dev/no-such-card"),
        Err(UnmountError::Refused(GuardRefusal::NotFound(_)))
    ));
    assert!(is_mounted(&point));
}

#[test]
fn replaced_card_stays_mounted() {
    let usb = formatted(16);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &usb.path);
    let now = card(&usb);
    let before = MountedCard { sequence: now.sequence.map(|sequence| sequence - 1), ..now };
    assert_eq!(before.unmount_all(&mut refuse_to), Err(UnmountError::Exchanged(usb.name().to_owned())));
    assert!(is_mounted(&point));
}

#[test]
fn repeated_remounts_end_with_error() {
    let usb = formatted(16);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &usb.path);
    let mut rounds = 0;
    let outcome = card(&usb).unmount_all(&mut |_| {
        rounds += 1;
        Ok(())
    });
    assert_eq!((outcome, rounds), (Err(UnmountError::Again(point)), 1 + SPARE_MOUNTS));
}

#[cfg(feature = "udisks")]
#[test]
fn udisks_errors_name_mount_point() {
    let usb = formatted(16);
    let mut mounts = Mounts::new();
    let point = mounts.at("card", &[], &usb.path);
    let told = |trouble: UdisksError| {
        let place = card(&usb).next_mount().unwrap().unwrap();
        place.unmount_with(|number, at| {
            assert_eq!((number, at), (crate::testing::number(&usb), point.as_path()));
            Err(trouble)
        })
    };
    let failed =
        |kind: &str, text: &str| UdisksError::Failed { kind: kind.to_owned(), text: text.to_owned() };
    for trouble in [failed("DeviceBusy", "Gerät belegt"), failed("Failed", "target is busy")] {
        let Err(UdisksRefusal::Error(error)) = told(trouble) else { panic!("an error") };
        assert_eq!(error, UnmountError::Busy { point: point.clone(), by: String::new() });
    }
    let Err(UdisksRefusal::Error(error)) =
        told(UdisksError::NotAllowed("the dialog was dismissed".to_owned()))
    else {
        panic!("an error")
    };
    let text = error.to_string();
    let begin = format!("no permission to unmount {}: the dialog was dismissed; ", point.display());
    assert!(text.starts_with(&begin) && text.contains("sudo umount"), "{text}");
    assert!(matches!(
        told(UdisksError::Interrupted),
        Err(UdisksRefusal::Error(UnmountError::Interrupted(_)))
    ));
    assert!(matches!(told(failed("Failed", "tired")), Err(UdisksRefusal::Error(UnmountError::Other { .. }))));
    // Who is root does it without UDisks2 then.
    for absent in [UdisksError::Unavailable(String::new()), UdisksError::NoMethod, failed("NotMounted", "")] {
        assert!(matches!(told(absent), Err(UdisksRefusal::Unavailable(_))));
    }
    assert!(is_mounted(&point));
}

/// An SD card, and a stick as another disk.
const MACHINE: &str = "
    sys/block/mmcblk1/size = 62333952
    sys/block/mmcblk1/dev = 179:0
    sys/block/mmcblk1/device/type = SD
    sys/block/mmcblk1/mmcblk1p1/partition = 1
    sys/block/mmcblk1/mmcblk1p1/dev = 179:1
    sys/block/mmcblk1/mmcblk1p1/size = 1000
    sys/block/mmcblk1/mmcblk1p2/partition = 2
    sys/block/mmcblk1/mmcblk1p2/dev = 179:2
    sys/block/mmcblk1/mmcblk1p2/size = 1000
    sys/block/vda/size = 62333952
    sys/block/vda/dev = 254:0";

/// Whether the card may be unmounted on a machine with these mounts, here and in another namespace, and these files.
fn possible(here: &str, elsewhere: &str, more: &[(&str, &str)]) -> bool {
    let (dir, system) = machine(MACHINE);
    put(dir.path(), "proc/self/mountinfo", &format!("1 0 254:0 / / rw - ext4 /dev/vda rw\n{here}"));
    put(dir.path(), "proc/17/mountinfo", elsewhere);
    more.iter().for_each(|(name, content)| put(dir.path(), name, content));
    let disk = BlockDevice::by_name(&system, "mmcblk1").unwrap();
    can_unmount(&system, &UseSurvey::read_all(&system), &disk)
}

fn mounted_at(point: &str) -> String {
    format!("2 1 179:1 / {point} rw - vfat /dev/mmcblk1p1 rw\n")
}

#[test]
fn system_mount_points_are_not_unmounted() {
    for point in ["/media/anna/CARD", "/run/media/anna/CARD", "/mnt", "/home/anna/card", "/tmp/card"] {
        assert!(possible(&mounted_at(point), "", &[]), "{point}");
    }
    for point in ["/", "/boot/firmware", "/usr", "/home", "/home/anna", "/var/lib/docker", "/srv/www", "/tmp"]
    {
        assert!(!possible(&mounted_at(point), "", &[]), "{point}");
        // Another partition of the card is.
        let other = "3 1 179:2 / /media/CARD rw - ext4 /dev/mmcblk1p2 rw\n";
        assert!(!possible(&format!("{other}{}", mounted_at(point)), "", &[]), "{point}");
    }
    assert!(!possible("", "", &[]), "nothing to unmount");
}

#[test]
fn card_in_use_otherwise_is_not_unmounted() {
    let card = mounted_at("/media/CARD");
    for (name, content) in [
        ("proc/swaps", "Filename\n/dev/mmcblk1p2 partition 1 0 -2\n"),
        ("proc/swaps", "Filename\n/media/CARD/swapfile file 1 0 -2\n"),
        ("sys/block/mmcblk1/mmcblk1p2/holders/dm-0", ""),
        ("sys/block/mmcblk1/ro", "1"),
        ("sys/block/mmcblk1/device/type", "MMC"),
        ("sys/block/loop3/loop/backing_file", "/dev/mmcblk1p2"),
    ] {
        assert!(!possible(&card, "", &[(name, content)]), "{name} {content}");
    }
    assert!(possible(&card, "", &[("proc/swaps", "Filename\n/dev/vda partition 1 0 -2\n")]));
}

#[test]
fn mount_only_in_container_is_not_unmounted() {
    let card = mounted_at("/media/CARD");
    assert!(possible(&card, &card, &[]));
    assert!(!possible("", &card, &[]));
    let other = "3 1 179:2 / /data rw - ext4 /dev/mmcblk1p2 rw\n";
    assert!(!possible(&card, other, &[]));
}

#[test]
fn multi_disk_and_fuse_mounts_are_not_unmounted() {
    let btrfs = "2 1 0:44 / /media/CARD rw - btrfs /dev/mmcblk1p1 rw\n";
    let member = |name| (name, "");
    let one = [member("sys/fs/btrfs/u/devices/mmcblk1p1")];
    assert!(possible(btrfs, "", &one));
    assert!(!possible(btrfs, "", &[one[0], member("sys/fs/btrfs/u/devices/vda")]));
    assert!(possible(btrfs, "", &[one[0], member("sys/fs/btrfs/u/devices/mmcblk1p2")]));
    assert!(!possible("2 1 0:44 / /media/CARD rw - fuse.any /dev/mmcblk1p1 rw\n", "", &[]));
}
