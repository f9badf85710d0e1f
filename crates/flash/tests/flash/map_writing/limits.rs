//! Cost of a map, preservation of data, and the effect of limits.

use super::common::{checksum_card, map_card, options, target};
use cardscope_engine::event::Silent;
use cardscope_engine::interrupt::InterruptFlag;
use cardscope_engine::io_driver::IoDriver;
use cardscope_engine::journal::JournalWriter;
use cardscope_engine::target::TargetRegion;
use cardscope_flash::probe::discard::time_small_writes;
use cardscope_flash::probe::{MapOptions, MapPart, measure_map};
use cardscope_journal::restoring::restore_from_journal;
use cardscope_model::card_map::property::PropertyStatus;
use cardscope_model::card_map::{MeasuredMap, SizePoint};
use cardscope_probing::context::ProbeContext;
use cardscope_probing::write_scope::WriteScope;
use cardscope_testkit::memory_journal::MemoryJournal;

#[test]
fn map_of_a_class_10_card_takes_under_five_minutes() {
    let mut target = target("sim:lexar-16g-c10");
    let mut options = options(&target, 8, &[]);
    options.max_cache_bytes = 64 << 20;
    let mut memory = MemoryJournal::default();
    let mut found = MeasuredMap::default();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 4096, 1).unwrap();
    let began = card.seconds();
    measure_map(&mut card, WriteScope::new(Some(&mut memory)), &options, &mut Silent, &mut found).unwrap();
    let (written, mapped) = (card.tally().written, card.seconds() - began);
    drop(card);
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 1 << 20, 4).unwrap();
    let put_back_from = card.seconds();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap();
    let seconds = mapped + card.seconds() - put_back_from;
    println!("{:.1} MB, {mapped:.1} s, with putting back {seconds:.1} s", written as f64 / 1e6);
    // The default options; --fat adds the first 16 MiB and three more ranges. Reading twice before each write is a
    // quarter of the time, mostly for the jumps between the reads.
    assert!(seconds < 300.0, "{mapped} s, {seconds} s");
    // docs/reference/reports.md#lexar-review: 5/5 open blocks, sequential writes at 11 to 12 MB/s, random ones of 4
    // KiB at 1.2 and of 16 KiB at 4.54.
    assert_eq!((found.open_blocks.linear.value, found.open_blocks.random.value), (Some(5), Some(5)));
    let curves = &found.curves;
    let at = |curve: &[SizePoint], bytes: u64| curve.iter().find(|p| p.bytes == bytes).unwrap().mb_s;
    println!("{:#?}", curves.random_write.iter().map(|p| (p.bytes, p.mb_s, p.ios)).collect::<Vec<_>>());
    println!("{:#?}", curves.sequential_write.iter().map(|p| (p.bytes, p.mb_s, p.ios)).collect::<Vec<_>>());
    assert_eq!(curves.random_write_blocks, Some(5));
    for (bytes, mb_s) in [(4 << 10, 1.20), (16 << 10, 4.54), (64 << 10, 8.78)] {
        let said = at(&curves.random_write, bytes);
        assert!((said / mb_s - 1.0).abs() < 0.35, "{bytes}: {said}, published {mb_s}");
    }
    let (large, half) = (at(&curves.sequential_write, 4 << 20), at(&curves.sequential_write, 2 << 20));
    assert!(large > 0.9 * half && large > 9.0, "4 MiB {large}, 2 MiB {half}");
    let axis = found.axis.unwrap();
    let places = axis.cells.iter().filter(|c| c.write_mb_s.is_some()).count();
    let write = axis.write.unwrap();
    assert!(places >= 14 && write.min_mb_s > 8.0 && write.max_mb_s < 15.0, "{places} {write:?}");
}

#[test]
fn fat_option_adds_little_time() {
    let mut target = target("sim:lexar-16g-c10");
    let options = MapOptions { max_cache_bytes: 64 << 20, fat: true, ..options(&target, 8, &[]) };
    let mut memory = MemoryJournal::default();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 4096, 1).unwrap();
    let began = card.seconds();
    measure_map(
        &mut card,
        WriteScope::new(Some(&mut memory)),
        &options,
        &mut Silent,
        &mut MeasuredMap::default(),
    )
    .unwrap();
    let mapped = card.seconds() - began;
    drop(card);
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 1 << 20, 4).unwrap();
    let put_back_from = card.seconds();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap();
    let seconds = mapped + card.seconds() - put_back_from;
    println!("with --fat: {mapped:.1} s, with putting back {seconds:.1} s");
    assert!(mapped < 270.0 && seconds < 360.0, "{mapped} s, {seconds} s");
}

#[test]
fn card_start_is_written_only_with_fat() {
    const START: u64 = 16 << 20;
    for (name, fat) in [("sim:wb6-hard3", false), ("sim:wb6-hard3", true), ("sim:sdsc-2g", false)] {
        let mut target = target(name);
        let mut options = options(&target, 3, &[]);
        options.max_cache_bytes = 16 << 20;
        options.fat = fat;
        let mut memory = MemoryJournal::default();
        let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 4096, 1).unwrap();
        measure_map(
            &mut card,
            WriteScope::new(Some(&mut memory)),
            &options,
            &mut Silent,
            &mut MeasuredMap::default(),
        )
        .unwrap();
        let mut nobody = Silent;
        let mut context =
            ProbeContext::new(&mut card, WriteScope::new(Some(&mut memory)), &options.limits, &mut nobody);
        time_small_writes(&mut context, "as it was").unwrap();
        // Every written range was saved before.
        drop(context);
        let saved = memory.saved_ranges();
        assert!(!saved.is_empty());
        assert_eq!(saved.iter().any(|kept| kept.offset < START), fat, "{name}, --fat {fat}");
    }
}

#[test]
fn limits_are_kept_and_named_as_reason() {
    let map = map_card("sim:lexar-16g-c10", 9, Some(4 << 20), &[], |o| {
        o.limits.max_write = Some(3_000_000);
    });
    assert!(map.tally.written <= 3_000_000);
    let said = map.found.write_queue_gain.reason.unwrap();
    assert!(said.contains("limit"), "{said}");
    let map = map_card("sim:lexar-16g-c10", 9, Some(4 << 20), &[], |o| {
        o.limits.budget = Some(std::time::Duration::from_secs(20));
    });
    assert!(map.seconds < 60.0, "{} s", map.seconds);
    assert_eq!(map.found.slc_cache_bytes.status, PropertyStatus::NotTested);
}
#[test]
fn journaled_map_restores_data_and_stays_in_its_region() {
    let name = "sim:lexar-16g-c10?announced_bytes=768MiB&state=filled";
    let mut target = target(name);
    let before = checksum_card(&mut target);
    let mut options = options(&target, 10, &[]);
    let region = TargetRegion { start: 100 << 20, len: 500 << 20 };
    options.limits.region = region;
    options.max_cache_bytes = 96 << 20;
    options.flashbench_tables = true;
    let mut memory = MemoryJournal::default();
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 4096, 1).unwrap();
    let mut found = MeasuredMap::default();
    measure_map(&mut card, WriteScope::new(Some(&mut memory)), &options, &mut Silent, &mut found).unwrap();
    assert!(card.tally().written > 10_000_000);
    drop(card);
    let mapped = checksum_card(&mut target);
    let touched: Vec<usize> = (0..before.len()).filter(|i| mapped[*i] != before[*i]).collect();
    assert!(!touched.is_empty() && touched.iter().all(|mib| (100..600).contains(mib)), "{touched:?}");
    let mut card = IoDriver::new(&mut target, &InterruptFlag::default(), 1 << 20, 4).unwrap();
    restore_from_journal(&mut card, &mut memory, &mut Silent).unwrap();
    drop(card);
    assert!(checksum_card(&mut target) == before, "the card is not as it was");
}

#[test]
fn erase_block_and_fat_region_are_not_tested_in_a_file() {
    let map = map_card("sim:lexar-16g-c10", 11, None, &[MapPart::OpenBlocks, MapPart::Fat], |o| {
        o.card_addresses = false;
        o.fat = true;
        o.limits.region = TargetRegion { start: 1 << 30, len: 1 << 30 };
    });
    for reason in [map.found.erase_block_bytes.reason, map.found.fat_region_bytes.reason] {
        assert!(reason.is_some_and(|r| r.contains("file")));
    }
    assert_eq!(map.found.open_blocks.linear.value, Some(5));
}
