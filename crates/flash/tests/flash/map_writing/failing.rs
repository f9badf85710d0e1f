//! Cards that fail every I/O or stall for a minute at each: every part ends, and reports nothing that it could not
//! measure.

use super::common::{map_card, options, target};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_flash::probe::{MapOptions, MapPart, measure_map};
use cardscope_model::card_map::MeasuredMap;
use cardscope_model::card_map::property::PropertyStatus;
use cardscope_probing::write_scope::WriteScope;
use cardscope_testkit::memory_journal::MemoryJournal;
use std::sync::mpsc;
use std::time::Duration;

/// Each part alone, then all of them together.
const PARTS: [&[MapPart]; 12] = [
    &[MapPart::Boundaries],
    &[MapPart::ReadCurve],
    &[MapPart::Planes],
    &[MapPart::Queue],
    &[MapPart::Axis],
    &[MapPart::PageWrites],
    &[MapPart::OpenBlocks],
    &[MapPart::Fat],
    &[MapPart::Span],
    &[MapPart::WriteCurve],
    &[MapPart::Cache],
    &[],
];

/// Exceeds the real time of every part, so that only an endless loop fails the test.
const REAL_TIME: Duration = Duration::from_secs(120);

/// Results of a map and its duration on the card's clock.
struct EndedMap {
    found: MeasuredMap,
    seconds: f64,
}

/// Maps a card with the tables in a thread, so that an endless map fails the test.
fn map_in_thread(
    name: &str,
    only: &'static [MapPart],
    keep: bool,
    change: impl Fn(&mut MapOptions) + Send + 'static,
) -> EndedMap {
    let (sender, receiver) = mpsc::channel();
    let card = name.to_owned();
    std::thread::spawn(move || {
        let mut target = target(&card);
        let mut options = MapOptions { fat: true, flashbench_tables: true, ..options(&target, 5, only) };
        options.max_cache_bytes = 64 << 20;
        change(&mut options);
        let (mut memory, mut found) = (MemoryJournal::default(), MeasuredMap::default());
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 4096, 1).unwrap();
        let began = card.seconds();
        let scope = if keep { WriteScope::new(Some(&mut memory)) } else { WriteScope::new(None) };
        let result = measure_map(&mut card, scope, &options, &mut Silent, &mut found);
        let seconds = card.seconds() - began;
        sender.send((result, EndedMap { found, seconds })).unwrap();
    });
    let reported = receiver.recv_timeout(REAL_TIME);
    let (result, ended) = reported.unwrap_or_else(|e| panic!("{name} {only:?}, kept {keep}: {e}"));
    assert!(result.is_ok(), "{name} {only:?}, kept {keep}: {result:?}");
    ended
}

#[test]
fn every_part_ends_soon_on_a_card_that_fails_everything() {
    for fault in ["write_error_p=1", "read_error_p=1", "read_error_p=1&faults.write_error_p=1"] {
        for only in PARTS {
            // After this many I/Os the card vanishes, which ends the map with an error. If one direction works, the
            // tables and the boundaries alone need some 20 000 I/Os.
            let most = if fault.contains("read") && fault.contains("write") { 6000 } else { 60_000 };
            let name =
                format!("sim:constant?announced_bytes=1GiB&faults.{fault}&faults.vanish_after_ios={most}");
            for keep in [false, true] {
                let map = map_in_thread(&name, only, keep, |_| {});
                println!("{fault} {only:?}, kept {keep}: {:.1} s", map.seconds);
                assert!(map.seconds < 300.0, "{fault} {only:?}, kept {keep}: {} s", map.seconds);
            }
        }
    }
}

/// Stalls for a minute per I/O on average.
const STALLS: &str = "sim:constant?announced_bytes=1GiB&noise.hiccup_p=1&noise.hiccup_s=60";

#[test]
fn time_budget_holds_on_a_stalling_card() {
    for only in PARTS {
        for keep in [false, true] {
            let map = map_in_thread(STALLS, only, keep, |o| o.limits.budget = Some(Duration::from_secs(300)));
            println!("{only:?}, kept {keep}: {:.1} s", map.seconds);
            assert!(map.seconds < 300.0 + 600.0, "{only:?}, kept {keep}: {} s", map.seconds);
        }
    }
}

#[test]
fn parts_end_without_results_on_a_stalling_card() {
    // One part may take an hour, all together six times that.
    for only in PARTS {
        let map = map_in_thread(STALLS, only, false, |o| o.flashbench_tables = false);
        println!("{only:?}: {:.1} s", map.seconds);
        let most = if only.is_empty() { 9.0 } else { 1.5 } * 3600.0;
        assert!(map.seconds < most, "{only:?}: {} s", map.seconds);
        let m = &map.found;
        for status in [m.read_unit_bytes.status, m.plane_bytes.status, m.unmapped_share.status] {
            assert_eq!(status, PropertyStatus::NotTested, "{only:?}");
        }
    }
}

#[test]
fn failing_writes_leave_open_blocks_and_span_untested() {
    let name = "sim:constant?announced_bytes=1GiB&faults.write_error_p=1";
    let m =
        map_card(name, 3, Some(4 << 20), &[MapPart::OpenBlocks, MapPart::Span, MapPart::Queue], |_| {}).found;
    for property in [&m.open_blocks.linear, &m.open_blocks.random] {
        assert_eq!(property.status, PropertyStatus::NotTested, "{property:?}");
        assert!(property.reason.as_ref().unwrap().contains("too few writes succeeded"), "{property:?}");
    }
    let reasons = [m.merge.reason, m.copy_mb_s.reason, m.random_write_span_bytes.reason];
    for reason in reasons.map(Option::unwrap) {
        assert!(reason.contains("succeeded"), "{reason}");
    }
    assert!(m.write_queue_gain.reason.unwrap().contains("too few writes"));
}

#[test]
fn writes_failing_midway_do_not_change_the_limit() {
    for mib in [1, 2, 4, 6, 8, 10, 12, 16] {
        let name = format!(
            "sim:lexar-16g-c10?announced_bytes=2GiB&faults.write_error_p=1&faults.begin_after_bytes={}",
            mib << 20
        );
        let open = map_card(&name, 3, Some(4 << 20), &[MapPart::OpenBlocks], |_| {}).found.open_blocks;
        for property in [&open.linear, &open.random] {
            assert!(property.status != PropertyStatus::None, "{mib} MiB: {property:?}");
            assert!(property.value.is_none_or(|n| n == 5), "{mib} MiB: {property:?}");
            assert!(property.bound.is_none_or(|n| (2..=5).contains(&n)), "{mib} MiB: {property:?}");
        }
    }
}

#[test]
fn halting_queue_is_reported_despite_the_time_limit() {
    // The reads take 6 s, a slice that nearly halts another 6 to 9 s.
    for seconds in [16, 17, 20] {
        let map = map_card("sim:evoplus-32g-u1-fakeq", 3, None, &[MapPart::Queue], |o| {
            o.limits.budget = Some(Duration::from_secs(seconds));
        });
        let gain = &map.found.write_queue_gain;
        assert!(gain.value.is_some_and(|gain| gain < 0.2), "{seconds} s: {gain:?}");
        assert!(map.found.findings.iter().any(|f| f.claim == "fake-queue"), "{seconds} s: {gain:?}");
        assert!(gain.evidence.numbers.iter().all(|n| n.value.is_finite()), "{seconds} s: {gain:?}");
    }
}
