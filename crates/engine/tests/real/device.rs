//! Block devices: loop devices, for root.

use crate::rig::{
    MIB, becomes_free, by, check, file, mounted, on_device, one, open_exclusively, plan, root, write,
};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::real::{IoChoice, OwnershipCheck, RealOptions};
use cardscope_engine::target::{
    IoCompletion, IoDirection, IoRequest, LanePlan, ObjectChange, Target, TargetError, TargetRegion,
};
use cardscope_model::caveat::Caveat;
use cardscope_model::recipe::KernelPath as Way;
use cardscope_testkit::devices::LoopDevice;
use rstest::rstest;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

#[rstest]
fn device_stays_claimed_through_all_operations(
    #[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice,
    #[values(1, 8)] depth: u32,
    #[values(Way::Direct, Way::Buffered)] way: Way,
) {
    if !root("a_device_is_written_read_discarded_and_reopened") {
        return;
    }
    let (_directory, path) = file(16 * MIB);
    let device = LoopDevice::over_file(&path, &[]);
    let mut target = on_device(&device, by(io));
    assert!(target.info().whole_card);
    assert_eq!((target.info().bytes, target.info().sector), (16 * MIB, 512));
    assert_eq!(
        target.area(MIB).unwrap(),
        TargetRegion { start: 0, len: MIB },
        "too small to spare its start"
    );
    assert!(matches!(target.area(17 * MIB), Err(TargetError::NoSpace { .. })));
    let content = IoContent::Stamp { salt: 1, generation: 1 };
    target.plan(&LanePlan { path: way, sync_each: true, ..plan(depth, 65_536) }).unwrap();
    write(&mut target, MIB, 65_536, content).unwrap();
    target.flush().unwrap();
    target.drop_caches().unwrap();
    assert_eq!(check(&mut target, MIB, 65_536, content).unwrap(), ContentMatch::Same);
    target.reopen().unwrap();
    assert!(open_exclusively(&device.path).is_err(), "it is ours alone all the while");
    assert_eq!(check(&mut target, MIB, 65_536, content).unwrap(), ContentMatch::Same);
    target.discard(TargetRegion { start: MIB, len: 65_536 }).unwrap();
    assert_eq!(check(&mut target, MIB, 65_536, IoContent::Constant(0)).unwrap(), ContentMatch::Same);
    assert!(!target.caveats().iter().any(|c| matches!(c, Caveat::NoDirectIo { .. })));
    target.lane().unwrap().unwrap().reopen().unwrap();
    drop(target);
    assert!(becomes_free(&device.path));
}

#[rstest]
fn handed_over_device_switches_direct_io(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    if !root("a_device_that_we_may_not_open_ourselves") {
        return;
    }
    let (_directory, path) = file(MIB);
    let device = LoopDevice::over_file(&path, &[]);
    // As UDisks2 hands it over: open, but closed to a second open by its permissions.
    let fd = open_exclusively(&device.path).unwrap();
    std::thread::spawn(move || {
        crate::refused::become_nobody();
        let mut fd = Some(fd);
        let device = cardscope_engine::real::BlockDevice {
            fd: fd.take().unwrap(),
            bytes: MIB,
            sector: 512,
            name: "card".into(),
        };
        let mut target = cardscope_engine::real::RealTarget::open_device(device, by(io)).unwrap();
        let content = IoContent::Stream { seed: 5 };
        for way in [Way::Direct, Way::Buffered, Way::Direct] {
            target.plan(&LanePlan { path: way, ..plan(2, 4096) }).unwrap();
            write(&mut target, 4096, 4096, content).unwrap();
            target.reopen().unwrap();
            assert_eq!(check(&mut target, 4096, 4096, content).unwrap(), ContentMatch::Same);
        }
        let error = target.drop_caches().unwrap_err().to_string();
        assert!(error.contains("could not be emptied"), "{error}");
    })
    .join()
    .unwrap();
}

#[rstest]
fn bad_place_is_io_error_while_card_answers(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    if !root("one_bad_place_on_a_card_that_still_answers") {
        return;
    }
    // A device larger than the room of the file system below it: writes to its holes fail, reads go well.
    let place = mounted("tmpfs", "size=1m", 0);
    let image = place.point.join("card.img");
    std::fs::File::create(&image).unwrap().set_len(16 * MIB).unwrap();
    let device = LoopDevice::over_file(&image, &[]);
    let mut target = on_device(&device, by(io));
    target.plan(&plan(1, 65_536)).unwrap();
    let errors: Vec<TargetError> =
        (0..32).filter_map(|n| write(&mut target, n * 65_536, 65_536, IoContent::Noise).err()).collect();
    assert!(!errors.is_empty());
    for error in errors {
        assert!(matches!(error, TargetError::Io { operation: "write", len: 65_536, .. }), "{error:?}");
    }
}

#[test]
fn misaligned_transfer_fails_alone() {
    if !root("a_misaligned_transfer") {
        return;
    }
    let (_directory, path) = file(MIB);
    let device = LoopDevice::over_file(&path, &[]);
    let mut target = on_device(&device, RealOptions::default());
    target.plan(&plan(1, 4096)).unwrap();
    let result = one(&mut target, IoDirection::Read, 100, 512, IoContent::Noise).unwrap().result;
    assert!(matches!(result, Err(TargetError::Io { errno: 22, .. })), "{result:?}");
}

/// A slot whose card is another one at the second look after an I/O failed: the kernel hears of it later than we do.
#[derive(Debug, Default)]
struct Slot {
    looks: AtomicU32,
}

impl OwnershipCheck for Slot {
    fn check_present(&self) -> Result<(), ObjectChange> {
        match self.looks.fetch_add(1, Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(ObjectChange::Replaced("the slot now holds another card".into())),
        }
    }

    fn check_writable(&self) -> Result<(), ObjectChange> {
        Ok(())
    }
}

/// Whether whoever submits the read that fails waits for how it ends, or plans something else.
#[rstest]
fn swapped_card_is_not_written_after_failed_read(
    #[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice,
    #[values(true, false)] waits: bool,
) {
    if !root("swapped_card_is_not_written_after_failed_read") {
        return;
    }
    let (_directory, path) = file(4 * MIB);
    let device = LoopDevice::over_file(&path, &[]);
    let mut target = on_device(&device, RealOptions { holding: Some(Arc::new(Slot::default())), ..by(io) });
    std::fs::File::options().write(true).open(&path).unwrap().set_len(2 * MIB).unwrap();
    target.plan(&plan(2, 4096)).unwrap();
    let mut done: Vec<IoCompletion> = Vec::new();
    for slot in 0..2 {
        let offset = if slot == 0 { 0 } else { 3 * MIB };
        target
            .submit(&IoRequest {
                slot,
                direction: IoDirection::Read,
                offset,
                len: 4096,
                content: IoContent::Buffer,
            })
            .unwrap();
    }
    if waits {
        let error = target.complete(2, &mut done).unwrap_err();
        assert!(matches!(error, TargetError::Changed { .. }), "{error}");
    } else {
        target.complete(0, &mut done).unwrap();
        let error = target.plan(&plan(1, 4096)).unwrap_err();
        assert!(matches!(error, TargetError::Changed { .. }), "{error}");
    }
    let refused =
        target.plan(&plan(1, 4096)).and_then(|()| write(&mut target, 0, 4096, IoContent::Constant(1)));
    assert!(matches!(refused, Err(TargetError::Changed { .. })), "{refused:?}");
    assert_eq!(std::fs::read(&path).unwrap(), vec![0; 2 * MIB as usize]);
}
