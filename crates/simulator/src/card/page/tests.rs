use super::*;
use crate::target_spec;
use cardscope_model::random::SeededRandom;

const UNIT: u64 = 1 << 20;

/// Card of 256 MiB with units of 1 MiB, which are copied at 100 MB/s and erased in 1 ms.
fn page(spare: f64) -> (PageEngine, u64) {
    let mut card = target_spec::parse("sim:lexar-1tb-express").unwrap().archetype;
    card.announced_bytes = 256 * UNIT;
    let Some(crate::archetype::WriteTimes::Page(mut p)) = card.write else { panic!("mapped by page") };
    p.gc = Some(GarbageCollection { spare_share: spare, unit_bytes: UNIT, copy_mb_s: 100.0, erase_s: 0.001 });
    (PageEngine::new(&p, &card, f64::INFINITY), card.announced_bytes)
}

fn overwrite(page: &mut PageEngine, mapped: u64, offset: u64, len: u64) -> f64 {
    page.write(WriteSize { offset, len, new_bytes: 0, mapped })
}

#[test]
fn valid_share_solves_its_equation() {
    // By hand: u = 0.935 gives p = 0.87, and a write amplification of 7.7.
    let p = valid_share(0.935);
    assert!((p - 0.87).abs() < 0.005, "{p}");
    assert!((1.0 / (1.0 - p) - 7.7).abs() < 0.3);
    for u in [0.1, 0.5, 0.8, 0.95] {
        let p: f64 = valid_share(u);
        assert!((p - (-(1.0 - p) / u).exp()).abs() < 1e-6, "{u}: {p}");
    }
    assert_eq!(valid_share(0.0), 0.0);
}

#[test]
fn random_overwrites_stall_by_closed_form() {
    let (mut page, bytes) = page(0.07);
    page.occupy_bytes(bytes);
    let mut random = SeededRandom::from_state(1);
    let mut round = |page: &mut PageEngine, writes: u64| {
        let before = page.state.work;
        let mut stalled = 0.0;
        for _ in 0..writes {
            stalled += overwrite(page, bytes, random.next_u64() % (bytes / 4096) * 4096, 4096);
        }
        (stalled, page.state.work.copied_bytes - before.copied_bytes, page.state.work.merges - before.merges)
    };
    round(&mut page, 100_000);
    let (stalled, copied, runs) = round(&mut page, 100_000);
    // All free flash but one unit is used up, so u = 256 / (256 · 1.07 - 1).
    let p = valid_share(256.0 / (256.0 * 1.07 - 1.0));
    let host = 100_000.0 * 4096.0;
    let expected = host * p / (1.0 - p);
    assert!((copied as f64 / expected - 1.0).abs() < 0.03, "{copied} copied, {expected:.0} expected");
    let every = host / runs as f64;
    assert!((every / ((1.0 - p) * UNIT as f64) - 1.0).abs() < 0.03, "a stall every {every:.0} bytes");
    let one = stalled / runs as f64;
    let cost = p * UNIT as f64 * 10.0 + 1e6;
    assert!((one / cost - 1.0).abs() < 0.03, "{one:.0} ns and not {cost:.0}");
}

#[test]
fn overwriting_in_order_copies_nothing() {
    let (mut page, bytes) = page(0.07);
    page.occupy_bytes(bytes);
    let mut stalled = 0.0;
    for _ in 0..4 {
        for at in (0..bytes).step_by(UNIT as usize) {
            stalled += overwrite(&mut page, bytes, at, UNIT);
        }
    }
    assert_eq!(page.state.work.copied_bytes, 0);
    let erased = page.state.work.erased_units;
    assert!((1000..=1024).contains(&erased), "{erased}");
    assert!((stalled - erased as f64 * 1e6).abs() < 1.0);
}

#[test]
fn discarded_bytes_are_not_copied() {
    let copied = |discard: bool| {
        let (mut page, bytes) = page(0.07);
        page.occupy_bytes(bytes);
        let mapped = if discard { bytes / 2 } else { bytes };
        if discard {
            page.discard_bytes(bytes / 2, bytes / 2);
        }
        let mut random = SeededRandom::from_state(7);
        for _ in 0..100_000 {
            overwrite(&mut page, mapped, random.next_u64() % (mapped / 4096) * 4096, 4096);
        }
        page.state.work.copied_bytes
    };
    assert!(copied(true) * 4 < copied(false));
}

proptest::proptest! {
    /// Erased, stale and valid bytes always make up the flash.
    #[test]
    fn flash_bytes_always_add_up(writes in proptest::collection::vec((0u64..65536, 1u64..512), 1..400)) {
        let (mut page, bytes) = page(0.1);
        let mut mapped = crate::card::mapped::MappedBlocks::new(bytes);
        for (block, blocks) in writes {
            let (offset, len) = (block * 4096, (blocks * 4096).min(bytes - block * 4096));
            let new_bytes = mapped.map_range(offset, len);
            page.write(WriteSize { offset, len, new_bytes, mapped: mapped.bytes() });
            let s = &page.state;
            let all = s.free + s.stale_whole + s.stale_scattered + mapped.bytes() as f64;
            proptest::prop_assert!((all - bytes as f64 * 1.1).abs() < 1.0, "{:?}", s);
            proptest::prop_assert!(s.free >= 0.0 && s.stale_scattered >= 0.0 && s.stale_whole >= 0.0);
        }
    }
}
