//! The Lexar of seed 004 against every table that the seed prints. The figures are the seed's; the tolerances are
//! those of `flash-behaviour` 2.5.

#![allow(clippy::unwrap_used, reason = "a helper that fails ends its test, as an assertion does")]

mod common;
use common::{KIB, MIB, card, drive, near, one, plan, sequential};

const LEXAR: &str = "sim:lexar-16g-c10";
const AU: u64 = 4 * MIB;

#[test]
fn the_dd_sweep_of_the_seed_is_reproduced_with_the_cost_of_dds_own_source() {
    let published = [
        (4 * KIB, 2.00),
        (8 * KIB, 3.20),
        (16 * KIB, 5.80),
        (32 * KIB, 7.50),
        (64 * KIB, 8.70),
        (128 * KIB, 9.40),
        (256 * KIB, 10.40),
        (512 * KIB, 10.80),
        (2 * MIB, 11.20),
    ];
    for seed in 1..4 {
        for (block, mb_s) in published {
            let mut lexar = card(&format!("{LEXAR}?host_source_mb_s=70&seed={seed}"));
            // "At least 1GB is written".
            let found = sequential(&mut lexar, true, block, 1, 192 * MIB, 1024 * MIB);
            near(&format!("dd bs={block}"), found, mb_s, 5.0);
        }
    }
}

/// flashbench -f: the first six erase blocks written whole, one block size after the other.
fn find_fat(lexar: &mut cardscope_simulator::SimTarget, block: u64) -> Vec<f64> {
    let in_au = |au: u64| (0..AU / block).map(move |i| au * AU + i * block);
    (0..6).map(|au| AU as f64 / 1e6 / drive(lexar, &plan(1, block), true, in_au(au))).collect()
}

#[test]
fn flashbench_find_fat_gives_the_columns_of_the_seed() {
    // Columns 2 to 6 of the seed, averaged.
    let published = [
        (MIB, 12.8),
        (512 * KIB, 12.8),
        (256 * KIB, 12.35),
        (128 * KIB, 11.6),
        (64 * KIB, 10.4),
        (32 * KIB, 8.45),
        (16 * KIB, 6.25),
        (8 * KIB, 3.62),
        (4 * KIB, 1.92),
    ];
    // Five cards of other seeds, averaged: a column is one erase block, at 1 MiB that is four writes.
    let mut cards: Vec<_> = (1..=5).map(|seed| card(&format!("{LEXAR}?seed={seed}"))).collect();
    for lexar in &mut cards {
        find_fat(lexar, 4 * MIB);
        find_fat(lexar, 2 * MIB);
    }
    for (block, mb_s) in published {
        let tables: Vec<Vec<f64>> = cards.iter_mut().map(|lexar| find_fat(lexar, block)).collect();
        let mean = tables.iter().flat_map(|t| &t[1..]).sum::<f64>() / 25.0;
        near(&format!("-f {block}, columns 2-6"), mean, mb_s, 5.0);
        let first = tables.iter().map(|t| t[0]).sum::<f64>() / 5.0 / mean;
        println!("first column × {first:.3}");
        // 0.77 to 0.94 in the reference; the seed's own 4 KiB line gives 1.47 / 1.92 = 0.766.
        assert!((0.76..=0.94).contains(&first), "-f {block}: first column × {first:.3}");
    }
}

/// Places of a block size within an erase block, in order or shuffled (a multiplicative walk over a power of two).
fn positions(count: u64, random: bool) -> Vec<u64> {
    (0..count).map(|i| if random { (i * 5 + 3) % count } else { i }).collect()
}

/// flashbench -O: each position written in each of `n` erase blocks that lie 12 of them apart; MB/s.
fn open_au(lexar: &mut cardscope_simulator::SimTarget, n: u64, block: u64, random: bool) -> f64 {
    let order = positions(AU / block, random);
    let places: Vec<u64> = order
        .iter()
        .flat_map(|p| (0..n).map(move |i| 16 * MIB + (i * 7 % n) * 12 * AU + p * block))
        .collect();
    (n * AU) as f64 / 1e6 / drive(lexar, &plan(1, block), true, places)
}

#[test]
fn five_open_blocks_in_turn_go_as_fast_as_in_the_seed() {
    let published = [
        (512 * KIB, 12.3),
        (256 * KIB, 11.7),
        (128 * KIB, 10.6),
        (64 * KIB, 9.05),
        (32 * KIB, 6.98),
        (16 * KIB, 4.85),
        (8 * KIB, 2.77),
        (4 * KIB, 1.43),
    ];
    let mut lexar = card(LEXAR);
    for block in [4 * MIB, 2 * MIB, MIB] {
        open_au(&mut lexar, 5, block, false);
    }
    for (block, mb_s) in published {
        near(&format!("-O 5, {block}"), open_au(&mut lexar, 5, block, false), mb_s, 8.0);
    }
}

#[test]
fn the_sixth_open_block_makes_writes_collapse_as_in_the_seed() {
    let mut lexar = card(LEXAR);
    assert!(open_au(&mut lexar, 6, 4 * MIB, false) > 9.0, "whole erase blocks need no copying");
    near("-O 6, 2 MiB", open_au(&mut lexar, 6, 2 * MIB, false), 4.27, 30.0);
    near("-O 6, 1 MiB", open_au(&mut lexar, 6, MIB, false), 1.85, 30.0);
    // 0.10 MB/s is what flash-behaviour 2.5 predicts; the seed's author had stopped by then.
    near("-O 6, 64 KiB", open_au(&mut lexar, 6, 64 * KIB, false), 0.10, 10.0);
}

#[test]
fn five_open_blocks_out_of_order_are_no_collapse_either() {
    let mut lexar = card(LEXAR);
    for (block, mb_s) in [(512 * KIB, 12.2), (64 * KIB, 9.0), (16 * KIB, 4.6)] {
        near(&format!("-O 5 --random, {block}"), open_au(&mut lexar, 5, block, true), mb_s, 15.0);
    }
    // Three tables of the seed: 1.06, 1.03, 1.22.
    let found = open_au(&mut lexar, 5, 4 * KIB, true);
    assert!((1.03 * 0.8..1.22 * 1.2).contains(&found), "4 KiB random over 5 blocks: {found:.2} MB/s");
}

/// flashbench -a -c 32 -b 1024 as reading (a) has it: the straddling read, the least of 32, the mean over places.
fn align(lexar: &mut cardscope_simulator::SimTarget, align: u64) -> f64 {
    let size = 16_012_804_096u64;
    let places: Vec<u64> = (0..7).map(|i| align + i * 4 * (MIB << 10)).filter(|p| p + 1024 < size).collect();
    let mut least = vec![f64::INFINITY; places.len()];
    for _ in 0..32 {
        for (place, least) in places.iter().zip(&mut least) {
            one(lexar, false, place - 1024, 1024);
            *least = least.min(one(lexar, false, place - 512, 1024));
            one(lexar, false, *place, 1024);
        }
    }
    least.iter().sum::<f64>() / places.len() as f64 * 1e3
}

#[test]
fn flashbench_align_shows_the_levels_of_the_seed() {
    // (boundary, ms in the seed, tolerance): two lines are noise of the original, as the reference says.
    let published = [
        (4096 * MIB, 1.714870, 12.0),
        (2048 * MIB, 1.933958, 12.0),
        (1024 * MIB, 2.060743, 12.0),
        (512 * MIB, 1.324035, 12.0),
        (256 * MIB, 1.173544, 13.5),
        (128 * MIB, 1.335984, 12.0),
        (64 * MIB, 1.362197, 12.0),
        (32 * MIB, 1.296054, 12.0),
        (16 * MIB, 1.339159, 12.0),
        (8 * MIB, 1.382772, 12.0),
        (4 * MIB, 1.421637, 12.0),
        (2 * MIB, 0.802924, 12.0),
        (MIB, 0.716409, 12.0),
        (512 * KIB, 0.885901, 14.5),
        (256 * KIB, 0.836088, 12.0),
        (128 * KIB, 0.733568, 12.0),
        (64 * KIB, 0.802411, 12.0),
        (32 * KIB, 0.797909, 12.0),
        (16 * KIB, 0.789915, 12.0),
        (8 * KIB, 0.749787, 12.0),
        (4 * KIB, 0.650218, 12.0),
        (2 * KIB, 0.047241, 12.0),
    ];
    let mut lexar = card(LEXAR);
    let mut found = Vec::new();
    for (boundary, ms, percent) in published {
        let level = align(&mut lexar, boundary);
        near(&format!("-a {boundary}"), level, ms, percent);
        found.push(level);
    }
    let least = |lines: &[f64]| lines.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |lines: &[f64]| lines.iter().copied().fold(0.0, f64::max);
    assert!(least(&found[..3]) > most(&found[3..11]), "map segment above erase block");
    assert!(least(&found[3..11]) > most(&found[11..19]), "erase block above page");
    assert!(least(&found[11..19]) > most(&found[19..21]), "page above read unit");
    assert!(least(&found[19..21]) > found[21], "read unit above what is in the buffer");
}

#[test]
fn reading_in_order_reaches_the_seeds_speed() {
    near("sequential read", sequential(&mut card(LEXAR), false, MIB, 1, 0, 256 * MIB), 20.40, 3.0);
}

#[test]
fn hdparm_and_dd_through_the_page_cache_find_the_cards_own_speeds() {
    use cardscope_engine::target::{Plan, Target};
    use cardscope_model::recipe::Path;
    let mut lexar = card(LEXAR);
    let buffered = Plan { path: Path::Buffered, ..plan(1, 2 * MIB) };
    let seconds = drive(&mut lexar, &buffered, false, (0..32).map(|i| i * 2 * MIB));
    near("hdparm -t", 64.0 * 1.048576 / seconds, 20.40, 5.0);
    // dd bs=8k conv=fsync: gathered by the host, so the small block costs nothing.
    let buffered = Plan { path: Path::Buffered, ..plan(1, 8 * KIB) };
    let start = lexar.now();
    drive(&mut lexar, &buffered, true, (0..51200).map(|i| 192 * MIB + i * 8 * KIB));
    lexar.flush().unwrap();
    near("dd conv=fsync", 419.4304 / ((lexar.now() - start) as f64 / 1e9), 12.8, 5.0);
    // With each write synchronous the host gathers nothing.
    let synced = Plan { sync_each: true, ..buffered };
    let seconds = drive(&mut lexar, &synced, true, (0..16384).map(|i| 1024 * MIB + i * 8 * KIB));
    near("dd oflag=dsync", 134.217728 / seconds, 3.62, 8.0);
    // What was just written is answered by the host's memory until its cache is dropped.
    let again = drive(&mut lexar, &Plan { path: Path::Buffered, ..plan(1, MIB) }, false, [192 * MIB]);
    assert!(again < 0.002, "{again}");
    lexar.drop_caches().unwrap();
    let again = drive(&mut lexar, &Plan { path: Path::Buffered, ..plan(1, MIB) }, false, [192 * MIB]);
    assert!(again > 0.04, "{again}");
}
