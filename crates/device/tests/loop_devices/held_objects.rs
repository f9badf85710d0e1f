//! What is held for a test stays the very object, and what becomes of it is named: on real files and loop devices. Needs
//! root.

use cardscope_device::claimed::{ClaimedKind, ClaimedTarget, HoldError};
use cardscope_device::open::OpenAccess;
use cardscope_engine::content::IoContent;
use cardscope_engine::real::{BlockDevice, OwnershipCheck, RealOptions, RealTarget};
use cardscope_engine::target::{
    IoCompletion, IoDirection, IoRequest, LanePlan, ObjectChange, Target, TargetError,
};
use cardscope_model::recipe::KernelPath as Way;
use cardscope_testkit::devices::{LoopDevice, ProgramGuard, run_tool};
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const MIB: u64 = 1 << 20;

fn file(mib: u64) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("card.img");
    File::create(&path).unwrap().set_len(mib * MIB).unwrap();
    (dir, path)
}

fn resize(path: &Path, bytes: u64) {
    File::options().write(true).open(path).unwrap().set_len(bytes).unwrap();
}

fn held(path: impl AsRef<Path>) -> Arc<ClaimedTarget> {
    Arc::new(ClaimedTarget::open_name(path.as_ref(), OpenAccess::ReadWrite).unwrap())
}

fn refusal(path: &Path) -> String {
    ClaimedTarget::open_name(path, OpenAccess::ReadWrite).unwrap_err().to_string()
}

/// A target that is written to by turns of 4 KiB.
fn target(held: &Arc<ClaimedTarget>) -> RealTarget {
    let holding = Arc::clone(held) as Arc<dyn OwnershipCheck>;
    let options = RealOptions { holding: Some(holding), ..RealOptions::default() };
    let fd = held.duplicate_fd().unwrap();
    let mut target = match held.kind() {
        ClaimedKind::Device(device) => {
            let (bytes, sector, name) = (held.bytes(), device.sector, held.name().display().to_string());
            RealTarget::open_device(BlockDevice { fd, bytes, sector, name }, options).unwrap()
        }
        _ => RealTarget::open_file(fd, held.name(), options).unwrap(),
    };
    plan(&mut target);
    target
}

/// Another stage begins, which is another one by its plan.
fn plan(target: &mut RealTarget) {
    for depth in [2, 1] {
        let plan = LanePlan { depth, block: 4096, path: Way::Direct, sync_each: false, own_buffers: true };
        target.plan(&plan).unwrap();
    }
}

fn one(target: &mut RealTarget, direction: IoDirection, offset: u64) -> Result<(), TargetError> {
    let mut done: Vec<IoCompletion> = Vec::new();
    target.submit(&IoRequest { slot: 0, direction, offset, len: 4096, content: IoContent::Constant(7) })?;
    target.complete(1, &mut done)?;
    done.remove(0).result
}

fn changed(outcome: Result<(), TargetError>) -> ObjectChange {
    match outcome {
        Err(TargetError::Changed { change, .. }) => change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn empty_short_or_locked_file_is_refused() {
    let (dir, path) = file(1);
    let first = held(&path);
    assert!(refusal(&path).contains("it is locked by another program"));
    drop(first);
    drop(held(&path));
    resize(&path, 100);
    assert!(refusal(&path).contains("shorter than one sector"));
    resize(&path, 0);
    assert!(refusal(&path).contains("the file is empty"));
    assert!(matches!(
        ClaimedTarget::open_name(&dir.path().join("missing"), OpenAccess::Read),
        Err(HoldError::Name(_))
    ));
    let fifo = dir.path().join("fifo");
    run_tool("mkfifo", &[fifo.to_str().unwrap()]);
    assert!(refusal(&fifo).contains("name the card itself"));
    assert!(refusal(Path::new("/dev/null")).contains("name the card itself"));
}

#[test]
fn changed_name_is_detected_after_consent() {
    let (dir, path) = file(1);
    let other = dir.path().join("other.img");
    std::fs::copy(&path, &other).unwrap();
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    let held = held(&link);
    assert_eq!(held.check_after_consent(), Ok(()));
    std::fs::remove_file(&link).unwrap();
    assert!(matches!(held.check_after_consent(), Err(ObjectChange::Replaced(_))), "was moved or removed");
    symlink(&other, &link).unwrap();
    assert!(matches!(held.check_after_consent(), Err(ObjectChange::Replaced(_))));
    let mut target = target(&held);
    assert!(matches!(changed(one(&mut target, IoDirection::Write, 0)), ObjectChange::Replaced(_)));
    assert_eq!(std::fs::read(&other).unwrap(), vec![0; MIB as usize]);
    std::fs::remove_file(&link).unwrap();
    symlink(&path, &link).unwrap();
    plan(&mut target);
    changed(one(&mut target, IoDirection::Write, 0));
    assert_eq!(std::fs::read(&path).unwrap(), vec![0; MIB as usize], "what was stopped stays stopped");
}

#[test]
fn file_under_new_loop_device_is_not_written() {
    let (dir, path) = file(1);
    let held = held(&path);
    let mut target = target(&held);
    one(&mut target, IoDirection::Write, 0).unwrap();
    // By another name, which is gone again: only the device itself knows what it stands on.
    let name = dir.path().join("name");
    std::fs::hard_link(&path, &name).unwrap();
    let device = LoopDevice::over_file(name.to_str().unwrap(), &[]);
    std::fs::remove_file(&name).unwrap();
    let used = held.check_after_consent().unwrap_err().to_string();
    assert!(used.contains("is in use") && used.contains(device.name()), "{used}");
    plan(&mut target);
    assert!(matches!(changed(one(&mut target, IoDirection::Write, 4096)), ObjectChange::InUse(_)));
    assert_eq!(&std::fs::read(&path).unwrap()[4096..8192], [0; 4096]);
    drop(target);
    drop(held);
    assert!(refusal(&path).contains("is in use"));
}

#[test]
fn fcntl_locked_file_is_refused() {
    let (_dir, path) = file(1);
    let held = held(&path);
    // F_OFD_SETLK (37) of one byte, as qemu does, and F_SETLK by lockf, as databases do.
    let by_description = "fcntl.fcntl(f, 37, struct.pack('hhqqixxxx', 0, 0, 100, 1, 0))";
    for lock in [by_description, "fcntl.lockf(f, fcntl.LOCK_EX)"] {
        let script = format!(
            "import fcntl, struct, sys, time\nf = open(sys.argv[1], 'r+b')\n{lock}\nprint('held', flush=True)\ntime.sleep(60)"
        );
        let mut command = std::process::Command::new("python3");
        let child =
            command.args(["-c", &script, path.to_str().unwrap()]).stdout(std::process::Stdio::piped());
        let mut program = ProgramGuard(child.spawn().unwrap());
        let mut said = [0; 4];
        std::io::Read::read_exact(program.0.stdout.as_mut().unwrap(), &mut said).unwrap();
        let used = held.check_after_consent().unwrap_err().to_string();
        assert!(used.contains("is locked by"), "{used}");
        assert!(refusal(&path).contains("is locked by"), "before it is opened, too: {}", refusal(&path));
        drop(program);
        assert_eq!(held.check_after_consent(), Ok(()));
    }
}

#[test]
fn real_path_and_hard_links_are_reported() {
    let (dir, path) = file(1);
    assert_eq!(held(&path).also_known_as(), None);
    let link = dir.path().join("link");
    symlink(&path, &link).unwrap();
    assert_eq!(held(&link).also_known_as(), Some(path.display().to_string()));
    std::fs::hard_link(&path, dir.path().join("name")).unwrap();
    assert!(held(&path).also_known_as().unwrap().contains("2 names"));
}

#[test]
fn write_to_end_does_not_hide_truncation() {
    let (_dir, path) = file(1);
    let held = held(&path);
    let mut target = target(&held);
    one(&mut target, IoDirection::Write, 0).unwrap();
    resize(&path, 4096);
    let change = changed(one(&mut target, IoDirection::Write, MIB - 4096));
    assert_eq!(change, ObjectChange::Resized { was: MIB, is: 4096 });
    assert_eq!(std::fs::metadata(&path).unwrap().len(), 4096, "it was not made long again");
}

#[test]
fn resized_file_is_reported_as_changed() {
    let (_dir, path) = file(1);
    let mut target = target(&held(&path));
    resize(&path, 4096);
    let change = changed(one(&mut target, IoDirection::Read, 8192));
    assert_eq!(change, ObjectChange::Resized { was: MIB, is: 4096 });
    resize(&path, 2 * MIB);
    one(&mut target, IoDirection::Read, 8192).unwrap();
    let compared = target.compare(0, IoContent::Constant(7));
    assert!(matches!(compared, Err(TargetError::Changed { .. })), "{compared:?}");
    assert!(target.reopen().unwrap_err().to_string().contains("the capacity changed"));
}

#[test]
fn resized_device_is_reported_as_changed() {
    for (bytes, direction) in
        [(MIB / 2, IoDirection::Read), (MIB / 2, IoDirection::Write), (2 * MIB, IoDirection::Read)]
    {
        let (_dir, path) = file(1);
        let device = LoopDevice::over_file(path.to_str().unwrap(), &[]);
        let held = held(&device.path);
        let mut target = target(&held);
        one(&mut target, direction, 0).unwrap();
        resize(&path, bytes);
        run_tool("losetup", &["--set-capacity", &device.path]);
        let expected = ObjectChange::Resized { was: MIB, is: bytes };
        assert_eq!(held.check_present(), Err(expected.clone()));
        if bytes < MIB {
            assert_eq!(changed(one(&mut target, direction, MIB - 4096)), expected);
        }
        let reopened = target.reopen().unwrap_err();
        assert!(matches!(&reopened, TargetError::Changed { .. }), "{reopened}");
        resize(&path, MIB);
        run_tool("losetup", &["--set-capacity", &device.path]);
        plan(&mut target);
        assert_eq!(
            changed(one(&mut target, IoDirection::Write, 0)),
            expected,
            "what changed once stays changed"
        );
    }
}

#[test]
fn device_without_size_is_gone() {
    let (_dir, path) = file(1);
    let device = LoopDevice::over_file(path.to_str().unwrap(), &[]);
    let held = held(&device.path);
    let mut target = target(&held);
    one(&mut target, IoDirection::Read, 0).unwrap();
    resize(&path, 0);
    run_tool("losetup", &["--set-capacity", &device.path]);
    let gone = one(&mut target, IoDirection::Read, 4096).unwrap_err();
    assert!(matches!(gone, TargetError::Gone { .. }) && gone.to_string().contains("went away"), "{gone}");
}

#[test]
fn claimed_device_detects_loop_device_over_it() {
    let card = LoopDevice::zeroed(8, &[]);
    let held = held(&card.path);
    let mut target = target(&held);
    target.reopen().unwrap();
    one(&mut target, IoDirection::Write, 0).unwrap();
    assert!(refusal(Path::new(&card.path)).contains("exclusively"), "opening it anew did not let go of it");
    assert_eq!(held.check_after_consent(), Ok(()), "our own claim is no use by another");
    let above = LoopDevice::over_file(&card.path, &[]);
    plan(&mut target);
    let change = changed(one(&mut target, IoDirection::Write, 4096));
    assert!(matches!(&change, ObjectChange::InUse(who) if who.contains(above.name())), "{change}");
}
