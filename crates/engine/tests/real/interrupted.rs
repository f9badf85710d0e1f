//! Ctrl-C, and devices that hang: nothing waits for them for ever.

use crate::rig::{LoopDevice, MIB, Mounted, file, on_file, plan, root, run, write};
use cardscope_engine::content::Content;
use cardscope_engine::interrupt::Interrupt;
use cardscope_engine::real::{IoChoice, RealOptions, RealTarget};
use cardscope_engine::target::{Direction, Io, Target, TargetError};
use cardscope_files::Folder;
use rstest::rstest;
use std::path::Path;
use std::time::{Duration, Instant};

fn with(io: IoChoice, interrupt: &Interrupt) -> RealOptions {
    RealOptions { io, interrupt: interrupt.clone(), ..RealOptions::default() }
}

fn raise_in(interrupt: &Interrupt, time: Duration) {
    let interrupt = interrupt.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        interrupt.raise();
    });
}

/// A file system that accepts nothing until this is dropped: a card that hangs.
struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    fn new(place: &'a Path) -> Self {
        run("fsfreeze", &["--freeze", place.to_str().unwrap()]);
        Self(place)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        run("fsfreeze", &["--unfreeze", self.0.to_str().unwrap()]);
    }
}

#[rstest]
fn a_device_that_hangs_is_left_when_the_user_says_so(
    #[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice,
) {
    if !root("a_device_that_hangs") {
        return;
    }
    let below = Mounted::new("ext4", "rw", 32 * MIB);
    let image = below.path().join("card.img");
    std::fs::write(&image, vec![1; MIB as usize]).unwrap();
    let device = LoopDevice::over(&image);
    let interrupt = Interrupt::default();
    let mut target = device.open(with(io, &interrupt));
    target.plan(&plan(4, 4096)).unwrap();
    let frozen = Frozen::new(below.path());
    let started = Instant::now();
    for slot in 0..4 {
        let offset = u64::from(slot) * 4096;
        target
            .submit(&Io { slot, direction: Direction::Write, offset, len: 4096, content: Content::Noise })
            .unwrap();
    }
    raise_in(&interrupt, Duration::from_millis(300));
    let mut done = Vec::new();
    target.complete(4, &mut done).unwrap();
    assert!(done.len() < 4, "the device hangs");
    assert!((250..1000).contains(&started.elapsed().as_millis()), "{:?}", started.elapsed());
    drop(target);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    drop(frozen);
}

#[rstest]
fn after_ctrl_c_saved_blocks_can_still_be_put_back(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    let (_directory, path) = file(MIB);
    let interrupt = Interrupt::default();
    let mut target = on_file(&path, with(io, &interrupt)).unwrap();
    target.plan(&plan(2, 4096)).unwrap();
    interrupt.raise();
    write(&mut target, 0, 4096, Content::Constant(9)).unwrap();
    target.flush().unwrap();
    drop(target);
    assert_eq!(std::fs::read(&path).unwrap()[..4096], [9; 4096]);
}

#[test]
fn rest_ends_with_ctrl_c() {
    let (_directory, path) = file(MIB);
    let interrupt = Interrupt::default();
    let mut target = on_file(&path, with(IoChoice::Auto, &interrupt)).unwrap();
    let started = Instant::now();
    target.idle(Duration::from_millis(30));
    assert!((30..90).contains(&started.elapsed().as_millis()));
    raise_in(&interrupt, Duration::from_millis(50));
    target.idle(Duration::from_secs(60));
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn an_interrupted_run_in_a_directory_leaves_nothing_behind() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let interrupt = Interrupt::default();
    let mut target =
        RealTarget::directory(Folder::open(directory.path()).unwrap(), with(IoChoice::Auto, &interrupt))
            .unwrap();
    target.area(MIB).unwrap();
    interrupt.raise();
    assert_eq!(target.area(2 * MIB), Err(TargetError::Interrupted));
    drop(target);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
