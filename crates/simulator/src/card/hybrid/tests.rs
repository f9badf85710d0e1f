use super::*;
use crate::archetype::SmallLog;

const MIB: u64 = 1 << 20;
const PAGE: u64 = 16384;

/// Blocks of 4 MiB, pages of 16 KiB; 1 ms per write, 10 MB/s, copying at 4 MB/s, so 1.048576 s for a whole block.
fn card(close: CloseCopy, open: u32) -> HybridWrite {
    HybridWrite {
        close,
        open_linear: open,
        open_random: open,
        fixed_s: 0.001,
        mb_s: 10.0,
        copy_mb_s: 4.0,
        random_log_bytes: 64 * MIB,
        ..HybridWrite::default()
    }
}

fn engine(p: HybridWrite) -> HybridEngine {
    HybridEngine::new(
        &p,
        &FlashUnits { au_bytes: 4 * MIB, page_bytes: PAGE, ..FlashUnits::default() },
        f64::INFINITY,
    )
}

/// Milliseconds of a write beyond the fixed 1 ms and the transfer.
fn extra(engine: &mut HybridEngine, offset: u64, len: u64) -> f64 {
    let pages = len.div_ceil(PAGE) * PAGE;
    engine.write(offset, len, true) / 1e6 - 1.0 - pages as f64 / 1e4
}

#[test]
fn whole_block_closes_without_copy() {
    let mut engine = engine(card(CloseCopy::Full, 1));
    for place in 0..64 {
        assert!(extra(&mut engine, place * MIB, MIB).abs() < 1e-6);
    }
    assert_eq!(engine.state.work, MappingWork { merges: 0, copied_bytes: 0, erased_units: 16 });
}

#[test]
fn block_beyond_limit_costs_one_closing() {
    for (close, copied) in
        [(CloseCopy::Partial, 3 * MIB), (CloseCopy::Full, 4 * MIB), (CloseCopy::Written, MIB)]
    {
        let mut engine = engine(card(close, 2));
        assert!(extra(&mut engine, 0, MIB).abs() < 1e-6 && extra(&mut engine, 40 * MIB, MIB).abs() < 1e-6);
        let third = extra(&mut engine, 80 * MIB, MIB);
        assert!((third - copied as f64 / 4e3).abs() < 1e-6, "{close:?}: {third} ms");
        assert_eq!(engine.state.work, MappingWork { merges: 1, copied_bytes: copied, erased_units: 1 });
    }
}

#[test]
fn random_write_merges_block_without_log() {
    let mut engine = engine(HybridWrite { open_random: 0, ..card(CloseCopy::Full, 3) });
    extra(&mut engine, 0, PAGE);
    for place in [3, 1, 2] {
        let cost = extra(&mut engine, place * MIB, PAGE);
        assert!((cost - 1048.576).abs() < 1e-6, "{cost} ms");
    }
}

#[test]
fn small_write_log_merges_only_when_full() {
    let small_log = SmallLog {
        max_write_bytes: 8192,
        write_s: 0.002,
        mb_s: 10.0,
        bytes: 65536,
        merge_s: 0.1,
        takes_turns: false,
    };
    let mut engine = engine(HybridWrite { small_log: Some(small_log), ..card(CloseCopy::Full, 1) });
    let times: Vec<f64> =
        (0..16u64).map(|i| engine.write((i % 7) * 12 * MIB + MIB + i * 8192, 8192, true) / 1e6).collect();
    for (i, ms) in times.iter().enumerate() {
        let emptied = if i % 8 == 7 { 100.0 } else { 0.0 };
        assert!((ms - 2.8192 - emptied).abs() < 1e-6, "write {i}: {ms} ms");
    }
    let large = engine.write(200 * MIB, PAGE, true) / 1e6;
    assert!((large - 2.6384).abs() < 1e-6, "{large} ms: a larger one goes to its block");
}
