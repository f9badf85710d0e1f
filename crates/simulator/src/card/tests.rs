use super::*;
use crate::target_spec;

fn card(name: &str) -> CardModel {
    CardModel::new(&target_spec::parse(name).unwrap().archetype, 1)
}

fn read(offset: u64, in_flight: u32) -> CardCommand {
    CardCommand { write: false, offset, len: 4096, in_flight }
}

/// 4 KiB reads per second in a closed loop with `depth` in flight.
fn rate(card: &mut CardModel, depth: usize) -> f64 {
    let mut ends: std::collections::VecDeque<f64> = (0..depth).map(|_| 0.0).collect();
    for i in 0..20_000u64 {
        let now = ends.pop_front().unwrap();
        ends.push_back(card.execute_command(now, read(i * 7919 % 100_000 * 4096, depth as u32)));
    }
    20_000.0 / ends.back().unwrap() * 1e9
}

#[test]
fn queue_gains_up_to_its_depth() {
    let name = "sim:constant?depth=4&mb_s=1000000";
    let one = rate(&mut card(name), 1);
    for (depth, gain) in [(2, 2.0), (4, 4.0), (16, 4.0)] {
        let found = rate(&mut card(name), depth) / one;
        assert!((found / gain - 1.0).abs() < 0.01, "{depth} in flight: × {found:.2}");
    }
}

#[test]
fn commands_end_in_arrival_order() {
    let mut card = card("sim:lexar-1tb-express");
    let mut last = 0.0;
    for i in 0..1000u64 {
        let len = if i % 3 == 0 { 1 << 20 } else { 4096 };
        let end = card.execute_command(
            last * 0.5,
            CardCommand { write: i % 2 == 0, offset: i << 21, len, in_flight: 8 },
        );
        assert!(end > last);
        last = end;
    }
}

#[test]
fn fake_queue_slows_queued_writes() {
    let mut archetype = target_spec::parse("sim:constant").unwrap().archetype;
    archetype.queue.write_cost = vec![QueueCost { in_flight: 8, factor: 40.0, cached: None }];
    let mut card = CardModel::new(&archetype, 1);
    let write = |in_flight| CardCommand { write: true, offset: 0, len: 4096, in_flight };
    let alone = card.execute_command(0.0, write(7));
    let queued = card.execute_command(alone, write(8)) - alone;
    assert!((queued / alone - 40.0).abs() < 0.01, "{queued} against {alone}");
}

#[test]
fn temperature_matches_closed_form() {
    // At full read without a fan: 17 + 60 · (0.9 + 0.2) = 83 °C, time constant 60 · 5 = 300 s, from 20 °C.
    let overrides = "busy_w=0.9&read_w=0.2&capacity_j_per_k=5&thermal.tmt1_c=200&thermal.tmt2_c=200";
    let mut card = card(&format!("sim:lexar-1tb-express?cooling=passive&{overrides}"));
    let mut now = 0.0;
    while now < 300e9 {
        now = card.execute_command(now, CardCommand { write: false, offset: 0, len: 1 << 30, in_flight: 1 });
    }
    let expected = 83.0 - (83.0 - 20.0) * (-now / 300e9f64).exp();
    let found = card.celsius(now).unwrap();
    assert!((found - expected).abs() < 1.0, "{found:.1} °C, {expected:.1} expected");
}

fn with(name: &str, change: impl FnOnce(&mut Archetype)) -> CardModel {
    let mut archetype = target_spec::parse(name).unwrap().archetype;
    archetype.noise = crate::archetype::CostNoise::default();
    change(&mut archetype);
    archetype.check().unwrap();
    CardModel::new(&archetype, 1)
}

fn write(offset: u64, len: u64) -> CardCommand {
    CardCommand { write: true, offset, len, in_flight: 1 }
}

/// Nanoseconds of a command that arrives when the last one has ended.
fn time(card: &mut CardModel, command: CardCommand) -> f64 {
    let now = card.last_end;
    card.execute_command(now, command) - now
}

const MIB: u64 = 1 << 20;

#[test]
fn unmapped_ranges_read_faster() {
    let mut card = with("sim:lexar-16g-c10", |a| a.read.as_mut().unwrap().unmapped_s = Some(0.0001));
    let look = |card: &mut CardModel| {
        time(card, read(500 * MIB, 1));
        time(card, read(64 * MIB, 1))
    };
    let fresh = look(&mut card);
    time(&mut card, write(64 * MIB, 4096));
    let mapped = look(&mut card);
    card.discard(card.last_end, 64 * MIB, 4096);
    assert!((look(&mut card) - fresh).abs() < 1.0);
    assert!((mapped - fresh - 570_000.0).abs() < 1.0, "0.67 ms against 0.1 ms: {mapped} {fresh}");
    assert_eq!(card.counters().tally.unmapped_reads, 5, "all reads but the one of what was written");
}

#[test]
fn fat_region_is_guarded_to_its_last_byte() {
    let guard = |a: &mut Archetype| {
        a.fat_region = Some(crate::archetype::FatRegion { bytes: 8 * MIB, speed: 0.5, page_write_s: None });
    };
    let at = |offset: u64, len: u64| {
        let mut card = with("sim:sandisk-extremepro-32g-a1", guard);
        time(&mut card, write(offset, len))
    };
    let outside = at(64 * MIB, MIB);
    assert!((at(0, MIB) / outside - 2.0).abs() < 1e-9);
    assert_eq!(at(8 * MIB, MIB), outside);
    let half = at(8 * MIB - MIB / 2, MIB) / outside;
    assert!((1.45..1.55).contains(&half), "half of it is guarded: {half}");
}

#[test]
fn page_mapped_region_opens_no_block() {
    let mut card = with("sim:lexar-16g-c10", |a| {
        a.fat_region =
            Some(crate::archetype::FatRegion { bytes: 64 * MIB, speed: 1.0, page_write_s: Some(0.001) });
    });
    let in_turn = |card: &mut CardModel, base: u64| {
        (0..40).map(|i| time(card, write(base + i % 10 * 4 * MIB + i / 10 * 4096, 4096))).fold(0.0, f64::max)
    };
    let inside = in_turn(&mut card, 0);
    assert!(inside < 2e6, "ten blocks in turn, each 1 ms and 4 KiB: {inside}");
    assert!(in_turn(&mut card, 256 * MIB) > 100e6, "elsewhere each write closes a block");
}

#[test]
fn flush_stores_joined_writes() {
    let join = |bytes: u64| {
        with("sim:sandisk-extremepro-32g-a1", |a| {
            a.front =
                crate::archetype::CommandPath { path_s: 0.0001, ram_bytes: bytes, ..Default::default() };
        })
    };
    let total =
        |card: &mut CardModel| (0..16).map(|i| time(card, write(64 * MIB + i * 4096, 4096))).sum::<f64>();
    let (alone, joined) = (total(&mut join(0)), total(&mut join(65536)));
    assert!(alone > 1.2 * joined, "{alone} against {joined}");
    let mut card = join(65536);
    let quick = time(&mut card, write(0, 4096));
    let stored = card.flush(card.last_end) - quick;
    assert!(quick < 0.25e6 && stored > 0.7e6, "{quick} {stored}: the random write is paid by the flush");
    assert_eq!(card.flush(card.last_end), card.last_end, "nothing is left");
    assert_eq!(card.counters().tally.joined_writes, 1);
}

#[test]
fn queued_reads_on_one_plane_wait() {
    let spread = |planes: u32, stride: u64| {
        let mut card = with("sim:lexar-1tb-express", |a| {
            a.flash.planes = planes;
            a.thermal = None;
        });
        let mut ends: std::collections::VecDeque<f64> = (0..8).map(|_| 0.0).collect();
        for i in 0..4000u64 {
            let now = ends.pop_front().unwrap();
            ends.push_back(card.execute_command(now, read(i * stride, 8)));
        }
        ends.back().copied().unwrap()
    };
    // Pages of 32 KiB on four planes: 8 KiB a plane. A stride of 8 KiB visits all planes, one of 32 KiB only one.
    let (round, stays) = (spread(4, 8192), spread(4, 32768));
    assert!(stays > 4.0 * round, "{stays} against {round}");
    let one = spread(1, 32768) / round;
    assert!((0.98..1.02).contains(&one), "with one plane a page there is nothing to wait for: {one}");
}

#[test]
fn discard_takes_its_configured_time() {
    let mut card = with("sim:lexar-16g-c10", |a| a.front.discard_s = 0.25);
    assert_eq!(card.discard(1e9, 0, 4 * MIB), 1.25e9);
}

#[test]
fn writes_wear_out_every_engine() {
    for name in
        ["sim:constant", "sim:lexar-16g-c10", "sim:sandisk-extremepro-32g-a1", "sim:lexar-1tb-express"]
    {
        let mut card = with(name, |a| {
            a.wear = Some(crate::archetype::WearParameters {
                endurance_cycles: 2.0,
                spare_blocks: 0,
                ..Default::default()
            });
        });
        let bytes = target_spec::parse(name).unwrap().archetype.announced_bytes;
        let passes = (1..=4)
            .find(|_| {
                let blocks = bytes / (64 * MIB);
                (0..blocks).for_each(|i| {
                    time(&mut card, write(i * 64 * MIB, 64 * MIB));
                });
                card.end_of_life().is_some()
            })
            .unwrap_or(9);
        assert!((2..=3).contains(&passes), "{name}: two cycles of endurance lasted {passes} passes");
        let counters = card.counters();
        let cycles = counters.erase_cycles.unwrap() / passes as f64;
        assert!((0.9..1.2).contains(&cycles), "{name}: a pass in order erases each block once: {cycles}");
    }
}
