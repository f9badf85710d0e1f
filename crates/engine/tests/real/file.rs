//! A plain file, tested in place, and what holds for every real target.

use crate::rig::{MIB, all, by, check, file, on_file, plan, write};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::real::{IoChoice, RealOptions};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target, TargetError, TargetRegion};
use cardscope_model::recipe::KernelPath as Way;
use rstest::rstest;

#[test]
fn file_target_keeps_size_and_reports_file_system() {
    let (_directory, path) = file(MIB + 100);
    let options = RealOptions { file_system: Some("tmpfs".into()), ..RealOptions::default() };
    let mut target = on_file(&path, options).unwrap();
    assert_eq!(target.info().bytes, MIB);
    assert_eq!(target.info().file_system.as_deref(), Some("tmpfs"));
    assert!(!target.info().whole_card);
    assert_eq!(target.area(MIB).unwrap(), TargetRegion { start: 0, len: MIB });
    assert!(
        matches!(target.area(2 * MIB), Err(TargetError::NoSpace { needed, available, .. }) if needed == 2 * MIB && available == MIB)
    );
    drop(target);
    assert_eq!(std::fs::metadata(&path).unwrap().len(), MIB + 100);
}

#[rstest]
#[case(LanePlan { depth: 0, ..plan(1, 4096) })]
#[case(plan(1, 0))]
#[case(plan(1, 2 << 30))]
fn a_plan_that_cannot_be_is_refused(#[case] wrong: LanePlan) {
    let (_directory, path) = file(MIB);
    let mut target = on_file(&path, RealOptions::default()).unwrap();
    assert!(matches!(target.plan(&wrong), Err(TargetError::Setup { .. })));
}

#[test]
fn io_outside_plan_is_refused() {
    let (_directory, path) = file(MIB);
    let mut target = on_file(&path, RealOptions::default()).unwrap();
    let io =
        IoRequest { slot: 0, direction: IoDirection::Read, offset: 0, len: 4096, content: IoContent::Noise };
    assert!(target.submit(&io).unwrap_err().to_string().contains("planned before"));
    assert!(target.complete(1, &mut Vec::new()).is_err());
    target.plan(&plan(1, 4096)).unwrap();
    for wrong in [
        IoRequest { slot: 1, ..io },
        IoRequest { len: 8192, ..io },
        IoRequest { len: 0, ..io },
        IoRequest { offset: MIB, ..io },
        IoRequest { offset: u64::MAX - 100, ..io },
    ] {
        assert!(matches!(target.submit(&wrong), Err(TargetError::Setup { .. })), "{wrong:?}");
    }
    target.submit(&io).unwrap();
    assert!(target.submit(&io).is_err(), "the slot is busy");
    assert!(target.buffer(0).is_err(), "the slot is busy");
    target.plan(&plan(2, 4096)).unwrap();
    let mut done = Vec::new();
    target.complete(1, &mut done).unwrap();
    assert!(done.is_empty(), "what an earlier plan left in flight is not answered");
}

#[rstest]
fn complete_does_not_wait_for_more_than_in_flight(
    #[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice,
    #[values(1, 4)] depth: u32,
) {
    let (_directory, path) = file(MIB);
    let mut target = on_file(&path, by(io)).unwrap();
    target.plan(&plan(depth, 4096)).unwrap();
    let mut done = Vec::new();
    target.complete(3, &mut done).unwrap();
    assert!(done.is_empty());
    target
        .submit(&IoRequest {
            slot: 0,
            direction: IoDirection::Read,
            offset: 0,
            len: 4096,
            content: IoContent::Noise,
        })
        .unwrap();
    target.complete(3, &mut done).unwrap();
    assert_eq!(done.len(), 1);
}

#[rstest]
fn lanes_share_one_clock(#[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice) {
    let (_directory, path) = file(MIB);
    let mut target = on_file(&path, by(io)).unwrap();
    let mut lane = target.lane().unwrap().expect("real targets have lanes");
    let mut last = target.now();
    for handle in [&mut target as &mut dyn Target, &mut *lane] {
        handle.plan(&plan(4, 4096)).unwrap();
        let reads = (0..64).map(|n| IoRequest {
            slot: 0,
            direction: IoDirection::Read,
            offset: n * 4096,
            len: 4096,
            content: IoContent::Noise,
        });
        // Not in order among themselves: with preads, each comes from a thread of its own.
        let began = last;
        for completion in all(handle, 4, reads) {
            assert!((began..=handle.now()).contains(&completion.at));
            last = last.max(completion.at);
        }
    }
    assert!(lane.now() >= last && target.now() >= last);
}

#[test]
fn lane_works_after_moving_to_another_thread() {
    let (_directory, path) = file(MIB);
    let mut target = on_file(&path, RealOptions::default()).unwrap();
    let content = IoContent::Stream { seed: 3 };
    let mut lane = target.lane().unwrap().unwrap();
    lane.plan(&plan(8, 4096)).unwrap();
    write(&mut *lane, 0, 4096, content).unwrap();
    let lane = std::thread::spawn(move || {
        assert_eq!(check(&mut *lane, 0, 4096, content).unwrap(), ContentMatch::Same);
        lane
    });
    let mut lane = lane.join().unwrap();
    assert_eq!(check(&mut *lane, 0, 4096, content).unwrap(), ContentMatch::Same);
}

#[rstest]
fn file_supports_reopen_flush_discard_and_cache_drop(
    #[values(IoChoice::Auto, IoChoice::Preads)] io: IoChoice,
    #[values(Way::Direct, Way::Buffered)] way: Way,
) {
    let (_directory, path) = file(MIB);
    let content = IoContent::Stream { seed: 9 };
    let mut target = on_file(&path, by(io)).unwrap();
    target.plan(&LanePlan { path: way, ..plan(2, 65_536) }).unwrap();
    write(&mut target, 65_536, 65_536, content).unwrap();
    target.flush().unwrap();
    target.reopen().unwrap();
    assert_eq!(check(&mut target, 65_536, 65_536, content).unwrap(), ContentMatch::Same);
    target.discard(TargetRegion { start: 65_536, len: 65_536 }).unwrap();
    assert_eq!(check(&mut target, 65_536, 65_536, IoContent::Constant(0)).unwrap(), ContentMatch::Same);
    assert!(target.compare(0, IoContent::Noise).is_err());
    assert!(target.compare(1, content).is_err(), "slot 1 has read nothing");
}

#[test]
fn temperature_comes_from_given_source() {
    let (_directory, path) = file(MIB);
    let options =
        RealOptions { temperature: Some(std::sync::Arc::new(|| Some(41.5))), ..RealOptions::default() };
    assert_eq!(on_file(&path, options).unwrap().temperature(), Some(41.5));
    assert_eq!(on_file(&path, RealOptions::default()).unwrap().temperature(), None);
}
