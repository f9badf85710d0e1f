//! Families of random cards and their shares: old cards with blocks mapped whole, UHS-I cards with a log, cards mapped
//! by page, and SD Express cards with a pSLC cache and heat.

use super::registers::{CAPACITY_UNIT, DrawnClaims, registers_of_claims};
use crate::archetype::{
    Archetype, CardIdentity, CloseCopy, CostNoise, FatRegion, FlashUnits, GarbageCollection, HybridWrite,
    LogWrite, NvmeDescription, PageWrite, PslcCache, QueueCost, ReadTimes, SmallLog, ThermalNode,
    ThrottleKind, WhenFull, WriteTimes,
};
use cardscope_model::random::SeededRandom;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Draws flash and times of a card, without name, fake and identity.
pub(super) fn draw_card(draw: &mut FamilyDraw) -> Archetype {
    let family = draw.one_of(&[
        (40, draw_hybrid as fn(&mut FamilyDraw) -> Archetype),
        (30, draw_log),
        (15, draw_page),
        (15, draw_express),
    ]);
    let mut card = family(draw);
    if draw.chance(0.05)
        && let Some(read) = &mut card.read
    {
        // Cards answer in 0.14 (SD NAND) to 0.3 of the usual time where nothing was written.
        read.unmapped_s = Some(round_to_three_digits(read.base_s * draw.between(0.14, 0.3)));
    }
    card
}

pub(super) fn family_title(card: &Archetype) -> &'static str {
    match (&card.write, card.thermal.is_some()) {
        (Some(WriteTimes::Hybrid(_)), _) => "blocks mapped whole, a few of them open",
        (Some(WriteTimes::Log(_)), _) => "random writes in a log",
        (_, true) => "SD Express, mapped by page behind a pSLC cache",
        (_, false) => "mapped by page",
    }
}

/// Registers or NVMe identity that fit the card.
pub(super) fn draw_identity(card: &Archetype, serial: u32) -> CardIdentity {
    if let Some(thermal) = &card.thermal {
        return CardIdentity { nvme: Some(nvme_identity(card, thermal, serial)), ..CardIdentity::default() };
    }
    let claims = DrawnClaims {
        announced_bytes: card.announced_bytes,
        au_bytes: card.flash.au_bytes,
        write_mb_s: card.write.as_ref().map_or(0.0, WriteTimes::mb_s),
        app_class: u8::from(matches!(card.write, Some(WriteTimes::Log(l)) if l.random_s < 0.001)),
        serial,
    };
    CardIdentity { sd: Some(registers_of_claims(claims)), ..CardIdentity::default() }
}

fn card_without_identity(
    announced_bytes: u64,
    flash: FlashUnits,
    read: ReadTimes,
    write: WriteTimes,
) -> Archetype {
    Archetype { announced_bytes, flash, read: Some(read), write: Some(write), ..Archetype::default() }
}

/// Draws a size near a nominal one, as makers choose it: 1.5 % below to 0.5 % above, in units of the CSD.
fn draw_capacity(draw: &mut FamilyDraw, nominal_gb: &[u64]) -> u64 {
    let nominal = nominal_gb[draw.below(nominal_gb.len() as u64) as usize] as f64 * 1e9;
    (nominal * draw.between(0.985, 1.005)) as u64 / CAPACITY_UNIT * CAPACITY_UNIT
}

/// Draws page, planes and unit; `odd` is the share of cards with three bits per cell, whose sizes are multiples of
/// three.
fn draw_flash(
    draw: &mut FamilyDraw,
    pages_kib: &[(u32, u64)],
    units_mib: &[(u32, u64)],
    odd: f64,
) -> FlashUnits {
    let threes = draw.chance(odd);
    let (page, au) = if threes {
        (draw.one_of(&[(2, 48), (1, 24), (2, 16)]), draw.one_of(&[(1, 6), (3, 12), (3, 24), (1, 48)]))
    } else {
        (draw.one_of(pages_kib), draw.one_of(units_mib))
    };
    let planes = if page % 3 == 0 { 3 } else { 1 };
    FlashUnits {
        page_bytes: page * KIB,
        planes,
        read_unit_bytes: 4 * KIB,
        au_bytes: au * MIB,
        map_segment_bytes: draw.chance(0.24).then(|| draw.one_of(&[(1, 1024), (1, 2048)]) * MIB),
    }
}

/// Draws read times; steps at page, unit and segment are shares of the base.
fn draw_read_times(draw: &mut FamilyDraw, base: (f64, f64), mb_s: (f64, f64)) -> ReadTimes {
    let base_s = draw.log_between(base.0, base.1);
    // 20 of 27 cards show their page to reads, 24 of 27 their unit.
    let page = if draw.chance(0.74) { draw.log_between(0.047, 0.32) } else { 0.0 };
    let unit = if draw.chance(0.89) { draw.log_between(0.078, 0.31) } else { 0.0 };
    ReadTimes {
        base_s,
        sequential_s: draw.chance(0.5).then(|| round_to_three_digits(base_s * draw.between(0.1, 0.5))),
        ramp_bytes: 512 * KIB,
        page_step_s: round_to_three_digits(base_s * page),
        au_step_s: round_to_three_digits(base_s * unit),
        segment_step_s: draw.log_between(0.000_038, 0.000_072),
        mb_s: draw.log_between(mb_s.0, mb_s.1),
        ..ReadTimes::default()
    }
}

fn draw_noise(draw: &mut FamilyDraw) -> CostNoise {
    CostNoise {
        read_sigma: draw.log_between(0.027, 0.086),
        write_sigma: draw.log_between(0.03, 0.08),
        hiccup_p: draw.log_between(0.000_2, 0.01),
        hiccup_s: draw.log_between(0.002, 0.03),
    }
}

fn draw_hybrid(draw: &mut FamilyDraw) -> Archetype {
    let flash = draw_flash(draw, &[(15, 8), (70, 16), (15, 32)], &[(1, 1), (1, 2), (7, 4), (1, 8)], 0.15);
    let read = draw_read_times(draw, (0.000_42, 0.0013), (11.0, 45.0));
    // 14 of 28 cards show no limit up to 7; a limit is mostly 3.
    let linear = draw.one_of(&[(8, 3), (4, 4), (2, 5), (1, 6), (1, 1), (6, 12), (6, 16)]);
    let write = HybridWrite {
        // 5 of 11 cards copied the rest of a block, 3 all of it, 3 less.
        close: draw.one_of(&[(5, CloseCopy::Partial), (3, CloseCopy::Full), (3, CloseCopy::Written)]),
        open_linear: linear,
        open_random: if draw.chance(0.85) { linear } else { 1 },
        fixed_s: draw.log_between(0.0003, 0.0014),
        new_stream_s: draw.log_between(0.0004, 0.0007),
        sub_page_s: draw.log_between(0.0004, 0.003),
        sub_page_random_s: draw.log_between(0.0004, 0.02),
        mb_s: draw.log_between(4.1, 18.0),
        copy_mb_s: draw.log_between(4.7, 10.0),
        close_s: draw.log_between(0.003, 0.02),
        random_log_bytes: draw.one_of(&[(1, 4), (2, 16), (1, 64)]) * MIB,
        // 5 of 28 cards, all of one maker.
        small_log: draw.chance(0.18).then(|| draw_small_log(draw)),
        ..HybridWrite::default()
    };
    let announced = draw_capacity(draw, &[4, 8, 16, 32]);
    let mut card = card_without_identity(announced, flash, read, WriteTimes::Hybrid(write));
    card.noise = draw_noise(draw);
    // 8 of 28 cards guard the first 8 or 12 MiB.
    card.fat_region = draw.chance(0.29).then(|| FatRegion {
        bytes: draw.one_of(&[(7, 8), (1, 12)]) * MIB,
        speed: round_to_three_digits(draw.between(0.2, 0.7)),
        page_write_s: None,
    });
    card
}

fn draw_small_log(draw: &mut FamilyDraw) -> SmallLog {
    SmallLog {
        max_write_bytes: draw.one_of(&[(1, 4), (2, 8)]) * KIB,
        write_s: draw.log_between(0.0013, 0.005),
        mb_s: draw.log_between(1.5, 8.0),
        bytes: 4 * MIB,
        merge_s: draw.log_between(0.05, 0.3),
        takes_turns: false,
    }
}

fn draw_log(draw: &mut FamilyDraw) -> Archetype {
    let flash = draw_flash(draw, &[(1, 8), (6, 16), (2, 32)], &[(6, 4), (2, 8), (2, 16)], 0.25);
    let mut read = draw_read_times(draw, (0.000_38, 0.000_62), (40.0, 155.0));
    read.sequential_s = Some(round_to_three_digits(read.base_s * draw.between(0.05, 0.3)));
    if draw.chance(0.2) {
        read.map_miss_s = round_to_three_digits(read.base_s * draw.between(0.3, 1.0));
        read.map_cache_bytes = Some(draw.one_of(&[(1, 128), (1, 256), (1, 1024)]) * MIB);
    }
    let write = LogWrite {
        fixed_s: draw.log_between(0.0002, 0.0015),
        random_s: draw.log_between(0.0007, 0.0026),
        mb_s: draw.log_between(8.0, 90.0),
        log_bytes: draw.one_of(&[(1, 1), (1, 4), (2, 16), (2, 32), (4, 64), (2, 256)]) * MIB,
        merge_s: draw.log_between(0.075, 0.33),
    };
    let announced = draw_capacity(draw, &[16, 32, 64, 128, 256]);
    let mut card = card_without_identity(announced, flash, read, WriteTimes::Log(write));
    card.noise = draw_noise(draw);
    // A queue that speeds up writes, a fake one, or none.
    let factor = draw.one_of(&[(60, 1.0), (25, 0.45), (15, 40.0)]);
    if factor != 1.0 {
        let factor = round_to_three_digits(factor * draw.between(0.7, 1.3));
        card.queue.write_cost = vec![QueueCost { in_flight: 8, factor, cached: None }];
    }
    card
}

fn draw_page(draw: &mut FamilyDraw) -> Archetype {
    let flash = draw_flash(draw, &[(1, 16), (1, 32)], &[(1, 8), (2, 16), (1, 32)], 0.3);
    let au_bytes = flash.au_bytes;
    let mut read = draw_read_times(draw, (0.0003, 0.0009), (20.0, 160.0));
    let depth = draw.one_of(&[(3, 1), (1, 4), (2, 8), (1, 16)]);
    read.serial_s = if depth > 1 {
        round_to_three_digits(read.base_s / draw.between(2.0, f64::from(depth)))
    } else {
        0.0
    };
    let write = PageWrite {
        base_s: draw.log_between(0.0003, 0.0017),
        ramp_bytes: 512 * KIB,
        mb_s: draw.log_between(19.0, 90.0),
        gc: draw.chance(0.4).then(|| draw_gc(draw, au_bytes)),
        ..PageWrite::default()
    };
    let announced = draw_capacity(draw, &[64, 128, 256, 512]);
    let mut card = card_without_identity(announced, flash, read, WriteTimes::Page(write));
    card.noise = draw_noise(draw);
    card.queue.depth = depth;
    card
}

fn draw_express(draw: &mut FamilyDraw) -> Archetype {
    let mut flash = draw_flash(draw, &[(1, 16), (2, 32), (1, 64)], &[(1, 16), (2, 32), (1, 64)], 0.2);
    flash.planes = 1;
    let mut read = draw_read_times(draw, (0.000_19, 0.000_36), (768.0, 834.0));
    let cached_s = round_to_three_digits(read.base_s * draw.between(0.3, 0.9));
    (read.page_step_s, read.au_step_s, read.segment_step_s) = (0.000_002, 0.000_004, 0.0);
    (read.large_s, read.serial_s) =
        (Some(draw.log_between(0.0003, 0.0004)), draw.log_between(0.000_009_5, 0.000_016));
    read.sequential_s = None;
    let slow = draw.log_between(217.0, 310.0);
    let write = PageWrite {
        base_s: draw.log_between(0.000_014, 0.000_024),
        large_s: Some(0.000_46),
        ramp_bytes: 512 * KIB,
        serial_s: draw.log_between(0.000_015, 0.000_02),
        mb_s: slow,
        ..PageWrite::default()
    };
    let announced = draw_capacity(draw, &[128, 256, 512, 1000]);
    let mut card = card_without_identity(announced, flash, read, WriteTimes::Page(write));
    card.noise = CostNoise { read_sigma: 0.02, write_sigma: 0.02, hiccup_p: 0.001, hiccup_s: 0.000_03 };
    card.queue.depth = 32;
    let clean = (announced as f64 * draw.between(0.1, 0.34)) as u64 / MIB * MIB;
    card.cache = Some(draw_cache(draw, clean, cached_s));
    card.thermal = Some(draw_thermal(draw));
    card
}

/// Draws garbage collection; spare flash is from 7 % (2^30 sold as 10^9) to a quarter.
fn draw_gc(draw: &mut FamilyDraw, unit_bytes: u64) -> GarbageCollection {
    GarbageCollection {
        spare_share: draw.log_between(0.07, 0.25),
        unit_bytes,
        copy_mb_s: draw.log_between(20.0, 150.0),
        erase_s: draw.log_between(0.003, 0.0045),
    }
}

fn draw_cache(draw: &mut FamilyDraw, clean_bytes: u64, read_base_s: f64) -> PslcCache {
    PslcCache {
        clean_bytes,
        bits: draw.chance(0.5).then_some(3),
        alpha: 1.0,
        when_full: if draw.chance(0.3) { WhenFull::Fold } else { WhenFull::Direct },
        reopen_bytes: clean_bytes / 2,
        clean_mb_s: draw.log_between(40.0, 180.0),
        idle_s: 0.05,
        rest_s: 60.0,
        pool_rest_s: 300.0,
        write_mb_s: draw.log_between(610.0, 680.0),
        write_base_s: Some(0.000_018),
        write_large_s: Some(0.000_34),
        write_serial_s: Some(draw.log_between(0.000_007, 0.000_008)),
        read_base_s: Some(read_base_s),
        read_serial_s: Some(draw.log_between(0.000_008_4, 0.000_009_4)),
        ..PslcCache::default()
    }
}

fn draw_thermal(draw: &mut FamilyDraw) -> ThermalNode {
    let tmt1_c = draw.one_of(&[(2, 81.0), (1, 85.0)]);
    ThermalNode {
        sensor: true,
        ambient_c: draw.between(17.0, 25.0).round(),
        passive_k_per_w: draw.between(35.0, 60.0).round(),
        active_k_per_w: draw.between(15.0, 25.0).round(),
        capacity_j_per_k: draw.log_between(4.0, 20.0),
        idle_w: 0.05,
        busy_w: round_to_three_digits(draw.between(0.6, 0.95)),
        read_w: round_to_three_digits(draw.between(0.2, 0.42)),
        write_w: round_to_three_digits(draw.between(0.2, 0.4)),
        tmt1_c,
        tmt2_c: tmt1_c + 4.0,
        hysteresis_k: 2.0,
        throttle: if draw.chance(0.5) { ThrottleKind::Clock } else { ThrottleKind::Duty },
        light_read: round_to_three_digits(draw.between(0.6, 0.75)),
        light_write: round_to_three_digits(draw.between(0.67, 0.83)),
        throttled_busy: 1.0,
        heavy: 0.3,
    }
}

/// NVMe identity of no maker: vendor 0xFFFF is not assigned.
fn nvme_identity(card: &Archetype, thermal: &ThermalNode, serial: u32) -> NvmeDescription {
    let kelvin = |celsius: f64| (celsius + 273.0) as u16;
    NvmeDescription {
        vid: 0xffff,
        ssvid: 0xffff,
        sn: format!("{serial:08X}"),
        mn: "RANDOM EXPRESS".to_owned(),
        fr: "1.0".to_owned(),
        wctemp_k: kelvin(thermal.tmt1_c + 2.0),
        cctemp_k: kelvin(thermal.tmt2_c),
        tmpth_k: kelvin(thermal.tmt1_c + 2.0),
        tmt1_k: kelvin(thermal.tmt1_c),
        tmt2_k: kelvin(thermal.tmt2_c),
        mntmt_k: kelvin(30.0),
        mxtmt_k: kelvin(thermal.tmt2_c),
        hmpre: 16384,
        hmmin: 16384,
        tnvmcap: card.announced_bytes,
        mdts: 7,
        spare_threshold: 10,
        pcie_gt_s: 8.0,
        pcie_lanes: 1,
        ..NvmeDescription::default()
    }
}

#[derive(Debug)]
pub(super) struct FamilyDraw(SeededRandom);

impl FamilyDraw {
    pub(super) fn new(seed: u64) -> Self {
        FamilyDraw(SeededRandom::from_state(seed))
    }

    pub(super) fn chance(&mut self, p: f64) -> bool {
        self.0.above_zero() <= p
    }

    pub(super) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.0.above_zero()
    }

    /// Number between two values, evenly in the logarithm, for parameters that spread over orders of magnitude.
    pub(super) fn log_between(&mut self, low: f64, high: f64) -> f64 {
        round_to_three_digits(libm::exp(self.between(libm::log(low), libm::log(high))))
    }

    /// Draws one of the values by weight.
    pub(super) fn one_of<T: Copy>(&mut self, weighted: &[(u32, T)]) -> T {
        let all: u32 = weighted.iter().map(|(weight, _)| weight).sum();
        let mut left = (self.0.above_zero() * f64::from(all)).ceil() as u32;
        for (weight, value) in weighted {
            if left <= *weight {
                return *value;
            }
            left -= weight;
        }
        weighted[weighted.len() - 1].1
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0.next_u64() % limit.max(1)
    }
}

/// Rounds to three digits: a card's file stays readable, and no property is more precise.
pub(super) fn round_to_three_digits(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powi(2 - libm::log10(value.abs()).floor() as i32);
    (value * scale).round() / scale
}
