use crate::card::{CardCommand, CardModel};
use crate::target_spec;

const GB: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;

fn card(overrides: &str) -> CardModel {
    let name = format!("sim:sandisk-256g-express?heat=off&read_sigma=0&write_sigma=0&hiccup_p=0&{overrides}");
    CardModel::new(&target_spec::parse(&name).unwrap().archetype, 1)
}

/// Writes `bytes` in order from `from`; returns the end and the speed in MB/s.
fn write(card: &mut CardModel, now: f64, from: u64, bytes: u64) -> (f64, f64) {
    let mut end = now;
    for at in (from..from + bytes).step_by(64 * MIB as usize) {
        end = card.execute_command(end, CardCommand { write: true, offset: at, len: 64 * MIB, in_flight: 1 });
    }
    let blocks = bytes.div_ceil(64 * MIB) * 64 * MIB;
    (end, blocks as f64 / 1e6 / ((end - now) / 1e9))
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.02, "{found:.1} and not {expected:.1}");
}

#[test]
fn dynamic_cache_is_a_third_of_free_bytes() {
    // 253 GB free: 84 GB of cache. With 150 GB of other data: a third of the rest.
    for (held, expected) in [(0, 84.5), (150, 34.5)] {
        let mut card = card("bits=3&clean_bytes=120000000000&clean_mb_s=0&reopen_bytes=0");
        card.map_ranges(std::iter::once(0..held * GB));
        let (mut now, mut taken) = (0.0, 0);
        // Rewriting the same range keeps the free bytes as they are.
        loop {
            let (end, speed) = write(&mut card, now, 200 * GB / MIB * MIB, 256 * MIB);
            if speed < 500.0 {
                break;
            }
            (now, taken) = (end, taken + 256 * MIB);
        }
        let found = taken as f64 / 1e9;
        assert!((found - expected).abs() < 0.6, "{held} GB held: {found:.1} GB and not {expected}");
    }
}

#[test]
fn full_folding_cache_adds_both_costs() {
    let mut card = card("when_full=fold&start_bytes=0&clean_mb_s=100&write_mb_s=600");
    near(write(&mut card, 0.0, 0, GB).1, 1.0 / (1.0 / 600.0 + 1.0 / 100.0));
}

#[test]
fn full_direct_cache_writes_at_flash_speed() {
    let mut card = card("start_bytes=0&clean_mb_s=0&reopen_bytes=1GB&write.mb_s=200");
    near(write(&mut card, 0.0, 0, GB).1, 200.0);
}

#[test]
fn used_up_cache_refills_while_nothing_is_written() {
    let refill = "start_bytes=0&clean_mb_s=50&reopen_bytes=1GB&idle_s=2&write_mb_s=600&write.mb_s=200";
    let second = 1e9;
    // 1 GB at 50 MB/s takes 20 s, after the 2 s that count as no pause.
    for (pause, expected) in [(21.0, 200.0), (23.0, 600.0)] {
        let mut card = card(refill);
        let (end, _) = write(&mut card, 0.0, 0, 512 * MIB);
        // A read every second: the card works, but does not write.
        let mut now = end;
        while now < end + pause * second {
            now = card.execute_command(
                now + second,
                CardCommand { write: false, offset: 0, len: 4096, in_flight: 1 },
            );
        }
        near(write(&mut card, end + pause * second, GB, 512 * MIB).1, expected);
    }
}

#[test]
fn empty_pool_stops_cleaning_until_long_rest() {
    let pool = "start_bytes=0&clean_mb_s=500&reopen_bytes=1GB&pool_bytes=2GB&write_mb_s=600&write.mb_s=200&pool_rest_s=300";
    let second = 1e9;
    let mut card = card(pool);
    let (end, _) = write(&mut card, 0.0, 0, 3 * GB);
    let (end, after_a_minute) = write(&mut card, end + 100.0 * second, GB, 256 * MIB);
    near(after_a_minute, 200.0);
    let (end, _) = (end + 400.0 * second, 0);
    let (end, _) = write(&mut card, end, GB, 64 * MIB);
    near(write(&mut card, end + 100.0 * second, GB, 256 * MIB).1, 600.0);
}

#[test]
fn cache_speeds_up_only_writes_in_order_on_hybrid() {
    let plain =
        target_spec::parse("sim:usb-stick-tlc?read_sigma=0&write_sigma=0&hiccup_p=0").unwrap().archetype;
    let mut card = CardModel::new(&plain, 1);
    let (end, fast) = write(&mut card, 0.0, 0, GB);
    assert!((55.0..66.0).contains(&fast), "{fast}");
    let random = |card: &mut CardModel, now, i: u64| {
        let offset = 8 * GB / MIB * MIB + i * 7919 % 1024 * MIB + 4096;
        card.execute_command(now, CardCommand { write: true, offset, len: 4096, in_flight: 1 })
    };
    // The first write opens a block; the second one, elsewhere, closes it.
    let opened = random(&mut card, end, 1);
    let one = random(&mut card, opened, 2) - opened;
    assert!((0.3e9..0.45e9).contains(&one), "{one} ns");
    let (mut end, _) = write(&mut card, opened + one, 2 * GB / MIB * MIB, 2 * GB);
    end = write(&mut card, end, 5 * GB / MIB * MIB, 128 * MIB).0;
    let slow = write(&mut card, end, 6 * GB / MIB * MIB, 256 * MIB).1;
    assert!((11.0..13.0).contains(&slow), "{slow}");
}
