//! The guards on real loop devices: each refusal of `DESIGN.md` that this kernel can bring about. Needs root.

use cardscope_device::guard::{GuardRefusal, check_device};
use cardscope_device::list::{ListScope, list_devices};
use cardscope_device::open::{OpenAccess, OpenError, open_device, open_shared};
use cardscope_device::system::SystemRoots;
use cardscope_device::{contents, filesystem};
use cardscope_model::device::Bus;
use cardscope_testkit::devices::{LoopDevice, ProgramGuard, SwapArea, TestMount, run_tool, with_own_mounts};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

fn guard(device: &str) -> Result<cardscope_device::guard::WriteClearance, GuardRefusal> {
    check_device(&SystemRoots::host(), device)
}

#[test]
fn unused_card_passes_and_opens_exclusively() {
    let card = LoopDevice::zeroed(8, &[]);
    let clearance = guard(&card.path).unwrap();
    assert_eq!((clearance.bytes, clearance.name.as_str(), clearance.remark()), (8 << 20, card.name(), None));
    let opened = open_device(&clearance.path, OpenAccess::ReadWrite).unwrap();
    assert_eq!((opened.bytes, opened.sector, Some(opened.rdev)), (8 << 20, 512, clearance.number));
    assert_eq!(opened.sequence, clearance.sequence);
    // Up to who it is: a test beside this one may just be starting a program, which holds for a moment what we do.
    let told = |name: &str| {
        guard(name).unwrap_err().to_string().split([',', '(']).next().map(|text| text.trim().to_owned())
    };
    assert_eq!(told(card.name()), told(&card.path));
    drop(opened);
    assert_eq!(guard(card.name()), Ok(clearance));
}

#[test]
fn link_to_card_is_the_same_card() {
    let card = LoopDevice::zeroed(8, &[]);
    let dir = tempfile::tempdir().unwrap();
    let link = dir.path().join("usb-Generic_SD-0:0");
    std::os::unix::fs::symlink(&card.path, &link).unwrap();
    assert_eq!(guard(link.to_str().unwrap()).unwrap().name, card.name());
}

#[test]
fn mounted_card_is_refused_with_mount_point() {
    let card = LoopDevice::zeroed(16, &[]);
    run_tool("mkfs.vfat", &[&card.path]);
    let mounted = TestMount::new(&["-t", "ext4"], &{
        run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
        card.path.clone()
    });
    let refusal = guard(&card.path).unwrap_err();
    assert!(
        matches!(&refusal, GuardRefusal::Mounted { mount_point, .. } if mount_point == mounted.path()),
        "{refusal}"
    );
    assert!(refusal.to_string().contains("umount"), "{refusal}");
    assert!(matches!(open_device(Path::new(&card.path), OpenAccess::Read), Err(OpenError::Busy { .. })));
    let system = SystemRoots::host();
    let entry = list_devices(&system, ListScope::WithLoops)
        .into_iter()
        .find(|entry| entry.path == card.path)
        .unwrap();
    assert!(entry.mounted && !entry.safe && entry.bus == Bus::Loop, "{entry:?}");
    assert_eq!(
        (entry.mounted_at, entry.filesystem),
        (vec![mounted.path().to_owned()], Some("ext4".to_owned()))
    );
    drop(mounted);
    assert!(guard(&card.path).is_ok());
}

#[test]
fn bind_mounted_card_is_refused() {
    let card = LoopDevice::zeroed(16, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let first = TestMount::new(&[], &card.path);
    std::fs::create_dir(first.point.join("photos")).unwrap();
    let bound = TestMount::new(&["--bind"], first.point.join("photos").to_str().unwrap());
    run_tool("umount", &[first.path()]);
    let refusal = guard(&card.path).unwrap_err();
    assert!(
        matches!(&refusal, GuardRefusal::Mounted { mount_point, .. } if mount_point == bound.path()),
        "{refusal}"
    );
}

#[test]
fn card_mounted_in_container_is_refused() {
    let card = LoopDevice::zeroed(16, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let dir = tempfile::tempdir().unwrap();
    let script = format!("mount {} {} && echo mounted && exec sleep 60", card.path, dir.path().display());
    let child = with_own_mounts(&["--propagation", "private"])
        .args(["sh", "-c", &script])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut container = ProgramGuard(child);
    let mut answer = [0; 7];
    container.0.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"mounted");
    let own = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(
        own.split_whitespace().all(|word| word != card.path),
        "the mount must not show here, or this tests nothing"
    );
    let refusal = guard(&card.path).unwrap_err();
    assert!(
        matches!(refusal, GuardRefusal::Mounted { .. }) && refusal.to_string().contains("container"),
        "{refusal}"
    );
}

#[test]
fn mounted_partition_refuses_disk_but_not_sibling() {
    let mut card = LoopDevice::zeroed(64, &[]);
    let first = card.add_partition(1, 2048, 32768);
    let second = card.add_partition(2, 34816, 32768);
    run_tool("mkfs.ext4", &["-q", "-F", &first]);
    let mounted = TestMount::new(&[], &first);
    for device in [&card.path, &first] {
        let refusal = guard(device).unwrap_err();
        assert!(matches!(&refusal, GuardRefusal::Mounted { used, .. } if first.ends_with(used)), "{refusal}");
    }
    let clearance = guard(&second).unwrap();
    assert_eq!(clearance.partition_of.as_deref(), Some(card.name()));
    assert!(clearance.remark().unwrap().contains("is a partition of"));
    drop(mounted);
    assert_eq!(guard(&card.path).unwrap().partitions.len(), 2);
}

#[test]
fn swap_is_refused() {
    let card = LoopDevice::zeroed(16, &[]);
    run_tool("mkswap", &[&card.path]);
    let swap = SwapArea::switch_on(&card.path);
    let refusal = guard(&card.path).unwrap_err();
    assert!(matches!(&refusal, GuardRefusal::Swap { swap, .. } if *swap == card.path), "{refusal}");
    drop(swap);
    assert!(guard(&card.path).is_ok());
}

#[test]
fn read_only_card_is_refused() {
    let card = LoopDevice::zeroed(8, &["-r"]);
    assert!(matches!(guard(&card.path), Err(GuardRefusal::ReadOnly { .. })));
    assert!(open_device(Path::new(&card.path), OpenAccess::Read).is_ok());
    let error = open_device(Path::new(&card.path), OpenAccess::ReadWrite).unwrap_err();
    assert!(matches!(error, OpenError::ReadOnly { .. } | OpenError::Denied { .. }), "{error}");
}

#[test]
fn claimed_card_is_refused_with_program_name() {
    let card = LoopDevice::zeroed(8, &[]);
    let script = "import os,sys,time; os.open(sys.argv[1], os.O_RDWR|os.O_EXCL); print('open', flush=True); time.sleep(60)";
    let child = Command::new("python3").args(["-c", script, &card.path]).stdout(Stdio::piped()).spawn();
    let mut other = ProgramGuard(child.expect("python3 is needed for this test"));
    let mut answer = [0; 4];
    other.0.stdout.as_mut().unwrap().read_exact(&mut answer).unwrap();
    let refusal = guard(&card.path).unwrap_err();
    assert!(matches!(&refusal, GuardRefusal::InUse { by, .. } if by.contains("python3")), "{refusal}");
    let error = open_device(Path::new(&card.path), OpenAccess::ReadWrite).unwrap_err();
    assert!(error.to_string().contains("in use by another program (python3, process"), "{error}");
    drop(other);
    assert!(guard(&card.path).is_ok());
}

/// A process that was killed holds its card until its last I/O has ended, and is named nowhere any more. This process,
/// which is none to itself, stands for it.
#[test]
fn busy_card_without_holder_is_retried() {
    let card = LoopDevice::zeroed(8, &[]);
    let held = open_device(Path::new(&card.path), OpenAccess::Read).unwrap();
    let release = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(500));
        drop(held);
    });
    let opened = open_device(Path::new(&card.path), OpenAccess::Read);
    assert!(opened.is_ok(), "{opened:?}");
    release.join().unwrap();
}

#[test]
fn card_below_loop_device_is_refused() {
    let card = LoopDevice::zeroed(8, &[]);
    let upper = LoopDevice::over_file(&card.path, &[]);
    let refusal = guard(&card.path).unwrap_err();
    assert!(
        matches!(&refusal, GuardRefusal::HasHolder { holder, .. } if holder.contains(upper.name())),
        "{refusal}"
    );
}

#[test]
fn card_with_mounted_image_file_is_refused() {
    let card = LoopDevice::zeroed(64, &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &card.path]);
    let outer = TestMount::new(&[], &card.path);
    let image = outer.point.join("inner.img");
    std::fs::File::create(&image).unwrap().set_len(16 << 20).unwrap();
    let inner = LoopDevice::over_file(image.to_str().unwrap(), &[]);
    run_tool("mkfs.ext4", &["-q", "-F", &inner.path]);
    let mounted = TestMount::new(&[], &inner.path);
    assert!(matches!(guard(&card.path), Err(GuardRefusal::Mounted { .. })));
    let found = filesystem::file_system_at(&mounted.point).unwrap();
    assert_eq!(found.name, "ext4");
    assert!(found.layers.len() >= 2, "both loop devices lie beneath: {found:?}");
    assert!(found.layers[0].effect.contains("inner.img"));
}

#[test]
fn system_disk_is_refused() {
    let root = std::fs::metadata("/").unwrap().dev();
    let (major, minor) = (rustix_major(root), rustix_minor(root));
    let link = std::fs::canonicalize(format!("/sys/dev/block/{major}:{minor}"))
        .expect("/ must lie on a block device for this test");
    let name = link.file_name().unwrap().to_str().unwrap();
    let refusal = guard(&format!("/dev/{name}")).unwrap_err();
    assert!(matches!(&refusal, GuardRefusal::System { mount_point, .. } if mount_point == "/"), "{refusal}");
}

// The number is made of pieces (makedev(3)); written out here so that the test does not lean on what it tests.
fn rustix_major(device: u64) -> u64 {
    (device >> 32 & 0xffff_f000) | (device >> 8 & 0xfff)
}

fn rustix_minor(device: u64) -> u64 {
    (device >> 12 & 0xffff_ff00) | (device & 0xff)
}

#[test]
fn non_block_device_is_refused_with_advice() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    assert!(matches!(guard(path), Err(GuardRefusal::NotABlockDevice { .. })));
    assert!(matches!(guard("/dev/null"), Err(GuardRefusal::NotABlockDevice { .. })));
    assert!(matches!(guard("/dev/no-such-card"), Err(GuardRefusal::NotFound { .. })));
    assert!(matches!(open_device(file.path(), OpenAccess::Read), Err(OpenError::NotABlockDevice { .. })));
    assert!(matches!(
        open_device(Path::new("/dev/no-such-card"), OpenAccess::Read),
        Err(OpenError::NotFound { .. })
    ));
}

#[test]
fn contents_are_read_through_direct_descriptor() {
    let card = LoopDevice::zeroed(64, &[]);
    run_tool("mkfs.vfat", &["-F", "32", "-n", "CAMERA", &card.path]);
    let looked = contents::examine_file(&open_shared(Path::new(&card.path)).unwrap(), 64 << 20);
    let opened = open_device(Path::new(&card.path), OpenAccess::Read).unwrap();
    assert!(opened.direct, "a loop device takes O_DIRECT");
    let file = std::fs::File::from(opened.fd);
    assert_eq!(contents::examine_file(&file, 64 << 20), looked);
    assert_eq!(looked.sentence(), "vfat \"CAMERA\" over the whole device");
}
