//! Ctrl-C, and devices that hang: nothing waits for them for ever.

use crate::rig::{MIB, check, file, mounted, on_device, on_file, plan, root, write};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::real::{IoChoice, RealOptions, RealTarget};
use cardscope_engine::target::{IoDirection, IoRequest, Target, TargetError};
use cardscope_files::ResolvedFolder;
use cardscope_testkit::devices::{LoopDevice, TestMount, run_tool};
use rstest::rstest;
use std::path::Path;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

fn with(io: IoChoice, interrupt: &InterruptFlag) -> RealOptions {
    RealOptions { io, interrupt: interrupt.clone(), ..RealOptions::default() }
}

/// Raises it after a while, and tells when that was.
fn raise_in(interrupt: &InterruptFlag, time: Duration) -> JoinHandle<Instant> {
    let interrupt = interrupt.clone();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        let now = Instant::now();
        interrupt.raise();
        now
    })
}

/// The time since it was raised, which must lie before now.
fn since(raised: JoinHandle<Instant>) -> Duration {
    let now = Instant::now();
    now.checked_duration_since(raised.join().unwrap()).expect("nothing else ended the wait")
}

/// A file system that accepts nothing until this is dropped: a card that hangs.
struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    fn new(place: &'a Path) -> Self {
        run_tool("fsfreeze", &["--freeze", place.to_str().unwrap()]);
        Self(place)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        run_tool("fsfreeze", &["--unfreeze", self.0.to_str().unwrap()]);
    }
}

#[rstest]
fn interrupt_abandons_hanging_device(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    if !root("a_device_that_hangs") {
        return;
    }
    let (below, device) = card();
    let interrupt = InterruptFlag::default();
    let mut target = on_device(&device, with(io, &interrupt));
    target.plan(&plan(4, 4096)).unwrap();
    let frozen = Frozen::new(&below.point);
    let started = Instant::now();
    for slot in 0..4 {
        let offset = u64::from(slot) * 4096;
        target
            .submit(&IoRequest {
                slot,
                direction: IoDirection::Write,
                offset,
                len: 4096,
                content: IoContent::Noise,
            })
            .unwrap();
    }
    let raised = raise_in(&interrupt, Duration::from_millis(300));
    let mut done = Vec::new();
    target.complete(4, &mut done).unwrap();
    let took = since(raised);
    assert!(done.len() < 4, "the device hangs");
    assert!(took < Duration::from_millis(700), "{took:?}");
    drop(target);
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    drop(frozen);
}

/// A card as a loop device on a file system that can be frozen.
fn card() -> (TestMount, LoopDevice) {
    let below = mounted("ext4", "rw", 32);
    let image = below.point.join("card.img");
    std::fs::write(&image, vec![1; MIB as usize]).unwrap();
    let device = LoopDevice::over_file(&image, &[]);
    (below, device)
}

/// Hands over four writes and waits for none.
fn begin_writes(target: &mut dyn Target, content: IoContent) {
    target.plan(&plan(4, 4096)).unwrap();
    for slot in 0..4 {
        let offset = u64::from(slot) * 4096;
        target
            .submit(&IoRequest { slot, direction: IoDirection::Write, offset, len: 4096, content })
            .unwrap();
    }
    target.complete(0, &mut Vec::new()).unwrap();
}

#[rstest]
fn plan_waits_for_io_of_earlier_plan(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    if !root("a_plan_waits") {
        return;
    }
    let (below, device) = card();
    let mut target = on_device(&device, with(io, &InterruptFlag::default()));
    target.plan(&plan(4, 4096)).unwrap();
    let frozen = Frozen::new(&below.point);
    begin_writes(&mut target, IoContent::Constant(7));
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            std::thread::sleep(Duration::from_millis(700));
            drop(frozen);
        });
        target.plan(&plan(1, 8192)).unwrap();
    });
    assert!(started.elapsed() >= Duration::from_millis(600), "{:?}", started.elapsed());
    // What is written now stays: nothing of before lands on it.
    write(&mut target, 0, 8192, IoContent::Constant(9)).unwrap();
    assert_eq!(check(&mut target, 0, 8192, IoContent::Constant(9)).unwrap(), ContentMatch::Same);
    assert_eq!(check(&mut target, 8192, 8192, IoContent::Constant(7)).unwrap(), ContentMatch::Same);
}

#[rstest]
fn silent_device_fails_after_timeout(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    if !root("a_device_that_does_not_answer") {
        return;
    }
    let (below, device) = card();
    let io_timeout = Some(Duration::from_secs(2));
    let mut target = on_device(&device, RealOptions { io_timeout, ..with(io, &InterruptFlag::default()) });
    target.plan(&plan(4, 4096)).unwrap();
    let frozen = Frozen::new(&below.point);
    begin_writes(&mut target, IoContent::Constant(7));
    let started = Instant::now();
    let silent = |error: TargetError| assert!(error.to_string().contains("no answer for 2 s"), "{error}");
    silent(target.complete(1, &mut Vec::new()).unwrap_err());
    assert!(started.elapsed() >= Duration::from_secs(2), "{:?}", started.elapsed());
    // The time has passed: who tries again is told so at once, and nothing begins beside what hangs.
    silent(target.plan(&plan(1, 4096)).unwrap_err());
    silent(target.reopen().unwrap_err());
    assert!(started.elapsed() < Duration::from_secs(4), "{:?}", started.elapsed());
    drop(frozen);
    target.plan(&plan(1, 4096)).unwrap();
    assert_eq!(check(&mut target, 0, 4096, IoContent::Constant(7)).unwrap(), ContentMatch::Same);
}

#[rstest]
fn io_of_dropped_lane_blocks_new_io(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    if !root("nothing_begins_beside") {
        return;
    }
    let (below, device) = card();
    let mut target = on_device(&device, with(io, &InterruptFlag::default()));
    target.plan(&plan(1, 4096)).unwrap();
    let mut lane = target.lane().unwrap().unwrap();
    lane.plan(&plan(4, 4096)).unwrap();
    let frozen = Frozen::new(&below.point);
    begin_writes(lane.as_mut(), IoContent::Constant(7));
    drop(lane);
    let refused = target.plan(&plan(1, 4096)).unwrap_err();
    assert!(refused.is_final() && refused.to_string().contains("no answer"), "{refused}");
    drop(frozen);
}

#[test]
fn unsubmitted_io_is_discarded() {
    let (_directory, path) = file(MIB);
    let mut target = on_file(&path, with(IoChoice::Auto, &InterruptFlag::default())).unwrap();
    target.plan(&plan(2, 4096)).unwrap();
    let io = IoRequest {
        slot: 1,
        direction: IoDirection::Write,
        offset: 0,
        len: 4096,
        content: IoContent::Constant(9),
    };
    target.submit(&io).unwrap();
    target.plan(&plan(1, 4096)).unwrap();
    assert_eq!(check(&mut target, 0, 4096, IoContent::Constant(0)).unwrap(), ContentMatch::Same);
}

#[rstest]
fn restore_works_after_interrupt(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    let (_directory, path) = file(MIB);
    let interrupt = InterruptFlag::default();
    let mut target = on_file(&path, with(io, &interrupt)).unwrap();
    target.plan(&plan(2, 4096)).unwrap();
    interrupt.raise();
    write(&mut target, 0, 4096, IoContent::Constant(9)).unwrap();
    target.flush().unwrap();
    drop(target);
    assert_eq!(std::fs::read(&path).unwrap()[..4096], [9; 4096]);
}

#[test]
fn interrupt_ends_idle() {
    let (_directory, path) = file(MIB);
    let interrupt = InterruptFlag::default();
    let mut target = on_file(&path, with(IoChoice::Auto, &interrupt)).unwrap();
    // On a busy computer each may be late; not all of them are.
    let shortest = (0..20).map(|_| {
        let started = Instant::now();
        target.idle(Duration::from_millis(30));
        started.elapsed().as_millis()
    });
    assert!((30..90).contains(&shortest.min().unwrap()));
    let raised = raise_in(&interrupt, Duration::from_millis(50));
    target.idle(Duration::from_secs(60));
    let took = since(raised);
    assert!(took < Duration::from_secs(2), "{took:?}");
}

#[test]
fn interrupted_run_removes_test_file() {
    let directory = tempfile::tempdir_in("/dev/shm").unwrap();
    let interrupt = InterruptFlag::default();
    let mut target = RealTarget::create_in_directory(
        ResolvedFolder::open(directory.path()).unwrap(),
        with(IoChoice::Auto, &interrupt),
    )
    .unwrap();
    target.area(MIB).unwrap();
    interrupt.raise();
    assert_eq!(target.area(2 * MIB), Err(TargetError::Interrupted));
    drop(target);
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}
