//! Behaviour of single cards beyond the published figures (those are in `fidelity`), and the calibration card against
//! its file.

use crate::common::{
    GIB, KIB, MIB, assert_near, direct_plan, open_card, random_4k_speed, run_ios, run_one, sequential_speed,
    slot_io,
};
use cardscope_engine::content::{ContentMatch, IoContent};
use cardscope_engine::target::{IoDirection, IoRequest, LanePlan, Target, TargetError, TargetRegion};
use cardscope_sd::registers::Ssr;
use cardscope_simulator::Archetype;
use std::time::Duration;

const EXTREME: &str = "sim:sandisk-extremepro-32g-a1";
const SANDIAN: &str = "sim:sandian-1tb-52g";

#[test]
fn bus_speed_limits_reads() {
    let freed =
        sequential_speed(&mut open_card(&format!("{EXTREME}?bus_mb_s=104")), false, MIB, 1, 0, 256 * MIB);
    assert!(freed > 90.0, "{freed:.1} MB/s");
}

#[test]
fn split_commands_slow_large_writes() {
    let native =
        sequential_speed(&mut open_card("sim:lexar-16g-c10"), true, 128 * KIB, 1, 192 * MIB, 64 * MIB);
    let cut = sequential_speed(
        &mut open_card("sim:lexar-16g-c10?split_bytes=120KiB"),
        true,
        128 * KIB,
        1,
        192 * MIB,
        64 * MIB,
    );
    assert!(native / cut > 1.1, "{native:.2} against {cut:.2} MB/s");
}

#[test]
fn calibration_card_matches_its_file() {
    // 0.5 ms and 50 MB/s: 4 KiB take 0.58192 ms, one after the other at any queue depth.
    for depth in [1, 8, 32] {
        assert_near(
            "4 KiB",
            random_4k_speed(&mut open_card("sim:constant"), false, depth, 0, GIB, 10_000),
            7.0388,
            0.01,
        );
    }
    let fast =
        sequential_speed(&mut open_card("sim:constant?mb_s=100&command_s=0"), true, MIB, 1, 0, 64 * MIB);
    assert_near("without command time", fast, 100.0, 0.01);
    let queued = random_4k_speed(&mut open_card("sim:constant?depth=8&mb_s=1000"), false, 8, 0, GIB, 100_000);
    assert_near("8 at a time", queued, 8.0 * 4096e-6 / (0.0005 + 4.096e-6), 0.1);
}

fn own_buffer_plan(depth: u32, block: u64) -> LanePlan {
    LanePlan { own_buffers: true, ..direct_plan(depth, block) }
}

/// Reads a range and compares it with `expected`.
fn compare_range(
    card: &mut cardscope_simulator::SimTarget,
    offset: u64,
    len: u64,
    expected: IoContent,
) -> ContentMatch {
    card.plan(&own_buffer_plan(1, len)).unwrap();
    let mut done = Vec::new();
    card.submit(&slot_io(0, false, offset, len)).unwrap();
    card.complete(1, &mut done).unwrap();
    done[0].result.clone().unwrap();
    card.compare(0, expected).unwrap()
}

fn write_range(card: &mut cardscope_simulator::SimTarget, offset: u64, len: u64, content: IoContent) {
    card.plan(&direct_plan(1, len)).unwrap();
    card.submit(&IoRequest { content, ..slot_io(0, true, offset, len) }).unwrap();
    card.complete(1, &mut Vec::new()).unwrap();
}

const STAMP: IoContent = IoContent::Stamp { salt: 99, generation: 3 };

#[test]
fn sandian_fake_keeps_52_gb_only() {
    let mut fake = open_card(SANDIAN);
    let usable = fake.truth().usable_bytes;
    assert_eq!(usable, 52_000_002_048);
    assert_eq!(fake.info().bytes, 1_000_000_192_512);
    for offset in [0, usable - MIB, usable, usable + GIB, 1_000_000_192_512 - MIB] {
        write_range(&mut fake, offset, MIB, STAMP);
    }
    assert_eq!(compare_range(&mut fake, 0, MIB, STAMP), ContentMatch::Same);
    assert_eq!(compare_range(&mut fake, usable - MIB, MIB, STAMP), ContentMatch::Same);
    for lost in [usable, usable + GIB, 1_000_000_192_512 - MIB] {
        assert_eq!(compare_range(&mut fake, lost, MIB, STAMP), ContentMatch::DiffersAt(0), "{lost}");
    }
    assert_eq!(compare_range(&mut fake, usable - 4096, 8192, STAMP), ContentMatch::DiffersAt(4096));
}

#[test]
fn fake_can_be_genuine_or_return_read_errors() {
    let mut honest = open_card(&format!("{SANDIAN}?fake=none"));
    write_range(&mut honest, 900 * GIB, MIB, STAMP);
    assert_eq!(compare_range(&mut honest, 900 * GIB, MIB, STAMP), ContentMatch::Same);
    let mut failing = open_card(&format!("{SANDIAN}?lost=error"));
    failing.plan(&direct_plan(1, 4096)).unwrap();
    failing.submit(&slot_io(0, false, 100 * GIB, 4096)).unwrap();
    let mut done = Vec::new();
    failing.complete(1, &mut done).unwrap();
    assert!(matches!(done[0].result, Err(TargetError::Io { errno: 5, .. })), "{:?}", done[0]);
}

#[test]
fn fake_variants_match_their_parameters() {
    for cache in [2 * MIB, 128 * MIB, 256 * MIB] {
        let mut fake = open_card(&format!("{SANDIAN}?cache_bytes={cache}"));
        write_range(&mut fake, 100 * GIB, MIB, STAMP);
        write_range(&mut fake, 100 * GIB + MIB, cache - MIB, IoContent::Noise);
        assert_eq!(
            compare_range(&mut fake, 100 * GIB, MIB, STAMP),
            ContentMatch::Same,
            "{cache} bytes hold it"
        );
        write_range(&mut fake, 100 * GIB + cache, MIB, IoContent::Noise);
        assert_eq!(
            compare_range(&mut fake, 100 * GIB, MIB, STAMP),
            ContentMatch::DiffersAt(0),
            "one MiB more does not"
        );
    }
    for (kind, period) in
        [("fake=wraparound&wrap_bytes=64GiB", 64 * GIB), ("fake=chain&wrap_bytes=64GiB", 64 * GIB)]
    {
        let mut fake = open_card(&format!("{SANDIAN}?{kind}"));
        write_range(&mut fake, 3 * period + GIB, MIB, STAMP);
        assert_eq!(compare_range(&mut fake, 3 * period + GIB, MIB, STAMP), ContentMatch::Same, "{kind}");
        write_range(&mut fake, GIB, MIB, IoContent::Constant(1));
        assert_eq!(
            compare_range(&mut fake, 3 * period + GIB, MIB, IoContent::Constant(1)),
            ContentMatch::Same,
            "{kind}: one place"
        );
    }
    let mut chain = open_card(&format!("{SANDIAN}?fake=chain&wrap_bytes=64GiB"));
    write_range(&mut chain, 64 * GIB + 60 * GIB, MIB, STAMP);
    assert_eq!(
        compare_range(&mut chain, 124 * GIB, MIB, STAMP),
        ContentMatch::DiffersAt(0),
        "60 GiB of the period are not there"
    );
}

#[test]
fn registers_state_the_marks_of_the_labels() {
    let ssr = |name: &str| {
        let sd = Archetype::load(name).unwrap().identity.sd.unwrap();
        Ssr::from_hex(&sd.ssr).unwrap()
    };
    for (name, class, uhs, video, app) in [
        ("sdsc-2g", 0, 0, 0, 0),
        ("oem-8g-bad4k", 4, 0, 0, 0),
        ("noobs-8g-c6", 6, 0, 0, 0),
        ("samsung-32g-c10", 10, 0, 0, 0),
        ("sandisk-ultra-16g-u1", 10, 1, 0, 0),
        ("evo-64g-u3", 10, 3, 0, 0),
        ("sandisk-extremepro-32g-a1", 10, 3, 30, 1),
        ("proplus-128g-a2", 10, 3, 30, 2),
        ("a2-label-only", 10, 3, 30, 2),
    ] {
        let marks = ssr(name);
        let found = (marks.speed_class, marks.uhs_speed_grade, marks.video_speed_class, marks.app_perf_class);
        assert_eq!(found, (Some(class), uhs, video, app), "{name}");
        assert_eq!(marks.dat_bus_width, Some(4), "{name}");
    }
}

#[test]
fn written_bytes_are_read_back() {
    let mut lexar = open_card("sim:lexar-16g-c10");
    lexar.plan(&own_buffer_plan(2, 8192)).unwrap();
    let text: Vec<u8> = (0..8192).map(|i| (i % 251) as u8).collect();
    lexar.buffer(0).unwrap().copy_from_slice(&text);
    lexar.submit(&IoRequest { content: IoContent::Buffer, ..slot_io(0, true, 4096, 8192) }).unwrap();
    lexar.submit(&slot_io(1, false, 4096, 8192)).unwrap();
    let mut done = Vec::new();
    lexar.complete(2, &mut done).unwrap();
    assert_eq!(done.len(), 2);
    assert_eq!(lexar.buffer(1).unwrap(), text);
    assert_eq!(lexar.compare(1, IoContent::Constant(0)).unwrap(), ContentMatch::DiffersAt(1));
    // A later write must not change an earlier read.
    lexar.submit(&IoRequest { content: IoContent::Constant(7), ..slot_io(0, true, 4096, 8192) }).unwrap();
    lexar.complete(1, &mut done).unwrap();
    assert_eq!(lexar.buffer(1).unwrap(), text);
}

#[test]
fn read_slot_can_be_written_without_compare() {
    let mut lexar = open_card("sim:lexar-16g-c10");
    write_range(&mut lexar, 0, 8192, STAMP);
    lexar.plan(&own_buffer_plan(1, 8192)).unwrap();
    let mut done = Vec::new();
    lexar.submit(&slot_io(0, false, 0, 8192)).unwrap();
    lexar.complete(1, &mut done).unwrap();
    lexar.submit(&IoRequest { content: IoContent::Buffer, ..slot_io(0, true, GIB, 8192) }).unwrap();
    lexar.complete(1, &mut done).unwrap();
    assert!(
        matches!(compare_range(&mut lexar, GIB, 8192, STAMP), ContentMatch::DiffersAt(_)),
        "the stamps name another place"
    );
    let copied = lexar.buffer(0).unwrap().to_vec();
    assert_eq!(compare_range(&mut lexar, 0, 8192, STAMP), ContentMatch::Same);
    assert_eq!(lexar.buffer(0).unwrap(), copied);
}

#[test]
fn noise_reads_same_incompressible_bytes() {
    let mut lexar = open_card("sim:lexar-16g-c10");
    write_range(&mut lexar, 0, MIB, IoContent::Noise);
    assert_eq!(compare_range(&mut lexar, 8192, 4096, IoContent::Noise), ContentMatch::Same);
    let first = lexar.buffer(0).unwrap().to_vec();
    compare_range(&mut lexar, 8192, 4096, IoContent::Noise);
    assert_eq!(lexar.buffer(0).unwrap(), first);
    let mut seen = [false; 256];
    first.iter().for_each(|b| seen[*b as usize] = true);
    assert!(seen.iter().filter(|s| **s).count() > 250, "4096 random bytes show nearly all values");
}

#[test]
fn invalid_io_fails_at_completion() {
    let mut lexar = open_card("sim:lexar-16g-c10");
    let end = lexar.info().bytes;
    lexar.plan(&direct_plan(4, 4096)).unwrap();
    for (slot, offset, len) in [(0, end - 512, 4096), (1, 100, 512), (2, 0, 100), (3, u64::MAX - 511, 512)] {
        lexar
            .submit(&IoRequest { slot, direction: IoDirection::Read, offset, len, content: IoContent::Noise })
            .unwrap();
    }
    let mut done = Vec::new();
    lexar.complete(4, &mut done).unwrap();
    assert!(done.iter().all(|d| matches!(d.result, Err(TargetError::Io { .. }))), "{done:?}");
    assert!(lexar.buffer(0).is_err(), "no memory was planned");
}

#[test]
fn test_area_is_at_192_mib_or_at_start() {
    let mut lexar = open_card("sim:lexar-16g-c10");
    assert_eq!(lexar.area(GIB).unwrap(), TargetRegion { start: 192 * MIB, len: GIB });
    let bytes = lexar.info().bytes;
    assert_eq!(lexar.area(bytes).unwrap().start, 0);
    assert!(matches!(lexar.area(bytes + 512), Err(TargetError::NoSpace { .. })));
}

#[test]
fn express_card_warms_up_and_cools_down() {
    let mut express = open_card("sim:lexar-1tb-express?cooling=passive");
    assert_eq!(express.temperature(), Some(20.0), "published: 20 °C idle");
    sequential_speed(&mut express, false, 32 * MIB, 32, 0, 400 * GIB);
    let hot = express.temperature().unwrap();
    assert!((60.0..=84.0).contains(&hot), "{hot} °C");
    express.idle(Duration::from_secs(3600));
    assert_eq!(express.temperature(), Some(20.0));
    let mut cold = open_card("sim:lexar-1tb-express?cooling=passive&heat=off");
    sequential_speed(&mut cold, false, 32 * MIB, 32, 0, 400 * GIB);
    assert_eq!(cold.temperature(), Some(17.0), "as warm as the room");
    assert_eq!(open_card("sim:lexar-16g-c10").temperature(), None, "an SD card does not tell");
}

#[test]
fn express_cache_refills_after_rest_or_discard() {
    let speed = |express: &mut cardscope_simulator::SimTarget| {
        sequential_speed(express, true, 32 * MIB, 32, 0, 4 * GIB)
    };
    let used_up = || {
        let mut express = open_card("sim:lexar-1tb-express");
        sequential_speed(&mut express, true, 32 * MIB, 32, 0, 128 * GIB);
        express
    };
    let mut tired = used_up();
    assert!(speed(&mut tired) < 310.0);
    tired.idle(Duration::from_secs(30));
    assert!(speed(&mut tired) < 310.0, "30 s are not enough");
    tired.idle(Duration::from_secs(1800));
    assert!(speed(&mut tired) > 600.0, "half an hour is");
    let mut trimmed = used_up();
    trimmed.discard(TargetRegion { start: 0, len: 128 * GIB }).unwrap();
    assert!(speed(&mut trimmed) > 600.0);
    assert_eq!(compare_range(&mut trimmed, 8 * GIB, MIB, IoContent::Constant(0)), ContentMatch::Same);
}

#[test]
fn reopen_empties_read_buffer() {
    let mut lexar = open_card("sim:lexar-16g-c10");
    run_one(&mut lexar, false, 0, 1024);
    let again = run_one(&mut lexar, false, 2048, 1024);
    lexar.reopen().unwrap();
    let afresh = run_one(&mut lexar, false, 2048, 1024);
    assert!(afresh > 5.0 * again, "{afresh} against {again}");
}

#[test]
fn full_pass_over_terabyte_takes_little_memory() {
    let mut express = open_card("sim:lexar-1tb-express");
    let blocks = express.info().bytes / (64 * MIB);
    run_ios(&mut express, &direct_plan(4, 64 * MIB), true, (0..blocks).map(|i| i * 64 * MIB));
    assert_eq!(compare_range(&mut express, 0, 1 << 31, IoContent::Noise), ContentMatch::Same);
}
