//! Flash geometry from the flashbench logs of real cards, compared with what a person reads in them
//! (docs/reference/flash.md#erase-blocks).

use cardscope_model::card_map::FlashGeometry;
use cardscope_model::card_map::property::{Property, PropertyStatus};
use cardscope_model::flashbench::{AlignRow, FlashbenchTables, OpenAu};
use cardscope_model::random::SeededRandom;
use cardscope_model::units::parse_size;
use cardscope_statistics::flashbench::geometry_from_tables;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Public logs, if they are on this machine.
fn logs() -> Option<Vec<PathBuf>> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("CARDSCOPE_DATA").map_or(here, PathBuf::from);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(data.join("flashbench")).ok()?.filter_map(|f| Some(f.ok()?.path())).collect();
    files.sort();
    (!files.is_empty()).then_some(files)
}

/// Parses flashbench's `1.48ms`, `373µs`, `-13700n` into µs. Numbers are cut to seven bytes and may lose their unit.
fn micros(text: &str) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit() && c != '.');
    let unit = match &text[digits.len()..] {
        "ns" | "n" => 1e-3,
        "ms" | "m" => 1e3,
        "s" => 1e6,
        "" => return None,
        _ => 1.0,
    };
    Some(digits.parse::<f64>().ok()? * unit)
}

/// Tables of `-a` and `-O` in a log.
fn tables(log: &[u8]) -> FlashbenchTables {
    let text = String::from_utf8_lossy(log);
    let mut tables = FlashbenchTables::default();
    let mut heading = None;
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["align", unit, _, pre, _, on, _, post, _, diff] => {
                let [pre_us, on_us, post_us, diff_us] = [pre, on, post, diff].map(micros);
                let align_bytes = unit.parse().unwrap();
                tables.align.push(AlignRow { align_bytes, pre_us, on_us, post_us, diff_us, test: 1 });
            }
            [.., count, order, "access"] | [.., count, order, "access", "======="]
                if count.starts_with("AU=") =>
            {
                let count = count.trim_start_matches("AU=").trim_end_matches(',');
                heading = Some((count.parse().unwrap(), order == "random"));
            }
            [block, speed] if speed.ends_with("/s") => {
                let Some(((count, random), block_bytes)) = heading.zip(parse_size(block).ok()) else {
                    continue;
                };
                let thousand = if speed.ends_with("K/s") { 1e-3 } else { 1.0 };
                let mb_s = thousand * speed.trim_end_matches(['K', 'M', '/', 's']).parse::<f64>().unwrap();
                let au_count = Some(count);
                tables.open_au.push(OpenAu {
                    au_count,
                    random,
                    au_bytes: 4 << 20,
                    block_bytes,
                    mb_s,
                    test: 1,
                });
            }
            _ => {}
        }
    }
    tables
}

/// Geometry of each log with tables of `-a`.
fn shown() -> Option<BTreeMap<String, FlashGeometry>> {
    let read = read(|tables| !tables.align.is_empty());
    if read.is_none() {
        println!("no logs of real cards here (CARDSCOPE_DATA): nothing to compare with");
    }
    read
}

/// Geometry of each log whose tables match.
fn read(wanted: impl Fn(&FlashbenchTables) -> bool) -> Option<BTreeMap<String, FlashGeometry>> {
    let name = |p: &PathBuf| p.file_stem().unwrap().to_string_lossy().replace("result_", "");
    let read = |path: &PathBuf| {
        let tables = tables(&std::fs::read(path).unwrap());
        wanted(&tables).then(|| (name(path), geometry_from_tables(&tables)))
    };
    Some(logs()?.iter().filter_map(read).collect())
}

/// Log, page in KiB and erase block in MiB. 0 if the column of differences shows none or is ambiguous
/// (`docs/accuracy.md`). The table was made from the fit and then checked against the columns, so it is a regression test
/// and no blind reading: from the bottom, the first line from which differences stay clearly higher is the page, the second
/// the erase block. Ambiguous logs: 1 and 4 rise at 4 MiB and as much again at 8 MiB (0), 20_2 climbs slowly from 31 to
/// 124 µs (perhaps a page of 8 KiB and an erase block of 1 or 2 MiB), 29_1 and 29_3 are 20 µs higher at 4 and 8 MiB only
/// and lower again from 16 MiB on (0).
const CHECKED: [(&str, u64, u64); 31] = [
    ("1", 0, 0),
    ("1_2", 0, 4),
    ("10", 16, 4),
    ("11", 16, 4),
    ("13", 16, 4),
    ("13_2", 16, 4),
    ("15", 16, 4),
    ("15_2", 16, 4),
    ("16_2", 8, 0),
    ("18_2", 16, 4),
    ("19", 16, 4),
    ("19_2", 16, 4),
    ("2", 16, 4),
    ("2_2", 16, 4),
    ("20_2", 0, 1),
    ("21", 16, 4),
    ("27", 0, 4),
    ("28", 16, 4),
    ("29_1", 16, 0),
    ("29_3", 16, 0),
    ("3", 16, 4),
    ("3_2", 16, 4),
    ("3_4", 16, 4),
    ("30_2", 16, 4),
    ("4", 0, 0),
    ("5", 16, 4),
    ("5_2", 16, 4),
    ("6", 16, 4),
    ("6_2", 16, 4),
    ("8", 8, 0),
    ("9", 0, 4),
];

#[test]
fn logs_give_the_checked_geometry() {
    let Some(shown) = shown() else { return };
    assert_eq!(shown.len(), CHECKED.len(), "logs with a table of -a");
    for (name, page, unit) in CHECKED {
        let found = &shown[name];
        let size = |property: &Property<u64>| property.value.unwrap_or(0);
        let pair = (size(&found.page_bytes) >> 10, size(&found.erase_block_bytes) >> 20);
        assert_eq!(pair, (page, unit), "{name}: {found:?}");
    }
}

#[test]
fn typical_geometry_of_the_logs() {
    let Some(shown) = shown() else { return };
    let count = |of: &dyn Fn(&FlashGeometry) -> Option<u64>, bytes: u64| {
        shown.values().filter(|s| of(s).is_some_and(|found| found == bytes)).count()
    };
    // Of all 46 runs, of which 31 are here: 4 MiB in 35 of 39 with a result, 16 KiB in 27 of 33.
    let unit = count(&|s| s.erase_block_bytes.value, 4 << 20);
    let page = count(&|s| s.page_bytes.value, 16 << 10);
    assert!(unit >= 24 && page >= 23, "{unit} of 4 MiB, {page} of 16 KiB");
}

#[test]
fn logs_of_one_card_agree() {
    let Some(shown) = shown() else { return };
    for (one, other) in
        [("13", "13_2"), ("15", "15_2"), ("19", "19_2"), ("2", "2_2"), ("5", "5_2"), ("6", "6_2")]
    {
        let pair = |s: &FlashGeometry| (s.page_bytes.value, s.erase_block_bytes.value);
        assert_eq!(pair(&shown[one]), pair(&shown[other]), "{one} and {other}");
    }
}

#[test]
fn two_mode_card_has_no_geometry() {
    // The SD NAND of the public logs takes 0.23 or 1.64 ms for a place, and flashbench prints means over seven places.
    let mut random = SeededRandom::from_state(32);
    let mut mean =
        || (0..7).map(|_| if random.below_usize(2) == 0 { 230.0 } else { 1640.0 }).sum::<f64>() / 7.0;
    for _ in 0..50 {
        let rows = (0..20).map(|k| {
            let (pre, on, post) = (mean(), mean(), mean());
            let [pre_us, on_us, post_us] = [pre, on, post].map(Some);
            let diff_us = Some(on - (pre + post) / 2.0);
            AlignRow { align_bytes: 2048 << k, pre_us, on_us, post_us, diff_us, test: 1 }
        });
        let shown =
            geometry_from_tables(&FlashbenchTables { align: rows.collect(), ..FlashbenchTables::default() });
        assert_eq!((shown.page_bytes.value, shown.erase_block_bytes.value), (None, None), "{shown:?}");
    }
}

/// Log, and the limits of open blocks for sequential and random writes. 0 if there is none up to the largest number tested,
/// None if the tables do not show it.
const LIMITS: [(&str, Option<u32>, Option<u32>); 25] = [
    ("1", Some(4), Some(4)),
    ("10", Some(3), None),
    ("11", Some(3), Some(3)),
    ("13_2", None, Some(3)),
    ("15", Some(3), Some(0)),
    ("16_2", None, None),
    ("19", Some(0), Some(6)),
    ("1_2", Some(4), Some(4)),
    ("2", Some(0), Some(6)),
    ("21", Some(3), Some(3)),
    ("27", Some(0), Some(0)),
    ("28", None, Some(0)),
    ("29_1", Some(0), Some(0)),
    ("29_3", None, Some(0)),
    ("3", Some(0), None),
    ("30_2", None, None),
    ("3_2", Some(6), None),
    ("3_4", Some(6), None),
    ("3_5", None, Some(0)),
    ("4", Some(4), Some(4)),
    ("5_2", Some(3), Some(3)),
    ("6", Some(0), None),
    ("6_2", Some(3), Some(3)),
    ("8", Some(4), Some(2)),
    ("9", Some(4), Some(4)),
];

#[test]
fn logs_give_the_recorded_open_blocks() {
    let Some(read) = read(|tables| !tables.open_au.is_empty()) else { return };
    let limit = |property: &Property<u32>| property.value.or(property.bound.map(|_| 0));
    for (name, linear, random) in LIMITS {
        let open = &read[name].open_blocks;
        assert_eq!((limit(&open.linear), limit(&open.random)), (linear, random), "{name}: {open:?}");
    }
}

/// Tables of `-O` with blocks of 4 MiB: number of blocks, order, and speeds from 4 MiB down by halves.
fn open(rounds: &[(u32, bool, &[f64])]) -> Vec<OpenAu> {
    let rows = rounds.iter().flat_map(|(count, random, speeds)| {
        (0..).zip(*speeds).map(|(halved, mb_s)| OpenAu {
            au_count: Some(*count),
            random: *random,
            au_bytes: 4 << 20,
            block_bytes: (4 << 20) >> halved,
            mb_s: *mb_s,
            test: 1,
        })
    });
    rows.collect()
}

/// Output of a fork's `-a` in docs/reference/reports.md#lexar-review: a time in nanoseconds for each line, from 2 KiB up.
const ACROSS: [u32; 22] = [
    47_241, 650_218, 749_787, 789_915, 797_909, 802_411, 733_568, 836_088, 885_901, 716_409, 802_924,
    1_421_637, 1_382_772, 1_339_159, 1_296_054, 1_362_197, 1_335_984, 1_173_544, 1_324_035, 2_060_743,
    1_933_958, 1_714_870,
];

#[test]
fn reviewed_lexar_has_the_published_geometry() {
    let align = (0..).zip(ACROSS).map(|(k, ns)| AlignRow {
        align_bytes: 2048 << k,
        pre_us: None,
        on_us: Some(f64::from(ns) / 1e3),
        post_us: None,
        diff_us: None,
        test: 1,
    });
    let open_au = open(&[
        (5, false, &[9.42, 9.54, 12.3, 12.3, 11.7, 10.6, 9.05, 6.98, 4.85, 2.77, 1.43]),
        (6, false, &[11.7, 4.27, 1.85]),
        (6, true, &[10.1, 3.68]),
        (5, true, &[9.84, 12.7, 12.4, 12.2, 11.7, 10.7, 9.06, 6.94, 4.7, 2.63, 1.06]),
        (5, true, &[10.7, 12.2, 12.1, 12.0, 11.3, 10.2, 8.54, 6.48, 4.38, 2.47, 1.03]),
    ]);
    let found = geometry_from_tables(&FlashbenchTables {
        align: align.collect(),
        open_au,
        ..FlashbenchTables::default()
    });
    assert_eq!(found.page_bytes.value, Some(4 << 10), "{:?}", found.page_bytes);
    assert_eq!(found.erase_block_bytes.value, Some(4 << 20), "{:?}", found.erase_block_bytes);
    let open = [&found.open_blocks.linear, &found.open_blocks.random].map(|open| open.value);
    assert_eq!(open, [Some(5), Some(5)], "{:?}", found.open_blocks);
}

#[test]
fn open_blocks_need_adjacent_counts() {
    let free: &[f64] = &[9.0, 9.0, 9.0, 9.0, 8.0, 7.0];
    let dear: &[f64] = &[9.0, 4.0, 2.0, 1.0, 0.5, 0.2];
    let read = |rounds: &[(u32, bool, &[f64])]| {
        let open_au = open(rounds);
        geometry_from_tables(&FlashbenchTables { open_au, ..FlashbenchTables::default() }).open_blocks.linear
    };
    let said = |rounds: &[(u32, bool, &[f64])]| read(rounds).reason.unwrap_or_default();
    assert_eq!(read(&[(1, false, free), (2, false, free), (3, false, dear)]).value, Some(2));
    assert_eq!(read(&[(1, false, free), (2, false, free)]).bound, Some(2));
    assert!(said(&[(5, false, free), (6, false, free)]).contains("fewer than 5 blocks"));
    assert!(said(&[(2, false, free), (8, false, dear)]).contains("between 2 and 7"));
    assert!(said(&[(6, false, dear)]).contains("only 6 blocks"));
}

#[test]
fn noise_is_no_open_block_limit() {
    // Lines of the public logs repeat within 1 to 8 %, and one in thirty contains a stall.
    let mut random = SeededRandom::from_state(11);
    let mut named = 0;
    for _ in 0..200 {
        let mut line = || {
            let stall = if random.below_usize(30) == 0 { 2.0 } else { 1.0 };
            8.0 * (0.08 * random.normal()).exp() / stall
        };
        let rounds: Vec<Vec<f64>> = (0..7).map(|_| (0..11).map(|_| line()).collect()).collect();
        let rounds: Vec<_> = (1..).zip(&rounds).map(|(n, speeds)| (n, false, speeds.as_slice())).collect();
        let open_au = open(&rounds);
        let found = geometry_from_tables(&FlashbenchTables { open_au, ..FlashbenchTables::default() })
            .open_blocks
            .linear;
        named += u32::from(found.status == PropertyStatus::Measured);
    }
    assert!(named <= 2, "{named} of 200 cards without a limit have one");
}
